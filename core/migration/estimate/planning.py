"""The questions that go beyond the methods: what would help, whether it fits into a night, what comes later."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from core.migration.estimate import simulated
from core.migration.estimate.advice import helps
from core.migration.estimate.growth import Later, later, months_until_full
from core.migration.estimate.night import Night, during, fit
from core.migration.estimate.spec import Spec
from core.migration.model.asked import Asked
from core.migration.model.estimate import Estimate, Fit, Help, Span

_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Planned:
    """What was asked beyond the methods, and the answers.

    `night_seconds`: how long clients may wait; `ends_at`: seconds of the day, None without a window; `changes`: bytes
    an hour that change in the window, None where no watch has seen it; `method`: the one that a plan follows;
    `window_begins`, `window_ends`: of the next window, by the old server's clock, None without one.
    """

    helps: tuple[Help, ...]
    fits: tuple[Fit, ...]
    later: tuple[Later, ...]
    months_until_full: float | None
    night_seconds: float
    ends_at: float | None
    changes: float | None = None
    method: str = ""
    window_begins: datetime | None = None
    window_ends: datetime | None = None


def answered(spec: Spec, made: Estimate, asked: Asked) -> Estimate:
    """The estimate with what would help, and with how its methods fit into the window or downtime that was asked about.

    Args:
        spec: what the estimate was made from.
        made: the estimate.
        asked: the questions; the price and the growth make no difference.
    """
    night = _night(asked)
    then = spec if asked.window is None else during(spec, *_within(asked.window))
    possible = () if night is None else (each for each in simulated(then, made.checking) if _possible(made, each.name))
    return replace(
        made,
        asked=asked.kept,
        fits=() if night is None else tuple(fit(then, each, night, made.checking) for each in possible),
        helps=helps(then, made.to_take, made.checking, night),
        changes=then.cluster.change_bytes_per_hour if then is not spec else None,
    )


def answers(spec: Spec, made: Estimate, asked: Asked, now: datetime | None = None) -> Planned:
    """The answers, of the methods that can be taken.

    Args:
        spec: what the later moves are estimated from.
        made: the estimate, which has answered the same window and downtime.
        asked: the questions.
        now: by the old server's clock; None: by its time zone, where that is known, else by the workstation's.
    """
    night = _night(asked)
    now = now or datetime.now(UTC).astimezone(spec.history.zone)
    window = None if asked.window is None else _next(asked.window, now)
    grows = asked.growth_bytes_per_month
    grows = spec.cluster.growth_bytes_per_month if grows is None else grows
    used, capacity = spec.old.used_bytes or spec.cluster.size_bytes, spec.old.capacity_bytes
    return Planned(
        helps=made.helps,
        fits=tuple(_dated(_priced(each, asked.price), night, window, now) for each in made.fits)
        if night is not None
        else (),
        later=later(spec, grows, made.checking) if grows else (),
        months_until_full=months_until_full(used, capacity, grows or 0.0) if capacity is not None else None,
        night_seconds=night.seconds if night is not None else 0.0,
        ends_at=None if asked.window is None else asked.window[1],
        changes=made.changes,
        method=made.to_take,
        window_begins=None if window is None else window[0],
        window_ends=None if window is None else window[1],
    )


def _priced(fits: Fit, price: float | None) -> Fit:
    """With the costs of the downtime; `price`: what an hour without the cluster costs."""
    down = fits.downtime
    costs = None if price is None else Span(*(price * each / 3600 for each in (down.low, down.likely, down.high)))
    return replace(fits, cost=costs)


def _possible(made: Estimate, name: str) -> bool:
    method = made.method(name)
    return method is not None and not method.ruled_out


def _night(asked: Asked) -> Night | None:
    """The night that was asked about."""
    return None if asked.seconds is None else Night(asked.seconds, way_back=asked.window is not None)


def _within(window: tuple[float, float]) -> tuple[float, float]:
    """When the window begins, and how long it is."""
    begins, ends = window
    return begins, (ends - begins) % _DAY or _DAY


def _next(window: tuple[float, float], now: datetime) -> tuple[datetime, datetime]:
    """The window that ends next."""
    begins, length = _within(window)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    ends = (midnight + timedelta(days=days, seconds=begins + length) for days in range(3))
    end = next(each for each in ends if each > now)
    return end - timedelta(seconds=length), end


def _dated(fits: Fit, night: Night, window: tuple[datetime, datetime] | None, now: datetime) -> Fit:
    """With the latest moments, where there is a window that is long enough."""
    if window is None or fits.start_by > night.seconds:
        return fits
    begins, ends = window
    stop = _before(ends, fits.start_by)
    begin = _before(stop, fits.begin_before)
    if begin >= now:
        return replace(fits, begin_by=begin, stop_by=stop)
    later = begins + timedelta(days=(now - begin).days + 1)
    return replace(fits, begin_by=begin, stop_by=stop, next_window=later)


def _before(moment: datetime, seconds: float) -> datetime:
    """So many seconds earlier, also where the clocks are changed in between."""
    try:
        return (moment.astimezone(UTC) - timedelta(seconds=seconds)).astimezone(moment.tzinfo)
    except OverflowError:  # a copy that takes thousands of years
        return datetime.min.replace(tzinfo=moment.tzinfo)


def begins_with_a_precopy(method: str) -> bool:
    """Whether what precedes the stop is a pre-copy, above all."""
    return method == "warm-copy" or method.startswith("pg-upgrade")


def clock(moment: datetime, planned: Planned) -> str:
    """`14:40` on a day of the window that was asked about, `2026-11-29 14:40` on another."""
    begins, ends = planned.window_begins, planned.window_ends
    of_window = (
        begins is not None
        and ends is not None
        and ends - timedelta(days=1) < moment <= ends
        and (moment >= begins or moment.date() == begins.date())
    )
    return moment.strftime("%H:%M" if of_window else "%Y-%m-%d %H:%M")
