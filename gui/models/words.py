"""Words that several models share."""

import re
from collections.abc import Iterable
from datetime import datetime

from core import units
from core.language import ENGLISH, current, marked, tr, tr_counted
from core.migration.model.checks import Status
from core.migration.model.estimate import Span
from core.migration.model.execution import Kind
from gui.appearance import Tone

STATUS_TONES = {
    Status.BLOCKER: Tone.BAD,
    Status.UNKNOWN: Tone.WARNING,
    Status.WARNING: Tone.WARNING,
    Status.PASS: Tone.GOOD,
}
METHODS = {
    "cold-copy": marked("Cold copy"),
    "warm-copy": marked("Warm copy"),
    "dump-restore": marked("Dump & restore"),
    "parallel-dump-restore": marked("Parallel dump & restore"),
    "streaming-replica": marked("Streaming replica"),
    "pg-upgrade-copy": marked("Warm copy, pg_upgrade by copies"),
    "pg-upgrade-clone": marked("Warm copy, pg_upgrade by clones"),
    "pg-upgrade-link": marked("Warm copy, pg_upgrade by links"),
}
EXECUTIONS = {Kind.REAL: marked("move"), Kind.REHEARSAL: marked("rehearsal")}
_ABBREVIATIONS = {"iops": "IOPS", "cpu": "CPU", "p50": "50 %", "p95": "95 %", "p99": "99 %", "p999": "99.9 %"}


_BY_BUTTON = (
    # what a command line is told to type, and the button that does it here
    (r"(?:pghaul execute \S+ )?--resume\b", marked("Continue")),
    (r"(?:pghaul execute \S+ )?--rollback\b", marked("Back to old")),
    (r"(?:pghaul execute \S+ )?--cancel\b", marked("Cancel and clean up")),
    (r"(?:pghaul execute \S+ )?--dress-rehearsal --start-over\b", marked("Dress rehearsal")),
    (r"(?:pghaul execute \S+ )?--rehearsal --start-over\b", marked("Rehearse")),
    (r"(?:pghaul execute \S+ )?--start-over\b", marked("Move")),
    (r"(?:pghaul execute \S+ )?--status\b", marked("the page Move")),
    (r"see --confirm\b", marked("type it as it stands in the question")),
)


def in_window(text: str) -> str:
    """A sentence of core's, with the window's own words for what a command line is told to type."""
    for typed, button in _BY_BUTTON:
        text = re.sub(typed, tr(button), text)
    return text


def moment(at: datetime | None) -> str:
    """A point in time in the user's own time zone."""
    return units.ABSENT if at is None else at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def age(at: datetime | None, now: datetime) -> str:
    """How long ago, in the largest unit alone: `12 s`, `5 min`, `3 h`, `12 d`; empty where it never was."""
    if at is None:
        return ""
    seconds = max(0.0, (now - at).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {tr(unit)}"
    return f"{seconds:.0f} s"


def metric_name(name: str) -> str:
    """`read_bytes_per_second` -> `read rate`, `write_latency_p99_seconds` -> `write latency 99 %`."""
    words = name.replace("bytes_per_second", "rate").replace("_per_second", "_rate").removesuffix("_seconds").split("_")
    return tr(" ".join(_ABBREVIATIONS.get(word, word) for word in words))


def method_name(method: str) -> str:
    """A method's name for people."""
    return tr(METHODS.get(method, method))


def in_sentence(name: str) -> str:
    """A name as it stands in the midst of a sentence."""
    return name.lower() if current() == ENGLISH else name


def span(value: Span) -> str:
    """`low – high`, each as a duration."""
    return f"{units.duration(value.low)} – {units.duration(value.high)}"


def yes_no(value: bool | None) -> str:
    """yes, no, or not known."""
    return units.ABSENT if value is None else tr("yes") if value else tr("no")


def counted(number: int, one: str, many: str) -> str:
    """`1 step`, `2 steps`: of `{number} step` and `{number} steps`."""
    return tr_counted(one, many, number).format(number=units.count(number))


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = words
    return tr("{words} and {last}").format(words=", ".join(first), last=last) if first else last


def capital(text: str) -> str:
    """The text as it begins a sentence."""
    return text[:1].upper() + text[1:]
