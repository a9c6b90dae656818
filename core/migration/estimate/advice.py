"""What would help: the same estimate with one thing changed, and what that saves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from core import units
from core.migration.estimate.basis import basis, quieter
from core.migration.estimate.copy_methods import cold_copy, warm_copy
from core.migration.estimate.draws import span
from core.migration.estimate.dump_methods import MOST_PROCESSES, dump_restore, parallel_dump_restore
from core.migration.estimate.night import Night, likelihood
from core.migration.estimate.proofs import reading
from core.migration.estimate.replica import streaming_replica
from core.migration.estimate.spec import PARTS, Spec
from core.migration.estimate.stages import Simulated, summed_up
from core.migration.estimate.upgrade_methods import upgrades
from core.migration.model.estimate import Effort, Help, Method
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


def helps(spec: Spec, method: str, checking: Verify = Verify.CHANGED, night: Night | None = None) -> tuple[Help, ...]:
    """What would shorten a method; empty for one that the spec does not know.

    What takes the least effort comes first, and of the same effort what saves most downtime. `night`: each says how
    likely the method fits into it then.
    """
    now, found = _made(spec, method, checking), []
    if now is None:
        return ()
    before = summed_up(now)
    for change, effort, changed, proof in _changes(spec, method, checking):
        then = _made(changed, method, proof)
        if then is not None and _pays(saved := _saved(change, before, summed_up(then)), before):
            fits = None if night is None else likelihood(then, night)
            found.append(replace(saved, effort=effort, likelihood=fits))
    return tuple(sorted(found, key=lambda each: (_EFFORTS.index(each.effort), *_least_first(each))))


_EFFORTS: tuple[Effort | None, ...] = tuple(Effort)


def _least_first(each: Help) -> tuple[float, float]:
    return -each.downtime_seconds, -each.duration_seconds


def _saved(change: str, now: Method, then: Method) -> Help:
    return Help(
        change,
        now.duration_seconds.likely - then.duration_seconds.likely,
        now.downtime_seconds.likely - then.downtime_seconds.likely,
        max(then.stages, key=lambda stage: stage.seconds.likely).bound_by,
    )


def _pays(saved: Help, now: Method) -> bool:
    """It saves a part worth naming of either, a second at least, and lengthens neither."""
    if max(saved.duration_seconds, saved.downtime_seconds) < 1:
        return False
    parts = (
        saved.duration_seconds / now.duration_seconds.likely,
        saved.downtime_seconds / now.downtime_seconds.likely,
    )
    return max(parts) >= _LEAST_GAIN and min(saved.duration_seconds, saved.downtime_seconds) > -1


def _made(spec: Spec, name: str, checking: Verify) -> Simulated | None:
    known = basis(spec)
    if name in _DUMPS:
        return _DUMPS[name](known)
    if name in _COPIES:
        return _COPIES[name](known, checking)
    if name == "streaming-replica":
        return streaming_replica(known)
    return next((each for each in upgrades(known, checking) if each.name == name), None)


_COPIES = {"cold-copy": cold_copy, "warm-copy": warm_copy}
_DUMPS = {"dump-restore": dump_restore, "parallel-dump-restore": parallel_dump_restore}


def _changes(spec: Spec, method: str, checking: Verify) -> Iterator[tuple[str, Effort, Spec, Verify]]:
    """Each change, its effort, and the spec with it."""
    yield from ((*change, checking) for change in _smaller(spec) if method not in _DUMPS)
    for change, effort, bound_by, times, changed in (*_network(spec), *_disks(spec)):
        yield change, effort, _without_the_bound(spec, bound_by, times, changed), checking
    yield from ((change, Effort.PURCHASE, changed, checking) for change, changed in _processors(spec, method))
    if checking is Verify.ALL and method not in {*_DUMPS, "streaming-replica"}:
        yield "checksums in advance (--verify changed)", Effort.NONE, spec, Verify.CHANGED
    if method == "warm-copy":
        least = span(basis(spec).change).likely / _QUIET
        hour = f"a quieter hour, in which a fifth as much changes ({units.size(least)})"
        yield hour, Effort.NONE, quieter(spec, least), checking


def _smaller(spec: Spec) -> Iterator[tuple[str, Effort, Spec]]:
    """What a copy moves and nobody needs."""
    wasted, kept = spec.cluster.wasted_bytes, spec.cluster.kept_wal_bytes
    if wasted:
        tables = _named(spec.history.bloated)
        change = f"VACUUM FULL of {tables} before the move ({units.size(wasted)} contain no rows)"
        yield change, Effort.HOURS, _less(spec, wasted)
    if kept:
        held = "a slot, the archiver or a setting keeps it"
        yield f"the removal of {units.size(kept)} of old WAL ({held})", Effort.MINUTES, _less(spec, kept)


_NAMED = 3


def _named(tables: Sequence[str]) -> str:
    more = f" and {len(tables) - _NAMED} more" if len(tables) > _NAMED else ""
    return f"{', '.join(tables[:_NAMED])}{more}" if tables else "the bloated tables"


def _less(spec: Spec, bytes_: float) -> Spec:
    """The same cluster, but for so many bytes of it, wherever they lie."""
    cluster = spec.cluster
    size = max(cluster.size_bytes - bytes_, _LEAST_LEFT * cluster.size_bytes)
    known = {name: value for name in PARTS if (value := getattr(cluster, name)) is not None}
    share = size / cluster.size_bytes
    parts = {name: value * share if name in _LIE else min(size, value) for name, value in known.items()}
    return replace(spec, cluster=replace(cluster, size_bytes=size, **parts))


_LIE = frozenset({"checksummed_bytes", "largest_folder_bytes", "old_disk_bytes", "new_disk_bytes"})
"""Parts of which what is left out was one."""

_LEAST_LEFT = 0.1

_Change = tuple[str, Effort, str, float, Spec]
"""In words; its effort; the link that it concerns; how many times as fast that becomes; the spec with it."""


def _network(spec: Spec) -> Iterator[_Change]:
    link = spec.link.bits_per_second
    faster = next((each for each in _LINKS if each > (link or 1e9)), None)
    if faster is not None:
        changed = replace(spec, link=replace(spec.link, bits_per_second=faster))
        yield f"a network of {units.bits(faster)}", Effort.PURCHASE, "wire", faster / (link or 1e9), changed
    if (spec.copy.compression_ratio or 1.0) <= 1.1:
        packed = replace(spec, copy=replace(spec.copy, compression_ratio=_SHRINKS))
        change = f"compression, if it makes the data {_SHRINKS:g} times smaller"
        yield change, Effort.MINUTES, "wire", _SHRINKS, packed  # a probe chooses it, and the streams
    streams = spec.link.streams or 1
    if streams < _STREAMS and spec.copy.ssh_bytes_per_second != inf:
        more = replace(spec, link=replace(spec.link, streams=_STREAMS))
        yield f"{_STREAMS} streams", Effort.MINUTES, "old cpu", _STREAMS / streams, more


def _processors(spec: Spec, method: str) -> Iterator[tuple[str, Spec]]:
    """The new server's processors load and build indexes: a job for each, see dump_methods."""
    cores = spec.new.cores
    if method == "parallel-dump-restore" and cores is not None and spec.dump.jobs is None and cores < MOST_PROCESSES:
        more = min(MOST_PROCESSES, 2 * cores)
        yield f"a new server with {more} processors", replace(spec, new=replace(spec.new, cores=more))


def _disks(spec: Spec) -> Iterator[_Change]:
    read, write = spec.old.read_bytes_per_second, spec.new.write_bytes_per_second
    if read is not None:
        then, now = units.rate(_TIMES * read), units.rate(read)
        change = f"a disk of the old server that reads twice as fast ({then} instead of {now})"
        faster = _rereading(spec, replace(spec, old=replace(spec.old, read_bytes_per_second=_TIMES * read)))
        yield change, Effort.PURCHASE, "old disk", _TIMES, faster
    if write is not None:
        then, now = units.rate(_TIMES * write), units.rate(write)
        change = f"a disk of the new server that writes twice as fast ({then} instead of {now})"
        faster = replace(spec, new=replace(spec.new, write_bytes_per_second=_TIMES * write))
        yield change, Effort.PURCHASE, "new disk", _TIMES, faster


def _rereading(spec: Spec, changed: Spec) -> Spec:
    """Return `changed` with the time that an earlier run took to read all files, if the changed disk did it."""
    took = spec.history.read_seconds
    if took is None:
        return changed
    times = reading(basis(changed)).likely / reading(basis(spec)).likely
    return replace(changed, history=replace(changed.history, read_seconds=took / times))


def _without_the_bound(spec: Spec, bound_by: str, times: float, changed: Spec) -> Spec:
    """With a copy that was observed it counts how fast that would go: only the link that held it up can speed it up,
    and no more than to what the others carry. Where another link held it up, or nobody knows which, the copy stays as
    it was observed."""
    observed = spec.copy.observed_bytes_per_second
    if observed is None or basis(spec).copy.bound_by != bound_by:
        return changed
    chain = replace(changed, copy=replace(changed.copy, observed_bytes_per_second=None))
    faster = min(times * observed, basis(chain).copy.likely)
    return replace(changed, copy=replace(changed.copy, observed_bytes_per_second=max(observed, faster)))
