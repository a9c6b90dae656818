"""Plots as shapes: labels that fit, plots beside each other."""

from core.reports.drawing import Box, Drawing, Line, Shape, Words, beside, fitted


def test_a_label_is_cut_where_it_has_no_room() -> None:
    assert fitted("random write, 8 kB, direct", 48, 8) == "random write, 8 kB, direct"
    cut = fitted("random write, 8 kB, buffered and flushed to disk", 48, 8)
    assert cut.endswith("…")
    assert len(fitted("数" * 40, 48, 8)) < len(fitted("m" * 40, 48, 8)) < len(fitted("i" * 60, 48, 8))


def test_plots_beside_each_other_keep_their_shape() -> None:
    marks = (Box(1, 2, 3, 4, "ink"), Line(1, 2, 3, 4), Shape(((0, 0), (1, 1)), "ink"), Words(1, 2, "a"))
    one, other = Drawing("first", "One.", 20, marks, 80), Drawing("second", "Other.", 30, marks, 80)
    both = beside((one, other), (Words(0, 0, "legend"),))
    assert (both.name, both.alt, both.height) == ("first", "One. Other.", 35)
    assert both.marks[1:5] == (
        Box(1, 7, 3, 4, "ink"),
        Line(1, 7, 3, 9),
        Shape(((0, 5), (1, 6)), "ink"),
        Words(1, 7, "a"),
    )
    assert both.marks[5] == Box(89, 7, 3, 4, "ink")
