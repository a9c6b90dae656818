"""Words that several models share."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from core import units
from core.language import ENGLISH, current, marked, tr, tr_counted
from core.migration.model.checks import Status
from core.migration.model.estimate import Span, method_title
from core.migration.model.probe import Quantity
from core.migration.model.standing import Condition
from gui.appearance import Tone

if TYPE_CHECKING:
    from core.sides import Side

STATUS_TONES = {
    Status.BLOCKER: Tone.BAD,
    Status.UNKNOWN: Tone.WARNING,
    Status.WARNING: Tone.WARNING,
    Status.PASS: Tone.GOOD,
}
_ABBREVIATIONS = {"iops": "IOPS", "cpu": "CPU", "p999": "p99.9"}
_SIDES = {"old": marked("old server"), "new": marked("new server")}
_CONDITIONS = {
    Condition.OPEN: marked("to do"),
    Condition.UNDER_WAY: marked("running"),
    Condition.DONE: marked("done"),
    Condition.STALE: marked("out of date"),
    Condition.WARNING: marked("with warnings"),
    Condition.BLOCKED: marked("blocked"),
}
_QUANTITIES = {
    Quantity.READ: marked("Read from the old storage"),
    Quantity.WIRE: marked("Network"),
    Quantity.SSH: marked("SSH encryption"),
    Quantity.WRITE: marked("Write to the new storage"),
    Quantity.SUMS: marked("Checksums"),
    Quantity.SUSTAINED: marked("Sustained write to the new storage"),
    Quantity.END_TO_END: marked("Whole transfer"),
    Quantity.CHANGES: marked("Changes of the old cluster (WAL)"),
    Quantity.DUMP: marked("COPY from the old cluster"),
    Quantity.LOAD: marked("COPY into the new cluster"),
    Quantity.INDEX: marked("Index build on the new server"),
}
_BOUNDS = {
    "cpu": marked("CPU"),
    "files": marked("number of files"),
    "new cpu": marked("CPU of the new server"),
    "new disk": marked("disk of the new server"),
    "objects": marked("number of objects"),
    "observed rate": marked("measured rate"),
    "old cpu": marked("CPU of the old server"),
    "old disk": marked("disk of the old server"),
    "round trips": marked("network round trips"),
    "wire": marked("network"),
}
"""What limits a stage of an estimate, by its id."""


_BY_BUTTON = (
    # what a command line is told to type, and the button that does it here
    (r"(?:pghaul execute \S+ )?--resume\b", marked("Continue")),
    (r"(?:pghaul execute \S+ )?--rollback\b", marked("Roll back")),
    (r"(?:pghaul execute \S+ )?--cancel\b", marked("Cancel and clean up")),
    (r"(?:pghaul execute \S+ )?--dress-rehearsal --start-over\b", marked("Dress rehearsal")),
    (r"(?:pghaul execute \S+ )?--rehearsal --start-over\b", marked("Copy rehearsal")),
    (r"(?:pghaul execute \S+ )?--start-over\b", marked("Move")),
    (r"(?:pghaul execute \S+ )?--status\b", marked("the page Move")),
    (r"see --confirm\b", marked("type it exactly as shown in the question")),
)


def use_window_terms(text: str) -> str:
    """Replace commands in a sentence of core by the buttons that do the same in the window."""
    for typed, button in _BY_BUTTON:
        text = re.sub(typed, tr(button), text)
    return text


def moment(at: datetime | None) -> str:
    """Return a point in time in the time zone of the workstation."""
    return units.ABSENT if at is None else at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def minute(at: datetime) -> str:
    """Return a point in time in the time zone of the workstation, to the minute."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def clock(at: datetime) -> str:
    """Return the time of day in the time zone of the workstation."""
    return at.astimezone().strftime("%H:%M:%S")


def age(at: datetime | None, now: datetime) -> str:
    """Return how long ago it was in the largest unit, such as `12 s` or `3 h`; empty for None."""
    if at is None:
        return ""
    seconds = max(0.0, (now - at).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {tr(unit)}"
    return f"{seconds:.0f} s"


def metric_name(name: str) -> str:
    """Return the name of a metric: `read_bytes_per_second` becomes `read rate`, and so on."""
    words = name.replace("bytes_per_second", "rate").replace("_per_second", "_rate").removesuffix("_seconds").split("_")
    return tr(" ".join(_ABBREVIATIONS.get(word, word) for word in words))


def metric_value(name: str, value: float | None) -> str:
    """Return the value of a metric with its unit: `812 MB/s`, `1 200 IOPS`."""
    return units.metric(name, value)


def side_name(side: "Side") -> str:
    """Return `old server` or `new server`."""
    return tr(_SIDES[side])


def condition_name(condition: Condition) -> str:
    """Return how a milestone stands, in a few words."""
    return tr(_CONDITIONS[condition])


def quantity_name(quantity: Quantity) -> str:
    """Return the name of what a probe measures."""
    return tr(_QUANTITIES[quantity])


def bound_name(bound: str) -> str:
    """Return the name of what limits a stage of an estimate."""
    return tr(_BOUNDS.get(bound, bound))


def method_name(method: str) -> str:
    """Return the name of a method."""
    return tr(method_title(method))


def in_sentence(name: str) -> str:
    """Return a name as it is written within a sentence."""
    return name.lower() if current() == ENGLISH else name


def span(value: Span) -> str:
    """Return the range as `low – high`, each as a duration."""
    return f"{units.duration(value.low)} – {units.duration(value.high)}"


def yes_no(value: bool | None) -> str:
    """Return yes, no, or a dash if it is unknown."""
    return units.ABSENT if value is None else tr("yes") if value else tr("no")


def counted(number: int, one: str, many: str) -> str:
    """Return `1 step` or `2 steps`, from `{number} step` and `{number} steps`."""
    return tr_counted(one, many, number).format(number=units.count(number))


def listed(words: Iterable[str]) -> str:
    """Return a list as `a, b and c`."""
    *first, last = words
    return tr("{words} and {last}").format(words=", ".join(first), last=last) if first else last


def capital(text: str) -> str:
    """Return the text as it begins a sentence."""
    return text[:1].upper() + text[1:]
