"""The same move later: how large the cluster will be, what a move takes then, and when the disk of the old server is
full."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.migration.estimate.basis import Basis, basis
from core.migration.estimate.copy_methods import cold_copy, warm_copy
from core.migration.estimate.draws import span
from core.migration.estimate.dump_methods import dump_restore
from core.migration.estimate.spec import PARTS, Spec
from core.migration.estimate.stages import Simulated
from core.migration.model.estimate import Span
from core.migration.model.move import Verify
from core.migration.model.plan import Phase

MONTHS = (0, 3, 6, 12)
_MONTH_SECONDS = 30.44 * 86400
_LEAST_SECONDS = 86400.0
"""Sizes of the same day say nothing of a month."""
FULL = 0.8
"""At four fifths a file system is full to most DBAs."""

_CONSTANT = frozenset({"kept_wal_bytes", "idle_wal_bytes"})
"""What settings and slots decide, however large the cluster is."""

_GROW = ("size_bytes", "change_bytes_per_hour", *(name for name in PARTS if name not in _CONSTANT))

_WITH_THE_CLUSTER = frozenset({Phase.FINAL, Phase.VERIFY, Phase.CHECKSUMS, Phase.AMCHECK})
"""Stages that handle the more, the larger the cluster is; what takes others was timed for any size."""


@dataclass(frozen=True, slots=True)
class Later:
    """In so many months: bytes of the cluster, and each method's downtime."""

    months: int
    size_bytes: float
    downtime_seconds: dict[str, Span]


def monthly_growth(sizes: Sequence[tuple[datetime, float]]) -> float | None:
    """Return the bytes by which a cluster has grown per month, less than 0 where it has shrunk; None within a day.

    Args:
        sizes: when its size was read, and its bytes then, the oldest first.
    """
    if not sizes or (seconds := (sizes[-1][0] - sizes[0][0]).total_seconds()) < _LEAST_SECONDS:
        return None
    return (sizes[-1][1] - sizes[0][1]) / seconds * _MONTH_SECONDS


def later(spec: Spec, bytes_per_month: float, checking: Verify = Verify.CHANGED) -> tuple[Later, ...]:
    """Now and in 3, 6 and 12 months, where the cluster grows by so many bytes a month and keeps its shape."""
    made = []
    for months in MONTHS:
        then = grown(spec, 1 + months * bytes_per_month / spec.cluster.size_bytes, checking)
        down = {each.name: span(each.downtime) for each in _methods(basis(then), checking)}
        made.append(Later(months, then.cluster.size_bytes, down))
    return tuple(made)


def grown(spec: Spec, times: float, checking: Verify = Verify.CHANGED) -> Spec:
    """The same when the cluster is so many times as large: its tables, indexes and changes, the largest table, and
    what was timed of such; an earlier dump & restore was of the size that it had, by default that of now."""
    cluster, seen = spec.cluster, spec.observed
    values = {name: value * times for name in _GROW if (value := getattr(cluster, name)) is not None}
    files = {} if cluster.files is None else {"files": round(cluster.files * times)}
    watched = spec.history.watched
    then = replace(
        spec,
        cluster=replace(cluster, **values, **files),
        observed=replace(seen, at_size_bytes=seen.at_size_bytes or cluster.size_bytes),
        history=replace(spec.history, watched=None if watched is None else watched.scaled(times)),
    )
    return replace(then, history=replace(then.history, timed=_timed_then(spec, then, checking)))


def _timed_then(spec: Spec, then: Spec, checking: Verify) -> dict[str, tuple[float, ...]]:
    """Each stage that was timed, as many times as long as it is reckoned to take then for what it takes now; a stage
    that is none of a move which proves so is left as it was."""
    made = dict(spec.history.timed)
    if not made.keys() & _WITH_THE_CLUSTER:
        return made
    now, later_ = (_reckoned(each, checking) for each in (spec, then))
    for stage in made.keys() & _WITH_THE_CLUSTER & now.keys():
        made[stage] = tuple(seconds * later_[stage] / now[stage] for seconds in made[stage])
    return made


def _reckoned(spec: Spec, checking: Verify) -> dict[str, float]:
    """Likely seconds of the stages of a warm copy by the formulas alone."""
    untimed = replace(spec, history=replace(spec.history, timed={}))
    return {part.name: span(part.seconds).likely for part in warm_copy(basis(untimed), checking).parts}


def _methods(known: Basis, checking: Verify) -> tuple[Simulated, ...]:
    return cold_copy(known, checking), warm_copy(known, checking), dump_restore(known)


def months_until_full(used: float, capacity: float, bytes_per_month: float, limit: float = FULL) -> float | None:
    """Months until so many bytes fill that part of the file system: 0 where they do; None where they never will."""
    room = limit * capacity - used
    if room <= 0:
        return 0.0
    return room / bytes_per_month if bytes_per_month > 0 else None
