"""What would help: the same estimate with one thing changed, and what that saves."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from core import units
from core.migration.estimate.basis import basis, quieter
from core.migration.estimate.copy_methods import cold_copy, warm_copy
from core.migration.estimate.draws import span
from core.migration.estimate.spec import Spec
from core.migration.estimate.stages import summed_up
from core.migration.model.estimate import Method
from core.migration.model.move import Verify

_LINKS = (1e9, 10e9, 25e9, 100e9)
"""What is sold, bits a second."""

_SHRINKS = 2.5
"""How far a cluster usually shrinks where no sample has told (pgbench's to more, pictures not at all)."""

_STREAMS = 4
_TIMES = 2.0
_QUIET = 5.0
_LEAST_GAIN = 0.02
"""What saves less than this part is none."""


@dataclass(frozen=True, slots=True)
class Help:
    """One change: what it saves in all and of the downtime, likely seconds; what the longest stage waits for then."""

    change: str
    duration_seconds: float
    downtime_seconds: float
    then_bound_by: str


def helps(spec: Spec, method: str, checking: Verify = Verify.CHANGED) -> tuple[Help, ...]:
    """What would shorten a copy of files, what saves most downtime first; empty for the other methods."""
    if method not in _COPIES:
        return ()
    now, found = _copy(spec, method, checking), []
    for change, changed, proof in _changes(spec, method, checking):
        then = _copy(changed, method, proof)
        saved = Help(
            change,
            now.duration_seconds.likely - then.duration_seconds.likely,
            now.downtime_seconds.likely - then.downtime_seconds.likely,
            max(then.stages, key=lambda stage: stage.seconds.likely).bound_by,
        )
        if (
            max(
                saved.duration_seconds / now.duration_seconds.likely,
                saved.downtime_seconds / now.downtime_seconds.likely,
            )
            >= _LEAST_GAIN
            and min(saved.duration_seconds, saved.downtime_seconds) > -1
        ):
            found.append(saved)
    return tuple(sorted(found, key=lambda each: (-each.downtime_seconds, -each.duration_seconds)))


_COPIES = {"cold-copy": cold_copy, "warm-copy": warm_copy}


def _copy(spec: Spec, method: str, checking: Verify) -> Method:
    return summed_up(_COPIES[method](basis(spec), checking))


def _changes(spec: Spec, method: str, checking: Verify) -> Iterator[tuple[str, Spec, Verify]]:
    """Each change, and the spec with it."""
    for change, bound_by, times, changed in (*_network(spec), *_disks(spec)):
        without = _without_the_bound(spec, bound_by, times, changed)
        if without is not None:
            yield change, without, checking
    if checking is Verify.ALL:
        yield "verification ahead: --verify changed", spec, Verify.CHANGED
    if method == "warm-copy":
        least = span(basis(spec).change).likely / _QUIET
        yield f"an hour in which a fifth changes ({units.size(least)})", quieter(spec, least), checking


_Change = tuple[str, str, float, Spec]
"""In words; the link that it concerns; how many times as fast that becomes; the spec with it."""


def _network(spec: Spec) -> Iterator[_Change]:
    link = spec.link.bits_per_second
    faster = next((each for each in _LINKS if each > (link or 1e9)), None)
    if faster is not None:
        changed = replace(spec, link=replace(spec.link, bits_per_second=faster))
        yield f"a link of {units.bits(faster)}", "wire", faster / (link or 1e9), changed
    if (spec.copy.compression_ratio or 1.0) <= 1.1:
        packed = replace(spec, copy=replace(spec.copy, compression_ratio=_SHRINKS))
        yield f"compression, where it shrinks to 1/{_SHRINKS:g}", "wire", _SHRINKS, packed
    streams = spec.link.streams or 1
    if streams < _STREAMS and spec.copy.ssh_bytes_per_second != inf:
        more = replace(spec, link=replace(spec.link, streams=_STREAMS))
        yield f"{_STREAMS} streams", "old cpu", _STREAMS / streams, more


def _disks(spec: Spec) -> Iterator[_Change]:
    read, write = spec.old.read_bytes_per_second, spec.new.write_bytes_per_second
    if read is not None:
        faster = replace(spec, old=replace(spec.old, read_bytes_per_second=_TIMES * read))
        yield f"an old disk that reads {units.rate(_TIMES * read)}, such as a standby's", "old disk", _TIMES, faster
    if write is not None:
        faster = replace(spec, new=replace(spec.new, write_bytes_per_second=_TIMES * write))
        yield f"a new disk that writes {units.rate(_TIMES * write)}", "new disk", _TIMES, faster


def _without_the_bound(spec: Spec, bound_by: str, times: float, changed: Spec) -> Spec | None:
    """With a copy that was observed it counts how fast that would go: only the link that held it up can speed it up,
    and no more than to what the others carry. None: another link held it up, or nobody knows which."""
    observed = spec.copy.observed_bytes_per_second
    if observed is None:
        return changed
    if basis(spec).copy.bound_by != bound_by:
        return None
    chain = replace(changed, copy=replace(changed.copy, observed_bytes_per_second=None))
    faster = min(times * observed, basis(chain).copy.likely)
    return replace(changed, copy=replace(changed.copy, observed_bytes_per_second=max(observed, faster)))
