"""The page Servers: add, edit, remove and test servers, and read their facts."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QMessageBox, QSplitter, QWidget

from core import api
from core.api.model import ServerRow
from core.errors import Cancelled, PghaulError
from core.jobs import Job
from core.language import marked, tr
from gui.controllers.servers import Describing
from gui.design.parts import ButtonKind
from gui.destinations import TITLES, Offer, PageId
from gui.dialogs.storage import StorageDialog
from gui.models.sentences import error_text
from gui.models.servers import COLUMNS, SHOWN, ServerLine, explain_server, second_line, server_lines
from gui.models.words import listed
from gui.pages.page import Page
from gui.widgets.explained import ExplainedCard
from gui.widgets.message_box import MessageBox
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.widgets.two_lines import use_two_lines
from gui.work import Work

if TYPE_CHECKING:
    from core.api.servers import Tried
    from core.api.session import Session

Found = TypeVar("Found")


class ServersPage(Page[tuple[ServerRow, ...]]):
    """The servers, the selected one in full beside them, and the result of a test."""

    id, title = PageId.SERVERS, TITLES[PageId.SERVERS]
    help = marked(
        "This page lists the servers and how to connect to them. Settings that are left empty come from "
        "~/.ssh/config. Test connects to a server and tests the rights that pghaul needs. It writes nothing on "
        "the server. Benchmark storage measures and compares folders of any servers, without a move."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._storage: StorageDialog | None = None
        self._describing = Describing(work, self)
        self._describing.tested.connect(self._show_test)
        self.add = self.button(tr("&Add server…"), self.add_one)
        self.test = self.button(tr("&Test"), self.test_server, tr("Connect, and test the rights that pghaul needs"))
        self.facts = self.button(
            tr("Read &facts"),
            self.read_facts,
            tr("Read the facts of the server. Nothing is written there."),
            ButtonKind.PRIMARY,
        )
        self.storage = self.button(
            tr("&Benchmark storage…"),
            self.benchmark_storage,
            tr("Measure and compare the storage of any servers. No move is needed."),
        )
        self.edit = self.button(tr("&Edit…"), self.edit_server)
        self.remove = self.button(tr("Rem&ove…"), self.remove_server, kind=ButtonKind.DANGER)
        self.heading(self.add, self.test, self.storage, self.facts)
        self.table = Table[ServerLine]("servers", tr("Servers"), COLUMNS, self)
        use_two_lines(self.table, 0, second_line)
        for number in range(SHOWN, len(COLUMNS)):
            self.table.setColumnHidden(number, True)
        self.table.chosen.connect(self._show)
        self.table.activated_row.connect(self.edit_server)
        self.details = ExplainedCard(tr("The selected server"), self, self.edit, self.remove)
        beside = QSplitter(Qt.Orientation.Horizontal, self)
        beside.addWidget(self.table)
        beside.addWidget(self.details)
        beside.setSizes([600, 360])
        beside.setChildrenCollapsible(False)
        self.result = TextView(tr("Result of the test"), self)
        self.result.hide()
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(beside)
        split.addWidget(self.result)
        split.setSizes([400, 160])
        split.setChildrenCollapsible(False)
        self.column.addWidget(split)

    def question(self) -> "Callable[[Session], tuple[ServerRow, ...]] | None":
        return lambda session: api.servers.list_servers(session)  # noqa: PLW0108  loaded on the worker's thread

    def show_answer(self, answer: tuple[ServerRow, ...]) -> None:
        self.table.set_rows(server_lines(answer, self.work.move))
        self._show(self.table.current())
        if not answer:
            self.explain(
                tr("No servers yet"),
                tr(
                    "Add the old server, on which the cluster is running now, and the new server. An alias "
                    "from ~/.ssh/config is enough as the address."
                ),
                tr("Add server…"),
                Offer.NEW_SERVER,
            )
            return
        self.fill()
        if not self.table.selected():
            self.table.choose(0)

    @Slot(object)
    def _show(self, line: ServerLine | None) -> None:
        self.details.view.show_explained(None if line is None else explain_server(line, self.work.move))
        self.update_buttons()

    @Slot()
    def update_buttons(self) -> None:
        chosen = self.table.current() is not None
        for button in (self.edit, self.remove):
            button.setEnabled(chosen)
        for button in (self.test, self.facts):
            button.setEnabled(bool(self.table.selected()) and self.work.ready)
        self.storage.setEnabled(chosen)

    @Slot()
    def add_one(self) -> None:
        """Ask for a new server."""
        self._describing.ask(None)

    @Slot()
    def edit_server(self) -> None:
        """Change the selected server."""
        row = self.table.current()
        if row is not None:
            self._describing.ask(row.profile)

    @Slot()
    def remove_server(self) -> None:
        """Remove the selected server after a question."""
        row = self.table.current()
        if row is None:
            return
        box = MessageBox(self.window())
        box.setWindowTitle(tr("Remove a server"))
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(tr("Remove the server {name} and its facts from the history?").format(name=row.profile.name))
        box.setInformativeText(tr("Nothing is changed on the server itself."))
        remove = box.addButton(tr("&Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(partial(self._remove, row.profile.name))
        box.finished.connect(box.deleteLater)
        box.open()

    @Slot()
    def test_server(self) -> None:
        """Test the connection to each selected server, and the rights there."""
        names = self._selected_names()
        if not names:
            return
        task = self.run(tr("Test of {name}").format(name=listed(names)), partial(_test, names))
        if task is not None:
            task.then(self._show_test)

    @Slot()
    def read_facts(self) -> None:
        """Read the facts of each selected server."""
        names = self._selected_names()
        if not names:
            return
        task = self.run(tr("Reading the facts of {name}").format(name=listed(names)), partial(_read_facts, names))
        if task is not None:
            task.then(self._show_failures)

    @Slot()
    def benchmark_storage(self) -> None:
        """Open the dialog that measures volumes of any servers. A dialog that still measures is shown again."""
        if self._storage is not None and (self._storage.isVisible() or self._storage.measures):
            self._storage.show()
            self._storage.activateWindow()
            return
        names = tuple(row.profile.name for row in self.table.rows.rows)
        task = self.work.read(_read_suites)
        if task is not None:
            # the selected servers come first
            task.then(partial(self._open_storage, tuple(dict.fromkeys((*self._selected_names(), *names)))))

    def _open_storage(self, servers: tuple[str, ...], suites: tuple[str, ...]) -> None:
        if self._storage is not None:
            self._storage.deleteLater()
        self._storage = StorageDialog(self.work, servers, suites, self.window())
        self._storage.saved.connect(self.saved)
        self._storage.show()

    def _selected_names(self) -> tuple[str, ...]:
        return tuple(row.profile.name for row in self.table.selected())

    def _remove(self, name: str) -> None:
        task = self.work.read(lambda session: api.servers.remove_profile(session, name))
        if task is not None:
            task.succeeded.connect(self.work.changed)

    @Slot(object)
    def _show_test(self, tried: "dict[str, Tried | PghaulError]") -> None:
        parts = [
            "\n".join((f"{name}:", *_sentences(found)) if len(tried) > 1 else _sentences(found))
            for name, found in tried.items()
        ]
        self.result.set_text("\n\n".join(parts))
        self.result.show()

    @Slot(object)
    def _show_failures(self, failed: dict[str, PghaulError]) -> None:
        """Show why the facts of some servers could not be read."""
        if failed:
            self.result.set_text("\n\n".join(f"{name}:\n{_explain(error)}" for name, error in failed.items()))
            self.result.show()


def _read_suites(_session: "Session") -> tuple[str, ...]:
    return tuple(suite.name for suite in api.benchmarks.list_suites() if not suite.problem)


def _sentences(found: "Tried | PghaulError") -> tuple[str, ...]:
    return (_explain(found),) if isinstance(found, PghaulError) else found.sentences


def _explain(error: PghaulError) -> str:
    return error_text(error)


def _test(names: Sequence[str], session: "Session", job: Job) -> "dict[str, Tried | PghaulError]":
    """Test one server after the other, and return what was found or why it failed, by the server."""
    return _for_each(names, lambda name: api.servers.test_server(session, name, job))


def _read_facts(names: Sequence[str], session: "Session", job: Job) -> dict[str, PghaulError]:
    """Read the facts of one server after the other, and return why it failed, by the server."""
    read = _for_each(names, lambda name: api.facts.read_facts(session, name, job))
    return {name: found for name, found in read.items() if isinstance(found, PghaulError)}


def _for_each(names: Sequence[str], work: Callable[[str], Found]) -> "dict[str, Found | PghaulError]":
    """Do the work for one server after the other; the failure of one of several servers does not end the work."""
    found: dict[str, Found | PghaulError] = {}
    for name in names:
        try:
            found[name] = work(name)
        except Cancelled:
            raise
        except PghaulError as error:
            if len(names) == 1:
                raise
            found[name] = error
    return found
