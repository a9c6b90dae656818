"""The base of all pages: it reads the history when the page is shown, and starts jobs."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from core.jobs import Job
from core.language import tr
from core.migration.model.standing import Milestone
from gui.bridge import Task
from gui.design.measures import CARD, CONTROL, GAP, MARGIN, READABLE, Type, scaled, set_type
from gui.design.parts import ButtonKind, set_kind
from gui.destinations import FIRST, Offer, icon_of
from gui.guard import Guarded
from gui.widgets.chart import ChartRow, ChartView
from gui.widgets.empty import Empty
from gui.widgets.label import Label
from gui.widgets.table import Table
from gui.work import Work

if TYPE_CHECKING:
    from core.api.session import Session


Answer = TypeVar("Answer")
Result = TypeVar("Result")


class Page(Guarded, QWidget, Generic[Answer]):
    """One page. A subclass says what it reads (`question`) and how it shows the answer (`show_answer`).

    `body` holds the page's own widgets; `explain` puts an empty state in its place.

    Attributes:
        shown: the answer has been shown and nothing newer is known of.

    Signals:
        wanted(str): the PageId of another page, or an Offer: what an empty state leads to.
        saved(Path): a file was written.
        settled(): the page shows what it has read, or its empty state.
    """

    id = ""
    """The page's PageId: programs know it by this, never by its title."""
    title = ""
    """In English, translated where it is shown."""
    help = ""
    """What the page is for and how it is used, in a few sentences."""
    of_picked = True
    """Whether the page depends on the selected move, and is read again when another one is selected."""
    milestone: Milestone | None = None
    """The milestone whose mark is shown beside the page in the list; None: the page belongs to none."""
    wanted = Signal(str)
    saved = Signal(object)
    settled = Signal()

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.work = work
        self.shown = False
        self._asked = 0
        self._wired = False
        self._empty: Empty | None = None
        self._offered = ""
        self.body = QWidget(self)
        self._layers = QStackedLayout(self)
        self._layers.addWidget(self.body)
        self.column = QVBoxLayout(self.body)
        self.column.setContentsMargins(MARGIN, CARD, MARGIN, CARD)
        self.column.setSpacing(GAP)
        work.changed.connect(self.refresh)
        if self.of_picked:
            work.picked.connect(self.refresh)
        work.started.connect(self.update_buttons)
        work.ended.connect(self.update_buttons)

    @property
    def primary(self) -> QPushButton | None:
        """The button of the page's main action, which `Next step` presses when the page is open."""
        return None

    def offers(self, destination: str) -> bool:
        """Return whether the page itself has a button for the next step, so that nothing else need offer it.

        An empty page has one button. Before there is a move, it begins the first steps in its own words.
        """
        return bool(self._offered) and (self._offered == destination or destination in FIRST)

    def question(self) -> "Callable[[Session], Answer] | None":
        """Return the function that reads the data on a thread; None: there is nothing to read."""
        raise NotImplementedError

    def show_answer(self, answer: Answer) -> None:
        """Show the data that was read."""
        raise NotImplementedError

    @Slot()
    def update_buttons(self) -> None:
        """Enable the actions that are possible now."""

    def arrive(self) -> None:
        """Begin actions that only read, because `Next step` has led to this page."""

    @Slot()
    def add_one(self) -> None:
        """Open the dialog for a new item of the page: a server, or outputs."""

    @Slot()
    def refresh(self) -> None:
        """Read the data again: now if the page is visible, else when it is shown."""
        self.shown = False
        self._asked += 1  # also while hidden: what is on its way is of before
        if not self.isVisible() or self.work.session is None:
            return
        question = self.question()
        task = None if question is None else self.work.read(question)
        if task is None:
            self._settle(self.explain_no_move)
        else:
            task.then(partial(self._take, self._asked))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._wired:
            self._wired = True
            charts = [each for each in self.findChildren(ChartView) if not isinstance(each.parentWidget(), ChartRow)]
            tables: list[Table[Any]] = self.findChildren(Table)
            savers: list[Table[Any] | ChartRow | ChartView] = [*tables, *self.findChildren(ChartRow), *charts]
            for each in savers:
                each.saved.connect(self.saved)
                each.troubled.connect(self.work.troubled)
        if not self.shown:
            self.refresh()

    def explain(self, title: str, text: str, button: str = "", wanted: str = "") -> None:
        """Show an empty state; its button asks for `wanted`, a PageId or an Offer."""
        self.fill()
        self._offered = wanted
        self._empty = Empty(icon_of(self.id), title, text, button, self)
        self._empty.wanted.connect(partial(self.wanted.emit, wanted))
        self._layers.addWidget(self._empty)
        self._layers.setCurrentWidget(self._empty)

    def explain_no_move(self) -> None:
        """Show the empty state of a page that needs a move."""
        self.explain(
            tr("No move is selected"),
            tr(
                "A move is one migration of a cluster from an old server to a new server. First add both "
                "servers, then add the move."
            ),
            tr("New move…"),
            Offer.NEW_MOVE,
        )

    def fill(self) -> None:
        """Show the page's widgets instead of the empty state."""
        if self._empty is not None:
            self._layers.removeWidget(self._empty)
            self._empty.deleteLater()
            self._empty = None
            self._offered = ""
        self._layers.setCurrentWidget(self.body)

    def run(self, title: str, action: "Callable[[Session, Job], Result]") -> Task[Result] | None:
        """Start the one long job."""
        return self.work.run(title, action)

    def heading(self, *widgets: QWidget) -> QHBoxLayout:
        """Add the first line of the page: its title, and these widgets at the right."""
        label = Label(tr(self.title), self)
        set_type(label, Type.TITLE, bold=True)
        label.setMinimumHeight(scaled(CONTROL))  # so that titles stand alike, with buttons beside them and without
        row = QHBoxLayout()
        row.addWidget(label)
        row.addStretch()
        for widget in widgets:
            row.addWidget(widget)
        self.column.addLayout(row)
        return row

    def scrolled(self, name: str, *, readable: bool = False) -> QVBoxLayout:
        """Add a column that scrolls where the page is lower than what stands in it.

        Args:
            name: for screen readers.
            readable: whether it is no wider than lines of text should be.
        """
        area = QScrollArea(self, widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAccessibleName(name)
        holder = QWidget(area)
        if readable:
            holder.setMaximumWidth(scaled(READABLE))
        made = QVBoxLayout(holder)
        made.setContentsMargins(0, 0, 0, 0)
        area.setWidget(holder)
        self.column.addWidget(area, 1)
        return made

    def button(
        self, text: str, pressed: Callable[[], object], tip: str = "", kind: ButtonKind = ButtonKind.SECONDARY
    ) -> QPushButton:
        """Return a new button of this page."""
        made = QPushButton(text, self)
        set_kind(made, kind)
        made.setToolTip(tip)
        made.clicked.connect(pressed)
        return made

    def _take(self, asked: int, answer: Answer) -> None:
        """Show the data, unless newer data is being read."""
        if asked == self._asked:
            self._settle(partial(self.show_answer, answer))

    def _settle(self, show: Callable[[], None]) -> None:
        self.shown = True
        show()
        self.update_buttons()
        self._order_tabs()
        self.settled.emit()

    def _order_tabs(self) -> None:
        """Let Tab go through the widgets as they are read: row by row, from left to right."""
        layout = self.body.layout()
        if layout is not None:
            layout.activate()  # else what was just shown has no place yet
        taking = [
            each
            for each in self.findChildren(QWidget)
            if each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.isVisibleTo(self) and not _is_part(each)
            if each.window() is self.window()  # not in a dialog over the page
        ]
        for before, behind in pairwise(in_reading_order(taking, self)):
            QWidget.setTabOrder(before, behind)


def _is_part(widget: QWidget) -> bool:
    """Whether it is a part of a widget that takes the focus: the field of a spin box, the bar of a tab widget."""
    whole, proxy = widget.parentWidget(), widget.focusProxy()
    return (whole is not None and whole.focusProxy() is widget) or (proxy is not None and proxy.isAncestorOf(widget))


def in_reading_order(widgets: Iterable[QWidget], page: QWidget) -> list[QWidget]:
    """Return the widgets of a page row by row, and those of a row from left to right. Tops in a row differ a little."""
    placed = sorted(((each.mapTo(page, QPoint()), each) for each in widgets), key=lambda one: one[0].y())
    rows: list[list[tuple[QPoint, QWidget]]] = []
    for one in placed:
        if rows and one[0].y() - rows[-1][0][0].y() < ROW:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [widget for row in rows for _, widget in sorted(row, key=lambda one: one[0].x())]


ROW = 12
"""In pixels: tops that lie apart less are of one row."""


AnyPage: TypeAlias = Page[Any]
"""A page, whatever it shows."""


Part = TypeVar("Part")
Row = TypeVar("Row")


class PartPage(Page[Part]):
    """A subclass says what it reads and does, both by functions of `core.api`, and shows its part.

    Attributes:
        doing: the title of its job, with a place for the `{move}`; `button_text`: of the button that begins it.
        nothing: the summary while there is nothing of it: what its job does on {old} and {new}, and how long it takes.
    """

    doing = ""
    button_text = ""
    button_tip = ""
    nothing = ""

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.start = self.button(tr(self.button_text), self.begin, tr(self.button_tip), ButtonKind.PRIMARY)
        self.head = self.heading(self.start)
        self.summary = Label(parent=self)
        self.summary.setWordWrap(True)
        self.summary.setMaximumWidth(scaled(READABLE))
        self.column.addWidget(self.summary)

    def describe_nothing(self) -> str:
        """Return the summary while there is nothing of the milestone, with the names of the servers."""
        move = self.work.move
        return "" if move is None else tr(self.nothing).format(old=move.old, new=move.new)

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
