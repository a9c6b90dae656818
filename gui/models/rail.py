"""The rows of the page list, each with the state and the age of its milestone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QObject, Qt

from core.language import tr
from core.migration.model.standing import Condition, Mark, Milestone
from gui.appearance import tip
from gui.guard import Guarded
from gui.models.sentences import recorded
from gui.models.table import NOWHERE, AnyIndex
from gui.models.words import age, condition_name


@dataclass(frozen=True, slots=True)
class RailRow:
    """A page in the list. `milestone` None: the page belongs to no milestone."""

    title: str
    milestone: Milestone | None
    mark: Mark | None = None


class RailModel(Guarded, QAbstractListModel):
    """Holds the row under UserRole. A screen reader hears the page, its condition and its age."""

    def __init__(self, rows: Sequence[RailRow], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = list(rows)

    def row(self, number: int) -> RailRow:
        return self._rows[number]

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Show the milestones of a move; none: no move is selected."""
        by = {mark.milestone: mark for mark in marks}
        for row in self._rows:
            mark = None if row.milestone is None else by.get(row.milestone)
            self._rows[self._rows.index(row)] = RailRow(row.title, row.milestone, mark)
        self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def rowCount(self, parent: AnyIndex = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return tr(row.title)
            case Qt.ItemDataRole.AccessibleTextRole:
                return describe_row(row, datetime.now().astimezone())
            case Qt.ItemDataRole.ToolTipRole:
                return "" if row.mark is None else tip(describe_row(row, datetime.now().astimezone()))
            case Qt.ItemDataRole.UserRole:
                return row
            case _:
                return None


def describe_row(row: RailRow, now: datetime) -> str:
    """Return a row as `Checks, with warnings, blockers: 0, warnings: 3, 2 h ago`."""
    if row.mark is None:
        return tr(row.title)
    parts = (
        tr(row.title),
        condition_name(row.mark.condition),
        recorded(row.mark.said),
        age(row.mark.at, now) and tr("{age} ago").format(age=age(row.mark.at, now)),
    )
    return ", ".join(part for part in parts if part)


def has_age(condition: Condition) -> bool:
    """Return whether the list shows an age: of what runs or is out of date. The tool tip has it for each."""
    return condition in {Condition.UNDER_WAY, Condition.STALE}
