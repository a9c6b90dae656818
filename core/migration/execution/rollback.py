"""Going back to old: one action before the point of no return; after it, words on how, and on what would be lost."""

from collections.abc import Callable
from functools import partial

from core.errors import CommandError, ServerError
from core.jobs import Note
from core.migration.execution.engine import clean, lock_both, pass_on_warnings
from core.migration.execution.entry import past_return
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
    executor.job.report(_end(executor))


def _end(executor: Executor) -> Note:
    """What old is now, as far as its last proof has looked at it: running, at its port, in its unit."""
    proof = next((step for step in reversed(executor.execution.plan.way_back) if step.proves), None)
    if proof is None or "prove_running" not in proof.call:
        return Note("old is what it was: stopped, and free to be started")
    said = executor.outputs.get(proof.number, "")
    if any(line.startswith("warning: ") for line in said.splitlines()):
        pass_on_warnings(executor, said)
        return Note("old runs again, but not as before: see the warning above", "warning")
    return Note("old runs again, as before: it takes connections at the port that it had")


def _lifted(execution: Execution) -> bool:
    """Whether new's fence was being taken away, so that its host may have started it since."""
    lifting = {step.number for step in execution.plan.steps if step.name == LIFT_FENCE}
    return any(run.number in lifting and not run.back for run in execution.steps)


def _try_new(executor: Executor, side: str, action: Callable[[], None], *, proves: bool = False) -> None:
    """A new that cannot be reached does not keep old from running again; one that proves it must not does."""
    try:
        action()
    except ServerError as error:
        if side == "old" or (proves and isinstance(error, CommandError)):
            raise
        executor.job.report(Note(f"new does not take part in going back: {error.message}", "warning"))
