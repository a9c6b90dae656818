"""The rounded numbers of fio's normal output, and what they can stand for.

fio prints a rate three times: as bytes a second in two units, and as bytes and run time to divide (stat.c). Up to 3.25
its `num2str` loses a carry: a fraction that rounds up to one is printed as `.0` without adding to the whole, so that
11.99 appears as 11.0 (fixed in 3.26, lib/num2str.c). A number that ends in zeros has two meanings there; the others
tell which. Best of all is what was counted: I/Os issued, times the block size where it is fixed, by the run time.
"""

import re
from dataclasses import dataclass

_CARRY_FIXED = (3, 26)
_AGREE = 0.01
_QUANTITY = re.compile(
    r"""
    (?P<number>\d+(?:\.(?P<decimals>\d+))?)
    \s?                                       # 1.x puts a blank before a bare unit: "521296 B/s"
    (?P<prefix>[kKMGTPE])?(?P<binary>i)?
    (?:B|bits?|b)?(?:/s)?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Counted:
    """What is exact about one direction of a job.

    Attributes:
        ios: the number of I/Os; None if the line with it is missing.
        block_bytes: the block size; None if it is not known or not fixed.
    """

    milliseconds: int
    ios: int | None
    block_bytes: int | None


def loses_carry(version: str | None) -> bool:
    """Return whether this version of fio prints 11.99 as 11.0. An unknown version may."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return found is None or (int(found[1]), int(found[2])) < _CARRY_FIXED


def meanings(text: str, *, binary: bool = False, carry: bool = False) -> tuple[float, ...]:
    """Return the possible meanings of a number with its unit, in base units; a bit is an eighth of a byte.

    Args:
        text: such as `16.4k`, `64.0MiB/s`, `31.2Gibit/s`, `8435.2KB/s`.
        binary: K is 1024 also without an i, as in 1.x and 2.x.
        carry: a fraction of zeros may stand for one more.
    """
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        return ()
    # KiB is 1024 always, K only up to 2.16
    base = 1024 if binary or found["binary"] else 1000
    scale = float(base ** (" KMGTPE".index(found["prefix"].upper()) if found["prefix"] else 0))
    if "bit" in text:
        scale /= 8
    value = float(found["number"])
    # 11.0 may be 11.0 or a 11.99 that lost its carry
    ambiguous = carry and found["decimals"] is not None and not found["decimals"].strip("0")
    return (value * scale, (value + 1) * scale) if ambiguous else (value * scale,)


def rate(printed: tuple[float, ...], others: list[tuple[float, ...]], counted: Counted) -> float | None:
    """Return bytes per second: by the counters if they fit the printed rate, else the meaning that fits the others."""
    if not printed:
        return None
    # what the other ways of printing the same rate leave open
    candidates = [values for values in others if values]
    chosen = min(printed, key=lambda value: sum(_distance(value, values) for values in candidates))
    if counted.ios and counted.block_bytes:
        exact = counted.ios * counted.block_bytes * 1000 / counted.milliseconds
        # counts that do not agree are of another job, or of a part of the time
        if _distance(exact, (chosen,)) <= _AGREE:
            return exact
    return chosen


def iops(printed: tuple[float, ...], bytes_per_second: float | None, counted: Counted) -> float | None:
    """Return IOPS: by the counters, or as printed if that has one meaning, or one that agrees with the byte rate."""
    if counted.ios is not None:
        return counted.ios * 1000 / counted.milliseconds
    if len(printed) == 1:
        return printed[0]
    if bytes_per_second is None or counted.block_bytes is None:
        return None
    derived = bytes_per_second / counted.block_bytes
    return next((value for value in printed if _distance(value, (derived,)) <= _AGREE), None)


def _distance(value: float, others: tuple[float, ...]) -> float:
    """Return the relative distance to the nearest of the others."""
    return min(abs(value / other - 1) if other else float(value != other) for other in others)
