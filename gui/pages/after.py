"""The page Follow-up: the tasks after the cutover, to be ticked off."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QSplitter, QWidget

from core import api
from core.api.model import ExecutionState
from core.language import marked, tr
from core.migration.model.execution import Kind, State
from core.migration.model.standing import Milestone
from gui.destinations import TITLES, PageId
from gui.models.execution import FollowUpTask, follow_up_tasks
from gui.pages.page import Page
from gui.widgets.check_box import CheckedItems
from gui.widgets.label import Label
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session


class AfterPage(Page[ExecutionState]):
    """The follow-up tasks of the selected move. Their ticks are saved on this workstation."""

    id, title, milestone = PageId.AFTER, TITLES[PageId.AFTER], Milestone.AFTER
    help = marked(
        "This page lists the follow-up tasks after the cutover, and the files that pghaul has left on the "
        "servers. Select a task to see its commands. A tick only marks a task as done. Ticks are saved on this "
        "workstation."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._key = ""
        self.heading()
        self.summary = Label(parent=self)
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Follow-up tasks"))
        self.list.setWordWrap(True)
        self.list.setSpacing(3)
        self.list.setItemDelegate(CheckedItems(self.list))
        self.list.itemChanged.connect(self._keep)
        self.list.currentItemChanged.connect(self._show_commands)
        self.commands = TextView(tr("Commands of the task"), self)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.list)
        split.addWidget(self.commands)
        split.setSizes([340, 140])
        split.setChildrenCollapsible(False)
        self.column.addWidget(self.summary)
        self.column.addWidget(split, 1)

    def question(self) -> "Callable[[Session], ExecutionState] | None":
        move = self.work.move
        if move is None:
            return None
        name = move.name
        return lambda session: api.execution.read_state(session, name, Kind.REAL)

    def show_answer(self, answer: ExecutionState) -> None:
        execution = answer.execution
        if execution is None or execution.state is not State.DONE:
            self.explain(
                tr("No follow-up tasks yet"),
                tr(
                    "When the move is done and clients can connect to the new cluster, this page lists the "
                    "follow-up tasks."
                ),
                tr("Go to the move"),
                PageId.MOVE,
            )
            return
        self.fill()
        self._key = f"ticked/{execution.move}-{execution.id}"
        self._fill(follow_up_tasks(execution))

    def _fill(self, found: tuple[FollowUpTask, ...]) -> None:
        ticked = self.work.remembered_text(self._key).split("\n")
        self.list.blockSignals(True)
        self.list.clear()
        for thing in found:
            item = QListWidgetItem(thing.text, self.list)
            item.setData(Qt.ItemDataRole.UserRole, thing)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if thing.key in ticked else Qt.CheckState.Unchecked)
        self.list.blockSignals(False)
        self.list.setCurrentRow(0)
        self._count()

    @Slot()
    def _keep(self) -> None:
        ticked = (item for item in self._items() if item.checkState() is Qt.CheckState.Checked)
        done = [item.data(Qt.ItemDataRole.UserRole).key for item in ticked]
        self.work.remember(self._key, "\n".join(done))
        self._count()

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(number) for number in range(self.list.count())]

    def _count(self) -> None:
        open_ones = sum(item.checkState() is not Qt.CheckState.Checked for item in self._items())
        self.summary.setText(
            tr("{open_ones} of {list} tasks are open.").format(open_ones=open_ones, list=self.list.count())
            if open_ones
            else tr("All tasks are done.")
        )

    @Slot(QListWidgetItem)
    def _show_commands(self, item: QListWidgetItem | None) -> None:
        thing: FollowUpTask | None = None if item is None else item.data(Qt.ItemDataRole.UserRole)
        self.commands.set_text("" if thing is None else thing.commands)
