"""What a mail, a forum or a web page does to an output is undone; an output that nobody touched stays as it is."""

from pathlib import Path

import pytest

from core.text import plain

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("> > tps = 1\n>> x\n", "tps = 1\nx\n"),
        ("tps =3D 12.5 (exclu=\nding)\n", "tps = 12.5 (excluding)\n"),
        ("caf=C3=A9 =3D\n", "café =\n"),
        ("type: &lt;builtin: TPC-B (sort of)&gt;\n", "type: <builtin: TPC-B (sort of)>\n"),
        ("[B]md3 : active[/B]\n", "md3 : active\n"),
        ("a\u00a0b\u200b\n", "a b\n"),
        ("cpu : usr=39.93%, sys=41.20%, ctx=12\n", "cpu : usr=39.93%, sys=41.20%, ctx=12\n"),
        ("x=3D y=07\n", "x= y=07\n"),
    ],
)
def test_what_was_done_to_it_is_undone(text: str, meant: str) -> None:
    assert plain(text) == meant


def test_soft_line_breaks_alone_show_the_encoding_and_bars_do_not() -> None:
    broken = "x" * 70 + "=\n" + "y" * 70 + "=\nend\n"
    assert plain(broken) == "x" * 70 + "y" * 70 + "end\n"
    bars = ("1 . 3 |" + "=" * 63 + "\n") * 3
    assert plain(bars) == bars


@pytest.mark.parametrize("folder", ["sysbench", "pg_test_fsync", "bonnie"])
def test_an_output_that_was_not_sent_stays_as_it_is(folder: str) -> None:
    for path in sorted((DATA / folder).glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        if "mail" not in path.name and ">" not in text and "\u00a0" not in text:
            assert plain(text) == text
