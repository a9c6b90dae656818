"""The pages Rehearsal and Move: the parts of an execution, its downtime, and the output of each step."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from core import api
from core.api.model import ExecutionState
from core.errors import InputError
from core.language import marked, tr
from core.migration.model.execution import Execution, Kind
from core.migration.model.schedule import schedule_of
from core.migration.model.standing import Milestone
from core.sides import Side
from core.tones import Tone
from gui.asker import Question, StopQuestion
from gui.controllers.executions import ExecutionController
from gui.design.measures import CARD, GRID, ROW, Type, scaled, set_type
from gui.design.parts import ButtonKind, set_kind
from gui.destinations import TITLES, PageId
from gui.models import execution as rows
from gui.models.execution import Doing
from gui.models.figures import figures
from gui.models.headline import headline
from gui.models.prompts import Prompt, prompt_for
from gui.models.sentences import recorded
from gui.models.steps import StepRow, progressed, step_rows
from gui.models.throughput import Throughput, throughput_chart
from gui.pages.page import Page
from gui.widgets.budget_bar import BudgetBar
from gui.widgets.chart import ChartView
from gui.widgets.figures import FigureTiles
from gui.widgets.label import Label, ToneLabel
from gui.widgets.phase_strip import PhaseStrip
from gui.widgets.prompt_panel import PromptPanel
from gui.widgets.schedule_bar import ScheduleBar
from gui.widgets.state_card import StateCard
from gui.widgets.step_table import RunTable
from gui.widgets.step_view import StepView
from gui.widgets.table import FilterBox
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.execution import Downtime, FinishedPasses
    from core.api.session import Session
    from gui.controllers.executions import Watching

STEPS, OUTCOME = 0, 1
"""The tabs."""
CHART_LINES = 9
"""The height of the curve in lines of text."""


class ExecutionPage(Page[ExecutionState]):
    """The latest execution of a kind. A subclass sets the kind and the action of its button."""

    kind = Kind.REAL
    doing = Doing.MOVE
    button_text = ""
    nothing = ""

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.state = ExecutionState()
        self.controller = ExecutionController(work, self)
        self.start, self.dress, self.resume, self.end, self.back = (
            self.button(text, partial(self._ask, doing))
            for text, doing in (
                (tr(self.button_text), self.doing),
                (tr(rows.BUTTONS[Doing.DRESS]), Doing.DRESS),
                (tr(rows.BUTTONS[Doing.RESUME]), Doing.RESUME),
                (tr(rows.BUTTONS[Doing.END]), Doing.END),
                (tr(rows.BUTTONS[Doing.BACK]), Doing.BACK),
            )
        )
        self.pause = self.button(tr(rows.PAUSE), self._pause)
        for each in (self.start, self.resume):
            set_kind(each, ButtonKind.PRIMARY)
        set_kind(self.back, ButtonKind.DANGER)
        self.heading(self.resume, self.pause, self.end, self.back, self.dress, self.start)
        self.card = StateCard(self)
        self.schedule = ScheduleBar(self.kind is Kind.REAL, self)
        self.tiles = FigureTiles(self)
        self.parts = PhaseStrip(self)
        self.figure = ToneLabel("", Tone.BAD, self)
        self.figure.setAccessibleName(tr("Downtime"))
        self.clock, self.budget = Label(parent=self), BudgetBar(self)
        self.clock.setWordWrap(True)
        self.prompt = PromptPanel(self)
        self._passes: FinishedPasses | None = None
        self._passes_of: tuple[object, ...] = ()
        """The execution of the passes with all attempts that it had when they were read."""
        self.throughput, self.chart = Throughput(), ChartView(self)
        self.chart.setFixedHeight(round(CHART_LINES * self.fontMetrics().height()))
        self.output = TextView(tr("Output of the step"), self)
        self.step = StepView(self)
        self.ending = TextView(tr("Outcome"), self, fixed=False, headed=False)
        self.table = RunTable(self)
        self.table.chosen.connect(self._show_step)
        self.filter = FilterBox(self.table, self)
        self.tabs = self._tabs()
        column = self.scrolled(tr("Execution"))
        self._area = next(iter(self.findChildren(QScrollArea)))
        column.setSpacing(CARD)
        column.addWidget(self.card)
        column.addWidget(self.schedule)
        column.addLayout(self._clock_line())
        column.addWidget(self.prompt)
        column.addWidget(self.tiles)
        column.addWidget(self.parts)
        column.addWidget(self.chart)
        # it takes the room that is left, and the page scrolls below this height alone
        self.tabs.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.tabs.setMinimumHeight(scaled(12 * ROW))
        column.addWidget(self.tabs, 1)
        column.addStretch()  # the page's words stand at its top also while there are no steps
        self._opened: tuple[int, bool] | None = None
        self.update_buttons()

    @property
    def primary(self) -> QPushButton | None:
        return next((button for button in (self.resume, self.start) if button.isEnabled()), None)

    @property
    def summary(self) -> Label:
        """The sentences on the execution, below its headline."""
        return self.card.detail

    def ask(self, question: Question) -> None:
        """Show the question in the page. The execution is read first if it is not known."""
        move, known = self.work.asker.move, self.state.execution
        if known is not None and known.move != move:
            known = None  # another move is picked
        self.prompt.ask(question, self._prompt_for(question, known))
        self._area.verticalScrollBar().setValue(0)  # the question stands at the top of the page
        wanted = known is None and bool(move)
        kind = self.kind
        task = self.work.ask(lambda session: api.execution.read_state(session, move, kind)) if wanted else None
        if task is not None:
            task.then(partial(self._ask_with, question))

    def _ask_with(self, question: Question, state: ExecutionState) -> None:
        if not question.answered and state.execution is not None:
            self.prompt.explain(self._prompt_for(question, state.execution))

    def _prompt_for(self, question: Question, execution: Execution | None) -> Prompt:
        """Return the panel for the question, with what is known of the pre-copy passes of its execution.

        The outputs of the passes may be long. They are read on a thread, and again only when a step has ended.
        """
        if execution is None or not isinstance(question, StopQuestion):
            return prompt_for(question, execution)
        now = (execution.id, *((run.id, run.ended_at, run.void) for run in execution.steps))
        if self._passes_of[:1] != now[:1]:
            self._passes = None
        if self._passes_of != now:
            task = self.work.ask(lambda _session: api.execution.read_finished_passes(execution))
            if task is not None:
                self._passes_of = now
                task.then(partial(self._take_passes, question, execution, now))
        return prompt_for(question, execution, self._passes)

    def _take_passes(
        self, question: Question, execution: Execution, of: tuple[object, ...], passes: "FinishedPasses"
    ) -> None:
        if of == self._passes_of:
            self._passes = passes
            if question is self.prompt.question:
                self.prompt.explain(prompt_for(question, execution, passes))

    def question(self) -> "Callable[[Session], ExecutionState] | None":
        move, kind = self.work.move, self.kind
        if move is None:
            return None
        name = move.name
        return lambda session: api.execution.read_state(session, name, kind)

    def show_answer(self, answer: ExecutionState) -> None:
        self.fill()
        self.show_state(answer)

    def show_state(self, state: ExecutionState) -> None:
        """Show the execution as it stands now."""
        if state.execution is None or self.state.execution is None or state.execution.id != self.state.execution.id:
            self.throughput = Throughput()
        self.state, execution = state, state.execution
        self._show_head(state)
        self.back.setText(rows.back_button("" if execution is None else execution.plan.server(Side.OLD)))
        over = state.figures is not None  # then the tiles tell more than parts that are all done
        self.parts.show_parts(() if execution is None or over else progressed(execution))
        self._show_clock(state)
        question = self.prompt.question
        if question is not None and execution is not None and self._is_of_asked(state):
            self.prompt.explain(self._prompt_for(question, execution))  # what comes first depends on how long it waits
        told = rows.outcome_text(state.ending)
        self.ending.set_text(told)
        self.tabs.setTabVisible(OUTCOME, bool(told))
        before, current = self.table.rows.rows, self.table.current()
        plan = state.plan if execution is None else execution.plan
        made = () if plan is None else step_rows(plan, execution, rehearsed=self.kind is Kind.REHEARSAL)
        self.tabs.setVisible(bool(made))
        self._open_tab(state, outcome=bool(told))
        self.table.set_rows(made)
        follows = current is None or (state.alive and current in {_latest(before), None})
        latest = _latest(made)
        shown = self.table.rows.rows
        if follows and latest in shown:
            self.table.choose(shown.index(latest))
        else:
            self._show_step(self.table.current())

    @Slot()
    def update_buttons(self) -> None:
        """Enable the possible actions. A running execution can be cancelled while nothing else can be started."""
        may, ready = self.state.possible, self.work.ready and self.work.move is not None
        for button, possible in (
            (self.start, ready and may is not None and may.begin),
            (self.dress, ready and may is not None and may.begin and self.kind is Kind.REHEARSAL),
            (self.resume, ready and may is not None and may.resume),
            (self.end, may is not None and may.end),
            (self.back, ready and may is not None and may.roll_back),
        ):
            button.setEnabled(possible)
            button.setVisible(possible or button is self.start)
        self.schedule.setVisible(self.start.isEnabled())
        why = self.state.no_dress
        self.dress.setEnabled(self.dress.isEnabled() and not why)
        self.dress.setToolTip(tr("A dress rehearsal is not possible. {why}").format(why=recorded(why)) if why else "")
        asked = self.work.asker.ends_after_step
        self.pause.setVisible(self.state.alive and self._runs_here)
        self.pause.setText(tr(rows.GO_ON if asked else rows.PAUSE))
        self.pause.setToolTip(tr(rows.GO_ON_TIP if asked else rows.PAUSE_TIP))

    @property
    def _runs_here(self) -> bool:
        """Whether this window is running the steps of the selected move."""
        asker, move, task = self.work.asker, self.work.move, self.work.task
        return task is not None and task is asker.carries and move is not None and move.name == asker.move

    def _clock_line(self) -> QHBoxLayout:
        """Return the clock, and beside it what it stands for above its bar."""
        beside = QVBoxLayout()
        beside.setSpacing(GRID)
        beside.addStretch()
        beside.addWidget(self.clock)
        beside.addWidget(self.budget)
        beside.addStretch()
        line = QHBoxLayout()
        line.setSpacing(CARD)
        line.addWidget(self.figure)
        line.addLayout(beside, 1)
        return line

    def _tabs(self) -> QTabWidget:
        """Return the steps with the details of one of them, and the outcome."""
        self.details = QTabWidget(self, documentMode=True)
        self.details.setAccessibleName(tr("Details of the step"))
        self.details.addTab(self.output, tr("Out&put"))
        self.details.addTab(self.step, tr("Comman&ds"))
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.table)
        split.addWidget(self.details)
        split.setSizes([320, 200])
        split.setChildrenCollapsible(False)
        tabs = QTabWidget(self, documentMode=True)
        tabs.setAccessibleName(tr("Steps and outcome"))
        tabs.addTab(split, tr("S&teps"))
        tabs.addTab(self.ending, tr("O&utcome"))
        tabs.setCornerWidget(self.filter)
        tabs.currentChanged.connect(self._show_filter)
        return tabs

    @Slot(int)
    def _show_filter(self, tab: int) -> None:
        self.filter.setVisible(tab == STEPS)

    def _open_tab(self, state: ExecutionState, *, outcome: bool) -> None:
        """Open the outcome when the execution has ended, and the steps when another one begins."""
        now = None if state.execution is None else (state.execution.id, outcome and not state.alive)
        if now is not None and now != self._opened:
            self.tabs.setCurrentIndex(OUTCOME if now[1] else STEPS)
        self._opened = now

    def _show_head(self, state: ExecutionState) -> None:
        """Show how the execution stands: the headline, the figures of a finished one, and the rate of the copy."""
        asked = self.prompt.question is not None and self._is_of_asked(state)
        self.card.show_state(headline(state, asked=asked), rows.summary(state) or tr(self.nothing))
        self.tiles.show_figures(figures(state))
        self.throughput.take(state)
        chart = throughput_chart(self.throughput.points) if state.alive and not asked else None
        self.chart.show_chart(chart)
        self.chart.setVisible(chart is not None)

    def _is_of_asked(self, state: ExecutionState) -> bool:
        """Whether it is the execution for which this window asks its questions."""
        return state.execution is not None and state.execution.move == self.work.asker.move

    def _show_clock(self, state: ExecutionState) -> None:
        """Show the downtime in large figures and, while it lasts, a bar that compares it with the plan."""
        down = None if state.figures is not None else state.downtime  # once it is over, a tile has it
        self.clock.setVisible(down is not None)
        ticking = down is not None and down.ended_at is None
        self.figure.setVisible(down is not None)
        self.budget.setVisible(ticking and down is not None and down.expected_seconds is not None)
        if down is None:
            return
        self._show_figure(down)
        self.clock.setText(rows.clock_text(down))
        if ticking and down.expected_seconds is not None:
            self.budget.show_seconds(down.seconds, down.expected_seconds)

    def _show_figure(self, down: "Downtime") -> None:
        """A clock while the old cluster is stopped. Then the downtime, in a good tone if it was as short as planned."""
        self.figure.setText(rows.clock_figure(down))
        if down.ended_at is None:
            self.figure.show_tone(Tone.BAD)
            set_type(self.figure, Type.CLOCK, bold=True)
            return
        late = down.expected_seconds is not None and down.command_seconds > down.expected_seconds
        self.figure.show_tone(Tone.WARNING if late else Tone.GOOD)
        set_type(self.figure, Type.FIGURE, bold=True)

    def _ask(self, doing: Doing) -> None:
        """Ask for confirmation and do it; an action that begins an execution waits for the chosen times."""
        if self.work.move is None:
            return
        try:
            times = self.schedule.times if doing in rows.BEGINNINGS else (None, None)
            schedule = schedule_of(*times, datetime.now(UTC))
        except InputError as error:
            self.work.troubled.emit(error)
        else:
            self.controller.ask(doing, self.work.move.name, schedule)

    @Slot()
    def _pause(self) -> None:
        """Pause after the step that is running; pressed again, go on."""
        self.work.asker.ends_after_step = not self.work.asker.ends_after_step
        self.update_buttons()

    def watch(self) -> "Watching | None":
        """Return what reads the execution, and what shows it; None while nobody sees the page."""
        move, kind = self.work.move, self.kind
        if move is None or not self.isVisible():
            return None
        name = move.name
        return lambda session, now: api.execution.read_state(session, name, kind, now), partial(self._take_look, name)

    def _take_look(self, move: str, state: ExecutionState) -> None:
        if self.shown and self.work.move is not None and self.work.move.name == move:
            self.show_state(state)
            self.update_buttons()

    @Slot(object)
    def _show_step(self, row: StepRow | None) -> None:
        self.output.set_text("" if row is None or row.run is None else rows.run_text(row.run))
        self.step.show_step(None if row is None else row.step)


def _latest(rows_shown: tuple[StepRow, ...]) -> StepRow | None:
    """Return the row of the step that was started last."""
    tried = [row for row in rows_shown if row.run is not None]
    return max(tried, key=lambda row: 0 if row.run is None else row.run.id, default=None)


class RehearsePage(ExecutionPage):
    """The latest rehearsal of the selected move."""

    id, title, milestone = PageId.REHEARSE, TITLES[PageId.REHEARSE], Milestone.REHEARSE
    kind, doing = Kind.REHEARSAL, Doing.REHEARSE
    help = marked(
        "A copy rehearsal runs the pre-copy passes of the move while the old cluster is running. It compares "
        "both sides, and measures the durations. The move need not copy the same data again. A dress rehearsal "
        "also starts the copy on the new server, where clients cannot connect to it, examines its databases, "
        "and stops it. Neither rehearsal stops anything on the old server."
    )
    button_text = marked("Copy rehear&sal")
    nothing = marked(
        "The move has not been rehearsed yet. A copy rehearsal copies while the old cluster is running. It "
        "measures, stops nothing and starts nothing."
    )


class MovePage(ExecutionPage):
    """The latest real execution of the selected move."""

    id, title, milestone = PageId.MOVE, TITLES[PageId.MOVE], Milestone.MOVE
    kind, doing = Kind.REAL, Doing.MOVE
    help = marked(
        "The move carries out the plan. It makes the pre-copy passes while the old cluster is running. Then it "
        "stops the old cluster, makes the final sync, compares both sides, and allows client connections on "
        "the new cluster. This page asks you before each decision and manual step. If the workstation is lost, "
        "the running step goes on, and Continue resumes the move. Until the cutover, a rollback loses no data."
    )
    button_text = marked("Start the m&ove…")
    nothing = marked(
        "The move has not been started yet. It asks for the name of the cluster before it stops the old "
        "cluster, and asks you again before the cutover."
    )
