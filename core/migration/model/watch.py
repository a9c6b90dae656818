"""A watch on the old server: what its looks saw of how much the cluster changes, and how its log is read. SI base
units."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

from core import units
from core.errors import ParseError
from core.text import lines_of

AGES = (60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400)
"""Seconds: each look tells the bytes of the files that were written to since so long ago."""

_BEGIN = re.compile(r"begin (?P<at>\d{9,11}) (?P<sign>[+-])(?P<hours>\d\d)(?P<minutes>\d\d)", re.ASCII)
_LOOK = re.compile(
    r"""look\ (?P<at>\d{9,11})
    \ (?:-|(?P<high>[0-9A-F]{1,8})/(?P<low>[0-9A-F]{1,8}))  # where the server was in its WAL
    \ \d{1,10}                                              # milliseconds that the look took
    \ (?P<bytes>(?:\d{1,18}\ ){7}\d{1,18})""",
    re.ASCII | re.VERBOSE,
)
_COMPLAINT = re.compile(r"pghaul: (?P<words>.{1,300})")


@dataclass(frozen=True, slots=True)
class WatchSample:
    """One look. `at`: by the old server's clock and zone; `wal_bytes`: all that was ever written of WAL, None where the
    server did not say; `touched`: bytes of the files, WAL aside, written to since each of AGES, a file counting
    whole."""

    at: datetime
    wal_bytes: int | None
    touched: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WatchResult:
    """What a watch saw, in order of time. `complaint`: the last thing that went wrong; empty: nothing did."""

    looks: tuple[WatchSample, ...]
    complaint: str = ""

    @property
    def began_at(self) -> datetime:
        """When it began."""
        return self.looks[0].at

    @property
    def seconds(self) -> float:
        """From its first look to its last one."""
        return units.seconds_between(self.looks[0].at, self.looks[-1].at) or 0.0

    @property
    def wal(self) -> tuple[tuple[datetime, float, int], ...]:
        """Between one look and the next: when, seconds, bytes of WAL; nothing where the server did not say, or went
        back, as after a recovery."""
        known = [(look.at, look.wal_bytes) for look in self.looks if look.wal_bytes is not None]
        steps = [(a[0], (b[0] - a[0]).total_seconds(), b[1] - a[1]) for a, b in pairwise(known)]
        return tuple(each for each in steps if each[1] > 0 and each[2] >= 0)


def parse_watch(text: str) -> WatchResult:
    """Read the log of a watch, whole or as far as it came; lines of others are passed over.

    Raises:
        ParseError: it holds no look.
    """
    zone, looks, complaint = timezone(timedelta()), [], ""
    for line in lines_of(text):
        if begun := _BEGIN.fullmatch(line):
            offset = timedelta(hours=int(begun["hours"]), minutes=int(begun["minutes"]))
            zone = timezone(-offset if begun["sign"] == "-" else offset)
        elif seen := _LOOK.fullmatch(line):
            looks.append(_look(seen, zone))
        elif said := _COMPLAINT.match(line):
            complaint = said["words"]
    if not looks:
        raise ParseError(
            f"the watch has seen nothing{f': {complaint}' if complaint else ''}", "end it, and begin another one"
        )
    return WatchResult(tuple(looks), complaint)


def _look(seen: "re.Match[str]", zone: timezone) -> WatchSample:
    high, low = seen["high"], seen["low"]
    touched = tuple(int(each) for each in seen["bytes"].split())
    at = datetime.fromtimestamp(int(seen["at"]), UTC).astimezone(zone)
    return WatchSample(at, (int(high, 16) << 32) + int(low, 16) if high is not None else None, touched)
