"""The card at the top of an execution: one large line in its tone, and what stands behind it."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from core.tones import Tone
from gui.design.icons import Icon, IconView
from gui.design.measures import CARD, GAP, GRID, MARGIN, Type, set_type
from gui.design.painting import paint_box
from gui.design.palette import Ground, colour
from gui.guard import Guarded
from gui.models.headline import Headline
from gui.widgets.label import Label, ToneLabel

ICONS = {Tone.GOOD: Icon.DONE, Tone.BAD: Icon.WRONG, Tone.WARNING: Icon.WRONG}


class StateCard(Guarded, QWidget):
    """Shows a headline and, below it, sentences."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone = Tone.MUTED
        self.icon = IconView(Icon.TOLD, self._tone, MARGIN, self)
        self.line, self.detail = ToneLabel("", self._tone, self), Label(parent=self)
        set_type(self.line, Type.TITLE, bold=True)
        for label in (self.line, self.detail):
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        grid = QGridLayout(self)
        grid.setContentsMargins(CARD + GRID, CARD, CARD, CARD)
        grid.setHorizontalSpacing(CARD)
        grid.setVerticalSpacing(GAP)
        grid.addWidget(self.icon, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.line, 0, 1)
        grid.addWidget(self.detail, 1, 1)
        grid.setColumnStretch(1, 1)

    def show_state(self, said: Headline | None, detail: str) -> None:
        """Show this line and these sentences; without a line only the sentences."""
        before = self.line.text()
        for widget in (self.icon, self.line):
            widget.setVisible(said is not None)
        if said is not None:
            self._tone = said.tone
            self.icon.show_icon(ICONS.get(said.tone, Icon.TOLD), said.tone)
            self.line.setText(said.text)
            self.line.show_tone(said.tone)
            if QAccessible.isActive() and said.tone in ICONS and said.text != before:
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, said.text))
        else:
            self._tone = Tone.MUTED
        self.detail.setText(detail)
        self.detail.setVisible(bool(detail))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A card with a bar in the tone at its left."""
        painter = QPainter(self)
        paint_box(painter, QRectF(self.rect()), colour(Ground.SURFACE), colour(Ground.BORDER))
        paint_box(painter, QRectF(0, 0, GRID, self.height()), colour(self._tone), None, radius=2)
        painter.end()
