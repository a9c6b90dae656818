"""The page Moves: every move as a card, the one that was changed last first."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from core import api
from core.language import marked, tr
from gui.design.measures import CARD
from gui.destinations import TITLES, Offer, PageId
from gui.models.cards import Card, card
from gui.models.words import counted
from gui.pages.page import Page
from gui.widgets.move_card import MoveCard
from gui.widgets.rail import AGE_MS
from gui.work import Work

if TYPE_CHECKING:
    from core.api.model import Standing
    from core.api.session import Session


CARDS = 10
"""The number of cards that are shown at first, and added on request."""


class StartPage(Page["tuple[tuple[Standing, ...], int]"]):
    """Signals: picked(move, page), edited(move), removed(move).

    Attributes:
        ages: says anew how long ago each move was changed.
    """

    id, title, of_picked = PageId.MOVES, TITLES[PageId.MOVES], False
    help = marked(
        "Each card is a move. It shows the servers, the cluster, the state of each step, and problems. The "
        "first button of a card leads to the next step. Removing a move also removes its executions, benchmark runs, "
        "checks, estimates and plans from the history. It changes nothing on the servers."
    )
    picked = Signal(str, str)
    edited = Signal(str)
    removed = Signal(str)

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.new = self.button(tr("&New move…"), lambda: self.wanted.emit(Offer.NEW_MOVE))
        self.read = self.button(
            tr("Read &outputs…"),
            lambda: self.wanted.emit(Offer.READ_OUTPUTS),
            tr("Read and compare outputs of benchmark tools from elsewhere"),
        )
        self.heading(self.read, self.new)
        self.cards: list[MoveCard] = []
        self._column = self.scrolled(tr("Moves"), readable=True)
        self._column.setSpacing(CARD)
        self._most = CARDS
        self._standings: tuple[Standing, ...] = ()
        self.ages = QTimer(self, interval=AGE_MS)
        self.ages.timeout.connect(self._show_ages)
        self.ages.start()
        self.more = self.button("", self._show_more)
        self.more.hide()
        self._column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch()

    def offers(self, destination: str) -> bool:
        """Return whether a card has the next step of the selected move; assumed until the cards are there."""
        move = self.work.move
        shown = move is not None and any(card.card.move == move.name for card in self.cards)
        return not self.shown or shown or super().offers(destination)

    def question(self) -> "Callable[[Session], tuple[tuple[Standing, ...], int]] | None":
        most = self._most
        return lambda session: api.moves.list_standings(session, most)

    def show_answer(self, answer: "tuple[tuple[Standing, ...], int]") -> None:
        shown, of = answer
        if not shown:
            self.explain(
                tr("Move a cluster to a new server"),
                tr(
                    "First add the old server, on which the cluster is running now, and the new server. pghaul "
                    "reads their facts. Then add the move. pghaul always shows the next step, and changes "
                    "nothing before you confirm it."
                ),
                tr("Begin…"),
                Offer.FIRST_STEPS,
            )
            return
        self.fill()
        self._standings = shown
        now = datetime.now().astimezone()
        self._lay_out([card(one, now) for one in shown])
        self.more.setText(
            tr("Sho&w {cards} more of {of}").format(
                cards=min(CARDS, of - len(shown)), of=counted(of, "{number} move", "{number} moves")
            )
        )
        self.more.setVisible(len(shown) < of)

    @Slot()
    def _show_ages(self) -> None:
        """Say anew how long ago each move was changed."""
        now = datetime.now().astimezone()
        for shown, standing in zip(self.cards, self._standings, strict=True):
            shown.last.setText(card(standing, now).last)

    def _show_more(self) -> None:
        self._most += CARDS
        self.refresh()

    def _lay_out(self, made: list[Card]) -> None:
        """Show these cards. A card that has not changed stays, and keeps the focus."""
        before = {shown.card: shown for shown in self.cards}
        self.cards = [before.pop(one) if one in before else self._card(one) for one in made]
        for gone in before.values():
            self._column.removeWidget(gone)
            gone.deleteLater()
        for number, (shown, one) in enumerate(zip(self.cards, made, strict=True)):
            shown.last.setText(one.last)
            if self._column.indexOf(shown) != number:
                self._column.insertWidget(number, shown)

    def _card(self, of: Card) -> MoveCard:
        made = MoveCard(of, self)
        made.picked.connect(self.picked)
        made.edited.connect(self.edited)
        made.removed.connect(self.removed)
        return made
