"""Logs of watches, made by hand: an hour is as busy as it is told to be."""

from collections.abc import Callable
from datetime import datetime

from tests.core.migration.builders import NOW

GIGA = 10**9


def log(
    hours: float,
    per_hour: Callable[[int], float] = lambda _: GIGA,
    *,
    begun: datetime = NOW,
    zone: str = "+0000",
    touched: str = "1 2 3 1000000000 1100000000 1200000000 1250000000 1300000000",
) -> str:
    """A look each quarter of an hour; `per_hour`: bytes of WAL by the hour of the day, of UTC."""
    lines, at, wal = [f"begin {round(begun.timestamp())} {zone}"], begun.timestamp(), 7 << 32
    for _ in range(round(4 * hours) + 1):
        lines.append(f"look {round(at)} {wal >> 32:X}/{wal & 0xFFFFFFFF:X} 40 {touched}")
        wal += round(per_hour(int(at // 3600) % 24) / 4)
        at += 900
    return "\n".join([*lines, "# whole", ""])
