"""The list of pages at the left, with the state and the age of each milestone."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from core.language import tr
from core.migration.model.standing import Condition
from core.tones import Tone
from gui.design.icons import Icon, paint_icon
from gui.design.measures import CONTROL, GAP, GRID, ICON, Type, font, scaled
from gui.design.painting import saved_state
from gui.design.palette import colour
from gui.guard import Guarded
from gui.models.rail import RailModel, RailRow, has_age
from gui.models.words import age

MARK = 14
"""Width and height of a mark, in pixels."""
EDGE = 3 * GRID
TONES = {
    Condition.OPEN: Tone.MUTED,
    Condition.UNDER_WAY: Tone.ACCENT,
    Condition.DONE: Tone.GOOD,
    Condition.STALE: Tone.MUTED,
    Condition.WARNING: Tone.WARNING,
    Condition.BLOCKED: Tone.BAD,
}


AGE_MS = 30_000
"""The interval in ms in which ages are shown anew, also while a job is running."""


class Rail(QListView):
    """Shows the pages. Signal: turned(number of the page).

    Attributes:
        ages: shows the ages of the milestones anew.
    """

    turned = Signal(int)

    def __init__(self, rows: Sequence[RailRow], icons: Sequence[Icon], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = RailModel(rows, self)
        self.setModel(self.rows)
        self.setAccessibleName(tr("Pages"))
        self.setObjectName("rail")
        self.setItemDelegate(RailDelegate(icons, self))
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setUniformItemSizes(True)  # else Qt asks for each row's size at every change
        metrics = self.fontMetrics()
        widest = max(metrics.horizontalAdvance(tr(row.title)) for row in rows)
        ages = QFontMetrics(font(Type.SMALL)).horizontalAdvance("88 min")
        self.setFixedWidth(2 * EDGE + ICON + widest + ages + MARK + 3 * GAP)
        self.selectionModel().currentChanged.connect(self._turn)
        self.ages = QTimer(self, interval=AGE_MS)
        self.ages.timeout.connect(self.viewport().update)
        self.ages.start()

    def turn_to(self, number: int) -> None:
        """Select that page."""
        self.setCurrentIndex(self.rows.index(number))

    @Slot(QModelIndex, QModelIndex)
    def _turn(self, now: QModelIndex, _before: QModelIndex) -> None:
        self.turned.emit(now.row())


class RailDelegate(Guarded, QStyledItemDelegate):
    """Draws the icon and the title of a page, and the age and the mark of its milestone."""

    def __init__(self, icons: Sequence[Icon], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icons = icons

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: RailRow = index.data(Qt.ItemDataRole.UserRole)
        whole = QStyleOptionViewItem(option)
        self.initStyleOption(whole, index)
        whole.text = ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, whole, painter, option.widget)
        chosen = bool(whole.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
        text = whole.palette.color(role)
        with saved_state(painter):
            painter.setFont(whole.font)
            self._text(painter, option.rect, row, self._icons[index.row()], text, chosen=chosen)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(super().sizeHint(option, index).width(), scaled(CONTROL))

    @staticmethod
    def _text(painter: QPainter, room: QRect, row: RailRow, icon: Icon, text: QColor, *, chosen: bool) -> None:
        inner = room.adjusted(EDGE, 0, -EDGE, 0)
        middle = inner.center().y() + 1
        place = QRectF(inner.left(), middle - ICON / 2, ICON, ICON)
        paint_icon(painter, place, icon, text if chosen else colour(Tone.MUTED))
        painter.setPen(text)
        titled = inner.adjusted(ICON + GAP, 0, 0, 0)
        painter.drawText(titled, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, tr(row.title))
        if row.mark is None:
            return
        place = QRectF(inner.right() - MARK + 1, middle - MARK / 2, MARK, MARK)
        draw_mark(painter, place, row.mark.condition, colour(TONES[row.mark.condition]))
        if has_age(row.mark.condition):
            painter.setPen(colour(Tone.MUTED))
            painter.setFont(font(Type.SMALL))
            told = age(row.mark.at, datetime.now().astimezone())
            beside = inner.adjusted(0, 0, -MARK - GAP, 0)
            painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, told)


def draw_mark(painter: QPainter, place: QRectF, condition: Condition, shade: QColor) -> None:
    """Draw the mark of a condition. Its shape has the meaning, also without the colour."""
    with saved_state(painter):
        _draw(painter, place, condition, shade)


def _draw(painter: QPainter, place: QRectF, condition: Condition, shade: QColor) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(shade, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    inner = place.adjusted(1.5, 1.5, -1.5, -1.5)
    left, top, size = inner.left(), inner.top(), inner.width()

    def at(x: float, y: float) -> QPointF:
        return QPointF(left + x * size, top + y * size)

    match condition:
        case Condition.DONE:
            painter.drawPolyline(QPolygonF([at(0.05, 0.55), at(0.38, 0.88), at(0.98, 0.15)]))
        case Condition.WARNING:
            painter.drawPolygon(QPolygonF([at(0.5, 0.02), at(1, 0.95), at(0, 0.95)]))
            painter.drawLine(at(0.5, 0.4), at(0.5, 0.6))
            painter.drawPoint(at(0.5, 0.78))
        case Condition.BLOCKED:
            painter.setBrush(shade)
            octagon = ((0.3, 0), (0.7, 0), (1, 0.3), (1, 0.7), (0.7, 1), (0.3, 1), (0, 0.7), (0, 0.3))
            painter.drawPolygon(QPolygonF([at(x, y) for x, y in octagon]))
        case Condition.UNDER_WAY:
            painter.setBrush(shade)
            painter.drawPolygon(QPolygonF([at(0.15, 0.05), at(0.95, 0.5), at(0.15, 0.95)]))
        case Condition.STALE:
            painter.drawEllipse(inner)
            painter.drawPolyline(QPolygonF([at(0.5, 0.22), at(0.5, 0.52), at(0.72, 0.68)]))
        case Condition.OPEN:
            painter.setPen(QPen(shade, 1.2))
            painter.drawEllipse(inner.adjusted(1, 1, -1, -1))
