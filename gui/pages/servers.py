"""Servers: who there is to reach and how; add, edit, remove, test, and read facts."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QMessageBox, QSplitter, QWidget

from core.errors import InputError
from core.servers.profiles import Profile
from gui import actions
from gui.dialogs.server import ServerDialog
from gui.models.servers import COLUMNS
from gui.pages.page import Page
from gui.states import ServerRow
from gui.widgets.message_box import MessageBox
from gui.widgets.table import Table
from gui.widgets.text import TextView
from gui.work import Work


class ServersPage(Page):
    """The table of profiles and what a test of one said."""

    title = "Servers"
    help = (
        "Who there is to reach, and how. What is left empty comes from ~/.ssh/config. Test connects and tries the "
        "rights that the work needs; nothing is written on a server."
    )

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(work, parent)
        self.add = self.button("&Add server…", self.add_server)
        self.edit = self.button("&Edit…", self.edit_server)
        self.remove = self.button("Rem&ove…", self.remove_server)
        self.test = self.button("&Test", self.test_server, "Connect, and try the rights that the work needs")
        self.facts = self.button("Read &facts", self.read_facts, "Learn what the server is; nothing is written there")
        self.heading(self.add, self.edit, self.remove, self.test, self.facts)
        self.table = Table[ServerRow]("Servers", COLUMNS, self)
        self.table.chosen.connect(self.update_buttons)
        self.table.activated_row.connect(self.edit_server)
        self.result = TextView("What the test said", self)
        self.result.hide()
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.table)
        split.addWidget(self.result)
        split.setSizes([400, 160])
        split.setChildrenCollapsible(False)
        self.column.addWidget(split)

    def question(self) -> Any:
        return actions.servers

    def show_answer(self, answer: tuple[ServerRow, ...] | None) -> None:
        rows = answer or ()
        self.table.set_rows(rows)
        if not rows:
            self.explain(
                "No servers yet",
                "Describe the old server, where the cluster runs now, and the new one it goes to. "
                "An alias of your ~/.ssh/config is enough.",
                "Add server…",
                "New server",
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
    def add_server(self) -> None:
        """Ask for a new server."""
        self._ask(ServerDialog(None, self.window()))

    @Slot()
    def edit_server(self) -> None:
        """Change the chosen server."""
        row = self.table.current()
        if row is not None:
            self._ask(ServerDialog(row.profile, self.window()))

    @Slot()
    def remove_server(self) -> None:
        """Remove the chosen server, once the user agrees."""
        row = self.table.current()
        if row is None:
            return
        box = MessageBox(self.window())
        box.setWindowTitle("Remove a server")
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(f"Remove the server {row.profile.name} and its facts from the history?")
        box.setInformativeText("Nothing changes on the server itself.")
        remove = box.addButton("&Remove", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(partial(self._remove, row.profile.name))
        box.finished.connect(box.deleteLater)
        box.open()

    @Slot()
    def test_server(self) -> None:
        """Connect to the chosen server and try the rights."""
        row = self.table.current()
        if row is None:
            return
        task = self.run(f"Testing {row.profile.name}", partial(actions.test_server, row.profile.name))
        if task is not None:
            task.succeeded.connect(self._show_test)

    @Slot()
    def read_facts(self) -> None:
        """Read the facts of the chosen server."""
        row = self.table.current()
        if row is not None:
            name = row.profile.name
            self.run(f"Reading the facts of {name}", partial(actions.read_facts, [(name, ())]))

    def _ask(self, dialog: ServerDialog) -> None:
        dialog.submitted.connect(partial(self._save, dialog))
        dialog.test_wanted.connect(partial(self._try, dialog))
        hosts = self.work.read(actions.ssh_hosts)
        if hosts is not None:
            hosts.succeeded.connect(dialog.offer)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save(self, dialog: ServerDialog, profile: Profile, name: str) -> None:
        """Keep the profile; the dialog stays open until that has worked, so that nothing typed is lost."""
        task = self.work.ask(partial(actions.save_profile, profile, name or None))
        if task is not None:
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self.work.changed)
            task.failed.connect(dialog.refuse)

    def _try(self, dialog: ServerDialog, profile: Profile) -> None:
        """Connect by what stands in the dialog; its failure is said there, with what to do."""
        task = self.work.attempt(f"Testing {profile.name}", partial(actions.try_profile, profile))
        if task is None:
            dialog.refuse(InputError("another job runs", "wait for its end, or cancel it"))
            return
        task.succeeded.connect(dialog.show_test)
        task.failed.connect(dialog.refuse)

    def _remove(self, name: str) -> None:
        task = self.work.read(partial(actions.remove_profile, name))
        if task is not None:
            task.succeeded.connect(self.work.changed)

    @Slot(object)
    def _show_test(self, sentences: tuple[str, ...]) -> None:
        self.result.set_text("\n".join(sentences))
        self.result.show()
