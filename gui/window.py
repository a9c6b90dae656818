"""The main window: the rail, the pages, the move at the top, the commands and the running job at the bottom."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDockWidget,
    QHBoxLayout,
    QListWidget,
    QMainWindow,
    QMenu,
    QMessageBox,
    QStackedWidget,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.errors import Cancelled, PghaulError
from core.migration.model.move import Move
from core.settings import PROGRAM, program_version
from gui import actions
from gui.actions import ServerRow
from gui.asker import Question
from gui.dialogs.crash import CrashDialog
from gui.dialogs.files import ask_path
from gui.dialogs.move import MoveDialog
from gui.dialogs.questions import dialog_for
from gui.pages.benchmarks import BenchmarksPage
from gui.pages.comparison import ComparisonPage
from gui.pages.facts import FactsPage
from gui.pages.history import HistoryPage
from gui.pages.migration import MigrationPage
from gui.pages.page import Page
from gui.pages.servers import ServersPage
from gui.widgets.banner import Banner, Mood
from gui.widgets.commands_pane import CommandsPane
from gui.widgets.elided import ElidedLabel
from gui.widgets.job_bar import JobBar
from gui.widgets.label import Label
from gui.widgets.message_box import MessageBox
from gui.widgets.padding import PaddedDelegate
from gui.work import Work

PAGES: tuple[type[Page], ...] = (
    ServersPage,
    FactsPage,
    BenchmarksPage,
    ComparisonPage,
    MigrationPage,
    HistoryPage,
)
CLOSE_LIMIT_MS = 20_000


class MainWindow(QMainWindow):
    """The one window. Pages are made when they are first shown.

    Attributes:
        work: what the whole window shares.
    """

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work
        self._dialogs: dict[Question, QDialog] = {}
        self._pages: dict[str, Page] = {}
        self._leaving = False
        self.setWindowTitle(PROGRAM)
        self.resize(1280, 800)
        self.rail = self._make_rail()
        self.banner = Banner(self)
        self.stack = QStackedWidget(self)
        self.job_bar = JobBar(self)
        self.pane = CommandsPane(self)
        self.moves = QComboBox(self)
        self.setCentralWidget(self._make_centre())
        self._make_pane()
        self._make_actions()
        self._make_menus()
        self._make_bar()
        self._connect()
        self.rail.setCurrentRow(0)
        self.update_actions()

    # --- pages

    def show_page(self, title: str) -> Page:
        """Bring the page of that title to the front."""
        number = next(number for number, page in enumerate(PAGES) if page.title == title)
        self.rail.setCurrentRow(number)
        return self._pages[title]

    @Slot(int)
    def _turn_to(self, number: int) -> None:
        kind = PAGES[number]
        page = self._pages.get(kind.title)
        if page is None:
            page = self._pages[kind.title] = kind(self.work, self)
            page.wanted.connect(self.go)
            page.told.connect(self.banner.say)
            self.stack.addWidget(page)
        self.stack.setCurrentWidget(page)

    @Slot(str)
    def go(self, wanted: str) -> None:
        """Do what an empty state offers."""
        if wanted == "New move":
            self.new_move()
            return
        page = self.show_page("Servers" if wanted == "New server" else wanted)
        if wanted == "New server" and isinstance(page, ServersPage):
            page.add_server()

    # --- the move

    @Slot()
    def new_move(self) -> None:
        """Ask for a new move."""
        self._open_move(None)

    @Slot()
    def edit_move(self) -> None:
        """Change the picked move."""
        self._open_move(self.work.move)

    @Slot()
    def remove_move(self) -> None:
        """Remove the picked move with everything measured for it, once the user agrees."""
        move = self.work.move
        if move is None:
            return
        box = self._question(
            "Remove a move",
            f"Remove the move {move.name} with its runs, checks, estimates and plans from the history?",
            "Nothing changes on the servers. This cannot be undone.",
        )
        remove = box.addButton("&Remove", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(partial(self._remove_move, move.name))
        box.open()

    def _remove_move(self, name: str) -> None:
        task = self.work.read(partial(actions.remove_move, name))
        if task is not None:
            task.succeeded.connect(self.work.changed)

    def _open_move(self, move: Move | None) -> None:
        task = self.work.read(actions.servers)
        if task is not None:
            task.succeeded.connect(partial(self._show_move_dialog, move))

    def _show_move_dialog(self, move: Move | None, servers: tuple[ServerRow, ...]) -> None:
        if not servers:
            self.banner.say("A move needs its two servers: describe them first.", Mood.TOLD)
            self.show_page("Servers")
            return
        dialog = MoveDialog(servers, move, self)
        dialog.submitted.connect(partial(self._save_move, dialog))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save_move(self, dialog: MoveDialog, move: Move, name: str) -> None:
        task = self.work.ask(partial(actions.save_move, move, name or None))
        if task is not None:
            self.work.pick_when_known(move.name)
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self.work.changed)
            task.failed.connect(dialog.refuse)

    @Slot()
    def _show_moves(self) -> None:
        self.moves.clear()
        self.moves.addItems([move.name for move in self.work.moves])
        self.moves.setPlaceholderText("no move yet")
        self._show_picked()

    @Slot()
    def _show_picked(self) -> None:
        move = self.work.move
        self.moves.setCurrentIndex(-1 if move is None else self.moves.findText(move.name))
        self.route.setText("" if move is None else f"{move.old}:{move.cluster}  →  {move.new}:{move.target}")
        self.setWindowTitle(PROGRAM if move is None else f"{move.name} – {PROGRAM}")
        self.update_actions()

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
            task.succeeded.connect(self._report_written)

    @Slot(object)
    def _report_written(self, path: Path) -> None:
        self.banner.say(f"Saved the report as {path}")

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
        if question.answered:
            return
        dialog = self._dialogs[question] = dialog_for(question, self)
        dialog.finished.connect(partial(self._forget, question))
        dialog.open()

    @Slot(object)
    def _withdraw(self, question: Question) -> None:
        dialog = self._dialogs.get(question)
        if dialog is not None:
            dialog.reject()

    def _forget(self, question: Question, _result: int) -> None:
        self._dialogs.pop(question).deleteLater()

    def _question(self, title: str, text: str, more: str) -> QMessageBox:
        box = MessageBox(self)
        box.setWindowTitle(title)
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(text)
        box.setInformativeText(more)
        box.finished.connect(box.deleteLater)
        return box

    # --- the end

    @Slot()
    def cancel(self) -> None:
        """Cancel the running job."""
        if self.work.busy:
            self.work.cancel()
            self.job_bar.cancelling()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._leaving or not self.work.busy:
            super().closeEvent(event)
            return
        event.ignore()
        box = self._question(
            "A job is running", "Cancel the running job and quit?", "It cleans up on the servers first."
        )
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

    def _make_rail(self) -> QListWidget:
        rail = QListWidget(self)
        rail.setAccessibleName("Pages")
        rail.setObjectName("rail")
        rail.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rail.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        rail.setItemDelegate(PaddedDelegate(10, 7, rail))
        rail.setFrameShape(QListWidget.Shape.NoFrame)
        rail.addItems([page.title for page in PAGES])
        metrics = rail.fontMetrics()
        rail.setFixedWidth(max(metrics.horizontalAdvance(page.title) for page in PAGES) + metrics.height() * 4)
        rail.currentRowChanged.connect(self._turn_to)
        return rail

    def _make_centre(self) -> QWidget:
        centre = QWidget(self)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.banner)
        right.addWidget(self.stack, 1)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addLayout(right, 1)
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row, 1)
        return centre

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
        self.statusBar().addWidget(self.job_bar, 1)
        self.statusBar().setSizeGripEnabled(False)

    def _make_actions(self) -> None:
        self.new_move_action = self._action("&New move…", self.new_move, "Ctrl+N")
        self.new_move_action.setIconText("New move…")
        self.pick_move_action = self._action("&Pick a move", self.moves.setFocus, "Ctrl+M")
        self.edit_move_action = self._action("&Edit move…", self.edit_move)
        self.remove_move_action = self._action("&Remove move…", self.remove_move)
        self.report_action = self._action("Save &report as PDF…", self.save_report, "Ctrl+S")
        self.report_action.setIconText("Save report as PDF…")
        self.cancel_action = self._action("&Cancel the running job", self.cancel, "Ctrl+.")
        self.quit_action = self._action("&Quit", self.close, QKeySequence(QKeySequence.StandardKey.Quit))

    def _make_menus(self) -> None:
        self._menu(
            "&Move",
            self.new_move_action,
            self.pick_move_action,
            self.edit_move_action,
            self.remove_move_action,
            None,
            self.report_action,
            None,
            self.quit_action,
        )
        pages = [
            self._action(f"&{number} {page.title}", partial(self.show_page, page.title), f"Ctrl+{number}")
            for number, page in enumerate(PAGES, 1)
        ]
        show_pane = self.dock.toggleViewAction()
        show_pane.setShortcut("Ctrl+L")
        show_pane.setText("&Commands")
        self._menu("&View", *pages, None, show_pane)
        self._menu("&Job", self.cancel_action)
        self._menu("&Help", self._action("&About pghaul", self.about))

    def _make_bar(self) -> None:
        bar = QToolBar("Move", self, movable=False)
        bar.setObjectName("move")
        label = Label(" Move: ", bar)
        self.moves.setAccessibleName("Move")
        # Moves come and go after the window is on screen: the default fits the box to what it held before.
        self.moves.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.moves.setMinimumWidth(self.fontMetrics().averageCharWidth() * 28)
        self.moves.setMaximumWidth(self.fontMetrics().averageCharWidth() * 64)
        self.moves.textActivated.connect(self.work.pick)
        self.route = ElidedLabel(bar)
        self.route.setAccessibleName("Route of the move")
        self.route.setContentsMargins(12, 0, 12, 0)
        bar.addWidget(label)
        bar.addWidget(self.moves)
        bar.addAction(self.new_move_action)
        bar.addWidget(self.route)
        bar.addAction(self.report_action)
        for action in (self.new_move_action, self.report_action):
            button = bar.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setAutoRaise(False)
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, bar)

    def _connect(self) -> None:
        work = self.work
        work.moves_changed.connect(self._show_moves)
        work.picked.connect(self._show_picked)
        work.opened.connect(self.update_actions)
        work.opened.connect(self._load_commands)
        work.started.connect(self.banner.hide)
        work.started.connect(self.job_bar.begin)
        work.started.connect(self.pane.follow)
        work.started.connect(self.update_actions)
        work.ended.connect(self.update_actions)
        work.troubled.connect(self.show_trouble)
        work.asker.asked.connect(self._ask)
        work.asker.withdrawn.connect(self._withdraw)
        self.job_bar.cancel_wanted.connect(self.cancel)

    @Slot()
    def _load_commands(self) -> None:
        task = self.work.read(partial(actions.commands, None))
        if task is not None:
            task.succeeded.connect(self.pane.load)

    @Slot()
    def update_actions(self) -> None:
        """Enable what can be done now."""
        picked = self.work.move is not None
        self.new_move_action.setEnabled(self.work.session is not None)
        self.edit_move_action.setEnabled(picked and not self.work.busy)
        self.remove_move_action.setEnabled(picked and not self.work.busy)
        self.report_action.setEnabled(picked and self.work.ready)
        self.cancel_action.setEnabled(self.work.busy)

    @Slot()
    def about(self) -> None:
        """What this is."""
        box = MessageBox(self)
        box.setWindowTitle("About pghaul")
        box.setIconPixmap(self.windowIcon().pixmap(64, 64))
        box.setText(f"pghaul {program_version()}")
        box.setInformativeText(
            "Moves a PostgreSQL cluster to its new server as files, and says beforehand how long that takes."
        )
        box.finished.connect(box.deleteLater)
        box.open()

    def _action(self, text: str, then: Any, shortcut: QKeySequence | str = "") -> QAction:
        made = QAction(text, self)
        made.setShortcut(QKeySequence(shortcut))
        made.triggered.connect(lambda _checked=False: then())
        return made

    def _menu(self, title: str, *entries: QAction | None) -> QMenu:
        menu = self.menuBar().addMenu(title)
        for entry in entries:
            if entry is None:
                menu.addSeparator()
            else:
                menu.addAction(entry)
        return menu
