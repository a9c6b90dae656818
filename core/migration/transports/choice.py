"""The choice of a transport: the fastest of those that the probes tried, and the rates on which this rests."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from core import units
from core.facts.model import Facts
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.model.estimate import bottleneck_title
from core.migration.model.move import Move
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import PLAIN, Route, Transport
from core.servers.profiles import Profile

WIRE_EFFICIENCY = 0.94
"""The share of iperf3's rate that rsync over ssh reaches on a gigabit link: 2.97 GB at 112 MB/s between two hosts."""

_NEARLY_AS_FAST = 0.97
"""A transport with this share of the fastest rate counts as equally fast; the one with the least load is chosen."""

_LIMITING = 0.8
"""A link is the bottleneck if the sample reaches this share of its rate: a short sample includes the start of rsync."""

_LARGE_ENOUGH = 0.5
"""A sample with a smaller share of the largest sample's bytes was shorter; a larger one may have been cut off."""

_FULL_PASS = 3
"""A pass with fewer samples was cancelled, or its time was over: it tells little about the other transports."""

_LINKS = {Quantity.READ: "old disk", Quantity.WIRE: "wire", Quantity.WRITE: "new disk"}

_LINK_NAMES = {
    Quantity.READ: "old disk",
    Quantity.WIRE: "network",
    Quantity.SSH: "SSH",
    Quantity.WRITE: "new disk",
    Quantity.SUMS: "checksums",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The transport of a copy.

    Attributes:
        transport: the transport.
        why: sentences with the rates on which the choice rests.
        links: the probe of each link; that of ssh used the chosen cipher.
        bound_by: the bottleneck: `old disk`, `wire`, `new disk` or `old cpu`; empty if it was not measured.
        sample: the probe of the chosen transport; None if no transport was tried.
    """

    transport: Transport
    why: str
    links: dict[Quantity, Probe]
    bound_by: str = ""
    sample: Probe | None = None


def is_on_one_server(move: Move, old: Facts, new: Facts, profile: Profile) -> bool:
    """Return whether both clusters are on one host and have the same owner, so that no ssh is needed."""
    cluster = old.cluster(move.cluster)
    return compare_hosts(old, new) is Hosts.ONE and cluster is not None and cluster.owner == profile.database_user


def allowed_routes(move: Move, old: Facts, new: Facts, profile: Profile) -> frozenset[Route]:
    """Return the routes that a copy may take now, whatever the probes have tried."""
    if is_on_one_server(move, old, new, profile):
        return frozenset({Route.LOCAL})
    return frozenset(each for each in Route if each is not Route.LOCAL and (each.encrypted or move.plain_text))


def tried_routes(probes: Sequence[Probe]) -> frozenset[Route]:
    """Return the routes of the latest pass of probes; ssh if none was tried."""
    tried = {probe.transport.route for probe in latest_pass(probes) if probe.transport is not None}
    return frozenset(tried or {Route.SSH})


def choose_transport(probes: Sequence[Probe], routes: Collection[Route] = (Route.SSH,)) -> Choice:
    """Return the fastest transport of the latest pass of probes that uses one of these routes.

    If no transport was tried, it is one plain stream, over ssh if that is allowed.
    """
    plain = Transport(route=Route.LOCAL if Route.LOCAL in routes else Route.SSH)
    latest = latest_pass(probes)
    tried = [probe for probe in latest if probe.quantity is Quantity.END_TO_END and _route(probe.transport) in routes]
    links = {probe.quantity: probe for probe in latest if probe.quantity in {*_LINKS, Quantity.SUMS, Quantity.SSH}}
    if not tried:
        return Choice(plain, _explain_untried(links), links)
    sample = fastest_probe(_large_samples(tried))
    for probe in latest:
        if probe.quantity is Quantity.SSH and _same_cipher(probe, sample):
            links[Quantity.SSH] = probe
    bound = _bottleneck(sample, links)
    return Choice(sample.transport or PLAIN, _explain_choice(sample, tried, bound), links, bound, sample)


def latest_pass(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """Return the latest measurement of each link and of each transport.

    Of the transports, only the latest pass counts. If it has few samples, those of the latest full pass before it count
    too, for the transports of the same routes that it did not try. A transport that was tried several times in a pass
    counts by the median of its larger samples, with two samples by the lower one, so that a single lucky sample does
    not win.
    """
    ordered = sorted(probes, key=lambda each: each.taken_at)
    last = {probe.quantity: probe.began_at for probe in ordered}
    tries: dict[tuple[Quantity, Transport | None], list[Probe]] = {}
    for probe in ordered:
        if probe.began_at == last[probe.quantity]:
            tries.setdefault((probe.quantity, probe.transport), []).append(probe)
    tried = {transport for quantity, transport in tries if quantity is Quantity.END_TO_END}
    routes = {_route(each) for each in tried}
    for probe in [] if len(tried) >= _FULL_PASS else _latest_full_pass(ordered):
        if probe.transport not in tried and _route(probe.transport) in routes:
            tries.setdefault((probe.quantity, probe.transport), []).append(probe)
    return tuple(_median_probe(each) for each in tries.values())


def _latest_full_pass(ordered: Sequence[Probe]) -> list[Probe]:
    """Return the samples of the latest pass that has enough of them."""
    passes: dict[datetime | None, list[Probe]] = {}
    for probe in ordered:
        if probe.quantity is Quantity.END_TO_END:
            passes.setdefault(probe.began_at, []).append(probe)
    full = [each for each in passes.values() if len({probe.transport for probe in each}) >= _FULL_PASS]
    return full[-1] if full else []


def _route(transport: Transport | None) -> Route:
    return (transport or PLAIN).route


def _median_probe(tries: Sequence[Probe]) -> Probe:
    """Return the probe that counts among repeated measurements of the same transport."""
    if tries[-1].began_at is None:
        return tries[-1]
    larger = sorted(_large_samples(tries), key=lambda each: each.bytes_per_second)
    return larger[(len(larger) - 1) // 2]


def _large_samples(tried: Sequence[Probe]) -> list[Probe]:
    """Return the samples that are about as large as the largest one of their pass: a smaller sample says less."""
    largest: dict[datetime | None, int] = {}
    for probe in tried:
        largest[probe.began_at] = max(probe.bytes, largest.get(probe.began_at, probe.bytes))
    least = {began_at: min(most, _LARGE_ENOUGH * most) for began_at, most in largest.items()}
    return [probe for probe in tried if probe.bytes >= least[probe.began_at]]


def fastest_probe(tried: Sequence[Probe]) -> Probe:
    """Return the fastest sample.

    Of samples that are nearly as fast, ssh is preferred, then the fewest streams and the lightest compression.
    """
    fastest = max(probe.bytes_per_second for probe in tried)
    candidates = [probe for probe in tried if probe.bytes_per_second >= _NEARLY_AS_FAST * fastest]
    return min(candidates, key=_cost)


def _same_cipher(probe: Probe, sample: Probe) -> bool:
    return (probe.transport or PLAIN).cipher == (sample.transport or PLAIN).cipher


def _cost(probe: Probe) -> tuple[int, int, int, int]:
    transport = probe.transport or PLAIN
    method, _, level = transport.compression.partition(":")
    route = list(Route).index(transport.route)
    return route, transport.streams, ("", "lz4", "zstd", "zlib").index(method), int(level or 0)


def _bottleneck(sample: Probe, links: dict[Quantity, Probe]) -> str:
    """Return the link whose capacity the sample nearly reached, or the processors if it reached none."""
    capacities = {
        name: links[quantity].bytes_per_second
        * (WIRE_EFFICIENCY * (sample.ratio or 1.0) if quantity is Quantity.WIRE else 1.0)
        for quantity, name in _LINKS.items()
        if quantity in links
    }
    if not capacities:
        return ""
    nearest = min(capacities, key=lambda name: capacities[name])
    return nearest if sample.bytes_per_second >= _LIMITING * capacities[nearest] else "old cpu"


def _explain_choice(sample: Probe, tried: Sequence[Probe], bound: str) -> str:
    others = sorted((each for each in tried if each is not sample), key=lambda each: -each.bytes_per_second)
    other_rates = "; ".join(
        f"{_describe_difference(each, sample)} ({units.rate(each.bytes_per_second)})" for each in others[:4]
    )
    sentences = [f"A sample of the cluster's own files was copied at {units.rate(sample.bytes_per_second)}."]
    if sample.ratio is not None and sample.ratio >= 1.1:
        sentences.append(f"The network carried 1 byte for {sample.ratio:.1f} bytes of these files.")
    if other_rates:
        sentences.append(f"Also sampled: {other_rates}.")
        if 1 < others[0].bytes_per_second / sample.bytes_per_second <= 1 / _NEARLY_AS_FAST:
            sentences.append("Of transports that are about as fast, the simplest is used.")
    if bound:
        sentences.append(f"The bottleneck of the chosen transport is the {bottleneck_title(bound)}.")
    return " ".join(sentences)


def _describe_difference(probe: Probe, sample: Probe) -> str:
    """Return how a transport differs from the chosen one."""
    transport, chosen = probe.transport or PLAIN, sample.transport or PLAIN
    parts = [transport.route.text] if transport.route != chosen.route else []
    if transport.mount not in {"", chosen.mount}:
        parts.append(transport.mount)
    parts.append((transport.compression or "no compression").replace(":", " level "))
    if transport.streams != chosen.streams:
        parts.append("one stream" if transport.streams == 1 else f"{transport.streams} streams")
    if transport.cipher != chosen.cipher:
        parts.append(transport.cipher or "ssh's own cipher")
    return ", ".join(parts)


def _describe_links(links: dict[Quantity, Probe]) -> str:
    rates = (
        f"{words} ({units.rate(links[each].bytes_per_second)})" for each, words in _LINK_NAMES.items() if each in links
    )
    return f"Measured rates: {', '.join(rates)}."


def _explain_untried(links: dict[Quantity, Probe]) -> str:
    """Return what is known if no transport was tried: one ssh stream compared with the slowest other link."""
    if not links:
        return "No transport was measured. This one works on every server."
    ssh = links.get(Quantity.SSH)
    others = {quantity: links[quantity] for quantity in _LINKS if quantity in links}
    if ssh is None or not others:
        return _describe_links(links)
    slowest = min(others, key=lambda each: others[each].bytes_per_second)
    if ssh.bytes_per_second >= 0.9 * others[slowest].bytes_per_second:
        first = f"One SSH stream is about as fast as the slowest link, the {bottleneck_title(_LINKS[slowest])}."
    else:
        first = "One SSH stream limits the copy. More streams would help."
    return f"{first} {_describe_links(links)}"
