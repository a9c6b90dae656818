"""What stands at both ends of every method: what is made ready before, the stop of old, the start of new.

Commands alone are counted, for all methods alike. What people take on top, to decide, to stop the applications and to
lead them over, no measurement tells: `PEOPLE` says so.
"""

from core import units
from core.migration.estimate.basis import Basis
from core.migration.estimate.rates import INDEX_BUILD, assumed, slowest, times, total
from core.migration.model.estimate import Span, Stage

PEOPLE = "what people take is not counted: to stop the applications, to look, to decide, to lead them to new"

_PREPARE = Span(2.0, 5.0, 60.0)
_STOP = Span(1.0, 2.0, 10.0)
_START = Span(1.0, 3.0, 30.0)
_CALIBRATED = Span(0.85, 1.0, 1.2)
_BUILDS = f"{units.rate(INDEX_BUILD[0])} to {units.rate(INDEX_BUILD[2])}"


def prepare() -> Stage:
    """Folders, keys and accounts made ready, while old runs."""
    return Stage("prepare", _PREPARE, "round trips")


def checkpoint(basis: Basis) -> Span:
    """A checkpoint writes what is dirty: at the most some GB, usually a five-hundredth of the cluster."""
    likely, most = min(0.002 * basis.size, 2e9), min(0.05 * basis.size, 8e9)
    return Span(0.0, likely / basis.read.likely, most / basis.read.low)


def stop_old(shutdown: Span) -> Stage:
    """The shutdown's checkpoint; the proof of the stop, and what keeps old stopped, are a command each."""
    return Stage("stop old", total((_STOP, shutdown)), "old disk")


def rebuild(basis: Basis) -> tuple[Stage, ...]:
    """REINDEX of what text sorts differently for, before anybody works on new; nothing where that is not so.

    `reindex_bytes / rate of one process`; by an observed build of all indexes where there is one.
    """
    wanted, seen = basis.spec.cluster.reindex_bytes, basis.spec.observed
    if not wanted:
        return ()
    if seen.index_seconds is not None and basis.index_bytes:
        grown = basis.size / (seen.at_size_bytes or basis.size)
        built = times(seen.index_seconds * grown * wanted / basis.index_bytes, _CALIBRATED)
        return (Stage("reindex", built, "new cpu"),)
    rate = assumed(*INDEX_BUILD, "new cpu")
    return (Stage("reindex", slowest((rate, basis.write)).seconds(wanted), "new cpu"),)


def rebuild_said(basis: Basis) -> tuple[str, ...]:
    """What the stage of REINDEX assumes, for people."""
    wanted = basis.spec.cluster.reindex_bytes
    if not wanted:
        return ()
    if basis.spec.observed.index_seconds is not None and basis.index_bytes:
        how = "as long for each byte as the indexes that were built before"
    else:
        how = f"assumed {units.rate(INDEX_BUILD[1])} in one process ({_BUILDS})"
    return (f"text sorts differently on new: {units.size(wanted)} of indexes are built anew before opening, {how}",)


def start_new() -> Stage:
    """The first start for local connections alone, a look, and the start for clients."""
    return Stage("start new", _START, "new disk")
