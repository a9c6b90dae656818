"""The estimates of dump & restore, of one process and of several, calibrated by an earlier one where there was one.

Figures without one (per process, per byte of table data or of index):
- dump 20 to 140 MB/s: 730 GB in 9 h 18 (2007: 22 MB/s), 70 GB in 19 min (61 MB/s), 107 GB at 134 MB/s with `-j1`
- load 20 to 120 MB/s: 730 GB in about 4 h (51 MB/s), 70 GB in 27 min (43 MB/s)
- indexes 8 to 60 MB/s: the primary key over 100 M rows (2.1 GB) in 59 to 67 s (34 MB/s), 730 GB of cluster in 8.5 h
- ANALYZE samples at most 30,000 pages a table: a second for a GB at the most in 2007 (730 GB in 3 h is 68 MB/s)
- the dump goes over the network once, tables alone: the load is no faster than that
- n processes are worth n^0.6 (107 GB: 134 MB/s with one, 461 MB/s with eight), and one table is one process's work
"""

from core import units
from core.migration.estimate.basis import Basis
from core.migration.estimate.rates import INDEX_BUILD, Rate, assumed, longer, slowest, times, total
from core.migration.estimate.stages import PEOPLE, checkpoint, prepare, start_new, stop_old
from core.migration.model.estimate import Method, Span, Stage

_DUMP = (20e6, 60e6, 140e6)
_LOAD = (20e6, 45e6, 120e6)
_ANALYZE = (67e6, 1e9, 10e9)
_SPEEDUP = (0.45, 0.6, 0.8)
_MOST_PROCESSES = 8
_CALIBRATED = Span(0.85, 1.0, 1.2)
_DOMINATES = 0.5


def dump_restore(basis: Basis) -> Method:
    """Dump to a file, load it, build the indexes, ANALYZE, one after the other; clients wait for all of it, and old is
    stopped and new opened at its end."""
    return _method("dump-restore", basis, _stages(basis, 1))


def parallel_dump_restore(basis: Basis) -> Method:
    """The same with `pg_dump -Fd -j` and `pg_restore -j` over as many processes as old has cores, eight at the most."""
    return _method("parallel-dump-restore", basis, _stages(basis, min(basis.cores, _MOST_PROCESSES)))


def _method(name: str, basis: Basis, stages: tuple[Stage, ...]) -> Method:
    whole = (prepare(), *stages, stop_old(checkpoint(basis)), start_new())
    concerns = ("read", "write", "index", "cores") if name.startswith("parallel") else ("read", "write", "index")
    return Method(
        method=name,
        duration_seconds=total(stage.seconds for stage in whole),
        downtime_seconds=total(stage.seconds for stage in whole[1:]),
        stages=whole,
        assumptions=(_CROSSES, *_network(basis), *basis.said(*concerns), *_calibration(basis), PEOPLE),
        warnings=(*basis.warnings, *_guards(basis, stages)),
    )


_CROSSES = "the dump goes from old to new over the network while it is loaded: table data alone, no indexes"


def _network(basis: Basis) -> tuple[str, ...]:
    """What was assumed of the network that the dump goes over."""
    if basis.spec.link.bits_per_second is not None:
        return basis.said("compression")
    if basis.spec.copy.observed_bytes_per_second is not None:
        carried = units.rate(basis.wire.likely)
        return (f"the network was not measured: assumed to carry what the observed copy did ({carried})",)
    if basis.spec.observed.restore_seconds is not None:
        return ("the network was not measured: assumed to be no slower than at the earlier restore",)
    return basis.said("wire", "compression")


def _stages(basis: Basis, processes: int) -> tuple[Stage, ...]:
    rows = max(basis.size - basis.index_bytes, 0.0)
    seen = basis.spec.observed
    load = _stage("load", basis, processes, seen.restore_seconds, rows, (_LOAD, basis.write, "new cpu"))
    # an earlier load went over a network too: only what is known of this one can slow it down
    crossed = basis.wire.stated or seen.restore_seconds is None
    return (
        _stage("dump", basis, processes, seen.dump_seconds, rows, (_DUMP, basis.read, "old cpu")),
        _over_the_wire(load, basis.wire.seconds(rows)) if crossed else load,
        _stage(
            "indexes", basis, processes, seen.index_seconds, basis.index_bytes, (INDEX_BUILD, basis.write, "new cpu")
        ),
        _stage("analyze", basis, processes, seen.analyze_seconds, basis.size, (_ANALYZE, None, "new disk")),
    )


_Work = tuple[tuple[float, float, float], Rate | None, str]
"""The rate of one process, the disk that it works on, what binds it."""


def _stage(name: str, basis: Basis, processes: int, seen: float | None, size: float, work: _Work) -> Stage:
    """`size / min(processes^0.6 × one process, disk)`, but never less than the largest table takes one process."""
    rate, disk, bound_by = work
    if seen is not None:
        return Stage(name, _shared(times(seen * _growth(basis), _spread(basis)), basis, processes, name), bound_by)
    alone = assumed(*rate, bound_by)
    low, likely, high = (processes**power for power in _SPEEDUP)
    several = Rate(alone.low * low, alone.likely * likely, alone.high * high, bound_by)
    bound = slowest((several, disk)) if disk is not None else several
    seconds = bound.seconds(size)
    largest = basis.spec.cluster.largest_table_bytes
    if processes > 1 and largest is not None and name in {"dump", "load"}:
        seconds = longer(seconds, alone.seconds(min(largest, size)))
    return Stage(name, seconds, bound.bound_by)


def _over_the_wire(stage: Stage, crossing: Span) -> Stage:
    """The stage as its bytes come over the network: no shorter than that takes."""
    bound_by = "wire" if crossing.likely > stage.seconds.likely else stage.bound_by
    return Stage(stage.name, longer(stage.seconds, crossing), bound_by)


def _shared(alone: Span, basis: Basis, processes: int, name: str) -> Span:
    """An observed phase over several processes, as if one process had done it then."""
    shared = Span(
        *(
            seconds / processes**power
            for seconds, power in zip((alone.low, alone.likely, alone.high), reversed(_SPEEDUP), strict=True)
        )
    )
    largest = basis.spec.cluster.largest_table_bytes
    if processes == 1 or largest is None or name not in {"dump", "load"}:
        return shared
    return longer(shared, times(largest / basis.size, alone))


def _growth(basis: Basis) -> float:
    """How many times larger the cluster is than when it was observed."""
    return basis.size / (basis.spec.observed.at_size_bytes or basis.size)


def _spread(basis: Basis) -> Span:
    """An observation holds for its own size; each doubling since makes it less sure."""
    growth = _growth(basis)
    further = max(growth, 1 / growth) ** 0.15
    return Span(_CALIBRATED.low / further, _CALIBRATED.likely, _CALIBRATED.high * further)


def _calibration(basis: Basis) -> tuple[str, ...]:
    seen = basis.spec.observed
    phases = {
        "dump": seen.dump_seconds,
        "load": seen.restore_seconds,
        "indexes": seen.index_seconds,
        "ANALYZE": seen.analyze_seconds,
    }
    unseen = [name for name, value in phases.items() if value is None]
    said = []
    if len(unseen) < len(phases):
        at = seen.at_size_bytes
        size = f"of {units.size(at)}" if at is not None else "of the same size (its size was not given)"
        said.append(f"scaled with the size from an earlier dump & restore {size}")
    if unseen:
        said.append(f"rates of other clusters stand in for what was not observed: {', '.join(unseen)}")
    return tuple(said)


def _guards(basis: Basis, stages: tuple[Stage, ...]) -> tuple[str, ...]:
    """What no dump & restore was seen to do, or what is likely forgotten."""
    dump, load, index, analyze = (stage.seconds.likely for stage in stages)
    said, seen = [], basis.spec.observed
    rate = basis.size / (dump + load + index + analyze)
    largest = basis.spec.cluster.largest_table_bytes
    if rate > 150e6:
        said.append(f"{units.rate(rate)} end to end is more than a dump & restore was seen to do (150 MB/s)")
    if largest is not None and largest >= _DOMINATES * basis.size:
        said.append("one table is most of the cluster: it is dumped and loaded by one process, whatever -j says")
        if rate > 40e6:
            said.append(f"{units.rate(rate)} end to end is more than was seen where one table dominates (40 MB/s)")
    given = (basis.spec.cluster.index_bytes, seen.index_seconds, seen.analyze_seconds)
    waits = stages[1].bound_by == "wire"
    if not waits and any(value is not None for value in given) and index + analyze < 0.2 * (load + index + analyze):
        said.append(
            "indexes and ANALYZE are under a fifth of the restore: they usually take more; are they all counted?"
        )
    read = basis.spec.old.read_bytes_per_second
    if seen.dump_seconds is not None and read is not None:
        earlier = (seen.at_size_bytes or basis.size) / seen.dump_seconds
        if earlier > 1.1 * read / 0.5:
            said.append(
                f"the earlier dump took {units.rate(earlier)} of cluster from a disk that reads {units.rate(read)}"
            )
    return tuple(said)
