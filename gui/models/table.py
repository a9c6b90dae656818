"""One table model for every noun: columns are declared data, rows are frozen dataclasses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core import units
from core.language import tr
from core.text import printable
from core.tones import Tone
from gui.appearance import tip
from gui.design.measures import bold_font, fixed_font
from gui.design.palette import Ground, colour
from gui.guard import Guarded, attempt

Row = TypeVar("Row")
AnyIndex = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
_LONGEST = 300
"""The most characters of a cell, more than a screen shows."""


class Width(Enum):
    """The width of a column: that of its contents, cut where there is no room; that of its contents, whole, as a time
    says nothing without its end; or the rest."""

    CONTENTS = "contents"
    WHOLE = "whole"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column: its head, and the text of its cell for a row.

    `tone` gives the cell's colour; `right` is for numbers; `fixed` for commands; `tip` is the tool tip, where the
    cell's own text is not it. `value` is the number by which the column is sorted, None where a row has none; a column
    without it is sorted by its texts. A `grouped` column shows its text once for the rows in a row that have the same.
    """

    title: str
    text: Callable[[Row], str]
    right: bool = False
    fixed: bool = False
    tone: Callable[[Row], Tone | None] | None = None
    tip: Callable[[Row], str] | None = None
    width: Width = Width.CONTENTS
    value: Callable[[Row], float | None] | None = None
    grouped: bool = False


class TableModel(Guarded, QAbstractTableModel, Generic[Row]):
    """Rows of one dataclass. New rows are set as a whole; only what differs is announced, so that selection and scroll
    position stay while a table is live. The row itself stands under UserRole. `strong` rows are heads: in bold.
    `ground` says what lies behind a row, where that means something.

    A column whose function fails shows `–` in its cells, in what is copied of them and in what is saved; see `guard`.
    """

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        parent: QObject | None = None,
        strong: Callable[[Row], bool] = lambda _row: False,
        ground: Callable[[Row], Ground | None] = lambda _row: None,
    ) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self._strong = strong
        self._ground = ground
        self._rows: list[Row] = []

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self._rows)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows."""
        common = min(len(rows), len(self._rows))
        changed = [
            number
            for number in range(common)
            if self._rows[number] is not rows[number] and self._rows[number] != rows[number]
        ]
        if changed:
            for number in changed:
                self._rows[number] = rows[number]
            following = int(any(column.grouped for column in self.columns))  # its cells depend on the row above
            below = min(changed[-1] + following, common - 1)
            self.dataChanged.emit(self.index(changed[0], 0), self.index(below, len(self.columns) - 1))
        if len(self._rows) > common:
            self.beginRemoveRows(QModelIndex(), common, len(self._rows) - 1)
            del self._rows[common:]
            self.endRemoveRows()
        elif len(rows) > common:
            self.beginInsertRows(QModelIndex(), common, len(rows) - 1)
            self._rows.extend(rows[common:])
            self.endInsertRows()

    def refresh_texts(self) -> None:
        """Show the texts of the same rows again, because units have changed."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(self.columns) - 1))

    def rename(self, number: int, title: str) -> None:
        """Change the title of a column."""
        if self.columns[number].title != title:
            columns = [*self.columns]
            columns[number] = replace(columns[number], title=title)
            self.columns = tuple(columns)
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, number, number)

    def row(self, number: int) -> Row:
        return self._rows[number]

    def rowCount(self, parent: AnyIndex = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return f" {tr(self.columns[section].title)} "
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(tr(self.columns[section].title))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.columns[section])
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return "" if self._repeats(column, index.row()) else _one_line(self.text(column, row))
            case Qt.ItemDataRole.ToolTipRole:
                return tip(self._cell_text(column.tip or column.text, row))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ForegroundRole:
                tone = self._toned(column, row)
                return None if tone is None else colour(tone)
            case Qt.ItemDataRole.BackgroundRole:
                ground = attempt(self._ground, lambda _row: None, row)
                return None if ground is None else colour(ground)
            case Qt.ItemDataRole.FontRole:
                return bold_font() if self._strong(row) else fixed_font() if column.fixed else None
            case Qt.ItemDataRole.UserRole:
                return row
            case _:
                return None

    def text(self, column: Column[Row], row: Row) -> str:
        """Return the whole text of a cell; `–` if its function fails."""
        return self._cell_text(column.text, row)

    def sort_key(self, column: Column[Row], row: Row) -> float | str:
        """Return the key by which the column is sorted. Rows without a value, or whose function fails, come first."""
        if column.value is None:
            return self.text(column, row).lower()
        value = attempt(column.value, lambda _row: None, row)
        return value if units.known(value) else float("-inf")

    def _repeats(self, column: Column[Row], number: int) -> bool:
        """Return whether the cell has the same text as the one above it, which is shown once for both."""
        if not column.grouped or number == 0:
            return False
        return self.text(column, self._rows[number - 1]) == self.text(column, self._rows[number])

    def _cell_text(self, text: Callable[[Row], str], row: Row) -> str:
        return attempt(text, lambda _row: units.ABSENT, row)

    def _toned(self, column: Column[Row], row: Row) -> Tone | None:
        return None if column.tone is None else attempt(column.tone, lambda _row: None, row)


def _alignment(column: Column[Any]) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _one_line(text: str) -> str:
    """A cell is one line: a command of several lines shows its breaks as signs, a long one its beginning.

    Qt lays out a whole text to draw what there is room for: a script of facts takes it a third of a second.
    """
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return printable(short.strip().replace("\n", " ↵ ") if "\n" in short else short)
