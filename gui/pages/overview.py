"""The page Overview: the three answers of the report, their charts, and missing data."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from core.language import marked, tr
from core.tones import Tone
from gui.design.measures import CARD, Type, set_type
from gui.destinations import TITLES, PageId
from gui.models.charts import bar_chart, estimate_chart
from gui.models.comparison import bars
from gui.models.overview import Answer, Overview, missing, read_overview
from gui.models.words import side_names
from gui.pages.page import Page
from gui.widgets.chart import ChartRow, ChartView
from gui.widgets.label import Label, ToneLabel
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session


class OverviewPage(Page[Overview]):
    """The first page of the report on the selected move, with the current data."""

    id, title = PageId.OVERVIEW, TITLES[PageId.OVERVIEW]
    help = marked(
        "This page shows the first page of the report with the current data: whether the new storage is "
        "faster, whether the cluster can be moved, and how long the downtime is. Below, it shows what would "
        "make the answers more certain. Save a report for the people who decide."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.heading()
        column = self.scrolled(tr("Answers and charts"))
        column.setSpacing(CARD)
        self._answers = QHBoxLayout()
        self._answers.setSpacing(CARD)
        column.addLayout(self._answers)
        self.missing = Label(parent=self)
        self.missing.setWordWrap(True)
        column.addWidget(self.missing)
        self.compared, self.estimated = ChartRow(self), ChartView(self)
        charts = QSplitter(Qt.Orientation.Horizontal, self)
        charts.setChildrenCollapsible(False)
        charts.setMaximumHeight(self.fontMetrics().height() * 40)
        charts.addWidget(self.compared)
        charts.addWidget(self.estimated)
        charts.setSizes([560, 460])
        charts.setMinimumHeight(self.fontMetrics().height() * 16)
        column.addWidget(charts, 3)
        column.addStretch(1)
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
        for shown in self.cards:
            self._answers.addWidget(shown, 1)
        self.missing.setText(missing(answer.marks))
        self.missing.setVisible(bool(self.missing.text()))
        compared = () if answer.comparison is None else bars(answer.comparison)
        names = side_names(self.work.move)
        self.compared.show_charts(tuple(bar_chart(one, names) for one in compared))
        self.compared.setVisible(bool(compared))
        estimated = None if answer.estimate is None else estimate_chart(answer.estimate)
        self.estimated.show_chart(estimated)
        self.estimated.setVisible(estimated is not None)


class AnswerCard(QFrame):
    """A question, its answer, and the evidence for it."""

    def __init__(self, answer: Answer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer = answer
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        said = Label(answer.text, self) if answer.tone is None else ToneLabel(answer.text, answer.tone, self)
        set_type(said, Type.TITLE, bold=True)
        details = Label("\n".join(answer.details), self)
        column = QVBoxLayout(self)
        column.setContentsMargins(CARD, CARD, CARD, CARD)
        column.addWidget(ToneLabel(answer.question, Tone.MUTED, self))
        for label in (said, details):
            label.setWordWrap(True)
            column.addWidget(label)
        column.addStretch()
