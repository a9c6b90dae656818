"""The estimates of the copies of files: cold (old stopped throughout), warm (stopped for the last pass), replica."""

from dataclasses import replace
from math import inf

from core import units
from core.facts.model import Cluster
from core.migration.estimate.basis import ONE_STREAM_LIMIT, SECONDS_A_FILE, Basis
from core.migration.estimate.rates import Rate, assumed, slowest, times, total
from core.migration.estimate.stages import PEOPLE, checkpoint, prepare, rebuild, rebuild_said, start_new, stop_old
from core.migration.model.estimate import Method, Span, Stage

_LIST_A_FILE = Span(0.000005, 0.00002, 0.0005)
"""To look at a file's attributes on both sides: cached, likely, from a disk that turns."""

_PASS = Span(0.5, 1.5, 8.0)
"""What the final pass takes when nothing changed: what is gone, what changed, and the rest are a connection each."""

_TOUCHED = (1.0, 3.0, 10.0)
"""Bytes of files that must be compared for one byte that changed: pages lie scattered over segments of 1 GB. Assumed
where it is not known which files are written to."""

_SUMMED = (150e6, 500e6, 4e9)
"""Bytes a second of SHA-256 on one server: one old core, several, or several with instructions for it."""

_FORGET_A_FILE = Span(0.00003, 0.0001, 0.001)
"""To put a file out of new's cache before it is read: a process each, on many cores to few."""

_NOTHING = Span(0.0, 0.0, 0.0)

_WHILE_RUNNING = (1.0, 0.9, 0.5)
"""What the running server leaves of the copy's rate, from best to worst."""

_LONG_ENOUGH = 30.0
"""A warm pass that is shorter than this, in seconds, is the last: another would not shorten the stop by much."""

MOST_PASSES = 2
"""Warm passes of a plan: the second brings what the first left, a third hardly pays."""


def planned(cluster: Cluster) -> str:
    """The method that a plan follows: a cluster that runs is copied warm."""
    return "warm-copy" if cluster.running else "cold-copy"


def cold_copy(basis: Basis) -> Method:
    """Stop, copy everything, verify, start; the cluster is down for all of it.

    The copy takes `size / slowest link + files × cost of a file`. An observed rate is of whole files and holds that
    cost already.
    """
    stages = (prepare(), stop_old(checkpoint(basis)), _copy_stage(basis), _verify(basis), start_new(), *rebuild(basis))
    return Method(
        method="cold-copy",
        duration_seconds=total(stage.seconds for stage in stages),
        downtime_seconds=total(stage.seconds for stage in stages[1:]),
        stages=stages,
        assumptions=(*basis.said(*basis.copy_concerns), *rebuild_said(basis), PEOPLE),
        warnings=(*basis.warnings, *_guards(basis)),
        verify_all_seconds=_read_whole(basis),
    )


def warm_copy(basis: Basis) -> Method:
    """Copy while old runs, again what changed meanwhile, then stop and copy the rest.

    A pass compares every file that changed since the pass before began, whole and on both sides, and sends what
    differs: `touched / read + changed / copy + files × cost of a look`; behind it both sides read what it has brought.
    Each pass leaves what changes meanwhile to the next; where changes come as fast as the copy goes, warm passes gain
    nothing. In the end what was touched since the last pass began is read and summed up on both sides.
    """
    whole = _copy_stage(basis)
    first = Span(
        whole.seconds.low / _WHILE_RUNNING[0],
        whole.seconds.likely / _WHILE_RUNNING[1],
        whole.seconds.high / _WHILE_RUNNING[2],
    )
    passes = _worthwhile(basis, first.likely)
    outcomes = [_passes(basis, end, first, passes) for end in _ENDS]
    warm, age = (Span(*(outcome[part] for outcome in outcomes)) for part in (0, 1))
    final = total((_PASS, Span(*(_again(basis, end, getattr(age, end)) for end in _ENDS))))
    stages = (
        prepare(),
        Stage("warm passes", warm, whole.bound_by),
        Stage("checkpoints", total((checkpoint(basis), checkpoint(basis))), "old disk"),
        stop_old(_after_a_checkpoint(basis)),
        Stage("final pass", final, "old disk"),
        _verify(basis, Span(*(_read_touched(basis, end, getattr(age, end)) for end in _ENDS))),
        start_new(),
        *rebuild(basis),
    )
    gains = final.likely < 0.9 * whole.seconds.likely
    hopeless = () if gains else (_HOPELESS,)
    return Method(
        method="warm-copy",
        duration_seconds=total(stage.seconds for stage in stages),
        downtime_seconds=total(stage.seconds for stage in stages[3:]),
        stages=stages,
        assumptions=(
            *basis.said(*dict.fromkeys((*basis.copy_concerns, "read", "change"))),
            *_touched_said(basis),
            _all_said(basis),
            *rebuild_said(basis),
            PEOPLE,
        ),
        warnings=(*basis.warnings, *_guards(basis), *hopeless),
        verify_all_seconds=_read_whole(basis),
    )


_ENDS = ("low", "likely", "high")

_HOPELESS = "the cluster changes as fast as it can be copied: warm passes hardly shorten the stop"


def _after_a_checkpoint(basis: Basis) -> Span:
    """Seconds of the shutdown's own, a minute after another: what has changed since, at the worst as much as ever."""
    whole = checkpoint(basis)
    return Span(0.0, min(whole.likely, _changed(basis, "likely", 60.0) / basis.read.likely), whole.high)


def _worthwhile(basis: Basis, first: float) -> int:
    """How many warm passes the likely figures call for."""
    passes, last = 1, first
    while passes < MOST_PASSES and last > _LONG_ENOUGH:
        following = _again(basis, "likely", last)
        if following > 0.8 * last:
            break
        passes, last = passes + 1, following
    return passes


def _passes(basis: Basis, end: str, first: Span, passes: int) -> tuple[float, float]:
    """Seconds of all warm passes with what is read behind each, and of the last alone, at one end of the figures."""
    age = float(getattr(first, end)) + getattr(_read_whole(basis), end)
    warm = age
    for _ in range(passes - 1):
        age = _again(basis, end, age) + _read_touched(basis, end, age)
        warm += age
    return warm, age


def _again(basis: Basis, end: str, seconds: float) -> float:
    """Seconds of a pass over what changed in so many seconds, at one end of the figures."""
    position = ("low", "likely", "high").index(end)
    opposite = ("high", "likely", "low")[position]
    copy_rate, read_rate = getattr(basis.copy, opposite), getattr(basis.read, opposite)
    changed = _changed(basis, end, seconds)
    touched = _touched(basis, end, seconds)
    return float(touched / read_rate + changed / copy_rate + basis.files * getattr(_LIST_A_FILE, end))


def _changed(basis: Basis, end: str, seconds: float) -> float:
    """Bytes that change in so many seconds."""
    return min(basis.size, float(getattr(basis.change, end)) / 3600 * seconds)


def _touched(basis: Basis, end: str, seconds: float) -> float:
    """Bytes of the files in which something changes in so many seconds.

    Likely those of the last hour, whether it is minutes or hours: the same files again. At best their part of the hour;
    at worst as many others in every hour.
    """
    position = ("low", "likely", "high").index(end)
    changed, hourly = _changed(basis, end, seconds), basis.spec.cluster.written_bytes
    if hourly is None:
        return min(basis.size, changed * _TOUCHED[position])
    hours = seconds / 3600
    return min(basis.size, max(changed, hourly * (min(1.0, hours), 1.0, max(1.0, hours))[position]))


def _touched_said(basis: Basis) -> tuple[str, ...]:
    hourly = basis.spec.cluster.written_bytes
    if hourly is None:
        return ()
    return (f"files of {units.size(hourly)} were written to within an hour: the stop looks through as much",)


def _read_touched(basis: Basis, end: str, seconds: float) -> float:
    """Seconds until what was touched in so many seconds is read and summed up, on both sides at once."""
    opposite = {"low": "high", "likely": "likely", "high": "low"}[end]
    return float(_touched(basis, end, seconds) / getattr(_reading(basis), opposite))


def _read_whole(basis: Basis) -> Span:
    """Seconds until every file is read and summed up on both sides, new's from its disk."""
    return total((_reading(basis).seconds(basis.size), times(basis.files, _FORGET_A_FILE)))


def _all_said(basis: Basis) -> str:
    return f"--verify all reads every file in the stop: about {units.duration(_read_whole(basis).likely)} on top"


def _reading(basis: Basis) -> Rate:
    """At which both sides read and sum up; where the disk was not measured it may be a fast one."""
    rate = slowest((basis.read, assumed(*_SUMMED, "cpu")))
    return rate if basis.read.stated else replace(rate, high=_SUMMED[2])


def _copy_stage(basis: Basis) -> Stage:
    moved = basis.copy.seconds(basis.size)
    if basis.measured_whole:
        return Stage("copy", moved, basis.copy.bound_by)
    handled = times(basis.files, SECONDS_A_FILE)
    bound_by = basis.copy.bound_by if moved.likely >= handled.likely else "files"
    return Stage("copy", total((moved, handled)), bound_by)


def _verify(basis: Basis, summed: Span = _NOTHING) -> Stage:
    """The lists of files, the control file, and what is read and summed up."""
    return Stage("verify", total((Span(0.5, 1.5, 5.0), times(basis.files, _LIST_A_FILE), summed)), "files")


def _guards(basis: Basis) -> tuple[str, ...]:
    one_stream = (basis.spec.link.streams or 1) == 1 and basis.spec.copy.ssh_bytes_per_second != inf
    if basis.copy.likely > ONE_STREAM_LIMIT and one_stream:
        return (f"{units.rate(basis.copy.likely)} is more than one ssh stream was ever seen to carry",)
    return ()


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
    stages = (
        prepare(),
        base,
        Stage("catch up", catch_up, "new disk"),
        stop_old(checkpoint(basis)),
        start_new(),
        *rebuild(basis),
    )
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
