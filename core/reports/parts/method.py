"""How to read a report: its units, and where its figures come from."""

from core import units
from core.language import tr
from core.reports.model import Item, Items, Section


def method(*further: Item, masked: bool) -> Section:
    """The last section before the appendices."""
    sizes = tr("Sizes are shown as {size} for {bytes} bytes, and rates as {rate}. Times without a time zone are UTC.")
    shown = sizes.format(size=units.size(2**30), bytes=units.count(2**30), rate=units.rate(1e8))
    items = [Item(shown, title=tr("Units")), *further]
    if masked:
        said = tr("The names of servers, addresses and people are replaced, each by the same word everywhere.")
        items.append(Item(said, title=tr("Masked")))
    return Section(tr("Method and units"), (Items(tuple(items)),))
