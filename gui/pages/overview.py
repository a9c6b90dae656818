"""The page Overview: the answers of the report, their charts, and missing data."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QVBoxLayout, QWidget

from core.language import marked, tr
from core.tones import Tone
from gui.design.measures import CARD, scaled
from gui.destinations import TITLES, PageId
from gui.models.charts import downtime_chart, storage_chart
from gui.models.comparison import compared_rows
from gui.models.overview import Answer, Overview, missing, read_overview
from gui.models.words import plain_names
from gui.pages.page import Page
from gui.widgets.chart import ChartView
from gui.widgets.figure import Figure
from gui.widgets.label import Label, ToneLabel
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session


WIDE, HIGHEST = 1000, 640
"""Of the page for two charts beside each other, and of a chart, in pixels before scaling."""


class OverviewPage(Page[Overview]):
    """The first page of the report on the selected move, with the current data."""

    id, title = PageId.OVERVIEW, TITLES[PageId.OVERVIEW]
    help = marked(
        "This page shows the first page of the report with the current data: whether the new storage is "
        "faster, whether the cluster can be moved, and how long the downtime is. If you have entered a window or a "
        "longest downtime on the page Estimate, it also shows whether the move fits. Below, it shows what would "
        "make the answers more certain. Save a report for the people who decide."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.more = self.button(tr("&Details"), self._show_details, tr("What the answers rest on"))
        self.more.setCheckable(True)
        self.heading(self.more)
        column = self.scrolled(tr("Answers and charts"))
        column.setSpacing(CARD)
        self._answers = QGridLayout()
        self._answers.setSpacing(CARD)
        column.addLayout(self._answers)
        self.missing = Label(parent=self)
        self.missing.setWordWrap(True)
        column.addWidget(self.missing)
        self.compared, self.estimated = ChartView(self), ChartView(self)
        self._charts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._charts.setSpacing(CARD)
        for chart in (self.compared, self.estimated):
            chart.setMaximumHeight(scaled(HIGHEST))
            self._charts.addWidget(chart, 1)
        column.addLayout(self._charts, 100)
        column.addStretch(1)  # what charts as high as they may be leave, so that the cards do not take it
        self.cards: list[AnswerCard] = []

    def question(self) -> "Callable[[Session], Overview] | None":
        move = self.work.move
        return None if move is None else partial(read_overview, move.name)

    def show_answer(self, answer: Overview) -> None:
        self.fill()
        for shown in self.cards:
            self._answers.removeWidget(shown)
            shown.deleteLater()
        self.cards = [AnswerCard(one, self) for one in answer.answers]
        self._arrange()
        for shown in self.cards:
            shown.show()  # at once: a layout shows what is new only later
        self._show_details()
        self.missing.setText(missing(answer.marks))
        self.missing.setVisible(bool(self.missing.text()))
        called = plain_names(self.work.move)
        rows = () if answer.comparison is None else compared_rows(answer.comparison, called, every=False)
        compared = storage_chart(rows, called)
        self.compared.show_chart(compared)
        self.compared.setVisible(compared is not None)
        estimated = None if answer.estimate is None else downtime_chart(answer.estimate)
        self.estimated.show_chart(estimated)
        self.estimated.setVisible(estimated is not None)

    @Slot()
    def _show_details(self) -> None:
        for card in self.cards:
            card.details.setVisible(self.more.isChecked())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Charts stand beside each other where each has the room for its words, else one above the other.

        So do four cards, else in two rows.
        """
        wide = self.width() >= scaled(WIDE)
        self._charts.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
        columns = len(self.cards) if wide else min(len(self.cards), 3 if len(self.cards) % 2 else 2)
        for number, shown in enumerate(self.cards):
            self._answers.removeWidget(shown)
            self._answers.addWidget(shown, number // columns, number % columns)
        for column in range(self._answers.columnCount()):
            self._answers.setColumnStretch(column, 1 if column < columns else 0)


class AnswerCard(QFrame):
    """A question, its answer at a glance, and on demand the evidence for it."""

    def __init__(self, answer: Answer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer = answer
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        said = "\n".join(answer.details)
        figure = Figure(self)
        figure.show_figure(answer.figure or answer.text, answer.line, answer.tone, said)
        self.setAccessibleDescription(said)
        self.details = Label(said, self)
        self.details.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(CARD, CARD, CARD, CARD)
        question = ToneLabel(answer.question, Tone.MUTED, self)
        question.setWordWrap(True)
        for widget in (question, figure, self.details):
            column.addWidget(widget)
        column.addStretch()
