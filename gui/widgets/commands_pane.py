"""The pane at the bottom: every command that runs on a server, to read and copy."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from core.jobs import Event
from core.language import tr
from gui.bridge import Task
from gui.models import commands
from gui.models.commands import Line
from gui.widgets.label import Label
from gui.widgets.table import Table
from gui.widgets.text import TextView

if TYPE_CHECKING:
    from core.history.store import Command


class CommandsPane(QWidget):
    """Shows the commands of each job; `server` filters them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: list[Line] = []
        self.table = Table[Line]("session-commands", tr("Commands that ran on the servers"), commands.COLUMNS, self)
        self.server = QComboBox(self)
        self.server.addItem(tr("All servers"))
        self.server.setAccessibleName(tr("Server whose commands are shown"))
        self.server.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.server.currentIndexChanged.connect(self._show)
        label = Label(tr("Server:"), self)
        copy = QPushButton(tr("Copy commands"), self)
        copy.setToolTip(tr("Copy the selected commands, or all that are shown"))
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
    def follow(self, task: Task[object]) -> None:
        """Show what this job runs."""
        task.reported.connect(self.take)

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        """Show the commands of a batch of events."""
        if commands.add(self._lines, events):
            self._offer(line.server for line in self._lines[-len(events) :])
            self._show()

    @Slot(object)
    def load(self, earlier: "tuple[Command, ...]") -> None:
        """Show the commands of earlier sessions, which come newest first, above those of this session."""
        self._lines[:0] = commands.from_history(earlier)
        self._offer(line.server for line in self._lines)
        self._show()

    @Slot()
    def copy(self) -> None:
        """Copy the selected commands, or all that are shown."""
        chosen = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        rows = [self.table.rows.row(number) for number in chosen] or self.table.rows.rows
        QGuiApplication.clipboard().setText("\n".join(line.text for line in rows if line.level == "command"))

    @Slot(object)
    def _show_whole(self, line: Line | None) -> None:
        self.whole.set_text("" if line is None else line.text)

    def _offer(self, servers: Iterable[str]) -> None:
        for name in dict.fromkeys(servers):
            if name and self.server.findData(name) < 0:
                self.server.addItem(name, name)

    @Slot()
    def _show(self) -> None:
        name = self.server.currentData()  # None: all servers, whatever the entry is called
        bar = self.table.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 1
        self.table.set_rows([line for line in self._lines if name is None or line.server in ("", name)])
        if at_end:
            self.table.scrollToBottom()
