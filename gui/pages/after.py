"""The page Follow-up: the tasks after the cutover, to be ticked off."""

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QSplitter, QWidget

from core import api
from core.api.model import ExecutionState
from core.language import marked, tr
from core.migration.model.execution import Kind, State
from core.migration.model.standing import Milestone
from gui.destinations import TITLES, PageId
from gui.models.execution import GROUP_TITLES, FollowUpTask, count_of_tasks, follow_up_tasks
from gui.pages.page import Page
from gui.widgets.label import Label
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session


class AfterPage(Page[ExecutionState]):
    """The follow-up tasks of the selected move. Their ticks are recorded in the history."""

    id, title, milestone = PageId.AFTER, TITLES[PageId.AFTER], Milestone.AFTER
    help = marked(
        "This page lists the follow-up tasks after the cutover, and the files that pghaul has left on the "
        "servers. Select a task to see its commands. A tick only marks a task as done. Ticks are recorded in the "
        "history."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._execution = 0
        self.heading()
        self.summary = Label(parent=self)
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Follow-up tasks"))
        self.list.setWordWrap(True)
        self.list.setSpacing(3)
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
        self._execution = execution.id
        self._fill(follow_up_tasks(execution))

    def _fill(self, found: tuple[FollowUpTask, ...]) -> None:
        chosen = [item.data(Qt.ItemDataRole.UserRole).id for item in self.list.selectedItems()]
        self.list.blockSignals(True)
        self.list.clear()
        for group, tasks in groupby(found, key=lambda each: each.group):
            self._add_head(tr(GROUP_TITLES[group]))
            for task in tasks:
                item = QListWidgetItem(task.text, self.list)
                item.setData(Qt.ItemDataRole.UserRole, task)
                if task.is_task:
                    item.setCheckState(Qt.CheckState.Checked if task.done else Qt.CheckState.Unchecked)
                if task.id in chosen:
                    self.list.setCurrentItem(item)
        self.list.blockSignals(False)
        if not self.list.selectedItems():
            self.list.setCurrentRow(1)  # the first below the first head
        self._show_commands(self.list.currentItem())
        self.summary.setText(count_of_tasks(found))

    def _add_head(self, text: str) -> None:
        head = QListWidgetItem(text, self.list)
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)  # it cannot be selected
        font = head.font()
        font.setBold(True)
        head.setFont(font)

    @Slot(QListWidgetItem)
    def _keep(self, item: QListWidgetItem) -> None:
        """Record a tick in the history. If that fails, the list is read again and shows what is recorded."""
        thing: FollowUpTask = item.data(Qt.ItemDataRole.UserRole)
        done = item.checkState() is Qt.CheckState.Checked
        execution, task_id = self._execution, thing.id
        task = self.work.read(lambda session: session.store.tick_follow_up(execution, task_id, done=done))
        if task is not None:
            task.succeeded.connect(self.work.changed)
            task.failed.connect(self.refresh)

    @Slot(QListWidgetItem)
    def _show_commands(self, item: QListWidgetItem | None) -> None:
        thing: FollowUpTask | None = None if item is None else item.data(Qt.ItemDataRole.UserRole)
        text = "" if thing is None else thing.commands
        self.commands.set_text(text)
        self.commands.setVisible(bool(text))
