"""Which of two sets is faster, said from the compared rows."""

from dataclasses import replace

import pytest

from core.benchmarks.model import Workload
from core.comparison.model import Comparison, Contrast, Row, Verdict
from core.tones import Tone
from gui.models.comparison import headline, pair
from tests.figures import figures, without

NAMES = ("db1", "db2")


def row(verdict: Verdict, ratio: float | None = None) -> Row:
    workload = Workload("one", "random read", "fio", "read_iops")
    return Row(workload, "read_iops", None, None, ratio, ratio, ratio, verdict, headline=True)


def said(*rows: Row, wanted: bool = True) -> tuple[str, Tone | None]:
    found = headline(Comparison("old", "new", rows), NAMES, wanted=wanted)
    return found.text, found.tone


NEW, OLD, EVEN = row(Verdict.NEW, 2.0), row(Verdict.OLD, 0.25), row(Verdict.NONE, 1.1)
ONE_SIDED, UNLIKE = row(Verdict.ONE_SIDED), row(Verdict.UNLIKE, 9.0)


@pytest.mark.parametrize(
    ("rows", "first", "numbers", "tone"),
    [
        ((NEW, row(Verdict.NEW, 3.4)), "db2", ["2", "2.00", "3.40"], Tone.GOOD),
        ((NEW,), "db2", ["2.00"], Tone.GOOD),
        ((OLD, OLD), "db1", ["2", "4.00"], Tone.WARNING),
        ((NEW, NEW, OLD), "db2", ["2", "3", "2.00", "1", "4.00"], Tone.WARNING),
        ((NEW, OLD, OLD, EVEN), "db1", ["2", "4", "4.00", "1", "2.00", "1"], Tone.WARNING),
        ((NEW, EVEN), "db2", ["1", "2", "2.00", "1"], Tone.GOOD),
        ((EVEN, EVEN), "No", ["2"], None),
        ((NEW, ONE_SIDED, UNLIKE), "db2", ["2.00"], Tone.GOOD),  # what cannot be compared is not counted
        ((ONE_SIDED, UNLIKE), "No", [], Tone.MUTED),
    ],
)
def test_the_sentence_counts_the_rows_by_their_verdicts(
    rows: tuple[Row, ...], first: str, numbers: list[str], tone: Tone | None
) -> None:
    text, shown = said(*rows)
    assert text.split()[0] == first
    assert figures(without(NAMES, text)) == numbers
    assert shown is tone


def test_of_any_two_sets_neither_is_the_wanted_one() -> None:
    assert said(NEW, wanted=False) == (said(NEW)[0], None)
    assert said(OLD, wanted=False)[1] is None


def test_without_a_main_metric_nothing_is_said() -> None:
    assert said(replace(NEW, headline=False))[0] == ""


def test_of_three_sets_each_other_one_is_compared_with_the_first() -> None:
    third = Contrast(None, 0.25, 0.2, 0.3, Verdict.OLD)
    found = Comparison("db1:/a", "db2:/a", (replace(NEW, further=(third,)),), ("db3:/a",))
    second, last = pair(found, 0), pair(found, 1)
    assert (second.old, second.new, second.rows) == ("db1:/a", "db2:/a", (NEW,))
    assert (last.old, last.new) == ("db1:/a", "db3:/a")
    assert [(one.ratio, one.verdict, one.further) for one in last.rows] == [(0.25, Verdict.OLD, ())]
