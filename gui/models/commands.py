"""The commands of this session and what the work said beside them, oldest first."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core import units
from core.jobs import CommandEnded, CommandStarted, Event, Note
from core.language import tr
from gui.appearance import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import moment

if TYPE_CHECKING:
    from core.history.store import Command

MOST = 5000
TRIM = 1000


@dataclass(frozen=True, slots=True)
class Line:
    """A command, or a note (server and user empty). `seconds` None: it runs, or, `earlier`, its end was not seen."""

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
    """Add what the events say; the end of a command goes to the newest line that still waits for it.

    Whether any of them says something: most only tell how far the work is.
    """
    telling = [event for event in events if isinstance(event, CommandStarted | CommandEnded | Note)]
    for event in telling:
        if isinstance(event, CommandStarted):
            lines.append(Line(event.at, event.server, event.user, event.command, title=event.title))
        elif isinstance(event, Note):
            lines.append(Line(datetime.now(UTC), "", "", event.text, level=event.level))
        else:
            _end(lines, event)
    if len(lines) > MOST:
        del lines[: len(lines) - MOST + TRIM]
    return bool(telling)


def from_history(commands: "Iterable[Command]") -> list[Line]:
    """The commands of earlier sessions; they come newest first."""
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
        return tr("not seen") if line.earlier else tr("running")
    return tr("cut off") if line.exit_status is None else str(line.exit_status)


def _tone(line: Line) -> Tone | None:
    if line.level == "warning":
        return Tone.WARNING
    if line.level != "command" or line.seconds is None:
        return Tone.MUTED
    return None if line.exit_status == 0 else Tone.WARNING


COLUMNS: tuple[Column[Line], ...] = (
    Column("Time", lambda line: moment(line.at).split(" ")[1], tip=lambda line: moment(line.at)),
    Column("Server", lambda line: line.server),
    Column("User", lambda line: line.user),
    Column("Exit", _exit, right=True, tone=_tone),
    Column("Took", lambda line: "" if line.seconds is None else units.seconds(line.seconds), right=True),
    Column("What for", lambda line: recorded(line.title), tone=_tone),
    Column("Command", lambda line: line.text, fixed=True, tone=_tone, width=Width.REST),
)
