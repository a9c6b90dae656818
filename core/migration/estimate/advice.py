"""What would help: the same estimate with one thing changed, and what that saves."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from core import units
from core.migration.estimate.basis import basis
from core.migration.estimate.copy_methods import cold_copy, warm_copy
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
    """Each change, and the spec with it; what was observed of the whole copy holds no more once a link is another."""
    chain = replace(spec, copy=replace(spec.copy, observed_bytes_per_second=None))
    link = spec.link.bits_per_second
    faster = next((each for each in _LINKS if each > (link or 1e9)), None)
    if faster is not None:
        yield (
            f"a link of {units.bits(faster)}",
            replace(chain, link=replace(spec.link, bits_per_second=faster)),
            checking,
        )
    if (spec.copy.compression_ratio or 1.0) <= 1.1:
        packed = replace(chain, copy=replace(chain.copy, compression_ratio=_SHRINKS))
        yield f"compression, where it shrinks to 1/{_SHRINKS:g}", packed, checking
    if (spec.link.streams or 1) < _STREAMS and spec.copy.ssh_bytes_per_second != inf:
        yield f"{_STREAMS} streams", replace(chain, link=replace(spec.link, streams=_STREAMS)), checking
    read, write = spec.old.read_bytes_per_second, spec.new.write_bytes_per_second
    if read is not None:
        yield (
            f"an old disk that reads {units.rate(_TIMES * read)}, such as a standby's",
            replace(chain, old=replace(spec.old, read_bytes_per_second=_TIMES * read)),
            checking,
        )
    if write is not None:
        yield (
            f"a new disk that writes {units.rate(_TIMES * write)}",
            replace(chain, new=replace(spec.new, write_bytes_per_second=_TIMES * write)),
            checking,
        )
    if checking is Verify.ALL:
        yield "verification ahead: --verify changed", spec, Verify.CHANGED
    if method == "warm-copy":
        least = float(basis(spec).change.mean()) / _QUIET
        quiet = replace(spec, cluster=replace(spec.cluster, change_bytes_per_hour=least))
        yield f"an hour in which a fifth changes ({units.size(least)})", quiet, checking
