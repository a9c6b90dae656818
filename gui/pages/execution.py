"""Rehearse and Move: the plan carried out. Its parts, the clock of the stop, each step with what it printed."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QSplitter, QTabWidget, QWidget

from core.language import marked, tr
from core.migration.model.execution import Kind
from core.migration.model.standing import Milestone
from gui import actions
from gui.asker import Question
from gui.executing import Executing
from gui.models import execution as rows
from gui.models.execution import Doing
from gui.models.progress import parts_done
from gui.models.prompts import prompt_for
from gui.models.sentences import recorded
from gui.models.steps import RUN_COLUMNS, StepRow, is_head, progressed, step_rows
from gui.pages.page import Page
from gui.states import ExecutionState
from gui.widgets.filter_box import FilterBox
from gui.widgets.label import Label
from gui.widgets.phase_strip import PhaseStrip
from gui.widgets.prompt_panel import PromptPanel
from gui.widgets.step_view import StepView
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.work import Work

PARTS = 1000
"""Of a bar."""
LOOK_MS = 1000
"""Between two looks at an execution, while its page is on screen."""


class ExecutionPage(Page):
    """The latest execution of a kind. A subclass says which, and what its own button begins."""

    kind = Kind.REAL
    doing = Doing.MOVE
    button_text = ""
    nothing = ""

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.state = ExecutionState()
        self.executing = Executing(work, self)
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
        self.pause = self.button(
            tr(rows.PAUSE), self._pause, tr("No further step begins; what runs now comes to its end")
        )
        self.heading(self.resume, self.pause, self.end, self.back, self.dress, self.start)
        self.summary = Label(tr(self.nothing), self)
        self.summary.setWordWrap(True)
        self.parts = PhaseStrip(self)
        self.clock, self.budget = Label(parent=self), QProgressBar(self, textVisible=False)
        self.budget.setAccessibleName(tr("Downtime against what the plan expected"))
        self.budget.setMaximumHeight(8)
        self.prompt = PromptPanel(self)
        self.table = Table[StepRow](tr("Steps of the execution"), RUN_COLUMNS, self, strong=is_head)
        self.table.chosen.connect(self._show_step)
        self.filter = FilterBox(self.table, self)
        line = QHBoxLayout()
        line.addWidget(self.clock)
        line.addStretch()
        line.addWidget(self.filter)
        self.column.addWidget(self.summary)
        self.column.addWidget(self.parts)
        self.column.addLayout(line)
        self.column.addWidget(self.budget)
        self.column.addWidget(self.prompt)
        self.output = TextView(tr("What the step printed"), self)
        self.step = StepView(self)
        self.ending = TextView(tr("How it ended"), self, fixed=False)
        self.steps = self._split()
        self.column.addWidget(self.steps, 1)
        self.column.addStretch()  # the page's words stand at its top also while there are no steps
        self._looking = False
        self._looks = QTimer(self, interval=LOOK_MS)
        self._looks.timeout.connect(self._look)
        self._looks.start()
        self.update_buttons()

    @property
    def primary(self) -> QPushButton | None:
        return next((button for button in (self.resume, self.start) if button.isEnabled()), None)

    def ask(self, question: Question) -> None:
        """Ask the person, in the page; with what the execution says of it, which may have to be read first."""
        move, known = self.work.asker.move, self.state.execution
        if known is not None and known.move != move:
            known = None  # another move is picked
        self.prompt.ask(question, prompt_for(question, known))
        wanted = known is None and bool(move)
        task = self.work.ask(partial(actions.execution, move, kind=self.kind)) if wanted else None
        if task is not None:
            task.succeeded.connect(partial(self._ask_with, question))

    def _ask_with(self, question: Question, state: ExecutionState) -> None:
        if not question.answered and state.execution is not None:
            self.prompt.explain(prompt_for(question, state.execution))

    def question(self) -> Any:
        move = self.work.move
        return None if move is None else partial(actions.execution, move.name, kind=self.kind)

    def show_answer(self, answer: ExecutionState | None) -> None:
        if answer is None:
            self.explain_no_move()
            return
        self.fill()
        self.show_state(answer)

    def show_state(self, state: ExecutionState) -> None:
        """Show the execution as it stands now."""
        self.state, execution = state, state.execution
        self.summary.setText(rows.summary(state) or tr(self.nothing))
        self.parts.show_parts(() if execution is None else progressed(execution))
        self._show_clock(state)
        told = rows.told_text(state.told)
        self.ending.set_text(told)
        self.tabs.setTabVisible(2, bool(told))
        before, current = self.table.rows.rows, self.table.current()
        plan = state.plan if execution is None else execution.plan
        made = () if plan is None else step_rows(plan, execution, rehearsed=self.kind is Kind.REHEARSAL)
        self.steps.setVisible(bool(made))
        self.filter.setVisible(bool(made))
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
        """Enable what may be done now; what runs may be ended while nothing else can be started."""
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
        why = self.state.no_dress
        self.dress.setEnabled(self.dress.isEnabled() and not why)
        self.dress.setToolTip(tr("Not possible: {why}").format(why=recorded(why)) if why else "")
        asked = self.work.asker.ends_after_step
        self.pause.setVisible(self.state.alive and self._carried_here)
        self.pause.setEnabled(not asked)
        self.pause.setText(tr(rows.PAUSES if asked else rows.PAUSE))

    @property
    def _carried_here(self) -> bool:
        """Whether this very window goes through the steps of the picked move at this moment."""
        asker, move, task = self.work.asker, self.work.move, self.work.task
        return task is not None and task is asker.carries and move is not None and move.name == asker.move

    def _split(self) -> QSplitter:
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("The step"))
        self.tabs.addTab(self.output, tr("Out&put"))
        self.tabs.addTab(self.step, tr("Comman&ds"))
        self.tabs.addTab(self.ending, tr("Ho&w it ended"))
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.table)
        split.addWidget(self.tabs)
        split.setSizes([320, 200])
        split.setChildrenCollapsible(False)
        return split

    def _show_clock(self, state: ExecutionState) -> None:
        """How long clients have had no cluster; while it ticks, as a bar against what the plan expected of commands."""
        down = state.downtime
        self.clock.setVisible(down is not None)
        ticking = down is not None and down.ended_at is None
        self.budget.setVisible(ticking and down is not None and down.expected_seconds is not None)
        if down is None:
            return
        self.clock.setText(rows.clock_text(down))
        if ticking and down.expected_seconds is not None:
            self.budget.setRange(0, PARTS)
            self.budget.setValue(parts_done(down.seconds, down.expected_seconds, PARTS) or 0)

    def _ask(self, doing: Doing) -> None:
        if self.work.move is not None:
            self.executing.ask(doing, self.work.move.name)

    @Slot()
    def _pause(self) -> None:
        self.work.asker.ends_after_step = True
        self.update_buttons()

    @Slot()
    def _look(self) -> None:
        """Look how far the execution is, whichever program carries it out; a look that fails is made again."""
        question = self.question()
        if not self.shown or not self.isVisible() or question is None or self._looking:
            return
        move = self.work.move
        task = self.work.ask(question)
        if task is not None and move is not None:
            self._looking = True
            task.succeeded.connect(partial(self._looked, move.name))
            task.finished.connect(self._look_again)

    def _looked(self, move: str, state: ExecutionState) -> None:
        if self.work.move is not None and self.work.move.name == move:
            self.show_state(state)
            self.update_buttons()

    @Slot()
    def _look_again(self) -> None:
        self._looking = False

    @Slot(object)
    def _show_step(self, row: StepRow | None) -> None:
        self.output.set_text("" if row is None or row.run is None else rows.run_text(row.run))
        self.step.show_step(None if row is None else row.step)


def _latest(rows_shown: tuple[StepRow, ...]) -> StepRow | None:
    """The row of the step that was begun last."""
    tried = [row for row in rows_shown if row.run is not None]
    return max(tried, key=lambda row: 0 if row.run is None else row.run.id, default=None)


class RehearsePage(ExecutionPage):
    """The latest rehearsal of the picked move."""

    title, milestone, kind, doing = marked("Rehearse"), Milestone.REHEARSE, Kind.REHEARSAL, Doing.REHEARSE
    help = marked(
        "A rehearsal is the move without its stop: it copies while old runs, reads and compares both sides, and "
        "measures. What it copied is what the move begins with. A dress rehearsal also starts the copy on the new "
        "server, where no client reaches it, looks at its databases, and stops it. Neither stops anything on old."
    )
    button_text = marked("Rehear&se")
    nothing = marked("Not rehearsed yet. A rehearsal copies while old runs: it stops and starts nothing, and measures.")


class MovePage(ExecutionPage):
    """The latest real execution of the picked move."""

    title, milestone, kind, doing = marked("Move"), Milestone.MOVE, Kind.REAL, Doing.MOVE
    help = marked(
        "The plan carried out: warm passes while old runs, the stop, the final pass, the proof that both "
        "sides hold the same, new opened. It asks in this page where a person decides. It goes on without the "
        "workstation; Continue takes it up again. Until new is opened, Back to old loses nothing."
    )
    button_text = marked("M&ove…")
    nothing = marked(
        "Not moved yet. The move asks for the cluster's name before it stops it, and again before new is opened."
    )
