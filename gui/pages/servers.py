"""The page Servers: add, edit, remove and test servers, and read their facts."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QMessageBox, QSplitter, QWidget

from core import api
from core.api.model import ServerRow
from core.language import marked, tr
from gui.controllers.servers import Describing
from gui.destinations import TITLES, Offer, PageId
from gui.models.servers import COLUMNS
from gui.pages.page import Page
from gui.widgets.message_box import MessageBox
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.work import Work

if TYPE_CHECKING:
    from core.api.servers import Tried
    from core.api.session import Session


class ServersPage(Page[tuple[ServerRow, ...]]):
    """The table of servers, and the result of a test."""

    id, title, of_picked = PageId.SERVERS, TITLES[PageId.SERVERS], False
    help = marked(
        "This page lists the servers and how to connect to them. Settings that are left empty come from "
        "~/.ssh/config. Test connects to a server and tests the rights that pghaul needs. It writes nothing on "
        "the server."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self._describing = Describing(work, self)
        self.add = self.button(tr("&Add server…"), self.add_one)
        self.edit = self.button(tr("&Edit…"), self.edit_server)
        self.remove = self.button(tr("Rem&ove…"), self.remove_server)
        self.test = self.button(tr("&Test"), self.test_server, tr("Connect, and test the rights that pghaul needs"))
        self.facts = self.button(
            tr("Read &facts"), self.read_facts, tr("Read the facts of the server. Nothing is written there.")
        )
        self.heading(self.add, self.edit, self.remove, self.test, self.facts)
        self.table = Table[ServerRow]("servers", tr("Servers"), COLUMNS, self)
        self.table.chosen.connect(self.update_buttons)
        self.table.activated_row.connect(self.edit_server)
        self.result = TextView(tr("Result of the test"), self)
        self.result.hide()
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.table)
        split.addWidget(self.result)
        split.setSizes([400, 160])
        split.setChildrenCollapsible(False)
        self.column.addWidget(split)

    def question(self) -> "Callable[[Session], tuple[ServerRow, ...]] | None":
        return lambda session: api.servers.list_servers(session)  # noqa: PLW0108  loaded on the worker's thread

    def show_answer(self, answer: tuple[ServerRow, ...]) -> None:
        self.table.set_rows(answer)
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
        if self.table.current() is None:
            self.table.choose(0)

    @Slot()
    def update_buttons(self) -> None:
        chosen = self.table.current() is not None
        for button in (self.edit, self.remove):
            button.setEnabled(chosen)
        for button in (self.test, self.facts):
            button.setEnabled(chosen and self.work.ready)

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
        """Test the connection to the selected server, and the rights there."""
        row = self.table.current()
        if row is None:
            return
        name = row.profile.name
        task = self.run(
            tr("Test of {name}").format(name=name), lambda session, job: api.servers.test_server(session, name, job)
        )
        if task is not None:
            task.then(self._show_test)

    @Slot()
    def read_facts(self) -> None:
        """Read the facts of the selected server."""
        row = self.table.current()
        if row is not None:
            name = row.profile.name
            self.run(
                tr("Reading the facts of {name}").format(name=name),
                lambda session, job: api.facts.read_facts(session, name, job),
            )

    def _remove(self, name: str) -> None:
        task = self.work.read(lambda session: api.servers.remove_profile(session, name))
        if task is not None:
            task.succeeded.connect(self.work.changed)

    @Slot(object)
    def _show_test(self, tried: "Tried") -> None:
        self.result.set_text("\n".join(tried.sentences))
        self.result.show()
