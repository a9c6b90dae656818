"""Migration: what would break, how fast each link is, how long each method takes, the steps, and the move itself."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QTabWidget, QWidget

from core.jobs import Job
from core.migration.model.execution import Kind
from core.migration.model.plan import Plan
from gui import actions
from gui.actions import ExecutionState, MigrationState
from gui.dialogs.confirm import NameDialog
from gui.dialogs.files import ask_path
from gui.dialogs.waive import WaiveDialog
from gui.models.execution import Doing, confirmation
from gui.pages.execution_section import ExecutionSection
from gui.pages.page import Page
from gui.pages.sections import ChecksSection, EstimateSection, PlanSection, ProbesSection, Section
from gui.work import Work

LOOK_MS = 2000
"""Between two looks at an execution, while its section is on screen."""


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
        for button, doing in self.execution.buttons:
            button.clicked.connect(partial(self._confirm, doing))
        self._looking = False
        self._looks = QTimer(self, interval=LOOK_MS)
        self._looks.timeout.connect(self._poll)
        self._looks.start()
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

    def _confirm(self, doing: Doing) -> None:
        """Begin at once, or when the cluster's name was typed."""
        execution = self.execution.state.execution
        said = confirmation(doing, self.execution.state)
        if not said or execution is None:
            self._begin(doing)
            return
        name = execution.plan.cluster
        dialog = NameDialog(f"{doing} {execution.move}", f"{said}\n\nType {name} to do it.", name, "&Do it", self)
        dialog.finished.connect(dialog.deleteLater)
        dialog.accepted.connect(partial(self._begin, doing))
        dialog.open()

    def _begin(self, doing: Doing) -> None:
        move, people = self.work.move, self.work.asker
        if move is None:
            return
        left = self.execution.state.left
        if doing is Doing.END and self.work.busy:
            self.work.cancel()
            return
        action: dict[Doing, Callable[[Any, Job], None]] = {
            Doing.MOVE: partial(actions.execute, move.name, Kind.REAL, people, bool(left)),
            Doing.REHEARSE: partial(actions.execute, move.name, Kind.REHEARSAL, people, bool(left)),
            Doing.RESUME: partial(actions.resume, move.name, people),
            Doing.END: partial(actions.end, move.name, people),
            Doing.BACK: partial(actions.roll_back, move.name, people),
        }
        self.run(f"{doing} {move.name}", action[doing])

    @Slot()
    def _poll(self) -> None:
        """Look how far the execution is, whichever program carries it out; a look that fails is made again."""
        move = self.work.move
        if not self.shown or not self.execution.isVisible() or move is None or self._looking:
            return
        task = self.work.ask(partial(actions.execution, move.name))
        if task is not None:
            self._looking = True
            task.succeeded.connect(partial(self._looked, move.name))
            task.finished.connect(self._look_again)

    def _looked(self, move: str, state: ExecutionState) -> None:
        if self.work.move is not None and self.work.move.name == move:
            self.execution.show_execution(state)
            self.update_buttons()

    @Slot()
    def _look_again(self) -> None:
        self._looking = False

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


def _answer(move: str, session: Any) -> MigrationState:
    import gui.widgets.plots  # noqa: F401  loads pyqtgraph on this thread, not on the window's

    return actions.migration(move, session)
