"""The banner on every page: a running or interrupted execution, its downtime, and its actions."""

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QSizePolicy, QWidget

from core import api
from core.language import tr
from core.tones import Tone
from gui.design.icons import Icon, IconView
from gui.design.measures import GAP, GRID, MARGIN
from gui.design.palette import Ground, colour
from gui.design.parts import ButtonKind, set_kind
from gui.guard import Guarded
from gui.models.execution import back_button
from gui.models.sentences import recorded
from gui.models.words import escape_mnemonics
from gui.widgets.label import Label

if TYPE_CHECKING:
    from core.api.moves import Unfinished


LONG_SECONDS = 5.0
"""From when on it is said that the history cannot be read."""


class StatusBanner(Guarded, QFrame):
    """Shows the most urgent execution, and the others in a menu.

    Signals, each with its move: shown_wanted, continue_wanted, back_wanted.

    Attributes:
        more: how many others are unfinished; its menu leads to each of them.
    """

    shown_wanted = Signal(str)
    continue_wanted = Signal(str)
    back_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[Unfinished, ...] = ()
        self._found: Unfinished | None = None
        self._at = self._read_at = datetime.now(UTC)
        self._waiting = ("", "")
        self._ready = False
        self._tone = Tone.ACCENT
        self.icon = IconView(Icon.TOLD, self._tone, 20, self)
        self.text = Label(parent=self)
        self.text.setWordWrap(True)
        self.text.setAccessibleName(tr("Running or interrupted execution"))
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.show_button, self.go_on, self.back = (
            self._button(text, signal)
            for text, signal in (
                (tr("Show"), self.shown_wanted),
                (tr("Continue"), self.continue_wanted),
                (back_button("", has_key=False), self.back_wanted),
            )
        )
        set_kind(self.back, ButtonKind.DANGER)
        self.more = QPushButton(self)
        self.more.setToolTip(tr("Other moves whose execution has not ended"))
        self.others = QMenu(self.more)
        self.others.aboutToShow.connect(self._list_others)
        self.more.setMenu(self.others)
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN, GAP, MARGIN, GAP)
        row.setSpacing(GAP)
        row.addWidget(self.icon)
        row.addWidget(self.text, 1)
        for button in (self.go_on, self.back, self.show_button, self.more):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_unfinished(self, found: "tuple[Unfinished, ...]", at: datetime, *, read_at: datetime, ready: bool) -> None:
        """Show the most urgent of these executions, or nothing.

        Args:
            found: the executions.
            at: as of when they are shown; the page shows them as of the same time.
            read_at: when they were read.
            ready: whether the window can start a job.
        """
        before = self._found
        self._all, self._at, self._read_at, self._ready = found, at, read_at, ready
        self._choose()
        if self._found is None:
            self.hide()
            return
        self._say()
        self.show()
        if QAccessible.isActive() and (before is None or before.id != self._found.id):
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.text.text()))

    def wait_for(self, move: str, what: str) -> None:
        """Show what the execution of that move waits for; empty: it does not wait."""
        self._waiting = (move, what)
        self._choose()
        self._say()

    def _choose(self) -> None:
        """Show the execution that waits for an answer in this window, else the most urgent one."""
        move, what = self._waiting
        self._all = tuple(sorted(self._all, key=lambda one: (not what or one.move != move, one.urgency)))
        self._found = self._all[0] if self._all else None
        others = len(self._all) - 1
        self.more.setVisible(others > 0)
        self.more.setText(tr("{number} more").format(number=max(0, others)))

    @Slot()
    def _list_others(self) -> None:
        """Fill the menu with the other executions and how they stand now."""
        self.others.clear()
        for one in self._all[1:]:
            said = recorded(api.moves.describe_unfinished(one, self._at))
            action = self.others.addAction(escape_mnemonics(said))
            action.setData(one.move)
            action.triggered.connect(partial(self.shown_wanted.emit, one.move))

    @Slot()
    def _say(self) -> None:
        found = self._found
        if found is None:
            return
        said = recorded(api.moves.describe_unfinished(found, self._at))
        move, what = self._waiting
        # several executions may be unfinished, and the one that waits may not be the one shown
        who = "" if not what or move == found.move else f"{move} "
        told = (
            tr("{who}waiting for you: {what}").format(who=who, what=what)
            if what
            else recorded(found.at)
            if found.alive
            else ""
        )
        capital = told if who else f"{told[:1].upper()}{told[1:]}"  # the name of a move keeps its first letter
        self.text.setText(" ".join(filter(None, (said, capital, self._describe_age()))))
        self.go_on.setVisible(found.possible.resume)
        self.back.setText(back_button(found.old_server, has_key=False))
        self.back.setVisible(found.possible.roll_back)
        for button in (self.go_on, self.back):
            button.setEnabled(self._ready)
        grave = bool(found.grave or what)
        self._tone = Tone.BAD if grave else Tone.ACCENT
        self.icon.show_icon(Icon.WRONG if grave else Icon.TOLD, self._tone)
        self.update()

    def _describe_age(self) -> str:
        """Return since when the history cannot be read, if that lasts."""
        if (self._at - self._read_at).total_seconds() < LONG_SECONDS:
            return ""
        return tr(
            "pghaul has not been able to read the history since {read_at:%H:%M:%S}. What has happened since then is "
            "not shown."
        ).format(read_at=self._read_at.astimezone())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A surface with a bar in the tone at its left, and a line below."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), colour(Ground.SURFACE))
        painter.fillRect(0, 0, GRID, self.height(), colour(self._tone))
        painter.fillRect(0, self.height() - 1, self.width(), 1, colour(Ground.BORDER))
        painter.end()

    def _button(self, text: str, signal: SignalInstance) -> QPushButton:
        made = QPushButton(text, self)
        made.clicked.connect(lambda: signal.emit("" if self._found is None else self._found.move))
        return made
