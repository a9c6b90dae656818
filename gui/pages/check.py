"""The page Checks: the results with evidence and hint, the worst first; waivers with a reason."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from core import api
from core.language import marked, tr
from core.migration.model.checks import CheckResult, Status
from core.migration.model.standing import Milestone
from core.sides import Side
from gui.destinations import TITLES, PageId
from gui.dialogs.waive import WaiveDialog
from gui.models import migration as rows
from gui.models.words import capital, side_head
from gui.pages.page import PartPage, fill_table
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session
    from core.jobs import Job


class CheckPage(PartPage[tuple[CheckResult, ...] | None]):
    """The checks of the selected move."""

    id, title, milestone = PageId.CHECK, TITLES[PageId.CHECK], Milestone.CHECK
    help = marked(
        "The checks show what would go wrong, the most serious results first. A blocker prevents the move. A "
        "check without a result also prevents it if it could be a blocker. You can waive a warning with a "
        "reason. A waiver is valid only for the evidence that the check has found."
    )
    doing, button_text = marked("Checks of {move}"), marked("&Run the checks")
    nothing = marked(
        "The checks have not been run yet. They read the facts of {old} and {new} again, and start an empty cluster "
        "on {new} for a second. This takes seconds. Nothing of it stays on the servers."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._results: tuple[CheckResult, ...] = ()
        self.waive = self.add_button(tr("&Waive…"), self._ask_reason, tr("Accept a warning, and record the reason"))
        self.unwaive = self.add_button(tr("W&ithdraw the waiver"), self._unwaive)
        self.problems = QCheckBox(tr("&Problems only"), self)
        self.problems.toggled.connect(self._show_rows)
        self.head.insertWidget(2, self.problems)
        self.table = Table[CheckResult]("checks", tr("Checks"), rows.CHECK_COLUMNS, self)
        self.evidence = TextView(tr("Evidence and hint"), self)
        self.table.chosen.connect(self._show)
        self.split(self.table, self.evidence, (320, 180))
        self.head.insertWidget(2, FilterBox(self.table, self))

    def read(self, move: str, session: "Session") -> "tuple[CheckResult, ...] | None":
        return session.store.checks(move)

    def act(self, move: str, session: "Session", job: "Job") -> object:
        return api.checks.run_checks(session, move, job)

    def show_part(self, part: tuple[CheckResult, ...] | None) -> None:
        self._results = part or ()
        move = self.work.move
        if move is not None:
            self.table.rename(rows.OLD_COLUMN, side_head(Side.OLD, move.old))
            self.table.rename(rows.NEW_COLUMN, side_head(Side.NEW, move.new))
        self.summary.setText(self.describe_nothing() if part is None else capital(rows.checks_summary(self._results)))
        self._show_rows()

    @Slot()
    def _show_rows(self) -> None:
        """Show all checks, or only those that neither passed nor were waived."""
        alone = self.problems.isChecked()
        shown = [one for one in self._results if not alone or (one.status is not Status.PASS and one.waiver is None)]
        fill_table(self.table, shown)
        self._update_waiving()

    @Slot(object)
    def _show(self, result: CheckResult | None) -> None:
        self.evidence.set_text("" if result is None else rows.check_text(result, self.work.move))
        self._update_waiving()

    def _update_waiving(self) -> None:
        """Enable the buttons of waivers: only warnings can be waived."""
        result = self.table.current()
        self.waive.setEnabled(result is not None and api.checks.is_waivable(result) and result.waiver is None)
        self.unwaive.setEnabled(result is not None and result.waiver is not None)

    @Slot()
    def _ask_reason(self) -> None:
        move, result = self.work.move, self.table.current()
        if move is not None and result is not None:
            dialog = WaiveDialog(result, self)
            dialog.finished.connect(dialog.deleteLater)
            dialog.submitted.connect(partial(self._waive, dialog, move.name, result.id))
            dialog.open()

    def _waive(self, dialog: WaiveDialog, move: str, check: str, reason: str) -> None:
        task = self.work.ask(lambda session: api.checks.waive_check(session, move, check, reason))
        if task is not None:
            task.failed.connect(dialog.refuse)
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self.work.changed)

    @Slot()
    def _unwaive(self) -> None:
        move, result = self.work.move, self.table.current()
        if move is not None and result is not None:
            name, check = move.name, result.id
            task = self.work.read(lambda session: api.checks.unwaive_check(session, name, check))
            if task is not None:
                task.succeeded.connect(self.work.changed)
