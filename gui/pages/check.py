"""The page Checks: what stops the move, each result with its evidence and hint beside it; waivers with a reason."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QWidget

from core import api
from core.language import marked, tr
from core.migration.model.checks import CheckResult
from core.migration.model.standing import Milestone
from core.sides import Side
from gui.destinations import TITLES, PageId, icon_of
from gui.dialogs.waive import WaiveDialog
from gui.models import migration as rows
from gui.models.checks import Group, counters, explained, group_of, verdict
from gui.models.sentences import compared
from gui.models.words import side_head
from gui.pages.page import PartPage, fill_table
from gui.widgets.chip import ChipRow
from gui.widgets.empty import Empty
from gui.widgets.explained import ExplainedCard
from gui.widgets.table import FilterBox, Table
from gui.widgets.two_lines import use_two_lines
from gui.widgets.verdict import VerdictLine
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
        "reason. A waiver is valid only for the evidence that the check has found. After a survey, the checks that "
        "need a temporary cluster are still to run."
    )
    doing, button_text = marked("Checks of {move}"), marked("&Run the checks")
    nothing = marked(
        "The checks have not been run yet. They read the facts of {old} and {new} again, and start an empty cluster "
        "on {new} for a second. This takes seconds. Nothing of it stays on the servers."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._results: tuple[CheckResult, ...] = ()
        self.table = Table[CheckResult]("checks", tr("Checks"), rows.CHECK_COLUMNS, self)
        use_two_lines(self.table, rows.CHECK_COLUMN, lambda row: compared(row.message))
        for beside in (rows.OLD_COLUMN, rows.NEW_COLUMN, rows.MEANING_COLUMN, rows.HINT_COLUMN):
            self.table.setColumnHidden(beside, True)  # found by the filter, and saved as CSV
        self.table.chosen.connect(self._show)
        self.head.insertWidget(2, FilterBox(self.table, self))
        self.verdict = VerdictLine(self)
        self.column.addWidget(self.verdict)
        self.chips = ChipRow(tr("Which checks are shown"), Group.PASS, self)
        self.chips.changed.connect(self._show_rows)
        self.column.addWidget(self.chips)
        self.waive = self.button(tr("&Waive…"), self._ask_reason, tr("Accept a warning, and record the reason"))
        self.unwaive = self.button(tr("W&ithdraw the waiver"), self._unwaive)
        self.details = ExplainedCard(tr("The selected check"), self, self.waive, self.unwaive)
        self.panes = QSplitter(Qt.Orientation.Horizontal, self)
        self.panes.addWidget(self.table)
        self.panes.addWidget(self.details)
        self.panes.setSizes([600, 400])
        self.panes.setChildrenCollapsible(False)
        self.column.addWidget(self.panes, 1)
        self.before = Empty(icon_of(self.id), tr("Not checked yet"), "", parent=self)
        self.column.addWidget(self.before, 1)
        self.summary.hide()

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
        self.before.sentence.setText(self.describe_nothing())
        self.before.setVisible(part is None)
        for shown in (self.verdict, self.chips, self.panes):
            shown.setVisible(part is not None)
        self.verdict.show_verdict(verdict(self._results))
        self.chips.show_counters(counters(self._results))
        self._show_rows()

    @Slot()
    def _show_rows(self) -> None:
        """Show the checks whose chips are checked."""
        wanted = self.chips.wanted
        fill_table(self.table, [one for one in self._results if group_of(one) in wanted])
        self._show(self.table.current())

    @Slot(object)
    def _show(self, result: CheckResult | None) -> None:
        self.details.view.show_explained(None if result is None else explained(result, self.work.move))
        for button, possible in (
            (self.waive, result is not None and api.checks.is_waivable(result) and result.waiver is None),
            (self.unwaive, result is not None and result.waiver is not None),
        ):
            button.setEnabled(possible)
            button.setVisible(possible)
        self._order_tabs()  # what explains a check are widgets made anew

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
