"""A field for a secret, which is shown only while the eye in it is pressed down."""

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Slot
from PySide6.QtGui import QAction, QIcon, QKeySequence, QPainter, QPainterPath, QPalette, QPen, QPixmap
from PySide6.QtWidgets import QLineEdit, QWidget

from core.language import tr
from gui.guard import Guarded

SIZE = 16
SHARPEST = 3
"""Device pixels for each pixel of the window's, at most."""


class SecretField(Guarded, QLineEdit):
    """Hides what is typed, unless `eye` is checked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.eye = QAction(self)
        self.eye.setCheckable(True)
        self.eye.setShortcut(QKeySequence("Alt+S"))  # the eye itself never has the focus
        self.eye.toggled.connect(self._show)
        self.addAction(self.eye, QLineEdit.ActionPosition.TrailingPosition)
        self._show(shown=False)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._draw()

    @Slot(bool)
    def _show(self, shown: bool) -> None:
        self.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self.eye.setText(tr("Hide what is typed") if shown else tr("Show what is typed"))
        self.eye.setToolTip(f"{self.eye.text()} ({self.eye.shortcut().toString()})")
        self._draw()

    def _draw(self) -> None:
        """Draw the eye in the colour of the text, crossed out while the secret is hidden."""
        icon = QIcon()
        for ratio in range(1, SHARPEST + 1):
            picture = QPixmap(SIZE * ratio, SIZE * ratio)
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Text), 1.4))
            painter.drawPath(_lids())
            painter.drawEllipse(QPointF(8, 8), 2.2, 2.2)
            if not self.eye.isChecked():
                painter.drawLine(QPointF(3, 13), QPointF(13, 3))
            painter.end()
            icon.addPixmap(picture)
        self.eye.setIcon(icon)


def _lids() -> QPainterPath:
    box = QRectF(1, 3, 14, 10)
    path = QPainterPath(QPointF(box.left(), box.center().y()))
    path.quadTo(QPointF(box.center().x(), box.top() - 2), QPointF(box.right(), box.center().y()))
    path.quadTo(QPointF(box.center().x(), box.bottom() + 2), QPointF(box.left(), box.center().y()))
    return path
