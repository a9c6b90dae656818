"""The dialog of a server: opening it, testing the connection, and saving the profile."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from core import api
from core.errors import InputError
from core.language import tr
from gui.work import Work

if TYPE_CHECKING:
    from core.api.servers import Tried
    from core.api.session import Session
    from core.jobs import Job
    from core.servers.profiles import Profile
    from gui.dialogs.server import ServerDialog


class Describing(QObject):
    """Opens the dialog of a server.

    Signals:
        saved(name of the server): its profile is in the history, and its facts if the operator wanted to connect.
        tested(dict of the name and Tried): the connection to the server and the rights there were tested.
    """

    saved = Signal(str)
    tested = Signal(object)

    def __init__(self, work: Work, owner: QWidget) -> None:
        super().__init__(owner)
        self._work = work
        self._owner = owner

    def ask(self, profile: "Profile | None", title: str = "") -> None:
        """Open the dialog for a new server or an existing one; `title`: of the dialog, instead of its own."""
        from gui.dialogs.server import ServerDialog  # of some use once it is opened, not at the start

        dialog = ServerDialog(profile, self._owner.window(), settings=self._work.settings.server)
        if title:
            dialog.setWindowTitle(title)
        dialog.submitted.connect(partial(self._save, dialog))
        dialog.test_wanted.connect(partial(self._try, dialog))
        hosts = self._work.read(lambda _session: api.servers.named_hosts())
        if hosts is not None:
            hosts.then(dialog.offer)
        name = "" if profile is None else profile.name
        use = self._work.read(lambda session: api.servers.find_use(session, name)) if name else None
        if use is not None:
            use.then(dialog.fix)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save(self, dialog: "ServerDialog", profile: "Profile", name: str) -> None:
        """Save the profile. The dialog stays open until this has succeeded, so that no input is lost."""
        task = self._work.ask(lambda session: api.servers.save_profile(session, profile, name or None))
        if task is not None:
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self._work.changed)
            task.then(partial(self._tell, dialog.connects, profile.name))
            task.failed.connect(dialog.refuse)

    def _tell(self, connects: bool, name: str, _kept: None) -> None:
        if not connects:
            self.saved.emit(name)
            return
        task = self._work.run(tr("Connecting to {server}").format(server=name), partial(_connect, name))
        if task is not None:
            task.then(partial(self._tell_connected, name))

    def _tell_connected(self, name: str, tried: "Tried") -> None:
        self.tested.emit({name: tried})
        self.saved.emit(name)

    def _try(self, dialog: "ServerDialog", profile: "Profile") -> None:
        """Test the settings of the dialog, which shows the result or the error."""
        task = self._work.attempt(
            tr("Test of {name}").format(name=profile.name),
            lambda session, job: api.servers.try_profile(session, profile, job).sentences,
        )
        if task is None:
            dialog.refuse(InputError(tr("Another job is running."), tr("Wait until it has ended, or cancel it.")))
            return
        task.then(dialog.show_test)
        task.failed.connect(dialog.refuse)


def _connect(name: str, session: "Session", job: "Job") -> "Tried":
    """Test the connection to a server, and read its facts. An unknown host key is asked for."""
    tried = api.servers.test_server(session, name, job)
    api.facts.read_facts(session, name, job)
    return tried
