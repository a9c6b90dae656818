"""bonnie++: blanks and plus signs, the table beside the exact line, several tests."""

from pathlib import Path

import pytest

from core.benchmarks.bonnie import parse_bonnie
from core.errors import ParseError

DATA = Path(__file__).parents[2] / "data" / "bonnie"
FAST = (DATA / "v1.96-fast-write-only-three-tables.txt").read_text()
BOTH = (DATA / "05-v1.97-text-csv-f18219468482.txt").read_text()
OLD = (DATA / "v1.03-text-csv-thud.txt").read_text()


def test_a_column_without_its_blanks_cannot_be_told() -> None:
    squeezed = "\n".join(" ".join(line.split()) for line in FAST.splitlines()) + "\n"
    with pytest.raises(
        ParseError, match=r"^bonnie: (expected |this output was cut off, or its run has no result. Expected )"
    ):
        parse_bonnie(squeezed)
    whole = "\n".join(" ".join(line.split()) for line in OLD.splitlines()[:4]) + "\n"
    assert parse_bonnie(whole).results[0].metrics["seeks_per_second"] == 182.4


def test_indented_and_quoted_tables() -> None:
    for lead in ("    ", "> ", "\t"):
        quoted = "".join(f"{lead}{line}\n" for line in FAST.splitlines())
        assert parse_bonnie(quoted) == parse_bonnie(FAST)


def test_several_runs_each_with_both_forms() -> None:
    other = BOTH.replace("112045", "99000")
    rates = [result.metrics["write_bytes_per_second"] for result in parse_bonnie(BOTH + "\n" + other).results]
    assert rates == [112045 * 1024, 99000 * 1024]


def test_another_machines_line_is_another_test() -> None:
    table = OLD[: OLD.index("thud,2G")]
    line = OLD[OLD.index("thud,2G") :].replace("thud", "web")
    assert [result.name for result in parse_bonnie(table + line).results] == ["thud", "web"]


def test_the_line_alone_and_cut_short() -> None:
    line = OLD[OLD.index("thud,2G") :]
    output = parse_bonnie(line)
    assert (output.version, output.results[0].metrics["size_bytes"]) == (None, 2 << 30)
    short = ",".join(line.split(",")[:14])
    assert parse_bonnie(short + "\n").results[0].metrics["seeks_per_second"] == 182.4
    with pytest.raises(ParseError):
        parse_bonnie(short)


@pytest.mark.parametrize(
    "text",
    ["a,b,c\n", "1,2,3,4,5,6,7,8,9,10,11,12,13,14\n", "x,2G" + ",+++++,+++" * 6 + "\n", "x,2G" + "," * 12 + "\n"],
)
def test_no_result(text: str) -> None:
    with pytest.raises(
        ParseError, match=r"^bonnie: (expected |this output was cut off, or its run has no result. Expected )"
    ):
        parse_bonnie(text)
