"""What a seal is put on: of an execution, a hook and a waiver all that decides what runs, and what is left out.

Whoever has the file without the key can put an older state of a row back as it once was sealed, as with a backup; what
never was so bears no seal that holds.
"""

from datetime import UTC, datetime
from hashlib import sha256

from core.history.models import ExecutionRow, ExecutionStepRow, HookRow, MoveRow, ProfileRow, WaiverRow
from core.history.types import storable_text


def execution_words(row: ExecutionRow) -> tuple[str, ...]:
    """Its number, by which the latest is known, the plan, on which servers, how it stands and how each try came out."""
    of = ("execution", str(row.id), str(row.move_id), *_server(row.move.old), *_server(row.move.new))
    plan = sha256(row.plan.encode()).hexdigest()  # long, and sealed anew with each step
    return (*of, row.token, row.kind, plan, row.state, *(word for step in row.steps for word in _step(step)))


def hook_words(row: HookRow, move: MoveRow) -> tuple[str, ...]:
    """The command, and where and as whom it runs, of the move as it is."""
    return ("hook", *_move(move), row.hook, row.side, storable_text(row.command), row.user or "")


def waiver_words(row: WaiverRow, move: MoveRow) -> tuple[str, ...]:
    """What was taken on, by whom and when, of the move as it was then."""
    words = (row.check, row.reason, row.waived_by, row.status, row.old, row.new)
    return ("waiver", *_move(move), _instant(row.waived_at), *map(storable_text, words))


def _move(row: MoveRow) -> tuple[str, ...]:
    """What is moved, from where to where."""
    return (str(row.id), row.cluster, row.target, *_server(row.old), *_server(row.new))


def _server(row: ProfileRow) -> tuple[str, ...]:
    """Which machine it is; who logs in and how may change while an execution waits."""
    return (row.address, str(row.port))


def _step(row: ExecutionStepRow) -> tuple[str, ...]:
    numbers = (row.id, row.number, row.attempt, row.back, row.void, row.exit_status)
    return (*map(str, numbers), _instant(row.started_at), _instant(row.ended_at), row.title, row.output, row.message)


def _instant(at: datetime | None) -> str:
    return "" if at is None else at.astimezone(UTC).isoformat()
