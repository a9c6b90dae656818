"""The other way round: how likely a method fits into a window or a downtime, and what must hold for it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core import units
from core.migration.estimate import assumptions
from core.migration.estimate.basis import basis, quieter
from core.migration.estimate.copy_methods import cold_copy, warm_copy
from core.migration.estimate.draws import drawn, share, span
from core.migration.estimate.spec import Spec
from core.migration.estimate.stages import Simulated
from core.migration.model.estimate import Span
from core.migration.model.move import Verify

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws

SURE = 0.9
"""What fits in nine nights of ten is taken to fit."""

WINDOWS = (900.0, 3600.0, 4 * 3600.0, 8 * 3600.0, 24 * 3600.0)
"""A maintenance break, an hour, an evening, a night, a day."""

_STEPS = 12


@dataclass(frozen=True, slots=True)
class Night:
    """How long clients may wait. `way_back`: by then the old cluster must run again, should the new one not do."""

    seconds: float
    way_back: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """How a method fits into a night.

    Attributes:
        likelihood: the part of the simulated nights in which it fits.
        start_by: so many seconds before the end the stop must begin, so that there is time for the way back.
        must_hold: what must be so that it fits in nine nights of ten; empty where it does.
        cost: of the downtime, low, likely and high; None without a price.
    """

    method: str
    likelihood: float
    start_by: float
    must_hold: str
    cost: Span | None = None


def fit(
    spec: Spec, method: Simulated, night: Night, checking: Verify = Verify.CHANGED, price: float | None = None
) -> Fit:
    """How a method fits into a night; `price`: what an hour without the cluster costs."""
    fits = likelihood(method, night)
    down = span(method.downtime)
    return Fit(
        method=method.name,
        likelihood=fits,
        start_by=span(method.downtime + _way_back()).high,
        must_hold="" if fits >= SURE else _must_hold(spec, method, night, checking),
        cost=None if price is None else Span(*(price * each / 3600 for each in (down.low, down.likely, down.high))),
    )


def during(spec: Spec, begins: float, seconds: float) -> Spec:
    """The same from `begins`, seconds of the old server's day, for so long, where a watch has seen how much changes
    then."""
    seen = spec.history.watched
    rate = seen.between(begins, seconds) if seen is not None else None
    if seen is None or rate is None or not seen.bytes_per_hour:
        return spec
    part = rate / (seen.bytes_per_hour * seen.scale)
    then = quieter(spec, span(basis(spec).change).likely * part)
    return replace(then, history=replace(then.history, watched=seen.alike(rate).scaled(part)))


def likelihood(method: Simulated, night: Night) -> float:
    """The part of the simulated nights in which a method fits."""
    return share(_ends(method, night), night.seconds)


def _way_back() -> "Draws":
    return drawn("rollback", *assumptions.WAY_BACK)


def _ends(method: Simulated, night: Night) -> "Draws":
    """When all is over, after the stop began: where there must be time for it, the way back as well."""
    return method.downtime + _way_back() if night.way_back else method.downtime


def _must_hold(spec: Spec, method: Simulated, night: Night, checking: Verify) -> str:
    """Of a cold copy the rate that it needs, of a warm one how little may change; others have no one figure."""
    known, size = basis(spec), spec.cluster.size_bytes

    def copied(rate: float) -> bool:
        copy, link = replace(spec.copy, observed_bytes_per_second=rate), replace(spec.link, bits_per_second=None)
        made = cold_copy(basis(replace(spec, copy=copy, link=link)), checking)
        return share(_ends(made, night), night.seconds) >= SURE

    def quiet(part: float) -> bool:
        changing = quieter(spec, size / part)
        return share(_ends(warm_copy(basis(changing), checking), night), night.seconds) >= SURE

    if method.name == "cold-copy" and (rate := _least(copied, 1e5, 1e11)) is not None:
        return f"the copy must reach {units.rate(rate)}; it is expected to reach {units.rate(known.copy.likely)}"
    if method.name == "warm-copy" and (part := _least(quiet, 0.1, 1e7)) is not None:
        now = units.size(span(known.change).likely)
        return f"no more than {units.size(size / part)} may change in an hour; {now} are expected to change"
    return NEVER if method.name in {"cold-copy", "warm-copy"} else "choose another method or a longer window"


NEVER = "no rate is enough: the other stages alone take longer"


def _least(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The least value for which it holds, to one part in a hundred or so; None where not even the highest does."""
    if not holds(high):
        return None
    for _ in range(_STEPS):
        middle = float((low * high) ** 0.5)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
