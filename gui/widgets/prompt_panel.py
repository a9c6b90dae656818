"""The panel in which an execution asks the operator. It is part of the page, so that outputs stay readable."""

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from core.language import tr
from core.migration.model.execution import StopAnswer
from core.tones import Tone
from gui.asker import Question, StopQuestion
from gui.design.measures import CARD, Type, set_type
from gui.design.parts import ButtonKind, set_kind
from gui.models.execution import back_button
from gui.models.prompts import Prompt
from gui.widgets.command_box import CommandBox
from gui.widgets.label import Label, ToneLabel
from gui.widgets.text import TextView

FIELD_LETTERS = 60


class PromptPanel(QFrame):
    """Shows one question until it is answered. Signals: answered(Question), back_wanted(Question)."""

    answered = Signal(object)
    back_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question: Question | None = None
        self._typed = ""
        self._fresh = QTimer(self, singleShot=True)
        self._fresh.timeout.connect(self._enable)
        self.setFrameStyle(QFrame.Shape.StyledPanel.value | QFrame.Shadow.Raised.value)
        self.title, self.text = Label(parent=self), Label(parent=self)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        set_type(self.title, Type.TITLE, bold=True)
        for label in (self.title, self.text):
            label.setWordWrap(True)
        self.table = TextView(tr("Information for the decision"), self)
        self.table.setMaximumHeight(self.fontMetrics().height() * 8)
        self.finding = ToneLabel("", Tone.GOOD, self)
        self.command = CommandBox(self)
        self.field = QLineEdit(self)
        self.field.setAccessibleName(tr("Name of the cluster"))
        self.field.textChanged.connect(self._enable)
        self.accept, self.look, self.warm, self.back, self.decline = (
            QPushButton(text, self)
            for text in (
                tr("It is done"),
                tr("&List the clients again"),
                tr("&One more pre-copy pass"),
                back_button(""),
                tr("Paus&e here"),
            )
        )
        self.warm.setToolTip(
            tr("Copy what has changed since the last pass while the old cluster is running. Then pghaul asks again.")
        )
        self.decline.setToolTip(tr("The execution pauses at this step. You can continue it later."))
        set_kind(self.accept, ButtonKind.PRIMARY)
        set_kind(self.back, ButtonKind.DANGER)
        self.accept.clicked.connect(self._accept)
        self.look.setToolTip(tr("Read from the old server which clients are connected now. Then pghaul asks again."))
        self.look.clicked.connect(self._look_again)
        self.warm.clicked.connect(self._ask_for_a_pass)
        self.back.clicked.connect(self._go_back)
        self.decline.clicked.connect(self._decline)
        self.field.setMaximumWidth(self.fontMetrics().averageCharWidth() * FIELD_LETTERS)
        buttons = QHBoxLayout()
        for button in (self.accept, self.look, self.warm, self.back, self.decline):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(CARD, CARD, CARD, CARD)
        for widget in (self.title, self.finding, self.text, self.command, self.table):
            column.addWidget(widget)
        column.addWidget(self.field)
        column.addLayout(buttons)
        self.hide()

    def ask(self, question: Question, prompt: Prompt) -> None:
        """Show a question.

        The buttons are disabled for the time of a double click, so that its second click cannot answer the question.
        """
        self._question, self._typed = question, prompt.typed
        self.explain(prompt)
        self.field.clear()
        self.field.setVisible(bool(prompt.typed))
        self.field.setPlaceholderText(prompt.typed)
        self.back.setVisible(prompt.can_roll_back)
        self.warm.setVisible(prompt.warm)
        self._fresh.start(QApplication.doubleClickInterval())
        self._enable()
        self.show()
        if prompt.typed:
            self.field.setFocus()

    @property
    def question(self) -> Question | None:
        """The question that is shown; None: none is."""
        return self._question

    def explain(self, prompt: Prompt) -> None:
        """Show what depends on the state of the execution; what was typed stays."""
        self.title.setText(prompt.title)
        self.accept.setText(prompt.button)
        self.back.setText(prompt.back)
        self.text.setText(prompt.text)
        self.finding.setText(prompt.finding)
        self.finding.show_tone(Tone.WARNING if prompt.doubtful else Tone.GOOD)
        self.finding.setVisible(bool(prompt.finding))
        self.command.show_command(prompt.command, prompt.where)
        self.table.set_text(prompt.table)
        self.table.setVisible(bool(prompt.table))
        self.look.setVisible(prompt.can_look_again)

    def withdraw(self, question: Question) -> None:
        """Hide a question that needs no answer any more."""
        if question is self._question:
            self._question = None
            self.hide()
            self.answered.emit(question)

    @Slot()
    def _enable(self) -> None:
        """Enable the buttons when the question has been seen and the name was typed."""
        seen = not self._fresh.isActive()
        self.accept.setEnabled(seen and self.field.text() == self._typed)
        for button in (self.look, self.warm, self.back, self.decline):
            button.setEnabled(seen)

    @Slot()
    def _accept(self) -> None:
        question = self._question
        if question is not None:
            self._answer(question.cluster if isinstance(question, StopQuestion) else "done")

    @Slot()
    def _ask_for_a_pass(self) -> None:
        self._answer(StopAnswer.WARM_FIRST)

    @Slot()
    def _look_again(self) -> None:
        self._answer(StopAnswer.LOOK_AGAIN)

    @Slot()
    def _decline(self) -> None:
        self._answer(None)

    @Slot()
    def _go_back(self) -> None:
        question = self._question
        if question is not None:
            self.back_wanted.emit(question)
            self._answer(None)

    def _answer(self, text: str | None) -> None:
        question = self._question
        if question is not None:
            question.answer(text)
            self.withdraw(question)
