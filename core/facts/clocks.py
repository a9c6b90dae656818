"""How far a server's clock is from the workstation's, and whether a time server keeps it.

The server's time is asked for first of all in a round trip. It was read between the moment when the question left and
the moment when the answer came; the middle of the two is taken, and half of their distance is what it may be wrong by.
"""

import re

from core.facts.host_environment import Clock
from core.facts.sections import Section
from core.facts.text import first_line, unreadable
from core.servers.shell import script

# An old or small `date` knows no %N and leaves it as it stands.
NOW = Section("clock", script("date -u +now=%s.%N"), deadline=3)
SYNCHRONISED = Section(
    "time-sync",
    script("""if test -d /run/systemd/system; then timedatectl show -p NTPSynchronized 2>/dev/null || timedatectl
elif command -v chronyc >/dev/null; then chronyc -n tracking
elif command -v ntpstat >/dev/null; then ntpstat && echo "synchronised=yes" || echo "synchronised=no"
fi"""),
)

ANSWER = re.compile(rb"now=[0-9.%N]+\n")
"""The line that tells the time, as it stands in the stream of a round trip."""
_NOW = re.compile(r"now=([0-9]{1,12})(?:\.([0-9]{1,9}))?\S*")
_YES = re.compile(r"(?:NTPSynchronized|synchronised)=yes|synchronized: yes|Leap status\s*:\s*Normal", re.IGNORECASE)
_NO = re.compile(r"(?:NTPSynchronized|synchronised)=no|synchronized: no|Not synchronised", re.IGNORECASE)


def parse_clock(text: str, asked_at: float, answered_at: float) -> Clock:
    """The clock from `now=SECONDS.NANOSECONDS`; both moments are the workstation's, in seconds since 1970.

    Raises:
        ParseError: there is no such line.
    """
    found = _NOW.fullmatch(first_line(text).strip())
    if found is None or answered_at < asked_at:
        raise unreadable("date", "seconds since 1970", first_line(text))
    told = float(f"{found[1]}.{found[2] or '5'}")
    rounding = 0.0 if found[2] else 0.5
    return Clock(told - (asked_at + answered_at) / 2, (answered_at - asked_at) / 2 + rounding)


def parse_synchronised(text: str) -> bool | None:
    """Whether a time server keeps the clock; None where nothing that would know is there."""
    return True if _YES.search(text) else False if _NO.search(text) else None
