"""Whether an execution may begin, go on, be cancelled or taken back, by how the latest one of the move stands."""

from collections.abc import Sequence

from core.errors import BlockedError, InputError
from core.migration.model import CheckResult, Execution, Kind, State
from core.migration.steps.copy import STOP, STOPPED


def refuse_blockers(results: Sequence[CheckResult]) -> None:
    """Raise BlockedError that names every check which forbids the move; an unknown counts where the check can block."""
    standing = [result for result in results if result.stops]
    if standing:
        said = "; ".join(f"{result.title}: {result.message}" for result in standing)
        raise BlockedError(
            f"the move cannot begin: {said}", "; ".join(dict.fromkeys(r.hint for r in standing if r.hint))
        )


def may_begin(latest: Execution | None, *, alive: bool) -> None:
    """Raise InputError where an earlier execution is under way, or has left old stopped."""
    if latest is None or latest.state in {State.DONE, State.ROLLED_BACK}:
        return
    refuse_alive(latest, alive=alive)
    move = latest.move
    if latest.state in {State.RUNNING, State.INTERRUPTED}:
        raise InputError(
            f"execution {latest.id} of {move} was interrupted: what it began may still run on the servers",
            f"go on: pghaul execute {move} --resume; or end it: --cancel",
        )
    if old_may_be_stopped(latest):
        raise InputError(
            f"execution {latest.id} of {move} has stopped old",
            f"go on: pghaul execute {move} --resume; or back to old: --rollback",
        )


def to_resume(latest: Execution | None, move: str, *, alive: bool) -> Execution:
    """The execution to go on with; raises InputError where there is none."""
    if latest is None or latest.state in {State.DONE, State.ROLLED_BACK}:
        raise InputError(_nothing(latest, move), f"begin one: pghaul execute {move}")
    refuse_alive(latest, alive=alive)
    return latest


def to_cancel(latest: Execution | None, move: str) -> Execution:
    """The execution to cancel; raises InputError where there is none under way."""
    if latest is None or latest.state not in {State.RUNNING, State.INTERRUPTED}:
        raise InputError(_nothing(latest, move), f"see it with: pghaul execute {move} --status")
    return latest


def to_roll_back(latest: Execution | None, move: str, *, alive: bool) -> Execution:
    """The execution to take back; raises InputError where there is nothing to take back."""
    if latest is None or latest.state is State.ROLLED_BACK:
        raise InputError(_nothing(latest, move), f"see it with: pghaul execute {move} --status")
    if latest.kind is Kind.REHEARSAL:
        raise InputError(f"execution {latest.id} of {move} is a rehearsal: old runs as before", "nothing is to be done")
    refuse_alive(latest, alive=alive)
    return latest


def to_show(latest: Execution | None, move: str) -> Execution:
    """The execution to look at; raises InputError where there is none."""
    if latest is None:
        raise InputError(_nothing(latest, move), f"begin one: pghaul execute {move}")
    return latest


def refuse_alive(latest: Execution, *, alive: bool) -> None:
    """Raise InputError while another program of this workstation carries it out."""
    if alive:
        raise InputError(
            f"{latest.move} is being moved by another pghaul on this workstation, since "
            f"{latest.started_at:%Y-%m-%d %H:%M} UTC",
            f"see how far it is: pghaul execute {latest.move} --status; or end it: --cancel",
        )


def old_may_be_stopped(execution: Execution) -> bool:
    """Whether the execution has got so far that old may not run any more."""
    if execution.kind is Kind.REHEARSAL:
        return False
    stopping = {step.number for step in execution.plan.steps if step.name in {STOP, STOPPED}}
    return any(run.number in stopping and not run.back for run in execution.steps)


def _nothing(latest: Execution | None, move: str) -> str:
    if latest is None:
        return f"{move} was never executed"
    return f"execution {latest.id} of {move} is {latest.state}"
