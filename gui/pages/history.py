"""The page History: all entries with details and notes, and all commands, newest first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSplitter, QTabWidget, QVBoxLayout, QWidget

from core import documents, units
from core.errors import InputError
from core.language import marked, tr
from gui.design.measures import keep_narrow
from gui.destinations import TITLES, PageId
from gui.models.history import COMMAND_COLUMNS, ENTRY_COLUMNS, KIND_NAMES
from gui.models.sentences import recorded
from gui.models.words import moment
from gui.pages.page import Page
from gui.widgets.label import Label
from gui.widgets.note_field import NoteField
from gui.widgets.table import FilterBox, Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session
    from core.history.store import Command, Entry, Place, Removed

LISTED = 1000
"""The most entries and commands that are shown at a time. Buttons lead to older entries."""
PERIODS = (7, 30, 365)
"""In days."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is shown of the history. None stands for all of it.

    Attributes:
        days: what was recorded within so many days.
        noted: only entries that have a note.
    """

    move: str | None = None
    kind: str | None = None
    server: str | None = None
    days: int | None = None
    noted: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """What was read of the history; `more`: whether there are older entries. `servers`: the names of all servers."""

    entries: "tuple[Entry, ...]"
    more: bool
    commands: "tuple[Command, ...]"
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to entries here, and what undoes it; `removed`: how many it removed, none where one was noted."""

    entries: "tuple[Entry, ...]"
    undo: "Callable[[Session], object]"
    removed: int = 0


class HistoryPage(Page[Listed]):
    """The history of all moves, or of the selected one."""

    id, title = PageId.HISTORY, TITLES[PageId.HISTORY]
    help = marked(
        "The history lists everything that was done, newest first, and every command that ran on a server. You can "
        "choose a kind of entries, a server and a period. Of a server, the history lists its facts and benchmark runs, "
        "and all other entries of the moves that use it. The filter shows the listed rows that contain its text. You "
        "can copy a table or save it as CSV. You can add a "
        "note to an entry. A word with # in a note is a tag. A filter that begins with # searches all notes, "
        "also old ones. Until the window is closed, you can restore removed entries and undo notes. The latest "
        "execution of a move and executions that have not ended cannot be removed."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._entry: Entry | None = None
        self._changes: list[Change] = []
        self._noted = False
        self._shown = Wanted()
        self._below: list[Place] = []
        self._last: Place | None = None
        self._more = False
        self.only_move = QCheckBox(tr("Only the &selected move"), self)
        self.only_move.toggled.connect(self.refresh)
        self.as_json = QCheckBox(tr("As JS&ON"), self)
        self.as_json.toggled.connect(self._read_again)
        self.remove = self.button(
            tr("&Remove"),
            self.remove_entries,
            tr("Remove the selected entries. You can restore them until the window is closed."),
        )
        self.undo = self.button(tr("Restore"), self.undo_last, tr("Undo the last change here (Ctrl+Z)"))
        self.undo.setShortcut(QKeySequence(QKeySequence.StandardKey.Undo))
        head = self.heading(self.only_move, self.as_json, self.remove, self.undo)
        self.entries: Table[Entry] = Table("history-entries", tr("Entries"), ENTRY_COLUMNS, self, follow=_number)
        self.entries.chosen.connect(self._read_entry)
        self.note = NoteField(self)
        self.note.written.connect(self._write_note)
        self.details = TextView(tr("Details"), self)
        self.commands: Table[Command] = Table("history-commands", tr("Commands in the history"), COMMAND_COLUMNS, self)
        self.commands.chosen.connect(self._show_command)
        self.command = TextView(tr("The command"), self)
        self.filter = FilterBox(self.entries, self, self.commands)
        self.filter.textChanged.connect(self._look_for_notes)
        head.insertWidget(2, self.filter)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("History"))
        self.tabs.addTab(self._split(self.entries, self._noted_details()), tr("&Entries"))
        self.tabs.addTab(self._split(self.commands, self.command), tr("&Commands"))
        self.message = Label(parent=self)
        self.message.setWordWrap(True)
        self.kind = self._choice(tr("Kind of entries"), tr("All kinds"))
        for kind, name in KIND_NAMES.items():
            self.kind.addItem(tr(name), kind)
        self.server = self._choice(tr("Server"), tr("All servers"))
        self.period = self._choice(tr("Period"), tr("Any time"))
        for days in PERIODS:
            self.period.addItem(tr("Last {days} days").format(days=days), days)
        self.newer = self.button(tr("Ne&wer entries"), self._show_newer)
        self.older = self.button(tr("O&lder entries"), self._show_older)
        choices = QHBoxLayout()
        for box in (self.kind, self.server, self.period):
            box.currentIndexChanged.connect(self.refresh)
            choices.addWidget(box, 1)
        for button in (self.newer, self.older):
            button.hide()
            choices.addWidget(button)
        self.column.addLayout(choices)
        self.column.addWidget(self.message)
        self.column.addWidget(self.tabs)
        by_key = QAction(tr("&Remove"), self.entries, shortcut=QKeySequence(QKeySequence.StandardKey.Delete))
        by_key.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        by_key.triggered.connect(self.remove.click)
        self.entries.addAction(by_key)
        self.entries.selectionModel().selectionChanged.connect(self.update_buttons)
        self.tabs.currentChanged.connect(self.update_buttons)
        self._say_undo()

    def question(self) -> "Callable[[Session], Listed] | None":
        move = self.work.move
        of = move.name if move is not None and self.only_move.isChecked() else None
        wanted = Wanted(of, self.kind.currentData(), self.server.currentData(), self.period.currentData(), self._noted)
        if wanted != self._shown:
            self._shown, self._below = wanted, []
        return partial(_read_list, wanted, self._below[-1] if self._below else None)

    def show_answer(self, answer: Listed) -> None:
        if not answer.entries and not answer.commands and self._shown == Wanted(self._shown.move):
            self.explain(
                tr("The history is empty"),
                tr("The history records facts, benchmark runs, checks, plans and every command."),
                tr("Go to the servers"),
                PageId.SERVERS,
            )
            return
        self.fill()
        self._offer_servers(answer.servers)
        if answer.entries:
            self._last = answer.entries[-1].place
        self.entries.set_rows(answer.entries)
        self.commands.set_rows(answer.commands)
        self._more = answer.more
        for table in (self.entries, self.commands):
            if table.current() is None:
                table.choose(0)

    def _choice(self, name: str, everything: str) -> QComboBox:
        made = QComboBox(self)
        made.setAccessibleName(name)
        made.addItem(everything)
        keep_narrow(made, 8)
        return made

    def _offer_servers(self, names: tuple[str, ...]) -> None:
        """Let one of these servers be chosen. A chosen one stays, also if it was removed."""
        chosen = self.server.currentData()
        offered = [*names, *([] if chosen is None or chosen in names else [chosen])]
        if offered != [self.server.itemData(number) for number in range(1, self.server.count())]:
            with QSignalBlocker(self.server):
                while self.server.count() > 1:
                    self.server.removeItem(1)
                for name in offered:
                    self.server.addItem(name, name)
                self.server.setCurrentIndex(0 if chosen is None else offered.index(chosen) + 1)

    @Slot()
    def _show_older(self) -> None:
        """Show the entries below the last one of those that are listed."""
        if self._last is not None:
            self._below.append(self._last)
            self.refresh()

    @Slot()
    def _show_newer(self) -> None:
        """Show the entries that were listed before."""
        if self._below:
            self._below.pop()
            self.refresh()

    @Slot()
    def update_buttons(self) -> None:
        self.only_move.setEnabled(self.work.move is not None)
        of_entries = self.tabs.currentIndex() == 0
        self.remove.setEnabled(self.work.ready and of_entries and bool(self.entries.selected()))
        self.kind.setEnabled(of_entries)
        self.newer.setVisible(of_entries and bool(self._below))
        self.older.setVisible(of_entries and self._more)
        self.undo.setEnabled(self.work.ready)

    @Slot()
    def remove_entries(self) -> None:
        """Remove the selected entries with what belongs to them."""
        chosen = self.entries.selected()
        task = self.work.read(lambda session: session.store.remove_entries(chosen))
        if task is not None:
            task.then(partial(self._keep_removed, chosen))

    @Slot()
    def undo_last(self) -> None:
        """Undo the last change on this page; pressed again, the one before it."""
        task = self.work.ask(self._changes[-1].undo) if self._changes else None
        if task is not None:
            task.succeeded.connect(self.work.changed)
            task.failed.connect(partial(self._stay_changed, self._changes.pop()))
            self._say_undo()

    def _keep_removed(self, chosen: "tuple[Entry, ...]", removed: "Removed") -> None:
        if removed.entries:
            self._changes.append(Change(chosen, lambda session: session.store.put_back(removed), removed.entries))
        self._say_undo()
        self.work.changed.emit()

    def _write_note(self, entry: "Entry", note: str) -> None:
        task = self.work.read(partial(_set_note, entry, note))
        if task is not None:
            task.then(partial(self._keep_noted, entry, note))
            task.failed.connect(partial(self.note.restore, entry, note))

    def _keep_noted(self, entry: "Entry", note: str, before: str) -> None:
        self.note.confirm(entry, note)
        self._changes.append(Change((entry,), partial(_set_note, entry, before)))
        self._say_undo()
        self.work.changed.emit()

    def _stay_changed(self, change: Change, error: Exception) -> None:
        """Report the error. A change that can never be undone is dropped; any other is tried again."""
        if isinstance(error, InputError):
            error = InputError(f"{_named(change.entries)}: {recorded(error.message)}", error.hint)
        else:
            self._changes.append(change)
        self._say_undo()
        self.work.troubled.emit(error)

    def _say_undo(self) -> None:
        """Show what can be undone while the window is open."""
        several = sum(change.removed for change in self._changes)
        what = (
            tr("The removed entry")
            if several == 1
            else tr("The {several} removed entries").format(several=units.count(several))
        )
        self.message.setText(tr("{what} can be restored until the window is closed.").format(what=what))
        self.message.setVisible(several > 0)
        noted = bool(self._changes) and not self._changes[-1].removed
        self.undo.setText(tr("Undo the note") if noted else tr("Restore"))
        self.undo.setShortcut(QKeySequence(QKeySequence.StandardKey.Undo))  # goes with the text
        self.undo.setVisible(bool(self._changes))

    @Slot(str)
    def _look_for_notes(self, text: str) -> None:
        """Search all notes, not only the latest entries, if the filter begins with #."""
        noted = text.strip().startswith("#")
        if noted != self._noted:
            self._noted = noted
            self.refresh()

    def _noted_details(self) -> QWidget:
        both = QWidget(self)
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.addWidget(Label(tr("Note"), both))
        row.addWidget(self.note)
        column.addLayout(row)
        column.addWidget(self.details)
        return both

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
        self.note.show_entry(entry)
        task = None if entry is None else self.work.ask(partial(_entry_text, entry, self.as_json.isChecked()))
        if entry is None or task is None:
            self.details.set_text("")
        else:
            task.then(partial(self._show_entry, entry))
            task.failed.connect(partial(self._show_unread, entry))

    @Slot()
    def _read_again(self) -> None:
        self._read_entry(self._entry)

    def _show_entry(self, entry: "Entry", text: str) -> None:
        if entry == self._entry:
            self.details.set_text(text)

    def _show_unread(self, entry: "Entry", error: Exception) -> None:
        """Show that an entry is gone if it was removed before its details were read."""
        if isinstance(error, InputError):
            self._show_entry(entry, recorded(error.message))
        else:
            self.work.troubled.emit(error)

    @Slot(object)
    def _show_command(self, command: "Command | None") -> None:
        self.command.set_text("" if command is None else command.command)


def _number(entry: "Entry") -> tuple[str, int]:
    return entry.kind, entry.reference


def _named(entries: "tuple[Entry, ...]") -> str:
    """Return the first entry, and the number of the others."""
    first, more = entries[0], len(entries) - 1
    named = tr("{kind} of {at}, {title}").format(kind=first.kind, at=moment(first.at), title=first.title)
    return tr("{named} and {more} more").format(named=named, more=units.count(more)) if more else named


def _read_list(wanted: Wanted, below: "Place | None", session: "Session") -> Listed:
    """Return the newest of the wanted entries, or those below a place in the list, and the newest commands."""
    from core.history.store import Filter

    store = session.store
    since = None if wanted.days is None else datetime.now(UTC) - timedelta(days=wanted.days)
    tag = "" if wanted.noted else None
    which = Filter(wanted.move, wanted.kind, wanted.server, since=since, tag=tag, below=below)
    entries = store.entries(LISTED + 1, which)
    commands = store.commands(wanted.move, LISTED, server=wanted.server, since=since)
    servers = tuple(profile.name for profile in store.profiles())
    return Listed(entries[:LISTED], len(entries) > LISTED, commands, servers)


def _set_note(entry: "Entry", note: str, session: "Session") -> str:
    """Set the note of an entry, and return the note before."""
    return session.store.set_note(entry.kind, entry.reference, note, entry.at)


def _entry_text(entry: "Entry", as_json: bool, session: "Session") -> str:
    """Return the details of an entry as text, or all of them as JSON."""
    from gui.models.details import detail_text  # with the rows of every page

    detail = session.store.detail(entry.kind, entry.reference)
    return documents.dump(detail, indent=2) if as_json and not isinstance(detail, Path) else detail_text(detail)
