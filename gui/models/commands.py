"""The commands and notes of this session, oldest first."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core import units
from core.jobs import CommandEnded, CommandStarted, Event, Note
from core.language import tr
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import clock, moment

if TYPE_CHECKING:
    from core.history.store import Command

MOST = 5000
TRIM = 1000


@dataclass(frozen=True, slots=True)
class Line:
    """A command, or a note without a server and a user. `seconds` None: the command is running or, if `earlier`, its
    end is unknown.
    """

    at: datetime
    server: str
    user: str
    text: str
    exit_status: int | None = None
    seconds: float | None = None
    level: str = "command"
    earlier: bool = False
    title: str = ""


def add(lines: list[Line], events: Iterable[Event]) -> bool:
    """Add the commands and notes of these events, and return whether there were any.

    The end of a command belongs to the newest line that waits for it. Most events only report progress.
    """
    telling = [event for event in events if isinstance(event, CommandStarted | CommandEnded | Note)]
    for event in telling:
        if isinstance(event, CommandStarted):
            lines.append(Line(event.at, event.server, event.user, event.command, title=event.title))
        elif isinstance(event, Note):
            lines.append(Line(datetime.now(UTC), "", "", recorded(event.text), level=event.level))
        else:
            _end(lines, event)
    if len(lines) > MOST:
        del lines[: len(lines) - MOST + TRIM]
    return bool(telling)


def from_history(commands: "Iterable[Command]") -> list[Line]:
    """Return the commands of earlier sessions, oldest first."""
    return [
        Line(one.at, one.server, one.user, one.command, one.exit_status, one.seconds, earlier=True, title=one.title)
        for one in commands
    ][::-1]


def _end(lines: list[Line], event: CommandEnded) -> None:
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if line.seconds is None and not line.earlier and line.server == event.server and line.text == event.command:
            lines[number] = replace(line, exit_status=event.exit_status, seconds=event.seconds)
            return


def _exit(line: Line) -> str:
    if line.level != "command":
        return ""
    if line.seconds is None:
        return tr("unknown") if line.earlier else tr("running")
    return tr("no exit status") if line.exit_status is None else str(line.exit_status)


def _tone(line: Line) -> Tone | None:
    if line.level == "warning":
        return Tone.WARNING
    if line.level != "command" or line.seconds is None:
        return Tone.MUTED
    return None if line.exit_status == 0 else Tone.WARNING


COLUMNS: tuple[Column[Line], ...] = (
    Column(
        "Time", lambda line: clock(line.at), tip=lambda line: moment(line.at), value=lambda line: line.at.timestamp()
    ),
    Column("Server", lambda line: line.server),
    Column("User", lambda line: line.user),
    Column("Exit status", _exit, right=True, tone=_tone, value=lambda line: line.exit_status),
    Column(
        "Duration",
        lambda line: "" if line.seconds is None else units.seconds(line.seconds),
        right=True,
        value=lambda line: line.seconds,
    ),
    Column("Purpose", lambda line: recorded(line.title), tone=_tone),
    Column("Command", lambda line: line.text, fixed=True, tone=_tone, width=Width.REST),
)
