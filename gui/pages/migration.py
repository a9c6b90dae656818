"""Migration: what would break, how fast each link is, how long each method takes, and the steps of the move."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QTabWidget, QWidget

from core.migration.model import Plan
from gui import actions
from gui.actions import MigrationState
from gui.dialogs.files import ask_path
from gui.pages.page import Page
from gui.pages.sections import ChecksSection, EstimateSection, PlanSection, ProbesSection, Section
from gui.work import Work


class MigrationPage(Page):
    """Four sections, in the order of the work."""

    title = "Migration"

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.heading()
        self.checks, self.probes = ChecksSection(self), ProbesSection(self)
        self.estimate, self.plan = EstimateSection(self), PlanSection(self)
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
        self.plan.runbook.clicked.connect(partial(self._export, "runbook", actions.save_runbook, "md"))
        self.plan.script.clicked.connect(partial(self._export, "script", actions.save_script, "sh"))

    @property
    def sections(self) -> tuple[Section, ...]:
        return self.checks, self.probes, self.estimate, self.plan

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

    @Slot()
    def update_buttons(self) -> None:
        for section in self.sections:
            section.start.setEnabled(self.work.ready and self.work.move is not None)

    def _start(self, section: Section, action: Any) -> None:
        move = self.work.move
        if move is not None:
            self.run(f"{section.doing} {move.name}", partial(action, move.name))

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
