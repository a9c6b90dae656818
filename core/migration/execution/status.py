"""How an execution leaves both clusters, and what may be done next: the same on every page and in every list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum, auto

from core import units
from core.language import marked
from core.migration.execution.timeline import Downtime, describe_position, downtime, status_of
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, ENDED_EARLY, RUNS_AGAIN, UNKNOWN_ROOT, Execution, Kind, State
from core.migration.model.move import Hook
from core.migration.model.plan import Step
from core.servers.shell import quoted
from core.sides import Side
from core.text import lines_of


class MoveStatus(Enum):
    """How the clusters on both servers stand."""

    UNTOUCHED = auto()
    FOUND_STOPPED = auto()
    """The old cluster was stopped before, and is kept from starting."""
    STOPPING = auto()
    """The stop of the old cluster has begun, and nobody saw its end."""
    STOPPED = auto()
    LOCAL_ONLY = auto()
    """The new cluster runs, for local connections only."""
    FENCE_LIFTED = auto()
    """The local-only start is over, or about to be, and the cutover has not begun."""
    NOT_OPENED = auto()
    OPENING = auto()
    """The cutover has begun, and nobody saw its end."""
    OPENED = auto()
    """Clients can connect to the new cluster; steps of the plan are left."""
    OLD_STARTED = auto()
    """So they can, and when it was looked at last somebody had started the old one."""
    MOVED = auto()
    ROLLING_BACK = auto()
    """A rollback has begun and not ended."""
    ROLLED_BACK = auto()


class NextOption(StrEnum):
    """An option of `pghaul execute` that continues or ends an execution."""

    RESUME = "resume"
    ROLLBACK = "rollback"
    CANCEL = "cancel"
    START_OVER = "start-over"


SENTENCES = {
    MoveStatus.UNTOUCHED: marked("The old cluster is as before."),
    MoveStatus.FOUND_STOPPED: marked(
        "The old cluster was stopped before this began, and its fence keeps it from starting."
    ),
    MoveStatus.STOPPING: marked("The old cluster is stopped, or about to be."),
    MoveStatus.STOPPED: marked("The old cluster is stopped."),
    MoveStatus.LOCAL_ONLY: marked(
        "The old cluster is stopped, and the new cluster runs for local connections only. Clients cannot connect to it."
    ),
    MoveStatus.FENCE_LIFTED: marked(
        "The old cluster is stopped. The local-only start of the new cluster has ended, or is about to end, and the "
        "cutover has not begun. No client can connect, unless the new server was restarted and has started the new "
        "cluster."
    ),
    MoveStatus.NOT_OPENED: marked(
        "The old cluster is stopped, and so is the new one, because the cutover failed. No client could connect to it."
    ),
    MoveStatus.OPENING: marked(
        "The cutover has begun, and its end was not seen. Check whether the new cluster runs. The old cluster stays "
        "stopped."
    ),
    MoveStatus.OPENED: marked(
        "Clients can connect to the new cluster. The old cluster stays stopped. Some steps of the move are left."
    ),
    MoveStatus.OLD_STARTED: marked(
        "Clients can connect to the new cluster, and somebody has started the old cluster again. Stop the old cluster. "
        "What clients have written to it in the meantime is not on the new server."
    ),
    MoveStatus.MOVED: marked(
        "Clients can connect to the new cluster. The old cluster is stopped, and its fence keeps it from starting."
    ),
    MoveStatus.ROLLING_BACK: marked("A rollback has begun and not ended. Check whether the old cluster runs."),
    MoveStatus.ROLLED_BACK: marked(
        "The move was rolled back to the old server. The cluster does not run on the new server."
    ),
}
"""What people read of each."""

_DATA_ROOT_CHECKS = frozenset(
    {step_ids.RECORD_DATA_ROOTS, step_ids.CHECK_DATA_ROOTS, step_ids.CHECK_DATA_ROOTS_STOPPED}
)

APPLICATIONS_STOPPED = marked(
    "The old cluster is as before. If this takes long, start again what was stopped for the move."
)
"""What people read where the old cluster runs, and the applications were stopped for the move."""

UNSEEN = frozenset({MoveStatus.OPENING, MoveStatus.ROLLING_BACK})
"""Where nobody who is not at it knows whether clients have a cluster again."""


def may_have_stopped_old(execution: Execution) -> bool:
    """Whether it may have stopped old, or kept it from starting: by its stop or, of a stopped cluster, its fence."""
    if execution.kind is Kind.REHEARSAL:
        return False
    named = (
        {step_ids.FENCE_OLD} if was_stopped_before(execution) else {step_ids.STOP_OLD_CLUSTER, step_ids.CHECK_STOPPED}
    )
    holding = {step.number for step in execution.plan.steps if step.id in named}
    return any(run.number in holding and not run.back for run in execution.steps)


def facts_hold(execution: Execution, taken_at: datetime) -> bool:
    """Return whether facts of the old server, read at that time, can still tell whether the old cluster is running.

    They cannot if the move has stopped it since, or may stop it again, or has started it in a rollback.
    """
    if not may_have_stopped_old(execution):
        return True
    return execution.ended_at is not None and taken_at > execution.ended_at


def was_stopped_before(execution: Execution) -> bool:
    """Whether the old cluster was stopped already when the plan was made: then it proves the stop and has none of its
    own."""
    names = {step.id for step in execution.plan.steps}
    return step_ids.CHECK_STOPPED in names and step_ids.STOP_OLD_CLUSTER not in names


def runs_as_before(execution: Execution) -> bool:
    """Whether a rollback has looked at the port, the unit, the options and the settings of the old server, and all are
    what they were before the stop."""
    looks = [
        step for step in execution.plan.way_back if step.id in {step_ids.CHECK_OLD_RUNS, step_ids.COMPARE_OLD_SETTINGS}
    ]
    runs = [execution.latest(step.number, back=True) for step in looks]
    return len(looks) == len({step_ids.CHECK_OLD_RUNS, step_ids.COMPARE_OLD_SETTINGS}) and all(
        run is not None and run.done and not _has_warnings(run.output) for run in runs
    )


def _has_warnings(output: str) -> bool:
    return any(line.startswith("warning: ") for line in lines_of(output))


def describe_status(execution: Execution) -> str:
    """Whether the old cluster still serves, whether the new one runs, and what may be done."""
    return f"{describe_both_clusters(execution)} {suggest_next_commands(execution)}"


def next_options(execution: Execution) -> tuple[NextOption, ...]:
    """Return the options of `pghaul execute` that continue or end an execution, the recommended one first.

    A move or rehearsal that is done or rolled back has none.
    """
    if execution.state in {State.DONE, State.ROLLED_BACK}:
        return ()
    if execution.past_return:
        return (NextOption.RESUME,)
    stopped_old = may_have_stopped_old(execution)
    if execution.state in {State.RUNNING, State.INTERRUPTED}:
        return (NextOption.RESUME, NextOption.ROLLBACK if stopped_old else NextOption.CANCEL)
    if _lacks_data_root(execution):
        return (NextOption.ROLLBACK if stopped_old else NextOption.START_OVER,)
    if stopped_old:
        return (NextOption.RESUME, NextOption.ROLLBACK)
    if execution.kind is Kind.REHEARSAL:
        return (NextOption.RESUME, NextOption.START_OVER)
    return (NextOption.RESUME, NextOption.START_OVER, NextOption.ROLLBACK)


def suggest_next_commands(execution: Execution) -> str:
    """Return the sentences that tell people the next options of an execution; empty if there are none."""
    move, options = execution.move, next_options(execution)
    again = "--start-over"
    if execution.kind is Kind.REHEARSAL:
        again = f"{'--dress-rehearsal' if execution.dressed else '--rehearsal'} --start-over"
    match options:
        case ():
            return ""
        case (NextOption.ROLLBACK,):
            return (
                f"Roll back to the old server: pghaul execute {quoted(move)} --rollback. "
                "Then begin with a new plan: --start-over."
            )
        case (NextOption.START_OVER,):
            return f"Begin with a new plan: pghaul execute {quoted(move)} {again}."
    if NextOption.START_OVER not in options:
        others = {
            NextOption.CANCEL: " Or end it: --cancel.",
            NextOption.ROLLBACK: " Or roll back to the old server: --rollback.",
        }
        return f"Go on: pghaul execute {quoted(move)} --resume." + "".join(others[option] for option in options[1:])
    other = (
        f"Or leave the rehearsal, and move: pghaul execute {quoted(move)} --start-over."
        if execution.kind is Kind.REHEARSAL
        else "Or roll it back: --rollback."
    )
    return (
        f"Go on with it, which is the shortest: pghaul execute {quoted(move)} --resume. Or begin a new one, which "
        f"sends only what the new server lacks: {again}. {other} To see its steps: --status."
    )


def describe_completed_move(latest: Execution | None) -> str:
    """That a move is over, and what to copy once more would mean; empty of one that is not over."""
    if latest is None or latest.kind is not Kind.REAL or latest.state is not State.DONE or latest.cutover_at is None:
        return ""
    return (
        "This move was carried out: clients have been able to connect to the new cluster since "
        f"{latest.cutover_at:%Y-%m-%d %H:%M:%S} UTC (execution {latest.id}). Another copy "
        "from the old server would destroy what clients have written to the new "
        "cluster since then, so it begins only by --start-over. To see what was done: "
        f"pghaul execute {quoted(latest.move)} --status."
    )


def describe_both_clusters(execution: Execution) -> str:
    """Whether the old cluster still serves, and whether the new one runs; and what must be started for clients."""
    return APPLICATIONS_STOPPED if applications_stopped(execution) else SENTENCES[move_status(execution)]


def applications_stopped(execution: Execution) -> bool:
    """Whether an execution that ended early has had the applications stopped, and not the old cluster."""
    if execution.state not in ENDED_EARLY or may_have_stopped_old(execution):
        return False
    step = execution.plan.step(Hook.STOP_APPLICATIONS)
    return step is not None and execution.done(step.number)


def move_status(execution: Execution) -> MoveStatus:
    """What is so on both servers, by what has been done: the one source of whatever is said of it."""
    if execution.kind is Kind.REHEARSAL:
        return MoveStatus.UNTOUCHED
    if execution.state is State.DONE:
        return MoveStatus.MOVED
    if execution.state is State.ROLLED_BACK:
        return MoveStatus.ROLLED_BACK
    if execution.past_return:
        if _found_started(execution):
            return MoveStatus.OLD_STARTED
        return MoveStatus.OPENED if any(run.done for run in execution.openings) else MoveStatus.OPENING
    if execution.steps and execution.steps[-1].back:
        return MoveStatus.ROLLING_BACK
    if execution.openings:
        return MoveStatus.NOT_OPENED
    started = execution.plan.step(step_ids.START_LOCALLY)
    if started is not None and execution.done(started.number):
        return MoveStatus.FENCE_LIFTED if _lifts_fence(execution, started) else MoveStatus.LOCAL_ONLY
    if not may_have_stopped_old(execution):
        return MoveStatus.UNTOUCHED
    if was_stopped_before(execution):
        return MoveStatus.FOUND_STOPPED
    stopped = any(step.id == step_ids.CHECK_STOPPED and execution.done(step.number) for step in execution.plan.steps)
    return MoveStatus.STOPPED if stopped else MoveStatus.STOPPING


def _lifts_fence(execution: Execution, started: Step) -> bool:
    """Return whether the end of the local-only start has begun since the latest such start, which a resume repeats."""
    ending = execution.plan.step(step_ids.LIFT_FENCE)
    if ending is None:
        return False
    numbers = [run.number for run in execution.steps if run.number in {started.number, ending.number} and not run.back]
    return numbers[-1] == ending.number


def _found_started(execution: Execution) -> bool:
    """Whether the latest look at the old server after the opening has found that a server runs there."""
    look = execution.plan.step(step_ids.CHECK_OLD_STAYS_STOPPED)
    looks = [run for run in execution.steps if look is not None and run.number == look.number and not run.back]
    found = [run.exit_status for run in looks if run.exit_status != CANCELLED_STEP]  # such a one has found nothing
    return bool(found) and found[-1] == RUNS_AGAIN


def _lacks_data_root(execution: Execution) -> bool:
    """Whether its plan lacks a data root of the cluster: to go on with it would fail again."""
    proofs = {step.number for step in execution.plan.steps if step.id in _DATA_ROOT_CHECKS}
    latest = [run for run in execution.steps if run.number in proofs and not run.back]
    return bool(latest) and latest[-1].exit_status == UNKNOWN_ROOT


@dataclass(frozen=True, slots=True)
class Possible:
    """What a person may do with the latest execution of a move."""

    begin: bool
    resume: bool
    end: bool
    roll_back: bool


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The latest execution of a move, where it is under way, or has ended where it must not stay.

    Attributes:
        alive: whether a program of this workstation carries it out.
        at: where it is: the step, and how long the commands to come may take. The downtime is told by `stopped_at`.
        stands: both clusters, in a sentence.
        stopped_at: since when clients have no cluster; None: they have one, or nobody knows.
        expected_seconds: what the plan's commands are to take from the stop to the opening.
        old_server: the name of the old server; empty if the plan does not tell it.
        waits: it waits for a person to do a manual step, or to decide.
        unseen: nobody saw how its cutover or its rollback ended, so nobody knows whether clients have a cluster.
    """

    move: str
    id: int
    kind: Kind
    state: State
    alive: bool
    at: str
    stands: str
    stopped_at: datetime | None
    expected_seconds: float | None
    possible: Possible
    old_server: str = ""
    waits: bool = False
    unseen: bool = False

    @property
    def urgency(self) -> int:
        """The lower, the more urgent: it waits for a person, clients wait or may wait, it is under way, nobody is at
        it."""
        return 0 if self.waits else 1 if self.stopped_at is not None or self.unseen else 2 if self.alive else 3

    @property
    def grave(self) -> bool:
        """Whether clients wait, or nobody is at what was begun."""
        return self.stopped_at is not None or not self.alive


def possible(execution: Execution | None, *, alive: bool) -> Possible:
    """By how the execution stands; what is refused all the same says why."""
    if execution is None:
        return Possible(begin=True, resume=False, end=False, roll_back=False)
    over = execution.state in {State.DONE, State.ROLLED_BACK}
    interrupted = execution.state in {State.RUNNING, State.INTERRUPTED}
    moved = execution.state is State.DONE and execution.past_return
    held = may_have_stopped_old(execution) and not over
    return Possible(
        begin=not alive and not interrupted and not held and not moved,
        resume=not alive and not over,
        end=interrupted and (alive or not held),
        roll_back=not alive and execution.kind is Kind.REAL and not over and not execution.past_return,
    )


def unfinished(execution: Execution, now: datetime, *, alive: bool) -> Unfinished | None:
    """None: it is at its end, or it ended on its way and the old cluster serves as before."""
    under_way = execution.state in {State.RUNNING, State.INTERRUPTED}
    ended = execution.state in {State.DONE, State.ROLLED_BACK}
    if ended or not (under_way or may_have_stopped_old(execution)):
        return None
    down = known_downtime(execution, now, alive=alive)
    found = status_of(execution, now)
    return Unfinished(
        move=execution.move,
        id=execution.id,
        kind=execution.kind,
        state=execution.state,
        alive=alive,
        at=describe_position(found, downtime_said=True),
        stands=describe_both_clusters(execution),
        stopped_at=down.began_at if down is not None and down.ended_at is None else None,
        expected_seconds=down.expected_seconds if down is not None else None,
        possible=possible(execution, alive=alive),
        old_server=execution.plan.server(Side.OLD),
        waits=alive and not _rolls_back(execution) and any(step.by_person for step, _ in found.under_way),
        unseen=not alive and move_status(execution) in UNSEEN,
    )


def _rolls_back(execution: Execution) -> bool:
    """Whether the step that was begun last is one of the rollback: what was open before it is asked no more."""
    return bool(execution.steps) and execution.steps[-1].back


def explain_fixed_move(executions: Sequence[Execution]) -> str:
    """Return why the servers and paths of a move cannot be changed; empty where they can.

    Its executions, and what clients and the operator are told of them, count for these servers and paths.

    Args:
        executions: all of the move, the newest first. A later rehearsal or try does not undo a move that was carried
            out; a later rollback does.
    """
    over = (each for each in executions if each.kind is Kind.REAL and each.state in {State.DONE, State.ROLLED_BACK})
    last = next(over, None)
    if last is not None and last.state is State.DONE:
        return "The move was carried out."
    return explain_unfinished(executions[0]) if executions else ""


def explain_unfinished(latest: Execution) -> str:
    """Return why the latest execution of a move must go on or be rolled back; empty if it must not."""
    if latest.state in {State.DONE, State.ROLLED_BACK}:
        return ""
    if latest.state in {State.RUNNING, State.INTERRUPTED}:
        return f"Execution {latest.id} of the move has not ended."
    return f"Execution {latest.id} of the move has stopped the old cluster." if may_have_stopped_old(latest) else ""


def known_downtime(execution: Execution, now: datetime, *, alive: bool) -> Downtime | None:
    """The time without the cluster; None also where nobody saw whether the new one is open, or the old one back."""
    return None if not alive and move_status(execution) in UNSEEN else downtime(execution, now)


def sentence(found: Unfinished, now: datetime) -> str:
    """`spring: The old cluster has been stopped since 06:49:47 (3 min 53 s).`, in the zone of this workstation."""
    rehearsal = found.kind is Kind.REHEARSAL
    if found.stopped_at is not None:
        since = units.clock(units.seconds_between(found.stopped_at, now) or 0.0)
        said = f"The old cluster has been stopped since {found.stopped_at.astimezone():%H:%M:%S} ({since})."
    elif found.alive:
        return f"{found.move}: The {'rehearsal' if rehearsal else 'move'} is under way. {found.stands}"
    else:
        said = found.stands
    if found.alive:
        return f"{found.move}: {said}"
    if found.state is State.PAUSED:
        return f"{found.move}: {said} The {'rehearsal' if rehearsal else 'move'} was paused by the operator."
    if found.state is State.CANCELLED:
        return f"{found.move}: {said} The {'rehearsal' if rehearsal else 'move'} was stopped by the operator."
    if found.state is State.STOPPED:
        return f"{found.move}: {said} The {'rehearsal' if rehearsal else 'move'} has failed."
    return f"{found.move}: {said} The {'rehearsal' if rehearsal else 'move'} was interrupted."
