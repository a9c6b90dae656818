"""How an execution stands in the history while somebody is at it, and once nobody is any more."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from core.errors import Cancelled, HistoryError, PghaulError, UnreachableError
from core.migration.execution.executor import Executor
from core.migration.execution.lock import HeldError
from core.migration.model.execution import Execution, State


@contextmanager
def recorded(work: Executor, done: State = State.DONE) -> Iterator[None]:
    """The state of the execution in the history, however this ends; `done`: what it is when it ends well."""
    before = work.execution
    work.journal.execution_changed(work.id, State.RUNNING)
    state, message = State.INTERRUPTED, "the program ended"
    try:
        yield
        state, message = done, ""
    except HeldError as error:
        state, message = _before(before, error)
        raise
    except UnreachableError as error:
        state, message = State.INTERRUPTED, error.message
        raise _advised(error, work) from error
    except Cancelled:
        state, message = State.CANCELLED, "cancelled"
        raise
    except PghaulError as error:
        state, message = State.STOPPED, error.message
        raise
    finally:
        work.journal.execution_changed(work.id, state, message)


def _before(execution: Execution, error: HeldError) -> tuple[State, str]:
    """How it stood before it was gone on with: whoever finds the door closed has changed nothing."""
    if not execution.steps:
        return State.STOPPED, error.message
    if execution.state is State.RUNNING:
        return State.INTERRUPTED, "the program ended"
    return execution.state, execution.message


def _advised(error: UnreachableError, work: Executor) -> UnreachableError:
    hint = f"what runs there goes on; when it answers again: pghaul execute {work.execution.move} --resume"
    return UnreachableError(error.message, hint)


@contextmanager
def watched(work: Executor) -> Iterator[None]:
    """Each second: tell how far it is, and cancel the job when another program of this workstation asks for it."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1.0):
            with suppress(HistoryError):  # who works meets it too, and says it
                work.tell_progress()
                if work.journal.cancel_asked(work.id):
                    work.job.cancel()
                    return

    watcher = threading.Thread(target=watch, name="who looks how far it is")
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
