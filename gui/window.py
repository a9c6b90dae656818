"""The main window: pages and next step at the left, move and banner at the top, the running job at the bottom."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFileInfo, QStandardPaths, Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QMessageBox,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core import units
from core.errors import Cancelled, PausedError, PghaulError
from core.language import tr
from core.migration.model.standing import Condition, Milestone
from core.settings import PROGRAM
from core.tones import Tone
from core.user_settings.declaration import Settings
from gui import appearance
from gui.appearance import Sizes, Theme
from gui.asker import Question, SecretQuestion, StepQuestion, StopQuestion
from gui.controllers.executions import ActiveExecutions
from gui.controllers.menus import Commands, Menus
from gui.controllers.moves import Beginning, MoveMilestones, Moves
from gui.controllers.notifying import Bell, Notifier
from gui.controllers.preferences import Preferences
from gui.design.measures import GAP, GRID, Type, set_type
from gui.design.parts import ButtonKind, set_kind
from gui.destinations import Offer, PageId, icon_of
from gui.dialogs.crash import CrashDialog, LastTimeDialog
from gui.dialogs.questions import open_dialog
from gui.dialogs.report import ReportDialog
from gui.guard import Guarded
from gui.models.prompts import waits_for
from gui.models.rail import RailRow
from gui.models.report import ReportRequest, kind_for
from gui.models.sentences import recorded
from gui.pages.kinds import PAGES, PageKind, load_all
from gui.pages.page import AnyPage, Page
from gui.pages.start import StartPage
from gui.widgets.banner import Banner, Mood
from gui.widgets.commands_pane import CommandsPane
from gui.widgets.job_bar import JobBar
from gui.widgets.label import ToneLabel
from gui.widgets.message_box import question_box
from gui.widgets.move_bar import MoveBar
from gui.widgets.rail import EDGE, Rail
from gui.widgets.status_banner import StatusBanner
from gui.widgets.table import Table
from gui.work import Work

CLOSE_LIMIT_MS = 20_000
COMMANDS = 1000
"""The number of commands that the pane shows at first: more than a person reads."""
LOAD_LATER_MS = 1500
"""In ms after the history was opened: then the first page is on screen."""


class MainWindow(Guarded, QMainWindow):
    """The one window. Pages are made when they are first shown.

    Attributes:
        work: what the whole window shares.
    """

    def __init__(self, work: Work, pages: Sequence[PageKind] = PAGES) -> None:
        super().__init__()
        self.work = work
        self.kinds = tuple(pages)
        self.milestones = MoveMilestones(work, self)
        self.moves_made = Moves(work, self)
        self.beginning = Beginning(work, self.moves_made, self)
        self._pages: dict[str, AnyPage] = {}
        self._leaving = False
        self.setWindowTitle(PROGRAM)
        self.resize(1280, 800)
        self.rail = Rail(
            [RailRow(kind.title, kind.milestone) for kind in self.kinds],
            [icon_of(kind.id) for kind in self.kinds],
            self,
        )
        self.next = QPushButton(self)
        self.next_label = ToneLabel(tr("Next step"), Tone.MUTED, self)
        self.status_banner = StatusBanner(self)
        self.active_executions = ActiveExecutions(work, self.status_banner, self)
        self.stack = QStackedWidget(self)
        self.banner = Banner(self.stack)
        self.job_bar = JobBar(self)
        self.pane = CommandsPane(self)
        self.bar = MoveBar(work, self)
        self.preferences = Preferences(work, self)
        self.bell = Bell(work, self)
        self.notifier = Notifier(work, self, self._current_id, self._bring_up)
        self.setCentralWidget(self._make_centre())
        self._make_pane()
        self.menus = self._make_menus()
        self.bar.add_actions(self.menus.new_move, self.menus.report)
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, self.bar)
        self._fresh = QTimer(self, singleShot=True)  # it runs while what is on screen may not have been seen
        self._later = QTimer(self, singleShot=True, interval=LOAD_LATER_MS)
        self._connect()
        self.rail.turn_to(0)
        self._show_next()
        self.menus.update()
        self._use_settings(Settings())
        self._restore()

    # --- pages

    def show_page(self, page_id: str) -> AnyPage:
        """Bring the page with that id to the front, and return it."""
        number = next(number for number, kind in enumerate(self.kinds) if kind.id == page_id)
        self.rail.turn_to(number)
        return self._pages[page_id]

    @Slot(int)
    def _turn_to(self, number: int) -> None:
        self._fresh.start(QApplication.doubleClickInterval())
        self.stack.setCurrentWidget(self._page(self.kinds[number]))

    def _page(self, kind: PageKind) -> AnyPage:
        """Return the page of that kind. It is created when it is first needed."""
        page = self._pages.get(kind.id)
        if page is None:
            page = self._pages[kind.id] = kind.load()(self.work, self)
            page.wanted.connect(self.go)
            page.saved.connect(self.banner.show_saved)
            page.settled.connect(self._show_next)
            self._join(page)
            if self.work.remembered is not None:
                self.work.remembered.restore_columns(page)
            self.stack.addWidget(page)
        return page

    def _join(self, page: AnyPage) -> None:
        """Connect the signals that only one page has."""
        if isinstance(page, StartPage):
            page.picked.connect(self._open_page)
            page.edited.connect(self.moves_made.edit)
            page.removed.connect(self.moves_made.remove)
        elif page.id == PageId.SURVEY:
            from gui.pages.survey import SurveyPage  # as below

            if isinstance(page, SurveyPage):
                page.picked.connect(self._open_page)
                page.move_wanted.connect(self.moves_made.new_of)
                page.report_wanted.connect(self.save_fleet_report)
        elif page.milestone in {Milestone.REHEARSE, Milestone.MOVE}:
            from gui.pages.execution import ExecutionPage, MovePage  # loaded by now, and not before: see `kinds`

            if isinstance(page, ExecutionPage):
                self.active_executions.poller.watch(page.watch)
            if isinstance(page, MovePage):
                self.work.asker.withdrawn.connect(page.prompt.withdraw)
                page.prompt.answered.connect(self.active_executions.go_on)
                page.prompt.back_wanted.connect(self.active_executions.back_when_ended)

    @Slot(str, str)
    def _open_page(self, move: str, page_id: str) -> None:
        """Pick that move, and show that page."""
        self.work.pick(move)
        self.show_page(page_id)

    def _current_id(self) -> str:
        page = self._current()
        return "" if page is None else page.id

    def _bring_up(self, move: str, page_id: str) -> None:
        """Show the page from which a job was started; `move`: whose job it is, empty for no move's."""
        if move:
            self.work.pick(move)
        if page_id:
            self.show_page(page_id)

    # --- what comes next

    @Slot()
    def _show_next(self) -> None:
        self.rail.rows.show_marks(self.milestones.marks)
        words, destination = self.milestones.next(self._current_milestone())
        for each in (self.next, self.next_label):
            each.setVisible(self._leads_on(destination))
        self.next.setText(words)
        self.next.setAccessibleName(tr("Next step: {words}").format(words=words))
        self.next.setToolTip(tr("The next step (Ctrl+Return): {words}").format(words=words))

    def _leads_on(self, destination: str) -> bool:
        """Return whether Next is shown: it leads to another page, or to the main action of this one if it is not done.

        It is not shown beside a page that has a button for the same.
        """
        page = self._current()
        if page is None or page.id != destination:
            return page is None or not page.offers(destination)
        done = {mark.milestone for mark in self.milestones.marks if mark.condition is Condition.DONE}
        return page.primary is not None and page.milestone not in done

    @Slot()
    def go_on(self) -> None:
        """Go to the page of the next step. On that page, do the step.

        The second click of a double click does nothing, because nobody has seen the page by then.
        """
        page = self._current()
        _, destination = self.milestones.next(self._current_milestone())
        if page is None or page.id != destination:
            self.go(destination)
            arrived = self._current()
            if arrived is not None and arrived.id == destination:
                arrived.arrive()
        elif page.primary is not None and page.primary.isEnabled() and not self._fresh.isActive():
            page.primary.click()

    def _current(self) -> AnyPage | None:
        page = self.stack.currentWidget()
        return page if isinstance(page, Page) else None

    def _current_milestone(self) -> Milestone | None:
        page = self._current()
        return None if page is None else page.milestone

    @Slot(str)
    def go(self, destination: str) -> None:
        """Go to a page, or begin what is offered; `destination`: a PageId or an Offer."""
        match destination:
            case Offer.NEW_MOVE:
                self.moves_made.new()
            case Offer.FIRST_STEPS:
                self.show_page(PageId.SERVERS)
                self.beginning.begin()
            case Offer.NEW_SERVER:
                self.show_page(PageId.SERVERS).add_one()
            case Offer.SURVEY:
                self.show_page(PageId.SURVEY).add_one()
            case Offer.READ_OUTPUTS:
                self.show_page(PageId.COMPARE).add_one()
            case _:
                self.show_page(destination)

    @Slot()
    def _pass_on_remark(self) -> None:
        """Show the remarks on the history, if there are any."""
        if self.work.session is not None and self.work.session.store.remarks:
            self.banner.show_message("; ".join(map(recorded, self.work.session.store.remarks)), Mood.TOLD)

    # --- the move

    @Slot()
    def _show_picked(self) -> None:
        move = self.work.move
        self.setWindowTitle(PROGRAM if move is None else f"{move.name} – {PROGRAM}")
        self.menus.update()

    @Slot(str)
    def _tell_removed(self, name: str) -> None:
        self.banner.show_undoable(tr("The move {name} was removed.").format(name=name))

    # --- how it looks

    def use_theme(self, theme: Theme) -> None:
        """Use this theme from now on."""
        self.preferences.change("window.theme", theme.value)

    def use_sizes(self, sizes: Sizes) -> None:
        """Show sizes in these units from now on; rates stay decimal."""
        self.preferences.change("display.units", sizes.value)

    def use_language(self, code: str) -> None:
        """Use this language from the next start on, because the widgets on screen have their texts already."""
        self.preferences.change("window.language", code)

    @Slot(object)
    def _use_settings(self, before: Settings) -> None:
        """Apply what the settings have changed."""
        settings = self.work.settings
        self.menus.check_settings(settings)
        found = QApplication.instance()
        if settings.window.theme != before.window.theme and isinstance(found, QApplication):
            appearance.force(found, appearance.SCHEMES[Theme(settings.window.theme)])
        if settings.display.units != before.display.units:
            units.choose(binary=settings.display.units == Sizes.BINARY.value)
            for table in self.findChildren(Table):
                table.refresh_texts()
            self.work.changed.emit()

    @Slot(object)
    def _tell_language(self, before: Settings) -> None:
        if self.work.settings.window.language != before.window.language:
            self.banner.show_message(
                tr("The window uses this language the next time that pghaul is opened."), Mood.TOLD
            )

    @Slot()
    def show_help(self) -> None:
        """Show the help of the visible page."""
        page = self._current()
        if page is not None:
            self.banner.show_message(tr(page.help), Mood.HELP)

    def _restore(self) -> None:
        """Restore the state of the window before."""
        work = self.work
        if work.remembered is not None:
            work.remembered.restore(self)
        if work.remembered_text("page") in {kind.id for kind in self.kinds}:
            self.show_page(work.remembered_text("page"))
        work.pick_when_known(work.remembered_text("move"))

    def _keep(self) -> None:
        page, move = self._current(), self.work.move
        self.work.remember("page", "" if page is None else page.id)
        self.work.remember("move", "" if move is None else move.name)
        if self.work.remembered is not None:
            self.work.remembered.save_window(self)

    # --- the report

    @Slot()
    def save_report(self) -> None:
        """Ask for the kind and the file, then write the report on the selected move."""
        move = self.work.move
        if move is not None:
            kind, report = kind_for(self.milestones.marks), self.work.settings.report
            self._open_report(ReportDialog(move.name, kind, self._reports_folder(), self, settings=report))

    @Slot()
    def save_fleet_report(self) -> None:
        """Ask for the file, then write the report on all moves."""
        report = self.work.settings.report
        self._open_report(ReportDialog(None, "fleet", self._reports_folder(), self, settings=report))

    def _open_report(self, dialog: ReportDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.submitted.connect(self.write_report)
        dialog.open()

    def _reports_folder(self) -> Path:
        """Return the folder of the last report, else the documents folder, else the home directory."""
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        kept = [Path(one) for one in (self.work.remembered_text("reports"), documents) if one]
        return next((folder for folder in kept if QFileInfo(str(folder)).isDir()), Path.home())

    @Slot(object, object)
    def write_report(self, request: ReportRequest, path: Path) -> None:
        """Write a report."""
        self.work.remember("reports", str(path.parent))
        task = self.work.run(
            tr("Report on all moves") if request.move is None else tr("Report of {move}").format(move=request.move),
            partial(request.write, path, units.current().binary),
        )
        if task is not None:
            task.then(self.banner.show_saved)

    # --- trouble and questions

    @Slot(object)
    def _show_not_kept(self, question: SecretQuestion) -> None:
        """Show that the keyring did not store what it was to keep."""
        self.banner.show_message(
            tr(
                "{server}: The keyring did not store this: {prompt}. pghaul keeps it until it is closed, and asks "
                "for it again after that. Unlock the keyring of the desktop before the next time."
            ).format(server=question.server, prompt=recorded(question.prompt)),
            Mood.WRONG,
        )

    @Slot(object)
    def show_trouble(self, error: Exception) -> None:
        """Show an error in the banner, and a bug in the crash dialog."""
        if isinstance(error, Cancelled):
            self.banner.show_message(tr("The job was cancelled."), Mood.TOLD)
        elif isinstance(error, PausedError):
            self.banner.show_error(error, Mood.WRONG if error.stands else Mood.TOLD)
        elif isinstance(error, PghaulError):
            self.banner.show_error(error)
        else:
            dialog = CrashDialog(error, self)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    @Slot(str)
    def show_last_time(self, log: str) -> None:
        """Show that the window crashed or was killed the last time."""
        dialog = LastTimeDialog(log, self)
        dialog.move_wanted.connect(self.active_executions.show_first)
        self.active_executions.unfinished.connect(dialog.offer_move)
        dialog.offer_move(self.active_executions.any_unfinished)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    @Slot(object)
    def _ask(self, question: Question) -> None:
        """Show a question of an execution in its page, any other in a dialog."""
        self.bell.wait_for(question)
        if isinstance(question, StepQuestion | StopQuestion):
            from gui.pages.execution import MovePage  # an execution runs: now its page is needed

            page = self._page(next(kind for kind in self.kinds if kind.milestone is Milestone.MOVE))
            if isinstance(page, MovePage):
                page.ask(question)
            self.active_executions.wait_for(question)
            self.notifier.wait_for(waits_for(question))
        elif not question.answered:
            self.notifier.wait_for(tr("a question about {server}").format(server=question.server))
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
        what = self.active_executions.describe_quitting
        box = question_box(self, tr("A job is running"), tr("Cancel the running job and quit?"), what)
        leave = box.addButton(tr("Cancel the job and &quit"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(tr("&Keep working"), QMessageBox.ButtonRole.RejectRole))
        leave.clicked.connect(self._leave)
        box.open()

    @Slot()
    def _leave(self) -> None:
        """Cancel the job, and close the window when it has ended, or after a time limit."""
        self._leaving = True
        if not self.work.busy:
            self.close()
            return
        self.work.ended.connect(self.close)
        limit = QTimer(self, singleShot=True, interval=CLOSE_LIMIT_MS)  # ends with the window, as singleShot would not
        limit.timeout.connect(self.close)
        limit.start()
        self.cancel()

    # --- construction

    def _make_centre(self) -> QWidget:
        centre = QWidget(self)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.status_banner)
        right.addWidget(self.stack, 1)
        row = QHBoxLayout(centre)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._make_left())
        row.addLayout(right, 1)
        return centre

    def _make_left(self) -> QWidget:
        """Return the list of pages above the next step, on one surface."""
        left = QFrame(self)
        left.setFrameShape(QFrame.Shape.NoFrame)
        left.setBackgroundRole(QPalette.ColorRole.Base)
        left.setAutoFillBackground(True)
        left.setFixedWidth(self.rail.width())
        set_kind(self.next, ButtonKind.PRIMARY)
        self.next.setDefault(False)
        self.next.clicked.connect(self.go_on)
        set_type(self.next_label, Type.SMALL)
        foot = QVBoxLayout()
        foot.setContentsMargins(EDGE, GAP, EDGE, EDGE)
        foot.setSpacing(GRID)
        foot.addWidget(self.next_label)
        foot.addWidget(self.next)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, GAP, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.rail, 1)
        column.addLayout(foot)
        return left

    def _make_pane(self) -> None:
        self.dock = QDockWidget(tr("Commands"), self)
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

    def _make_menus(self) -> Menus:
        commands = Commands(
            new_move=self.moves_made.new,
            edit_move=self.moves_made.edit_picked,
            remove_move=self.moves_made.remove_picked,
            restore_move=self.moves_made.restore,
            select_move=self.bar.moves.setFocus,
            save_report=self.save_report,
            read_outputs=partial(self.go, Offer.READ_OUTPUTS),
            cancel=self.cancel,
            go_on=self.go_on,
            show_page=self.show_page,
            show_help=self.show_help,
            use_theme=self.use_theme,
            use_sizes=self.use_sizes,
            use_language=self.use_language,
            notify=partial(self.preferences.change, "window.notify"),
            sound=partial(self.preferences.change, "window.sound"),
            edit_settings=self.preferences.edit,
            on_screen=lambda: [self.status_banner, *filter(None, [self._current()])],
        )
        pages = [(kind.id, kind.title) for kind in self.kinds]
        pane = self.dock.toggleViewAction()
        return Menus(self, self.work, commands, pages, pane)

    def _connect(self) -> None:
        work = self.work
        work.picked.connect(self._show_picked)
        work.opened.connect(self.menus.update)
        work.opened.connect(self._load_commands)
        work.opened.connect(self._later.start)
        self._later.timeout.connect(partial(work.read, load_all))
        work.opened.connect(self._pass_on_remark)
        work.started.connect(self.banner.hide)
        work.started.connect(self.job_bar.begin)
        work.started.connect(self.pane.follow)
        work.started.connect(self.menus.update)
        work.ended.connect(self.menus.update)
        work.troubled.connect(self.show_trouble)
        work.settings_changed.connect(self._use_settings)
        work.settings_changed.connect(self._tell_language)
        self.preferences.troubled.connect(self.show_trouble)
        work.asker.asked.connect(self._ask)
        work.asker.not_kept.connect(self._show_not_kept)
        self.job_bar.cancel_wanted.connect(self.cancel)
        self.rail.turned.connect(self._turn_to)
        self.rail.turned.connect(self._show_next)
        self.milestones.changed.connect(self._show_next)
        self.moves_made.message.connect(partial(self.banner.show_message, mood=Mood.TOLD))
        self.moves_made.wanted.connect(self.go)
        self.moves_made.removed.connect(self._tell_removed)
        self.moves_made.restorable.connect(self.menus.restore_move.setEnabled)
        self.menus.restore_move.triggered.connect(self.banner.hide)  # its Restore would restore an earlier move
        self.banner.undo.clicked.connect(self.moves_made.restore)
        self.banner.undo.clicked.connect(self.banner.hide)
        work.ended.connect(self._show_next)
        self.stack.currentChanged.connect(self.banner.turn)
        self.stack.currentChanged.connect(self.active_executions.poller.look)
        self.active_executions.changed.connect(self.milestones.read)
        self.active_executions.waits.connect(self.job_bar.wait_for)
        self.active_executions.told.connect(self.job_bar.tell)
        self.active_executions.page_wanted.connect(self._open_page)

    @Slot()
    def _load_commands(self) -> None:
        task = self.work.read(lambda session: session.store.commands(None, limit=COMMANDS))
        if task is not None:
            task.then(self.pane.load)
