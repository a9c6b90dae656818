"""How an execution that ended on its way has left old and new, and what may be done then: sentences for people."""

from core.migration.model.execution import Execution, Kind, State
from core.migration.plan.steps.copy import FENCE, STOP, STOPPED
from core.migration.plan.steps.known_data_roots import DATA_ROOTS, UNKNOWN_ROOT
from core.migration.plan.steps.opening import START_NEW


def holds_old(execution: Execution) -> bool:
    """Whether it may have stopped old, or kept it from starting: by its stop or, of a stopped cluster, its fence."""
    if execution.kind is Kind.REHEARSAL:
        return False
    named = {FENCE} if found_stopped(execution) else {STOP, STOPPED}
    holding = {step.number for step in execution.plan.steps if step.name in named}
    return any(run.number in holding and not run.back for run in execution.steps)


def found_stopped(execution: Execution) -> bool:
    """Whether old was stopped already when the plan was made: then it proves the stop and has none of its own."""
    names = {step.name for step in execution.plan.steps}
    return STOPPED in names and STOP not in names


def status_sentence(execution: Execution) -> str:
    """Whether old still serves, whether new runs, and what may be done."""
    return f"{how_both_stand(execution)}; {ways_on(execution)}"


def ways_on(execution: Execution) -> str:
    """What may be done with an execution that is not at its end."""
    move = execution.move
    on = f"go on: pghaul execute {move} --resume"
    if execution.past_return:
        return on
    back = "; or back to old: --rollback"
    if execution.state in {State.RUNNING, State.INTERRUPTED}:
        return on + ("; or end it: --cancel" if not holds_old(execution) else back)
    if holds_old(execution):
        if _knows_too_little(execution):
            return f"go back to old: pghaul execute {move} --rollback; then begin with a new plan: --anew"
        return on + back
    again = "--rehearsal --anew" if execution.kind is Kind.REHEARSAL else "--anew"
    if _knows_too_little(execution):
        return f"begin with a new plan: pghaul execute {move} {again}"
    for_real = f"; or leave the rehearsal, and move: pghaul execute {move} --anew"
    taken_back = for_real if execution.kind is Kind.REHEARSAL else "; or take it back: --rollback"
    return (
        f"go on with it, which is the shortest: pghaul execute {move} --resume; or begin a new one, which sends only "
        f"what new lacks: {again}{taken_back}; to see its steps: --status"
    )


def carried_out_sentence(latest: Execution | None) -> str:
    """That a move is over, and what to copy once more would mean; empty of one that is not over."""
    if latest is None or latest.kind is not Kind.REAL or latest.state is not State.DONE or latest.ended_at is None:
        return ""
    return (
        f"this move was carried out: new serves since {latest.ended_at:%Y-%m-%d %H:%M} UTC (execution {latest.id}); "
        "what follows is of another copy from old, which would destroy what clients have written to new since then, "
        f"so that it begins by --anew alone: pghaul execute {latest.move} --status shows what was done"
    )


def how_both_stand(execution: Execution) -> str:
    """Whether old still serves, and whether new runs."""
    if execution.kind is Kind.REAL and execution.state is State.DONE:
        return "new is open to clients; old is stopped, and its fence keeps it from starting"
    if execution.past_return:
        return "new was opened, or was about to be: look whether it runs; old stays stopped"
    if execution.openings:
        return "old is stopped; new could not be opened, is stopped too, and nobody has written to it"
    if any(step.name == START_NEW and execution.done(step.number) for step in execution.plan.steps):
        return "old is stopped; new runs, for local connections alone, and nobody has written to it"
    if not holds_old(execution):
        return "old is as it was"
    if found_stopped(execution):
        return "old was stopped before this began, and is kept from starting"
    return "old is stopped, or about to be"


def _knows_too_little(execution: Execution) -> bool:
    """Whether its plan lacks a data root of the cluster: to go on with it would fail again."""
    proofs = {step.number for step in execution.plan.steps if step.name.startswith(DATA_ROOTS)}
    latest = [run for run in execution.steps if run.number in proofs and not run.back]
    return bool(latest) and latest[-1].exit_status not in {None, 0} and UNKNOWN_ROOT in latest[-1].message
