"""The columns of the entries and commands of the history."""

from typing import TYPE_CHECKING

from core import units
from core.language import marked, tr
from core.migration.model.execution import State
from core.migration.model.probe import Quantity
from core.text import capital
from core.tones import Tone
from gui.models.execution import state_name
from gui.models.sentences import compared, recorded
from gui.models.table import Column, Width
from gui.models.words import clock, day, moment, quantity_name

if TYPE_CHECKING:
    from core.history.store import Command, Entry


_NAMES = {
    "move": marked("New move"),
    "checks": marked("Checks"),
    "estimate": marked("Estimate"),
    "plan": marked("Plan"),
    "report": marked("Report"),
}
"""What was done, by the kind of the entry."""
KIND_NAMES = {
    "move": marked("Moves"),
    "facts": marked("Facts"),
    "run": marked("Benchmark runs"),
    "probe": marked("Transfer tests"),
    "checks": marked("Checks"),
    "estimate": marked("Estimates"),
    "plan": marked("Plans"),
    "execution": marked("Executions"),
    "waiver": marked("Waivers"),
    "report": marked("Reports"),
}
"""The name of all entries of a kind."""
_TONES = {
    "done": Tone.GOOD,
    "failed": Tone.BAD,
    State.STOPPED: Tone.BAD,
    State.INTERRUPTED: Tone.BAD,
    State.CANCELLED: Tone.WARNING,
    State.PAUSED: Tone.WARNING,
    State.ROLLED_BACK: Tone.WARNING,
}
"""The tone of how a run or an execution ended."""


def _exit(row: "Command") -> str:
    if row.seconds is None:
        return tr("unknown")
    return tr("no exit status") if row.exit_status is None else str(row.exit_status)


def what(entry: "Entry") -> str:
    """Return the name of what was done."""
    match entry.kind:
        case "run":
            return tr("Benchmark on {server}: {workload}").format(server=entry.server, workload=tr(entry.subject))
        case "probe":
            return tr("Transfer test: {quantity}").format(quantity=_quantity(entry.subject))
        case "facts":
            return tr("Facts of {server}").format(server=entry.server)
        case "execution":
            return capital(tr(entry.subject))
        case "waiver":
            return tr("Waiver of the check {check}").format(check=entry.subject)
        case _:
            return tr(_NAMES.get(entry.kind, entry.kind))


def _quantity(name: str) -> str:
    return quantity_name(Quantity(name)) if name in {*Quantity} else name


def result(entry: "Entry") -> str:
    """Return how it ended, or what it found."""
    if entry.kind == "execution" and entry.result in {*State}:
        return capital(state_name(State(entry.result)))
    if entry.bytes_per_second is not None:
        return units.rate(entry.bytes_per_second)
    if entry.kind == "plan":  # the name of a program begins it
        return compared(entry.result)
    return capital(compared(entry.result)) if entry.kind in {"run", "checks"} else entry.result


def _tone(entry: "Entry") -> Tone | None:
    return _TONES.get(entry.result) if entry.kind in {"run", "execution"} else None


ENTRY_COLUMNS: "tuple[Column[Entry], ...]" = (
    Column("Day", lambda row: day(row.at), value=lambda row: row.at.timestamp(), grouped=True, width=Width.WHOLE),
    Column("Time", lambda row: clock(row.at), value=lambda row: row.at.timestamp(), width=Width.WHOLE),
    Column("What", what, width=Width.REST),
    Column("Result", result, tone=_tone),
    Column(
        "Took",
        lambda row: "" if row.seconds is None else units.duration(row.seconds),
        right=True,
        value=lambda row: row.seconds,
    ),
    Column("Move", lambda row: row.move or units.ABSENT),
    Column("Note", lambda row: row.note),
)
COMMAND_COLUMNS: "tuple[Column[Command], ...]" = (
    Column("Time", lambda row: moment(row.at), width=Width.WHOLE, value=lambda row: row.at.timestamp()),
    Column("Server", lambda row: row.server),
    Column("User", lambda row: row.user),
    Column(
        "Exit status",
        _exit,
        right=True,
        tone=lambda row: None if row.exit_status == 0 else Tone.WARNING,
        value=lambda row: row.exit_status,
    ),
    Column(
        "Duration",
        lambda row: "" if row.seconds is None else units.seconds(row.seconds),
        right=True,
        value=lambda row: row.seconds,
    ),
    Column("Purpose", lambda row: recorded(row.title)),
    Column("Command", lambda row: row.command, fixed=True, width=Width.REST),
)
