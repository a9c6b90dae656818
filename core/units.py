"""Numbers for people, and nothing else formats a number. Inside, every number is in SI base units.

Sizes are binary (GiB), as df -h and PostgreSQL show them, unless `choose` or `styled` says otherwise; rates are
decimal (MB/s), as disks and networks are sold.
"""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeGuard

ABSENT = "–"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[kMGT]?i?B(?:/s|ytes)?|[kMGT]?bit/s|[mµn]?s|min|h|d|×|%|Bytes|IOPS)(?![\w]))")
_WITHIN_DURATION = re.compile(r"(?<=\d)( (?:d|h|min)) (?=\d+ (?:h|min|s)\b)")
"""What parts hours from minutes, and these from seconds."""


@dataclass(frozen=True, slots=True)
class Style:
    """How numbers are written.

    Attributes:
        point: what stands before their fraction, as the language has it: `core.language.spoken` sets it.
        binary: whether sizes are binary.
    """

    point: str = "."
    binary: bool = True


_DEFAULT = Style()
_style: ContextVar[Style] = ContextVar("style", default=_DEFAULT)
"""Of each thread its own, and no thread inherits it: what is recorded is worded alike on whichever thread."""


def choose(*, binary: bool) -> None:
    """From now on sizes are written so on this thread, but within `styled`."""
    _style.set(replace(current(), binary=binary))


def current() -> Style:
    """How numbers are written here and now."""
    return _style.get()


@contextmanager
def styled(style: Style) -> Iterator[None]:
    """Within it numbers are written so."""
    token = _style.set(style)
    try:
        yield
    finally:
        _style.reset(token)


def size(number: float | None) -> str:
    """Bytes for people: 1536 -> '1.5 KiB'; None, or no number -> '–'. Decimal where the style is: 1.54 kB."""
    if not known(number):
        return ABSENT
    if not current().binary:
        return f"{round(number)} Bytes" if abs(number) < 1000 else _scaled(number, ("B", "kB", "MB", "GB", "TB", "PB"))
    import humanize  # the one function of it, and most short commands print no size

    return _pointed(humanize.naturalsize(number, binary=True, format="%.1f").replace(".0 Byte", " Byte"))


def block(number: float) -> str:
    """A block or a segment, which is a power of two by its nature, whatever the style: 8192 -> '8.0 KiB'."""
    with styled(replace(current(), binary=True)):
        return size(number)


def rate(number: float | None) -> str:
    """Bytes a second for people, decimal: 80_600_000 -> '80.6 MB/s'."""
    if not known(number):
        return ABSENT
    return f"{_scaled(number, ('B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'))}"


def bits(number: float | None) -> str:
    """Bits a second for people, decimal: 957e6 -> '957 Mbit/s'."""
    if not known(number):
        return ABSENT
    return _scaled(number, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))


def count(number: float | None) -> str:
    """A count with thin thousands: 20000 -> '20 000'; fractions keep three significant digits."""
    if not known(number):
        return ABSENT
    if number == int(number) or abs(number) >= 999.5:  # three digits of which would be 1e+03
        return f"{round(number):,}".replace(",", "\u202f")
    return _pointed(f"{number:.3g}")


def plain(number: float) -> str:
    """A number as it is, in six significant digits: 0.000193 -> '0.000193', 1.5e9 -> '1.5e+09'."""
    return _pointed(f"{number:g}")


def counted(number: int, noun: str) -> str:
    """So many of a noun whose plural ends in s: '1 check', '68 checks'."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def seconds(number: float | None) -> str:
    """A latency or a short time for people: 0.0001928 -> '193 µs', 2.5 -> '2.50 s'."""
    if not known(number):
        return ABSENT
    factor, unit = _unit_of(number)
    return f"{_significant(number / factor)} {unit}"


def round_seconds(number: float) -> str:
    """A round latency, as at an axis: 0.005 -> '5 ms'."""
    factor, unit = _unit_of(number)
    return f"{count(number / factor)} {unit}"


def duration(number: float | None) -> str:
    """A duration for people, no more exact than is useful: 45 -> '45 s', 3900 -> '1 h 05 min', 1e6 -> '11 d 14 h'."""
    if not known(number):
        return ABSENT
    if number < 10:
        return _pointed(f"{number:.1f} s")
    total = round(number)
    if total < 60:
        return f"{total} s"
    minutes, rest = divmod(total, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(round(number / 60), 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(round(number / 3600), 24)
    return f"{days} d {hours} h"


def about(number: float | None) -> str:
    """An estimated duration, no finer than it can be: whole minutes from ten on, and '24 h' for '24 h 00 min'."""
    if not known(number):
        return ABSENT
    rounded = 60 * round(number / 60) if number >= 600 else number
    return duration(rounded).removesuffix(" 00 s").removesuffix(" 00 min")


def measured(number: float | None) -> str:
    """A measured time for people, which may be far below a second: 0.0403 -> '40.3 ms', 45 -> '45 s'."""
    return seconds(number) if known(number) and 0 < number < 0.1 else duration(number)


def expected(number: float | None) -> str:
    """The expected duration of a step, which is no more exact than a second: 0.2 -> 'under 1 s', 45 -> '45 s'."""
    return "under 1 s" if known(number) and number < 1 else duration(number)


def seconds_between(began: datetime, ended: datetime | None) -> float | None:
    """Return the seconds from one moment to a later one; None without an end, or if the clock was set back before it.

    Whoever adds or counts on takes 0 instead of None: a duration is never negative.
    """
    seconds = -1.0 if ended is None else (ended - began).total_seconds()
    return seconds if seconds >= 0 else None


def clock(number: float) -> str:
    """A time that runs, to the second: 45.2 -> '45 s', 233 -> '3 min 53 s', 7384 -> '2 h 03 min 04 s'."""
    if not known(number):
        return ABSENT
    minutes, rest = divmod(int(number), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min {rest:02d} s"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def time_left(number: float) -> str:
    """An estimated rest of a time, no finer than it can be: 4.2 -> '4 s', 233 -> '3 min 50 s'."""
    return duration(round(number, -1)) if number > 60 else clock(max(1, round(number)))


def percent(fraction: float | None) -> str:
    """A fraction as per cent: 0.127 -> '12.7 %'."""
    return f"{_significant(fraction * 100)} %" if known(fraction) else ABSENT


def share(fraction: float) -> str:
    """A part of a whole in whole per cent: 0.95 -> '95 %'."""
    return f"{fraction * 100:.0f} %"


def spread(fraction: float | None) -> str:
    """A coefficient of variation: 0.0367 -> '± 3.7 %'; empty where it is not known."""
    return _pointed(f"± {fraction * 100:.1f} %") if known(fraction) else ""


def ratio(number: float | None) -> str:
    """A ratio: 1.92 -> '1.92 ×'."""
    return f"{_significant(number)} ×" if known(number) else ABSENT


def quotient(of: float, by: float) -> float | None:
    """What a division comes to; None where it comes to no number."""
    found = of / by if by else math.nan
    return found if math.isfinite(found) else None


def metric(name: str, value: float | None) -> str:
    """A metric for people, by the unit that its name ends in (DESIGN: names follow Prometheus)."""
    if value is None:
        return ABSENT
    if name.endswith("bytes_per_second"):
        return rate(value)
    if name.endswith("bits_per_second"):
        return bits(value)
    if name.endswith("_bytes") or name == "bytes":
        return size(value)
    if name.endswith("latency_seconds") or ("latency" in name and name.endswith("_seconds")):
        return seconds(value)
    if name.endswith("_seconds"):
        return duration(value)
    if name.endswith("_fraction"):
        return percent(value)
    if name.endswith("_per_second"):
        return f"{count(value)} /s"
    if name.endswith("iops"):
        return f"{count(value)} IOPS"
    return count(value)


def exact(number: float) -> str:
    """A number to be typed again, with all its digits: 1.5 -> '1.5'."""
    return _pointed(f"{number:.15g}")


def unbroken(text: str) -> str:
    """Return a text in which no line breaks between a number and its unit, or within a duration."""
    return _BEFORE_UNIT.sub("\u00a0", _WITHIN_DURATION.sub("\\1\u00a0", text))


def parse(text: str) -> float:
    """The number that somebody has typed, as the language writes it: '1 200', '1,200.5'; in German '1.200,5'.

    The point of another language is read too, where it separates no thousands: '1,5' is one and a half everywhere,
    and '0,500' is a half, as no thousands begin with 0.

    Raises:
        ValueError: it is none.
    """
    point = current().point
    other = "," if point == "." else "."
    typed = re.sub(r"(?<=\d)\s(?=\d{3}(?!\d))", "", text.strip())
    whole = rf"-?\d+|-?[1-9]\d{{0,2}}(?:{re.escape(other)}\d{{3}})+"
    grouped = re.fullmatch(rf"({whole})(?:{re.escape(point)}(\d+))?", typed)
    found = grouped or re.fullmatch(rf"(-?\d+){re.escape(other)}(\d+)", typed)
    if found is None:
        raise ValueError(text)
    return float(f"{found[1].replace(other, '')}.{found[2] or 0}")


def known(number: float | None) -> TypeGuard[float]:
    """Whether there is a number to write: what was divided by nothing is none, though it is of the type of one."""
    return number is not None and (isinstance(number, int) or math.isfinite(number))


def _unit_of(number: float) -> tuple[float, str]:
    units = (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")
    return next((each for each in units if abs(number) >= each[0]), units[-1] if number else units[0])


def _scaled(number: float, units: tuple[str, ...]) -> str:
    position = 0
    while abs(number) >= 999.5 and position < len(units) - 1:
        number /= 1000
        position += 1
    return f"{_significant(number)} {units[position]}"


def _significant(number: float) -> str:
    """Three significant digits without an exponent."""
    if number == 0:
        return "0"
    rounded = float(f"{number:.3g}")  # 0.9996 has its first digit before the point once it is rounded
    digits = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return _pointed(f"{number:.{digits}f}")


def _pointed(text: str) -> str:
    return text.replace(".", current().point)
