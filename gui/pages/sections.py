"""The four sections of the migration page; each shows its part of what the history holds of the move."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from core.migration.checks.waivers import waivable
from core.migration.model.checks import CheckResult
from core.migration.model.plan import Plan, Step
from core.migration.model.probe import Probe
from gui.actions import MigrationState
from gui.models import migration as rows
from gui.models.migration import StageRow
from gui.widgets.label import Label
from gui.widgets.table import Table
from gui.widgets.text import TextView


class Section(QWidget):
    """A line that says how things stand, with the button that works on it, over the section's own widgets."""

    tab = ""
    doing = ""
    button = ""
    nothing = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.summary = Label(self.nothing, self)
        self.summary.setWordWrap(True)
        self.start = QPushButton(self.button, self)
        self.head = QHBoxLayout()
        self.head.addWidget(self.summary, 1)
        self.head.addWidget(self.start, 0, Qt.AlignmentFlag.AlignTop)
        self.column = QVBoxLayout(self)
        self.column.addLayout(self.head)

    def show_state(self, state: MigrationState) -> None:
        """Show this section's part."""
        raise NotImplementedError

    def split(self, above: QWidget, below: QWidget, sizes: tuple[int, int]) -> QSplitter:
        """The section's widgets, one over the other, the border between them to be dragged."""
        made = QSplitter(Qt.Orientation.Vertical, self)
        made.addWidget(above)
        made.addWidget(below)
        made.setSizes([*sizes])
        made.setChildrenCollapsible(False)
        self.column.addWidget(made, 1)
        return made


class ChecksSection(Section):
    """The checks, worst first, with their evidence and hints."""

    tab, doing, button = "&Checks", "Checking", "&Run the checks"
    nothing = "Not checked yet. The checks read the facts of both servers anew and change nothing."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = Table[CheckResult]("Checks", rows.CHECK_COLUMNS, self)
        self.evidence = TextView("Evidence and hint", self)
        self.waive, self.unwaive = QPushButton("&Waive…", self), QPushButton("Take waiver &back", self)
        for button in (self.waive, self.unwaive):
            button.setEnabled(False)
            self.head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.table.chosen.connect(self._show)
        self.split(self.table, self.evidence, (320, 180))

    def show_state(self, state: MigrationState) -> None:
        results = state.checks or ()
        self.summary.setText(self.nothing if state.checks is None else rows.checks_summary(results).capitalize())
        fill_table(self.table, results)
        self.update_waiving()

    @Slot(object)
    def _show(self, result: CheckResult | None) -> None:
        self.evidence.set_text("" if result is None else rows.check_text(result))
        self.update_waiving()

    def update_waiving(self) -> None:
        """A warning can be waived, a waived one taken back; a blocker never."""
        result = self.table.current()
        self.waive.setEnabled(result is not None and waivable(result) and result.waiver is None)
        self.unwaive.setEnabled(result is not None and result.waiver is not None)


class ProbesSection(Section):
    """The probes, in the order of the copy chain."""

    tab, doing, button = "&Probes", "Probing", "Ta&ke the probes"
    nothing = "Not probed yet. Probes measure each link between the two clusters for some seconds and clean up."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = Table[Probe]("Probes", rows.PROBE_COLUMNS, self)
        self.raw = TextView("Command and raw output", self)
        self.table.chosen.connect(self._show)
        self.split(self.table, self.raw, (220, 280))

    def show_state(self, state: MigrationState) -> None:
        self.summary.setText(rows.probes_summary(state.probes) or self.nothing)
        fill_table(self.table, state.probes)

    @Slot(object)
    def _show(self, probe: Probe | None) -> None:
        self.raw.set_text("" if probe is None else rows.probe_text(probe))


class EstimateSection(Section):
    """How long each method takes, as bars and stage by stage."""

    tab, doing, button = "&Estimate", "Estimating", "&Make the estimate"
    nothing = (
        "No estimate yet. It is made from the facts, the runs and the probes; what is missing is assumed, and said."
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = Table[StageRow]("Estimate", rows.STAGE_COLUMNS, self)
        self.notes = TextView("Warnings and assumptions", self)
        self._plot_place = QWidget(self)
        QVBoxLayout(self._plot_place).setContentsMargins(0, 0, 0, 0)
        self._plot_place.hide()
        split = self.split(self.table, self._plot_place, (190, 240))
        split.addWidget(self.notes)

    def show_state(self, state: MigrationState) -> None:
        estimate = state.estimate
        self._plot_place.setVisible(estimate is not None)
        if estimate is None:
            self.summary.setText(self.nothing)
            self.table.set_rows(())
            self.notes.set_text("")
            return
        self.summary.setText(rows.estimate_summary(estimate))
        self.table.set_rows(rows.stage_rows(estimate))
        self.notes.set_text(rows.notes(estimate))
        self._plot().show_estimate(estimate)

    def _plot(self) -> Any:
        from gui.widgets.plots import EstimatePlot

        found = self._plot_place.findChild(EstimatePlot)
        column = self._plot_place.layout()
        if found is None and column is not None:
            found = EstimatePlot(self._plot_place)
            column.addWidget(found)
        return found


class PlanSection(Section):
    """The steps, each in three parts: what it is for, the commands that do its work, the call that runs them."""

    tab, doing, button = "P&lan", "Planning", "Make the &plan"
    nothing = "No plan yet. The plan lists every command of the move in its order; making it changes nothing."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.made: Plan | None = None
        self.copy = self._button("Copy all co&mmands", self._copy_all)
        self.runbook = self._button("Export r&unbook…", None)
        self.script = self._button("Export &script…", None)
        self.table = Table[Step]("Steps of the plan", rows.STEP_COLUMNS, self)
        self.table.chosen.connect(self._show)
        self.why = TextView("Why, and how it is undone", self)
        self.native = TextView("Commands that do the work", self)
        self.call = TextView("Call that runs them", self)
        run = QSplitter(Qt.Orientation.Vertical, self)
        run.addWidget(self.native)
        run.addWidget(self.call)
        below = QSplitter(Qt.Orientation.Horizontal, self)
        below.addWidget(run)
        below.addWidget(self.why)
        below.setSizes([600, 360])
        for each in (run, below):
            each.setChildrenCollapsible(False)
        self.split(self.table, below, (300, 220))

    def show_state(self, state: MigrationState) -> None:
        plan = self.made = state.plan
        for button in (self.copy, self.runbook, self.script):
            button.setEnabled(plan is not None)
        self.summary.setText(self.nothing if plan is None else _plan_words(plan))
        fill_table(self.table, () if plan is None else plan.steps)

    def _button(self, text: str, pressed: Callable[[], None] | None) -> QPushButton:
        made = QPushButton(text, self)
        made.setEnabled(False)
        if pressed is not None:
            made.clicked.connect(pressed)
        self.head.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        return made

    @Slot()
    def _copy_all(self) -> None:
        if self.made is not None:
            QGuiApplication.clipboard().setText(rows.commands(self.made))

    @Slot(object)
    def _show(self, step: Step | None) -> None:
        self.native.set_text("" if step is None else "\n".join(step.native or (step.call,)))
        self.call.set_text("" if step is None or not step.native else step.call)
        self.why.set_text("" if step is None else rows.step_text(step))


def _plan_words(plan: Plan) -> str:
    return "\n".join([rows.plan_summary(plan), *plan.warnings])


def fill_table(table: Table[Any], found: Any) -> None:
    """Show the rows; with none chosen, choose the first."""
    table.set_rows(found)
    if found and table.current() is None:
        table.choose(0)
