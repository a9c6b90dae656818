"""What executions took beside what was estimated of them, as rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core import units
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import moment, span

if TYPE_CHECKING:
    from core.migration.execution.record import Held


def record_text(rows: "Sequence[Held]") -> str:
    """How good the estimates of this move were; a span holds 8 of 10 where it is as wide as it says."""
    if not rows:
        return "Nothing of this move was carried out or rehearsed after an estimate."
    inside = sum(row.inside for row in rows)
    return f"{inside} of {units.counted(len(rows), 'stage')} took what their span says; of good spans 8 of 10 do."


def _came(row: "Held") -> str:
    return "inside" if row.inside else "sooner" if row.seconds < row.estimated.low else "later"


RECORD_COLUMNS: "tuple[Column[Held], ...]" = (
    Column("Began", lambda row: moment(row.began_at)),
    Column("What", lambda row: str(row.kind)),
    Column("Stage", lambda row: row.stage, width=Width.REST),
    Column("Likely", lambda row: units.duration(row.estimated.likely), right=True),
    Column("Low – high", lambda row: span(row.estimated), right=True),
    Column("Took", lambda row: units.duration(row.seconds), right=True),
    Column("", _came, tone=lambda row: Tone.GOOD if row.inside else Tone.WARNING),
)
