"""What may be asked of an estimate beyond the methods, and how it is typed, at a terminal as in the window."""

import re
from dataclasses import dataclass, replace

from core import units
from core.errors import InputError

_DURATION = re.compile(r"(?P<number>\d{1,6}(?:[.,]\d{1,3})?)\s*(?P<unit>s|m|min|h|d)?", re.ASCII)
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_WINDOW = re.compile(r"(?P<from>[01]?\d|2[0-3]):(?P<m>[0-5]\d)-(?P<to>[01]?\d|2[0-3]):(?P<n>[0-5]\d)", re.ASCII)
_SIZE = re.compile(r"(?P<number>\d{1,9}(?:[.,]\d{1,3})?)\s*(?P<unit>[kMGT]|[kMGT]?B)", re.ASCII)
_BYTES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_DAY = 86400.0
_LONGEST = 1e6 * _DAY
"""In seconds; nobody can type more."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of an estimate; None: it is not.

    Attributes:
        window: when clients may wait, as seconds of the old server's day: from, to.
        downtime_seconds: how long they may.
        price: what an hour without the cluster costs, in any currency.
        growth_bytes_per_month: what the cluster grows by; None: as it grew between its facts.
    """

    window: tuple[float, float] | None = None
    downtime_seconds: float | None = None
    price: float | None = None
    growth_bytes_per_month: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for what no clock shows, such as in a history that somebody has edited."""
        if self.window is not None and not all(0 <= each < _DAY for each in self.window):
            raise ValueError("the window is not within a day")
        if self.downtime_seconds is not None and not 0 < self.downtime_seconds <= _LONGEST:
            raise ValueError("the downtime is too short or too long")

    @property
    def seconds(self) -> float | None:
        """How long clients may wait at the most; None: neither a window nor a downtime is given."""
        lengths = [] if self.window is None else [(self.window[1] - self.window[0]) % _DAY or _DAY]
        return min((*lengths, *([] if self.downtime_seconds is None else [self.downtime_seconds])), default=None)

    @property
    def kept(self) -> "Asked":
        """What of it is kept with a move: the window and the downtime."""
        return replace(self, price=None, growth_bytes_per_month=None)


NOTHING = Asked()
"""What is kept with a move for which nobody has asked about a window or a downtime."""


def seconds_of(text: str) -> float:
    """`10m`, `90 s`, `2h`; raises InputError."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or units.parse(found["number"]) == 0:
        raise InputError(f"{text} is no duration", "such as 90s, 10m or 2h")
    return units.parse(found["number"]) * _SECONDS[found["unit"]]


def seconds_text(seconds: float) -> str:
    """Return a duration as `seconds_of` reads it: `10m`, `90s`."""
    unit = next((unit for unit in ("d", "h", "m") if seconds % _SECONDS[unit] == 0), "s")
    return f"{units.exact(seconds / _SECONDS[unit])}{unit}"


def window_text(window: tuple[float, float]) -> str:
    """Return a window as `window_of` reads it: `22:00-02:00`."""
    begins, ends = (f"{int(each // 3600):02}:{int(each % 3600 // 60):02}" for each in window)
    return f"{begins}-{ends}"


def window_of(text: str) -> tuple[float, float]:
    """`22:00-02:00` as seconds of the day; raises InputError."""
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text} is no window", "such as 22:00-02:00")
    begins, ends = (60.0 * (60 * int(found[hour]) + int(found[past])) for hour, past in (("from", "m"), ("to", "n")))
    return begins, ends


def size_of(text: str) -> float:
    """`20GB`, `1.5T`; decimal, in bytes; raises InputError, also for a number alone: 80 is hardly meant as bytes."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text} is no size", "a number and its unit, such as 20GB or 1.5TB")
    return units.parse(found["number"]) * _BYTES[found["unit"].removesuffix("B")]


def price_of(text: str) -> float:
    """`5000`, `1e6`: what an hour costs; raises InputError."""
    try:
        price = float(text) if "e" in text.lower() else units.parse(text)
    except ValueError:
        price = -1.0
    if not 0 <= price < float("inf"):
        raise InputError(f"{text} is no price", "what an hour without the cluster costs, such as 5000")
    return price
