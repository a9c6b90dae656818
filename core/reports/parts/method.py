"""How to read a report: its units, and where its figures come from."""

from core import units
from core.language import tr
from core.reports.model import Item, Items, Section


def method(*further: Item, masked: bool) -> Section:
    """The last section before the appendices."""
    sizes = tr(
        "A size of {size} is {bytes} bytes. A rate of {rate} is {number} bytes per second. Times without a time zone "
        "are UTC."
    )
    shown = sizes.format(
        size=units.size(2**30), bytes=units.count(2**30), rate=units.rate(1e8), number=units.count(1e8)
    )
    marks = tr(
        "A dash (–) means that there is no value. Values in parentheses behind a duration are the low and the high "
        "value. An arrow (→) stands before what to do about a finding."
    )
    items = [Item(shown, title=tr("Units")), Item(marks, title=tr("Marks")), *further]
    if masked:
        said = tr("Names of servers, users and people, and addresses, are replaced, each by the same word everywhere.")
        items.append(Item(said, title=tr("Masked")))
    return Section(tr("Method and units"), (Items(tuple(items)),))
