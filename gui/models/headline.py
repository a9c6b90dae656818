"""The one large line of an execution: where it stands, which server serves the clients, and how long it may take."""

from dataclasses import dataclass
from datetime import datetime

from core import api, units
from core.api.model import ExecutionState
from core.language import marked, tr
from core.migration.model.execution import OVER, Execution, State
from core.migration.model.plan import Step
from core.migration.model.schedule import shown as shown_time
from core.sides import Side
from core.tones import Tone
from gui.models.execution import describe_end, name_of
from gui.models.schedule import left
from gui.models.sentences import recorded
from gui.models.steps import HEADLINES, Part, current_part
from gui.models.words import shortened

MoveStatus = api.execution.MoveStatus
Awaited = api.execution.Awaited
STANDS: dict[MoveStatus, str] = {
    MoveStatus.UNTOUCHED: marked("{old} online"),
    MoveStatus.FOUND_STOPPED: marked("{old} stopped"),
    MoveStatus.STOPPING: marked("{old} is being stopped"),
    MoveStatus.STOPPED: marked("{old} stopped"),
    MoveStatus.LOCAL_ONLY: marked("{old} stopped"),
    MoveStatus.FENCE_LIFTED: marked("{old} stopped"),
    MoveStatus.NOT_OPENED: marked("{old} stopped"),
    MoveStatus.OPENING: marked("{new} is being opened to clients"),
    MoveStatus.OPENED: marked("{new} online"),
    MoveStatus.OLD_STARTED: marked("{new} online, {old} was started again"),
    MoveStatus.MOVED: marked("{new} online"),
    MoveStatus.ROLLING_BACK: marked("{old} is being started again"),
    MoveStatus.ROLLED_BACK: marked("{old} online"),
}
"""Which server serves the clients, in a few words."""
STARTS, ASKS = marked("Starts at {time}, in {left}"), marked("Asks for the stop at {time}, in {left}")
TRIES_AGAIN = marked("A try failed. The next one begins at {time}, in {left}")
WAITS = {Awaited.START: STARTS, Awaited.QUESTION: ASKS, Awaited.NEXT_TRY: TRIES_AGAIN}
"""For which time it waits."""
WORTH_TELLING = 60.0
"""Seconds: a shorter time is no news where it is only the least that is left."""


_NOT_YET_ALL = 0.99
"""What a part that takes longer than expected shows until it is done."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A line and its tone."""

    text: str
    tone: Tone


def headline(state: ExecutionState, *, asked: bool) -> Headline | None:
    """Return the line; None where nothing was executed yet.

    Args:
        state: the execution.
        asked: whether the page asks a question of it.
    """
    execution = state.execution
    if execution is None:
        return None
    if execution.state in OVER:
        said = " ".join(map(recorded, api.execution.result_of(execution)))
        return Headline(said, Tone.GOOD if execution.state is State.DONE else Tone.WARNING)
    if not state.alive:
        text = tr("{what} {how}.").format(what=name_of(execution), how=describe_end(execution, alive=False))
        return Headline(text, Tone.BAD if _clients_wait(state) else Tone.WARNING)
    status = api.execution.move_status(execution)
    stands = _stands(execution, status)
    # what was asked before a rollback is asked no more, although its row stays open
    rolls_back = status is MoveStatus.ROLLING_BACK
    if asked or (not rolls_back and any(step.by_person for step in _under_way(execution))):
        return Headline(tr("Waiting for you: {stands}").format(stands=stands), Tone.WARNING)
    if rolls_back:
        return Headline(tr("Rollback: {stands}").format(stands=stands), Tone.BAD)
    waits = _clients_wait(state)
    planned = None if state.read_at is None else api.execution.find_wait(execution, state.read_at)
    if planned is not None and state.read_at is not None:
        waiting = tr(WAITS[planned.what]).format(time=shown_time(planned.at), left=left(planned.at, state.read_at))
        tone = Tone.WARNING if planned.what is Awaited.NEXT_TRY else Tone.ACCENT
        return Headline(f"{waiting}, {stands}", tone)
    shown = (_part(state, execution), stands, _left(state, execution))
    return Headline(", ".join(each for each in shown if each), Tone.BAD if waits else Tone.ACCENT)


def _clients_wait(state: ExecutionState) -> bool:
    return state.downtime is not None and state.downtime.ended_at is None


def _under_way(execution: Execution) -> list[Step]:
    runs = ((step, execution.latest(step.number)) for step in execution.steps_taken)
    return [step for step, run in runs if run is not None and run.ended_at is None and not run.void]


def _stands(execution: Execution, status: MoveStatus) -> str:
    old, new = (execution.plan.server(side) for side in (Side.OLD, Side.NEW))
    if status is MoveStatus.UNTOUCHED and api.execution.was_stopped_before(execution):
        status = MoveStatus.FOUND_STOPPED
    return tr(STANDS[status]).format(
        old=shortened(old) or tr("the old server"), new=shortened(new) or tr("the new server")
    )


def _part(state: ExecutionState, execution: Execution) -> str:
    """Return the part and, while the old cluster runs, how much of it is done; of the downtime a clock tells more."""
    part, steps = current_part(execution)
    name = tr(HEADLINES[part])
    if state.read_at is None or part is Part.DOWN:
        return name
    left, least = api.execution.seconds_left(execution, steps, state.read_at)
    spent = sum(_spent(execution, step, state.read_at) for step in steps)
    done = None if left is None or least else units.quotient(spent, spent + left)
    if done is None:
        return name
    most = 1.0 if all(execution.done(step.number) for step in steps) else _NOT_YET_ALL
    return f"{name} {round(min(most, max(0.0, done)) * 100)} %"


def _spent(execution: Execution, step: Step, now: datetime) -> float:
    """Return the seconds in which a command was under way."""
    run = execution.latest(step.number)
    if run is None or step.remote is None:
        return 0.0
    return units.seconds_between(run.started_at, run.ended_at or now) or 0.0


def _left(state: ExecutionState, execution: Execution) -> str:
    """Return how long all commands to come may take; empty where nothing tells."""
    if state.read_at is None:
        return ""
    left, least = api.execution.seconds_left(execution, execution.steps_taken, state.read_at)
    if not units.known(left) or (least and left < WORTH_TELLING):
        return ""
    seconds = units.time_left(left)
    return (tr("at least {seconds} left") if least else tr("about {seconds} left")).format(seconds=seconds)
