"""Moves: every move as a card, the one that was worked on last first."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from gui import actions
from gui.models.cards import Card, card
from gui.pages.page import Page
from gui.widgets.move_card import MoveCard
from gui.work import Work

if TYPE_CHECKING:
    from core.actions import Standing


class StartPage(Page):
    """Signals: picked(move, page), edited(move), removed(move)."""

    title = "Moves"
    help = (
        "Every move as a card: its way, its cluster, how each of its steps stands, what is wrong. The button on a "
        "card leads to what comes next. A move that is removed takes its runs, checks, estimates and plans with "
        "it, and changes nothing on the servers."
    )
    picked = Signal(str, str)
    edited = Signal(str)
    removed = Signal(str)

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.new = self.button("&New move…", lambda: self.wanted.emit("New move"))
        self.heading(self.new)
        self.cards: list[MoveCard] = []
        self._shown: tuple[Card, ...] = ()
        area = QScrollArea(self, widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("Moves")
        holder = QWidget(area)
        self._column = QVBoxLayout(holder)
        self._column.setContentsMargins(0, 0, 6, 0)
        self._column.setSpacing(10)
        self._column.addStretch()
        area.setWidget(holder)
        self.column.addWidget(area, 1)

    def question(self) -> Any:
        return actions.standings

    def show_answer(self, answer: "tuple[Standing, ...] | None") -> None:
        if not answer:
            self.explain(
                "Move a cluster to its new server",
                "Describe the old server, where the cluster runs now, and the new one it goes to; then make the move. "
                "Each step says what comes next; nothing is changed on a server before you say so.",
                "Add server…",
                "New server",
            )
            return
        self.fill()
        now = datetime.now().astimezone()
        made = tuple(card(one, now) for one in answer)
        if made != self._shown:
            self._lay_out(made)

    def _lay_out(self, made: tuple[Card, ...]) -> None:
        for shown in self.cards:
            self._column.removeWidget(shown)
            shown.deleteLater()
        self._shown, self.cards = made, [MoveCard(one, self) for one in made]
        for number, shown in enumerate(self.cards):
            shown.picked.connect(self.picked)
            shown.edited.connect(self.edited)
            shown.removed.connect(self.removed)
            self._column.insertWidget(number, shown)
