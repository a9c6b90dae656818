"""The one label: plain text, whoever wrote it. Qt's own takes what looks like markup for markup."""

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from core.text import printable_lines
from core.tones import Tone
from gui.appearance import tip
from gui.design.palette import Ground, colour
from gui.guard import Guarded

_WRAPPED = int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.TextFlag.TextWordWrap)
_HIGH = 1 << 16
"""More than any text needs, in pixels."""


class Label(QLabel):
    """Shows its text as it is; what could turn the direction of writing, or cannot be seen, by its code."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(printable_lines(text))


class ElidedLabel(Guarded, Label):
    """Plain text on one line, as wide as there is room for; `cut`: where it is cut."""

    def __init__(self, parent: QWidget | None = None, cut: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        super().__init__(parent=parent)
        self._cut = cut
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    @property
    def shown(self) -> str:
        """As much of the text as there is room for."""
        return self.fontMetrics().elidedText(self.text(), self._cut, self.contentsRect().width())

    def paintEvent(self, _event: QPaintEvent) -> None:
        room, shown = self.contentsRect(), self.shown
        self.setToolTip("" if shown == self.text() else tip(self.text()))
        painter = QPainter(self)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.end()


class EvenLabel(Guarded, Label):
    """Text in the middle of as few lines as it needs, about as long as each other: no word stands alone in the last."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setWordWrap(True)

    @property
    def line_width(self) -> int:
        """The least width, in pixels, with which the text needs no more lines than with all the room that there is."""
        whole = self.contentsRect().width()
        most, least, enough = self._needed(whole).height(), 0, whole
        while enough - least > 1:
            middle = (least + enough) // 2
            needed = self._needed(middle)
            if needed.width() <= middle and needed.height() <= most:
                enough = middle
            else:
                least = middle
        return enough

    def _needed(self, width: int) -> QRect:
        return self.fontMetrics().boundingRect(QRect(0, 0, width, _HIGH), _WRAPPED, self.text())

    def paintEvent(self, _event: QPaintEvent) -> None:
        room, width = self.contentsRect(), self.line_width
        painter = QPainter(self)
        painter.drawText(
            QRect(room.x() + (room.width() - width) // 2, room.y(), width, room.height()), _WRAPPED, self.text()
        )
        painter.end()


class ToneLabel(Guarded, Label):
    """Plain text; its colour follows the palette. Without a tone it is that of any text."""

    def __init__(self, text: str, tone: Tone | None, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._tone = tone
        self._colour()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._colour()

    def show_tone(self, tone: Tone | None) -> None:
        """Show the text in this tone from now on."""
        self._tone = tone
        self._colour()

    def _colour(self) -> None:
        palette, wanted = QPalette(), colour(self._tone or Ground.TEXT)  # all other roles stay those of the parent
        if self.palette().color(QPalette.ColorRole.WindowText) == wanted:
            return
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):  # which one counts, a card's base decides
            palette.setColor(role, wanted)
        self.setPalette(palette)
