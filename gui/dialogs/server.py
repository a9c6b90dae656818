"""A server's profile, to add or to change."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

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
from core.servers.profiles import Profile, Rights
from gui.dialogs.form import FormDialog
from gui.models.servers import RIGHTS
from gui.widgets.label import Label


class ServerDialog(FormDialog):
    """Signals: submitted(Profile, name before or empty for a new one), test_wanted(Profile)."""

    submitted = Signal(object, str)
    test_wanted = Signal(object)

    def __init__(self, profile: Profile | None, parent: QWidget | None = None) -> None:
        super().__init__("Add a server" if profile is None else f"Edit {profile.name}", parent)
        self._before = "" if profile is None else profile.name
        self.name, self.address, self.user = QLineEdit(self), QLineEdit(self), QLineEdit(self)
        self.port = QSpinBox(self, minimum=0, maximum=65535)
        self.port.setSpecialValueText("as ssh says")
        self.identity_file, self.jump = QLineEdit(self), QLineEdit(self)
        self.browse = QPushButton("Br&owse…", self)
        self.browse.clicked.connect(self._browse)
        self.test = QPushButton("&Test", self)
        self.test.setToolTip("Connect with what stands here, and try the rights; nothing is kept yet")
        self.test.clicked.connect(self._test)
        self.buttons.addButton(self.test, QDialogButtonBox.ButtonRole.ActionRole)
        self.found = Label(parent=self)
        self.found.setWordWrap(True)
        self.found.setAccessibleName("What the test said")
        self.rights = QComboBox(self)
        self.database_user, self.copy_address = QLineEdit("postgres", self), QLineEdit(self)
        for rights, text in RIGHTS.items():
            self.rights.addItem(text, rights)
        self._lay_out()
        if profile is not None:
            self._fill(profile)
        self.name.setFocus()

    @Slot()
    def submit(self) -> None:
        profile = self.profile()
        missing = [word for word, value in (("name", profile.name), ("address", profile.address)) if not value]
        if missing:
            self.refuse(InputError(f"the server needs {' and '.join(f'its {word}' for word in missing)}"))
            return
        self.submitted.emit(profile, self._before)

    def offer(self, hosts: Sequence[str]) -> None:
        """Offer these for the address: a host of ~/.ssh/config needs nothing else."""
        completer = QCompleter(list(hosts), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.address.setCompleter(completer)
        if hosts:
            self.address.setPlaceholderText(f"one of {len(hosts)} hosts of ~/.ssh/config, or an address")

    @Slot(object)
    def show_test(self, sentences: tuple[str, ...]) -> None:
        """What a test found."""
        self.trouble.hide()
        self.found.setText("\n".join(sentences))
        self.found.show()
        self.test.setEnabled(True)
        self.grow()

    @Slot(object)
    def refuse(self, error: Exception) -> None:
        self.found.hide()
        self.test.setEnabled(True)
        super().refuse(error)

    @Slot()
    def _test(self) -> None:
        profile = self.profile()
        if not profile.address:
            self.refuse(InputError("the server needs its address"))
            return
        self.test.setEnabled(False)
        self.found.setText("Connecting…")
        self.found.show()
        self.test_wanted.emit(replace(profile, name=profile.name or profile.address))

    @Slot()
    def _browse(self) -> None:
        dialog = QFileDialog(self, "Private key")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setDirectory(str(Path.home() / ".ssh"))
        dialog.fileSelected.connect(self.identity_file.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def profile(self) -> Profile:
        """The profile as the fields have it now."""
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
        self.add("&Name:", self.name, "Your own name for the server")
        self.add("&Address:", self.address, "Host name, IP address, or an alias of ~/.ssh/config")
        self.add("&User:", self.user, "Who logs in; empty: as ~/.ssh/config says, else your own user name")
        self.add("&Port:", self.port, "SSH port; 0: as ~/.ssh/config says, else 22")
        key = QHBoxLayout()
        key.addWidget(self.identity_file)
        key.addWidget(self.browse)
        self.add("&Identity file:", self.identity_file, "Private key; empty: the agent and ssh's usual keys", key)
        self.add("&Jump hosts:", self.jump, "As ssh's ProxyJump: user@host:port, several with commas")
        self.add("&Rights:", self.rights, "How commands that need more than the login user's rights are run")
        self.add("&Database user:", self.database_user, "The operating-system user that owns the clusters")
        self.add("&Copy address:", self.copy_address, "How the other server reaches this one; empty: the address above")
        for field in (self.user, self.identity_file, self.jump):
            field.setPlaceholderText("as ssh says")
        self.copy_address.setPlaceholderText("same as address")
        self.form.addRow(self.found)
        self.found.hide()
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 72)

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
