"""Figures as tiles beside each other: the name, the value in large type, and what it is to be compared with."""

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from core import units
from core.tones import Tone
from gui.design.measures import CARD, GAP, GRID, Type, set_type
from gui.models.figures import Figure
from gui.widgets.label import Label, ToneLabel


class FigureTiles(QWidget):
    """Shows a tile for each figure, or hides."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: tuple[Figure, ...] = ()
        self._tiles: list[QFrame] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GAP)
        self.hide()

    def show_figures(self, figures: tuple[Figure, ...]) -> None:
        """Show these in place of those before."""
        self.setVisible(bool(figures))
        if figures == self.shown:
            return
        self.shown = figures
        for tile in self._tiles:
            self._row.removeWidget(tile)
            tile.deleteLater()
        self._tiles = [_tile(figure, self) for figure in figures]
        for tile in self._tiles:
            self._row.addWidget(tile, 1)


def _tile(figure: Figure, parent: QWidget) -> QFrame:
    made = QFrame(parent)
    made.setFrameShape(QFrame.Shape.StyledPanel)
    made.setBackgroundRole(QPalette.ColorRole.Base)
    made.setAccessibleName(f"{figure.name}: {figure.value}, {figure.detail}")
    value = Label(figure.value, made) if figure.tone is None else ToneLabel(figure.value, figure.tone, made)
    set_type(value, Type.FIGURE, bold=True)
    column = QVBoxLayout(made)
    column.setContentsMargins(CARD, CARD - GRID, CARD, CARD - GRID)
    column.setSpacing(0)
    column.addWidget(ToneLabel(figure.name, Tone.MUTED, made))
    column.addWidget(value)
    detail = Label(units.unbroken(figure.detail), made)
    detail.setWordWrap(True)
    column.addWidget(detail)
    column.addStretch()  # names and values stand on one line each, however many the details take
    return made
