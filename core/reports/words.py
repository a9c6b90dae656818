"""Words and charts that several sections of the report share: spans, axes, sentences for what is not there yet."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from core import units
from core.migration.model.estimate import Span
from core.migration.model.move import Move
from core.servers import shell

Plain = dict[str, Any]
"""JSON for the template: texts as they are shown, and numbers from 0 to 1 for what is drawn."""

_METHODS = {
    "cold-copy": "Cold copy",
    "warm-copy": "Warm copy",
    "dump-restore": "Dump & restore",
    "parallel-dump-restore": "Dump & restore, parallel",
    "streaming-replica": "Streaming replica",
    "pg-upgrade-copy": "Warm copy, pg_upgrade by copies",
    "pg-upgrade-clone": "Warm copy, pg_upgrade by clones",
    "pg-upgrade-link": "Warm copy, pg_upgrade by links",
}
_TICKS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 345600, 604800)
_MOST_TICKS = 6
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def method(name: str) -> str:
    """A method's name for people."""
    return _METHODS.get(name, name)


def about(seconds: float) -> str:
    """An estimated duration, no finer than it can be: whole minutes from ten on, and `24 h` for `24 h 00 min`."""
    rounded = 60 * round(seconds / 60) if seconds >= 600 else seconds
    return units.duration(rounded).removesuffix(" 00 s").removesuffix(" 00 min")


def span(seconds: Span) -> str:
    """`3 h 48 min (3 h 12 min to 4 h 54 min)`."""
    return f"{about(seconds.likely)} ({reach(seconds)})"


def reach(seconds: Span) -> str:
    """`3 h 12 min to 4 h 54 min`."""
    return f"{about(seconds.low)} to {about(seconds.high)}"


def instant(at: datetime) -> str:
    """`14 March 2026, 20:00 UTC`, in the zone that the instant carries."""
    zone = at.tzname() or ""
    return f"{at.day} {at:%B %Y, %H:%M} {zone}".rstrip()


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 blocker`, `2 blockers`, `no blockers`."""
    return f"{units.count(number) if number else 'no'} {one if number == 1 else many or one + 's'}"


def listed(words: Iterable[str], most: int = 3) -> str:
    """`a, b and c`; of more than `most` the rest as a number: `a, b, c and 4 more`."""
    found = list(words)
    if len(found) > most:
        found = [*found[:most], f"{len(found) - most} more"]
    return f"{', '.join(found[:-1])} and {found[-1]}" if len(found) > 1 else "".join(found)


def fraction(value: float, most: float) -> float:
    """How far along an axis that ends at `most`."""
    return min(1.0, max(0.0, value / most)) if most > 0 else 0.0


def time_axis(most: float) -> list[Plain]:
    """Marks at round times from 0 to `most` seconds, few enough to be read."""
    step = next((tick for tick in _TICKS if most / tick <= _MOST_TICKS), most / _MOST_TICKS)
    size, unit = next(((size, unit) for size, unit in _UNITS if step >= size), _UNITS[-1])
    marks = [step * number for number in range(int(most / step) + 1)] if most > 0 else [0.0]
    return [{"at": fraction(mark, most), "label": f"{mark / size:g} {unit}" if mark else "0"} for mark in marks]


def missing(what: str, move: Move, command: str, page: str) -> str:
    """What to do for a section that has nothing to show."""
    to_run = shell.command("pghaul", command, move.name)
    return f"{what} Run {to_run}, or open {page} in the window; then make this report again."


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Plain:
    """A table; cells are texts."""
    return {"head": list(head), "rows": [list(row) for row in rows]}
