"""The page Survey: many servers, which moves between them can be made and in which windows, and what stops the others.

The tables show what the history has. While a survey runs, the list of servers follows its events.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QPushButton, QSplitter, QTabWidget, QVBoxLayout, QWidget

from core import api
from core.errors import Cancelled, InputError
from core.jobs import Event, Job, ServerState
from core.language import marked, tr
from core.migration.model.fleet import MoveState
from gui.controllers.servers import Describing
from gui.design.measures import GAP
from gui.design.parts import ButtonKind
from gui.destinations import TITLES, Offer, PageId, icon_of
from gui.dialogs.survey import SurveyDialog
from gui.models import survey as rows
from gui.models.survey import NO_MOVE, MoveRow, Reading, ServerLine, SurveyRequest
from gui.pages.page import Page, fill_table
from gui.widgets.chip import ChipRow
from gui.widgets.empty import Empty
from gui.widgets.explained import ExplainedCard
from gui.widgets.figures import FigureTiles
from gui.widgets.table import FilterBox, Table
from gui.widgets.two_lines import use_two_lines
from gui.widgets.verdict import VerdictLine
from gui.work import Work

if TYPE_CHECKING:
    from core.api.reports import FleetReport
    from core.api.session import Session
    from core.api.survey import Refused, ServerList, Survey

LAST_LIST = "survey-list"
"""What the path of the last list is remembered by."""
MEASURED = 300
"""The rows by which the widths of columns are set."""


class SurveyPage(Page["FleetReport | None"]):
    """The moves as they are ranked, and the servers of the last survey.

    Signals:
        picked(move, page): a move is opened, on that page.
        move_wanted(server, cluster): a move of that cluster is to be added.
        report_wanted(): the report on all moves is to be saved.
    """

    id, title, of_picked = PageId.SURVEY, TITLES[PageId.SURVEY], False
    help = marked(
        "A survey reads the facts of many servers, then checks and estimates the moves between them. Possible "
        "moves come first, small ones before large ones. The window of a move is long enough in nine of ten "
        "simulated nights, including time for a rollback. Nothing was probed, so the estimates rest on "
        "assumptions about disks and network. A survey writes nothing on the servers, and asks no questions. A "
        "server that could not be read comes first in the list of servers, with the reason and what to do. A "
        "survey that was cancelled can be continued."
    )
    picked = Signal(str, str)
    move_wanted = Signal(str, str)
    report_wanted = Signal()

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._report: FleetReport | None = None
        self._rows: tuple[MoveRow, ...] = ()
        self._lines: tuple[ServerLine, ...] = ()
        self._hints: dict[str, str] = {}
        self._running: SurveyRequest | None = None
        self._cancelled: SurveyRequest | None = None
        self._dialog: SurveyDialog | None = None
        self._describing = Describing(work, self)
        self._make_head()
        self._make_moves()
        self._make_servers()
        self._make_tabs()

    def _make_head(self) -> None:
        self.save = self.button(
            tr("Report on &all moves…"), self.report_wanted.emit, tr("Save a report for whoever decides")
        )
        self.again = self.button(tr("&New survey…"), self.add_one, tr("Choose other servers, or a list of servers"))
        self.start = self.button("", self.go_on, kind=ButtonKind.PRIMARY)
        self.head = self.heading(self.save, self.again, self.start)
        self.verdict = VerdictLine(self)
        self.windows = FigureTiles(self)
        self.column.addWidget(self.verdict)
        self.column.addWidget(self.windows)

    def _make_moves(self) -> None:
        self.moves = Table[MoveRow]("survey-moves", tr("Moves by rank"), rows.MOVE_COLUMNS, self, follow=rows.move_key)
        use_two_lines(self.moves, 0, rows.second_line, rows.tone_of)
        self.moves.horizontalHeader().setResizeContentsPrecision(MEASURED)  # the largest clusters come last
        for number in range(rows.SHOWN_OF_MOVE, len(rows.MOVE_COLUMNS)):
            self.moves.setColumnHidden(number, True)
        self.moves.chosen.connect(self._show_move)
        self.moves.activated_row.connect(self._open_move)
        self.chips = ChipRow(tr("Which moves are shown"), parent=self)
        self.chips.changed.connect(self._show_rows)
        self.open = self.button(tr("O&pen the move"), self.open_selected)
        self.add = self.button(tr("A&dd a move…"), self.open_selected)
        self.move_card = ExplainedCard(tr("The selected move"), self, self.open, self.add)

    def _make_servers(self) -> None:
        self.servers = Table[ServerLine](
            "survey-servers", tr("Servers of the survey"), rows.SERVER_COLUMNS, self, follow=_name
        )
        use_two_lines(self.servers, 0, rows.line_text)
        for number in range(rows.SHOWN_OF_SERVER, len(rows.SERVER_COLUMNS)):
            self.servers.setColumnHidden(number, True)
        self.servers.chosen.connect(self._show_server)
        self.servers.activated_row.connect(self.edit_server)
        self.edit = self.button(tr("&Edit…"), self.edit_server)
        self.read = self.button(
            tr("Read &facts"), self.read_facts, tr("Connect to this server alone. pghaul asks for what is missing.")
        )
        self.server_card = ExplainedCard(tr("The selected server"), self, self.edit, self.read)

    def _make_tabs(self) -> None:
        self.refused: Table[Refused] = Table(
            "survey-refused", tr("Entries that were refused"), rows.REFUSED_COLUMNS, self
        )
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("Survey"))
        self.no_moves = Empty(
            icon_of(PageId.MOVES),
            tr("No moves and no clusters yet"),
            tr("A survey finds the clusters of the servers, and ranks the moves between them."),
            parent=self,
        )
        self.ranked = self._beside(self.moves, self.move_card)
        self.move_tab = self.tabs.addTab(self._below(self.chips, self.ranked, self.no_moves), tr("M&oves"))
        servers = self._below(self._beside(self.servers, self.server_card))
        self.server_tab = self.tabs.addTab(servers, tr("&Servers"))
        self.refused_tab = self.tabs.addTab(self._below(self.refused), tr("Ref&used entries"))
        self.tabs.setTabVisible(self.refused_tab, False)
        self.head.insertWidget(2, FilterBox(self.moves, self, self.servers, self.refused))
        self.column.addWidget(self.tabs, 1)

    def _below(self, *widgets: QWidget) -> QWidget:
        """Return the content of a tab."""
        made = QWidget(self)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, GAP, 0, 0)
        column.setSpacing(GAP)
        for widget in widgets:
            column.addWidget(widget, int(widget is not self.chips))
        return made

    def _beside(self, table: QWidget, card: QWidget) -> QSplitter:
        made = QSplitter(Qt.Orientation.Horizontal, self)
        made.addWidget(table)
        made.addWidget(card)
        made.setSizes([600, 320])
        made.setChildrenCollapsible(False)
        return made

    @property
    def primary(self) -> QPushButton | None:
        return self.start

    # --- what the history has

    def question(self) -> "Callable[[Session], FleetReport | None] | None":
        return _read_all

    def show_answer(self, answer: "FleetReport | None") -> None:
        self._report = answer
        if answer is None and self._running is None:
            self.explain(
                tr("Survey many servers at once"),
                tr(
                    "A survey reads many servers and ranks the moves between them. It says which moves are possible, "
                    "which maintenance windows they need, and what blocks the others. A list describes the servers: a "
                    "CSV, an Ansible inventory, or ~/.ssh/config."
                ),
                tr("Choose a list…"),
                Offer.SURVEY,
            )
            return
        self.fill()
        self._rows = () if answer is None else rows.move_rows(answer)
        self.chips.show_counters(rows.counters(self._rows))
        for widget in (self.chips, self.ranked):
            widget.setVisible(bool(self._rows))
        self.no_moves.setVisible(not self._rows)
        self._show_rows()
        if answer is not None and self._running is None and self._cancelled is None:
            self._show_lines(rows.server_lines(answer, self._hints))
        self._say()

    @Slot()
    def _show_rows(self) -> None:
        """Show the moves whose chips are checked."""
        wanted = self.chips.wanted
        fill_table(self.moves, [row for row in self._rows if row.group in wanted])
        self._show_move(self.moves.current())

    def _show_lines(self, lines: tuple[ServerLine, ...]) -> None:
        self._lines = lines
        fill_table(self.servers, lines)
        self._show_server(self.servers.current())

    def _say(self) -> None:
        """Show the answer of the page, or how far the survey is."""
        unread = sum(line.reading is Reading.FAILED for line in self._lines)
        if self._running is not None or self._cancelled is not None:
            self.verdict.show_verdict(rows.running_verdict(self._lines, cancelled=self._running is None))
            self.windows.show_figures(())
        else:
            self.verdict.show_verdict(rows.verdict(self._rows, unread))
            self.windows.show_figures(rows.windows(self._rows))
        self.tabs.setTabText(
            self.server_tab,
            tr("&Servers ({number} not read)").format(number=unread) if unread else tr("&Servers"),
        )

    @Slot()
    def update_buttons(self) -> None:
        cancelled, ready = self._cancelled is not None, self.work.ready
        self.start.setText(tr("&Continue the survey") if cancelled else tr("&New survey…"))
        self.start.setEnabled(ready)
        self.again.setVisible(cancelled)
        self.again.setEnabled(ready)
        self.save.setEnabled(ready and self._report is not None)
        row = self.moves.current()
        for button, possible in (
            (self.open, row is not None and row.group != NO_MOVE),
            (self.add, row is not None and row.group == NO_MOVE),
        ):
            button.setVisible(possible)
        chosen = self.servers.current() is not None
        self.edit.setEnabled(chosen and self._running is None)
        self.read.setEnabled(chosen and ready)

    @Slot(object)
    def _show_move(self, row: MoveRow | None) -> None:
        self.move_card.view.show_explained(None if row is None else rows.explain_move(row))
        self.update_buttons()

    @Slot(object)
    def _show_server(self, line: ServerLine | None) -> None:
        self.server_card.view.show_explained(None if line is None else rows.explain_line(line))
        self.update_buttons()

    # --- moves and servers

    @Slot()
    def open_selected(self) -> None:
        """Open the selected move, or add one for the selected cluster."""
        row = self.moves.current()
        if row is not None:
            self._open_move(row)

    @Slot(object)
    def _open_move(self, row: MoveRow) -> None:
        if row.move is None:
            self.move_wanted.emit(row.server, row.cluster)
        else:
            checks = row.move.state is MoveState.BLOCKED or row.move.pending
            self.picked.emit(row.move.move.name, PageId.CHECK if checks else PageId.OVERVIEW)

    @Slot()
    def edit_server(self) -> None:
        """Open the selected server."""
        line = self.servers.current()
        if line is not None and self._running is None:
            name = line.name
            task = self.work.read(lambda session: session.store.profile(name))
            if task is not None:
                task.then(self._describing.ask)

    @Slot()
    def read_facts(self) -> None:
        """Read the facts of the selected server; what is missing is asked for."""
        line = self.servers.current()
        if line is not None:
            task = self.run(tr("Reading the facts of {name}").format(name=line.name), partial(_read_facts, line.name))
            if task is not None:
                task.succeeded.connect(partial(self._forget_failure, line.name))

    def _forget_failure(self, name: str, _facts: object) -> None:
        """Show that a server was read meanwhile, also in a survey that was cancelled."""
        now = [replace(line, reading=Reading.READ, failure="") if line.name == name else line for line in self._lines]
        self._show_lines(tuple(now))

    # --- the survey

    @Slot()
    def add_one(self) -> None:
        """Ask which servers are surveyed."""
        known = 0 if self._report is None else len(self._report.servers)
        at_once = self.work.settings.survey.jobs
        dialog = SurveyDialog(known, at_once, self.work.remembered_text(LAST_LIST), self.window())
        dialog.list_wanted.connect(self._read_list)
        dialog.submitted.connect(partial(self._begin_chosen, dialog))
        dialog.finished.connect(self._forget_dialog)
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        dialog.begin()

    @Slot()
    def _forget_dialog(self) -> None:
        """A list that is still being read is shown to nobody."""
        self._dialog = None

    @Slot(object)
    def _read_list(self, path: Path | None) -> None:
        task = self.work.ask(lambda _session: api.survey.load_list(path))
        if task is not None:
            task.then(partial(self._show_list, path))
            task.failed.connect(partial(self._show_unread, path))

    def _show_list(self, path: Path | None, found: "ServerList") -> None:
        if self._dialog is not None:
            self._dialog.show_list(path, found)

    def _show_unread(self, path: Path | None, error: Exception) -> None:
        if self._dialog is not None:
            self._dialog.show_unread(path, error)

    def _begin_chosen(self, dialog: SurveyDialog, request: SurveyRequest) -> None:
        if not self._begin(request):
            dialog.refuse(InputError(tr("Another job is running."), tr("Wait until it has ended, or cancel it.")))
            return
        dialog.accept()
        if request.found is not None and dialog.file is not None:
            self.work.remember(LAST_LIST, str(dialog.file))

    @Slot()
    def go_on(self) -> None:
        """Continue a survey that was cancelled, or ask for a new one."""
        if self._cancelled is None:
            self.add_one()
        else:
            self._begin(self._cancelled)

    def _begin(self, request: SurveyRequest) -> bool:
        """Start the survey, and return whether it could start."""
        task = self.run(tr("Survey"), request.run)
        if task is None:
            return False
        # what is read from now on is not read again by a survey that continues this one
        self._running, self._cancelled = replace(request, since=request.since or datetime.now(UTC)), None
        self._show_lines(())
        self._show_refused(())
        self.fill()
        self.tabs.setCurrentIndex(self.server_tab)
        task.reported.connect(self.take_events)
        task.then(self._end_well)
        task.failed.connect(self._end_early)
        self._say()
        return True

    @Slot(object)
    def take_events(self, events: tuple[Event, ...]) -> None:
        """Show what became of each server."""
        told = [event for event in events if isinstance(event, ServerState)]
        if told:
            self._show_lines(rows.follow(self._lines, told))
            self._hints |= {line.failure: line.hint for line in self._lines if line.failure}
            self._say()

    @Slot(object)
    def _end_well(self, survey: "Survey") -> None:
        self._running = None
        self._show_refused(survey.refused)
        self.tabs.setCurrentIndex(self.move_tab if survey.moves else self.server_tab)

    @Slot(object)
    def _end_early(self, error: Exception) -> None:
        """Offer to continue a survey that was cancelled. The window shows any other error."""
        if isinstance(error, Cancelled):
            self._cancelled = self._running
            self._show_lines(rows.come_to_rest(self._lines))
        self._running = None
        self._say()

    def _show_refused(self, refused: "tuple[Refused, ...]") -> None:
        self.refused.set_rows(refused)
        self.tabs.setTabVisible(self.refused_tab, bool(refused))
        self.tabs.setTabText(self.refused_tab, tr("Ref&used entries ({number})").format(number=len(refused)))


def _name(line: ServerLine) -> str:
    return line.name


def _read_all(session: "Session") -> "FleetReport | None":
    """Return all moves and servers as the history has them; None without any server."""
    if not session.store.profiles():
        return None
    with session.store.reading():  # much is read of little
        return api.reports.make_fleet_report(session, (), datetime.now(UTC))


def _read_facts(name: str, session: "Session", job: Job) -> object:
    return api.facts.read_facts(session, name, job)
