from dataclasses import replace

from core.migration.execution.record import EstimateComparison
from core.migration.model.estimate import Span
from core.migration.model.execution import Kind
from core.tones import Tone
from gui.models.record import COUNTED, RECORD_COLUMNS, counted_differ, record_text
from tests.figures import figures
from tests.gui.samples import MORNING

HELD = EstimateComparison(7, "spring", Kind.REHEARSAL, MORNING, "warm passes", Span(60, 90, 120), 100.0)


def test_what_was_taken_stands_beside_its_span() -> None:
    assert [column.text(HELD) for column in RECORD_COLUMNS][2:] == [
        "Pre-copy passes",
        "1 min 30 s",
        "1 min 00 s – 2 min 00 s",
        "1 min 40 s",
        "yes",
        "in range",
    ]
    late = replace(HELD, seconds=300.0)
    assert (RECORD_COLUMNS[-1].text(late), RECORD_COLUMNS[-1].tone and RECORD_COLUMNS[-1].tone(late)) == (
        "longer",
        Tone.WARNING,
    )
    hits, of, *good, bias = figures(record_text([HELD, late]))
    assert (hits, of, good, bias) == ("1", "2", ["8", "10"], "1.92 ×")
    assert record_text([])
    assert figures(record_text([])) == []


def test_what_counts_is_told_apart_where_there_is_both() -> None:
    foreign = replace(HELD, counts=False)
    assert [counted_differ(rows) for rows in ([], [HELD, HELD], [foreign], [HELD, foreign])] == [False] * 3 + [True]
    assert [RECORD_COLUMNS[COUNTED].text(row) for row in (HELD, foreign)] == ["yes", "no"]
