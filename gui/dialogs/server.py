"""The dialog of a server profile."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from core.errors import InputError
from core.language import tr
from core.servers.profiles import Profile, Rights
from core.tones import Tone
from core.user_settings.declaration import ServerSettings
from gui.dialogs.form import FormDialog
from gui.models.sentences import recorded
from gui.models.servers import RIGHTS
from gui.models.words import listed
from gui.widgets.label import Label, ToneLabel

if TYPE_CHECKING:
    from core.api.servers import ServerUse


_USUAL = ServerSettings()


class ServerDialog(FormDialog):
    """Edits a profile; that of a new server begins as the settings say.

    Signals: submitted(Profile, its former name; empty for a new one), test_wanted(Profile).

    Attributes:
        connects: the operator wants to connect to the server once its profile is saved.
        hosts: the hosts of ~/.ssh/config; `address` is the field in it.
    """

    submitted = Signal(object, str)
    test_wanted = Signal(object)

    def __init__(
        self, profile: Profile | None, parent: QWidget | None = None, *, settings: ServerSettings = _USUAL
    ) -> None:
        super().__init__(tr("Add a server") if profile is None else tr("Edit {name}").format(name=profile.name), parent)
        self._before = "" if profile is None else profile.name
        self.connects = False
        self._name_of_host = ""
        self.name, self.address = QLineEdit(self), QLineEdit(self)  # Tab goes in the order in which fields are made
        self.hosts = QComboBox(self)
        self.hosts.setEditable(True)
        self.hosts.setLineEdit(self.address)
        self.hosts.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.hosts.textActivated.connect(self._take_host)
        self.user = QLineEdit(self)
        self.port = QSpinBox(self, minimum=0, maximum=65535)
        self.port.setSpecialValueText(tr("as in ~/.ssh/config"))
        self.identity_file, self.jump = QLineEdit(self), QLineEdit(self)
        self.browse = QPushButton(tr("Br&owse…"), self)
        self.browse.clicked.connect(self._browse)
        self.test = QPushButton(tr("&Test"), self)
        self.test.setToolTip(
            tr("Connect with these settings, and test the rights on the server. Nothing is saved yet.")
        )
        self.test.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the field
        self.test.clicked.connect(self._test)
        self._testing = False
        self.buttons.addButton(self.test, QDialogButtonBox.ButtonRole.ActionRole)
        self.save = self.buttons.addButton(tr("&Save"), QDialogButtonBox.ButtonRole.ActionRole)
        self._name_buttons(new=profile is None)
        self.found = Label(parent=self)
        self.found.setWordWrap(True)
        self.found.setAccessibleName(tr("Result of the test"))
        self.fixed = ToneLabel("", Tone.WARNING, self)
        self.fixed.setWordWrap(True)
        self.fixed.hide()
        self.rights = QComboBox(self)
        self.database_user, self.copy_address = QLineEdit(settings.database_user, self), QLineEdit(self)
        for rights, text in ((rights, tr(text)) for rights, text in RIGHTS.items()):
            self.rights.addItem(text, rights)
        self.user.setText(settings.user)
        self.rights.setCurrentIndex(self.rights.findData(Rights(settings.rights)))
        self._lay_out()
        if profile is not None:
            self._fill(profile)
        self.name.setFocus()

    def _name_buttons(self, *, new: bool) -> None:
        """Offer to connect to a new server at once."""
        self.save.setToolTip(tr("Save the server without a connection to it."))
        self.save.clicked.connect(partial(self._submit, connects=False))
        self.save.setVisible(new)
        ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        if not new:
            ok.setText(tr("&Save"))
            return
        ok.setText(tr("Save and &connect"))
        ok.setToolTip(
            tr(
                "Save the server, connect to it, test the rights, and read its facts. Nothing is written on the "
                "server. An unknown host key is shown first."
            )
        )

    @Slot()
    def submit(self) -> None:
        self._submit(connects=not self._before)

    def _submit(self, *, connects: bool) -> None:
        self.connects = connects
        profile = self.profile()
        missing = [
            word for word, value in ((tr("a name"), profile.name), (tr("an address"), profile.address)) if not value
        ]
        if missing:
            self.refuse(InputError(tr("The server needs {value}.").format(value=listed(missing))))
            return
        self.submitted.emit(profile, self._before)

    def offer(self, hosts: Sequence[str]) -> None:
        """Offer hosts of ~/.ssh/config for the address, because they need no other settings."""
        typed = self.address.text()
        self.hosts.addItems(list(hosts))
        self.hosts.setCurrentIndex(-1)  # the first one is not chosen
        self.hosts.setEditText(typed)
        completer = QCompleter(list(hosts), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.hosts.setCompleter(completer)
        if hosts:
            self.address.setPlaceholderText(
                tr("an address, or one of the {hosts} hosts in ~/.ssh/config").format(hosts=len(hosts))
            )

    def fix(self, use: "ServerUse | None") -> None:
        """Disable the fields that cannot be changed, because a move that is not over uses the server."""
        if use is None:
            return
        fields = {
            "name": self.name,
            "address": self.hosts,
            "port": self.port,
            "user": self.user,
            "jump": self.jump,
        }
        why = tr("Some fields cannot be changed now, because the move {move} uses the server. {why}").format(
            move=use.move, why=recorded(use.why)
        )
        for name in use.fixed:
            fields[name].setEnabled(False)
            fields[name].setToolTip(why)
        self.fixed.setText(why)
        self.fixed.show()
        self.grow()

    @Slot(str)
    def _take_host(self, host: str) -> None:
        """Name the server like the chosen host, unless it has another name already."""
        if self.name.text().strip() in {"", self._name_of_host}:
            self.name.setText(host)
            self._name_of_host = host

    @Slot(object)
    def show_test(self, sentences: tuple[str, ...]) -> None:
        """Show the result of a test."""
        self.trouble.hide()
        self.found.setText("\n".join(sentences))
        self.found.show()
        self._testing = False
        self.grow()

    @Slot(object)
    def refuse(self, error: Exception) -> None:
        self.found.hide()
        self._testing = False
        super().refuse(error)

    @Slot()
    def _test(self) -> None:
        if self._testing:  # the button stays enabled, because a disabled one hands its focus on to the next
            return
        profile = self.profile()
        if not profile.address:
            self.refuse(InputError(tr("The server needs an address.")))
            return
        self._testing = True
        self.found.setText(tr("Connecting…"))
        self.found.show()
        self.test_wanted.emit(replace(profile, name=profile.name or profile.address))

    @Slot()
    def _browse(self) -> None:
        dialog = QFileDialog(self, tr("Private key"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setDirectory(str(Path.home() / ".ssh"))
        dialog.fileSelected.connect(self.identity_file.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def profile(self) -> Profile:
        """Return the profile with the current values of the fields."""
        return Profile(
            name=self.name.text().strip(),
            address=self.address.text().strip(),
            user=_optional(self.user),
            port=self.port.value() or None,
            identity_file=_optional(self.identity_file),
            jump=_optional(self.jump),
            rights=Rights(self.rights.currentData()),
            database_user=self.database_user.text().strip() or "postgres",
            copy_address=_optional(self.copy_address),
        )

    def _lay_out(self) -> None:
        self.form.addRow(self.fixed)
        self.add(tr("&Name:"), self.name, tr("A name of your choice for the server"))
        self.add(tr("&Address:"), self.hosts, tr("A host name, an IP address, or an alias from ~/.ssh/config"))
        self.add(
            tr("&User:"),
            self.user,
            tr("The user that logs in. If this is empty, it is the user in ~/.ssh/config, or else your own user name."),
        )
        self.add(
            tr("&Port:"), self.port, tr("The SSH port. If this is 0, it is the port in ~/.ssh/config, or else 22.")
        )
        key = QHBoxLayout()
        key.addWidget(self.identity_file)
        key.addWidget(self.browse)
        self.add(
            tr("&Identity file:"),
            self.identity_file,
            tr("A private key. If this is empty, pghaul uses the agent and the default keys of ssh."),
            key,
        )
        self.add(
            tr("&Jump hosts:"),
            self.jump,
            tr("As in ProxyJump of ssh: user@host:port. Separate several hosts by commas."),
        )
        self.add(tr("&Rights:"), self.rights, tr("How pghaul runs commands for which the login user lacks the rights"))
        self.add(tr("&Database user:"), self.database_user, tr("The operating system user that owns the clusters"))
        self.add(
            tr("&Copy address:"),
            self.copy_address,
            tr("The address under which the other server reaches this one. If this is empty, it is the address above."),
        )
        for field in (self.user, self.identity_file, self.jump):
            field.setPlaceholderText(tr("as in ~/.ssh/config"))
        self.copy_address.setPlaceholderText(tr("same as the address"))
        self.form.addRow(self.found)
        self.found.hide()
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 80)

    def _fill(self, profile: Profile) -> None:
        for field, value in (
            (self.name, profile.name),
            (self.address, profile.address),
            (self.user, profile.user),
            (self.identity_file, profile.identity_file),
            (self.jump, profile.jump),
            (self.database_user, profile.database_user),
            (self.copy_address, profile.copy_address),
        ):
            field.setText(value or "")
        self.port.setValue(profile.port or 0)
        self.rights.setCurrentIndex(self.rights.findData(profile.rights))


def _optional(field: QLineEdit) -> str | None:
    return field.text().strip() or None
