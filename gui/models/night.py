"""What would help, whether a method fits into a night, and what comes later, as rows and sentences."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import units
from core.language import marked, tr
from core.migration.model.estimate import Estimate, Help, Span
from gui.appearance import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import counted, in_sentence, method_name

if TYPE_CHECKING:
    from core.migration.estimate.growth import Later
    from core.migration.estimate.night import Fit
    from core.migration.estimate.planning import Planned

SURE, LIKELY = 0.9, 0.5


@dataclass(frozen=True, slots=True)
class FitRow:
    """How a method fits; `stop_by`: seconds of old's day, None where there is no window or too short a one."""

    fit: "Fit"
    stop_by: float | None
    windowed: bool


def fit_rows(planned: "Planned") -> tuple[FitRow, ...]:
    """The likeliest first."""
    from core.migration.estimate.planning import stop_by

    rows = (FitRow(one, stop_by(one, planned), planned.ends_at is not None) for one in planned.fits)
    return tuple(sorted(rows, key=lambda row: -row.fit.likelihood))


def _tone(row: FitRow) -> Tone:
    likelihood = row.fit.likelihood
    return Tone.GOOD if likelihood >= SURE else Tone.WARNING if likelihood >= LIKELY else Tone.BAD


def _start(row: FitRow) -> str:
    if not row.windowed:
        return units.duration(row.fit.start_by)
    if row.stop_by is None:
        return tr(TOO_SHORT)
    if not units.known(row.stop_by):
        return units.ABSENT
    minutes = int(row.stop_by // 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _cost(cost: Span | None) -> str:
    return units.ABSENT if cost is None else f"{_money(cost.likely)} ({_money(cost.low)} – {_money(cost.high)})"


def _money(value: float) -> str:
    return units.count(round(value)) if units.known(value) else units.ABSENT


def _saved(seconds: float) -> str:
    return f"−{units.duration(seconds)}" if seconds >= 1 else units.ABSENT


def helps_text(estimate: Estimate) -> str:
    """What stands over the changes: of which method they are, or that none is known."""
    name = in_sentence(method_name(estimate.to_take))
    if not estimate.helps:
        return tr("Nothing is known that would shorten the {name} noticeably.").format(name=name) if name else ""
    return tr("Each is one change of the {name}, with what it saves by itself; they do not add up.").format(name=name)


def later_text(planned: "Planned") -> str:
    """What the move takes when the cluster has grown, and when old is full; empty where neither is known."""
    lines = [_later(one) for one in planned.later]
    if units.known(planned.months_until_full):
        months = counted(max(1, round(planned.months_until_full)), "{number} month", "{number} months")
        when = (
            tr("will be full to 80 % in {months}").format(months=months)
            if planned.months_until_full
            else tr("is fuller than 80 % now")
        )
        lines.append(tr("Old's file system {when}.").format(when=when))
    return "\n".join(lines)


def _later(one: "Later") -> str:
    down = ", ".join(
        f"{in_sentence(method_name(name))} {units.duration(span.likely)}" for name, span in one.downtime_seconds.items()
    )
    when = tr("In {months} months").format(months=one.months) if one.months else tr("Now")
    return tr("{when}: {size_bytes}; downtime: {down}").format(
        when=when, size_bytes=units.size(one.size_bytes), down=down
    )


def said_of(planned: "Planned") -> str:
    """What stands over the answers."""
    if not planned.fits:
        return tr("Say when clients may wait (a window), for how long (a downtime), or both.")
    asked = tr("Clients may wait {night_seconds}").format(night_seconds=units.duration(planned.night_seconds))
    back = tr("; in a window there must be time to go back to old.") if planned.ends_at is not None else "."
    seen = ""
    if planned.changes is not None:
        seen = tr(" By the watch {changes} change an hour in that window, by old's clock.").format(
            changes=units.size(planned.changes)
        )
    return f"{asked}{back}{seen}"


METHOD, FITS, START, COSTS, MUST_HOLD = range(5)
"""Its columns; a window gives `START` another head."""
TOO_SHORT = marked("the window is too short")
STARTS = {True: marked("Stop old by"), False: marked("Stop and way back")}
FIT_COLUMNS: tuple[Column[FitRow], ...] = (
    Column("Method", lambda row: method_name(row.fit.method)),
    Column("Fits in", lambda row: f"{row.fit.likelihood:.0%}", right=True, tone=_tone),
    Column("Stop old by", _start, right=True),
    Column("Costs (low – high)", lambda row: _cost(row.fit.cost), right=True),
    Column(
        "What must hold",
        lambda row: recorded(row.fit.must_hold) or tr("it fits"),
        width=Width.REST,
        tip=lambda row: recorded(row.fit.must_hold),
    ),
)
HELP_COLUMNS: tuple[Column[Help], ...] = (
    Column("What would help", lambda row: recorded(row.change), width=Width.REST, tip=lambda row: recorded(row.change)),
    Column("Of the downtime", lambda row: _saved(row.downtime_seconds), right=True),
    Column("In all", lambda row: _saved(row.duration_seconds), right=True),
    Column("Then bound by", lambda row: tr(row.then_bound_by)),
)
