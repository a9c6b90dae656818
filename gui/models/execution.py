"""The texts of an execution: its state, its steps, its buttons, and the questions before an action."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from core import api, units
from core.api.model import ExecutionState
from core.language import marked, tr
from core.migration.model.execution import CANCELLED_STEP, Execution, Kind, State, StepRun
from core.migration.model.plan import FollowUpGroup, Step
from core.text import capital, sentence
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.words import escape_mnemonics, moment, shortened

if TYPE_CHECKING:
    from core.api.execution import Downtime, Paragraph, RunningStep


def summary(state: ExecutionState) -> str:
    """Return what stands below the headline: when it began, its reason and, while it is running, its progress."""
    execution = state.execution
    if execution is None:
        return ""
    done = sum(execution.done(step.number) for step in execution.plan.steps)
    counts = tr("Steps done: {done} of {steps}").format(done=done, steps=len(execution.steps_taken))
    began = tr("It began at {started_at}. {counts}.").format(started_at=moment(execution.started_at), counts=counts)
    lines = [] if state.alive else [began, recorded(state.stands), recorded(state.left)]
    lines += [capital(recorded(execution.message)), _position(execution) if state.alive else ""]
    return "\n".join(part for part in (*lines, *map(_running_text, state.running)) if part)


def _position(execution: Execution) -> str:
    """Return which step is under way or comes next; how long all may take stands in the headline."""
    taken = execution.steps_taken
    at = next((at for at, step in enumerate(taken, 1) if not execution.done(step.number)), len(taken))
    return tr("Step {at} of {steps}").format(at=at, steps=len(taken))


def name_of(execution: Execution) -> str:
    """Return what it is, as the beginning of a sentence."""
    if execution.kind is Kind.REAL:
        return tr("The move")
    return tr("The dress rehearsal") if execution.dressed else tr("The copy rehearsal")


def describe_end(execution: Execution, *, alive: bool) -> str:
    """Return how it stands or has ended, as the end of a sentence."""
    killed = execution.state is State.RUNNING and not alive
    return tr(KILLED) if killed else _how_ended(execution)


def _running_text(step: "RunningStep") -> str:
    """Return a step that is running: for how long, how much it has copied, and how fast."""
    said = tr("{title}, for {duration}").format(title=recorded(step.title), duration=units.duration(step.seconds))
    amount = amount_copied(step)
    return f"{said}: {amount}" if amount else said


def amount_copied(step: "RunningStep") -> str:
    """Return how much a running step has copied, and how fast; empty if it copies nothing."""
    if step.bytes is None:
        return ""
    amount = units.size(step.bytes)
    if step.total is not None:
        amount = tr("{done} of {shown}").format(done=amount, shown=units.size(step.total))
    if step.bytes_per_second is not None:
        amount = tr("{amount} at {rate}").format(amount=amount, rate=units.rate(step.bytes_per_second))
    return amount


_STATES = {
    State.RUNNING: marked("is running"),
    State.INTERRUPTED: marked("was interrupted"),
    State.STOPPED: marked("has failed"),
    State.CANCELLED: marked("was cancelled"),
    State.PAUSED: marked("was paused"),
    State.DONE: marked("is done"),
    State.ROLLED_BACK: marked("was rolled back"),
}
_STATE_NAMES = {
    State.RUNNING: marked("running"),
    State.INTERRUPTED: marked("interrupted"),
    State.STOPPED: marked("failed"),
    State.CANCELLED: marked("cancelled"),
    State.PAUSED: marked("paused"),
    State.DONE: marked("done"),
    State.ROLLED_BACK: marked("rolled back"),
}
KILLED = marked("was interrupted, because the program that ran it has ended")
"""The words for an execution that is recorded as running, and that no program runs."""


def ended(state: State) -> str:
    """Return how an execution has ended, as the end of a sentence."""
    return tr(_STATES[state])


def _how_ended(execution: Execution) -> str:
    following = execution.next_step if execution.state is State.PAUSED else None
    if following is None:
        return ended(execution.state)
    return tr("is paused and continues with step {number}").format(number=following.number)


def state_name(state: State) -> str:
    """Return how an execution stands or has ended, in a word."""
    return tr(_STATE_NAMES[state])


def clock_figure(down: "Downtime") -> str:
    """Return the downtime that lasts, or has ended, as one figure."""
    return units.clock(down.seconds) if down.ended_at is None else units.duration(down.seconds)


def clock_text(down: "Downtime") -> str:
    """Return how long the downtime lasts, what the plan expected, and how long the manual steps took."""
    if down.ended_at is None:
        said = tr("The old cluster has been stopped since {began_at:%H:%M:%S}.").format(
            began_at=down.began_at.astimezone()
        )
    else:
        said = tr("The downtime was {seconds}.").format(seconds=units.duration(down.seconds))
    expected = (
        tr("The plan expected {expected_seconds} for the commands.").format(
            expected_seconds=units.duration(down.expected_seconds)
        )
        if down.expected_seconds
        else ""
    )
    people = (
        tr("The manual steps took {people_seconds}.").format(people_seconds=units.clock(down.people_seconds))
        if down.people_seconds >= 1
        else ""
    )
    return " ".join(part for part in (said, expected, people) if part)


def outcome_text(paragraphs: "Sequence[Paragraph]") -> str:
    """Return the outcome of an execution as text."""
    return "\n\n".join(
        "\n  ".join((capital(recorded(each.title)), *map(recorded, each.sentences))) for each in paragraphs
    )


class Doing(StrEnum):
    """What an operator can do with an execution."""

    MOVE = "move"
    REHEARSE = "rehearse"
    DRESS = "dress-rehearsal"
    RESUME = "resume"
    END = "cancel"
    BACK = "rollback"


JOB_TITLES = {
    Doing.MOVE: marked("Move {move}"),
    Doing.REHEARSE: marked("Copy rehearsal of {move}"),
    Doing.DRESS: marked("Dress rehearsal of {move}"),
    Doing.RESUME: marked("Continue {move}"),
    Doing.END: marked("Cancel {move}"),
    Doing.BACK: marked("Roll back {move}"),
}
"""How the job bar, the dialogs and the notifications call it."""
BUTTONS = {
    Doing.MOVE: marked("&Move"),
    Doing.REHEARSE: marked("Copy &rehearsal"),
    Doing.DRESS: marked("Dress &rehearsal"),
    Doing.RESUME: marked("&Continue"),
    Doing.END: marked("C&ancel and clean up"),
    Doing.BACK: marked("Roll &back"),
}
"""The button of each action."""
PAUSE, GO_ON = marked("Pause after this s&tep"), marked("Do not pause after this s&tep")
"""The button that pauses after a step, before it was pressed, and then."""
PAUSE_TIP = marked(
    "The step that is running now is finished, and no other begins. Both servers stay as they are then: a cluster that "
    "is stopped stays stopped. Continue goes on with the next step."
)
GO_ON_TIP = marked("The execution goes on with the next step, without a pause.")


def back_button(old_server: str, *, has_key: bool = True) -> str:
    """Return the button of a rollback, to the old server where its name is known.

    Args:
        old_server: the name of the old server, or nothing.
        has_key: whether Alt and a letter press it. Of two visible buttons only one can have the letter.
    """
    words = tr("Roll &back to {server}") if old_server else tr(BUTTONS[Doing.BACK])
    words = words if has_key else words.replace("&", "")
    return words.format(server=escape_mnemonics(shortened(old_server)))


def job_title(doing: Doing, move: str) -> str:
    """Return the title of the job that does this with the move of that name."""
    return tr(JOB_TITLES[doing]).format(move=move)


BEGINNINGS = {
    Doing.MOVE: marked("Start the &move"),
    Doing.REHEARSE: marked("Start the copy &rehearsal"),
    Doing.DRESS: marked("Start the &dress rehearsal"),
}
"""The button of each action in the dialog that explains it."""


def needs_name(doing: Doing, state: ExecutionState) -> bool:
    """Return whether the action needs the name of the cluster: if a move, and no rehearsal, was begun."""
    return not _of_rehearsal(state) if doing not in BEGINNINGS else bool(state.left)


def _of_rehearsal(state: ExecutionState) -> bool:
    return state.execution is not None and state.execution.kind is Kind.REHEARSAL


def confirmation(doing: Doing, state: ExecutionState) -> str:
    """Return the question before an action; empty if it needs none."""
    if doing in BEGINNINGS:
        if not state.left:
            return _beginning(doing, state)
        return tr("{left} Continuing it takes the least time. A new execution begins with the first step.").format(
            left=recorded(state.left)
        )
    if state.execution is None:
        return ""
    return _resumed(state.execution, state.stands) if doing is Doing.RESUME else tr(AT_STAKE[doing])


def _beginning(doing: Doing, state: ExecutionState) -> str:
    """Return what the action does on both servers, and the expected duration."""
    if doing is Doing.DRESS:  # the plan that is known lacks what it takes beyond a rehearsal
        return tr(
            "The dress rehearsal copies the cluster to the new server while the old cluster is running. It "
            "starts the copy there, examines its databases, and stops it. Clients cannot connect to the copy. "
            "A base backup begins on the old server with an immediate checkpoint, and WAL is kept until the "
            "copy is complete. If the WAL takes more than a quarter of the free disk space, the dress "
            "rehearsal ends."
        )
    if doing is Doing.REHEARSE:
        said = tr(
            "The copy rehearsal copies the cluster to the new server while the old cluster is running. It "
            "stops nothing and starts nothing."
        )
    else:
        said = tr(
            "The move copies the cluster to the new server while the old cluster is running. It asks for the "
            "name of the cluster before it stops the old cluster."
        )
    plan = state.plan if state.execution is None else state.execution.plan
    taken = () if plan is None else tuple(one for one in plan.steps if doing is Doing.MOVE or one.in_rehearsal)
    seconds = sum(step.expected_seconds or 0.0 for step in taken)
    if not seconds:
        return said
    return tr("{said} The plan expects {seconds} for the commands.").format(said=said, seconds=units.duration(seconds))


def _resumed(execution: Execution, stands: str) -> str:
    """Return with which step the execution continues, and what follows."""
    following = execution.next_step
    if following is None:
        return tr("{stands} All steps are done. pghaul removes the temporary files of the copy.").format(
            stands=recorded(stands)
        )
    if execution.dressed:
        return tr(
            "The dress rehearsal continues with step {number}: {title}. The old cluster keeps running. The "
            "copy is started on the new server, where clients cannot connect to it."
        ).format(number=following.number, title=recorded(following.title))
    if execution.kind is Kind.REHEARSAL:
        return tr(
            "The copy rehearsal continues with step {number}: {title}. It copies while the old cluster is "
            "running. It stops nothing and starts nothing."
        ).format(number=following.number, title=recorded(following.title))
    at = tr("{stands} The move continues with step {number}: {title}.").format(
        stands=recorded(stands), number=following.number, title=recorded(following.title)
    )
    if following.downtime and any(step.downtime and execution.done(step.number) for step in execution.plan.steps):
        return at
    return tr("{at} Before it stops the old cluster, it asks for the name of the cluster again.").format(at=at)


AT_STAKE = {
    Doing.END: marked(
        "The copy ends, and pghaul removes its temporary files. The old cluster is not changed. The files that "
        "are on the new server stay there."
    ),
    Doing.BACK: marked(
        "pghaul stops the new cluster and keeps its files. Then it removes the fence of the old cluster, "
        "starts the old cluster, and checks that it is running."
    ),
}
"""The question before the name of the cluster is typed."""


def outcome(run: StepRun) -> str:
    """Return the result of an attempt at a step."""
    if run.void:
        return tr("superseded")
    if run.done:
        return tr("skipped") if run.message else tr("done")
    if run.exit_status == CANCELLED_STEP:
        return tr("cancelled")
    if run.ended_at is not None:
        return tr("failed")
    through = None if run.bytes is None or run.total is None else units.quotient(run.bytes, run.total)
    # no number: nobody knows the whole, or it is 0, as in a pass that found nothing to send
    return tr("not finished") if through is None else units.percent(min(1.0, max(0.0, through)))


def run_text(run: StepRun) -> str:
    """Return an attempt as text: its result and its output."""
    lines = [
        tr("{number}. {title}, attempt {attempt}: {outcome}").format(
            number=run.number, title=recorded(run.title), attempt=run.attempt, outcome=outcome(run)
        )
    ]
    lines += [recorded(run.message)] if run.message else []
    return "\n".join([*lines, "", run.output])


def elapsed(run: StepRun) -> str:
    """Return the duration of an attempt."""
    return units.duration(units.seconds_between(run.started_at, run.ended_at))


def tone(run: StepRun) -> Tone | None:
    """Return the tone of the result."""
    if run.done:
        return Tone.GOOD
    left = run.ended_at is None or run.void or run.exit_status == CANCELLED_STEP
    return Tone.WARNING if left else Tone.BAD


GROUP_TITLES = {
    FollowUpGroup.VERIFY: marked("Verify"),
    FollowUpGroup.BACK_UP: marked("Back up"),
    FollowUpGroup.CLEAN_UP: marked("Clean up"),
    FollowUpGroup.INFORMATION: marked("Good to know"),
}
"""The head of each group of follow-up tasks."""


@dataclass(frozen=True, slots=True)
class FollowUpTask:
    """A task after the cutover, or information for then, and the commands for it, if there are any.

    Attributes:
        id: the id that is recorded when the task is ticked off.
    """

    id: str
    group: FollowUpGroup
    text: str
    commands: str = ""
    done: bool = False

    @property
    def is_task(self) -> bool:
        """Whether there is something to do."""
        return self.group is not FollowUpGroup.INFORMATION


def follow_up_tasks(execution: Execution) -> tuple[FollowUpTask, ...]:
    """Return the follow-up tasks by their groups, then the information."""
    steps = {step.id: step for step in execution.plan.later}
    return tuple(
        FollowUpTask(
            each.id,
            each.group,
            recorded(each.text) if each.id not in steps else _later_text(steps[each.id]),
            "" if each.id not in steps else "\n".join(steps[each.id].shown),
            done=each.id in execution.follow_up_done,
        )
        for each in api.execution.follow_up_tasks(execution)
    )


def _later_text(step: Step) -> str:
    """Return the sentences on a step that can be done after the move."""
    return tr("{title} on {server}. {reason}").format(
        title=capital(recorded(step.title)), server=step.server or step.side, reason=sentence(recorded(step.reason))
    )


def count_of_tasks(tasks: Sequence[FollowUpTask]) -> str:
    """Return how many follow-up tasks are open."""
    wanted = [each for each in tasks if each.is_task]
    left = sum(not each.done for each in wanted)
    if not left:
        return tr("All follow-up tasks are done.")
    return tr("{open_ones} of {list} tasks are open.").format(open_ones=left, list=len(wanted))
