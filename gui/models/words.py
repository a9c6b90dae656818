"""Words that several models share."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from core import units
from core.language import ENGLISH, current, marked, tr, tr_counted
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Span, bottleneck_title, method_title
from core.migration.model.probe import Quantity
from core.migration.model.standing import Condition
from core.sides import Side
from core.text import capital
from core.tones import Tone

if TYPE_CHECKING:
    from core.migration.model.move import Move

_ABBREVIATIONS = {"iops": "IOPS", "cpu": "CPU", "p999": "p99.9", "p9999": "p99.99"}
_SIDES = {Side.OLD: marked("old server"), Side.NEW: marked("new server")}
_NAMED_SIDES = {Side.OLD: marked("{server} (old)"), Side.NEW: marked("{server} (new)")}
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

_NAME = r"(?:'[^']*'|\"[^\"]*\"|[^\s`]+?)(?=[;,.:)]*(?:[\s`]|$))"
_EXECUTE = rf"(?:pghaul execute {_NAME} )?"


def _typed(pattern: str, button: str) -> tuple[re.Pattern[str], str]:
    """Return what is told to type, in backticks or not, and the button or the page that does it here."""
    return re.compile(f"`?{pattern}`?"), button


_OPEN_PAGE = marked(r"Open the page \g<page>.")
_BY_BUTTON = (
    # what a report says of a gap (core/reports/words.py), which a page of the window fills without a new report
    _typed(
        rf"Run pghaul [a-z]+ {_NAME}, or open the page (?P<page>[\w ]+) in the window\. Then create .* again\.",
        _OPEN_PAGE,
    ),
    _typed(
        rf"pghaul [a-z]+ {_NAME} ausführen oder im Fenster die Seite (?P<page>[\w ]+) öffnen\. Danach [^.]*\.",
        _OPEN_PAGE,
    ),
    _typed(rf"pghaul execute {_NAME} --status --json", marked("the page Move")),
    _typed(rf"{_EXECUTE}--resume(?: --client-route '[^']*')?(?![\w-])", marked("Continue")),
    _typed(rf"{_EXECUTE}--rollback(?![\w-])", marked("Roll back")),
    _typed(rf"{_EXECUTE}--cancel(?![\w-])", marked("Cancel and clean up")),
    _typed(rf"{_EXECUTE}--dress-rehearsal(?: --start-over)?(?![\w-])", marked("Dress rehearsal")),
    _typed(rf"{_EXECUTE}--rehearsal(?: --start-over)?(?![\w-])", marked("Copy rehearsal")),
    _typed(rf"{_EXECUTE}--start-over(?![\w-])", marked("Start the move")),
    _typed(rf"{_EXECUTE}--status(?![\w-])", marked("the page Move")),
    _typed(rf"pghaul execute {_NAME}", marked("Start the move")),
    _typed(rf"pghaul facts {_NAME}`?(?= (?:shows|es zeigt|sie zeigt))", marked("the page Facts")),
    _typed(rf"pghaul facts {_NAME}", marked("Read facts")),
    _typed(rf"pghaul check {_NAME}", marked("Run the checks")),
    _typed(rf"pghaul probe {_NAME}(?: --[a-z]+(?: \d+h)?)*", marked("Transfer test")),
    _typed(rf"pghaul bench {_NAME}(?: --volume {_NAME})?", marked("Start benchmarks")),
    _typed(rf"pghaul move hook {_NAME} {_NAME} --side {_NAME} --command …", marked("Hooks")),
    _typed(r"pghaul move add --replace(?: … --tablespace [^`]*)?", marked("Edit the move")),
    _typed(r"--tablespace (?:FOLDER=TARGET|ORDNER=ZIEL)", marked("its location on the new server")),
    _typed(r"(?:with|mit): pghaul move add(?! )", marked("on the page Moves")),
    _typed(r"pghaul move add(?: …)?", marked("New move")),
    _typed(r"pghaul server add", marked("Add a server")),
    _typed(r"pghaul survey LIST", marked("Choose a list")),
    _typed(r" \| pghaul server import -", marked(" > inventory.json`")),  # within backticks
    _typed(
        r"(?:change it with|mit) --replace(?: ändern)?(?![\w-])",
        marked("survey the list again, and let it change known servers and moves"),
    ),
    _typed(r", (?:or replace it with|oder die Datei ersetzen:) --replace(?![\w-])", ""),
    _typed(r" (?:with|mit) --name NAME", ""),
    _typed(r" (?:with|mit) --reason(?![\w-])", ""),
    _typed(r" (?:with|mit) --read-iops (?:and its likes|und ähnlichen Optionen)", ""),
    _typed(rf"pghaul history (?:commands --move|runs?) {_NAME}(?: --json)?", marked("the page History")),
    _typed(r"pghaul history list(?![\w-])", marked("the page History")),
    _typed(rf"pghaul report {_NAME} -o {_NAME}", marked("Save report")),
    _typed(r"see --confirm(?![\w-])", marked("type it exactly as shown in the question")),
    _typed(r" \(--verify \w+\)", ""),
    _typed(r"--verify changed(?![\w-])", marked("a verification of changed files")),
    _typed(r"--verify all(?![\w-])", marked("a verification of all files")),
    _typed(r"(?<= )-j(?= (?:does|ändert))", marked("a larger number of jobs")),
)


def use_window_terms(text: str) -> str:
    """Replace commands in a sentence of core by the buttons that do the same in the window."""
    if "-" not in text and "pghaul" not in text:
        return text
    for typed, button in _BY_BUTTON:
        text = typed.sub(tr(button), text)
    return text


def status_tone(result: CheckResult) -> Tone | None:
    """Return the tone of the status of a check; None for a waived warning.

    An unknown that cannot stop the move needs no action, so it is not a warning.
    """
    if result.waiver is not None:
        return None
    if result.stops:
        return Tone.BAD
    if result.pending:
        return Tone.WARNING
    return {Status.WARNING: Tone.WARNING, Status.PASS: Tone.GOOD}.get(result.status, Tone.MUTED)


def escape_mnemonics(name: str) -> str:
    """Return a name as it is written on a button, where `&` would mark the key."""
    return name.replace("&", "&&")


NAME_LETTERS = 40
"""So much of the name of a server stands on a button or in a large line."""


def shortened(name: str) -> str:
    """Return a name that leaves room for what stands beside it: of a very long one the beginning and the end."""
    half = (NAME_LETTERS - 1) // 2
    return name if len(name) <= NAME_LETTERS else f"{name[:half]}…{name[-half:]}"


def moment(at: datetime | None) -> str:
    """Return a point in time in the time zone of the workstation."""
    return units.ABSENT if at is None else at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def minute(at: datetime) -> str:
    """Return a point in time in the time zone of the workstation, to the minute."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def day(at: datetime) -> str:
    """Return the day in the time zone of the workstation."""
    return at.astimezone().strftime("%Y-%m-%d")


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


def side_name(side: Side, server: str = "") -> str:
    """Return the server of that side: `db1 (old)`, or `old server` where its name is not known."""
    return tr(_NAMED_SIDES[side]).format(server=server) if server else tr(_SIDES[side])


def side_names(move: "Move | None") -> tuple[str, str]:
    """Return the names of the old and the new server of a move, within a sentence or as a label."""
    servers = ("", "") if move is None else (move.old, move.new)
    return side_name(Side.OLD, servers[0]), side_name(Side.NEW, servers[1])


def plain_names(move: "Move | None") -> tuple[str, str]:
    """Return the names of both servers where colours say which is which; with their sides where they are one server."""
    return (move.old, move.new) if move is not None and move.old != move.new else side_names(move)


def side_head(side: Side, server: str) -> str:
    """Return the server of that side as the head of a column."""
    return side_name(side, server) if server else capital(side_name(side))


def condition_name(condition: Condition) -> str:
    """Return how a milestone stands, in a few words."""
    return tr(_CONDITIONS[condition])


def quantity_name(quantity: Quantity) -> str:
    """Return the name of what a probe measures."""
    return tr(_QUANTITIES[quantity])


def bound_name(bound: str) -> str:
    """Return the name of what limits a stage of an estimate."""
    return tr(bottleneck_title(bound))


def method_name(method: str) -> str:
    """Return the name of a method."""
    return tr(method_title(method))


def in_sentence(name: str) -> str:
    """Return a name as it is written within a sentence."""
    return name.lower() if current() == ENGLISH else name


def span(value: Span) -> str:
    """Return the range as `low – high`, each as a duration."""
    return f"{units.duration(value.low)} – {units.duration(value.high)}"


def stated(value: Span) -> str:
    """Return the likely duration with its range: `24 s (20 s – 30 s)`."""
    return f"{units.duration(value.likely)} ({span(value)})"


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
