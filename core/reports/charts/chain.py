"""Draw the copy path as a pipe: each link is as wide as its throughput, and the slowest one is marked."""

import math

from core import units
from core.language import marked, tr
from core.migration.model.probe import Probe, Quantity
from core.reports.drawing import WIDTH, Box, Drawing, Line, Mark, Shape, Words

_LINKS = {
    Quantity.READ: marked("Old disk, reading"),
    Quantity.WIRE: marked("Network"),
    Quantity.SSH: marked("SSH"),
    Quantity.WRITE: marked("New disk, writing"),
}
_OTHERS = {
    Quantity.SUMS: marked("Checksums"),
    Quantity.SUSTAINED: marked("New disk, sustained writing"),
    Quantity.END_TO_END: marked("End to end"),
    Quantity.CHANGES: marked("Changes of the old cluster"),
    Quantity.DUMP: marked("Dump"),
    Quantity.LOAD: marked("Load"),
    Quantity.INDEX: marked("Index build"),
}
_MIDDLE, _MOST = 14.0, 9.0


def link_name(quantity: Quantity) -> str:
    """Return the name of what a probe measures."""
    return tr((_LINKS | _OTHERS)[quantity])


def chain(probes: tuple[Probe, ...]) -> Drawing | None:
    """What bounds a copy; None where fewer than two links were measured."""
    rates = {
        quantity: max(probe.bytes_per_second for probe in probes if probe.quantity is quantity)
        for quantity in _LINKS
        if any(probe.quantity is quantity for probe in probes)
    }
    if len(rates) < 2:
        return None
    most, least = max(rates.values()), min(rates.values())
    room = WIDTH / len(rates)
    made: list[Mark] = [Line(0, _MIDDLE, WIDTH, _MIDDLE, "rule", 0.4, dashed=True)]
    for number, (quantity, rate) in enumerate(rates.items()):
        # halves of the widest: a link of a tenth must still be seen
        half = _MOST * max(0.08, math.sqrt(rate / most))
        x, narrow = number * room, rate == least
        made.append(
            Box(x + 3, _MIDDLE - half, room - 6, 2 * half, "set-6" if narrow else "set-5", "ink" if narrow else "")
        )
        made.append(
            Shape(((x + room - 3, _MIDDLE - 1.2), (x + room - 0.6, _MIDDLE), (x + room - 3, _MIDDLE + 1.2)), "muted")
        )
        made.append(Words(x + room / 2, _MIDDLE + _MOST + 3, tr(_LINKS[quantity]), 8, anchor="middle"))
        said = units.rate(rate) + (f" · {tr('slowest link')}" if narrow else "")
        made.append(Words(x + room / 2, _MIDDLE + _MOST + 6.8, said, 8, anchor="middle", bold=narrow))
    whole = next((probe for probe in probes if probe.quantity is Quantity.END_TO_END), None)
    height = _MIDDLE + _MOST + 9
    if whole is not None:
        said = tr("Measured end to end: {rate}").format(rate=units.rate(whole.bytes_per_second))
        made.append(Words(WIDTH / 2, height + 2, said, 8, anchor="middle", bold=True))
        height += 4.5
    alt = tr("Throughput of each link of the copy path. The slowest link limits the copy.") + " "
    alt += " ".join(f"{tr(_LINKS[quantity])}: {units.rate(rate)}." for quantity, rate in rates.items())
    return Drawing("chain", alt, height, tuple(made))
