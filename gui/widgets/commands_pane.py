"""The pane at the bottom: every command that was run, as it runs, to see and to copy."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from core.jobs import Event
from core.language import marked, tr
from gui.bridge import Task
from gui.models import commands
from gui.models.commands import Line
from gui.widgets.label import Label
from gui.widgets.table import Table
from gui.widgets.text import TextView

if TYPE_CHECKING:
    from core.history.store import Command

ALL = marked("All servers")


class CommandsPane(QWidget):
    """Follows each job's events. `server` filters; the copy button takes the chosen commands alone, as they ran."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: list[Line] = []
        self.table = Table[Line](tr("Commands that were run"), commands.COLUMNS, self)
        self.server = QComboBox(self)
        self.server.addItem(tr(ALL))
        self.server.setAccessibleName(tr("Show the commands of"))
        self.server.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.server.currentTextChanged.connect(self._show)
        label = Label(tr("Commands on"), self)
        copy = QPushButton(tr("Copy commands"), self)
        copy.setToolTip(tr("Copy the chosen commands, or all that are shown"))
        copy.clicked.connect(self.copy)
        head = QHBoxLayout()
        head.addWidget(label)
        head.addWidget(self.server)
        head.addStretch()
        head.addWidget(copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 2, 8, 6)
        column.addLayout(head)
        self.whole = TextView(tr("Whole command"), self)
        self.table.chosen.connect(self._show_whole)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self.table)
        split.addWidget(self.whole)
        split.setSizes([700, 340])
        split.setChildrenCollapsible(False)
        column.addWidget(split)

    @Slot(object)
    def follow(self, task: Task) -> None:
        """Show what this job runs."""
        task.reported.connect(self.take)

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        """A batch of events."""
        if commands.add(self._lines, events):
            self._offer(line.server for line in self._lines[-len(events) :])
            self._show()

    @Slot(object)
    def load(self, earlier: "tuple[Command, ...]") -> None:
        """The commands of earlier sessions, newest first: they stand above those of this one."""
        self._lines[:0] = commands.from_history(earlier)
        self._offer(line.server for line in self._lines)
        self._show()

    @Slot()
    def copy(self) -> None:
        """The commands alone, one after the other, ready to be pasted."""
        chosen = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        rows = [self.table.rows.row(number) for number in chosen] or self.table.rows.rows
        QGuiApplication.clipboard().setText("\n".join(line.text for line in rows if line.level == "command"))

    @Slot(object)
    def _show_whole(self, line: Line | None) -> None:
        self.whole.set_text("" if line is None else line.text)

    def _offer(self, servers: Iterable[str]) -> None:
        for name in dict.fromkeys(servers):
            if name and self.server.findText(name, Qt.MatchFlag.MatchExactly) < 0:
                self.server.addItem(name)

    @Slot()
    def _show(self) -> None:
        name = self.server.currentText()
        bar = self.table.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 1
        self.table.set_rows([line for line in self._lines if name == tr(ALL) or line.server in ("", name)])
        if at_end:
            self.table.scrollToBottom()
