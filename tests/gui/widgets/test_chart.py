"""The charts as they are painted: in any size, with any figures, in either theme."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path as FilePath

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from core.errors import InputError
from core.tones import Tone
from gui import appearance
from gui.design.icons import IconView
from gui.design.palette import Ground, colour, is_dark
from gui.models.chart import Axis, Bar, Chart, Dot, Labels, Path, Whisker, ladder, places, scale, times
from gui.models.charts import downtime_chart, timeline_chart
from gui.widgets.chart import HIGHEST, WIDEST, ChartRow, ChartView, Sheet
from tests.gui import samples

BARS = Chart(
    "Rate, MB/s", "Rate", "one: 10", places(["a workload with a long name"] * 3), scale(12.0),
    (Bar(-0.2, 0.0, 0.2, 10.0, Tone.OLD, "old: 10 MB/s"), Bar(0.8, 0.0, 1.2, 5.0, Tone.NEW, "new: 5 MB/s")),
    legend=((Tone.OLD, "old"), (Tone.NEW, "new")),
)  # fmt: skip


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[ChartView]:
    made = ChartView()
    made.resize(500, 300)
    made.show_chart(BARS)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()
    made.deleteLater()


def shades(view: ChartView) -> set[str]:
    picture = view.grab().toImage()
    return {
        QColor(picture.pixel(x, y)).name() for x in range(0, picture.width(), 3) for y in range(0, picture.height(), 3)
    }


def test_bars_are_painted_in_the_colours_of_their_theme(view: ChartView, qapp: QApplication) -> None:
    for number, scheme in enumerate((Qt.ColorScheme.Light, Qt.ColorScheme.Dark)):
        appearance.force(qapp, scheme)
        assert {Tone.OLD.value[number], Tone.NEW.value[number]} <= shades(view)
    appearance.force(qapp, Qt.ColorScheme.Unknown)


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (40, 400), (400, 30), (3000, 60), (90, 60)])
def test_any_size_is_painted(view: ChartView, size: tuple[int, int]) -> None:
    view.setMinimumSize(0, 0)
    view.resize(*size)
    for chart in (BARS, timeline_chart(samples.ESTIMATE), downtime_chart(samples.ESTIMATE), None):
        view.show_chart(chart)
        view.grab()


def test_figures_that_are_none_are_painted(view: ChartView) -> None:
    odd = (math.nan, math.inf, -math.inf, 0.0, 1e300)
    marks = [Bar(0.0, one, 1.0, one, Tone.OLD) for one in odd]
    more = [Dot(one, one, Tone.NEW, full=False) for one in odd]
    lines = [Whisker((one, 0.0), (one, 1.0)) for one in odd]
    named = [replace(bar, name="a name") for bar in marks]
    marks = [*marks, *named]
    view.show_chart(replace(BARS, marks=(*marks, *more, *lines, Path((), Tone.BAD)), up=Axis(0.0, 0.0, ()), legend=()))
    view.grab()


@pytest.mark.parametrize("width", [500, 2400])
def test_places_take_the_whole_width_and_what_stands_there_stays_narrow(view: ChartView, width: int) -> None:
    view.resize(width, 300)
    picture = view.grab().toImage()
    dark = is_dark()
    spans = {}
    for tone in (Tone.OLD, Tone.NEW):
        shade = QColor(tone.value[dark]).rgb()
        spans[tone] = [x for x in range(picture.width()) if picture.pixel(x, 240) == shade]
    old, new = spans[Tone.OLD], spans[Tone.NEW]
    apart = sum(new) / len(new) - sum(old) / len(old)
    assert apart == pytest.approx(width / 3, rel=0.1)
    assert len(old) == pytest.approx(min(0.4 * apart, 0.4 * WIDEST * view.fontMetrics().height()), abs=3)


@pytest.mark.parametrize("height", [300, 1400])
def test_places_take_the_whole_height_and_what_stands_there_stays_low(view: ChartView, height: int) -> None:
    bars = (Bar(0.0, 1.8, 1.0, 2.2, Tone.OLD), Bar(0.0, -0.2, 1.0, 0.2, Tone.NEW))
    view.show_chart(replace(BARS, marks=bars, up=ladder(["one", "two", "three"]), across=Axis(0.0, 1.0, ()), legend=()))
    view.resize(500, height)
    picture = view.grab().toImage()
    old, new = (
        [y for y in range(height) if picture.pixel(250, y) == QColor(tone.value[is_dark()]).rgb()]
        for tone in (Tone.OLD, Tone.NEW)
    )
    apart = (sum(new) / len(new) - sum(old) / len(old)) / 2
    assert apart == pytest.approx(height / 3, rel=0.25)
    assert len(old) == pytest.approx(0.4 * min(apart, HIGHEST * view.fontMetrics().height()), abs=3)


def test_long_words_beside_a_chart_leave_room_for_it(view: ChartView) -> None:
    long = "of the accounting department " * 9
    bar = Bar(0.0, -0.2, 1.0, 0.2, Tone.NEW)
    chart = replace(BARS, marks=(bar,), up=ladder(["one"]), across=Axis(0.0, 1.0, ()), beside=((0.0, long),))
    view.show_chart(replace(chart, legend=((Tone.OLD, long), (Tone.NEW, long))))
    picture = view.grab().toImage()
    legend = [QColor(tone.value[is_dark()]).rgb() for tone in (Tone.OLD, Tone.NEW)]
    seen = {picture.pixel(x, y) for x in range(picture.width()) for y in range(60)}
    assert set(legend) <= seen
    row = [x for x in range(picture.width()) if picture.pixel(x, 170) == legend[1]]
    assert len(row) > 0.4 * picture.width()


def test_what_was_alike_each_time_has_no_whisker(view: ChartView) -> None:
    without = view.grab().toImage()
    view.show_chart(replace(BARS, marks=(*BARS.marks, Whisker((0.0, 10.0), (0.0, 10.0)))))
    assert view.grab().toImage() == without
    view.show_chart(replace(BARS, marks=(*BARS.marks, Whisker((0.0, 9.0), (0.0, 10.0)))))
    assert view.grab().toImage() != without


@pytest.mark.slow
@pytest.mark.parametrize("width", [90, 200, 400, 1200])
@pytest.mark.parametrize("ends", [(0.0, 2.0), (0.9, 1.0), (1.9, 2.0), (0.0, 0.1), (-5.0, math.nan)])
def test_words_on_one_line_never_run_into_each_other(view: ChartView, width: int, ends: tuple[float, float]) -> None:
    labels = Labels(5.0, ((ends[0], "begin by 14:40"), (ends[1], "stop by 01:59")))
    view.setMinimumSize(0, 0)
    view.resize(width, 200)
    view.show_chart(replace(BARS, marks=(labels,)))
    view.grab()
    sheet = Sheet(view.chart or BARS, view)
    found = sheet.labels(labels)
    assert found
    assert all(sheet.room.left() <= place.left() and place.right() <= sheet.room.right() + 1 for place, _ in found)
    assert len(found) == 1 or found[0][0].right() < found[1][0].left()
    assert len(found) == 2 or width < 1200 or ends != (0.0, 2.0)


def test_a_bar_that_is_not_full_shows_its_edge_alone(view: ChartView) -> None:
    bar = Bar(0.0, 0.0, 2.0, 10.0, Tone.BAD, full=False)
    view.show_chart(replace(BARS, marks=(bar,), legend=()))
    box = Sheet(view.chart or BARS, view).box(bar)
    picture = view.grab().toImage()
    shade = colour(Tone.BAD).name()
    assert picture.pixelColor(box.center().toPoint()).name() != shade
    assert shade in shades(view)


def test_the_mouse_is_told_what_it_is_over(view: ChartView) -> None:
    picture = view.grab().toImage()
    old = QColor(Tone.OLD.value[is_dark()]).rgb()
    places = [(x, y) for y in range(100, 250, 5) for x in range(0, picture.width(), 3)]
    assert {view.tip_at(QPointF(x, y)) for x, y in places if picture.pixel(x, y) == old} == {"old: 10 MB/s"}
    assert view.tip_at(QPointF(498, 2)) == ""


def test_a_screen_reader_is_told_the_figures(view: ChartView) -> None:
    assert (view.accessibleName(), view.accessibleDescription()) == ("Rate", "one: 10")


def test_charts_beside_each_other_are_used_again(qtbot: QtBot) -> None:
    row = ChartRow()
    qtbot.addWidget(row)
    row.show_charts((BARS, BARS))
    first = row.views[0]
    row.show_charts((replace(BARS, title="another"),))
    assert row.views[0] is first
    assert [view.isVisibleTo(row) for view in row.views] == [True, False]


def test_a_row_without_charts_shows_an_icon_and_says_why(qtbot: QtBot) -> None:
    row = ChartRow()
    qtbot.addWidget(row)
    row.show_charts((), "Measured only once.")
    (icon,) = row.findChildren(IconView)
    assert icon.isVisibleTo(row)
    assert row.empty.sentence.text() == "Measured only once."
    row.show_charts((BARS,), "Measured only once.")
    assert not icon.isVisibleTo(row)


def test_the_menu_copies_the_picture_and_the_values(view: ChartView) -> None:
    copy, save, values = view.actions()
    copy.trigger()
    picture = QGuiApplication.clipboard().image()
    assert (picture.width(), picture.height()) == (2 * view.width(), 2 * view.height())
    assert QColor(Tone.OLD.value[0]).name() in {
        QColor(picture.pixel(x, y)).name() for x in range(0, picture.width(), 4) for y in range(0, picture.height(), 4)
    }
    values.trigger()
    assert QGuiApplication.clipboard().text() == "Rate, MB/s\none: 10"
    assert save.text()
    assert view.contextMenuPolicy() is Qt.ContextMenuPolicy.ActionsContextMenu
    assert view.focusPolicy() & Qt.FocusPolicy.TabFocus


@pytest.mark.parametrize("ending", ["png", "svg", "SVG"])
def test_a_chart_is_saved_by_its_ending(view: ChartView, tmp_path: FilePath, ending: str) -> None:
    saved: list[FilePath] = []
    view.saved.connect(saved.append)
    path = tmp_path / f"a.{ending}"
    path.write_text("of before")
    view.save(path)
    assert saved == [path]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    if ending == "png":
        picture = QImage(str(path))
        assert picture.size() == view.size() * 2
        assert picture.pixelColor(0, 0) == colour(Ground.SURFACE)
    else:
        text = path.read_text()
        assert "<svg" in text
        assert f'viewBox="0 0 {view.width()} {view.height()}"' in text


def test_a_chart_that_cannot_be_saved_is_trouble(view: ChartView, tmp_path: FilePath) -> None:
    told: list[InputError] = []
    view.troubled.connect(told.append)
    view.save(tmp_path / "none" / "a.png")
    (error,) = told
    assert str(tmp_path / "none" / "a.png") in error.message


def test_the_dialog_offers_both_kinds(view: ChartView, qtbot: QtBot) -> None:
    view.actions()[1].trigger()
    dialog = view.window().findChild(QFileDialog)
    assert dialog is not None
    assert dialog.nameFilters() == ["PNG (*.png)", "SVG (*.svg)"]
    assert dialog.defaultSuffix() == "png"
    dialog.filterSelected.emit("SVG (*.svg)")
    assert dialog.defaultSuffix() == "svg"
    dialog.reject()
    qtbot.waitUntil(lambda: view.window().findChild(QFileDialog) is None)


@pytest.mark.parametrize("width", [520, 620, 740])
def test_long_durations_beside_a_chart_are_whole(view: ChartView, width: int) -> None:
    said = "24 h 00 min (16 h 40 min – 27 h 47 min)"
    lanes = ladder(["Copy with the cluster stopped (planned)", "Dump & restore (not by pghaul)"])
    view.resize(width, 300)
    view.show_chart(replace(BARS, up=lanes, across=Axis(0.0, 1.0, ()), beside=((1.0, said), (0.0, said))))
    assert [text.replace("\u00a0", " ") for text in view.texts_beside()] == [said, said]


def test_words_that_have_no_room_are_cut_or_left_out(view: ChartView) -> None:
    long = "of the accounting department " * 9
    view.resize(500, 200)
    view.show_chart(replace(BARS, up=ladder(["one", "two"]), beside=((1.0, "1 s"), (0.99, "2 s"), (0.0, long))))
    first, cut = view.texts_beside()
    assert first == "1 s"
    assert "…" in cut


@pytest.mark.parametrize("width", [120, 160, 200, 300, 600])
def test_the_values_below_a_scale_keep_even_steps(view: ChartView, width: int) -> None:
    view.resize(width, 300)
    view.show_chart(replace(BARS, up=ladder(["one"]), across=times(70.0), beside=()))
    said = [int(name.split()[0]) for name in view.names_across()]
    assert said[0] == 0
    assert len({behind - before for before, behind in pairwise(said)}) <= 1
    assert said == [0, 15, 30, 45, 60] or width < 600


def test_of_uneven_steps_below_a_scale_the_first_stand(view: ChartView) -> None:
    view.resize(200, 300)
    values = Axis(0.0, 3.0, ((0.0, "middle"), (0.1, "too near"), (1.5, "left"), (3.0, "right")))
    view.show_chart(replace(BARS, up=ladder(["one"]), across=values, beside=()))
    assert view.names_across() == ["middle", "left", "right"]
