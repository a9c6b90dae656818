"""Histories for pictures and for tests of the layout: empty, the longest names, and an execution under way."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.history import example
from core.history.store import Store
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.plan import Step
from core.migration.model.schedule import schedule_of
from gui.asker import Question, StepQuestion, StopQuestion
from tests.gui import fleets

LONG = 98
"""The most characters of the name of a server or a move."""
FIRST_PASS, FINAL_CHECK = "pre-copy/1/data", step_ids.COMPARE_CHECKSUMS


def long_name(begin: str) -> str:
    """Return the longest name that begins so."""
    return f"{begin}-{'of-the-accounting-department-' * 4}"[:LONG].rstrip("-")


def lay_empty(folder: Path) -> str:
    """Lay a history without anything in it, and return the name of its move: none."""
    with Store.open(folder):
        return ""


def lay_example(folder: Path) -> str:
    """Lay the example, and return the name of its move."""
    example.lay(folder)
    return example.MOVE


def lay_long_names(folder: Path) -> str:
    """Lay the example with the longest names."""
    example.lay(folder)
    with Store.open(folder) as store:
        move = store.move(example.MOVE)
        for name in (move.old, move.new):
            store.update_profile(replace(store.profile(name), name=long_name(name)), name)
        store.update_move(replace(store.move(example.MOVE), name=long_name("move")), example.MOVE)
    return long_name("move")


def lay_fleet(folder: Path) -> str:
    """Lay what a survey of a hundred servers leaves, and return the name of one of its moves."""
    with Store.open(folder) as store:
        fleets.fill(store)
        return store.moves()[0].name


def lay_small_fleet(folder: Path) -> str:
    """Lay a fifth of it."""
    with Store.open(folder) as store:
        fleets.fill_some(store)
        return store.moves()[0].name


def begin(store: Store, running: str) -> Execution:
    """Begin the example's move again, as far as the step with that id, which is under way for some seconds."""
    past = next(one for one in store.executions(example.MOVE) if one.kind is Kind.REAL)
    now = datetime.now(UTC)
    plan, at = past.plan, _step(past, running).number
    ended = [run for run in past.steps if run.number < at and run.ended_at is not None]
    shift = now - timedelta(seconds=12) - max(run.ended_at for run in ended if run.ended_at is not None)
    begun = replace(past, id=0, state=State.RUNNING, started_at=past.started_at + shift, ended_at=None, steps=())
    number = store.execution_started(replace(begun, plan=plan, message="", token="c0ffee00"))
    for run in ended:
        started = replace(run, id=0, started_at=run.started_at + shift)
        over = None if run.ended_at is None else run.ended_at + shift
        store.step_ended(replace(started, id=store.step_started(number, started), ended_at=over))
    step = _step(past, running)
    run_of = replace(past.latest(at) or past.steps[0], id=0, started_at=now - timedelta(seconds=12), ended_at=None)
    under_way = store.step_started(number, replace(run_of, exit_status=None, bytes=None, output="", message=""))
    if step.root:
        store.step_progressed(under_way, 1_100_000_000, 1_616_356_304)
    return store.execution(number)


def wait_to_start(store: Store) -> Execution:
    """Begin the example's move again, so that it waits for the next 22:00 with its first step."""
    past, now = next(one for one in store.executions(example.MOVE) if one.kind is Kind.REAL), datetime.now(UTC)
    begun = replace(past, id=0, state=State.RUNNING, started_at=now, ended_at=None, steps=(), message="")
    times = schedule_of("22:00", "23:30", now)
    return store.execution(store.execution_started(replace(begun, token="c0ffee00", schedule=times)))


def _step(execution: Execution, step_id: str) -> Step:
    found = execution.plan.step(step_id)
    if found is None:
        raise LookupError(step_id)
    return found


def question_of(execution: Execution, step_id: str) -> Question:
    """Return the question that the runner asks at that step."""
    if step_id == step_ids.LIST_CLIENTS:
        clients = ("3 of app on shop from 10.0.0.7, web", "1 of report on shop from 10.0.0.9, nightly")
        return StopQuestion("old", execution.plan.cluster, clients, warm=True)
    step = _step(execution, step_id)
    return StepQuestion(step.server, step.title, step.reason, step.table, step.id)


HISTORIES: dict[str, Callable[[Path], str]] = {
    "empty": lay_empty,
    "long-names": lay_long_names,
    "many-servers": lay_fleet,
}
UNDER_WAY = {
    "running": FIRST_PASS,
    "downtime": FINAL_CHECK,
    "stop": step_ids.LIST_CLIENTS,
    "decision": step_ids.DECIDE,
}
"""What is shown of an execution under way, and the step that it has reached."""
ASKED = ("stop", "decision")
