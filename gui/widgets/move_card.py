"""The card of a move."""

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from core.language import tr
from core.migration.model.standing import Mark
from core.tones import Tone
from gui.appearance import tip
from gui.design.measures import CARD, GAP, GRID, Type, set_type
from gui.design.palette import colour
from gui.design.parts import ButtonKind, set_kind
from gui.destinations import milestone_title
from gui.guard import Guarded
from gui.models.cards import Card
from gui.models.sentences import recorded
from gui.models.words import condition_name
from gui.widgets.label import ElidedLabel, ToneLabel
from gui.widgets.rail import MARK, TONES, draw_mark

BESIDE = 5


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
        self.setAccessibleName(card.move)
        title = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        title.setText(card.move)
        set_type(title, Type.HEADLINE, bold=True)
        self.next = QPushButton(card.next_words, self)
        self.next.setAccessibleName(f"{card.next_words}: {card.move}")
        self.next.clicked.connect(lambda: self.picked.emit(card.move, card.page))
        self.edit, self.remove = QPushButton(tr("Edit…"), self), QPushButton(tr("Remove…"), self)
        set_kind(self.next, ButtonKind.PRIMARY)
        set_kind(self.edit, ButtonKind.QUIET)
        set_kind(self.remove, ButtonKind.QUIET)
        self.edit.clicked.connect(lambda: self.edited.emit(card.move))
        self.remove.clicked.connect(lambda: self.removed.emit(card.move))
        for button, what in ((self.edit, tr("Edit")), (self.remove, tr("Remove"))):
            button.setAccessibleName(f"{what} {card.move}")
        head = QHBoxLayout()
        head.addWidget(title, 1)
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
        column.setContentsMargins(CARD, CARD, CARD, CARD)
        column.setSpacing(GAP)
        column.addLayout(head)
        column.addWidget(way)
        cluster = ToneLabel(card.cluster, Tone.MUTED, self)
        cluster.setWordWrap(True)
        column.addWidget(cluster)
        column.addWidget(MarksLine(card.marks, self))
        if card.wrong:
            wrong = ToneLabel(card.wrong, Tone.BAD, self)
            wrong.setWordWrap(True)
            column.addWidget(wrong)
        column.addLayout(foot)


class MarksLine(Guarded, QWidget):
    """Shows the milestones with their names beside each other, on as many lines as they need."""

    def __init__(self, marks: tuple[Mark, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marks = marks
        self.setAccessibleName("; ".join(map(_described, marks)))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def places(self, width: int) -> list[QRect]:
        """Where each milestone stands, its mark at the left of its name, in so much width."""
        metrics, height = self.fontMetrics(), self.fontMetrics().height() + GRID
        made: list[QRect] = []
        left = top = 0
        for mark in self._marks:
            needed = MARK + BESIDE + metrics.horizontalAdvance(milestone_title(mark.milestone))
            if left and left + needed > width:
                left, top = 0, top + height + GRID
            made.append(QRect(left, top, needed, height))
            left += needed + CARD
        return made

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max((place.bottom() + 1 for place in self.places(width)), default=0)

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(max(300, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        for mark, place in zip(self._marks, self.places(self.width()), strict=True):
            at = QRectF(place.left(), place.center().y() + 1 - MARK / 2, MARK, MARK)
            draw_mark(painter, at, mark.condition, colour(TONES[mark.condition]))
            painter.setPen(self.palette().color(QPalette.ColorRole.Text))
            told = place.adjusted(MARK + BESIDE, 0, 1, 0)
            painter.drawText(told, Qt.AlignmentFlag.AlignVCenter, milestone_title(mark.milestone))
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            places = zip(self._marks, self.places(self.width()), strict=True)
            said = next((_described(mark) for mark, place in places if place.contains(event.pos())), "")
            QToolTip.showText(event.globalPos(), tip(said), self)
            return True
        return super().event(event)


def _described(mark: Mark) -> str:
    return f"{milestone_title(mark.milestone)}: {condition_name(mark.condition)}, {recorded(mark.said)}"
