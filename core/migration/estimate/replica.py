"""The estimate of a streaming replica: pg_basebackup while the old cluster runs, then the WAL of that time, then the
switchover."""

from core.migration.estimate import assumptions
from core.migration.estimate.basis import OTHER_MACHINES, Basis, changed
from core.migration.estimate.draws import drawn, share, span
from core.migration.estimate.rates import Rate, assumed, slowest
from core.migration.estimate.stages import (
    PEOPLE,
    Part,
    Simulated,
    describe_index_rebuild,
    rebuild,
    since_a_checkpoint,
    start_by_hand,
    stop_by_hand,
)

OVERRUN = "The cluster changes about as fast as it can be copied. A replica may never catch up."
_TAKEN = (
    "The old server is assumed to accept replication connections, and to keep the WAL until the replica has it.",
    "It needs the same major version and architecture on both servers.",
    "pg_basebackup sends the data in one stream, without ssh.",
    "Its downtime contains no verification and no local-only start.",
)
_NEVER = 0.5


def streaming_replica(known: Basis) -> Simulated:
    """`size / slowest link + files × cost of a file` for pg_basebackup, then the WAL of that time; a switchover.

    It is one process and one stream, without ssh; it compresses where that was given, whatever a copy does.
    """
    rate = base_backup(known)
    handled = known.files * drawn("a file", *assumptions.A_FILE)
    seconds = rate.seconds(known.size) + handled
    bound_by = rate.bound_by if span(handled).likely <= span(seconds).likely / 2 else "files"
    lag = changed(known, seconds)
    replay = slowest((known.write, assumed(assumptions.REPLAY, "new cpu", "replay")))
    parts = (
        Part("base copy", seconds, bound_by, rate.evidence, stopped=False),
        Part("catch up", replay.seconds(lag), replay.bound_by, replay.evidence, stopped=False),
        stop_by_hand(known, since_a_checkpoint(known)),
        start_by_hand(known),
        *rebuild(known),
    )
    overrun = share(known.change / 3600 - 0.5 * rate.draws, 0.0) < _NEVER
    return Simulated(
        name="streaming-replica",
        parts=parts,
        assumptions=(
            *_TAKEN,
            *known.assumptions_about("read", "write", "wire", "files", "change", *OTHER_MACHINES),
            *describe_index_rebuild(known),
            PEOPLE,
        ),
        warnings=(*known.warnings, *((OVERRUN,) if overrun else ())),
        on_new=known.spec.cluster.size_bytes,
        on_old=span(lag).high,
    )


def base_backup(known: Basis) -> Rate:
    """What pg_basebackup moves a second: the disks, the wire, and its one process, which is faster since 18."""
    newer = (known.spec.old.version or 0) >= 18
    process = assumptions.BASE_BACKUP_18 if newer else assumptions.BASE_BACKUP
    wire = known.bare.scaled(known.spec.replica.compression_ratio or 1.0)
    return slowest((known.read, wire, assumed(process, "old cpu", "pg_basebackup"), known.write))
