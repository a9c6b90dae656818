"""Sizes as the command line shows them, in the units that its user has chosen.

What a command records is worded in the usual units, whatever it shows: only what is printed goes through here.
"""

from contextvars import ContextVar

from core import units
from core.units import Style

_USUAL = Style()
_style: ContextVar[Style] = ContextVar("shown", default=_USUAL)


def choose(*, binary: bool) -> None:
    """Show sizes in these units from now on."""
    _style.set(Style(binary=binary))


def size(number: float | None) -> str:
    """Return bytes for people, in the chosen units."""
    with units.styled(_style.get()):
        return units.size(number)
