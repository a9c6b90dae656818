"""One process alone carries an execution out, and one of a move: on this workstation, or on any of a team."""

from collections.abc import Callable

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import InputError
from core.history.models import ExecutionRow
from core.history.profiles import move_row
from core.servers.shell import command


def refuse_carried_out(session: Session, move: str, mine: str, alive: Callable[[str], bool]) -> None:
    """Raise InputError where another process than `mine` carries an execution of the move out at this moment.

    Who asked before, and saw none, may have been overtaken: by a program here, or by another workstation of a team.
    """
    at_it = (ExecutionRow.move_id == move_row(session, move).id, ExecutionRow.process.is_not(None))
    for number, process in session.execute(select(ExecutionRow.id, ExecutionRow.process).where(*at_it)):
        if process is not None and process != mine and alive(process):
            raise InputError(
                f"execution {number} of {move} is being carried out by another pghaul",
                _look(move),
            )


def refuse_taken_over(session: Session, execution_id: int, mine: str, alive: Callable[[str], bool]) -> None:
    """Raise InputError where another process than `mine` carries that execution out by now.

    To a team this one was gone while its connection was cut, and somebody may have gone on with what it was at.
    """
    row = session.get(ExecutionRow, execution_id)
    if row is not None and row.process is not None and row.process != mine and alive(row.process):
        raise InputError(
            f"execution {execution_id} of {row.move.name} was continued by another pghaul",
            f"do not continue it here; {_look(row.move.name)}",
        )


def _look(move: str) -> str:
    return f"show its state: {command('pghaul', 'execute', move)} --status"
