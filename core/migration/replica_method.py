"""The estimate of a streaming replica: pg_basebackup while old runs, catch up, switch over."""

from core.migration.basis import Basis
from core.migration.model import Method, Span, Stage
from core.migration.rates import times, total

_SWITCH = Span(5.0, 30.0, 300.0)
"""Stop the clients, let the last WAL arrive, promote, lead the clients over: people, not disks."""


def streaming_replica(basis: Basis) -> Method:
    """`size / slowest link` for the base copy, then the WAL of that time; the cluster is down for the switch alone."""
    base = Stage("base copy", basis.copy.seconds(basis.size), basis.copy.bound_by)
    hours = base.seconds.likely / 3600
    lag = times(hours, basis.change)
    lag = Span(*(min(basis.size, bytes_) for bytes_ in (lag.low, lag.likely, lag.high)))
    catch_up = Span(
        lag.low / basis.write.high,
        lag.likely / basis.write.likely,
        lag.high / basis.write.low * 3,
    )
    stages = (base, Stage("catch up", catch_up, "new disk"), Stage("switch over", _SWITCH, "people"))
    overrun = basis.change.likely / 3600 > 0.5 * basis.copy.likely
    return Method(
        method="streaming-replica",
        duration_seconds=total(stage.seconds for stage in stages),
        downtime_seconds=_SWITCH,
        stages=stages,
        assumptions=(
            "old allows a replication connection and keeps the WAL (PostgreSQL 9.1 and later, wal_level replica)",
            "both servers run the same series on the same architecture",
            *basis.said(*basis.copy_concerns, "change"),
        ),
        warnings=(*basis.warnings, *((_OVERRUN,) if overrun else ())),
    )


_OVERRUN = "the cluster changes about as fast as it can be copied: a replica may never catch up"
