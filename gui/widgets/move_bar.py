"""The bar at the top: the selected move and its servers."""

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QToolBar, QToolButton, QWidget

from core.language import tr
from gui.widgets.label import ElidedLabel, Label
from gui.work import Work


class MoveBar(QToolBar):
    """Selects a move of `work`."""

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(tr("Move"), parent)
        self._work = work
        self.setMovable(False)
        self.setObjectName("move")
        self.moves = QComboBox(self)
        self.moves.setAccessibleName(tr("Move"))
        # Moves come and go after the window is on screen: the default fits the box to what it held before.
        self.moves.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.moves.setMinimumWidth(self.fontMetrics().averageCharWidth() * 28)
        self.moves.setMaximumWidth(self.fontMetrics().averageCharWidth() * 64)
        self.moves.textActivated.connect(work.pick)
        self.route = ElidedLabel(self)
        self.route.setAccessibleName(tr("Route of the move"))
        self.route.setContentsMargins(12, 0, 12, 0)
        work.moves_changed.connect(self._show_moves)
        work.picked.connect(self._show_picked)

    def add_actions(self, beside: QAction, last: QAction) -> None:
        """Lay out the moves, an action beside them, the servers, and an action at the end."""
        self.addWidget(Label(tr(" Move: "), self))
        self.addWidget(self.moves)
        self.addAction(beside)
        self.addWidget(self.route)
        self.addAction(last)
        for action in (beside, last):
            button = self.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setAutoRaise(False)

    @Slot()
    def _show_moves(self) -> None:
        self.moves.clear()
        self.moves.addItems([move.name for move in self._work.moves])
        self.moves.setPlaceholderText(tr("no move yet"))
        self._show_picked()

    @Slot()
    def _show_picked(self) -> None:
        move = self._work.move
        self.moves.setCurrentIndex(-1 if move is None else self.moves.findText(move.name))
        self.route.setText("" if move is None else f"{move.old}:{move.cluster}  →  {move.new}:{move.target}")
