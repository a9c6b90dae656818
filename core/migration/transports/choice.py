"""Which transport carries a copy: the fastest of those that were tried, and the figures that chose it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core import units
from core.facts.model import Facts
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.model.move import Move
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import PLAIN, Route, Transport
from core.servers.profiles import Profile

WIRE_EFFICIENCY = 0.94
"""What rsync over ssh carries of what iperf3 sees of a gigabit link: 2.97 GB at 112 MB/s, measured on two hosts."""

_NEAR = 0.97
"""What comes so near to the fastest counts as fast: then the one that asks least of both servers is taken."""

_BINDS = 0.8
"""A link binds a copy that goes at this part of its rate, or more: a short sample starts up within its seconds."""

_AS_LARGE = 0.5
"""What has less of the bytes of the largest sample was taken shorter; what has more may have been cut off."""

_LINKS = {Quantity.READ: "old disk", Quantity.WIRE: "wire", Quantity.WRITE: "new disk"}


@dataclass(frozen=True, slots=True)
class Choice:
    """The transport of a copy.

    Attributes:
        why: the figures that chose it.
        links: the probe of each link, ssh's with the chosen cipher.
        bound_by: `old disk`, `wire`, `new disk` or `old cpu`; empty where it was not measured.
        sample: the probe that showed it at work; None: nothing was tried.
    """

    transport: Transport
    why: str
    links: dict[Quantity, Probe]
    bound_by: str = ""
    sample: Probe | None = None


def on_one_server(move: Move, old: Facts, new: Facts, profile: Profile) -> bool:
    """Whether old and new are one host, on which the owner of the cluster owns the copy too: no ssh is needed then."""
    cluster = old.cluster(move.cluster)
    return compare_hosts(old, new) is Hosts.ONE and cluster is not None and cluster.owner == profile.database_user


def allowed_routes(move: Move, old: Facts, new: Facts, profile: Profile) -> frozenset[Route]:
    """The routes that a copy may take, now, whatever was tried before."""
    if on_one_server(move, old, new, profile):
        return frozenset({Route.LOCAL})
    return frozenset(each for each in Route if each is not Route.LOCAL and (each.encrypted or move.plain_text))


def tried_routes(probes: Sequence[Probe]) -> frozenset[Route]:
    """The routes of the latest pass of probes; over ssh where none was tried."""
    tried = {probe.transport.route for probe in latest_pass(probes) if probe.transport is not None}
    return frozenset(tried or {Route.SSH})


def choose(probes: Sequence[Probe], routes: Collection[Route] = (Route.SSH,)) -> Choice:
    """The fastest transport of the latest pass of probes by one of these routes.

    Where nothing was tried: one plain stream, over ssh where that is one of them.
    """
    plain = Transport(route=Route.LOCAL if Route.LOCAL in routes else Route.SSH)
    latest = latest_pass(probes)
    tried = [
        probe
        for probe in latest
        if probe.quantity is Quantity.END_TO_END and (probe.transport or PLAIN).route in routes
    ]
    links = {probe.quantity: probe for probe in latest if probe.quantity in {*_LINKS, Quantity.SUMS, Quantity.SSH}}
    if not tried:
        return Choice(plain, _untried(links), links)
    sample = best(_larger(tried))
    for probe in latest:
        if probe.quantity is Quantity.SSH and _same_cipher(probe, sample):
            links[Quantity.SSH] = probe
    bound = _bound(sample, links)
    return Choice(sample.transport or PLAIN, _why(sample, tried, links, bound), links, bound, sample)


def latest_pass(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """The latest measurement of each link, and of each transport: of what was tried, the latest pass alone counts.

    What was tried several times in a pass counts by the median of its larger samples, of two by the lower: what was
    only lucky once does not come out first.
    """
    last = {probe.quantity: probe.began_at for probe in sorted(probes, key=lambda each: each.taken_at)}
    tries: dict[tuple[Quantity, Transport | None], list[Probe]] = {}
    for probe in sorted(probes, key=lambda each: each.taken_at):
        if probe.began_at == last[probe.quantity]:
            tries.setdefault((probe.quantity, probe.transport), []).append(probe)
    return tuple(_counts(each) for each in tries.values())


def _counts(tries: Sequence[Probe]) -> Probe:
    """Of the same measurement, taken again and again: the one that counts."""
    if tries[-1].began_at is None:
        return tries[-1]
    larger = sorted(_larger(tries), key=lambda each: each.bytes_per_second)
    return larger[(len(larger) - 1) // 2]


def _larger(tried: Sequence[Probe]) -> list[Probe]:
    """What is about as large as the largest sample: a shorter one tells less."""
    most = max(probe.bytes for probe in tried)
    return [probe for probe in tried if probe.bytes >= min(most, _AS_LARGE * most)]


def best(tried: Sequence[Probe]) -> Probe:
    """The fastest sample; of those about as fast, over ssh, with the fewest streams and the lightest compression."""
    fastest = max(probe.bytes_per_second for probe in tried)
    near = [probe for probe in tried if probe.bytes_per_second >= _NEAR * fastest]
    return min(near, key=_burden)


def _same_cipher(probe: Probe, sample: Probe) -> bool:
    return (probe.transport or PLAIN).cipher == (sample.transport or PLAIN).cipher


def _burden(probe: Probe) -> tuple[int, int, int, int]:
    transport = probe.transport or PLAIN
    method, _, level = transport.compression.partition(":")
    route = list(Route).index(transport.route)
    return route, transport.streams, ("", "lz4", "zstd", "zlib").index(method), int(level or 0)


def _bound(sample: Probe, links: dict[Quantity, Probe]) -> str:
    """The link that the sample came nearest to; the processors where it came near to none."""
    carried = {
        name: links[quantity].bytes_per_second
        * (WIRE_EFFICIENCY * (sample.ratio or 1.0) if quantity is Quantity.WIRE else 1.0)
        for quantity, name in _LINKS.items()
        if quantity in links
    }
    if not carried:
        return ""
    nearest = min(carried, key=lambda name: carried[name])
    return nearest if sample.bytes_per_second >= _BINDS * carried[nearest] else "old cpu"


def _why(sample: Probe, tried: Sequence[Probe], links: dict[Quantity, Probe], bound: str) -> str:
    others = sorted((each for each in tried if each is not sample), key=lambda each: -each.bytes_per_second)
    against = "; ".join(f"{_short(each, sample)} {units.rate(each.bytes_per_second)}" for each in others[:4])
    said = f"a sample of the cluster's own files was copied at {units.rate(sample.bytes_per_second)}"
    said += f" ({against})" if against else ""
    if sample.ratio is not None and sample.ratio >= 1.1:
        said += f", shrunk to 1/{sample.ratio:.1f}"
    said += f"; bottleneck: {bound}" if bound else ""
    return said + f" (measured: {_rates(links)})" if links else said


def _short(each: Probe, sample: Probe) -> str:
    """What tells a transport from the chosen one."""
    other, chosen = each.transport or PLAIN, sample.transport or PLAIN
    parts = [other.route.text] if other.route != chosen.route else []
    if other.mount not in {"", chosen.mount}:
        parts.append(other.mount)
    parts.append((other.compression or "no compression").replace(":", " level "))
    if other.streams != chosen.streams:
        parts.append("one stream" if other.streams == 1 else f"{other.streams} streams")
    if other.cipher != chosen.cipher:
        parts.append(other.cipher or "ssh's own cipher")
    return ", ".join(parts)


def _rates(links: dict[Quantity, Probe]) -> str:
    return ", ".join(f"{q} {units.rate(links[q].bytes_per_second)}" for q in Quantity if q in links)


def _untried(links: dict[Quantity, Probe]) -> str:
    """What is known where no transport was tried: one stream of ssh against the slowest of the other links."""
    if not links:
        return "nothing was measured, so pghaul uses what every server has"
    ssh = links.get(Quantity.SSH)
    rest = [links[quantity] for quantity in _LINKS if quantity in links]
    if ssh is None or not rest:
        return f"measured: {_rates(links)}"
    slowest = min(rest, key=lambda probe: probe.bytes_per_second)
    if ssh.bytes_per_second >= 0.9 * slowest.bytes_per_second:
        return f"one ssh stream keeps up with the slowest link, {slowest.quantity} (measured: {_rates(links)})"
    return f"one ssh stream limits the copy; more streams would help (measured: {_rates(links)})"
