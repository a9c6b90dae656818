"""How far a server's clock is from the workstation's, and whether a time server keeps it.

The server's time is asked for first of all in a round trip. It was read between the moment when the question left and
the moment when the answer came; the middle of the two is taken, and half of their distance is what it may be wrong by.
"""

import re
from dataclasses import dataclass

from core.facts.host_environment import Clock
from core.facts.sections import Section
from core.facts.text import first_line, unreadable_error

ANSWER = re.compile(rb"now=[0-9.%N]+\n")
"""The line that tells the time, as it stands in the stream of a round trip."""
_NOW = re.compile(r"now=([0-9]{1,12})(?:\.([0-9]{1,9}))?\S*")
_YES = re.compile(r"(?:NTPSynchronized|synchronised)=yes|synchronized: yes|Leap status\s*:\s*Normal", re.IGNORECASE)
_NO = re.compile(r"(?:NTPSynchronized|synchronised)=no|synchronized: no|Not synchronised", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Now:
    """The server's time in seconds since 1970, and by how much it was rounded."""

    seconds: float
    rounding: float


def parse_now(text: str) -> Now:
    """The server's time from `now=SECONDS.NANOSECONDS`; an old or small `date` knows no %N and leaves it as it stands.

    Raises:
        ParseError: there is no such line.
    """
    found = _NOW.fullmatch(first_line(text).strip())
    if found is None:
        raise unreadable_error("date", "seconds since 1970", first_line(text))
    return Now(float(f"{found[1]}.{found[2] or '5'}"), 0.0 if found[2] else 0.5)


def compare_clock(now: Now, asked_at: float, answered_at: float, *, synchronised: bool | None = None) -> Clock:
    """Return the difference of the server's clock to the workstation's.

    Args:
        now: the time of the server.
        asked_at: when the workstation asked, in seconds since 1970.
        answered_at: when the workstation had the answer, in seconds since 1970.
        synchronised: whether a time server keeps the server's clock; None if that is not known.
    """
    off = max(answered_at - asked_at, 0.0) / 2 + now.rounding
    return Clock(now.seconds - (asked_at + answered_at) / 2, off, synchronised)


def parse_synchronised(text: str) -> bool | None:
    """Return whether a time server keeps the clock; None if no program there knows."""
    return True if _YES.search(text) else False if _NO.search(text) else None


NOW = Section("clock", "clock", ("date", "-u", "+now=%s.%N"), parse_now, deadline=3)
SYNCHRONISED = Section(
    "time-sync", "time synchronisation", ("clock_sync_facts", "/run/systemd/system"), parse_synchronised
)
