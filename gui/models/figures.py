"""What a finished move or rehearsal has come to: a figure a tile, beside what was planned."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import units
from core.api.model import ExecutionState
from core.language import tr
from core.migration.model.execution import State
from core.tones import Tone
from gui.models.words import counted, span

if TYPE_CHECKING:
    from core.api.execution import Downtime


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its name, and what it is to be compared with; `tone`: where it is good or worth a look."""

    name: str
    value: str
    detail: str
    tone: Tone | None = None


def figures(state: ExecutionState) -> tuple[Figure, ...]:
    """Return the figures of an execution that is done or rolled back; none of any other."""
    found, down = state.figures, state.downtime
    if found is None:
        return ()
    made: list[Figure] = []
    if down is not None and down.ended_at is not None:
        made.append(_downtime(down, rolled_back=_rolled_back(state)))
    if found.forecast is not None:
        likely = units.duration(found.forecast.likely)
        made.append(
            Figure(tr("Downtime of the move"), likely, tr("estimate: {interval}").format(interval=span(found.forecast)))
        )
    if found.files_verified is not None:
        made.append(Figure(tr("Files verified"), units.count(found.files_verified), tr("0 differences"), Tone.GOOD))
    if found.passes or not _rolled_back(state):
        steps = counted(found.passes, "in {number} step", "in {number} steps")
        made.append(Figure(tr("Copied"), units.size(found.sent), steps))
    if found.copy_rate is not None:
        made.append(Figure(tr("Throughput"), units.rate(found.copy_rate), tr("first full pass")))
    others = (found.seconds or 0.0) - found.command_seconds
    said = _held_against_plan(found.command_seconds, found.expected_seconds, others)
    made.append(Figure(tr("Duration"), units.duration(found.seconds), said))
    return tuple(made)


def _rolled_back(state: ExecutionState) -> bool:
    return state.execution is not None and state.execution.state is State.ROLLED_BACK


def _downtime(down: "Downtime", *, rolled_back: bool) -> Figure:
    """The downtime. Only that of a move that is done is held against the plan, and without what people took."""
    shown = units.duration(down.seconds)
    if rolled_back:
        return Figure(tr("Downtime"), shown, tr("until the old cluster ran again"))
    late = down.expected_seconds is not None and down.command_seconds > down.expected_seconds
    said = _held_against_plan(down.command_seconds, down.expected_seconds, down.people_seconds)
    return Figure(tr("Downtime"), shown, said, Tone.WARNING if late else Tone.GOOD)


def _held_against_plan(commands: float, planned: float | None, others: float) -> str:
    """What was planned for the commands; how long they took, too, where the whole holds more than a moment of others.

    Args:
        commands: seconds in which they ran.
        planned: the seconds planned for them; None if none were.
        others: further seconds of the whole, of people and between the steps.
    """
    if planned is None:
        return ""
    said = tr("planned: {seconds}").format(seconds=units.duration(planned))
    if others < 1:
        return said
    return tr("commands: {commands}, {planned}").format(commands=units.duration(commands), planned=said)
