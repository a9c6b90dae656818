"""The dialogs for host keys, secrets, executions from elsewhere, and unreachable clusters."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from core.language import marked, tr
from gui.asker import HostKeyQuestion, Question, SecretQuestion, TakeOnQuestion, TakeOverQuestion, WindowAsker
from gui.dialogs.confirm import NameDialog
from gui.guard import Guarded
from gui.models.sentences import recorded
from gui.widgets.label import Label
from gui.widgets.message_box import MessageBox
from gui.widgets.secret_field import SecretField
from gui.widgets.text import TextView

TITLES = {
    "password": marked("Password"),
    "passphrase": marked("Passphrase"),
    "sudo": marked("Password for sudo"),
    "role": marked("Password"),
    "interactive": marked("Question of the server"),
}


def open_dialog(question: Question, asker: WindowAsker, parent: QWidget) -> None:
    """Open the dialog of a question. It closes when the question is answered or withdrawn."""
    dialog = dialog_for(question, parent)
    withdrawn = partial(_withdraw, question, dialog)
    asker.withdrawn.connect(withdrawn)
    dialog.finished.connect(lambda: asker.withdrawn.disconnect(withdrawn))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def _withdraw(question: Question, dialog: QDialog, withdrawn: Question) -> None:
    if withdrawn is question:
        dialog.reject()


def dialog_for(question: Question, parent: QWidget) -> QDialog:
    """Return the dialog of a question. Closing it in any way answers the question."""
    if isinstance(question, HostKeyQuestion):
        return _host_key(question, parent)
    if isinstance(question, SecretQuestion):
        return SecretDialog(question, parent)
    if isinstance(question, TakeOverQuestion):
        return TakeOverDialog(question, parent)
    if isinstance(question, TakeOnQuestion):
        return TakeOnDialog(question, parent)
    raise TypeError(type(question))


class TakeOnDialog(Guarded, QDialog):
    """Asks how clients reach the new cluster if the old server cannot."""

    def __init__(self, question: TakeOnQuestion, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question = question
        self.setWindowTitle(tr("The old server cannot connect to the new cluster"))
        self.setModal(True)
        text = tr(
            "{found}.\n\nIf the old server is excluded on purpose, describe &how clients reach the new "
            "cluster. Your answer is recorded with your name, and the report shows it."
        )
        label = self.text = Label(text.format(found=recorded(question.found).replace("&", "&&")), self)
        label.setWordWrap(True)
        self.field = QLineEdit(self)
        self.field.setAccessibleName(tr("How clients reach the new cluster"))
        label.setBuddy(self.field)
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel, self)
        self.buttons.button(standard.Ok).setText(tr("&Accept and continue"))
        self.buttons.button(standard.Cancel).setText(tr("Paus&e here"))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.field.textChanged.connect(self._look)
        self._look("")
        column = QVBoxLayout(self)
        for widget in (label, self.field, self.buttons):
            column.addWidget(widget)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 80)

    def _look(self, typed: str) -> None:
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(typed.strip()))

    def done(self, result: int) -> None:
        self._question.answer(self.field.text() if result == QDialog.DialogCode.Accepted else None)
        super().done(result)


class TakeOverDialog(Guarded, NameDialog):
    """Asks for the name of the move before an execution of another workstation runs."""

    def __init__(self, question: TakeOverQuestion, parent: QWidget | None = None) -> None:
        text = tr(
            "This execution of {move} was recorded on another workstation or by another user. Read all "
            "commands that it would run. To take it over, type the &name of the move."
        ).format(move=question.move)
        super().__init__(tr("Execution of another workstation"), text, question.move, tr("&Take over"), parent)
        self._question = question
        self.shown = TextView(tr("Commands that it would run, and steps that count as done"), self)
        self.shown.set_text(question.shown)
        self.column.insertWidget(0, self.shown)
        self.resize(self.fontMetrics().averageCharWidth() * 120, self.fontMetrics().height() * 36)

    def done(self, result: int) -> None:
        self._question.answer(self.field.text() if result == QDialog.DialogCode.Accepted else None)
        super().done(result)


def _host_key(question: HostKeyQuestion, parent: QWidget) -> QMessageBox:
    box = MessageBox(parent)
    box.setWindowTitle(tr("Unknown host key"))
    box.setIcon(QMessageBox.Icon.Warning)
    box.setText(
        tr("Is this the host key of {server} ({address})?").format(server=question.server, address=question.address)
    )
    box.setInformativeText(
        tr(
            "{key_type}\n{fingerprint}\n\nCompare it with the fingerprint from the administrator of the "
            "server, or run this command on the console of the server:\nssh-keygen -lf "
            "/etc/ssh/ssh_host_{kind}_key.pub"
        ).format(key_type=question.key_type, fingerprint=question.fingerprint, kind=_kind(question.key_type))
    )
    box.keep_lines_whole()
    box.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    trust = box.addButton(tr("&Trust and remember"), QMessageBox.ButtonRole.AcceptRole)
    decline = box.addButton(tr("&Do not connect"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(decline)
    box.setEscapeButton(decline)
    box.finished.connect(partial(_decide, question, box, trust))
    return box


def _kind(key_type: str) -> str:
    """`ssh-ed25519` -> `ed25519`, `ecdsa-sha2-nistp256` -> `ecdsa`: as sshd names its key files."""
    return key_type.removeprefix("ssh-").partition("-")[0]


class SecretDialog(Guarded, QDialog):
    """Asks for a secret. The connection keeps what is typed for the session, or in the keyring once it was accepted;
    the window never keeps it.
    """

    def __init__(self, question: SecretQuestion, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question = question
        self.setWindowTitle(f"{tr(TITLES.get(question.kind, question.kind))}: {question.server}")
        self.setModal(True)
        label = Label(recorded(question.prompt), self)
        label.setWordWrap(True)
        self.field = SecretField(self)
        self.field.setAccessibleName(recorded(question.prompt))
        label.setBuddy(self.field)
        self.keep = QCheckBox(tr("&Keep in the keyring"), self)
        self.keep.setToolTip(tr("The keyring of your desktop stores it when the server has accepted it."))
        self.keep.setVisible(question.keepable)
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel, self)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (label, self.field, self.keep, buttons):
            column.addWidget(widget)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 60)

    def done(self, result: int) -> None:
        self._question.keep = self.keep.isChecked()
        self._question.answer(self.field.text() if result == QDialog.DialogCode.Accepted else None)
        self.field.clear()
        super().done(result)


def _decide(question: HostKeyQuestion, box: QMessageBox, trust: QAbstractButton, _result: int) -> None:
    question.answer(question.fingerprint if box.clickedButton() is trust else None)
