"""The pages Rehearse and Move over each state of an execution: what they say is so, and nothing fails."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from PySide6.QtGui import QPalette
from pytestqt.qtbot import QtBot

from core.history.store import Store
from core.migration.execution.status import SENTENCES, UNSEEN, MoveStatus
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, NOT_OPENED, Execution, Kind, State, StepRun
from core.migration.model.plan import Plan, Step
from core.sides import Side
from core.tones import Tone
from gui.design.measures import Type, font
from gui.design.palette import colour
from gui.destinations import PageId
from gui.models.headline import headline
from gui.models.steps import Part, progressed
from gui.pages.execution import ExecutionPage
from gui.window import MainWindow
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page
from tests.steps import make_step


def step(step_id: str, number: int, *, side: Side = Side.OLD, down: bool = True, **more: Any) -> Step:
    server = "db-old" if side is Side.OLD else "db-new"
    return make_step(step_id, step_id, side, number=number, server=server, downtime=down, expected_seconds=5.0, **more)


STEPS = (
    step("warm", 1, down=False, in_rehearsal=True, precopy_pass=1),
    step(step_ids.STOP_OLD_CLUSTER, 2),
    step(step_ids.CHECK_STOPPED, 3),
    step(step_ids.FENCE_OLD, 4),
    step("final", 5, in_rehearsal=True),
    step(step_ids.START_LOCALLY, 6, side=Side.NEW),
    step(step_ids.CUTOVER, 7, side=Side.NEW),
)
PLAN = Plan(samples.MOVE.name, "rsync", "why", STEPS, samples.MORNING, cluster="15/main")
BUTTONS = ("start", "resume", "end", "back")


@dataclass(frozen=True)
class Case:
    """An execution of which so many steps are done, the next one ended so (None: it was lost on its way)."""

    state: State
    done: int
    status: MoveStatus
    possible: set[str]
    failed: int | None = None
    kind: Kind = Kind.REAL
    back: bool = False


GO_ON, NEW = {"resume", "back"}, {"start"}
CASES = {
    "failed before the stop": Case(State.STOPPED, 0, MoveStatus.UNTOUCHED, {"start", *GO_ON}, 12),
    "failed in the downtime": Case(State.STOPPED, 4, MoveStatus.STOPPED, GO_ON, 12),
    "interrupted before the stop": Case(State.INTERRUPTED, 0, MoveStatus.UNTOUCHED, {"end", *GO_ON}),
    "interrupted at the stop": Case(State.INTERRUPTED, 1, MoveStatus.STOPPING, GO_ON),
    "interrupted in the downtime": Case(State.INTERRUPTED, 4, MoveStatus.STOPPED, GO_ON),
    "interrupted at the decision": Case(State.INTERRUPTED, 6, MoveStatus.OPENING, {"resume"}),
    "could not be opened": Case(State.STOPPED, 6, MoveStatus.NOT_OPENED, GO_ON, NOT_OPENED),
    "cancelled": Case(State.CANCELLED, 0, MoveStatus.UNTOUCHED, {"start", *GO_ON}, CANCELLED_STEP),
    "done": Case(State.DONE, 7, MoveStatus.MOVED, set()),
    "rolled back": Case(State.ROLLED_BACK, 6, MoveStatus.ROLLED_BACK, NEW, back=True),
    "rolling back": Case(State.INTERRUPTED, 6, MoveStatus.ROLLING_BACK, GO_ON, back=True),
    "rehearsed": Case(State.DONE, 7, MoveStatus.UNTOUCHED, NEW, kind=Kind.REHEARSAL),
    "rehearsal failed": Case(State.STOPPED, 1, MoveStatus.UNTOUCHED, {"start", "resume"}, 12, kind=Kind.REHEARSAL),
}
SIZES = {"none of none": (0, 0), "more than Qt's int": (2**63 - 1, 2**62), "unknown": (7, None), "below zero": (-1, 5)}


def record(store: Store, case: Case, size: tuple[int, int | None] = (3 << 30, 12 << 30)) -> Execution:
    """The execution in the history."""
    now = datetime.now(UTC)
    started = Execution(0, PLAN.move, case.kind, State.RUNNING, "c0ffee00", "dba@desk", now, None, PLAN)
    number = store.execution_started(started)
    taken = [each for each in STEPS if case.kind is Kind.REAL or each.in_rehearsal]
    for each in taken[: case.done]:
        run = StepRun(0, each.number, each.title, 1, now)
        store.step_ended(replace(run, id=store.step_started(number, run), ended_at=now, exit_status=0, bytes=3 << 30))
    if case.back:
        run = StepRun(0, 6, "stop new", 1, now, back=True)
        store.step_ended(replace(run, id=store.step_started(number, run), ended_at=now, exit_status=0))
    elif case.done < len(taken):
        run = StepRun(0, taken[case.done].number, taken[case.done].title, 1, now)
        begun = store.step_started(number, run)
        store.step_progressed(begun, *size)
        if case.failed is not None:
            store.step_ended(replace(run, id=begun, ended_at=now, exit_status=case.failed, message="it failed"))
    if case.state is not State.RUNNING:
        store.execution_changed(number, case.state)
    return store.execution(number)


@pytest.fixture
def shown(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> Callable[..., ExecutionPage]:
    """The page over that execution, as the history has it."""

    def show(case: Case, size: tuple[int, int | None] = (3 << 30, 12 << 30)) -> ExecutionPage:
        record(full_store, case, size)
        made = page(qtbot, full_window, PageId.REHEARSE if case.kind is Kind.REHEARSAL else PageId.MOVE)
        full_window.work.changed.emit()
        at_rest(qtbot, full_window)
        assert isinstance(made, ExecutionPage)
        made.grab()
        return made

    return show


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_page_and_the_strip_say_what_is_so(
    name: str, shown: Callable[..., ExecutionPage], full_window: MainWindow
) -> None:
    case = CASES[name]
    made = shown(case)
    told = {sentence for sentence in SENTENCES.values() if sentence in made.summary.text()}
    assert told == {SENTENCES[case.status]}
    assert {each for each in BUTTONS if getattr(made, each).isEnabled()} == case.possible
    under_way = [part.under_way for part in progressed(made.state.execution)] if made.state.execution else []
    assert any(under_way) is (case.state not in {State.DONE, State.ROLLED_BACK})
    parts = {row.part for row in made.table.rows.rows}
    assert (Part.DOWN in parts) is (case.kind is Kind.REAL)
    ticks = made.state.downtime is not None and made.state.downtime.ended_at is None
    over = case.state in {State.DONE, State.ROLLED_BACK} or case.status in UNSEEN
    assert ticks is (case.kind is Kind.REAL and case.done > 0 and not over)
    ended = case.state in {State.DONE, State.ROLLED_BACK}
    assert made.clock.isHidden() is made.figure.isHidden() is (made.state.downtime is None or ended)
    assert made.tiles.isHidden() is (not ended)
    assert made.parts.isHidden() is ended
    said = headline(made.state, asked=False)
    assert said is not None
    assert said.text == made.card.line.text()
    assert (said.tone is Tone.GOOD) is (case.state is State.DONE)
    assert (said.tone is Tone.BAD) is ticks
    if made.state.downtime is not None and not ended:
        size = Type.CLOCK if ticks else Type.FIGURE
        assert made.figure.font().pixelSize() == font(size).pixelSize()
        red = made.figure.palette().color(QPalette.ColorRole.WindowText) == colour(Tone.BAD)
        assert red is ticks
    strip = full_window.status_banner
    if not strip.isHidden():
        assert SENTENCES[case.status] in strip.text.text() or case.status not in UNSEEN
        assert bool(figures(strip.text.text())) is ticks  # since when old is stopped, and for how long


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("state", [State.INTERRUPTED, pytest.param(State.RUNNING, marks=pytest.mark.long)])
def test_no_size_of_a_step_fails(state: State, size: str, shown: Callable[..., ExecutionPage]) -> None:
    made = shown(Case(state, 4, MoveStatus.STOPPED, GO_ON), SIZES[size])
    outcomes = [made.table.rows.text(made.table.rows.columns[-1], row) for row in made.table.rows.rows if row.run]
    assert outcomes[-1] in {"not finished", "100 %", "0 %"}
