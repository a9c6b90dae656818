"""The answer of a page in one sentence, with an icon, in its tone."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from core.tones import Tone
from gui.design.icons import Icon, IconView
from gui.design.measures import GAP, Type, set_type
from gui.models.verdict import Verdict
from gui.widgets.label import ToneLabel

ICONS = {Tone.GOOD: Icon.DONE, Tone.MUTED: Icon.TOLD}
SIDE = 20


class VerdictLine(QWidget):
    """Shows one verdict."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.icon = IconView(Icon.TOLD, Tone.MUTED, SIDE, self)
        self.said = ToneLabel("", Tone.MUTED, self)
        self.said.setWordWrap(True)
        set_type(self.said, Type.HEADLINE, bold=True)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(GAP)
        line.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(self.said, 1)

    def show_verdict(self, verdict: Verdict) -> None:
        """Show this one from now on."""
        self.icon.show_icon(ICONS.get(verdict.tone, Icon.WRONG), verdict.tone)
        self.said.setText(verdict.text)
        self.said.show_tone(verdict.tone)
