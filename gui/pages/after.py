"""After: what is left to do once new is open, as a list to tick off."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QSplitter, QWidget

from core.language import marked, tr
from core.migration.model.execution import Kind, State
from core.migration.model.standing import Milestone
from gui import actions
from gui.models.after import Thing, things
from gui.pages.page import Page
from gui.states import ExecutionState
from gui.widgets.check_box import CheckedItems
from gui.widgets.label import Label
from gui.widgets.text import TextView
from gui.work import Work


class AfterPage(Page):
    """Of the picked move, once it is done; the ticks are kept on this workstation."""

    title, milestone = marked("After"), Milestone.AFTER
    help = marked(
        "What is left to do once new is open to clients, and what still lies on the servers, with the commands where "
        "there are any. Ticks are kept on this workstation; nothing is done by them."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._key = ""
        self.heading()
        self.summary = Label(parent=self)
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("What is left to do"))
        self.list.setWordWrap(True)
        self.list.setSpacing(3)
        self.list.setItemDelegate(CheckedItems(self.list))
        self.list.itemChanged.connect(self._keep)
        self.list.currentItemChanged.connect(self._show_commands)
        self.commands = TextView(tr("Commands for it"), self)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.list)
        split.addWidget(self.commands)
        split.setSizes([340, 140])
        split.setChildrenCollapsible(False)
        self.column.addWidget(self.summary)
        self.column.addWidget(split, 1)

    def question(self) -> Any:
        move = self.work.move
        return None if move is None else partial(actions.execution, move.name, kind=Kind.REAL)

    def show_answer(self, answer: ExecutionState | None) -> None:
        if answer is None:
            self.explain_no_move()
            return
        execution = answer.execution
        if execution is None or execution.state is not State.DONE:
            self.explain(
                tr("Nothing is left to do yet"),
                tr("Once the move is done and new is open, what remains to be done stands here, to be ticked off."),
                tr("Go to Move"),
                "Move",
            )
            return
        self.fill()
        self._key = f"ticked/{execution.move}-{execution.id}"
        self._fill(things(execution))

    def _fill(self, found: tuple[Thing, ...]) -> None:
        ticked = self.work.kept(self._key).split("\n")
        self.list.blockSignals(True)
        self.list.clear()
        for thing in found:
            item = QListWidgetItem(thing.text, self.list)
            item.setData(Qt.ItemDataRole.UserRole, thing)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if thing.text in ticked else Qt.CheckState.Unchecked)
        self.list.blockSignals(False)
        self.list.setCurrentRow(0)
        self._count()

    @Slot()
    def _keep(self) -> None:
        done = [item.text() for item in self._items() if item.checkState() is Qt.CheckState.Checked]
        self.work.keep(self._key, "\n".join(done))
        self._count()

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(number) for number in range(self.list.count())]

    def _count(self) -> None:
        open_ones = sum(item.checkState() is not Qt.CheckState.Checked for item in self._items())
        self.summary.setText(
            tr("{open_ones} of {list} left.").format(open_ones=open_ones, list=self.list.count())
            if open_ones
            else tr("All is done.")
        )

    @Slot(QListWidgetItem)
    def _show_commands(self, item: QListWidgetItem | None) -> None:
        thing: Thing | None = None if item is None else item.data(Qt.ItemDataRole.UserRole)
        self.commands.set_text("" if thing is None else thing.commands)
