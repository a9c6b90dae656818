"""Improvements, the fit of each method into a window, and the growth of the cluster, as rows and texts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import api, units
from core.language import marked, tr
from core.migration.model.estimate import Estimate, Help, Span
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import bound_name, counted, in_sentence, method_name

if TYPE_CHECKING:
    from core.api.migration import Fit, Later, Planned

SURE, LIKELY = 0.9, 0.5


@dataclass(frozen=True, slots=True)
class FitRow:
    """How a method fits; `stop_by`: the latest stop in seconds of the day on the old server; None without a long enough
    window.
    """

    fit: "Fit"
    stop_by: float | None
    windowed: bool


def fit_rows(planned: "Planned") -> tuple[FitRow, ...]:
    """Return the fits of all methods, the most likely first."""
    rows = (FitRow(one, api.migration.stop_by(one, planned), planned.ends_at is not None) for one in planned.fits)
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
    """Return the text above the improvements."""
    name = in_sentence(method_name(estimate.to_take))
    if not estimate.helps:
        return tr("No change is known that would make the {name} noticeably faster.").format(name=name) if name else ""
    return tr(
        "Each line is one change of the {name} and the time that it saves alone. The times cannot be added up."
    ).format(name=name)


def later_text(planned: "Planned") -> str:
    """Return the downtime after some months of growth, and when the old file system is full; empty if unknown."""
    lines = [_later(one) for one in planned.later]
    if units.known(planned.months_until_full):
        months = counted(max(1, round(planned.months_until_full)), "{number} month", "{number} months")
        when = (
            tr("will be 80 % full in {months}").format(months=months)
            if planned.months_until_full
            else tr("is more than 80 % full now")
        )
        lines.append(tr("The file system of the old server {when}.").format(when=when))
    return "\n".join(lines)


def _later(one: "Later") -> str:
    down = ", ".join(
        f"{in_sentence(method_name(name))} {units.duration(span.likely)}" for name, span in one.downtime_seconds.items()
    )
    when = tr("In {months} months").format(months=one.months) if one.months else tr("Now")
    return tr("{when}: size {size_bytes}, downtime: {down}").format(
        when=when, size_bytes=units.size(one.size_bytes), down=down
    )


def window_summary(planned: "Planned") -> str:
    """Return the text above the fits."""
    if not planned.fits:
        return tr("Enter a window for the downtime, the longest acceptable downtime, or both.")
    asked = tr("The downtime may last {night_seconds}").format(night_seconds=units.duration(planned.night_seconds))
    back = (
        tr(". The window must also leave time for a rollback to the old server.")
        if planned.ends_at is not None
        else "."
    )
    seen = ""
    if planned.changes is not None:
        seen = tr(
            " The watch has seen {changes} of changes an hour in this window, by the clock of the old server."
        ).format(changes=units.size(planned.changes))
    return f"{asked}{back}{seen}"


METHOD, FITS, START, COSTS, MUST_HOLD = range(5)
"""The numbers of the columns; the head of `START` depends on whether there is a window."""
TOO_SHORT = marked("window too short")
STARTS = {True: marked("Latest stop"), False: marked("Downtime and rollback")}
FIT_COLUMNS: tuple[Column[FitRow], ...] = (
    Column("Method", lambda row: method_name(row.fit.method)),
    Column(
        "Likelihood",
        lambda row: f"{row.fit.likelihood:.0%}",
        right=True,
        tone=_tone,
        value=lambda row: row.fit.likelihood,
    ),
    Column("Latest stop", _start, right=True, value=lambda row: row.stop_by if row.windowed else row.fit.start_by),
    Column(
        "Costs (low – high)",
        lambda row: _cost(row.fit.cost),
        right=True,
        value=lambda row: None if row.fit.cost is None else row.fit.cost.likely,
    ),
    Column(
        "Condition",
        lambda row: recorded(row.fit.must_hold) or tr("none"),
        width=Width.REST,
        tip=lambda row: recorded(row.fit.must_hold),
    ),
)
HELP_COLUMNS: tuple[Column[Help], ...] = (
    Column("Improvements", lambda row: recorded(row.change), width=Width.REST, tip=lambda row: recorded(row.change)),
    Column(
        "Saved downtime",
        lambda row: _saved(row.downtime_seconds),
        right=True,
        value=lambda row: row.downtime_seconds,
    ),
    Column(
        "Saved duration",
        lambda row: _saved(row.duration_seconds),
        right=True,
        value=lambda row: row.duration_seconds,
    ),
    Column("Then limited by", lambda row: bound_name(row.then_bound_by)),
)
