"""How an execution stands in the history while somebody is at it, and once nobody is any more."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from core.errors import Cancelled, HistoryError, HistoryLostError, PghaulError, UnreachableError
from core.migration.execution.executor import Executor
from core.migration.execution.lock import HeldError
from core.migration.model.execution import Execution, State
from core.servers.shell import command

PROGRAM_ENDED = "the program ended"
"""Why an execution is interrupted whose program said nothing more."""


@contextmanager
def record_state(executor: Executor, done: State = State.DONE) -> Iterator[None]:
    """The state of the execution in the history, however this ends; `done`: what it is when it ends well."""
    before = executor.execution
    with _explain_lost_history(before.move):
        executor.journal.execution_changed(executor.id, State.RUNNING)
        with _record_end(executor, before, done):
            yield


@contextmanager
def _record_end(executor: Executor, before: Execution, done: State) -> Iterator[None]:
    state, message = State.INTERRUPTED, PROGRAM_ENDED
    try:
        yield
        state, message = done, ""
    except HeldError as error:
        state, message = _state_before(before, error)
        raise
    except UnreachableError as error:
        state, message = State.INTERRUPTED, error.message
        raise _add_resume_hint(error, executor) from error
    except Cancelled:
        state, message = State.CANCELLED, "cancelled"
        raise
    except PghaulError as error:
        state, message = State.STOPPED, error.message
        raise
    finally:
        executor.journal.execution_changed(executor.id, state, message)


@contextmanager
def _explain_lost_history(move: str) -> Iterator[None]:
    """While a team's history is lost nothing of an execution is recorded: another workstation may go on with it."""
    try:
        yield
    except HistoryLostError as error:
        on = command("pghaul", "execute", move)
        hint = f"What runs on the servers goes on. When the history answers again: {on} --resume"
        raise HistoryLostError(error.message, hint) from error


def _state_before(execution: Execution, error: HeldError) -> tuple[State, str]:
    """How it stood before it was gone on with: whoever finds the door closed has changed nothing."""
    if not execution.steps:
        return State.STOPPED, error.message
    if execution.state is State.RUNNING:
        return State.INTERRUPTED, PROGRAM_ENDED
    return execution.state, execution.message


def _add_resume_hint(error: UnreachableError, executor: Executor) -> UnreachableError:
    hint = f"What runs there goes on. When the server answers again: pghaul execute {executor.execution.move} --resume"
    return UnreachableError(error.message, hint)


@contextmanager
def watch_progress(executor: Executor) -> Iterator[None]:
    """Each second: tell how far it is, and cancel the job when another program of this workstation asks for it."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1.0):
            with suppress(HistoryError):  # who works meets it too, and says it
                executor.tell_progress()
                if executor.journal.cancel_asked(executor.id):
                    executor.job.cancel()
                    return

    watcher = threading.Thread(target=watch, name="who looks how far it is")
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
