"""Whether an execution may begin, go on, be cancelled or taken back, by how the latest one of the move stands."""

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from core import units
from core.errors import BlockedError, InputError
from core.migration.execution.status import may_have_stopped_old, suggest_next_commands, was_stopped_before
from core.migration.model import step_ids
from core.migration.model.checks import CheckResult
from core.migration.model.execution import ENDED_EARLY, NOT_OPENED, Execution, Kind, State
from core.migration.model.move import Move
from core.migration.model.plan import Phase, Plan, Step, chained
from core.servers.shell import command, quoted
from core.sides import Side


def refuse_blockers(results: Sequence[CheckResult]) -> None:
    """Raise BlockedError that names every check which forbids the move; an unknown counts where the check can block.

    What is pending forbids it too: an execution runs the checks itself, so none is left to run first.

    What several say alike, as where the cluster is not there at all, is said once.
    """
    standing = [result for result in results if result.stops or result.pending]
    if standing:
        titles: dict[str, list[str]] = {}
        for result in standing:
            titles.setdefault(result.message, []).append(result.title)
        said = " ".join(f"{of[0]}: {message}" if len(of) == 1 else message for message, of in titles.items())
        raise BlockedError(
            f"The move cannot begin. {said}", " ".join(dict.fromkeys(r.hint for r in standing if r.hint))
        )


def refuse_if_unfinished(latest: Execution | None, *, alive: bool, start_over: bool = False) -> None:
    """Raise InputError where an earlier execution is under way, has left old stopped, or has opened new.

    `start_over`: the operator knows that an earlier one ended on its way, and what it has left; else that is said
    first.
    """
    if latest is None or latest.state is State.ROLLED_BACK:
        return
    refuse_alive(latest, alive=alive)
    move = latest.move
    if latest.state is State.DONE:
        if latest.past_return and not start_over:
            raise InputError(
                f"Execution {latest.id} has moved {move}. What clients have written since is on the new server only, "
                "and another copy from the old server would destroy it.",
                "To bring it back to the old server: pghaul move add … with the servers exchanged. If it may be lost: "
                "--start-over.",
            )
        return
    if latest.state in {State.RUNNING, State.INTERRUPTED}:
        raise InputError(
            f"Execution {latest.id} of {move} was interrupted. What it began may still run on the servers.",
            suggest_next_commands(latest),
        )
    if may_have_stopped_old(latest):
        did = "has fenced the old cluster" if was_stopped_before(latest) else "has stopped the old cluster"
        raise InputError(f"Execution {latest.id} of {move} {did}.", suggest_next_commands(latest))
    if not start_over and (left := describe_leftovers(latest)):
        raise InputError(left, suggest_next_commands(latest))


def describe_leftovers(latest: Execution) -> str:
    """Where an execution that ended on its way before the old cluster was stopped has got to, and what lies on the new
    server; else empty."""
    over = latest.state in ENDED_EARLY
    if not over or may_have_stopped_old(latest) or not any(run.done for run in latest.steps):
        return ""
    what = "Rehearsal" if latest.kind is Kind.REHEARSAL else "Execution"
    following = next((step for step in latest.steps_taken if not latest.done(step.number)), None)
    sent = _bytes_on_new_server(latest)
    size = units.size(sent) if sent else "nothing"
    stands = was_stopped_before(latest)
    if following is None:
        return (
            f"{what} {latest.id} of {latest.move} was {latest.state}. "
            f"The old cluster {'is' if stands else 'runs'} as before. It has sent {size} to the new server."
        )
    return (
        f"{what} {latest.id} of {latest.move} was {latest.state} at step {following.number} of "
        f"{len(latest.plan.steps)} ({following.title}). "
        f"The old cluster {'is' if stands else 'runs'} as before. It has sent {size} to the new server."
    )


def _bytes_on_new_server(execution: Execution) -> int:
    """Bytes of the whole copy that have come; what later passes send lies over them."""
    whole = {each.number for each in execution.plan.steps if each.precopy_pass <= 1 and each.phase is not Phase.DRESS}
    through = [(run.number, run.bytes) for run in execution.steps if run.number in whole and run.bytes and not run.back]
    return sum(max(size for at, size in through if at == number) for number in {at for at, _ in through})


def find_resumable(latest: Execution | None, move: str, *, alive: bool) -> Execution:
    """The execution to go on with; raises InputError where there is none."""
    if latest is None or latest.state in {State.DONE, State.ROLLED_BACK}:
        moved = latest is not None and latest.past_return
        hint = (
            f"To see it: pghaul execute {quoted(move)} --status"
            if moved
            else f"To begin one: pghaul execute {quoted(move)}"
        )
        raise InputError(_no_execution_error(latest, move), hint)
    refuse_alive(latest, alive=alive)
    return latest


def refuse_changed_move(latest: Execution, move: Move, servers: Collection[str]) -> None:
    """Raise InputError if the move names another server or path than the plan of an execution that is to go on.

    The plan would still copy what it was made for. Once the old cluster may be stopped, nothing of this can be changed.

    Args:
        latest: the execution.
        move: the move as it is recorded now.
        servers: the names of all recorded servers; a server of the plan that is not among them was renamed.
    """
    if latest.state not in ENDED_EARLY or may_have_stopped_old(latest):
        return
    changed = _describe_change(latest.plan, move, servers)
    if changed:
        dressed = "--dress-rehearsal" if latest.dressed else "--rehearsal"
        again = f"{dressed} --start-over" if latest.kind is Kind.REHEARSAL else "--start-over"
        raise InputError(
            f"Execution {latest.id} of {move.name} cannot be continued, because the move was changed since: {changed}.",
            f"Begin with a new plan: {command('pghaul', 'execute', move.name)} {again}. Or change the move back.",
        )


def _describe_change(plan: Plan, move: Move, servers: Collection[str]) -> str:
    now = {Side.OLD: move.old, Side.NEW: move.new}
    for login in plan.logins:
        if login.server != now[login.side] and login.server in servers:
            return f"its {login.side} server was {login.server}, and is {now[login.side]} now"
    if plan.data_directory and plan.data_directory != move.cluster:
        return f"its cluster was {plan.data_directory}, and is {move.cluster} now"
    if plan.target and plan.target != move.target:
        return f"its target was {plan.target}, and is {move.target} now"
    planned = plan.new_folders
    asked = {move.target, *move.tablespace_targets.values()}
    lacking = next((each for each in sorted(asked) if planned and each not in planned), None)
    if lacking is not None:
        return f"its plan does not know the folder {lacking} on the new server"
    # a root without a target of its own has the same path on both servers
    known = [PurePosixPath(each) for each in asked.union(plan.old_folders)]
    gone = (each for each in planned if not any(PurePosixPath(each).is_relative_to(folder) for folder in known))
    folder = next(gone, None)
    return "" if folder is None else f"its plan copies to {folder}, which the move does not name any more"


def find_cancellable(latest: Execution | None, move: str) -> Execution:
    """The execution to cancel; raises InputError where there is none under way."""
    if latest is None or latest.state not in {State.RUNNING, State.INTERRUPTED}:
        raise InputError(_no_execution_error(latest, move), _describe_next_commands(latest, move))
    return latest


def find_rollbackable(latest: Execution | None, move: str, *, alive: bool) -> Execution:
    """The execution to take back.

    Raises:
        InputError: there is nothing to take back.
        BlockedError: the new cluster was opened: what a person could do, and what would be lost.
    """
    if latest is None or latest.state is State.ROLLED_BACK:
        raise InputError(_no_execution_error(latest, move), _describe_next_commands(latest, move))
    if latest.kind is Kind.REHEARSAL:
        raise InputError(
            f"Execution {latest.id} of {move} is a rehearsal. The old cluster runs as before.", "nothing is to be done"
        )
    refuse_alive(latest, alive=alive)
    if latest.past_return:
        raise explain_no_return(latest)
    return latest


def require_execution(latest: Execution | None, move: str) -> Execution:
    """The execution to look at; raises InputError where there is none."""
    if latest is None:
        raise InputError(_no_execution_error(latest, move), f"To begin one: pghaul execute {quoted(move)}")
    return latest


def refuse_alive(latest: Execution, *, alive: bool) -> None:
    """Raise InputError while another program of this workstation carries it out."""
    if alive:
        raise InputError(
            f"Another pghaul on this workstation has been carrying out {latest.move} since "
            f"{latest.started_at:%Y-%m-%d %H:%M} UTC.",
            f"To see how far it is: pghaul execute {quoted(latest.move)} --status. Or end it: --cancel.",
        )


def explain_no_return(execution: Execution) -> BlockedError:
    """Why one action does not lead back any more, what would be lost, and the steps by which a person could."""
    opened = execution.cutover_at
    unseen = next((run.started_at for run in execution.openings if run.exit_status is None), None)
    if opened is not None and (unseen is None or unseen > opened):
        since = f"Clients have been able to connect to the new cluster since {opened:%Y-%m-%d %H:%M:%S} UTC."
    else:
        began = next(run.started_at for run in execution.openings if run.exit_status != NOT_OPENED)
        since = (
            f"The cutover began at {began:%Y-%m-%d %H:%M:%S} UTC, and its end was not seen: clients may have been able "
            "to connect to the new cluster since then."
        )
    return BlockedError(
        f"{since} What they have written since then is on the new server only, and a rollback would lose it.",
        "To keep it, move the new cluster back as a move of its own: pghaul move add … with the servers exchanged. To "
        f"give it up, see the commands for that: {command('pghaul', 'execute', execution.move, '--status')}",
    )


def list_manual_rollback_steps(plan: Plan) -> tuple[str, ...]:
    """The steps by which a person gives new up once it is open, a line each with its commands."""
    return tuple(map(by_hand, plan.back_with_loss))


def by_hand(step: Step) -> str:
    """Return a step with its commands as a line, for a person who runs them."""
    return f"{step.title} (on {step.server} as {step.user}): {chained(step.native)}"


def old_cluster_may_be_stopped(execution: Execution) -> bool:
    """Whether the execution has got so far that the old cluster may not run any more."""
    if execution.kind is Kind.REHEARSAL:
        return False
    stopping = {
        step.number for step in execution.plan.steps if step.id in {step_ids.STOP_OLD_CLUSTER, step_ids.CHECK_STOPPED}
    }
    return any(run.number in stopping and not run.back for run in execution.steps)


def _describe_next_commands(latest: Execution | None, move: str) -> str:
    script = "What an exported script has begun can be continued only by the script, with --from or --back."
    return (
        f"{script} To begin one: pghaul execute {quoted(move)}"
        if latest is None
        else f"To see it: pghaul execute {quoted(move)} --status"
    )


def _no_execution_error(latest: Execution | None, move: str) -> str:
    if latest is None:
        return f"The move {move} was never executed."
    return f"Execution {latest.id} of {move} is {latest.state}."
