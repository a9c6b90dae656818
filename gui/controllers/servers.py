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
    from core.servers.profiles import Profile
    from gui.dialogs.server import ServerDialog


class Describing(QObject):
    """Opens the dialog of a server. Signal: saved(name of the server), when its profile is in the history."""

    saved = Signal(str)

    def __init__(self, work: Work, owner: QWidget) -> None:
        super().__init__(owner)
        self._work = work
        self._owner = owner

    def ask(self, profile: "Profile | None", title: str = "") -> None:
        """Open the dialog for a new server or an existing one; `title`: of the dialog, instead of its own."""
        from gui.dialogs.server import ServerDialog  # of some use once it is opened, not at the start

        dialog = ServerDialog(profile, self._owner.window())
        if title:
            dialog.setWindowTitle(title)
        dialog.submitted.connect(partial(self._save, dialog))
        dialog.test_wanted.connect(partial(self._try, dialog))
        hosts = self._work.read(lambda _session: api.servers.named_hosts())
        if hosts is not None:
            hosts.then(dialog.offer)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save(self, dialog: "ServerDialog", profile: "Profile", name: str) -> None:
        """Save the profile. The dialog stays open until this has succeeded, so that no input is lost."""
        task = self._work.ask(lambda session: api.servers.save_profile(session, profile, name or None))
        if task is not None:
            task.succeeded.connect(dialog.accept)
            task.succeeded.connect(self._work.changed)
            task.then(partial(self._tell, profile.name))
            task.failed.connect(dialog.refuse)

    def _tell(self, name: str, _kept: None) -> None:
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
