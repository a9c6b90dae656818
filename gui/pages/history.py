"""History: everything that happened, newest first, with its details, and every command that was run."""

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QTabWidget, QWidget

from gui import actions
from gui.models.history import COMMAND_COLUMNS, ENTRY_COLUMNS
from gui.pages.page import Page
from gui.widgets.check_box import CheckBox
from gui.widgets.filter_box import FilterBox
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.history.store import Command, Entry


class HistoryPage(Page):
    """Of all moves, or of the picked one alone."""

    title = "History"
    help = (
        "Everything that happened, newest first, and every command that ran on a server. The filter leaves "
        "what holds its text; a table can be copied or saved as CSV."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._entry: Entry | None = None
        self.only_move = CheckBox("Only the &picked move", self)
        self.only_move.toggled.connect(self.refresh)
        self.as_json = CheckBox("As JS&ON", self)
        self.as_json.toggled.connect(self._read_again)
        head = self.heading(self.only_move, self.as_json)
        self.entries: Table[Entry] = Table("Entries", ENTRY_COLUMNS, self)
        self.entries.chosen.connect(self._read_entry)
        self.details = TextView("Details", self)
        self.commands: Table[Command] = Table("Commands in the history", COMMAND_COLUMNS, self)
        self.commands.chosen.connect(self._show_command)
        self.command = TextView("The command", self)
        self.filter = FilterBox(self.entries, self)
        self.filter.textChanged.connect(self.commands.filter)
        head.insertWidget(2, self.filter)
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName("History")
        self.tabs.addTab(self._split(self.entries, self.details), "&Entries")
        self.tabs.addTab(self._split(self.commands, self.command), "&Commands")
        self.column.addWidget(self.tabs)

    def question(self) -> Any:
        move = self.work.move
        return partial(_answer, move.name if move is not None and self.only_move.isChecked() else None)

    def show_answer(self, answer: "tuple[tuple[Entry, ...], tuple[Command, ...]] | None") -> None:
        entries, commands = answer or ((), ())
        if not entries and not commands:
            self.explain(
                "Nothing has happened yet",
                "Facts, runs, checks, plans and every command are kept here as they come. Begin with a server.",
                "Go to servers",
                "Servers",
            )
            return
        self.fill()
        self.entries.set_rows(entries)
        self.commands.set_rows(commands)
        for table in (self.entries, self.commands):
            if table.current() is None:
                table.choose(0)

    @Slot()
    def update_buttons(self) -> None:
        self.only_move.setEnabled(self.work.move is not None)

    def _split(self, above: QWidget, below: QWidget) -> QSplitter:
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(above)
        split.addWidget(below)
        split.setSizes([320, 200])
        split.setChildrenCollapsible(False)
        return split

    @Slot(object)
    def _read_entry(self, entry: "Entry | None") -> None:
        self._entry = entry
        task = None if entry is None else self.work.read(partial(actions.entry_text, entry, self.as_json.isChecked()))
        if entry is None or task is None:
            self.details.set_text("")
        else:
            task.succeeded.connect(partial(self._show_entry, entry))

    @Slot()
    def _read_again(self) -> None:
        self._read_entry(self._entry)

    def _show_entry(self, entry: "Entry", text: str) -> None:
        if entry == self._entry:
            self.details.set_text(text)

    @Slot(object)
    def _show_command(self, command: "Command | None") -> None:
        self.command.set_text("" if command is None else command.command)


def _answer(move: str | None, session: Any) -> "tuple[tuple[Entry, ...], tuple[Command, ...]]":
    return actions.entries(move, session), actions.commands(move, session)
