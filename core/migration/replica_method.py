"""The estimate of a streaming replica: pg_basebackup while old runs, catch up, switch over."""

from core.migration.basis import Basis
from core.migration.ends import PEOPLE, prepare, rebuild, rebuild_said, start_new, stop_old
from core.migration.model import Method, Span, Stage
from core.migration.rates import times, total


def streaming_replica(basis: Basis) -> Method:
    """`size / slowest link` for the base copy, then the WAL of that time; old is stopped, new promoted."""
    base = Stage("base copy", basis.copy.seconds(basis.size), basis.copy.bound_by)
    hours = base.seconds.likely / 3600
    lag = times(hours, basis.change)
    lag = Span(*(min(basis.size, bytes_) for bytes_ in (lag.low, lag.likely, lag.high)))
    catch_up = Span(
        lag.low / basis.write.high,
        lag.likely / basis.write.likely,
        lag.high / basis.write.low * 3,
    )
    stages = (prepare(), base, Stage("catch up", catch_up, "new disk"), stop_old(basis), start_new(), *rebuild(basis))
    overrun = basis.change.likely / 3600 > 0.5 * basis.copy.likely
    return Method(
        method="streaming-replica",
        duration_seconds=total(stage.seconds for stage in stages),
        downtime_seconds=total(stage.seconds for stage in stages[3:]),
        stages=stages,
        assumptions=(
            "old allows a replication connection and keeps the WAL (PostgreSQL 9.1 and later, wal_level replica)",
            "both servers run the same series on the same architecture",
            *basis.said(*basis.copy_concerns, "change"),
            *rebuild_said(basis),
            PEOPLE,
        ),
        warnings=(*basis.warnings, *((_OVERRUN,) if overrun else ())),
    )


_OVERRUN = "the cluster changes about as fast as it can be copied: a replica may never catch up"
