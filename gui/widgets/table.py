"""A table that shows rows of one dataclass, tells which one is chosen, and lets them be copied."""

import csv
import io
from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QTableView,
    QTabWidget,
    QToolButton,
    QWidget,
)

from core.errors import InputError
from core.files import write_text
from core.language import tr
from core.text import no_formula
from gui.design.measures import ROW, scaled
from gui.design.palette import Ground
from gui.guard import Guarded
from gui.models.table import Column, TableModel, Width
from gui.widgets.files import ask_path

Row = TypeVar("Row")
TIGHTEST, NARROWEST, WIDEST = 96, 120, 720
"""Of a column of texts; it becomes narrower than the second only where the table would be scrolled otherwise."""
READABLE = 240
"""What a column that takes the rest of the width needs to be read; all in the window's pixels."""
LONGEST_HEAD = 240
"""No title is longer. Of a head that names a server and is, the beginning and the end are shown; its tip is whole."""


def level(widths: Sequence[int], room: int) -> int:
    """The width to which the widest have to be cut so that all fit into the room, the narrow ones left as they are."""
    left, following = room, sorted(widths)
    for place, width in enumerate(following):
        share = left // (len(following) - place)
        if width > share:
            return share
        left -= width
    return WIDEST


class Table(Guarded, QTableView, Generic[Row]):
    """A read-only table. The widths of its columns are remembered by its `table_id`; a screen reader reads its
    `title`. `follow` tells rows apart: what is chosen stays so wherever new rows have put it.

    Signals: chosen(row or None); activated_row(row) by double click or Return; saved(Path), troubled(PghaulError).
    """

    chosen = Signal(object)
    saved = Signal(object)
    troubled = Signal(object)
    activated_row = Signal(object)

    def __init__(
        self,
        table_id: str,
        title: str,
        columns: Sequence[Column[Row]],
        parent: QWidget | None = None,
        *,
        strong: Callable[[Row], bool] | None = None,
        follow: Callable[[Row], Hashable] | None = None,
        ground: Callable[[Row], Ground | None] | None = None,
    ) -> None:
        super().__init__(parent)
        self.rows = TableModel[Row](columns, self, strong or (lambda _row: False), ground or (lambda _row: None))
        self.dragged = self._held = self._filling = self._chosen_unseen = False
        self._follow = follow
        self._asked: list[int] = []
        self._all: list[Row] = []
        self._wanted = ""
        self._order: tuple[int, Qt.SortOrder] | None = None
        self.setObjectName(table_id)
        self.setAccessibleName(title)
        self.setModel(self.rows)
        self._set_behaviour()
        self._set_head(columns)
        if strong is None:  # rows below heads stay below them
            self.horizontalHeader().setSectionsClickable(True)
            self.horizontalHeader().sectionClicked.connect(self.sort)
        copy = QAction(tr("&Copy"), self, shortcut=QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy)
        self.addAction(copy)
        save = QAction(tr("Save as CS&V…"), self)
        save.triggered.connect(self._ask_where)
        self.addAction(save)
        self.selectionModel().selectionChanged.connect(self._tell)
        self.selectionModel().currentChanged.connect(self._keep_unseen)
        self.activated.connect(self._activate)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows; the chosen place stays, or the chosen row where the table follows it.

        Columns fit what they show until the user drags one.
        """
        before, chosen = self.current(), self.selected()
        self._all = [*rows]
        self._filling = True  # what is chosen is told once the rows stand
        self.rows.set_rows(self._ordered([row for row in rows if self._holds(row)] if self._wanted else rows))
        if self._follow is not None and chosen:
            self._choose_again({self._follow(row) for row in chosen}, self._follow)
        self._filling = False
        self._refit()
        if self.current() != before:
            self.chosen.emit(self.current())

    def _choose_again(self, wanted: AbstractSet[Hashable], follow: Callable[[Row], Hashable]) -> None:
        """Choose these rows where they stand now, out of sight too; where none is left, the place stays chosen."""
        places = [number for number, row in enumerate(self.rows.rows) if follow(row) in wanted]
        if not places or places == sorted(index.row() for index in self.selectionModel().selectedRows()):
            return
        selection, flags = QItemSelection(), QItemSelectionModel.SelectionFlag
        for place in places:
            selection.select(self.rows.index(place, 0), self.rows.index(place, 0))
        self.setAutoScroll(False)
        self.selectionModel().setCurrentIndex(self.rows.index(places[0], 0), flags.NoUpdate)
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)
        self.setAutoScroll(True)

    def refresh_texts(self) -> None:
        """Show the texts of the same rows again, and the details of the selected one."""
        self.rows.refresh_texts()
        self._refit()
        self.chosen.emit(self.current())

    def rename(self, column: int, title: str) -> None:
        """Give a column another head."""
        self.rows.rename(column, title)
        self._asked = []

    @Slot(str)
    def filter(self, text: str) -> None:
        """Show of the rows those alone that hold this text in a cell, whatever its case."""
        self._wanted = text.strip().lower()
        self.set_rows(self._all)

    @Slot(int)
    def sort(self, number: int) -> None:
        """By that column: rising, then falling, then as the rows came."""
        order, rising, falling = self._order, Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
        if order is None or order[0] != number:
            self._order = (number, rising)
        else:
            self._order = (number, falling) if order[1] is rising else None
        self.horizontalHeader().setSortIndicatorShown(self._order is not None)
        if self._order is not None:
            self.horizontalHeader().setSortIndicator(*self._order)
        self.set_rows(self._all)

    def _ordered(self, rows: Sequence[Row]) -> Sequence[Row]:
        if self._order is None:
            return rows
        column, falling = self.rows.columns[self._order[0]], self._order[1] is Qt.SortOrder.DescendingOrder
        return sorted(rows, key=lambda row: self.rows.sort_key(column, row), reverse=falling)

    def _holds(self, row: Row) -> bool:
        return any(self._wanted in self.rows.text(column, row).lower() for column in self.rows.columns)

    def current(self) -> Row | None:
        """The row that is chosen."""
        chosen = self.selectionModel().selectedRows()
        return self.rows.row(chosen[0].row()) if len(chosen) == 1 else None

    def selected(self) -> tuple[Row, ...]:
        """All that are chosen, as they stand."""
        numbers = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(self.rows.row(number) for number in numbers)

    def limit_height(self, most: int, least: int = 0) -> None:
        """Be as high as the rows that there are, where there is room, and no higher than so many of them.

        Args:
            most: so many rows at most.
            least: as many of the rows that there are always have room.
        """
        self.setSizeAdjustPolicy(QAbstractItemView.SizeAdjustPolicy.AdjustToContents)
        shown = max(1, self.rows.rowCount())
        self.setMaximumHeight(self._height(min(shown, most)))
        self.setMinimumHeight(self._height(min(shown, most, least)) if least else 0)

    def _height(self, rows: int) -> int:
        row = self.verticalHeader().defaultSectionSize()
        return self.horizontalHeader().sizeHint().height() + rows * row + 2 * self.frameWidth()

    def show_all_rows(self) -> None:
        """Be as high as all rows: what contains the table scrolls."""
        self.limit_height(self.rows.rowCount(), self.rows.rowCount())

    def choose(self, number: int) -> None:
        """Choose a row by its place, and bring another than before into sight, once the table has its size.

        Not by selectRow: that heeds the modifier keys that happen to be down.
        """
        if 0 <= number < self.rows.rowCount():
            flags, index = QItemSelectionModel.SelectionFlag, self.rows.index(number, 0)
            if index != self.currentIndex():
                QTimer.singleShot(0, self, self._show_current)
            self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    def fit(self) -> None:
        """Make each column as wide as what it shows, within reason: those that take the rest have room to be read.

        Texts become as narrow as a short word, and long heads too, before the table is scrolled: often its last column
        is what it is read for. Where even these do not fit beside each other, it is scrolled: a row that cannot be told
        from the next one says nothing. What the texts ask for is measured once for the rows: a window that is made
        wider asks anew many times a second.
        """
        columns, head, room = self.rows.columns, self.horizontalHeader(), self.viewport().width()
        if not self._asked:
            self._asked = [0 if self.isColumnHidden(n) else self.sizeHintForColumn(n) for n in range(len(columns))]
        heads = [0 if self.isColumnHidden(number) else head.sectionSizeHint(number) for number in range(len(columns))]
        widths = self._widths(heads, tight=False)
        if sum(widths) > room and sum(tight := self._widths(heads, tight=True)) <= room:
            widths = tight
        rest = [n for n, column in enumerate(columns) if column.width is Width.REST and not self.isColumnHidden(n)]
        for number, width in enumerate(widths):
            if columns[number].width is not Width.REST and not self.isColumnHidden(number):
                self.setColumnWidth(number, width)
                room -= width
        for place, number in enumerate(sorted(rest, key=lambda each: widths[each], reverse=True)):
            enough = room // (len(rest) - place) >= widths[number]  # for this one, and so for the narrower ones
            mode = QHeaderView.ResizeMode.Stretch if enough else QHeaderView.ResizeMode.Interactive
            head.setSectionResizeMode(number, mode)
            if not enough:
                self.setColumnWidth(number, widths[number])
                room -= widths[number]

    def _widths(self, heads: Sequence[int], *, tight: bool) -> list[int]:
        """Return the width of each column, and the least of those that take the rest."""
        columns, asked = self.rows.columns, self._asked
        narrowest = TIGHTEST if tight else NARROWEST
        least = [width if width <= LONGEST_HEAD else narrowest if tight else LONGEST_HEAD for width in heads]
        rest = {number for number, column in enumerate(columns) if column.width is Width.REST}
        texts = {n for n, column in enumerate(columns) if column.width is Width.CONTENTS and not column.right}
        whole = set(range(len(columns))) - rest - texts
        room = self.viewport().width() - sum(max(asked[number], least[number]) for number in whole)
        shared = [max(asked[number], least[number]) for number in (texts | rest if tight else texts)]
        for number in () if tight else rest:  # many commands begin alike, and stand whole where one is chosen
            room -= min(NARROWEST if columns[number].fixed else READABLE, max(asked[number], least[number]))
        widest = min(WIDEST, max(narrowest, level(shared, room))) if rest else WIDEST
        most = [widest if n in texts else narrowest if n in rest else asked[n] for n in range(len(columns))]
        return [max(head, min(wide, limit)) for head, wide, limit in zip(least, asked, most, strict=True)]

    def _refit(self) -> None:
        """Fit the columns to other rows, unless the table is hidden or the operator has set the widths."""
        self._asked = []
        if not self.dragged and self.isVisible():
            self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.dragged:
            self.fit()
        if self._chosen_unseen:
            self._chosen_unseen = False
            QTimer.singleShot(0, self, self._show_current)

    @Slot(QModelIndex, QModelIndex)
    def _keep_unseen(self, _now: QModelIndex, _before: QModelIndex) -> None:
        """Qt brings a row into sight that is chosen while the table is seen, but not one that was chosen before."""
        self._chosen_unseen = self._chosen_unseen or (self.hasAutoScroll() and not self.isVisible())

    @Slot()
    def _show_current(self) -> None:
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and not self.dragged and self.isVisible():
            self.fit()

    @Slot()
    def copy(self) -> None:
        """Put the chosen rows on the clipboard, as lines of tab-separated cells, whole."""
        lines = ["\t".join(self.rows.text(column, row) for column in self.rows.columns) for row in self.selected()]
        if lines:
            QGuiApplication.clipboard().setText("\n".join(lines))

    def save_csv(self, path: Path) -> None:
        """Write what the table shows, with its heads, as CSV (RFC 4180). Raises InputError."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow([tr(column.title) for column in self.rows.columns])
        writer.writerows(
            [no_formula(self.rows.text(column, row)) for column in self.rows.columns] for row in self.rows.rows
        )
        write_text(path, text.getvalue(), replacing=True)  # the dialog has asked

    @Slot()
    def _ask_where(self) -> None:
        ask_path(self, tr("Save the table"), f"{self.accessibleName()}.csv", "csv", self._save)

    def _save(self, path: Path) -> None:
        try:
            self.save_csv(path)
        except InputError as error:
            self.troubled.emit(InputError(error.message, error.hint or tr("Choose another folder.")))
        else:
            self.saved.emit(path)

    def _set_behaviour(self) -> None:
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAlternatingRowColors(True)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)

    def _set_head(self, columns: Sequence[Column[Row]]) -> None:
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head.setResizeContentsPrecision(50)
        head.viewport().installEventFilter(self)
        head.sectionResized.connect(self._resized)
        head.setStretchLastSection(all(column.width is not Width.REST for column in columns))
        for number, column in enumerate(columns):
            if column.width is Width.REST:
                head.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
        side = self.verticalHeader()
        side.hide()
        side.setDefaultSectionSize(scaled(ROW))

    @Slot(QItemSelection, QItemSelection)
    def _tell(self, _now: QItemSelection, _before: QItemSelection) -> None:
        if not self._filling:
            self.chosen.emit(self.current())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease}:
            self._held = event.type() is QEvent.Type.MouseButtonPress
        return super().eventFilter(watched, event)

    @Slot()
    def _resized(self) -> None:
        """By the user's hand on the head; a button that is held elsewhere, as on a tab, drags nothing here."""
        self.dragged = self.dragged or self._held

    @Slot(object)
    def _activate(self, index: Any) -> None:
        self.activated_row.emit(self.rows.row(index.row()))


class FilterBox(Guarded, QLineEdit):
    """For a table of a page, and those `further` that stand beside it; Ctrl+F leads to it, Escape empties it."""

    def __init__(self, table: Table[Any], parent: QWidget, *further: Table[Any]) -> None:
        super().__init__(parent)
        self._tables = (table, *further)
        self.setClearButtonEnabled(True)
        for clear in self.findChildren(QToolButton):
            clear.setAccessibleName(tr("Clear the filter"))
        self.setPlaceholderText(tr("Filter (Ctrl+F)"))
        self.setAccessibleName(tr("Filter: {table}").format(table=table.accessibleName()))
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 16)
        self.setMaximumWidth(self.fontMetrics().averageCharWidth() * 30)
        for each in self._tables:
            self.textChanged.connect(each.filter)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), parent)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.setFocus)

    def stand_in(self, tabs: QTabWidget) -> None:
        """In the corner of these tabs, while one with a table of its own is in front."""
        tabs.setCornerWidget(self)
        tabs.currentChanged.connect(partial(self._follow, tabs))
        self._follow(tabs)

    def _follow(self, tabs: QTabWidget, _number: int = 0) -> None:
        front = tabs.currentWidget()
        self.setVisible(any(front is each or front.isAncestorOf(each) for each in self._tables))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
        else:
            super().keyPressEvent(event)
