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
from core.migration.estimate.upgrade_methods import upgrades
from core.migration.model.estimate import Fit
from core.migration.model.move import Verify
from core.migration.model.plan import Phase

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


def fit(spec: Spec, method: Simulated, night: Night, checking: Verify = Verify.CHANGED) -> Fit:
    """How a method fits into a night."""
    fits = likelihood(method, night)
    return Fit(
        method=method.name,
        likelihood=fits,
        start_by=start_by(method),
        must_hold="" if fits >= SURE else _must_hold(spec, method, night, checking),
        begin_before=span(method.ahead).high,
        downtime=span(method.downtime),
        way_back=span(_way_back()),
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


def start_by(method: Simulated) -> float:
    """So many seconds before the end of a window a method's stop must begin, so that there is time for the way back."""
    return span(method.downtime + _way_back()).high


def _way_back() -> "Draws":
    return drawn("rollback", *assumptions.WAY_BACK)


def _ends(method: Simulated, night: Night) -> "Draws":
    """When all is over, after the stop began: where there must be time for it, the way back as well."""
    return method.downtime + _way_back() if night.way_back else method.downtime


def _must_hold(spec: Spec, method: Simulated, night: Night, checking: Verify) -> str:
    """Of what is copied warm how little may change, of others the rate that they need, of a copy or all their work."""
    known, size = basis(spec), spec.cluster.size_bytes

    def copied(rate: float) -> bool:
        copy, link = replace(spec.copy, observed_bytes_per_second=rate), replace(spec.link, bits_per_second=None)
        made = cold_copy(basis(replace(spec, copy=copy, link=link)), checking)
        return share(_ends(made, night), night.seconds) >= SURE

    def quiet(part: float) -> bool:
        changing = basis(quieter(spec, size / part))
        copies = (warm_copy(changing, checking), *upgrades(changing, checking))
        made = next(each for each in copies if each.name == method.name)
        return share(_ends(made, night), night.seconds) >= SURE

    def worked(times: float) -> bool:
        return share(_ends(_faster(method, times), night), night.seconds) >= SURE

    if method.name == "cold-copy" and (rate := _least(copied, 1e5, 1e11)) is not None:
        return f"the copy must reach {units.rate(rate)}; it is expected to reach {units.rate(known.copy.likely)}"
    if method.name in _WARM and (part := _least(quiet, 0.1, 1e7)) is not None:
        now = units.size(span(known.change).likely)
        return f"no more than {units.size(size / part)} may change in an hour; {now} are expected to change"
    if method.name in _WORKS and (times := _least(worked, 0.1, 1e7)) is not None:
        seconds = sum(span(part.seconds).likely for part in method.parts if part.name in _WORK)
        if method.name == "streaming-replica":
            now, needed = (units.rate(each * (spec.cluster.reindex_bytes or 0.0) / seconds) for each in (1, times))
            return f"the rebuild of indexes must reach {needed}; it is expected to reach {now}"
        now, needed = (units.rate(each * size / seconds) for each in (1, times))
        return f"the dump and restore must handle {needed} of the cluster; they are expected to handle {now}"
    return NEVER


_WARM = frozenset({"warm-copy", "pg-upgrade-copy", "pg-upgrade-clone", "pg-upgrade-link"})
_WORKS = frozenset({"dump-restore", "parallel-dump-restore", "streaming-replica"})
_WORK = frozenset({"dump", "load", "indexes", "analyze", Phase.REINDEX})
"""Stages of these that handle the more, the larger the cluster is, while clients wait."""


def _faster(method: Simulated, times: float) -> Simulated:
    """The method when its work is so many times as fast."""
    parts = (replace(part, seconds=part.seconds / times) if part.name in _WORK else part for part in method.parts)
    return replace(method, parts=tuple(parts))


NEVER = "no rate is enough: the other stages alone take longer"


def _least(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The least value for which it holds, to one part in a hundred or so; None where not even the highest does."""
    if not holds(high):
        return None
    for _ in range(_STEPS):
        middle = float((low * high) ** 0.5)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
