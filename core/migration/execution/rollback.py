"""Going back to old: one action before the point of no return; after it, words on how, and on what would be lost."""

from collections.abc import Callable
from functools import partial

from core.errors import BlockedError, CommandError, ServerError
from core.jobs import Note
from core.migration.execution.engine import clean, lock_both
from core.migration.execution.executor import Executor, end_detached, run_step
from core.migration.execution.recording import recorded, watched
from core.migration.model.execution import Execution, State
from core.migration.plan.steps.opening import LIFT_FENCE


def roll_back(executor: Executor) -> None:
    """Make old what it was: new stopped and kept, the copy's key gone, old let go, started and proven to run.

    A new that does not answer is said, and old is started all the same: before its fence was lifted nobody could write
    to new. From then on it must answer, for its host may start it.

    Raises:
        BlockedError: the point of no return is passed, or another workstation has the cluster.
        CommandError, UnreachableError: old could not be brought back; it may be tried again.
        Cancelled: the job was cancelled.
    """
    execution = executor.execution
    if execution.past_return:
        raise past_return(execution)
    with recorded(executor, State.ROLLED_BACK), watched(executor):
        for side in ("old", "new"):
            _try_new(executor, side, partial(end_detached, executor, side))
        _try_new(executor, "new", partial(lock_both, executor))
        lifted = _lifted(execution)
        for step in execution.plan.way_back:
            if step.proves and lifted:
                run_step(executor, step, back=True)
            else:
                _try_new(executor, step.side, partial(run_step, executor, step, back=True), proves=step.proves)
        clean(executor)
    executor.job.report(Note("old is what it was"))


def _lifted(execution: Execution) -> bool:
    """Whether new's fence was being taken away, so that its host may have started it since."""
    lifting = {step.number for step in execution.plan.steps if step.name == LIFT_FENCE}
    return any(run.number in lifting and not run.back for run in execution.steps)


def past_return(execution: Execution) -> BlockedError:
    """Why one action does not lead back any more, what would be lost, and the steps by which a person could."""
    opened = next(
        run.started_at
        for step in execution.plan.steps
        if step.point_of_no_return
        for run in execution.steps
        if run.number == step.number and not run.back
    )
    return BlockedError(
        f"new has been open to clients since {opened:%Y-%m-%d %H:%M:%S} UTC: what they wrote from then on is on new "
        "alone and would be lost on old",
        "to keep it, move new back to old as a move of its own: pghaul move add … with the servers exchanged; "
        f"to give it up: {back_by_hand(execution)}",
    )


def back_by_hand(execution: Execution) -> str:
    """The steps that make old what it was, in words with their commands."""
    return "; ".join(
        f"{step.title}, on {step.server} as {step.user}: {'; '.join(step.native) or step.call}"
        for step in execution.plan.way_back
        if not step.closes
    )


def _try_new(executor: Executor, side: str, action: Callable[[], None], *, proves: bool = False) -> None:
    """A new that cannot be reached does not keep old from running again; one that proves it must not does."""
    try:
        action()
    except ServerError as error:
        if side == "old" or (proves and isinstance(error, CommandError)):
            raise
        executor.job.report(Note(f"new does not take part in going back: {error.message}", "warning"))
