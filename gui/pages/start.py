"""Moves: every move as a card, the one that was worked on last first."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from core.language import marked, tr
from gui import actions
from gui.models.cards import Card, card
from gui.models.words import counted
from gui.pages.page import Page
from gui.widgets.move_card import MoveCard
from gui.work import Work

if TYPE_CHECKING:
    from core.actions.standing import Standing


CARDS = 10
"""So many are read and shown, and so many more each time that they are asked for: more than a screen holds."""


class StartPage(Page):
    """Signals: picked(move, page), edited(move), removed(move)."""

    title, of_picked = marked("Moves"), False
    help = marked(
        "Every move as a card: its way, its cluster, how each of its steps stands, what is wrong. The button on a "
        "card leads to what comes next. A move that is removed takes its runs, checks, estimates and plans with "
        "it, and changes nothing on the servers."
    )
    picked = Signal(str, str)
    edited = Signal(str)
    removed = Signal(str)

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.new = self.button(tr("&New move…"), lambda: self.wanted.emit("New move"))
        self.read = self.button(
            tr("Read an &output…"),
            lambda: self.wanted.emit("Read outputs"),
            tr("Of a benchmark tool, whoever ran it: to compare"),
        )
        self.heading(self.read, self.new)
        self.cards: list[MoveCard] = []
        area = QScrollArea(self, widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName(tr("Moves"))
        holder = QWidget(area)
        self._column = QVBoxLayout(holder)
        self._column.setContentsMargins(0, 0, 6, 0)
        self._column.setSpacing(10)
        self._most = CARDS
        self.more = self.button("", self._show_more)
        self.more.hide()
        self._column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch()
        area.setWidget(holder)
        self.column.addWidget(area, 1)

    def question(self) -> Any:
        return partial(actions.standings, self._most)

    def show_answer(self, answer: "tuple[tuple[Standing, ...], int] | None") -> None:
        shown, of = answer or ((), 0)
        if not shown:
            self.explain(
                tr("Move a cluster to its new server"),
                tr(
                    "Describe the old server, where the cluster runs now, and the new one. Their facts are read, "
                    "then make the move. Each step says what comes next; nothing is changed before you say so."
                ),
                tr("Begin…"),
                "Begin",
            )
            return
        self.fill()
        now = datetime.now().astimezone()
        self._lay_out([card(one, now) for one in shown])
        self.more.setText(
            tr("Sho&w {cards} more of {of}").format(
                cards=min(CARDS, of - len(shown)), of=counted(of, "{number} move", "{number} moves")
            )
        )
        self.more.setVisible(len(shown) < of)

    def _show_more(self) -> None:
        self._most += CARDS
        self.refresh()

    def _lay_out(self, made: list[Card]) -> None:
        """Show these; a card that says what it said stays, with the focus that it may have."""
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
