"""The command palette: every action of the window and every button of the page, found by its name."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from core.language import tr
from gui.guard import Guarded


class Origin(IntEnum):
    """Where a command is from, in the order in which commands are listed."""

    PAGE = 0
    """A button of the page on screen, or of the banner over it."""
    PAGES = 1
    """It leads to a page."""
    MENU = 2


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the palette.

    Attributes:
        name: its name; may have mnemonics and dots.
        run: runs it.
        context: what tells it apart from others of the same name: a menu, a page, a table.
        keys: its shortcut.
    """

    name: str
    run: Callable[[], object]
    origin: Origin = Origin.MENU
    context: str = ""
    keys: str = ""


class CommandPalette(Guarded, QDialog):
    """Filters the commands by the typed text; Return runs the selected one."""

    def __init__(self, commands: Sequence[Command], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("All commands"))
        self._commands = name_apart(commands)
        self.field = QLineEdit(self)
        self.field.setAccessibleName(tr("Command"))
        self.field.setPlaceholderText(tr("Type a part of the name of a command"))
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Commands"))
        self.field.textChanged.connect(self._show)
        self.field.returnPressed.connect(self._run)
        self.list.itemActivated.connect(self._run)
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.resize(self.fontMetrics().averageCharWidth() * 70, self.fontMetrics().height() * 22)
        self._show("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move through the list with the up and down keys while the field has the focus."""
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.list.setCurrentRow(max(0, min(self.list.count() - 1, self.list.currentRow() + step)))

    @Slot(str)
    def _show(self, typed: str) -> None:
        self.list.clear()
        for name, command in find_commands(self._commands, typed):
            item = QListWidgetItem(f"{name}    {command.keys}" if command.keys else name, self.list)
            item.setData(Qt.ItemDataRole.UserRole, command)
        self.list.setCurrentRow(0)

    @Slot()
    def _run(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.accept()
            item.data(Qt.ItemDataRole.UserRole).run()


def plain(text: str) -> str:
    """Return a name without mnemonics and dots."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")


def name_apart(commands: Sequence[Command]) -> list[tuple[str, Command]]:
    """Return each command with the name to show: with its context where several have the same name."""
    counts = Counter(plain(command.name) for command in commands)
    return [
        (f"{command.context}: {name}" if command.context and counts[name] > 1 else name, command)
        for command in commands
        for name in [plain(command.name)]
    ]


def find_commands(named: Sequence[tuple[str, Command]], typed: str) -> list[tuple[str, Command]]:
    """Return the commands whose names contain every typed word: first those in which words begin so."""
    words = typed.lower().split()

    def begins(name: str) -> bool:
        parts = name.lower().split()
        return all(any(part.startswith(word) for part in parts) for word in words)

    found = [(name, command) for name, command in named if all(word in name.lower() for word in words)]
    return sorted(found, key=lambda each: (not begins(each[0]), each[1].origin, each[0].lower()))
