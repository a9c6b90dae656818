"""The choice of the times at which an execution starts and asks for the stop."""

from PySide6.QtCore import QTime, QTimer, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QTimeEdit, QVBoxLayout, QWidget

from core.language import tr
from gui.design.measures import CARD, GAP, GRID
from gui.guard import Guarded
from gui.models.schedule import describe_times
from gui.widgets.label import Label

_START, _ASK = QTime(22, 0), QTime(23, 30)
_TICK_MS = 1000


class ScheduleBar(Guarded, QWidget):
    """Two times that can be chosen, and the sentences on what they mean.

    Attributes:
        asks: whether the execution asks for the stop: a rehearsal does not.
    """

    def __init__(self, asks: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.asks = asks
        self.starts_later = QCheckBox(tr("Start the pre-copy &later, at"), self)
        self.asks_later = QCheckBox(tr("Ask &for the stop at"), self)
        self.start_time, self.ask_time = self._field(self.starts_later, _START), self._field(self.asks_later, _ASK)
        self.meaning = Label(parent=self)
        self.meaning.setWordWrap(True)
        line = QHBoxLayout()
        line.setSpacing(GAP)
        for box, field in ((self.starts_later, self.start_time), (self.asks_later, self.ask_time)):
            line.addWidget(box)
            line.addWidget(field)
            line.addSpacing(CARD)
        line.addStretch()
        for widget in (self.asks_later, self.ask_time):
            widget.setVisible(asks)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(line)
        column.addWidget(self.meaning)
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._say)
        self._say()

    @property
    def times(self) -> tuple[str | None, str | None]:
        """The chosen times, of the start and of the question; None: it does not wait."""
        chosen = ((self.starts_later, self.start_time), (self.asks_later, self.ask_time))
        start, ask = (field.time().toString("HH:mm") if box.isChecked() else None for box, field in chosen)
        return start, ask if self.asks else None

    def showEvent(self, event: QShowEvent) -> None:
        """Count the time down while it is seen."""
        super().showEvent(event)
        self._tick.start()
        self._say()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()

    @Slot()
    def _say(self) -> None:
        said = describe_times(*self.times)
        self.meaning.setText(said)
        self.meaning.setVisible(bool(said))

    def _field(self, box: QCheckBox, time: QTime) -> QTimeEdit:
        field = QTimeEdit(time, self)
        field.setDisplayFormat("HH:mm")
        field.setAccessibleName(box.text().replace("&", ""))
        field.setEnabled(False)
        field.timeChanged.connect(self._say)
        box.toggled.connect(field.setEnabled)
        box.toggled.connect(self._say)
        return field
