"""Improvements, the fit of each method into a window, and the growth of the cluster, as rows and texts."""

import itertools
import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from core import api, units
from core.language import marked, tr
from core.migration.model.estimate import Effort, Estimate, Fit, Help, Span
from core.tones import Tone
from gui.models.chart import MOST_TICKS, Axis, Bar, Chart, Labels, Mark, Path, Whisker, ladder
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import bound_name, counted, in_sentence, method_name, stated

if TYPE_CHECKING:
    from core.api.migration import Later, Planned

SURE, LIKELY = 0.9, 0.5


@dataclass(frozen=True, slots=True)
class FitRow:
    """How a method fits, and what was asked."""

    fit: Fit
    planned: "Planned"

    @property
    def windowed(self) -> bool:
        """Return whether a window was asked about, and not a downtime alone."""
        return self.planned.ends_at is not None


def fit_rows(planned: "Planned") -> tuple[FitRow, ...]:
    """Return the fits of all methods, the most likely first."""
    return tuple(sorted((FitRow(one, planned) for one in planned.fits), key=lambda row: -row.fit.likelihood))


def _tone(row: FitRow) -> Tone:
    likelihood = row.fit.likelihood
    return Tone.GOOD if likelihood >= SURE else Tone.WARNING if likelihood >= LIKELY else Tone.BAD


def _begin(row: FitRow) -> str:
    fit = row.fit
    if not (units.known(fit.begin_before) and fit.begin_before >= 1):
        return units.ABSENT
    if not row.windowed:
        return units.duration(fit.begin_before)
    if fit.begin_by is None:
        return units.ABSENT
    begin = api.migration.clock(fit.begin_by, row.planned)
    return begin if fit.next_window is None else tr("too late ({begin})").format(begin=begin)


def _stop(row: FitRow) -> str:
    if not row.windowed:
        return units.duration(row.fit.start_by)
    return tr(TOO_SHORT) if row.fit.stop_by is None else api.migration.clock(row.fit.stop_by, row.planned)


def _place(moment: datetime | None, seconds: float, row: FitRow) -> float | None:
    """Return what a column of moments is sorted by."""
    if not row.windowed:
        return seconds
    return None if moment is None else (moment - datetime.min.replace(tzinfo=moment.tzinfo)).total_seconds()


def latest_text(planned: "Planned") -> str:
    """Return by when the planned method must begin, and the old cluster be stopped; empty without a window."""
    fit = next((one for one in planned.fits if one.method == planned.method), None)
    if fit is None or planned.ends_at is None:
        return ""
    if fit.begin_by is None or fit.stop_by is None:
        return tr("The window is too short for the {name}.").format(name=in_sentence(method_name(fit.method)))
    precopy = api.migration.begins_with_a_precopy(fit.method)
    begin, stop = (api.migration.clock(moment, planned) for moment in (fit.begin_by, fit.stop_by))
    if fit.next_window is not None:
        late = (
            tr("It is too late for this window: the pre-copy had to begin by {begin}.")
            if precopy
            else tr("It is too late for this window: the move had to begin by {begin}.")
        )
        then = tr("Begin it now for the window of {window}.")
        return f"{late} {then}".format(begin=begin, window=api.migration.clock(fit.next_window, planned))
    said = (
        tr("Begin the pre-copy by {begin}, and stop the old cluster by {stop}.")
        if precopy
        else tr("Begin the move by {begin}, and stop the old cluster by {stop}.")
    )
    return said.format(begin=begin, stop=stop)


def _cost(cost: Span | None) -> str:
    return units.ABSENT if cost is None else f"{_money(cost.likely)} ({_money(cost.low)} – {_money(cost.high)})"


def _money(value: float) -> str:
    return units.count(round(value)) if units.known(value) else units.ABSENT


def _saved(seconds: float) -> str:
    return units.duration(seconds) if seconds >= 1 else tr("none")


LANE = 0.4
"""Height of a bar, of the place of a method: above it stand its latest moments."""
LEAST = 0.006
"""Of the width of the chart: what takes less is drawn as long, or nobody would see it."""
MOST_BEFORE, MOST_BEHIND = 3.0, 1.0
"""Times the length of a window: what is drawn before it and behind it at the most."""


def window_chart(planned: "Planned") -> Chart | None:
    """Return the window with the latest schedule of each method in it; None without a window."""
    begins, ends = planned.window_begins, planned.window_ends
    rows = fit_rows(planned)
    if begins is None or ends is None or not rows:
        return None
    length = (ends - begins).total_seconds()
    schedules = [_schedule(row.fit, begins) for row in rows]
    if not all(map(math.isfinite, itertools.chain(*schedules))):
        return None
    low = max(min(0.0, *(begin for begin, _, _ in schedules)), -MOST_BEFORE * length)
    high = min(max(length, *(end for _, _, end in schedules)), (1 + MOST_BEHIND) * length)
    around = (high - low) * 0.02
    across = Axis(low - around, high + around, _clocks(begins, low, high, length))
    top = len(rows) - 0.5
    marks: list[Mark] = [Path(((0.0, top), (length, top)), Tone.ACCENT, filled=True)]
    beside: list[tuple[float, str]] = []
    for number, row in enumerate(rows):
        place = float(len(rows) - 1 - number)
        marks += _scheduled(row, place, begins, across, length)
        beside += [
            (place + LANE * 0.6, tr("downtime {span}").format(span=stated(row.fit.downtime))),
            (place - LANE * 0.6, tr("likelihood {part}").format(part=units.share(row.fit.likelihood))),
        ]
    names = [method_name(row.fit.method) for row in rows]
    chosen = next((len(rows) - 1.0 - at for at, row in enumerate(rows) if row.fit.method == planned.method), None)
    return Chart(
        tr("Latest schedule in the window"),
        tr("Window with the latest begin, the latest stop and the downtime of each method"),
        "; ".join(
            f"{name}: {', '.join(_moments(row))}, {stated(row.fit.downtime)}"
            for name, row in zip(names, rows, strict=True)
        ),
        across,
        replace(ladder(names), chosen=chosen),
        tuple(marks),
        tuple(beside),
        (
            (Tone.ACCENT, tr("window")),
            (Tone.MUTED, tr("before the downtime")),
            (Tone.BAD, tr("downtime")),
            (Tone.WARNING, tr("rollback")),
        ),
        lines=2 * len(rows) + 2,
    )


def _schedule(fit: Fit, window: datetime) -> tuple[float, float, float]:
    """Return when a method begins, stops and likely ends, in seconds from the begin of the window.

    What does not fit stops when the window begins.
    """
    stop = 0.0 if fit.stop_by is None else (fit.stop_by - window).total_seconds()
    return stop - fit.begin_before, stop, stop + fit.downtime.likely


def _clocks(begins: datetime, low: float, high: float, length: float) -> tuple[tuple[float, str], ...]:
    """Return the ends of the window, which stand first, and full hours or days around them."""
    hours = next((hours for hours in (1, 2, 3, 6, 12) if (high - low) / 3600 / hours <= MOST_TICKS), 0)
    step = 3600.0 * (hours or 24 * max(1, round((high - low) / 86400 / MOST_TICKS)))
    midnight = (begins.replace(hour=0, minute=0) - begins).total_seconds()
    first = midnight + step * ((low - midnight) // step)
    full = (first + step * number for number in range(3 * MOST_TICKS))
    places = dict.fromkeys((0.0, length, *(at for at in full if low <= at <= high)))
    form = "%H:%M" if hours else "%Y-%m-%d %H:%M"
    return tuple((at, (begins + timedelta(seconds=at)).strftime(form)) for at in places)


def _scheduled(row: FitRow, place: float, window: datetime, across: Axis, length: float) -> list[Mark]:
    """Return the bars of a method, its range, and its latest moments above them."""
    fit, name = row.fit, method_name(row.fit.method)
    begin, stop, end = (min(max(each, across.low), across.high) for each in _schedule(fit, window))
    least = LEAST * (across.high - across.low)
    bottom, top = place - LANE, place
    marks: list[Mark] = []
    if fit.begin_before >= 1:
        precopy = api.migration.begins_with_a_precopy(fit.method)
        ahead = tr("pre-copy passes") if precopy else tr("before the downtime")
        tip = f"{name}, {ahead}: {units.duration(fit.begin_before)}"
        marks.append(Bar(begin, bottom, stop, top, Tone.MUTED, tip, ahead))
    if fit.stop_by is not None:
        back = f"{name}, {tr('rollback')}: {stated(fit.way_back)}"
        left = length - max(least, fit.way_back.likely)
        marks.append(Bar(left, bottom, length, top, Tone.WARNING, back, full=False))
        end = min(end, left)
    tip = f"{name}, {tr('downtime')}: {stated(fit.downtime)}"
    marks.append(Bar(min(stop, end - least), bottom, end, top, Tone.BAD, tip))
    ranged = [min(stop + each, across.high) for each in (fit.downtime.low, fit.downtime.high)]
    if ranged[1] - ranged[0] > least:
        marks.append(Whisker((ranged[0], place - LANE / 2), (ranged[1], place - LANE / 2)))
    places = (begin, stop) if len(_moments(row)) > 1 else (max(stop, end),)
    marks.append(Labels(place + LANE * 0.6, tuple(zip(places, _moments(row), strict=True))))
    return marks


def _moments(row: FitRow) -> tuple[str, ...]:
    """Return the latest begin and the latest stop of a method in words, as far as there are any."""
    fit = row.fit
    if fit.begin_by is None or fit.stop_by is None:
        return (tr(TOO_SHORT),)
    begin, stop = (api.migration.clock(moment, row.planned) for moment in (fit.begin_by, fit.stop_by))
    until = tr("stop by {stop}").format(stop=stop)
    if fit.next_window is not None:
        return (tr("too late ({begin})").format(begin=begin),)
    if fit.begin_before < 1:
        return (until,)
    return tr("begin by {begin}").format(begin=begin), until


def helps_text(estimate: Estimate) -> str:
    """Return the text above the improvements."""
    name = in_sentence(method_name(estimate.to_take))
    if not estimate.helps:
        return tr("No change is known that would make the {name} noticeably faster.").format(name=name) if name else ""
    return tr(
        "Each line is one change of the {name} and the time that it saves alone. The times cannot be added up."
    ).format(name=name)


HELPS_EXPLAINED = marked(
    "A saving of less than a second is shown as none. The column Effort says how much work or money a change takes. "
    "The last column names what limits the longest stage after the change. It may be the same as before."
)
"""The text below the improvements."""


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
        tr(". The window must also leave time for a rollback to the old server, which takes {span}.").format(
            span=stated(planned.fits[0].way_back)
        )
        if planned.ends_at is not None
        else "."
    )
    seen = ""
    if planned.changes is not None:
        seen = tr(
            " The watch has seen {changes} of changes an hour in this window, by the clock of the old server."
        ).format(changes=units.size(planned.changes))
    latest = latest_text(planned)
    return f"{asked}{back}{seen} {latest}".rstrip()


METHOD, FITS, BEGIN, STOP, COSTS, MUST_HOLD = range(6)
"""The numbers of the columns; the heads of `BEGIN` and `STOP` depend on whether there is a window."""
TOO_SHORT = marked("window too short")
BEGINS = {True: marked("Latest begin"), False: marked("Before the downtime")}
STOPS = {True: marked("Latest stop"), False: marked("Downtime and rollback")}
FIT_COLUMNS: tuple[Column[FitRow], ...] = (
    Column("Method", lambda row: method_name(row.fit.method)),
    Column(
        "Likelihood",
        lambda row: units.share(row.fit.likelihood),
        right=True,
        tone=_tone,
        value=lambda row: row.fit.likelihood,
    ),
    Column("Latest begin", _begin, right=True, value=lambda row: _place(row.fit.begin_by, row.fit.begin_before, row)),
    Column("Latest stop", _stop, right=True, value=lambda row: _place(row.fit.stop_by, row.fit.start_by, row)),
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
WITH_IT = 4
"""The number of the column of improvements that is shown while a window or a downtime is asked about."""
HELP_COLUMNS: tuple[Column[Help], ...] = (
    Column("Improvements", lambda row: recorded(row.change), width=Width.REST, tip=lambda row: recorded(row.change)),
    Column(
        "Downtime saved",
        lambda row: _saved(row.downtime_seconds),
        right=True,
        value=lambda row: row.downtime_seconds,
    ),
    Column(
        "Total time saved",
        lambda row: _saved(row.duration_seconds),
        right=True,
        value=lambda row: row.duration_seconds,
    ),
    Column(
        "Effort",
        lambda row: units.ABSENT if row.effort is None else tr(row.effort.heading),
        value=lambda row: None if row.effort is None else float([*Effort].index(row.effort)),
    ),
    Column(
        "Likelihood",
        lambda row: units.ABSENT if row.likelihood is None else units.share(row.likelihood),
        right=True,
        value=lambda row: row.likelihood,
    ),
    Column("Then limited by", lambda row: bound_name(row.then_bound_by)),
)
