"""A step in three parts: its reason and how to undo it, its commands, and its call."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from core.language import tr
from core.migration.model.plan import Step
from gui.guard import Guarded
from gui.models.migration import step_text
from gui.widgets.text import TextView


class StepView(Guarded, QWidget):
    """Shows one step, or nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.why = TextView(tr("Reason, and how to undo the step"), self, fixed=False)
        self.native = TextView(tr("Commands that do the work"), self)
        self.call = TextView(tr("Call that runs them"), self)
        self._run = run = QSplitter(Qt.Orientation.Vertical, self)
        run.addWidget(self.native)
        run.addWidget(self.call)
        run.setSizes([200, 110])
        whole = QSplitter(Qt.Orientation.Horizontal, self)
        whole.addWidget(run)
        whole.addWidget(self.why)
        whole.setSizes([600, 360])
        for each in (run, whole):
            each.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(whole)

    def minimumSizeHint(self) -> QSize:
        """Return the height of one text: without room for two, they are shown beside each other."""
        return QSize(super().minimumSizeHint().width(), self.why.minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        low = self.height() < 2 * self.why.minimumSizeHint().height() + self._run.handleWidth()
        self._run.setOrientation(Qt.Orientation.Horizontal if low else Qt.Orientation.Vertical)

    def show_step(self, step: Step | None) -> None:
        """Show this step."""
        self.native.set_text("" if step is None else "\n".join(step.native or (step.call,)))
        self.call.set_text("" if step is None or not step.native else step.call)
        self.why.set_text("" if step is None else step_text(step))
