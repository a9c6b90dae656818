"""The rows of the history: one line an activity, with what was done, how it ended and how long it took."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core import units
from core.history.store import Entry
from core.language import spoken
from core.tones import Tone
from gui.models.history import ENTRY_COLUMNS
from gui.models.table import TableModel

AT = datetime(2026, 3, 7, 12, 0, tzinfo=UTC)
COLUMNS = {column.title: column for column in ENTRY_COLUMNS}


def entry(kind: str, *, subject: str = "", result: str = "", **more: object) -> Entry:
    return Entry(AT, kind, "spring", "title", 1, subject=subject, result=result, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "what", "result", "tone"),
    [
        (
            entry("run", subject="random read", result="failed", server="db1"),
            "Benchmark on db1: random read",
            "Failed",
            Tone.BAD,
        ),
        (entry("probe", subject="wire", bytes_per_second=112e6), "Transfer test: Network", "112 MB/s", None),
        (entry("facts", server="db2"), "Facts of db2", "", None),
        (entry("checks", result="blockers: 0, unknown: 1"), "Checks", "Blockers: 0, unknown: 1", None),
        (entry("plan", result="rsync over ssh"), "Plan", "rsync over ssh", None),
        (entry("execution", subject="move", result="done"), "Move", "Done", Tone.GOOD),
        (entry("execution", subject="dress rehearsal", result="stopped"), "Dress rehearsal", "Failed", Tone.BAD),
        (entry("execution", subject="move", result="rolled back"), "Move", "Rolled back", Tone.WARNING),
        (
            entry("waiver", subject="space", result="there is enough"),
            "Waiver of the check space",
            "there is enough",
            None,
        ),
    ],
)
def test_an_entry_says_what_was_done_and_how_it_ended(row: Entry, what: str, result: str, tone: Tone | None) -> None:
    shown = COLUMNS["Result"]
    assert (COLUMNS["What"].text(row), shown.text(row)) == (what, result)
    assert shown.tone is not None
    assert shown.tone(row) is tone


def test_a_duration_is_shown_where_it_is_recorded() -> None:
    took = COLUMNS["Took"]
    assert took.text(entry("run", seconds=90.0)) == units.duration(90)
    assert took.text(entry("estimate")) == ""


def test_an_execution_is_german_in_a_german_window() -> None:
    with spoken("de"):
        row = entry("execution", subject="copy rehearsal", result="paused")
        assert (COLUMNS["What"].text(row), COLUMNS["Result"].text(row)) == ("Kopierprobe", "Angehalten")


def test_a_day_is_shown_once_for_the_rows_below_each_other() -> None:
    model = TableModel(ENTRY_COLUMNS)
    later = AT + timedelta(hours=1)
    model.set_rows(
        [Entry(at, "plan", None, "", number) for number, at in enumerate((later, AT, AT - timedelta(days=1)))]
    )
    days = [model.index(row, 0).data() for row in range(3)]
    assert days == ["2026-03-07", "", "2026-03-06"]
    changed: list[int] = []
    model.dataChanged.connect(lambda _first, last: changed.append(last.row()))
    model.set_rows([replace(model.rows[0], at=AT - timedelta(days=1)), *model.rows[1:]])
    assert (changed, model.index(1, 0).data()) == ([1], "2026-03-07")  # it no longer repeats the row above
    assert [model.text(model.columns[0], row) for row in model.rows][1] == "2026-03-07"  # what is copied and found
