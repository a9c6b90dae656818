"""Executions, their steps as they go, and the DBA's own commands for a move's hooks."""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import LargeBinary, delete, func, or_, select, type_coerce, update
from sqlalchemy.orm import Session, defer, joinedload, lazyload

from core import documents
from core.errors import HistoryError, InputError
from core.history.findings import loaded
from core.history.models import ExecutionRow, ExecutionStepRow, HookRow, MoveRow, ProfileRow
from core.history.recorded_profiles import WITH_SERVERS, move_of, move_row
from core.history.seal import STEP_COLUMNS, Seal, execution_words, execution_words_of, hook_words
from core.history.types import member, storable, unpacked
from core.migration.execution.status import explain_fixed_move, explain_unfinished, suggest_next_commands
from core.migration.model.execution import ENDED_EARLY, Execution, Kind, State, StepRun, new_token
from core.migration.model.move import Hook, HookCommand, HookSide, Move
from core.migration.model.plan import Plan
from core.migration.model.schedule import UNSCHEDULED, FailedTry, Schedule
from core.redaction import secret_words
from core.servers.profiles import Profile
from core.servers.shell import command
from core.sides import Side


def execution_started(session: Session, execution: Execution, process: str, seal: Seal) -> int:
    """Record a new execution and return its number.

    Args:
        process: the token of the process that carries it out.
        seal: signs the execution.
    """
    plan = documents.dump(storable(execution.plan))
    row = ExecutionRow(
        move_id=move_row(session, execution.move).id,
        kind=execution.kind.value,
        state=execution.state.value,
        token=execution.token,
        owner=execution.owner,
        process=process,
        started_at=execution.started_at,
        ended_at=execution.ended_at,
        message=execution.message,
        cancel_asked=execution.cancel_asked,
        plan=plan,
        schedule=None if execution.schedule == UNSCHEDULED else documents.dump(execution.schedule),
    )
    session.add(row)
    _put_seal(session, row, seal)
    return row.id


def recorded_here(session: Session, execution_id: int, seal: Seal) -> bool:
    """Return whether the execution, its plan and its steps are signed by this user."""
    return _holds(_row(session, execution_id), seal)


def take_over(session: Session, shown: Execution, repeated: Collection[int], seal: Seal) -> None:
    """Sign an execution of another workstation.

    The other one may still have it. Where nothing of it is left on the servers, it gets a token of its own here, so
    that each finds the lock of the other. What still runs on them, or waits there, is found by the old token alone.

    Args:
        shown: the execution as the user has seen it. If the recorded one differs, InputError is raised.
        repeated: the numbers of the steps that run again, so that their outcome does not count.
        seal: signs the execution.
    """
    row = _row(session, shown.id)
    if execution_of(row) != shown:
        raise InputError(f"execution {shown.id} has changed since it was shown", "show it again")
    for step in row.steps:
        step.void = step.void or (step.number in repeated and not step.back)
    if shown.state in ENDED_EARLY:
        row.token = new_token()
    _put_seal(session, row, seal)


def _holds(row: ExecutionRow, seal: Seal) -> bool:
    return seal.holds(row.seal, *execution_words(row))


def _put_seal(session: Session, row: ExecutionRow, seal: Seal) -> None:
    session.flush()  # numbers and relations are part of it
    row.seal = seal.of(*execution_words(row))


@contextlib.contextmanager
def _sealed(session: Session, row: ExecutionRow, seal: Seal) -> Iterator[None]:
    """Sign the execution again after the changes of the body, unless it was not signed by this user before."""
    held = _holds(row, seal)
    yield
    if held:
        _put_seal(session, row, seal)


def execution(session: Session, execution_id: int) -> Execution:
    """Return the execution with this number."""
    return execution_of(_row(session, execution_id))


def executions(session: Session, move: str) -> tuple[Execution, ...]:
    """Return all executions of a move, the newest first."""
    of = move_row(session, move).id
    newest = select(ExecutionRow).where(ExecutionRow.move_id == of).order_by(ExecutionRow.id.desc())
    return tuple(execution_of(row) for row in session.scalars(newest))


def execution_with_token(session: Session, token: str) -> Execution | None:
    """Return the newest execution with this token; None if there is none."""
    newest = select(ExecutionRow).where(ExecutionRow.token == token).order_by(ExecutionRow.id.desc()).limit(1)
    row = session.scalar(newest)
    return None if row is None else execution_of(row)


def own_executions(session: Session, move: str, seal: Seal) -> frozenset[int]:
    """Return the numbers of the executions of a move that are signed by this user."""
    rows = session.scalars(select(ExecutionRow).where(ExecutionRow.move_id == move_row(session, move).id))
    return frozenset(row.id for row in rows if seal.vouches_for(row.seal, *execution_words(row)))


def executions_on_machines_of_now(session: Session, move: str) -> frozenset[int]:
    """Return the numbers of the executions of a move that began since its servers last named another machine."""
    of = move_row(session, move)
    changed = [server.changed_at for server in (of.old, of.new) if server.changed_at is not None]
    since = [ExecutionRow.started_at >= at for at in changed]
    return frozenset(session.scalars(select(ExecutionRow.id).where(ExecutionRow.move_id == of.id, *since)))


def latest_execution(session: Session, move: str) -> Execution | None:
    """Return the newest execution of a move; None if there is none."""
    of = move_row(session, move).id
    newest = select(ExecutionRow).where(ExecutionRow.move_id == of).order_by(ExecutionRow.id.desc()).limit(1)
    row = session.scalar(newest)
    return None if row is None else execution_of(row)


def refuse_other_choice(session: Session, name: str, move: Move) -> None:
    """Raise InputError if the choice of edited settings would change while an execution of the move is unfinished.

    Both servers are started by the plan of that execution, which was made with the recorded choice.

    Args:
        name: the recorded name of the move.
        move: the move as it is to be saved.
    """
    row = session.scalar(select(MoveRow).where(MoveRow.name == name))
    newest = None if row is None or row.edited == move.edited else latest_execution(session, name)
    if newest is None or newest.state in {State.DONE, State.ROLLED_BACK}:
        return
    if newest.kind is Kind.REAL or newest.state in {State.RUNNING, State.INTERRUPTED}:
        end = "--rollback" if newest.kind is Kind.REAL else "--cancel"
        execute = command("pghaul", "execute", name)
        raise InputError(
            f"the choice for edited settings cannot be changed now: execution {newest.id} of {name} has not ended, "
            "and its "
            "plan depends on the present choice",
            f"continue it: {execute} --resume; or end it, and then change the choice: {execute} {end}",
        )


def refuse_fixed(session: Session, name: str, move: Move) -> None:
    """Raise InputError if servers or paths would change of a move that is finished, interrupted or running.

    Args:
        name: the recorded name of the move.
        move: the move as it is to be saved. Only its servers and the paths of the cluster count here.
    """
    row = session.scalar(select(MoveRow).where(MoveRow.name == name))
    if row is None or _servers_and_paths(move_of(row)) == _servers_and_paths(move):
        return
    why = explain_fixed_move(executions(session, name))
    if not why:
        return
    raise InputError(
        f"The servers and paths of {name} cannot be changed. {why}",
        f"Add another move for them. To see the state of this one: {command('pghaul', 'execute', name)} --status",
    )


def refuse_removal(session: Session, name: str, alive: Callable[[str], bool]) -> None:
    """Raise InputError if a move would be removed that is not over.

    What is on the servers would be known to nobody, and the move could be added again with other paths. A rehearsal
    that nobody carries out any more has stopped no cluster: it may go.

    Args:
        name: the name of the move.
        alive: whether the process of a token lives.
    """
    latest = latest_execution(session, name)
    if latest is None:
        return
    process = process_of(session, latest.id)
    carried_out = process is not None and alive(process)
    why = explain_unfinished(latest) if carried_out or latest.kind is Kind.REAL else ""
    if why:
        raise InputError(f"The move {name} cannot be removed now. {why}", suggest_next_commands(latest))


def refuse_server_in_use(session: Session, name: str, profile: Profile, alive: Callable[[str], bool]) -> None:
    """Raise InputError if a server would be renamed or reached otherwise while a move of it is not over.

    Its next step would run on another machine, or on none. While no program carries the move out, only the machine
    must stay the same: by another user or jump host a server that was lost may be reached again.

    Args:
        name: the recorded name of the server.
        profile: the server as it is to be saved.
        alive: whether the process of a token lives.
    """
    row = session.scalar(select(ProfileRow).where(ProfileRow.name == name))
    if row is None:
        return
    changed = {field for field in _REACHED_BY if getattr(row, field) != getattr(profile, field)}
    use = find_use(session, name, alive) if changed else None
    if use is not None and changed & use.fixed:
        raise InputError(
            f"The server {name} cannot be renamed or reached in another way now, because the move {use.move} uses it. "
            f"{use.why}",
            "Continue the move, or end it. What can be done is shown by: "
            f"{command('pghaul', 'execute', use.move)} --status. If the server has another address now, name it in "
            f"~/.ssh/config as HostName of Host {row.address}.",
        )


@dataclass(frozen=True, slots=True)
class ServerUse:
    """A move that is not over and uses a server.

    Attributes:
        fixed: the fields of the profile that cannot be changed now.
        why: what has not ended, in a sentence.
    """

    move: str
    fixed: frozenset[str]
    why: str


def find_use(session: Session, name: str, alive: Callable[[str], bool]) -> ServerUse | None:
    """Return the use of a server that fixes most of its fields; None if all can be changed.

    Args:
        session: of the history.
        name: the recorded name of the server.
        alive: whether the process of a token lives.
    """
    row = session.scalar(select(ProfileRow).where(ProfileRow.name == name))
    if row is None:
        return None
    uses = or_(MoveRow.old_id == row.id, MoveRow.new_id == row.id)
    found: list[ServerUse] = []
    for move in session.scalars(select(MoveRow.name).where(uses).order_by(MoveRow.name)):
        latest = latest_execution(session, move)
        why = "" if latest is None else explain_unfinished(latest)
        process = None if latest is None else process_of(session, latest.id)
        if why:
            carried_out = process is not None and alive(process)
            found.append(ServerUse(move, _REACHED_BY if carried_out else _WHICH_MACHINE, why))
    return max(found, key=lambda use: len(use.fixed), default=None)


_WHICH_MACHINE = frozenset({"address", "port"})
_REACHED_BY = _WHICH_MACHINE | {"name", "user", "jump"}
"""The fields of a profile by which a server is found and reached."""


def _servers_and_paths(move: Move) -> tuple[str, str, str, str, dict[str, str]]:
    return move.old, move.new, move.cluster, move.target, move.tablespace_targets


def unfinished(session: Session) -> tuple[Execution, ...]:
    """Return the newest execution of each move, if it is neither done nor rolled back."""
    newest = select(func.max(ExecutionRow.id)).group_by(ExecutionRow.move_id)
    over = (State.DONE.value, State.ROLLED_BACK.value)
    rows = select(ExecutionRow).where(ExecutionRow.id.in_(newest), ExecutionRow.state.not_in(over))
    return tuple(execution_of(row) for row in session.scalars(rows.order_by(ExecutionRow.id.desc())))


def execution_of(row: ExecutionRow) -> Execution:
    """Return the execution of a row."""
    return Execution(
        id=row.id,
        move=row.move.name,
        kind=member(Kind, row.kind),
        state=member(State, row.state),
        token=row.token,
        owner=row.owner,
        started_at=row.started_at,
        ended_at=row.ended_at,
        plan=dataclasses.replace(_plan(row.plan), move=row.move.name),
        steps=tuple(_step(step) for step in row.steps),
        message=row.message,
        cancel_asked=row.cancel_asked,
        follow_up_done=frozenset() if row.follow_up_done is None else loaded(frozenset[str], row.follow_up_done),
        schedule=_schedule(row),
    )


def _schedule(row: ExecutionRow) -> Schedule:
    return UNSCHEDULED if row.schedule is None else loaded(Schedule, row.schedule)


def execution_changed(
    session: Session, execution_id: int, state: State, message: str, process: str, seal: Seal
) -> None:
    """Record the state of an execution; `process` is the token of the process that carries it out."""
    row, running = _row(session, execution_id), state is State.RUNNING
    with _sealed(session, row, seal):
        row.state, row.message = state.value, message
        row.ended_at = None if running else datetime.now(UTC)
        row.process = process if running else None
        row.cancel_asked = row.cancel_asked and not running


def try_failed(session: Session, execution_id: int, failed: FailedTry, seal: Seal) -> None:
    """Record a failure after which the execution waits and goes on."""
    row = _row(session, execution_id)
    schedule = _schedule(row)
    with _sealed(session, row, seal):
        row.schedule = documents.dump(schedule.with_failed_try(failed))


def try_began(session: Session, execution_id: int, at: datetime, seal: Seal) -> None:
    """Record that the execution waits no more after its last failure, if it still would by that time."""
    row = _row(session, execution_id)
    schedule = _schedule(row)
    if schedule.failed_tries and schedule.failed_tries[-1].next_at > at:
        *earlier, last = schedule.failed_tries
        with _sealed(session, row, seal):
            begun = (*earlier, dataclasses.replace(last, next_at=at))
            row.schedule = documents.dump(dataclasses.replace(schedule, failed_tries=begun))


def tick_follow_up(session: Session, execution_id: int, task: str, *, done: bool) -> None:
    """Record whether the follow-up task with this id is done."""
    row = _row(session, execution_id)
    ticked = execution_of(row).follow_up_done
    row.follow_up_done = documents.dump(sorted(ticked | {task} if done else ticked - {task}))


def process_of(session: Session, execution_id: int) -> str | None:
    """Return the token of the process that carries it out, even if it is dead; None if the execution has ended."""
    return _row(session, execution_id).process


def ask_cancel(session: Session, execution_id: int) -> None:
    """Record that a user has asked to cancel the execution."""
    _row(session, execution_id).cancel_asked = True


def cancel_asked(session: Session, execution_id: int) -> bool:
    """Return whether a user has asked to cancel the execution."""
    return bool(session.scalar(select(ExecutionRow.cancel_asked).where(ExecutionRow.id == execution_id)))


def step_started(session: Session, execution_id: int, run: StepRun, seal: Seal) -> int:
    """Record the start of an attempt at a step, and return the number of the attempt.

    Raises:
        HistoryError: the execution is not signed by this user any more, so something has changed it since it began.
    """
    step = ExecutionStepRow(
        execution_id=execution_id,
        number=run.number,
        attempt=run.attempt,
        back=run.back,
        void=run.void,
        title=run.title,
        started_at=run.started_at,
        output=run.output,
        message=run.message,
    )
    row = _row(session, execution_id)
    if not _holds(row, seal):
        raise HistoryError(
            f"execution {execution_id} of {row.move.name} was changed in the history while it was carried out, or its "
            "servers were, so its next step was not begun",
            f"check the servers of the move, then continue it: {command('pghaul', 'execute', row.move.name)} --resume",
        )
    row.steps.append(step)
    _put_seal(session, row, seal)
    return step.id


def step_progressed(session: Session, run_id: int, done: int, total: int | None) -> None:
    """Record the progress of an attempt in bytes, unless it has ended."""
    row = session.get_one(ExecutionStepRow, run_id)
    if row.ended_at is None:
        row.bytes, row.total = done, total


def execution_of_run(session: Session, run_id: int) -> int:
    """Return the number of the execution to which an attempt at a step belongs."""
    return session.get_one(ExecutionStepRow, run_id).execution_id


def step_ended(session: Session, run: StepRun, seal: Seal) -> None:
    """Record the end of an attempt. The bytes that a failed attempt has copied stay recorded."""
    row = session.get_one(ExecutionStepRow, run.id)
    with _sealed(session, _row(session, row.execution_id), seal):
        row.ended_at, row.exit_status = run.ended_at, run.exit_status
        if run.bytes is not None or run.done:
            row.bytes = run.bytes
        row.output, row.message = run.output, run.message


def steps_void(session: Session, execution_id: int, first: int, seal: Seal) -> None:
    """Mark the steps of the plan from the number `first` on as not done."""
    table = ExecutionStepRow
    later = (table.execution_id == execution_id, table.number >= first, table.back.is_(False))
    with _sealed(session, _row(session, execution_id), seal):
        session.execute(update(table).where(*later).values(void=True))


def save_hook(session: Session, move: str, hook: HookCommand, seal: Seal) -> None:
    """Save the command for a hook; it replaces the previous one."""
    if words := secret_words(hook.command):
        raise InputError(
            f"the command for {hook.hook} contains what looks like a secret, which the history would record, after: "
            f"{', '.join(words)}",
            "let the command read it from a file that its user alone may read: ~/.pgpass, curl --netrc, mysql "
            '--defaults-file, sshpass -f, or "$(cat FILE)" in its place',
        )
    of = move_row(session, move)
    row = HookRow(move_id=of.id, hook=hook.hook.value, side=hook.side, command=hook.command, user=hook.user)
    row.seal = seal.of(*hook_words(row, of))
    session.merge(row)


@contextlib.contextmanager
def preserving_hooks(session: Session, seal: Seal) -> Iterator[None]:
    """Sign the hooks of this user again after the body has changed their move or its servers."""
    found = [(row, session.get_one(MoveRow, row.move_id)) for row in session.scalars(select(HookRow))]
    own = [(row, of) for row, of in found if seal.vouches_for(row.seal, *hook_words(row, of))]
    yield
    session.flush()
    for row, of in own:
        session.refresh(of)  # it may have other servers now
        row.seal = seal.of(*hook_words(row, of))


def remove_hook(session: Session, move: str, hook: Hook) -> None:
    """Remove the command for a hook, so that the operator does the step by hand."""
    of = move_row(session, move).id
    session.execute(delete(HookRow).where(HookRow.move_id == of, HookRow.hook == hook.value))


def hooks(session: Session, move: str, seal: Seal) -> Sequence[HookCommand]:
    """Return the commands for the hooks of a move, in the order of the plan."""
    move_row(session, move)
    return hooks_of(session, [move], seal).get(move, ())


def hooks_of(session: Session, moves: Sequence[str], seal: Seal) -> dict[str, Sequence[HookCommand]]:
    """Return the commands for the hooks of these moves that have any, by move and in the order of the plan."""
    query = select(HookRow, MoveRow).join(MoveRow, MoveRow.id == HookRow.move_id).options(*WITH_SERVERS)
    found: dict[str, list[HookCommand]] = {}
    for row, of in session.execute(query.where(MoveRow.name.in_(moves))):
        found.setdefault(of.name, []).append(_hook(row, of, seal))
    order = list(Hook)
    return {move: sorted(of_move, key=lambda each: order.index(each.hook)) for move, of_move in found.items()}


def unsigned_executions(session: Session, moves: Sequence[str], seal: Seal) -> dict[str, list[int]]:
    """Return the numbers of the executions that are not signed by this user, by move."""
    # neither an object for each step nor the text of each plan: a list of moves would wait for them
    of_moves = MoveRow.name.in_(moves)
    columns = select(ExecutionStepRow.execution_id, *STEP_COLUMNS).join(
        ExecutionRow, ExecutionRow.id == ExecutionStepRow.execution_id
    )
    steps: dict[int, list[Sequence[Any]]] = {}
    for number, *step in session.execute(columns.join(ExecutionRow.move).where(of_moves).order_by(ExecutionStepRow.id)):
        steps.setdefault(number, []).append(step)
    query = select(ExecutionRow, type_coerce(ExecutionRow.plan, LargeBinary)).join(ExecutionRow.move).where(of_moves)
    options = (
        joinedload(ExecutionRow.move).options(*WITH_SERVERS),
        defer(ExecutionRow.plan),
        lazyload(ExecutionRow.steps),
    )
    found: dict[str, list[int]] = {}
    for row, plan in session.execute(query.options(*options).order_by(ExecutionRow.id)):
        if not seal.vouches_for(row.seal, *execution_words_of(row, unpacked(plan), steps.get(row.id, ()))):
            found.setdefault(row.move.name, []).append(row.id)
    return found


def _hook(row: HookRow, of: MoveRow, seal: Seal) -> HookCommand:
    from_elsewhere = not seal.vouches_for(row.seal, *hook_words(row, of))
    side: HookSide = "workstation" if row.side == "workstation" else member(Side, row.side)
    return HookCommand(member(Hook, row.hook), side, row.command, row.user, from_elsewhere)


def _row(session: Session, execution_id: int) -> ExecutionRow:
    row = session.get(ExecutionRow, execution_id)
    if row is None:
        raise InputError(f"there is no execution {execution_id}", "pghaul history list shows what there is")
    return row


@functools.lru_cache(maxsize=4)
def _plan(document: str) -> Plan:
    """Return the plan of an execution. It never changes, and is read between all steps, so it is cached."""
    return loaded(Plan, document)


def _step(row: ExecutionStepRow) -> StepRun:
    return StepRun(
        id=row.id,
        number=row.number,
        title=row.title,
        attempt=row.attempt,
        started_at=row.started_at,
        ended_at=row.ended_at,
        exit_status=row.exit_status,
        bytes=row.bytes,
        output=row.output,
        message=row.message,
        back=row.back,
        void=row.void,
        total=row.total,
    )
