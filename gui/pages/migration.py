"""Migration: what would break, how fast each link is, how long each method takes, the steps, and the move itself."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPushButton, QTabWidget, QWidget

from core.migration.model import Kind, Plan
from gui import actions
from gui.actions import MigrationState
from gui.dialogs.files import ask_path
from gui.dialogs.waive import WaiveDialog
from gui.pages.execution_section import ExecutionSection
from gui.pages.page import Page
from gui.pages.sections import ChecksSection, EstimateSection, PlanSection, ProbesSection, Section
from gui.work import Work


class MigrationPage(Page):
    """Five sections, in the order of the work."""

    title = "Migration"

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.heading()
        self.checks, self.probes = ChecksSection(self), ProbesSection(self)
        self.estimate, self.plan = EstimateSection(self), PlanSection(self)
        self.execution = ExecutionSection(self)
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName("Migration")
        for section in self.sections:
            self.tabs.addTab(section, section.tab)
        self.column.addWidget(self.tabs)
        for section, action in (
            (self.checks, actions.check),
            (self.probes, actions.probe),
            (self.estimate, actions.estimate),
            (self.plan, actions.plan),
        ):
            section.start.clicked.connect(partial(self._start, section, action))
        for button, doing, begin in self._executing():
            button.clicked.connect(partial(self._begin, doing, begin))
        self.checks.waive.clicked.connect(self._ask_reason)
        self.checks.unwaive.clicked.connect(self._unwaive)
        self.plan.runbook.clicked.connect(partial(self._export, "runbook", actions.save_runbook, "md"))
        self.plan.script.clicked.connect(partial(self._export, "script", actions.save_script, "sh"))

    @property
    def sections(self) -> tuple[Section, ...]:
        return self.checks, self.probes, self.estimate, self.plan, self.execution

    def question(self) -> Any:
        move = self.work.move
        return None if move is None else partial(_answer, move.name)

    def show_answer(self, answer: MigrationState | None) -> None:
        if answer is None:
            self.explain_no_move()
            return
        self.fill()
        for section in self.sections:
            section.show_state(answer)
        self.update_buttons()

    @Slot()
    def update_buttons(self) -> None:
        for section in self.sections:
            section.start.setEnabled(self.work.ready and self.work.move is not None)
        self.execution.enable(self.work.ready and self.work.move is not None)

    def _executing(self) -> tuple[tuple[QPushButton, str, Callable[[str], Any]], ...]:
        """Each button of the execution, what it does in words, and the action by the move's name."""
        people, section = self.work.asker, self.execution
        return (
            (section.start, "Moving", lambda move: partial(actions.execute, move, Kind.REAL, people)),
            (section.rehearse, "Rehearsing", lambda move: partial(actions.execute, move, Kind.REHEARSAL, people)),
            (section.resume, "Going on with", lambda move: partial(actions.resume, move, people)),
            (section.end, "Ending", lambda move: partial(actions.end, move, people)),
            (section.back, "Going back from", lambda move: partial(actions.roll_back, move, people)),
        )

    def _begin(self, doing: str, action: Callable[[str], Any]) -> None:
        move = self.work.move
        if move is not None:
            self.run(f"{doing} {move.name}", action(move.name))

    def _start(self, section: Section, action: Any) -> None:
        move = self.work.move
        if move is not None:
            self.run(f"{section.doing} {move.name}", partial(action, move.name))

    @Slot()
    def _ask_reason(self) -> None:
        move, result = self.work.move, self.checks.table.current()
        if move is not None and result is not None:
            dialog = WaiveDialog(result, self)
            dialog.finished.connect(dialog.deleteLater)
            dialog.submitted.connect(partial(self._waive, dialog, move.name, result.id))
            dialog.open()

    def _waive(self, dialog: WaiveDialog, move: str, check: str, reason: str) -> None:
        task = self.work.ask(partial(actions.waive_check, move, check, reason))
        if task is not None:
            task.failed.connect(dialog.refuse)
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self.work.changed)

    @Slot()
    def _unwaive(self) -> None:
        move, result = self.work.move, self.checks.table.current()
        if move is not None and result is not None:
            task = self.work.read(partial(actions.unwaive_check, move.name, result.id))
            if task is not None:
                task.succeeded.connect(self.work.changed)

    def _export(self, what: str, save: Any, ending: str) -> None:
        plan = self.plan.made
        if plan is not None:
            ask_path(self, f"Save the {what}", f"{plan.move}.{ending}", ending, partial(self._save, save, plan))

    def _save(self, save: Any, plan: Plan, path: Path) -> None:
        task = self.work.read(partial(save, plan, path))
        if task is not None:
            task.succeeded.connect(self._saved)

    @Slot(object)
    def _saved(self, path: Path) -> None:
        self.told.emit(f"Saved {path}")


def _answer(move: str, desk: Any) -> MigrationState:
    import gui.widgets.plots  # noqa: F401  loads pyqtgraph on this thread, not on the window's

    return actions.migration(move, desk)
