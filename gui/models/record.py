"""The measured and the estimated durations of executions, as rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core import api, units
from core.language import tr
from core.migration.model.estimate import stage_heading
from core.tones import Tone
from gui.models.table import Column, Width
from gui.models.words import counted, minute, span, yes_no

if TYPE_CHECKING:
    from core.api.migration import ByStage, EstimateComparison


def record_text(rows: "Sequence[EstimateComparison]") -> str:
    """Return the accuracy of the estimates of this move: the hit rate and the bias."""
    if not rows:
        return tr("This move has not been executed or rehearsed since an estimate was made.")
    own = api.migration.select_counted(rows)
    if not own:
        return tr("These executions come from the history of another workstation. They are shown, and are not counted.")
    inside = sum(row.inside for row in own)
    said = tr(
        "Hit rate: {inside} of {own} took between the low and the high value. Good estimates reach 8 of 10."
    ).format(inside=inside, own=counted(len(own), "{number} stage", "{number} stages"))
    off = api.migration.bias(rows)
    return (
        said
        if off is None
        else tr("{said} Bias: the measured duration was {off} the likely one.").format(said=said, off=units.ratio(off))
    )


def _result_text(row: "EstimateComparison") -> str:
    return tr("in range") if row.inside else tr("shorter") if row.seconds < row.estimated.low else tr("longer")


def counted_differ(rows: "Sequence[EstimateComparison]") -> bool:
    """Return whether some of the executions count for the accuracy, and some do not."""
    return len({row.counts for row in rows}) > 1


COUNTED = 6
RECORD_COLUMNS: "tuple[Column[EstimateComparison], ...]" = (
    Column("Start", lambda row: minute(row.began_at), width=Width.WHOLE, value=lambda row: row.began_at.timestamp()),
    Column("Execution", lambda row: tr(row.name)),
    Column("Stage", lambda row: tr(stage_heading(row.stage)), width=Width.REST),
    Column(
        "Likely", lambda row: units.duration(row.estimated.likely), right=True, value=lambda row: row.estimated.likely
    ),
    Column("Low – high", lambda row: span(row.estimated), right=True, value=lambda row: row.estimated.low),
    Column("Duration", lambda row: units.duration(row.seconds), right=True, value=lambda row: row.seconds),
    Column("Counted", lambda row: yes_no(row.counts)),
    Column("Result", _result_text, width=Width.WHOLE, tone=lambda row: Tone.GOOD if row.inside else Tone.WARNING),
)
STAGES_COLUMNS: "tuple[Column[ByStage], ...]" = (
    Column("Stage (all moves)", lambda row: tr(stage_heading(row.stage)), width=Width.REST),
    Column("Executions", lambda row: units.count(row.times), right=True, value=lambda row: row.times),
    Column(
        "Within low – high",
        lambda row: units.share(row.inside / row.times) if row.times else units.ABSENT,
        right=True,
        value=lambda row: row.inside / row.times if row.times else None,
    ),
    Column("Measured / likely", lambda row: units.ratio(row.bias), right=True, value=lambda row: row.bias),
)
