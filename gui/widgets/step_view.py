"""A step in two parts: its reason and how to undo it, then its commands with the call that runs them."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from core.language import tr
from core.migration.model.plan import Step
from gui.models.migration import step_commands, step_text
from gui.widgets.text import TextView


class StepView(QWidget):
    """Shows one step, or nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.why = TextView(tr("Reason and undo"), self, fixed=False)
        self.commands = TextView(tr("Commands"), self)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self.why)
        split.addWidget(self.commands)
        split.setSizes([400, 560])
        split.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(split)

    def show_step(self, step: Step | None) -> None:
        """Show this step."""
        self.why.set_text("" if step is None else step_text(step))
        self.commands.set_text("" if step is None else step_commands(step))
