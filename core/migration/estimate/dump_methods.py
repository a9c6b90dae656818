"""The estimates of dump & restore, of one process and of several, calibrated by an earlier one where there was one.

Rates are per byte of table (or of index) and process: `assumptions` says where they come from. Several processes are
worth
`n ^ 0.6`, but no less than the largest table takes one of them, which begins with it.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core import units
from core.migration.estimate import assumptions
from core.migration.estimate.basis import OTHER_MACHINES, Basis
from core.migration.estimate.draws import drawn, fixed, most, span
from core.migration.estimate.objects import created, dumped
from core.migration.estimate.proofs import several
from core.migration.estimate.rates import Rate, of_its_time, slowest
from core.migration.estimate.stages import (
    PEOPLE,
    Part,
    Simulated,
    analyzer,
    at_length,
    checkpoint,
    index_build,
    start_by_hand,
    stop_by_hand,
)

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws

MOST_PROCESSES = 8
"""Of either side, however many cores it has."""

_CALIBRATED = (0.87, 1.0, 1.15)
_DOMINATES = 0.5
_DUMP_TEXT = 0.6
"""A dump in files, compressed, is seldom more of the tables than that (pg_dump's default)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """A phase: `seconds` of an earlier one, its `rows` (bytes), what one process does, the disk, what objects take."""

    name: str
    seen: float | None
    rows: float
    process: Rate
    disk: Rate | None
    objects: "Draws"
    processes: int


def dump_restore(known: Basis) -> Simulated:
    """Dump, load it, build the indexes, ANALYZE, one after the other; clients wait for all of it, and the old cluster
    is stopped and the new cluster opened at its end."""
    return _method("dump-restore", known, 1, 1)


def parallel_dump_restore(known: Basis) -> Simulated:
    """The same with `pg_dump -Fd -j` over as many processes as the old server has cores and `pg_restore -j` over those
    of the new server, eight at the most."""
    given = known.spec.dump.jobs
    on_old, on_new = (given or min(cores, MOST_PROCESSES) for cores in (known.cores, known.new_cores))
    return _method("parallel-dump-restore", known, on_old, on_new)


def _method(name: str, known: Basis, on_old: int, on_new: int) -> Simulated:
    phases = _phases(known, on_old, on_new)
    parallel = name.startswith("parallel")
    concerns = ("read", "write", "index", *OTHER_MACHINES, *(("cores",) if parallel else ()))
    rows = _rows(known)
    return Simulated(
        name=name,
        parts=(*phases, stop_by_hand(known, checkpoint(known)), start_by_hand(known)),
        assumptions=(
            IN_FILES if parallel else CROSSES,
            *_network(known),
            *known.assumptions_about(*concerns),
            *_describe_objects(known),
            *_calibration(known),
            PEOPLE,
        ),
        warnings=(*known.warnings, *_guards(known, phases)),
        on_new=known.spec.cluster.size_bytes + (_DUMP_TEXT * rows if parallel else 0.0),
    )


NO_SLOWER = "The network was not measured. It is assumed to be no slower than at the earlier restore."
CROSSES = (
    "The dump is sent to the new server while it is loaded there. It contains no indexes: those are built on the new "
    "server."
)
IN_FILES = (
    "Sending and loading overlap: the files that have arrived are loaded while the others are sent. The estimate "
    "counts only the longer of the two. The files contain no indexes: those are built on the new server."
)
"""pg_restore -j reads files only, no pipe: both can overlap where the new server reads them from the old one."""


def _network(known: Basis) -> tuple[str, ...]:
    """What was assumed of the network that the dump goes over."""
    if known.spec.link.bits_per_second is not None:
        return known.assumptions_about("compression") if known.spec.dump.gzip_level else ()
    if known.spec.copy.observed_bytes_per_second is not None:
        carried = units.rate(known.wire.likely)
        return (f"The network was not measured. It is assumed to carry as much as the observed copy ({carried}).",)
    if known.spec.observed.restore_seconds is not None:
        return (NO_SLOWER,)
    return (
        known.assumptions_about("wire", "compression")
        if known.spec.dump.gzip_level
        else known.assumptions_about("wire")
    )


def _describe_objects(known: Basis) -> tuple[str, ...]:
    if known.spec.cluster.tables is not None:
        return ()
    return ("The number of tables and large objects was not given. No time is added for them.",)


def _phases(known: Basis, on_old: int, on_new: int) -> tuple[Part, ...]:
    rows, seen = _rows(known), known.spec.observed
    loader = _loader(known)
    builder, sampler = index_build(known), analyzer(known)
    written, nothing = _written(known), fixed(0.0)
    marked = _marked(known, written)
    return (
        _part(known, _Work("dump", seen.dump_seconds, rows, _dumper(known), known.read, dumped(known), on_old)),
        _over_the_wire(
            known,
            _part(known, _Work("load", seen.restore_seconds, rows, loader, written, created(known, on_new), on_new)),
            rows,
        ),
        _part(known, _Work("indexes", seen.index_seconds, known.index_bytes, builder, marked, nothing, on_new)),
        _part(known, _Work("analyze", seen.analyze_seconds, known.size, sampler, None, nothing, on_new)),
    )


def _rows(known: Basis) -> float:
    """Bytes that pg_dump reads as rows: neither indexes, nor what VACUUM FULL would give back, nor WAL."""
    cluster = known.spec.cluster
    held = known.size - (cluster.kept_wal_bytes or 0.0)
    if cluster.database_bytes is not None:
        held = min(held, cluster.database_bytes)
    return max(held - known.index_bytes - (cluster.wasted_bytes or 0.0), 0.0)


def _written(known: Basis) -> Rate:
    """Bytes of table or index that the new server's disk takes a second: what goes to the WAL comes on top."""
    again = drawn("written again", *assumptions.WRITTEN_AGAIN)
    return replace(
        known.write, draws=known.write.draws / again, likely=known.write.likely / assumptions.WRITTEN_AGAIN[1]
    )


def _marked(known: Basis, written: Rate) -> Rate:
    """Bytes of index that the new server's disk takes a second while they are built, where the scan of freshly loaded
    rows marks each as committed: the tables are written once more, without the WAL (wiki.postgresql.org, Hint Bits).
    """
    if not known.index_bytes:
        return written
    return written.scaled(known.index_bytes / (known.index_bytes + _rows(known) / assumptions.WRITTEN_AGAIN[1]))


def _loader(known: Basis) -> Rate:
    """One pg_restore: as a sample was loaded, else as was published."""
    given = known.spec.dump.load_bytes_per_second
    if given is not None:
        return at_length(known, "dump.load_bytes_per_second", given, assumptions.LOAD_SAMPLED, "new cpu", "load")
    return of_its_time(assumptions.LOAD, assumptions.LOAD_OF_NOW, "new cpu", "load", now=known.of_now)


def _dumper(known: Basis) -> Rate:
    """One pg_dump: as COPY put a sample out, else as was published of text; with its gzip of some level no faster than
    that."""
    level, given = known.spec.dump.gzip_level, known.spec.dump.copy_bytes_per_second
    plain = (
        of_its_time(assumptions.DUMP, assumptions.DUMP_OF_NOW, "old cpu", "dump", now=known.of_now)
        if given is None
        else at_length(known, "dump.copy_bytes_per_second", given, assumptions.COPY_SAMPLED, "old cpu", "dump")
    )
    if not level:
        return plain
    nearest = min(assumptions.GZIP, key=lambda each: abs(each - level))
    before, of_now = assumptions.GZIP[nearest], assumptions.GZIP_OF_NOW[nearest]
    packed = of_its_time(before, of_now, "old cpu", "gzip", now=known.of_now)
    return packed if given is None else slowest((packed, plain))


def _part(known: Basis, work: _Work) -> Part:
    """`size / min(processes ^ 0.6 × one process, disk)`, but never less than the largest table takes one process."""
    if work.seen is not None:
        alone = _seen(known, work.seen, work.name)
        return Part(work.name, _shared(known, alone, work), work.process.bound_by, "an earlier dump & restore")
    packed = work.name == "dump" and known.spec.dump.gzip_level
    rate = several(work.process, work.processes, assumptions.SPEEDUP_OF_GZIP if packed else assumptions.SPEEDUP)
    if work.disk is not None and work.disk.stated:  # published dumps went over disks too: only a known one counts
        rate = slowest((rate, work.disk))
    seconds = rate.seconds(work.rows)
    if work.processes > 1 and work.name in {"dump", "load"}:
        # no faster alone than all together with the others
        largest = min(known.spec.cluster.largest_table_bytes or 0.0, work.rows)
        seconds = most(seconds, work.process.seconds(largest))
    bound_by = rate.bound_by if span(work.objects).likely <= span(seconds).likely else "objects"
    return Part(work.name, seconds + work.objects, bound_by, rate.evidence)


def _over_the_wire(known: Basis, load: Part, rows: float) -> Part:
    """The load as its bytes come over the network: no shorter than that takes.

    An earlier load went over a network too: only what is known of this one can slow it down. What pg_dump has not
    packed crosses as it is.
    """
    if not known.wire.stated and known.spec.observed.restore_seconds is not None:
        return load
    text = rows / (known.spec.dump.text_ratio or 1.0)
    crossing = (known.wire if known.spec.dump.gzip_level else known.bare).seconds(text)
    bound_by = "wire" if span(crossing).likely > span(load.seconds).likely else load.bound_by
    return Part(load.name, most(load.seconds, crossing), bound_by, load.evidence)


def _seen(known: Basis, seconds: float, name: str) -> "Draws":
    """An observed phase of one process, for the size of now; each doubling since makes it less sure."""
    growth = _growth(known)
    further = max(growth, 1 / growth) ** 0.15
    low, likely, high = _CALIBRATED
    taken = seconds * growth
    return drawn(f"earlier {name}", taken * low / further, taken * likely, taken * high * further)


def _shared(known: Basis, alone: "Draws", work: _Work) -> "Draws":
    """An observed phase over several processes, as if one process had done it then."""
    if work.processes == 1:
        return alone
    low, likely, high = (work.processes**power for power in assumptions.SPEEDUP)
    shared = alone / drawn("speedup", low, likely, high)
    largest = known.spec.cluster.largest_table_bytes
    if not largest or not work.rows or work.name not in {"dump", "load"}:
        return shared
    return most(shared, alone * (min(largest, work.rows) / work.rows))


def _growth(known: Basis) -> float:
    """How many times larger the cluster is than when it was observed."""
    return known.spec.cluster.size_bytes / (known.spec.observed.at_size_bytes or known.spec.cluster.size_bytes)


def _calibration(known: Basis) -> tuple[str, ...]:
    seen = known.spec.observed
    phases = {
        "dump": seen.dump_seconds,
        "load": seen.restore_seconds,
        "indexes": seen.index_seconds,
        "ANALYZE": seen.analyze_seconds,
    }
    dump = known.spec.dump
    sampled = {
        "dump": dump.copy_bytes_per_second,
        "load": dump.load_bytes_per_second,
        "indexes": dump.index_bytes_per_second,
    }
    told = [name for name, rate in sampled.items() if rate is not None and phases[name] is None]
    unseen = [name for name, value in phases.items() if value is None and name not in told]
    said = []
    if any(value is not None for value in phases.values()):
        at = seen.at_size_bytes
        size = f"of {units.size(at)}" if at is not None else "of the same size (its size was not given)"
        said.append(f"Scaled by size from an earlier dump & restore {size}.")
    if told:
        said.append(
            f"{', '.join(told)}: measured on a sample of the largest tables, and assumed to be the same for all tables."
        )
    if unseen:
        said.append(f"{', '.join(unseen)}: not measured here, and estimated from other clusters.")
    return tuple(said)


def _guards(known: Basis, phases: tuple[Part, ...]) -> tuple[str, ...]:
    """What no dump & restore was seen to do, or what is likely forgotten."""
    dump, load, index, analyze = (span(part.seconds).likely for part in phases)
    said, seen = [], known.spec.observed
    rate = known.size / (dump + load + index + analyze)
    largest = known.spec.cluster.largest_table_bytes
    if rate > 150e6:
        said.append(f"{units.rate(rate)} end to end is more than any dump & restore has been seen to reach (150 MB/s).")
    if largest is not None and largest >= _DOMINATES * known.size:
        said.append(
            "One table holds most of the data. A single process dumps and loads it, and -j does not change that."
        )
        if rate > 40e6:
            said.append(
                f"{units.rate(rate)} end to end is more than has been seen where one table dominates (40 MB/s)."
            )
    given = (known.spec.cluster.index_bytes, seen.index_seconds, seen.analyze_seconds)
    waits = phases[1].bound_by == "wire"
    if not waits and any(value is not None for value in given) and index + analyze < 0.2 * (load + index + analyze):
        said.append(
            "Indexes and ANALYZE take less than a fifth of the restore. They usually take more. Check that "
            "all of them are counted."
        )
    read = known.spec.old.read_bytes_per_second
    if seen.dump_seconds is not None and read is not None:
        earlier = (seen.at_size_bytes or known.size) / seen.dump_seconds
        if earlier > 1.1 * read / 0.5:
            said.append(
                f"The earlier dump read {units.rate(earlier)} of the cluster from a disk that reads {units.rate(read)}."
            )
    return tuple(said)
