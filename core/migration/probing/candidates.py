"""Which transports are worth a sample, each chosen by what those before it showed; and which NFS mounts are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from core.facts.model import Facts
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.transports.choice import fastest_probe
from core.migration.transports.rsync_versions import Version, can_compress, can_stream

CIPHERS = ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr")
"""Those of OpenSSH that are fast on one processor or another; source: ssh_config(5), Ciphers."""

_CLEARLY = 1.25
"""Another cipher than ssh's own is worth naming when it is so many times faster: each is tried for a second or so."""

_HELD_UP = 0.85
"""What goes at this part of the slowest of the other links, or more, is held up by that."""

_AT_THE_DISK = 0.95
"""Nothing is faster than the slower disk: where a sample is as fast, no other is tried."""

_NEAR = 0.55
"""One sample may be off by so much: what came so near to the fastest may be faster."""

_MOST_CLOSE = 5

_DOUBTFUL = 1.3
"""A sample that is so much faster than the disk tells that the disk was busy when it was measured."""

_MOST_STREAMS = 8

_LADDERS = (("",), ("lz4", "zstd:1", "zstd:3", "zstd:6", "zstd:9"), ("zlib:1", "zlib:3"))
"""Compression of each kind, the lightest first. Within one server there is nothing to compress for."""

Measure = Callable[[Transport], Probe | None]


def worth_a_cipher(own: float, links: dict[Quantity, float]) -> bool:
    """Whether another cipher than ssh's own could matter, at bytes a second: a disk or the wire is no slower."""
    others = [links[each] for each in (Quantity.READ, Quantity.WIRE, Quantity.WRITE) if each in links]
    return own < _HELD_UP * min(others, default=float("inf"))


def fastest_cipher(measured: dict[str, float]) -> str:
    """The cipher to name, from bytes a second by cipher, the empty one for ssh's own; empty: leave it to ssh."""
    named = {name: rate for name, rate in measured.items() if name}
    first = max(named, key=lambda name: named[name], default="")
    return first if first and named[first] > _CLEARLY * measured.get("", 0.0) else ""


def search(
    measure: Measure,
    plain: Transport,
    version: Version,
    links: dict[Quantity, float],
    others: Sequence[Transport] = (),
) -> list[Transport]:
    """Sample no compression and each heavier one while that helps, then more streams while that helps.

    Then by each of the other routes what was best, and the compressions that may be best where no cipher costs time.
    Returns those that are worth a closer look, the fastest first: a sample is short, and servers have other things to
    do. None are where one is beyond doubt.

    `plain`, `others`: what the transports of a route have in common; those of one route stand together. `links`: bytes
    a second of what was measured before. A transport that fails is left out.
    """
    disks = [links[each] for each in (Quantity.READ, Quantity.WRITE) if each in links]
    enough = _AT_THE_DISK * min(disks, default=float("inf"))
    tried: dict[Transport, Probe] = {}

    def at_the_disk() -> bool:
        return bool(tried) and enough <= fastest_probe(list(tried.values())).bytes_per_second <= _DOUBTFUL * enough

    def improves(transport: Transport) -> bool:
        """Whether that transport is better than all before it."""
        if at_the_disk():
            return False
        if transport not in tried and (found := measure(transport)) is not None:
            tried[transport] = found
        return transport in tried and fastest_probe(list(tried.values())) is tried[transport]

    for ladder in _LADDERS[:1] if plain.route is Route.LOCAL else _LADDERS:
        steps = [each for each in ladder if can_compress(version, each)]
        if ladder[0] == "zlib:1" and any(each.compression for each in tried):
            break  # what both have of the modern kind is better at every speed
        _climb(steps, lambda compression: improves(replace(plain, compression=compression)))
    if tried and can_stream(version):
        _widen(improves, tried, plain.route)
        for route, variants in groupby(others, lambda other: other.route):
            fastest = _ranked(tried)[0]
            for transport in [each for variant in variants for each in _likely(variant, fastest, version)]:
                improves(transport)
            _widen(improves, tried, route)
    return [] if at_the_disk() else _close(tried)


def _close(tried: dict[Transport, Probe]) -> list[Transport]:
    """The fastest, the same with one stream, and what else comes near to it, first what has one stream."""
    ranked = _ranked(tried)
    if not ranked:
        return []
    fastest = ranked[0]
    near = [each for each in ranked if tried[each].bytes_per_second >= _NEAR * tried[fastest].bytes_per_second]
    single = replace(fastest, streams=1)
    ordered = [fastest, *([single] if single in tried else []), *sorted(near, key=lambda each: each.streams > 1)]
    close = list(dict.fromkeys(ordered))[:_MOST_CLOSE]
    return close if len(close) > 1 else []


def _climb(steps: list[str], improves: Callable[[str], bool]) -> None:
    """Up the ladder, until two steps in a row did not help: the first may be held up by one processor."""
    missed = 0
    for compression in steps:
        missed = 0 if improves(compression) else missed + 1
        if missed == 2:
            return


def _likely(other: Transport, fastest: Transport, version: Version) -> list[Transport]:
    """What may be faster by another route than the fastest so far; nothing is ciphered there, nor packed over NFS."""
    if other.route is Route.NFS:
        return [replace(other, streams=fastest.streams)]
    compressions = [each for each in (fastest.compression, "", "lz4") if can_compress(version, each)]
    return [replace(other, compression=each, streams=fastest.streams) for each in dict.fromkeys(compressions)]


def _widen(improves: Callable[[Transport], bool], tried: dict[Transport, Probe], route: Route) -> None:
    """Twice the streams, with what is best by a route and what is next best, while that helps."""
    while ranked := [transport for transport in _ranked(tried) if transport.route is route]:
        streams = 2 * max(transport.streams for transport in ranked)
        if streams > _MOST_STREAMS:
            return
        better = [improves(each) for each in dict.fromkeys(replace(each, streams=streams) for each in ranked[:2])]
        if not any(better):
            return


def _ranked(tried: dict[Transport, Probe]) -> list[Transport]:
    """The transports, the fastest first."""
    return sorted(tried, key=lambda transport: -tried[transport].bytes_per_second)


MOUNTS = ("vers=4.2", "vers=4.2,nconnect=4", "vers=4.2,rsize=262144,wsize=262144", "vers=3")
"""Without a size both kernels agree on the largest, 1 MiB in most; source: nfs(5), mount options."""
UDP = "vers=3,proto=udp"


@dataclass(frozen=True, slots=True)
class Mounts:
    """The mounts to try, and a sentence on each thing that is left out."""

    variants: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def mounts(old: Facts, new: Facts, *, root_on_old: bool, root_on_new: bool) -> Mounts:
    """The mounts by what both kernels can do; what is not known about them is tried."""
    reason = _obstacle(old, new, root_on_old=root_on_old, root_on_new=root_on_new)
    if reason is not None:
        return Mounts(left_out=(f"rsync over NFS is skipped: {reason}",))
    without_udp = next((facts.server for facts in (old, new) if not _speaks_udp(facts)), None)
    if without_udp is None:
        return Mounts((*MOUNTS, UDP))
    return Mounts(MOUNTS, (f"NFS over UDP is skipped: the kernel of {without_udp} has none",))


def _obstacle(old: Facts, new: Facts, *, root_on_old: bool, root_on_new: bool) -> str | None:
    mounting, serving = old.host_environment.kernel, new.host_environment.kernel
    if mounting is not None and mounting.nfs is False:
        return f"the kernel of {old.server} cannot mount NFS"
    if serving is not None and serving.nfsd is False:
        return f"the kernel of {new.server} cannot serve NFS"
    for facts, tool, package in ((old, "mount.nfs", "nfs-common"), (new, "exportfs", "nfs-kernel-server")):
        found = facts.tool(tool)
        if found is not None and found.path is None:
            return f"{facts.server} has no {tool} (Debian: {package}, others: nfs-utils)"
    for facts, allowed in ((old, root_on_old), (new, root_on_new)):
        if not allowed:
            return f"it takes root, which pghaul may not become on {facts.server}"
    return None


def _speaks_udp(facts: Facts) -> bool:
    kernel = facts.host_environment.kernel
    return kernel is not None and kernel.nfs_udp is True
