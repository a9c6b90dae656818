"""Paints a chart. One widget paints all of it: to show another figure costs a repaint, and nothing is made anew."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path as FilePath

from PySide6.QtCore import QBuffer, QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QHelpEvent,
    QImage,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStyle, QStyleOptionFocusRect, QToolTip, QWidget

from core import units
from core.errors import InputError
from core.files import write_whole
from core.language import tr
from core.system_errors import reason
from core.tones import Tone
from gui.appearance import tip
from gui.design.icons import Icon
from gui.design.measures import bold_font
from gui.design.painting import paint_box, saved_state
from gui.design.palette import Ground, colour
from gui.guard import Guarded
from gui.models.chart import Above, Axis, Bar, Chart, Dot, Labels, Mark, Path, Whisker
from gui.models.sentences import compared
from gui.widgets.empty import Empty
from gui.widgets.files import ask_path

MARGIN = 12.0
SHARPNESS = 2
"""Pixels of a saved picture for each of the window's."""
GAP = 6.0
RADIUS = 4.0
BEAM = 4.0
MOST_LINES = 3
"""Of a name below its place."""
LEFT_MOST, RIGHT_MOST = 0.34, 0.4
"""Of the chart's width, for the names at its left and the words at its right. Longer ones are cut; the tip of a
name has it whole."""
LEFT_TIGHT, RIGHT_TIGHT = 0.26, 0.5
"""The same where words at the right are whole with it: names at the left are broken into lines for them."""
WIDEST, HIGHEST = 16.0, 5.0
"""Of what stands at a place, in lines of text: on a large screen bars would be as broad as a hand."""
NEAREST = 0.8
"""Of the height of a line: how near to each other the middles of lines may be."""
REACH = 8.0
"""How near to a dot the mouse must be for its tip."""


class ChartView(Guarded, QWidget):
    """Paints a chart. Its menu copies and saves it.

    Attributes:
        chart: what is shown; None: nothing.

    Signals: saved(Path), troubled(PghaulError).
    """

    saved = Signal(object)
    troubled = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chart: Chart | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # so that a key opens the menu, too
        for text, then in (
            (tr("Copy &picture"), self.copy_picture),
            (tr("&Save picture…"), self._ask_where),
            (tr("Copy &values"), self.copy_values),
        ):
            action = QAction(text, self)
            action.triggered.connect(then)
            self.addAction(action)

    @Slot()
    def copy_picture(self) -> None:
        """Copy the chart as a picture."""
        QGuiApplication.clipboard().setImage(self._picture())

    @Slot()
    def copy_values(self) -> None:
        """Copy the figures of the chart in words."""
        if self.chart is not None:
            QGuiApplication.clipboard().setText(f"{self.chart.title}\n{self.chart.description}")

    @Slot()
    def _ask_where(self) -> None:
        if self.chart is not None:
            ask_path(self, tr("Save the chart"), f"{self.chart.name}.png", "png", self.save, "svg")

    def save(self, path: FilePath) -> None:
        """Save the chart, as SVG if the path ends so, else as PNG."""
        content = self._svg() if path.suffix.lower() == ".svg" else self._png()
        try:
            write_whole(path, content, replacing=True, mode=0o644)
        except OSError as error:
            why = compared(reason(error))
            self.troubled.emit(
                InputError(tr("cannot write {path}: {why}").format(path=path, why=why), tr("Choose another folder."))
            )
        except InputError as error:
            self.troubled.emit(error)
        else:
            self.saved.emit(path)

    def _picture(self) -> QImage:
        picture = QImage(self.size() * SHARPNESS, QImage.Format.Format_RGB32)
        picture.setDevicePixelRatio(SHARPNESS)
        picture.fill(colour(Ground.SURFACE))  # the corners lie outside of the painted box
        painter = QPainter(picture)
        self._paint(painter)
        painter.end()
        return picture

    def _png(self) -> bytes:
        buffer = QBuffer()
        buffer.open(QBuffer.OpenModeFlag.WriteOnly)
        self._picture().save(buffer, "PNG")  # type: ignore[call-overload]  # PySide's stubs know bytes alone
        return bytes(buffer.data().data())

    def _svg(self) -> bytes:
        from PySide6.QtSvg import QSvgGenerator  # of use once a chart is saved, not at the start

        buffer = QBuffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(self.size())
        generator.setViewBox(self.rect())
        generator.setTitle("" if self.chart is None else self.chart.title)
        painter = QPainter(generator)
        self._paint(painter)
        painter.end()
        return bytes(buffer.data().data())

    def show_chart(self, chart: Chart | None) -> None:
        """Show this one in place of the one before."""
        if chart == self.chart:
            return
        self.chart = chart
        self.setAccessibleName("" if chart is None else chart.name)
        self.setAccessibleDescription("" if chart is None else chart.description)
        self.updateGeometry()
        self.update()

    def minimumSizeHint(self) -> QSize:
        """So that every line of text has its height."""
        lines = 0 if self.chart is None else self.chart.lines
        return QSize(self.fontMetrics().averageCharWidth() * 30, round((lines + 4) * self.fontMetrics().height()))

    def sizeHint(self) -> QSize:
        least = self.minimumSizeHint()
        return QSize(least.width() * 2, round(least.height() * 1.4))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._paint(painter)
        if self.hasFocus():
            frame = QStyleOptionFocusRect()
            frame.initFrom(self)
            self.style().drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, frame, painter, self)
        painter.end()

    def _paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_box(painter, QRectF(self.rect()), colour(Ground.SURFACE), colour(Ground.BORDER))
        if self.chart is not None:
            Sheet(self.chart, self).paint(painter)

    def shown_title(self) -> str:
        """As much of the title as has room."""
        return "" if self.chart is None else Sheet(self.chart, self).title()

    def names_across(self) -> list[str]:
        """What is written below a scale."""
        return [] if self.chart is None else [name for _, _, name in Sheet(self.chart, self).names_across()]

    def texts_beside(self) -> list[str]:
        """What is written at the right of the chart: words may have no room, and be cut or left out."""
        return [] if self.chart is None else [text for _, text in Sheet(self.chart, self).beside()]

    def tip_at(self, place: QPointF) -> str:
        """What stands there, with its figures; empty where nothing does."""
        return "" if self.chart is None else Sheet(self.chart, self).tip_at(place)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            said = tip(self.tip_at(QPointF(event.pos())))
            if said:
                QToolTip.showText(event.globalPos(), said, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)


class ChartRow(QWidget):
    """Charts beside each other, the wider the more stands in each. Signals: saved(Path), troubled(PghaulError)."""

    saved = Signal(object)
    troubled = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.views: list[ChartView] = []
        self.empty = Empty(Icon.NOTHING, tr("No chart yet"), "", parent=self)
        self.empty.column.setContentsMargins(0, 0, 0, 0)  # below a table there is little room on a small screen
        self.empty.hide()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(self.empty, 1)

    def show_charts(self, charts: Sequence[Chart], nothing: str = "") -> None:
        """Show these in place of those before; `nothing`: says in their place why there are none."""
        self.empty.sentence.setText(nothing)
        self.empty.setVisible(bool(nothing) and not charts)
        while len(self.views) < len(charts):
            self.views.append(ChartView(self))
            self.views[-1].saved.connect(self.saved)
            self.views[-1].troubled.connect(self.troubled)
            self._row.addWidget(self.views[-1])
        for number, view in enumerate(self.views):
            shown = charts[number] if number < len(charts) else None
            view.show_chart(shown)
            view.setVisible(shown is not None)
            self._row.setStretch(number + 1, 0 if shown is None else max(2, len(shown.across.ticks)))


class Sheet:
    """Where what of a chart lies on its widget."""

    def __init__(self, chart: Chart, widget: QWidget) -> None:
        self.chart = chart
        palette = widget.palette()
        self.text, self.base = (palette.color(role) for role in (QPalette.ColorRole.Text, QPalette.ColorRole.Base))
        self.font, self.bold = widget.font(), bold_font()
        self.metrics = QFontMetricsF(self.font)
        self.whole = QRectF(widget.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        self.legend = self._legend()
        self.title_lines = self._title_lines()
        self.room = self._room()

    @property
    def line(self) -> float:
        return self.metrics.height()

    def _legend(self) -> list[tuple[Tone, str]]:
        """What each colour stands for; where all have no room beside each other, a long name is cut."""
        most = self.whole.width() / max(1, len(self.chart.legend)) - self.line - 2 * GAP
        middle = Qt.TextElideMode.ElideMiddle
        return [(tone, self.metrics.elidedText(name, middle, most)) for tone, name in self.chart.legend]

    def _title_lines(self) -> int:
        """The legend stands in the title's line where both fit, else below it."""
        title = QFontMetricsF(bold_font()).horizontalAdvance(self.chart.title)
        return 1 if title + self._legend_width() + 3 * GAP <= self.whole.width() or not self.chart.legend else 2

    def _legend_width(self) -> float:
        return sum(self.line + GAP + self.metrics.horizontalAdvance(name) + GAP for _, name in self.legend)

    def _room(self) -> QRectF:
        """Between the axes."""
        left = self._widest(name for _, name in self.chart.up.ticks)
        if self.chart.up.chosen is not None:
            left = max(left, *map(QFontMetricsF(self.bold).horizontalAdvance, dict(self.chart.up.ticks).values()))
        right = self._widest(text for _, text in self.chart.beside)
        tight = RIGHT_MOST < right / max(1.0, self.whole.width()) <= RIGHT_TIGHT
        left = min(left, (LEFT_TIGHT if tight else LEFT_MOST) * self.whole.width())
        right = min(right, (RIGHT_TIGHT if tight else RIGHT_MOST) * self.whole.width())
        room = self.whole.adjusted(
            left + GAP, self.title_lines * self.line + GAP, -(right + 2 * GAP if right else 0.0), 0
        )
        room.setBottom(self.whole.bottom() - GAP - self._below(room.width()))
        return room

    def _widest(self, texts: Iterable[str]) -> float:
        return max(map(self.metrics.horizontalAdvance, texts), default=0.0)

    def _below(self, width: float) -> float:
        """How high the names below the chart are."""
        axis = self.chart.across
        if not axis.places:
            return self.line
        room = QRectF(0, 0, _step(axis) * width / (axis.high - axis.low) - GAP, MOST_LINES * self.line)
        heights = (self.metrics.boundingRect(room, _WRAPPED, name).height() for _, name in axis.ticks)
        return min(max(heights, default=self.line), MOST_LINES * self.line)

    def x(self, value: float) -> float:
        """Where it lies across. What belongs to a place stays near it, however far the places are apart."""
        axis = self.chart.across
        if not axis.places or not axis.low <= value <= axis.high:
            return self.room.left() + self.room.width() * _part(axis, value)
        place = round(value)
        return self.room.left() + self.room.width() * _part(axis, place) + self.width(value - place)

    def width(self, of: float) -> float:
        """Of so much of the axis across; of a place no more than WIDEST, however far the places are apart."""
        axis = self.chart.across
        step = self.room.width() / (axis.high - axis.low)
        return of * (min(step, WIDEST * self.line) if axis.places else step)

    def y(self, value: float) -> float:
        """Where it lies from below to above. What belongs to a place stays near it, as across."""
        axis = self.chart.up
        if not axis.places or not axis.low < value < axis.high:
            return self.room.bottom() - self.room.height() * _part(axis, value)
        place = round(value)
        step = min(self.room.height() / (axis.high - axis.low), HIGHEST * self.line)
        return self.room.bottom() - self.room.height() * _part(axis, place) - step * (value - place)

    def point(self, at: tuple[float, float]) -> QPointF:
        return QPointF(self.x(at[0]), self.y(at[1]))

    def box(self, bar: Bar) -> QRectF:
        """A bar's rectangle, seen also where its value is next to nothing."""
        made = QRectF(self.point((bar.left, bar.top)), self.point((bar.right, bar.bottom))).normalized()
        return made.adjusted(0, 0, max(0.0, 1.0 - made.width()), max(0.0, 1.0 - made.height()))

    # --- painting

    def paint(self, painter: QPainter) -> None:
        """All of it; nothing where there is no room."""
        if self.room.width() <= 0 or self.room.height() <= 0:
            return
        self._paint_title(painter)
        self._paint_across(painter)
        self._paint_up(painter)
        for mark in self.chart.marks:
            self._paint_mark(painter, mark)
        painter.setPen(self.text)
        for place, text in self.beside():
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap), text)

    def beside(self) -> list[tuple[QRectF, str]]:
        """Where each of the words at the right stands, and as much of them as has room there."""
        left = self.room.right() + 2 * GAP
        stand: list[tuple[float, str]] = []
        for at, text in self.chart.beside:
            if not stand or abs(self.y(at) - stand[-1][0]) >= self.line * NEAREST:
                stand.append((self.y(at), text))  # where lines would run into each other the first of a place stands
        heights = [self.room.top() - self.line / 2, *(y for y, _ in stand), self.room.bottom() + self.line / 2]
        written = []
        for (y, text), above, below in zip(stand, heights, heights[2:], strict=False):
            lines = 2 if min(y - above, below - y) >= 1.5 * self.line else 1
            place = QRectF(left, y - lines * self.line / 2, self.whole.right() - left + 1, lines * self.line)
            written.append((place, self._fitting(text, place, lines)))
        return written

    def _fitting(self, text: str, place: QRectF, lines: int) -> str:
        """As much of the words as has room there, in two lines where one is too short."""
        if lines > 1 and self.metrics.horizontalAdvance(text) > place.width():
            whole = units.unbroken(text)
            needed = self.metrics.boundingRect(
                QRectF(0, 0, place.width(), math.inf), int(Qt.TextFlag.TextWordWrap), whole
            )
            if needed.width() <= place.width() and needed.height() <= place.height() + 1:
                return whole
        return self.metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, place.width())

    def title(self) -> str:
        """As much of the title as has room beside the legend."""
        room = self.whole.width() - (self._legend_width() + 2 * GAP if self.title_lines == 1 else 0)
        return QFontMetricsF(self.bold).elidedText(self.chart.title, Qt.TextElideMode.ElideRight, room)

    def _paint_title(self, painter: QPainter) -> None:
        with saved_state(painter):
            painter.setPen(self.text)
            painter.setFont(self.bold)
            top = self.whole.top() + QFontMetricsF(self.bold).ascent()
            painter.drawText(QPointF(self.whole.left(), top), self.title())
        top = self.whole.top() + (self.title_lines - 1) * self.line
        at = self.whole.right() - self._legend_width() if self.title_lines == 1 else self.whole.left()
        side = self.line * 0.7
        for tone, name in self.legend:
            painter.fillRect(QRectF(at, top + (self.line - side) / 2, side, side), colour(tone))
            painter.setPen(self.text)
            painter.drawText(QPointF(at + self.line, top + self.metrics.ascent()), name)
            at += self.line + 2 * GAP + self.metrics.horizontalAdvance(name)

    def _paint_across(self, painter: QPainter) -> None:
        axis, top = self.chart.across, self.room.bottom() + GAP
        step = _step(axis) * self.room.width() / (axis.high - axis.low)
        for at, name in axis.ticks if axis.places else ():
            place = QRectF(self.x(at) - step / 2 + GAP / 2, top, step - GAP, MOST_LINES * self.line)
            painter.setPen(self.text)
            painter.drawText(place, _WRAPPED, name)
        for at, left, name in () if axis.places else self.names_across():
            painter.setPen(QPen(self._grid(), 1))
            painter.drawLine(QPointF(self.x(at), self.room.top()), QPointF(self.x(at), self.room.bottom()))
            painter.setPen(self.text)
            painter.drawText(QPointF(left, top + self.metrics.ascent()), name)

    def names_across(self) -> list[tuple[float, float, str]]:
        """The values of a scale that have a name below it, where the name begins, and the name.

        Where not all have room beside each other, of even steps each second has one, or each third, and so on; of other
        values those that come first have theirs.
        """
        placed = []
        for at, name in self.chart.across.ticks:
            width = self.metrics.horizontalAdvance(name)
            left = min(max(self.x(at) - width / 2, self.whole.left()), self.whole.right() - width)
            placed.append((at, left, left + width, name))
        steps = [behind[0] - before[0] for before, behind in pairwise(placed)]
        if steps and min(steps) > 0.99 * max(steps) > 0:
            for every in range(1, len(placed)):
                if all(before[2] + GAP <= behind[1] for before, behind in pairwise(placed[::every])):
                    return [(at, left, name) for at, left, _, name in placed[::every]]
        stand: list[tuple[float, float, float, str]] = []
        for one in placed:
            if all(one[2] + GAP <= other[1] or other[2] + GAP <= one[1] for other in stand):
                stand.append(one)
        return [(at, left, name) for at, left, _, name in stand]

    def _paint_up(self, painter: QPainter) -> None:
        axis = self.chart.up
        width = self.room.left() - GAP - self.whole.left()
        height = max(self.line, self.room.height() / max(1, len(axis.ticks)) if axis.places else self.line)
        edges = [self.y(at) for at, _ in axis.ticks]
        every = 1 if axis.places or len(edges) < 2 else _thinning(edges, self.line)
        for number, (at, name) in enumerate(axis.ticks):
            if number % every:
                continue
            y = self.y(at)
            if not axis.places:
                painter.setPen(QPen(self._grid(), 1))
                painter.drawLine(QPointF(self.room.left(), y), QPointF(self.room.right(), y))
            painter.setPen(self.text)
            painter.setFont(self.bold if at == axis.chosen else self.font)
            place = QRectF(self.whole.left(), y - height / 2, width, height)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            if axis.places and height >= 2 * self.line:
                painter.drawText(place, int(flags) | int(Qt.TextFlag.TextWordWrap), name)
            else:
                painter.drawText(place, flags, self.metrics.elidedText(name, Qt.TextElideMode.ElideRight, width))
        painter.setFont(self.font)
        painter.setPen(QPen(colour(Tone.MUTED), 1))
        painter.drawLine(self.room.bottomLeft(), self.room.bottomRight())
        painter.drawLine(self.room.bottomLeft(), self.room.topLeft())

    def _paint_mark(self, painter: QPainter, mark: Mark) -> None:
        if isinstance(mark, Bar):
            self._paint_bar(painter, mark)
        elif isinstance(mark, Whisker):
            self._paint_whisker(painter, mark)
        elif isinstance(mark, Dot):
            shade = colour(mark.tone)
            painter.setPen(QPen(shade, 1.5))
            painter.setBrush(shade if mark.full else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(self.point((mark.x, mark.y)), RADIUS, RADIUS)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        elif isinstance(mark, Path):
            self._paint_path(painter, mark)
        elif isinstance(mark, Labels):
            painter.setPen(self.text)
            for place, text in self.labels(mark):
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        else:
            self._paint_above(painter, mark)

    def _paint_bar(self, painter: QPainter, bar: Bar) -> None:
        box = self.box(bar)
        if not bar.full:
            painter.setPen(QPen(colour(bar.tone), 1.5))
            painter.drawRect(box.adjusted(0.75, 0.75, -0.75, -0.75))
            return
        if not bar.name:
            painter.fillRect(box, colour(bar.tone))
            return
        painter.fillRect(box.adjusted(0, 0, -1 if box.width() > 2 else 0, 0), colour(bar.tone))
        if self.metrics.horizontalAdvance(bar.name) + 2 * GAP <= box.width() and self.line <= box.height():
            painter.setPen(colour(Ground.ON_ACCENT))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, bar.name)

    def _paint_path(self, painter: QPainter, path: Path) -> None:
        line = [self.point(at) for at in path.points]
        shade = colour(path.tone)
        if path.filled and line:
            ground = QColor(shade)
            ground.setAlpha(40)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            ends = [QPointF(at.x(), self.room.bottom()) for at in (line[-1], line[0])]
            painter.drawPolygon(QPolygonF([*line, *ends]))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(shade, 1.5))
        painter.drawPolyline(QPolygonF(line))

    def _paint_whisker(self, painter: QPainter, whisker: Whisker) -> None:
        start, end = self.point(whisker.start), self.point(whisker.end)
        if start == end:
            return  # all were alike: which way would its beams lie?
        lying = whisker.start[1] == whisker.end[1]
        beam = QPointF(0, BEAM) if lying else QPointF(BEAM, 0)
        shade = self.text if whisker.tone is None else colour(whisker.tone)
        # first in the colour of the ground and broader: the line stands out from a bar of any colour
        for pen in (QPen(self.base, 3.5), QPen(shade, 1.5)):
            painter.setPen(pen)
            painter.drawLine(start, end)
            for at in (start, end):
                painter.drawLine(at - beam, at + beam)

    def _paint_above(self, painter: QPainter, above: Above) -> None:
        width = self.metrics.horizontalAdvance(above.text)
        if width > self.width(above.room):
            return
        at = self.point((above.x, above.y)) - QPointF(width / 2, self.metrics.descent() + 3)
        painter.setPen(self.text)
        painter.drawText(at, above.text)

    def labels(self, labels: Labels) -> list[tuple[QRectF, str]]:
        """Where each of the words stands, none over another, and all between the axes."""
        words = [text for _, text in labels.texts]
        ends = [self.x(at) for at, _ in labels.texts]
        if len(words) > 1 and sum(map(self.metrics.horizontalAdvance, words)) + 3 * GAP <= ends[-1] - ends[0]:
            return [self._line_at(labels.y, ends[0], words[0]), self._line_at(labels.y, ends[-1], words[-1], ends=True)]
        return [self._line_at(labels.y, ends[-1], ", ".join(words), ends=True)] if words else []

    def _line_at(self, y: float, at: float, text: str, *, ends: bool = False) -> tuple[QRectF, str]:
        """A line of text that begins at a place, or ends there, as far as it lies between the axes."""
        text = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, self.room.width())
        width = self.metrics.horizontalAdvance(text) + 1
        left = max(self.room.left(), min(at - width if ends else at, self.room.right() - width))
        return QRectF(left, self.y(y) - self.line / 2, width, self.line), text

    def _grid(self) -> QColor:
        return colour(Ground.BORDER)

    def tip_at(self, place: QPointF) -> str:
        """What the mouse is over."""
        for mark in reversed(self.chart.marks):
            if isinstance(mark, Bar) and mark.tip and self.box(mark).adjusted(-1, -1, 1, 1).contains(place):
                return mark.tip
            if isinstance(mark, Dot) and mark.tip:
                away = self.point((mark.x, mark.y)) - place
                if math.hypot(away.x(), away.y()) <= REACH:
                    return mark.tip
        if place.x() < self.room.left() and self.chart.up.places:
            return next((name for at, name in self.chart.up.ticks if abs(self.y(at) - place.y()) <= self.line), "")
        return ""


_WRAPPED = int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap)


def _part(axis: Axis, value: float) -> float:
    """How far along the axis, from 0 to 1; what lies outside stands at its end."""
    if not (axis.high > axis.low and math.isfinite(value)):
        return 0.0
    return min(1.0, max(0.0, (value - axis.low) / (axis.high - axis.low)))


def _step(axis: Axis) -> float:
    """The room of one place."""
    return 1.0 if len(axis.ticks) > 1 else axis.high - axis.low


def _thinning(edges: Sequence[float], line: float) -> int:
    """Each how many-th name has room of its own."""
    nearest = min(abs(after - before) for before, after in pairwise(edges))
    return max(1, math.ceil(line * 1.1 / nearest)) if nearest > 0 else len(edges)
