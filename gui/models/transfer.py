"""The transfer test: the path between the servers link by link, the rate of the whole, and each sample as a row."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.api.migration import ProbeForecast
from core.language import marked, tr
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route
from gui.models.sentences import compared, recorded
from gui.models.table import Column, Width
from gui.models.words import moment, quantity_name

PATH = (Quantity.READ, Quantity.SSH, Quantity.WIRE, Quantity.WRITE, Quantity.SUSTAINED)
"""The links that each byte of a copy passes, from the old server to the new one."""

_SHORT = {
    Quantity.READ: marked("Read from storage"),
    Quantity.WRITE: marked("Write to storage"),
    Quantity.SUSTAINED: marked("Sustained write"),
}


@dataclass(frozen=True, slots=True)
class Transfer:
    """The probes of a move, in the order of the links, and what the next ones take: usual or thorough ones."""

    probes: tuple[Probe, ...]
    coming: ProbeForecast
    thorough: ProbeForecast


def coming_words(coming: ProbeForecast, thorough: ProbeForecast) -> str:
    """Return what the next transfer test will take, usual or thorough, before it begins."""
    usual = tr(
        "The next test takes about {seconds}. It writes up to {written} to the new server, sends up to {sent} over the "
        "network, and removes its files."
    )
    more = tr(
        "A thorough test measures every link again and takes about {seconds}. It writes up to {written} and sends up "
        "to {sent}."
    )
    return f"{_forecast(usual, coming)} {_forecast(more, thorough)}"


def _forecast(text: str, coming: ProbeForecast) -> str:
    written, sent = units.size(coming.written_bytes), units.size(coming.sent_bytes)
    return text.format(seconds=units.duration(coming.seconds), written=written, sent=sent)


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the path. `part` is its rate as a part of the fastest link's, from 0 to 1."""

    quantity: Quantity
    rate: float
    part: float
    slowest: bool = False

    @property
    def name(self) -> str:
        return quantity_name(self.quantity)

    @property
    def short(self) -> str:
        """The name beside the two servers, which say whose storage it is."""
        short = _SHORT.get(self.quantity)
        return self.name if short is None else tr(short)

    @property
    def shown(self) -> str:
        return units.rate(self.rate) if units.known(self.rate) else units.ABSENT


def whole_transfer(probes: Sequence[Probe]) -> Probe | None:
    """Return the fastest sample of the whole transfer."""
    samples = [probe for probe in probes if probe.quantity is Quantity.END_TO_END and units.known(_rate(probe))]
    return max(samples, key=_rate, default=None)


def links(probes: Sequence[Probe]) -> tuple[Link, ...]:
    """Return the links of the path in their order, with the slowest marked.

    A cipher counts as a link only of samples that use it. Of several probes of a link the slowest counts.
    """
    whole = whole_transfer(probes)
    rates: dict[Quantity, float] = {}
    for probe in probes:
        if probe.quantity in PATH and units.known(_rate(probe)) and _in_use(probe, whole):
            rates[probe.quantity] = min(_rate(probe), rates.get(probe.quantity, _rate(probe)))
    lowest, highest = min(rates.values(), default=0.0), max(rates.values(), default=0.0)
    slowest = next((each for each in PATH if rates.get(each) == lowest), None)
    return tuple(
        Link(each, rates[each], max(0.0, rates[each] / highest) if highest > 0 else 0.0, each is slowest)
        for each in PATH
        if each in rates
    )


def slowest_link(probes: Sequence[Probe]) -> str:
    """Return the slowest link as a sentence, and why the whole transfer may be faster; empty without probes."""
    slowest = next((link for link in links(probes) if link.slowest), None)
    if slowest is None:
        return ""
    said = tr("Slowest link: {quantity}, {bytes_per_second}").format(
        quantity=slowest.name, bytes_per_second=slowest.shown
    )
    whole = whole_transfer(probes)
    if whole is not None and _rate(whole) > slowest.rate and whole.transport and whole.transport.compression:
        said = f"{said}. {tr('Compression makes the whole transfer faster than this link')}"
    return f"{said}."


def whole_words(whole: Probe) -> str:
    """Return what the rate of the whole transfer was measured with."""
    if whole.transport is None:
        return tr("Whole transfer")
    return tr("Whole transfer by {name}").format(name=compared(whole.transport.name))


def probes_summary(probes: Sequence[Probe]) -> str:
    """Return the slowest link, and the fastest sample of the whole transfer; empty without probes."""
    whole = whole_transfer(probes)
    said = [slowest_link(probes)]
    if whole is not None:
        said.append(f"{whole_words(whole)}: {units.rate(_rate(whole))}")
    return " ".join(filter(None, said))


def _rate(probe: Probe) -> float:
    return probe.bytes_per_second


def _in_use(link: Probe, sample: Probe | None) -> bool:
    if link.quantity is not Quantity.SSH or link.transport is None or sample is None or sample.transport is None:
        return True
    return sample.transport.route is Route.SSH and link.transport.cipher == sample.transport.cipher


def _compression(probe: Probe) -> str:
    if probe.transport is None or probe.quantity is not Quantity.END_TO_END:
        return ""
    return probe.transport.compression.replace(":", " ") or tr("none")


def _cipher(probe: Probe) -> str:
    if probe.transport is None or probe.transport.route is not Route.SSH:
        return ""
    return probe.transport.cipher or tr("default")


def _details(probe: Probe) -> str:
    size, seconds = units.size(probe.bytes), units.duration(probe.seconds)
    return f"{recorded(probe.method)}\n{size}, {seconds}, {moment(probe.taken_at)}"


RATE_COLUMN = 3
TOLD_COLUMNS = (4, 5, 6)
"""The columns that only the tip tells of."""
PROBE_COLUMNS: tuple[Column[Probe], ...] = (
    Column("Link", lambda row: quantity_name(row.quantity), width=Width.WHOLE, grouped=True, tip=_details),
    Column("Compression", _compression, tip=_details),
    Column("Cipher", _cipher, tip=_details),
    Column("Rate", lambda row: units.rate(row.bytes_per_second), right=True, value=lambda row: row.bytes_per_second),
    Column("Amount", lambda row: units.size(row.bytes), right=True, value=lambda row: row.bytes),
    Column("Duration", lambda row: units.duration(row.seconds), right=True, value=lambda row: row.seconds),
    Column("Time", lambda row: moment(row.taken_at)),
    Column("Method", lambda row: recorded(row.method), width=Width.REST, tip=_details),
)
