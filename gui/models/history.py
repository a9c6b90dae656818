"""The columns of the entries and commands of the history."""

from typing import TYPE_CHECKING

from core import units
from core.language import tr
from gui.appearance import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import moment

if TYPE_CHECKING:
    from core.history.store import Command, Entry


def _exit(row: "Command") -> str:
    if row.seconds is None:
        return tr("unknown")
    return tr("no exit status") if row.exit_status is None else str(row.exit_status)


ENTRY_COLUMNS: "tuple[Column[Entry], ...]" = (
    Column("Time", lambda row: moment(row.at), value=lambda row: row.at.timestamp()),
    Column("Kind", lambda row: tr(row.kind)),
    Column("Move", lambda row: row.move or units.ABSENT),
    Column("Property", lambda row: recorded(row.title), width=Width.REST),
    Column("Note", lambda row: row.note),
)
COMMAND_COLUMNS: "tuple[Column[Command], ...]" = (
    Column("Time", lambda row: moment(row.at), value=lambda row: row.at.timestamp()),
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
