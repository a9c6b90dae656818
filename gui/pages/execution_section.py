"""The section of the migration page that carries the move out."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from core.migration.model import StepRun
from gui.actions import MigrationState
from gui.models import execution as rows
from gui.pages.sections import Section, fill_table
from gui.widgets.table import Table
from gui.widgets.text import TextView


class ExecutionSection(Section):
    """How the latest execution stands, each try at a step, and what may be done next."""

    tab, doing, button = "E&xecution", "Moving", "Mo&ve it…"
    nothing = (
        "Not executed yet. A rehearsal copies while old runs and stops nothing; the move asks for the cluster's name "
        "before it stops it."
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.possible = rows.possible(None, alive=False)
        self.rehearse, self.resume, self.end, self.back = (
            self._button(text) for text in ("Rehear&se", "Go &on", "E&nd it", "&Back to old")
        )
        self.table = Table[StepRun]("Steps of the execution", rows.RUN_COLUMNS, self)
        self.table.chosen.connect(self._show)
        self.output = TextView("What the step printed", self)
        self.split(self.table, self.output, (320, 180))

    def show_state(self, state: MigrationState) -> None:
        execution = state.execution
        self.possible = rows.possible(execution, alive=state.alive)
        self.summary.setText(self.nothing if execution is None else rows.summary(execution, alive=state.alive))
        fill_table(self.table, () if execution is None else execution.steps)

    def enable(self, ready: bool) -> None:
        """Enable what may be done now."""
        for button, may in (
            (self.start, self.possible.begin),
            (self.rehearse, self.possible.begin),
            (self.resume, self.possible.resume),
            (self.end, self.possible.end),
            (self.back, self.possible.roll_back),
        ):
            button.setEnabled(ready and may)

    def _button(self, text: str) -> QPushButton:
        made = QPushButton(text, self)
        made.setEnabled(False)
        self.head.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        return made

    @Slot(object)
    def _show(self, run: StepRun | None) -> None:
        self.output.set_text("" if run is None else rows.run_text(run))
