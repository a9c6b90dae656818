"""The main window: rail and next thing at the left, move and strip at the top, the running job at the bottom."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QMessageBox,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.errors import Cancelled, PghaulError
from core.settings import PROGRAM
from gui import actions, appearance
from gui.appearance import Theme
from gui.asker import Question, StepQuestion, StopQuestion
from gui.dialogs.crash import CrashDialog
from gui.dialogs.files import ask_path
from gui.dialogs.questions import open_dialog
from gui.menus import Menus
from gui.models.rail import RailRow
from gui.moves import Moves
from gui.pages.after import AfterPage
from gui.pages.check import CheckPage
from gui.pages.compare import ComparePage
from gui.pages.estimate import EstimatePage
from gui.pages.execution import MovePage, RehearsePage
from gui.pages.facts import FactsPage
from gui.pages.history import HistoryPage
from gui.pages.measure import MeasurePage
from gui.pages.overview import OverviewPage
from gui.pages.page import Page
from gui.pages.plan import PlanPage
from gui.pages.probe import ProbePage
from gui.pages.servers import ServersPage
from gui.pages.start import StartPage
from gui.under_way import UnderWay
from gui.way import Way
from gui.widgets.banner import Banner, Mood
from gui.widgets.commands_pane import CommandsPane
from gui.widgets.job_bar import JobBar
from gui.widgets.label import Label
from gui.widgets.message_box import question_box
from gui.widgets.move_bar import MoveBar
from gui.widgets.rail import Rail
from gui.widgets.strip import Strip
from gui.work import Work

PAGES: tuple[type[Page], ...] = (
    StartPage,
    OverviewPage,
    ServersPage,
    FactsPage,
    MeasurePage,
    ComparePage,
    CheckPage,
    ProbePage,
    EstimatePage,
    PlanPage,
    RehearsePage,
    MovePage,
    AfterPage,
    HistoryPage,
)
"""In the order of the rail. A page needs nothing else to be there: its class says its title and its milestone."""
CLOSE_LIMIT_MS = 20_000


class MainWindow(QMainWindow):
    """The one window. Pages are made when they are first shown.

    Attributes:
        work: what the whole window shares.
    """

    def __init__(self, work: Work, pages: Sequence[type[Page]] = PAGES) -> None:
        super().__init__()
        self.work = work
        self.kinds = tuple(pages)
        self.way = Way(work, self)
        self.moves_made = Moves(work, self)
        self._pages: dict[str, Page] = {}
        self._leaving = False
        self.setWindowTitle(PROGRAM)
        self.resize(1280, 800)
        self.rail = Rail([RailRow(kind.title, kind.milestone) for kind in self.kinds], self)
        self.next = QPushButton(self)
        self.strip = Strip(self)
        self.under_way = UnderWay(work, self.strip, self)
        self.stack = QStackedWidget(self)
        self.banner = Banner(self.stack)
        self.job_bar = JobBar(self)
        self.pane = CommandsPane(self)
        self.bar = MoveBar(work, self)
        self.setCentralWidget(self._make_centre())
        self._make_pane()
        self.menus = Menus(self)
        self.bar.add_actions(self.menus.new_move, self.menus.report)
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, self.bar)
        self._connect()
        self.rail.turn_to(0)
        self._show_next()
        self.menus.update()
        self.menus.check_theme(Theme.SYSTEM)
        self._restore()

    # --- pages

    def show_page(self, title: str) -> Page:
        """Bring the page of that title to the front."""
        number = next(number for number, page in enumerate(self.kinds) if page.title == title)
        self.rail.turn_to(number)
        return self._pages[title]

    @Slot(int)
    def _turn_to(self, number: int) -> None:
        self.stack.setCurrentWidget(self._page(self.kinds[number]))

    def _page(self, kind: type[Page]) -> Page:
        """The page of that kind; made when it is first needed."""
        page = self._pages.get(kind.title)
        if page is None:
            page = self._pages[kind.title] = kind(self.work, self)
            page.wanted.connect(self.go)
            page.saved.connect(self.banner.say_saved)
            if isinstance(page, StartPage):
                page.picked.connect(self._open_page)
                page.edited.connect(self.moves_made.edit)
                page.removed.connect(self.moves_made.remove)
            if isinstance(page, MovePage):
                self.work.asker.withdrawn.connect(page.prompt.withdraw)
                page.prompt.answered.connect(self.under_way.go_on)
                page.prompt.back_wanted.connect(self.under_way.back_when_ended)
            if self.work.remembered is not None:
                self.work.remembered.restore_columns(page)
            self.stack.addWidget(page)
        return page

    @Slot(str, str)
    def _open_page(self, move: str, title: str) -> None:
        """Pick that move, and go where its next thing is done."""
        self.work.pick(move)
        self.show_page(title)

    # --- what comes next

    @Slot()
    def _show_next(self) -> None:
        self.rail.rows.show_marks(self.way.marks)
        words, _ = self.way.next(self._current())
        self.next.setText(words)
        self.next.setAccessibleName(f"Next: {words}")
        self.next.setToolTip(f"The next sensible thing (Ctrl+Return): {words}")

    @Slot()
    def go_on(self) -> None:
        """Go where the next thing is done; there, do it."""
        page = self._current()
        _, title = self.way.next(page)
        if page is None or page.title != title:
            self.go(title)
        elif page.primary is not None and page.primary.isEnabled():
            page.primary.click()

    def _current(self) -> Page | None:
        page = self.stack.currentWidget()
        return page if isinstance(page, Page) else None

    @Slot(str)
    def go(self, wanted: str) -> None:
        """Do what an empty state offers."""
        if wanted == "New move":
            self.moves_made.new()
            return
        page = self.show_page(ServersPage.title if wanted == "New server" else wanted)
        if wanted == "New server" and isinstance(page, ServersPage):
            page.add_server()

    @Slot()
    def _pass_on_remark(self) -> None:
        """What is to be known of the history, as it was found."""
        if self.work.session is not None and self.work.session.store.remark:
            self.banner.say(self.work.session.store.remark, Mood.TOLD)

    # --- the move

    @Slot()
    def _show_picked(self) -> None:
        move = self.work.move
        self.setWindowTitle(PROGRAM if move is None else f"{move.name} – {PROGRAM}")
        self.menus.update()

    # --- how it looks

    def use_theme(self, theme: Theme) -> None:
        """Light, dark, or as the system is, from now on."""
        found = QApplication.instance()
        if isinstance(found, QApplication):
            appearance.force(found, appearance.SCHEMES[theme])
        self.menus.check_theme(theme)
        self.work.keep("theme", theme.value)

    @Slot()
    def show_help(self) -> None:
        """What the page on screen is for."""
        page = self._current()
        if page is not None:
            self.banner.say(page.help, Mood.TOLD)

    def _restore(self) -> None:
        """As it was when it was closed."""
        work = self.work
        if work.remembered is not None:
            work.remembered.restore(self)
        if work.kept("theme") in {one.value for one in Theme}:
            self.use_theme(Theme(work.kept("theme")))
        if work.kept("page") in {kind.title for kind in self.kinds}:
            self.show_page(work.kept("page"))
        work.pick_when_known(work.kept("move"))

    def _keep(self) -> None:
        page, move = self._current(), self.work.move
        self.work.keep("page", "" if page is None else page.title)
        self.work.keep("move", "" if move is None else move.name)
        if self.work.remembered is not None:
            self.work.remembered.keep_window(self)

    # --- the report

    @Slot()
    def save_report(self) -> None:
        """Ask where, then write the report of the picked move."""
        move = self.work.move
        if move is not None:
            ask_path(self, "Save the report", f"{move.name}.pdf", "pdf", partial(self.write_report, move.name))

    def write_report(self, move: str, path: Path) -> None:
        """Write the report of a move."""
        task = self.work.run(f"Report of {move}", partial(actions.report, move, path))
        if task is not None:
            task.succeeded.connect(self.banner.say_saved)

    # --- trouble and questions

    @Slot(object)
    def show_trouble(self, error: Exception) -> None:
        """A user's error goes to the banner, a bug to the crash dialog."""
        if isinstance(error, Cancelled):
            self.banner.say("Cancelled.", Mood.TOLD)
        elif isinstance(error, PghaulError):
            self.banner.complain(error)
        else:
            dialog = CrashDialog(error, self)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    @Slot(object)
    def _ask(self, question: Question) -> None:
        """What an execution asks stands in its page, anything else in a dialog."""
        page = self._page(MovePage) if isinstance(question, StepQuestion | StopQuestion) else None
        if isinstance(page, MovePage):
            page.ask(question)
            self.under_way.wait_for(question)
            QApplication.alert(self)
        elif not question.answered:
            open_dialog(question, self.work.asker, self)

    # --- the end

    @Slot()
    def cancel(self) -> None:
        """Cancel the running job."""
        if self.work.busy:
            self.work.cancel()
            self.job_bar.cancelling()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._leaving or not self.work.busy:
            self._keep()
            super().closeEvent(event)
            return
        event.ignore()
        what = self.under_way.what_quitting_does
        box = question_box(self, "A job is running", "Cancel the running job and quit?", what)
        leave = box.addButton("Cancel the job and &quit", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("&Keep working", QMessageBox.ButtonRole.RejectRole))
        leave.clicked.connect(self._leave)
        box.open()

    @Slot()
    def _leave(self) -> None:
        """Close when the job has ended, or when that takes too long."""
        self._leaving = True
        if not self.work.busy:
            self.close()
            return
        self.work.ended.connect(self.close)
        QTimer.singleShot(CLOSE_LIMIT_MS, self, self.close)
        self.cancel()

    # --- construction

    def _make_centre(self) -> QWidget:
        centre = QWidget(self)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.strip)
        right.addWidget(self.stack, 1)
        row = QHBoxLayout(centre)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(self._make_left())
        row.addLayout(right, 1)
        return centre

    def _make_left(self) -> QVBoxLayout:
        """The rail over the next thing."""
        self.next.setMaximumWidth(self.rail.width() - 16)
        self.next.setDefault(False)
        self.next.clicked.connect(self.go_on)
        left = QVBoxLayout()
        left.setContentsMargins(0, 6, 0, 8)
        left.addWidget(self.rail, 1)
        label = Label("Next", self)
        label.setContentsMargins(10, 0, 0, 0)
        left.addWidget(label)
        held = QHBoxLayout()
        held.setContentsMargins(8, 0, 8, 0)
        held.addWidget(self.next)
        left.addLayout(held)
        return left

    def _make_pane(self) -> None:
        self.dock = QDockWidget("Commands", self)
        self.dock.setObjectName("commands")
        self.dock.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetClosable | QDockWidget.DockWidgetFeature.DockWidgetMovable
        )
        self.dock.setAllowedAreas(Qt.DockWidgetArea.BottomDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
        self.dock.setWidget(self.pane)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.dock)
        self.resizeDocks([self.dock], [170], Qt.Orientation.Vertical)
        self.dock.hide()
        self.statusBar().addWidget(self.job_bar, 1)
        self.statusBar().setSizeGripEnabled(False)

    def _connect(self) -> None:
        work = self.work
        work.picked.connect(self._show_picked)
        work.opened.connect(self.menus.update)
        work.opened.connect(self._load_commands)
        work.opened.connect(self._pass_on_remark)
        work.started.connect(self.banner.hide)
        work.started.connect(self.job_bar.begin)
        work.started.connect(self.pane.follow)
        work.started.connect(self.menus.update)
        work.ended.connect(self.menus.update)
        work.troubled.connect(self.show_trouble)
        work.asker.asked.connect(self._ask)
        self.job_bar.cancel_wanted.connect(self.cancel)
        self.rail.turned.connect(self._turn_to)
        self.rail.turned.connect(self._show_next)
        self.way.changed.connect(self._show_next)
        self.moves_made.told.connect(partial(self.banner.say, mood=Mood.TOLD))
        self.moves_made.wanted.connect(self.go)
        work.ended.connect(self._show_next)
        work.ended.connect(partial(QApplication.alert, self))  # who works in another window is told that it has ended
        self.stack.currentChanged.connect(self.banner.raise_)
        self.under_way.changed.connect(self.way.read)
        self.under_way.waits.connect(self.job_bar.wait_for)
        self.under_way.page_wanted.connect(self._open_page)

    @Slot()
    def _load_commands(self) -> None:
        task = self.work.read(partial(actions.commands, None))
        if task is not None:
            task.succeeded.connect(self.pane.load)
