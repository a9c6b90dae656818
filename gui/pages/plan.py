"""The page Plan: the steps by their parts, each with its reason, commands and call."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QTabWidget, QVBoxLayout, QWidget

from core import api
from core.jobs import Job
from core.language import marked, tr
from core.migration.model.move import Verify
from core.migration.model.plan import Plan
from core.migration.model.standing import Milestone
from core.tones import Tone
from gui.appearance import tip
from gui.design.icons import Icon, button_icon
from gui.design.parts import ButtonKind, set_kind
from gui.destinations import TITLES, PageId, icon_of
from gui.models import migration as rows
from gui.models.script_check import verdict
from gui.models.steps import StepRow, step_rows
from gui.models.words import counted
from gui.pages.page import PartPage
from gui.widgets.empty import Empty
from gui.widgets.files import ask_path
from gui.widgets.label import Label, ToneLabel
from gui.widgets.step_table import StepTable
from gui.widgets.step_view import StepView
from gui.widgets.table import FilterBox
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.migration import ScriptCheck
    from core.api.session import Session
    from core.migration.model.move import Hook, HookCommand, Move
    from gui.dialogs.hooks import HooksDialog


class PlanPage(PartPage[Plan | None]):
    """The plan of the selected move."""

    id, title, milestone = PageId.PLAN, TITLES[PageId.PLAN], Milestone.PLAN
    help = marked(
        "The plan shows every command of the move before anything runs, grouped by preparation, pre-copy "
        "passes, downtime and follow-up. Click the head of a group to fold or unfold it. The red line is the point of "
        "no return. Each step shows its reason, "
        "the commands that do the work, and the call that runs them safely. You can export the plan as a "
        "runbook or as a script."
    )
    doing, button_text = marked("Plan of {move}"), marked("Ma&ke the plan")
    nothing = marked(
        "The plan lists every command of the move in its order. Making a plan reads the facts of "
        "{old} and {new} if there are none yet. This takes seconds, and nothing is written on the servers."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.made: Plan | None = None
        self.copy = self.add_button(tr("&Copy all commands"), self._copy_all)
        self.runbook = self.add_button(tr("Export r&unbook…"), partial(self._export, tr("Save the runbook"), "md"))
        self.script = self.add_button(tr("Export &script…"), partial(self._export, tr("Save the script"), "sh"))
        self.check = QPushButton(tr("Check the scr&ipt"), self)
        self.check.setToolTip(tr("Show what each step of the exported script would run, and run nothing"))
        self.check.setEnabled(False)
        self.check.clicked.connect(self._check_script)
        self.hooks = self.add_button(
            tr("H&ooks…"), self._ask_hooks, tr("Commands of your own that do manual steps of the plan")
        )
        # on a line of their own: beside the title they would make the page wider than a small screen
        line = QHBoxLayout()
        self.fold = QPushButton(button_icon(Icon.WRONG), "", self)
        set_kind(self.fold, ButtonKind.WARNING)
        self.fold.setCheckable(True)
        self.fold.toggled.connect(self._unfold)
        line.addWidget(self.fold)
        line.addStretch()
        self.warnings = Label(parent=self)
        self.warnings.setWordWrap(True)
        self.column.addLayout(line)
        self.column.addWidget(self.warnings)
        self.table = StepTable(self)
        self.table.chosen.connect(self._show)
        self.step = StepView(self)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.table)
        self.details = QTabWidget(self, documentMode=True)
        self.details.setAccessibleName(tr("Details of the plan"))
        self.details.setTabBarAutoHide(True)
        self.details.addTab(self.step, tr("St&ep"))
        self.dry_run = QWidget(self)
        self.verdict = ToneLabel("", Tone.GOOD, self.dry_run)
        self.verdict.setWordWrap(True)
        self.output = TextView(tr("Output of the dry run"), self.dry_run, headed=False)
        self.output.head.insertWidget(0, self.verdict, 1)
        column = QVBoxLayout(self.dry_run)
        column.addWidget(self.output)
        self.dry_run.hide()  # a tab from the first check on
        split.addWidget(self.details)
        split.setSizes([340, 200])
        split.setChildrenCollapsible(False)
        self.parts = split
        self.column.addWidget(split, 1)
        self.before = Empty(icon_of(self.id), tr("No plan yet"), "", parent=self)
        self.column.addWidget(self.before, 1)
        self._unfold(shown=False)
        line.addWidget(self.check)
        line.addWidget(self.hooks)
        self.filter = FilterBox(self.table, self)
        line.addWidget(self.filter)

    def read(self, move: str, session: "Session") -> "Plan | None":
        return session.store.plan(move)

    def act(self, move: str, session: "Session", job: "Job") -> object:
        return api.migration.plan_move(session, move, job, verify=Verify(self.work.settings.move.verify))

    @Slot()
    def update_buttons(self) -> None:
        super().update_buttons()
        self.hooks.setEnabled(self.work.ready and self.work.move is not None)

    @Slot()
    def _ask_hooks(self) -> None:
        move = self.work.move
        if move is not None:
            task = self.work.read(lambda session: session.store.hooks(move.name))
            if task is not None:
                task.then(partial(self._show_hooks, move))

    def _show_hooks(self, move: "Move", hooks: "tuple[HookCommand, ...]") -> None:
        from gui.dialogs.hooks import HooksDialog  # of some use once it is opened, not with the page

        dialog = HooksDialog(move, hooks, self)
        dialog.finished.connect(dialog.deleteLater)
        dialog.submitted.connect(partial(self._save_hooks, dialog, move.name))
        dialog.open()

    def _save_hooks(self, dialog: "HooksDialog", move: str, hooks: "dict[Hook, HookCommand | None]") -> None:
        task = self.work.ask(lambda session: api.moves.save_hooks(session, move, hooks))
        if task is not None:
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self.work.changed)
            task.failed.connect(dialog.refuse)

    def show_part(self, part: Plan | None) -> None:
        self.made = part
        for button in (self.copy, self.runbook, self.script, self.check):
            button.setEnabled(part is not None)
        self.before.sentence.setText(self.describe_nothing())
        self.summary.setText("" if part is None else rows.plan_line(part))
        for widget in (self.summary, self.parts, self.filter):
            widget.setVisible(part is not None)
        self.before.setVisible(part is None)
        self.summary.setToolTip("" if part is None else tip(rows.plan_reason(part)))
        self.warnings.setText("" if part is None else "\n".join(rows.plan_warnings(part)))
        self._unfold(shown=self.fold.isChecked())
        self.table.show_steps(() if part is None else step_rows(part))
        if part is not None and self.table.current() is None:
            steps = (number for number, row in enumerate(self.table.rows.rows) if row.step is not None)
            self.table.choose(next(steps, 0))

    @Slot(bool)
    def _unfold(self, shown: bool) -> None:
        """Show or hide the warnings."""
        count = 0 if self.made is None else len(self.made.warnings)
        self.fold.setVisible(count > 0)
        self.fold.setText(counted(count, "{number} warning", "{number} warnings"))
        self.warnings.setVisible(shown and count > 0)

    @Slot()
    def _check_script(self) -> None:
        """Run the script of the plan dry, and show its output and the verdict beside the steps."""
        plan = self.made
        task = None if plan is None else self.work.read(lambda _session: api.migration.check_script(plan, Job()))
        if task is not None:
            self.check.setEnabled(False)  # until it has ended, a second press would run it again
            task.then(self._show_check)
            task.finished.connect(partial(self.check.setEnabled, True))

    def _show_check(self, found: "ScriptCheck") -> None:
        said, tone = verdict(found)
        self.verdict.setText(said)
        self.verdict.show_tone(tone)
        self.output.set_text(found.output)
        if self.details.indexOf(self.dry_run) < 0:
            self.details.addTab(self.dry_run, tr("Script check"))
        self.details.setCurrentWidget(self.dry_run)

    @Slot()
    def _copy_all(self) -> None:
        if self.made is not None:
            QGuiApplication.clipboard().setText(rows.commands(self.made))

    @Slot(object)
    def _show(self, row: StepRow | None) -> None:
        self.step.show_step(None if row is None else row.step)

    def _export(self, title: str, ending: str) -> None:
        plan = self.made
        if plan is not None:
            ask_path(
                self,
                title,
                f"{plan.move}.{ending}",
                ending,
                partial(self._save, ending, plan),
            )

    def _save(self, ending: str, plan: Plan, path: Path) -> None:
        task = self.work.read(lambda _session: _written(ending, plan, path))
        if task is not None:
            task.succeeded.connect(self.saved)


def _written(ending: str, plan: Plan, path: Path) -> Path:
    """Write the plan in the form of that ending; the dialog has asked whether to replace a file."""
    save = api.migration.save_script if ending == "sh" else api.migration.save_runbook
    return save(plan, path, replacing=True)
