"""The section of the migration page that carries the move out."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from core.migration.model.execution import StepRun
from gui.actions import ExecutionState, MigrationState
from gui.models import execution as rows
from gui.models.execution import Doing
from gui.pages.sections import Section
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
        self.state = ExecutionState()
        self.rehearse, self.resume, self.end, self.back = (
            self._button(text) for text in ("Rehear&se", "Go &on", "E&nd it", "&Back to old")
        )
        self.table = Table[StepRun]("Steps of the execution", rows.RUN_COLUMNS, self)
        self.table.chosen.connect(self._show)
        self.output = TextView("What the step printed", self)
        self.told = TextView("How it ended", self)
        self.told.hide()
        split = self.split(self.table, self.output, (320, 180))
        split.insertWidget(0, self.told)
        split.setSizes([300, 160, 120])

    @property
    def buttons(self) -> tuple[tuple[QPushButton, Doing], ...]:
        """Each button with what it does."""
        return (
            (self.start, Doing.MOVE),
            (self.rehearse, Doing.REHEARSE),
            (self.resume, Doing.RESUME),
            (self.end, Doing.END),
            (self.back, Doing.BACK),
        )

    def show_state(self, state: MigrationState) -> None:
        self.show_execution(state.executed)

    def show_execution(self, state: ExecutionState) -> None:
        """Show the execution as it stands now."""
        self.state, execution = state, state.execution
        told = rows.told_text(state.told)
        self.told.set_text(told)
        self.told.setVisible(bool(told))
        self.summary.setText(rows.summary(state) or self.nothing)
        self._show_tries(() if execution is None else execution.steps)

    def _show_tries(self, tries: Sequence[StepRun]) -> None:
        """The latest try is chosen as they come, until the user chooses another."""
        before, current = self.table.rows.rows, self.table.current()
        follows = current is None or (self.state.alive and current == before[-1])
        self.table.set_rows(tries)
        if follows and tries:
            self.table.choose(len(tries) - 1)

    def enable(self, ready: bool) -> None:
        """Enable what may be done now; what runs may be ended while nothing else can be started."""
        may = self.state.possible
        if may is None:
            return
        for button, possible in (
            (self.start, ready and may.begin),
            (self.rehearse, ready and may.begin),
            (self.resume, ready and may.resume),
            (self.end, may.end),
            (self.back, ready and may.roll_back),
        ):
            button.setEnabled(possible)

    def _button(self, text: str) -> QPushButton:
        made = QPushButton(text, self)
        made.setEnabled(False)
        self.head.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        return made

    @Slot(object)
    def _show(self, run: StepRun | None) -> None:
        self.output.set_text("" if run is None else rows.run_text(run))
