"""Going back to the old server: one action before the point of no return; after it, words on how, and on what would be
lost."""

from collections.abc import Callable
from functools import partial

from core.errors import CommandError, ServerError
from core.jobs import Note
from core.migration.execution.entry import explain_no_return
from core.migration.execution.runner import Runner
from core.migration.execution.status import may_have_stopped_old, runs_as_before
from core.migration.model import step_ids
from core.migration.model.execution import Execution, State
from core.migration.model.plan import Step
from core.redaction import CUT
from core.sides import Side
from core.text import lines_of


def roll_back(runner: Runner) -> None:
    """Make old what it was: new stopped and kept, the copy's key gone, old let go, started and proven to run.

    A new server that does not answer is said, and the old cluster is started all the same: before its fence was lifted
    nobody could write to the new cluster. From then on it must answer, for its host may start it.

    Raises:
        BlockedError: the point of no return is passed, or another workstation has the cluster.
        CommandError, UnreachableError: old could not be brought back; it may be tried again.
        Cancelled: the job was cancelled.
    """
    execution = runner.steps.reload()
    if execution.past_return:
        raise explain_no_return(execution)
    with runner.recording(State.ROLLED_BACK):
        # Steps that still run end before the locks are taken and before anything is undone: one that goes on could
        # write to the new server behind the rollback.
        for side in Side:
            _tolerate_unreachable_new(runner, side, partial(runner.steps.end_detached, side))
        for side, folder in runner.steps.sides:
            _tolerate_unreachable_new(runner, side, partial(runner.lock_side, side, folder))
        execution = runner.steps.reload()  # another workstation may have gone on with it until it was locked
        if execution.past_return:
            raise explain_no_return(execution)
        lifted = _fence_was_lifted(execution)
        for step in execution.plan.way_back:
            if step.reads and not _provide_input(runner, step):
                continue
            if step.verification.only_checks and lifted:
                runner.steps.run(step, back=True)
            else:
                _tolerate_unreachable_new(
                    runner,
                    step.side,
                    partial(runner.steps.run, step, back=True),
                    proves=step.verification.only_checks,
                )
        # Only now: until the old server is as it was, no other workstation may begin anything with the cluster.
        runner.remove_leftovers()
    runner.steps.job.report(_describe_result(runner))


def _provide_input(runner: Runner, step: Step) -> bool:
    """Hand to a step what it reads, as it was printed before the rollback; False: that is not known, or not whole.

    To run the other step now would be of no use: it would only be held against itself.
    """
    execution = runner.steps.execution
    other = execution.plan.step(step.reads)
    latest = None if other is None else execution.latest(other.number)
    if latest is None or latest.exit_status != 0 or latest.output.startswith(CUT):
        return False
    runner.steps.outputs[latest.number] = latest.output  # a step of the way back may have had that number
    return True


def _describe_result(runner: Runner) -> Note:
    """What the old server is now, as far as the last steps have looked at it."""
    execution = runner.steps.execution
    proof = next((step for step in reversed(execution.plan.way_back) if step.verification.only_checks), None)
    if proof is None or "prove_running" not in proof.call:
        return Note("The old cluster is stopped, as it was before, and may be started.")
    looks = [
        execution.latest(step.number, back=True) for step in execution.plan.way_back if step.number >= proof.number
    ]
    said = "\n".join(run.output for run in looks if run is not None)
    if any(line.startswith("warning: ") for line in lines_of(said)):
        runner.pass_on_warnings(said)
        return Note("The old cluster runs again, but not as before. See the warnings above.", "warning")
    if runs_as_before(execution):
        return Note("The old cluster runs again, with the same port, options and settings as before.")
    if not may_have_stopped_old(execution):
        return Note("The old cluster was not stopped. It accepts connections at its port.")
    return Note(
        "The old cluster runs again, and accepts connections at the port that it had. Its settings were not compared "
        "with those before the stop, because there is no inventory of them."
    )


def _fence_was_lifted(execution: Execution) -> bool:
    """Whether the new cluster's fence was being taken away, so that its host may have started it since."""
    lifting = {step.number for step in execution.plan.steps if step.id == step_ids.LIFT_FENCE}
    return any(run.number in lifting and not run.back for run in execution.steps)


def _tolerate_unreachable_new(
    runner: Runner, side: Side | None, action: Callable[[], None], *, proves: bool = False
) -> None:
    """A new that cannot be reached does not keep old from running again; one that proves it must not does."""
    try:
        action()
    except ServerError as error:
        if side is Side.OLD or (proves and isinstance(error, CommandError)):
            raise
        runner.steps.job.report(Note(f"The new server takes no part in the rollback: {error.message}", "warning"))
