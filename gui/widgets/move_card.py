"""The card of a move."""

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from core.language import tr
from core.migration.model.standing import Mark
from gui.appearance import Tone, colour
from gui.destinations import milestone_title
from gui.guard import Guarded
from gui.models.cards import Card
from gui.models.sentences import recorded
from gui.models.words import condition_name
from gui.widgets.label import ElidedLabel, Label, ToneLabel
from gui.widgets.rail import MARK, TONES, draw_mark


class MoveCard(QFrame):
    """Shows a move. Signals: picked(move, PageId of its next step), edited(move), removed(move)."""

    picked = Signal(str, str)
    edited = Signal(str)
    removed = Signal(str)

    def __init__(self, card: Card, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.card = card
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setAccessibleName(card.move)
        title = Label(card.move, self)
        font = title.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * 1.2)
        title.setFont(font)
        self.next = QPushButton(card.next_words, self)
        self.next.setAccessibleName(f"{card.next_words}: {card.move}")
        self.next.clicked.connect(lambda: self.picked.emit(card.move, card.page))
        self.edit, self.remove = QPushButton(tr("Edit…"), self), QPushButton(tr("Remove…"), self)
        self.edit.clicked.connect(lambda: self.edited.emit(card.move))
        self.remove.clicked.connect(lambda: self.removed.emit(card.move))
        for button, what in ((self.edit, tr("Edit")), (self.remove, tr("Remove"))):
            button.setAccessibleName(f"{what} {card.move}")
        head = QHBoxLayout()
        head.addWidget(title)
        head.addStretch()
        self.last = ToneLabel(card.last, Tone.MUTED, self)
        head.addWidget(self.last)
        foot = QHBoxLayout()
        foot.addWidget(self.next)
        foot.addStretch()
        foot.addWidget(self.edit)
        foot.addWidget(self.remove)
        way = ElidedLabel(self)
        way.setText(card.way)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(7)
        column.addLayout(head)
        column.addWidget(way)
        column.addWidget(ToneLabel(card.cluster, Tone.MUTED, self))
        column.addWidget(MarksLine(card.marks, self))
        if card.wrong:
            wrong = ToneLabel(card.wrong, Tone.BAD, self)
            wrong.setWordWrap(True)
            column.addWidget(wrong)
        column.addLayout(foot)


class MarksLine(Guarded, QWidget):
    """Shows the milestones beside each other, with their names if there is room."""

    def __init__(self, marks: tuple[Mark, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marks = marks
        self.setAccessibleName(
            "; ".join(
                f"{milestone_title(mark.milestone)}: {condition_name(mark.condition)}, {recorded(mark.said)}"
                for mark in marks
            )
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(300, self.fontMetrics().height() + 6)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        metrics = self.fontMetrics()
        names = [milestone_title(mark.milestone) for mark in self._marks]
        whole = sum(metrics.horizontalAdvance(name) + MARK + 22 for name in names) <= self.width()
        left = 0.0
        for mark, name in zip(self._marks, names, strict=True):
            shade = colour(TONES[mark.condition])
            draw_mark(painter, QRectF(left, (self.height() - MARK) / 2, MARK, MARK), mark.condition, shade)
            left += MARK + 5
            if whole:
                painter.setPen(self.palette().color(QPalette.ColorRole.Text))
                painter.drawText(round(left), (self.height() + metrics.ascent() - metrics.descent()) // 2, name)
                left += metrics.horizontalAdvance(name)
            left += 17
        painter.end()
