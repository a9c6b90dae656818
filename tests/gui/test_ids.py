"""The window knows pages, questions, choices and rows by their ids: its words can change, and be translated."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

import gui
from core.api.session import Session
from core.history.store import Store
from core.jobs import CommandEnded, CommandStarted
from core.language import spoken
from core.migration.model import step_ids
from core.migration.model.plan import Step
from gui.asker import StepQuestion
from gui.destinations import Offer, PageId
from gui.dialogs.outputs import OutputsDialog
from gui.dialogs.palette import CommandPalette
from gui.models.chart import Path as Line
from gui.models.charts import latency_chart
from gui.models.comparison import Latencies
from gui.models.execution import follow_up_tasks
from gui.models.prompts import prompt_for
from gui.models.queue import SIDES_TITLES, MeasuredSides
from gui.models.steps import NO_RETURN, step_rows
from gui.pages.kinds import PAGES
from gui.pages.measure import MeasurePage
from gui.remembered import Remembered
from gui.widgets.commands_pane import CommandsPane
from gui.window import MainWindow
from gui.work import Work
from tests.core.migration.execution.builders import STEP, execution
from tests.gui import samples
from tests.gui.conftest import at_rest, page
from tests.steps import change_step

TOP = Path(gui.__file__).parent
EXCEPTED = {
    "models/table.py",  # whether a column has that head already
}


def compared_words(code: str) -> list[str]:
    """Each comparison with a text that people read: what `tr` returns, a title, or words that stand in the code."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_read(side) for side in sides):
                found.append(ast.unparse(node))
    return found


def _is_read(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"tr", "recorded", "marked"}
    if isinstance(node, ast.Attribute):
        return node.attr == "title"
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value[:1].isupper()


@pytest.mark.parametrize("path", sorted(TOP.rglob("*.py")), ids=lambda path: str(path.relative_to(TOP)))
def test_no_code_compares_words(path: Path) -> None:
    if path.relative_to(TOP).as_posix() not in EXCEPTED:
        assert compared_words(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("code", ['name == tr("All servers")', 'wanted == "New move"', "question.title in ('a', 'b')"])
def test_a_comparison_with_words_is_found(code: str) -> None:
    assert compared_words(code)


@pytest.mark.slow
def test_pages_are_reached_whatever_they_are_called(full_store: Store, qtbot: QtBot, tmp_path: Path) -> None:
    work = Work(remembered=Remembered(tmp_path))
    named = tuple(replace(kind, title=f"Page {number}") for number, kind in enumerate(PAGES))
    window = MainWindow(work, named)
    window.show()
    work.use(Session(full_store, work.asker))
    at_rest(qtbot, window)
    window.go(PageId.CHECK)
    assert page(qtbot, window, PageId.CHECK) is window.stack.currentWidget()
    window.close()
    window.deleteLater()
    again = MainWindow(work)
    assert getattr(again.stack.currentWidget(), "id", "") == PageId.CHECK
    again.deleteLater()
    work.close()
    work.deleteLater()


def test_next_and_the_offers_are_ids_in_every_language(window: MainWindow, qtbot: QtBot) -> None:
    at_rest(qtbot, window)
    english = window.milestones.next(None)
    with spoken("de"):
        german = window.milestones.next(None)
    assert (english[1], german[1]) == (Offer.FIRST_STEPS, Offer.FIRST_STEPS)
    assert english[0] != german[0]
    assert not {*PageId} & {*Offer}


@pytest.mark.parametrize(("name", "decides"), [(step_ids.DECIDE, True), ("decided", False), ("", False)])
@pytest.mark.parametrize("title", ["decide", "Decide: cut over or roll back", "Stop the applications"])
def test_the_decision_is_known_by_its_step(title: str, name: str, decides: bool) -> None:
    prompt = prompt_for(StepQuestion("db-old", title, "why", "", name), None)
    assert prompt.can_roll_back is decides
    with spoken("de"):
        german = prompt_for(StepQuestion("db-old", title, "why", "", name), None)
    assert german.can_roll_back is decides
    assert german.button != prompt.button


def test_a_server_may_be_called_like_the_choice_of_all(qtbot: QtBot) -> None:
    pane = CommandsPane()
    qtbot.addWidget(pane)
    everything = pane.server.itemText(0)
    events = [
        event
        for name in (everything, "db-old")
        for event in (
            CommandStarted(name, "dba", "true", samples.MORNING),
            CommandEnded(name, "true", 0, 0.1),
        )
    ]
    pane.take(tuple(events))
    assert len(pane.table.rows.rows) == 2
    pane.server.setCurrentIndex(1)
    assert [line.server for line in pane.table.rows.rows] == [everything]


def test_the_mean_is_no_part_of_the_curve_in_any_language() -> None:
    known = Latencies("reads", ("p50", "p99", "mean"), ((0.001, 0.01, 0.002), (0.001, 0.02, 0.003)))
    for language in ("en", "de"):
        with spoken(language):
            chart = latency_chart(known, ("a", "b"))
        assert chart is not None
        assert [len(mark.points) for mark in chart.marks if isinstance(mark, Line)] == [2, 2]


def test_the_line_of_no_return_is_known_by_its_mark() -> None:
    opening: Step = change_step(STEP, title="open", id=step_ids.CUTOVER)
    rows = step_rows(execution(replace(STEP, title=NO_RETURN), opening).plan)
    assert [row.head == NO_RETURN for row in rows if row.is_divider] == [True]
    assert sum(row.is_divider for row in rows) == 1


def test_ticks_are_recorded_by_what_is_the_same_in_every_language() -> None:
    done = execution(STEP)
    made = replace(done, plan=replace(done.plan, later=(replace(STEP, id="vacuum"),), remains=("the old cluster",)))
    english = follow_up_tasks(made)
    with spoken("de"):
        german = follow_up_tasks(made)
    assert [thing.id for thing in english] == [thing.id for thing in german]
    assert len({thing.id for thing in english}) == len(english) > 1
    assert [thing.text for thing in english] != [thing.text for thing in german]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_two_outputs_have_keys_of_their_own(language: str, qtbot: QtBot) -> None:
    with spoken(language):
        dialog = OutputsDialog(("fio",))
    qtbot.addWidget(dialog)
    buttons = [field.findChildren(QWidget) for field in (dialog.left, dialog.right)]
    texts = [[one.property("text") for one in found if "…" in str(one.property("text"))] for found in buttons]
    assert texts[0] != texts[1]


@pytest.mark.slow
def test_the_palette_lists_pages_and_no_menus(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.menus.show_palette()
    dialog = full_window.findChild(CommandPalette)
    assert dialog is not None
    dialog.field.setText("Move")
    dialog.list.setCurrentRow(next(row for row in range(dialog.list.count()) if _name(dialog, row) == "Move"))
    dialog.field.returnPressed.emit()
    assert getattr(full_window.stack.currentWidget(), "id", "") == PageId.MOVE
    at_rest(qtbot, full_window)


def _name(dialog: CommandPalette, row: int) -> str:
    return dialog.list.item(row).text().split("    ")[0]


@pytest.mark.slow
def test_what_is_measured_where_is_an_id(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.MEASURE)
    assert isinstance(shown, MeasurePage)
    assert [shown.sides.itemData(number) for number in range(shown.sides.count())] == [*MeasuredSides]
    assert {*SIDES_TITLES.values()}.isdisjoint(MeasuredSides)
