"""The base of pages for one milestone: a summary, a button for its work, and widgets."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QPushButton, QSplitter, QWidget

from core.language import tr
from gui.pages.page import Page
from gui.widgets.label import Label
from gui.widgets.table import Table
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session
    from core.jobs import Job

Part = TypeVar("Part")
Row = TypeVar("Row")


class PartPage(Page[Part]):
    """A subclass says what it reads and does, both by functions of `core.api`, and shows its part.

    Attributes:
        doing: the title of its job, with a place for the `{move}`; `button_text`: of the button that begins it.
        nothing: the summary while there is nothing of it.
    """

    doing = ""
    button_text = ""
    button_tip = ""
    nothing = ""

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.start = self.button(tr(self.button_text), self.begin, tr(self.button_tip))
        self.head = self.heading(self.start)
        self.summary = Label(tr(self.nothing), self)
        self.summary.setWordWrap(True)
        self.column.addWidget(self.summary)

    def read(self, move: str, session: "Session") -> Part:
        """Read the data of the milestone; called on a thread."""
        raise NotImplementedError

    def act(self, move: str, session: "Session", job: "Job") -> object:
        """Do the work of the milestone; called on a thread."""
        raise NotImplementedError

    def show_part(self, part: Part) -> None:
        """Show the data that was read."""
        raise NotImplementedError

    @property
    def primary(self) -> QPushButton | None:
        return self.start

    def question(self) -> "Callable[[Session], Part] | None":
        move = self.work.move
        return None if move is None else partial(self.read, move.name)

    def show_answer(self, answer: Part) -> None:
        self.fill()
        self.show_part(answer)

    @Slot()
    def update_buttons(self) -> None:
        self.start.setEnabled(self.work.ready and self.work.move is not None)

    @Slot()
    def begin(self) -> None:
        """Start the work on the selected move."""
        move = self.work.move
        if move is not None:
            self.run(tr(self.doing).format(move=move.name), partial(self.act, move.name))

    def add_button(self, text: str, pressed: Callable[[], object] | None = None, tip: str = "") -> QPushButton:
        """Add a button to the first line of the page; it is disabled at first."""
        made = self.button(text, pressed or (lambda: None), tip)
        made.setEnabled(False)
        self.head.insertWidget(self.head.count() - 1, made)
        return made

    def split(self, above: QWidget, below: QWidget, sizes: tuple[int, int]) -> QSplitter:
        """Add two widgets, one above the other, with a movable border."""
        made = QSplitter(Qt.Orientation.Vertical, self)
        made.addWidget(above)
        made.addWidget(below)
        made.setSizes([*sizes])
        made.setChildrenCollapsible(False)
        self.column.addWidget(made, 1)
        return made


def fill_table(table: Table[Row], found: Sequence[Row]) -> None:
    """Show the rows, and select the first if none is selected."""
    table.set_rows(found)
    if found and table.current() is None:
        table.choose(0)
