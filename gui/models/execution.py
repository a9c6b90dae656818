"""An execution as rows: each try at a step, and what may be done next."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from core import units
from core.language import marked, tr
from core.migration.model.execution import Execution, Kind, State, StepRun
from gui.appearance import Tone
from gui.models.sentences import recorded
from gui.models.words import counted, in_window, moment
from gui.states import ExecutionState

if TYPE_CHECKING:
    from core.migration.execution.account import Downtime
    from core.migration.execution.outcome import Paragraph


def summary(state: ExecutionState) -> str:
    """How the execution stands, and why; of one that runs, how far it is."""
    execution = state.execution
    if execution is None:
        return ""
    what = tr("The rehearsal") if execution.kind is Kind.REHEARSAL else tr("The move")
    what = tr("The dress rehearsal") if execution.dressed else what
    done = sum(execution.done(step.number) for step in execution.plan.steps)
    killed = execution.state is State.RUNNING and not state.alive
    how = tr(KILLED) if killed else ended(execution.state)
    counts = tr("{done} of {steps_taken} done").format(
        done=done, steps_taken=counted(len(execution.steps_taken), "{number} step", "{number} steps")
    )
    lines = [
        tr("{what} of {started_at} {how}; {counts}.").format(
            what=what, started_at=moment(execution.started_at), how=how, counts=counts
        )
    ]
    if not state.alive and state.stands:
        lines.append(recorded(state.stands))
    lines += [recorded(state.left)] if state.left else []
    return "\n".join(
        part for part in (*lines, _sentence(in_window(recorded(execution.message))), *map(recorded, state.far)) if part
    )


_STATES = {
    State.RUNNING: marked("is under way"),
    State.INTERRUPTED: marked("was interrupted"),
    State.STOPPED: marked("has stopped"),
    State.CANCELLED: marked("was cancelled"),
    State.DONE: marked("is done"),
    State.ROLLED_BACK: marked("was taken back"),
}
KILLED = marked("was interrupted: the program that carried it out has ended")
"""How one ended whose state says that it runs, and which no program carries out."""


def ended(state: State) -> str:
    """How an execution ended, behind its name."""
    return tr(_STATES[state])


def clock_text(down: "Downtime") -> str:
    """`Old has been stopped for 3 min 53 s; the plan expected 2 min 10 s of commands, people took 40 s.`"""
    if down.ended_at is None:
        said = tr("Old has been stopped for {seconds}, since {began_at:%H:%M:%S}").format(
            seconds=units.clock(down.seconds), began_at=down.began_at.astimezone()
        )
    else:
        said = tr("Clients had no cluster for {seconds}").format(seconds=units.duration(down.seconds))
    expected = (
        tr("the plan expected {expected_seconds} of commands").format(
            expected_seconds=units.duration(down.expected_seconds)
        )
        if down.expected_seconds
        else ""
    )
    people = (
        tr("people took {people_seconds}").format(people_seconds=units.clock(down.people_seconds))
        if down.people_seconds >= 1
        else ""
    )
    return "; ".join(part for part in (said, expected, people) if part) + "."


def told_text(paragraphs: "Sequence[Paragraph]") -> str:
    """How an execution ended, to read and copy."""
    return "\n\n".join(
        "\n  ".join((_sentence(recorded(each.title)), *map(recorded, each.sentences))) for each in paragraphs
    )


class Doing(StrEnum):
    """What a person may do with an execution; the words by which the job bar names it."""

    MOVE = marked("Moving")
    REHEARSE = marked("Rehearsing")
    DRESS = marked("Dress rehearsal of")
    RESUME = marked("Continuing")
    END = marked("Cancelling")
    BACK = marked("Going back from")


BUTTONS = {
    Doing.MOVE: marked("&Move"),
    Doing.REHEARSE: marked("&Rehearse"),
    Doing.DRESS: marked("Dress &rehearsal"),
    Doing.RESUME: marked("&Continue"),
    Doing.END: marked("C&ancel and clean up"),
    Doing.BACK: marked("&Back to old"),
}
"""What the button says that begins it."""
PAUSE, PAUSES = marked("Stop after this s&tep"), marked("Stops after this step")
"""What the button says that lets no further step begin, and once it was pressed."""


BEGINNINGS = {
    Doing.MOVE: marked("Start the &move"),
    Doing.REHEARSE: marked("Start the &rehearsal"),
    Doing.DRESS: marked("Start the &dress rehearsal"),
}
"""What the button says that begins it, once a person has read what it does."""


def needs_name(doing: Doing, state: ExecutionState) -> bool:
    """Whether it begins only once the cluster's name was typed: where something was begun, and is no rehearsal."""
    return not _of_rehearsal(state) if doing not in BEGINNINGS else bool(state.left)


def _of_rehearsal(state: ExecutionState) -> bool:
    return state.execution is not None and state.execution.kind is Kind.REHEARSAL


def confirmation(doing: Doing, state: ExecutionState) -> str:
    """What a person reads before it begins, or before they type the cluster's name; empty where nothing is at stake."""
    if doing in BEGINNINGS:
        if not state.left:
            return _beginning(doing, state)
        return tr("{left} To go on with it is the shortest way. A new one begins from its first step.").format(
            left=recorded(state.left)
        )
    if state.execution is None:
        return ""
    return _resumed(state.execution, state.stands) if doing is Doing.RESUME else tr(AT_STAKE[doing])


def _beginning(doing: Doing, state: ExecutionState) -> str:
    """What it does to both servers, and how long the plan expects it to take."""
    if doing is Doing.DRESS:  # the plan that is known lacks what it takes beyond a rehearsal
        return tr(
            "The dress rehearsal copies the cluster to the new server while the old server runs, starts the copy "
            "there, looks at its databases, and stops it. No client reaches the copy. On the old server a backup "
            "begins, with a checkpoint at once, and its WAL is kept until the copy is complete. That takes a quarter "
            "of the free disk space at most: then the dress rehearsal ends."
        )
    if doing is Doing.REHEARSE:
        said = tr(
            "The rehearsal copies the cluster to the new server while the old server runs. It stops and starts nothing."
        )
    else:
        said = tr(
            "The move copies the cluster to the new server while the old server runs. Before it stops the old "
            "server, it asks for the cluster's name."
        )
    plan = state.plan if state.execution is None else state.execution.plan
    taken = () if plan is None else tuple(one for one in plan.steps if doing is Doing.MOVE or one.rehearsed)
    seconds = sum(step.expected_seconds or 0.0 for step in taken)
    if not seconds:
        return said
    return tr("{said} The plan expects {seconds} for the commands.").format(said=said, seconds=units.duration(seconds))


def _resumed(execution: Execution, stands: str) -> str:
    """From where it goes on, and what is still to come."""
    following = next((step for step in execution.steps_taken if not execution.done(step.number)), None)
    if following is None:
        return tr("{stands} Every step is done. What the copy needed is removed.").format(stands=recorded(stands))
    if execution.dressed:
        return tr(
            "The dress rehearsal goes on with step {number}, {title}. The old server runs on; the copy is started on "
            "the new server, where no client reaches it."
        ).format(number=following.number, title=recorded(following.title))
    if execution.kind is Kind.REHEARSAL:
        return tr(
            "The rehearsal goes on with step {number}, {title}. It copies while the old server runs, and stops and "
            "starts nothing."
        ).format(number=following.number, title=recorded(following.title))
    at = tr("{stands} The move goes on with step {number}, {title}").format(
        stands=recorded(stands), number=following.number, title=recorded(following.title)
    )
    if following.stopped and any(step.stopped and execution.done(step.number) for step in execution.plan.steps):
        return f"{at}."
    return tr("{at}; before it stops old it asks for the cluster's name once more.").format(at=at)


AT_STAKE = {
    Doing.END: marked(
        "The copy ends, and what it needed is taken away. Old stays as it is; what lies on new stays there."
    ),
    Doing.BACK: marked("New is stopped and keeps its files; old is let go, started, and proven to run."),
}
"""What a person reads before they type the cluster's name."""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def outcome(run: StepRun) -> str:
    """How a try ended."""
    if run.void:
        return tr("overruled")
    if run.done:
        return tr("left out") if run.message else tr("done")
    if run.ended_at is not None:
        return tr("failed")
    through = None if run.bytes is None or run.total is None else units.quotient(run.bytes, run.total)
    # no number: nobody knows the whole, or it is 0, as in a pass that found nothing to send
    return tr("not ended") if through is None else units.percent(min(1.0, max(0.0, through)))


def run_text(run: StepRun) -> str:
    """A try whole: how it ended and what it printed."""
    lines = [
        tr("{number}. {title}, try {attempt}: {outcome}").format(
            number=run.number, title=recorded(run.title), attempt=run.attempt, outcome=outcome(run)
        )
    ]
    lines += [run.message] if run.message else []
    return "\n".join([*lines, "", run.output])


def took(run: StepRun) -> str:
    """How long it took."""
    return units.duration((run.ended_at - run.started_at).total_seconds() if run.ended_at is not None else None)


def tone(run: StepRun) -> Tone | None:
    """The colour of its outcome."""
    return Tone.GOOD if run.done else Tone.WARNING if run.ended_at is None or run.void else Tone.BAD
