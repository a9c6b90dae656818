"""The choice of the transports and NFS mounts that are sampled. Each choice depends on the results before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from core.facts.model import Facts
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.transports.choice import fastest_probe
from core.migration.transports.rsync_versions import Version, can_compress, can_stream

CIPHERS = ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr")
"""The ciphers of OpenSSH that are fast on some kind of processor; source: ssh_config(5), Ciphers."""

_CLEARLY = 1.25
"""A cipher is chosen instead of the default of ssh only if it is faster by this factor, because each is measured for
about a second only."""

_EXCEEDED = 1.1
"""A sample whose bytes cross the network by this factor faster than it was measured to be contradicts that."""

_HELD_UP = 0.85
"""A rate of at least this fraction of the slowest other link is limited by that link."""

_AT_THE_DISK = 0.9
"""No transport is faster than the slower disk. If a sample reaches this fraction of its rate, no other is tried."""

WORTH_SECONDS = 3.0
"""If the whole copy takes less time than this by the fastest transport so far, no other one is worth trying."""

_ANY_CIPHER = 40e6
"""Each cipher on each processor is faster than a network of this rate, in bytes per second."""

_NEAR = 0.55
"""A single sample is this inexact: a transport that reaches this fraction of the fastest rate may be the fastest."""

_MOST_CLOSE = 5

_DOUBTFUL = 1.3
"""If a sample is faster than the disk by this factor, the disk was busy when its rate was measured."""

_MOST_STREAMS = 8

_NONE, _LIGHT, _ZLIB = ("",), ("lz4", "zstd:1", "zstd:3", "zstd:6", "zstd:9"), ("zlib:1", "zlib:3")
"""The compressions of each kind, the lightest first."""

Measure = Callable[[Transport], Probe | None]


def worth_measuring_ssh(links: dict[Quantity, float]) -> bool:
    """Return whether ssh could limit the copy: a slow network limits it before any cipher does.

    Args:
        links: the rates of the links that were measured, in bytes per second.
    """
    return links.get(Quantity.WIRE, float("inf")) > _ANY_CIPHER


def worth_a_cipher(own: float, links: dict[Quantity, float]) -> bool:
    """Return whether another cipher could make the copy faster: no disk and not the network is the slowest link.

    Args:
        own: the rate of the default cipher of ssh, in bytes per second.
        links: the rates of the links that were measured, in bytes per second.
    """
    others = [links[each] for each in (Quantity.READ, Quantity.WIRE, Quantity.WRITE) if each in links]
    return own < _HELD_UP * min(others, default=float("inf"))


def fastest_cipher(measured: dict[str, float]) -> str:
    """Return the cipher to choose, by the rates in bytes per second; an empty name is the default of ssh."""
    named = {name: rate for name, rate in measured.items() if name}
    first = max(named, key=lambda name: named[name], default="")
    return first if first and named[first] > _CLEARLY * measured.get("", 0.0) else ""


def search(
    measure: Measure,
    plain: Transport,
    version: Version,
    links: dict[Quantity, float],
    others: Callable[[], Sequence[Transport]] = tuple,
    size_bytes: int | None = None,
) -> list[Transport]:
    """Sample the transports, and return those that need a closer look, the fastest first.

    It begins without compression and tries heavier compressions, then more streams, each as long as the rate improves.
    If the network is slower than the disks, it begins with compression, and leaves out what is sent as it is if that
    cannot be faster. After that, each of the other routes is tried with the best settings so far, and with the
    compressions that may be best because no cipher takes time there. A closer look is needed because a sample is short
    and the servers have other work to do. Returns no transport if the fastest one is beyond doubt, or if the whole copy
    takes only seconds by it: then the choice does not matter.

    Args:
        measure: takes a sample by a transport; returns None if the transport fails, which is then left out.
        plain: the common settings of all transports of the first route.
        version: the rsync version that both servers have in common.
        links: the rates of the links that were measured before, in bytes per second.
        others: opens the other routes, and returns the common settings of their transports, sorted by route. It is
            called only if they could matter.
        size_bytes: the size of the whole copy; None: the choice always matters.
    """
    disks = [links[each] for each in (Quantity.READ, Quantity.WRITE) if each in links]
    enough = _AT_THE_DISK * min(disks, default=float("inf"))
    tried: dict[Transport, Probe] = {}

    def is_settled() -> bool:
        """Return whether no other transport is faster, or could save more than seconds."""
        if not tried:
            return False
        rate = fastest_probe(list(tried.values())).bytes_per_second
        return enough <= rate <= _DOUBTFUL * enough or (size_bytes is not None and size_bytes < WORTH_SECONDS * rate)

    def improves(transport: Transport) -> bool:
        """Return whether that transport is better than all transports before it."""
        if is_settled():
            return False
        if transport not in tried and (found := measure(transport)) is not None:
            tried[transport] = found
        return transport in tried and fastest_probe(list(tried.values())) is tried[transport]

    ahead = plain.route is not Route.LOCAL and _is_network_slowest(links)
    for ladder in _ladders(plain.route, compressed_first=ahead):
        steps = [each for each in ladder if can_compress(version, each)]
        if ladder is _ZLIB and any(each.compression for each in tried):
            break  # both servers support lz4 or zstd, which are better than zlib at every speed
        if ladder is _NONE and tried and _outruns(fastest_probe(list(tried.values())), links):
            continue
        _climb(steps, lambda compression: improves(replace(plain, compression=compression)))
    if tried and can_stream(version):
        _widen(improves, tried, plain.route)
        for route, variants in groupby([] if is_settled() else others(), lambda other: other.route):
            fastest = _ranked(tried)[0]
            for transport in [each for variant in variants for each in _likely(variant, fastest, version)]:
                improves(transport)
            _widen(improves, tried, route)
    return [] if is_settled() else _close(tried)


def _is_network_slowest(links: dict[Quantity, float]) -> bool:
    """Return whether the network clearly limits a copy without compression, by the rates that were measured."""
    others = [links[each] for each in (Quantity.READ, Quantity.WRITE) if each in links]
    return bool(others) and links.get(Quantity.WIRE, float("inf")) < _HELD_UP * min(others)


def _ladders(route: Route, *, compressed_first: bool) -> tuple[tuple[str, ...], ...]:
    """Return the compressions in the order in which they are tried. Within one server, compression has no use."""
    if route is Route.LOCAL:
        return (_NONE,)
    return (_LIGHT, _NONE, _ZLIB) if compressed_first else (_NONE, _LIGHT, _ZLIB)


def _outruns(sample: Probe, links: dict[Quantity, float]) -> bool:
    """Return whether a sample with compression was clearly faster than anything is that is sent as it is.

    If its own bytes crossed the network faster than the network was measured to be, that was busy when it was measured.
    """
    wire = links.get(Quantity.WIRE, float("inf"))
    crossed = sample.bytes_per_second / sample.ratio if sample.ratio else float("inf")
    return sample.bytes_per_second > _CLEARLY * wire and crossed <= _EXCEEDED * wire


def _close(tried: dict[Transport, Probe]) -> list[Transport]:
    """Return the fastest transport, the same one with one stream, and those that are nearly as fast.

    Of the last, those with one stream come first.
    """
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
    """Try the steps in order, until two in a row did not improve the rate.

    A single step may not help, because one processor limits it.
    """
    missed = 0
    for compression in steps:
        missed = 0 if improves(compression) else missed + 1
        if missed == 2:
            return


def _likely(other: Transport, fastest: Transport, version: Version) -> list[Transport]:
    """Return the transports of another route that may be faster than the fastest so far.

    Other routes do not encrypt, and NFS does not compress.
    """
    if other.route is Route.NFS:
        return [replace(other, streams=fastest.streams)]
    compressions = [each for each in (fastest.compression, "", "lz4") if can_compress(version, each)]
    return [replace(other, compression=each, streams=fastest.streams) for each in dict.fromkeys(compressions)]


def _widen(improves: Callable[[Transport], bool], tried: dict[Transport, Probe], route: Route) -> None:
    """Double the number of streams of the two best transports of a route, as long as the rate improves."""
    while ranked := [transport for transport in _ranked(tried) if transport.route is route]:
        streams = 2 * max(transport.streams for transport in ranked)
        if streams > _MOST_STREAMS:
            return
        better = [improves(each) for each in dict.fromkeys(replace(each, streams=streams) for each in ranked[:2])]
        if not any(better):
            return


def _ranked(tried: dict[Transport, Probe]) -> list[Transport]:
    """Return the transports, the fastest first."""
    return sorted(tried, key=lambda transport: -tried[transport].bytes_per_second)


MOUNTS = ("vers=4.2", "vers=4.2,nconnect=4", "vers=4.2,rsize=262144,wsize=262144", "vers=3")
"""Without rsize and wsize both kernels agree on the largest value, usually 1 MiB; source: nfs(5), mount options."""
UDP = "vers=3,proto=udp"


@dataclass(frozen=True, slots=True)
class Mounts:
    """The mount options to try, and a sentence about each one that is left out."""

    variants: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def mounts(old: Facts, new: Facts, *, root_on_old: bool, root_on_new: bool) -> Mounts:
    """Return the mount options that both kernels support. Options of which that is not known are included.

    Args:
        old: the facts of the old server.
        new: the facts of the new server.
        root_on_old: whether pghaul may become root on the old server.
        root_on_new: whether pghaul may become root on the new server.
    """
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
