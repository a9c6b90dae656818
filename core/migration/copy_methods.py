"""The estimates of the two copies of files: cold (old stopped throughout) and warm (old stopped for the last pass)."""

from core import units
from core.facts.model import Cluster
from core.migration.basis import ONE_STREAM_LIMIT, SECONDS_A_FILE, Basis
from core.migration.ends import PEOPLE, prepare, rebuild, rebuild_said, start_new, stop_old
from core.migration.model import Method, Span, Stage
from core.migration.rates import times, total

_LIST_A_FILE = Span(0.000005, 0.00002, 0.0005)
"""To look at a file's attributes on both sides: cached, likely, from a disk that turns."""

_TOUCHED = (1.0, 3.0, 10.0)
"""Bytes of files that must be compared for one byte that changed: pages lie scattered over segments of 1 GB."""

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
    stages = (prepare(), stop_old(basis), _copy_stage(basis), _verify(basis), start_new(), *rebuild(basis))
    return Method(
        method="cold-copy",
        duration_seconds=total(stage.seconds for stage in stages),
        downtime_seconds=total(stage.seconds for stage in stages[1:]),
        stages=stages,
        assumptions=(*basis.said(*basis.copy_concerns), *rebuild_said(basis), PEOPLE),
        warnings=(*basis.warnings, *_guards(basis)),
    )


def warm_copy(basis: Basis) -> Method:
    """Copy while old runs, again what changed meanwhile, then stop and copy the rest.

    A pass compares every file that changed since the pass before began (`changed × touched` bytes read on both sides)
    and sends what differs: `touched / read + changed / copy + files × cost of a look`. Each pass leaves what changes
    while it runs to the next; where changes come as fast as the copy goes, warm passes gain nothing.
    """
    whole = _copy_stage(basis)
    first = Span(
        whole.seconds.low / _WHILE_RUNNING[0],
        whole.seconds.likely / _WHILE_RUNNING[1],
        whole.seconds.high / _WHILE_RUNNING[2],
    )
    passes = _worthwhile(basis, first.likely)
    outcomes = [_passes(basis, end, first, passes) for end in ("low", "likely", "high")]
    warm = Span(*(outcome[0] for outcome in outcomes))
    final = Span(*(outcome[1] for outcome in outcomes))
    stages = (
        prepare(),
        Stage("warm passes", warm, whole.bound_by),
        stop_old(basis),
        Stage("final pass", final, "old disk"),
        _verify(basis),
        start_new(),
        *rebuild(basis),
    )
    gains = final.likely < 0.9 * whole.seconds.likely
    hopeless = () if gains else (_HOPELESS,)
    return Method(
        method="warm-copy",
        duration_seconds=total(stage.seconds for stage in stages),
        downtime_seconds=total(stage.seconds for stage in stages[2:]),
        stages=stages,
        assumptions=(
            *basis.said(*dict.fromkeys((*basis.copy_concerns, "read", "change"))),
            *rebuild_said(basis),
            PEOPLE,
        ),
        warnings=(*basis.warnings, *_guards(basis), *hopeless),
    )


_HOPELESS = "the cluster changes as fast as it can be copied: warm passes hardly shorten the stop"


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
    """Seconds of all warm passes and of the final one, at one end of the figures."""
    last: float = getattr(first, end)
    warm = last
    for _ in range(passes - 1):
        last = _again(basis, end, last)
        warm += last
    return warm, _again(basis, end, last)


def _again(basis: Basis, end: str, seconds: float) -> float:
    """Seconds of a pass over what changed in so many seconds, at one end of the figures."""
    position = ("low", "likely", "high").index(end)
    opposite = ("high", "likely", "low")[position]
    copy_rate, read_rate = getattr(basis.copy, opposite), getattr(basis.read, opposite)
    changed = min(basis.size, getattr(basis.change, end) / 3600 * seconds)
    touched = min(basis.size, changed * _TOUCHED[position])
    return float(touched / read_rate + changed / copy_rate + basis.files * getattr(_LIST_A_FILE, end))


def _copy_stage(basis: Basis) -> Stage:
    moved = basis.copy.seconds(basis.size)
    if basis.measured_whole:
        return Stage("copy", moved, basis.copy.bound_by)
    handled = times(basis.files, SECONDS_A_FILE)
    bound_by = basis.copy.bound_by if moved.likely >= handled.likely else "files"
    return Stage("copy", total((moved, handled)), bound_by)


def _verify(basis: Basis) -> Stage:
    """rsync has checked the sum of every file that it sent; what is left is the control file and the lists of files."""
    return Stage("verify", total((Span(0.2, 0.5, 2.0), times(basis.files, _LIST_A_FILE))), "files")


def _guards(basis: Basis) -> tuple[str, ...]:
    streams = basis.spec.link.streams or 1
    if basis.copy.likely > ONE_STREAM_LIMIT and streams == 1:
        return (f"{units.rate(basis.copy.likely)} is more than one ssh stream was ever seen to carry",)
    return ()
