"""Classes of the window whose every part fails, shown by Qt's own event loop: does the program live on?

`python tests/gui/failing.py` prints, a line each, what was told of, and `lives` in the end.
"""

import sys
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from core.jobs import Job
from gui.app import Catcher
from gui.bridge import Runner, Task
from gui.guard import Guarded
from gui.models.rail import RailModel, RailRow
from gui.models.steps import Part, Progressed
from gui.models.table import NOWHERE, AnyIndex, Column, TableModel
from gui.widgets.phase_strip import PhaseStrip

LIFE_MS = 700


class FailingModel(TableModel[int]):
    """Counts its rows, and fails for each of them."""

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        raise ZeroDivisionError("data")

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        raise OverflowError("headerData")


class UncountedModel(RailModel):
    """Cannot even count its rows."""

    def rowCount(self, parent: AnyIndex = NOWHERE) -> int:
        raise LookupError("rowCount")


class FailingDelegate(Guarded, QStyledItemDelegate):
    """Fails with a painter that is not as it was."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        raise ValueError("paint")

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        raise ValueError("initStyleOption")

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        raise ValueError("sizeHint")


class FailingWidget(Guarded, QWidget):
    """Fails in whatever Qt asks of it, in its paint with the painter at work."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawText(0, 0, "x")
        raise RuntimeError("paintEvent")

    def sizeHint(self) -> QSize:
        raise RuntimeError("widget's sizeHint")

    def showEvent(self, _event: QShowEvent) -> None:
        raise RuntimeError("showEvent")

    def resizeEvent(self, _event: QResizeEvent) -> None:
        raise RuntimeError("resizeEvent")

    def keyPressEvent(self, _event: QKeyEvent) -> None:
        raise RuntimeError("keyPressEvent")

    def closeEvent(self, _event: QCloseEvent) -> None:
        raise RuntimeError("closeEvent")

    def eventFilter(self, _watched: QObject, _event: QEvent) -> bool:
        raise RuntimeError("eventFilter")


class DeafWidget(Guarded, QWidget):
    """Fails with every event."""

    def event(self, _event: QEvent) -> bool:
        raise RuntimeError("event")


class Slots(QObject):
    """Fails in a slot of a signal, of a timer, and of a job's result."""

    said = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.said.connect(self._fail)
        self._timer = QTimer(self, interval=50)
        self._timer.timeout.connect(self._fail_again)
        self._timer.start()

    def _fail(self, _value: object) -> None:
        raise KeyError("slot")

    def _fail_again(self) -> None:
        raise KeyError("timer")

    def fail_of_a_job(self, _result: object) -> None:
        """A slot of `Task.succeeded`."""
        raise KeyError("result")


def tell(error: Exception) -> None:
    print("told:", error.args[0], flush=True)  # noqa: T201  the parent reads it


def main() -> int:
    """Show them all for a while."""
    application = QApplication(sys.argv[:1])
    catcher = Catcher()
    catcher.caught.connect(tell, Qt.ConnectionType.QueuedConnection)
    catcher.install()
    model = FailingModel((Column("One", str), Column("Two", str)))
    tables, rail = [QTableView(), QTableView()], QListView()
    for view, shown in zip((*tables, rail), (model, model, UncountedModel([RailRow("Move", None)])), strict=True):
        view.setModel(shown)
        view.show()
    tables[1].setItemDelegate(FailingDelegate(tables[1]))
    model.set_rows([1, 2, 3])
    model.set_rows([2])
    for table in tables:
        table.resizeColumnsToContents()
    strip = PhaseStrip()
    strip.show_parts((Progressed(Part.DOWN, 0, 0, None, under_way=True),))
    widgets = [FailingWidget(), DeafWidget(), strip]
    for widget in widgets:
        widget.show()
    widgets[0].installEventFilter(widgets[0])
    widgets[0].adjustSize()
    widgets[0].resize(99, 99)
    QTest.keyClick(widgets[0], Qt.Key.Key_A)
    slots = Slots()
    slots.said.emit(2**80)
    runner = Runner()
    task: Task[object] = runner.start("a job", _work)
    task.succeeded.connect(slots.fail_of_a_job)
    task.finished.connect(lambda: print("the job has ended", flush=True))  # noqa: T201  the parent reads it
    QTimer.singleShot(LIFE_MS, application.quit)
    code = application.exec()
    widgets[0].close()
    application.processEvents()
    runner.shutdown(5)
    print("lives" if tables[0].grab().width() else "", flush=True)  # noqa: T201  the parent reads it
    return code


def _work(_job: Job) -> int:
    return 2**63


if __name__ == "__main__":
    sys.exit(main())
