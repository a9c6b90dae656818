"""What executions took beside what was estimated of them, as rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core import units
from core.language import tr
from core.migration.model.estimate import stage_heading
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import EXECUTIONS, counted, moment, span

if TYPE_CHECKING:
    from core.migration.execution.record import ByStage, EstimateComparison


def record_text(rows: "Sequence[EstimateComparison]") -> str:
    """How good the estimates of this move were: how many hit, and how far off they are on the whole."""
    from core.migration.execution.record import bias, select_counted

    if not rows:
        return tr("Nothing of this move was carried out or rehearsed after an estimate.")
    own = select_counted(rows)
    if not own:
        return tr("What was carried out here came with a history from elsewhere: it is shown, and counts for nothing.")
    inside = sum(row.inside for row in own)
    said = tr("Hit rate: {inside} of {own} inside low – high; good estimates hit 8 of 10.").format(
        inside=inside, own=counted(len(own), "{number} stage", "{number} stages")
    )
    off = bias(rows)
    return (
        said
        if off is None
        else tr("{said} Bias: they took {off} the likely time.").format(said=said, off=units.ratio(off))
    )


def _came(row: "EstimateComparison") -> str:
    came = tr("inside") if row.inside else tr("sooner") if row.seconds < row.estimated.low else tr("later")
    return came if row.counts else tr("{came}, not counted").format(came=came)


RECORD_COLUMNS: "tuple[Column[EstimateComparison], ...]" = (
    Column("Began", lambda row: moment(row.began_at)),
    Column("What", lambda row: tr(EXECUTIONS[row.kind])),
    Column("Stage", lambda row: tr(stage_heading(row.stage)), width=Width.REST),
    Column("Likely", lambda row: units.duration(row.estimated.likely), right=True),
    Column("Low – high", lambda row: span(row.estimated), right=True),
    Column("Took", lambda row: units.duration(row.seconds), right=True),
    Column("", _came, tone=lambda row: Tone.GOOD if row.inside else Tone.WARNING),
)
STAGES_COLUMNS: "tuple[Column[ByStage], ...]" = (
    Column("Stage, all moves", lambda row: tr(stage_heading(row.stage)), width=Width.REST),
    Column("Times", lambda row: units.count(row.times), right=True),
    Column("Inside low – high", lambda row: f"{row.inside / row.times:.0%}" if row.times else units.ABSENT, right=True),
    Column("Took / likely", lambda row: units.ratio(row.bias), right=True),
)
