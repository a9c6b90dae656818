"""A table that shows rows of one dataclass, tells which one is chosen, and lets them be copied."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from core.errors import PghaulError
from gui.dialogs.files import ask_path
from gui.models.sorting import figure
from gui.models.table import Column, TableModel, Width
from gui.widgets.padding import PaddedDelegate

Row = TypeVar("Row")
WIDEST = 420


class Table(QTableView, Generic[Row]):
    """A read-only table.

    Signals: chosen(row or None); activated_row(row) by double click or Return; saved(Path), troubled(PghaulError).
    """

    chosen = Signal(object)
    saved = Signal(object)
    troubled = Signal(object)
    activated_row = Signal(object)

    def __init__(
        self,
        name: str,
        columns: Sequence[Column[Row]],
        parent: QWidget | None = None,
        *,
        strong: Callable[[Row], bool] | None = None,
    ) -> None:
        super().__init__(parent)
        self.rows = TableModel[Row](columns, self, strong or (lambda _row: False))
        self.dragged = self._held = False
        self._all: list[Row] = []
        self._wanted = ""
        self._order: tuple[int, Qt.SortOrder] | None = None
        self.setAccessibleName(name)
        self.setModel(self.rows)
        self.setItemDelegate(PaddedDelegate(4, 0, self))
        self._set_behaviour()
        self._set_head(columns)
        if strong is None:  # rows below heads stay below them
            self.horizontalHeader().setSectionsClickable(True)
            self.horizontalHeader().sectionClicked.connect(self.sort)
        copy = QAction("&Copy", self, shortcut=QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy)
        self.addAction(copy)
        save = QAction("Save as CS&V…", self)
        save.triggered.connect(self._ask_where)
        self.addAction(save)
        self.selectionModel().selectionChanged.connect(self._tell)
        self.activated.connect(self._activate)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows; the chosen place stays. Columns fit what they show until the user drags one."""
        before = self.current()
        self._all = [*rows]
        self.rows.set_rows(self._ordered([row for row in rows if self._holds(row)] if self._wanted else rows))
        if rows and not self.dragged:
            self.fit()
        if self.current() != before:
            self.chosen.emit(self.current())

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
        if column.right:
            return sorted(rows, key=lambda row: figure(column.text(row)), reverse=falling)
        return sorted(rows, key=lambda row: column.text(row).lower(), reverse=falling)

    def _holds(self, row: Row) -> bool:
        return any(self._wanted in column.text(row).lower() for column in self.rows.columns)

    def current(self) -> Row | None:
        """The row that is chosen."""
        chosen = self.selectionModel().selectedRows()
        return self.rows.row(chosen[0].row()) if len(chosen) == 1 else None

    def choose(self, number: int) -> None:
        """Choose a row by its place. Not by selectRow: that heeds the modifier keys that happen to be down."""
        if 0 <= number < self.rows.rowCount():
            flags = QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(self.rows.index(number, 0), flags.ClearAndSelect | flags.Rows)

    def fit(self) -> None:
        """Make each column as wide as what it shows, within reason."""
        for number, column in enumerate(self.rows.columns):
            if column.width is Width.CONTENTS:
                self.resizeColumnToContents(number)
                if self.columnWidth(number) > WIDEST:
                    self.setColumnWidth(number, WIDEST)

    @Slot()
    def copy(self) -> None:
        """Put the chosen rows on the clipboard, as lines of tab-separated cells, whole."""
        numbers = sorted(index.row() for index in self.selectionModel().selectedRows())
        lines = ["\t".join(column.text(self.rows.row(number)) for column in self.rows.columns) for number in numbers]
        if lines:
            QGuiApplication.clipboard().setText("\n".join(lines))

    def save_csv(self, path: Path) -> None:
        """Write what the table shows, with its heads, as CSV (RFC 4180). Raises OSError."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([column.title for column in self.rows.columns])
            writer.writerows([column.text(row) for column in self.rows.columns] for row in self.rows.rows)

    @Slot()
    def _ask_where(self) -> None:
        ask_path(self, "Save the table", f"{self.accessibleName()}.csv", "csv", self._save)

    def _save(self, path: Path) -> None:
        try:
            self.save_csv(path)
        except OSError as error:
            self.troubled.emit(PghaulError(f"{path} could not be written: {error.strerror}", "choose another folder"))
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
        head.setResizeContentsPrecision(50)
        head.viewport().installEventFilter(self)
        head.sectionResized.connect(self._resized)
        head.setStretchLastSection(all(column.width is Width.CONTENTS for column in columns))
        for number, column in enumerate(columns):
            if column.width is Width.REST:
                head.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
        side = self.verticalHeader()
        side.hide()
        side.setDefaultSectionSize(self.fontMetrics().height() + 8)

    @Slot(QItemSelection, QItemSelection)
    def _tell(self, _now: QItemSelection, _before: QItemSelection) -> None:
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
