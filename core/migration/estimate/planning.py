"""The questions that go beyond the methods: what would help, whether it fits into a night, what comes later."""

from dataclasses import dataclass

from core.migration.estimate import simulated
from core.migration.estimate.advice import helps
from core.migration.estimate.growth import Later, later, months_until_full
from core.migration.estimate.night import Fit, Night, during, fit
from core.migration.estimate.spec import Spec
from core.migration.model.asked import Asked
from core.migration.model.estimate import Estimate, Help
from core.migration.model.move import Verify

_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Planned:
    """What was asked beyond the methods, and the answers.

    `night_seconds`: how long clients may wait; `ends_at`: seconds of the day, None without a window; `changes`: bytes
    an hour that change in the window, None where no watch has seen it.
    """

    helps: tuple[Help, ...]
    fits: tuple[Fit, ...]
    later: tuple[Later, ...]
    months_until_full: float | None
    night_seconds: float
    ends_at: float | None
    changes: float | None = None


def answers(spec: Spec, made: Estimate, asked: Asked, checking: Verify = Verify.CHANGED) -> Planned:
    """The answers, of the methods that can be taken."""
    night, ends_at = _night(asked)
    then = spec if asked.window is None else during(spec, *_within(asked.window))
    possible = [each for each in simulated(then, checking) if _possible(made, each.name)] if night is not None else []
    grows = asked.growth_bytes_per_month
    grows = spec.cluster.growth_bytes_per_month if grows is None else grows
    used, capacity = spec.old.used_bytes or spec.cluster.size_bytes, spec.old.capacity_bytes
    return Planned(
        helps=made.helps or helps(spec, made.to_take, checking),
        fits=tuple(fit(then, each, night, checking, asked.price) for each in possible) if night is not None else (),
        later=later(spec, grows, checking) if grows else (),
        months_until_full=months_until_full(used, capacity, grows or 0.0) if capacity is not None else None,
        night_seconds=night.seconds if night is not None else 0.0,
        ends_at=ends_at,
        changes=then.cluster.change_bytes_per_hour if then is not spec else None,
    )


def _possible(made: Estimate, name: str) -> bool:
    method = made.method(name)
    return method is not None and not method.ruled_out


def _night(asked: Asked) -> tuple[Night | None, float | None]:
    """The night that was asked about, and when its window ends."""
    if asked.window is not None:
        begins, length = _within(asked.window)
        seconds = length if asked.downtime_seconds is None else min(length, asked.downtime_seconds)
        return Night(seconds, way_back=True), (begins + length) % _DAY
    if asked.downtime_seconds is not None:
        return Night(asked.downtime_seconds, way_back=False), None
    return None, None


def _within(window: tuple[float, float]) -> tuple[float, float]:
    """When the window begins, and how long it is."""
    begins, ends = window
    return begins, (ends - begins) % _DAY or _DAY


def stop_by(fits: Fit, planned: Planned) -> float | None:
    """When in the old server's day the stop must begin at the latest, in seconds; None: there is no window, or it is
    too short."""
    if planned.ends_at is None or fits.start_by > planned.night_seconds:
        return None
    return (planned.ends_at - fits.start_by) % _DAY
