"""The same move later: how large the cluster will be, what a move takes then, and when old is full."""

from dataclasses import dataclass, fields, replace

from core.migration.estimate.basis import Basis, basis
from core.migration.estimate.copy_methods import cold_copy, warm_copy
from core.migration.estimate.draws import span
from core.migration.estimate.dump_methods import dump_restore
from core.migration.estimate.spec import ClusterSpec, Spec
from core.migration.estimate.stages import Simulated
from core.migration.model.estimate import Span
from core.migration.model.move import Verify

MONTHS = (0, 3, 6, 12)
FULL = 0.8
"""At four fifths a file system is full to most DBAs."""

_PARTS = (
    "index_bytes",
    "largest_table_bytes",
    "change_bytes_per_hour",
    "reindex_bytes",
    "written_bytes",
    "checksummed_bytes",
)


@dataclass(frozen=True, slots=True)
class Later:
    """In so many months: bytes of the cluster, and each method's downtime."""

    months: int
    size_bytes: float
    downtime_seconds: dict[str, Span]


def later(spec: Spec, bytes_per_month: float, checking: Verify = Verify.CHANGED) -> tuple[Later, ...]:
    """Now and in 3, 6 and 12 months, where the cluster grows by so many bytes a month and keeps its shape."""
    made = []
    for months in MONTHS:
        cluster = _grown(spec.cluster, 1 + months * bytes_per_month / spec.cluster.size_bytes)
        known = basis(replace(spec, cluster=cluster))
        down = {each.name: span(each.downtime) for each in _methods(known, checking)}
        made.append(Later(months, cluster.size_bytes, down))
    return tuple(made)


def _methods(known: Basis, checking: Verify) -> tuple[Simulated, ...]:
    return cold_copy(known, checking), warm_copy(known, checking), dump_restore(known)


def _grown(cluster: ClusterSpec, times: float) -> ClusterSpec:
    values = {each.name: getattr(cluster, each.name) for each in fields(cluster)}
    parts = {name: values[name] * times for name in ("size_bytes", *_PARTS) if values[name] is not None}
    files = {} if cluster.files is None else {"files": round(cluster.files * times)}
    return replace(cluster, **parts, **files)


def months_until_full(used: float, capacity: float, bytes_per_month: float, limit: float = FULL) -> float | None:
    """Months until so many bytes fill that part of the file system: 0 where they do; None where they never will."""
    room = limit * capacity - used
    if room <= 0:
        return 0.0
    return room / bytes_per_month if bytes_per_month > 0 else None
