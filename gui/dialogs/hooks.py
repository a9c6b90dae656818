"""The dialog of a move's hooks: for each manual step a command of the user's own, and where it runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QWidget

from core import api
from core.errors import InputError
from core.language import marked, tr
from core.migration.model.move import WORKSTATION, Hook, HookCommand, HookSide, Move
from core.sides import Side
from gui.design.measures import keep_narrow
from gui.dialogs.form import FormDialog
from gui.widgets.label import Label

TITLES = {
    Hook.STOP_APPLICATIONS: marked("Stop the &applications:"),
    Hook.MOVE_CRON_JOBS: marked("Move the cron &jobs:"),
    Hook.MOVE_ADDRESS: marked("Move the &virtual address:"),
    Hook.TELL_POOLER: marked("Tell the connection &pooler:"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of one hook."""

    place: QComboBox
    command: QLineEdit
    user: QLineEdit


class HooksDialog(FormDialog):
    """Edits the hooks of a move. Signal: submitted(dict of each changed Hook and its HookCommand; None: by hand)."""

    submitted = Signal(object)

    def __init__(self, move: Move, hooks: tuple[HookCommand, ...], parent: QWidget | None = None) -> None:
        super().__init__(tr("Hooks of {move}").format(move=move.name), parent)
        self._before = {each.hook: each for each in hooks}
        self._shown: dict[Hook, tuple[int, str, str]] = {}
        about = Label(
            tr(
                "A person does these steps of a move, and confirms each of them. A hook is a command of your own that "
                "does such a step instead. A change counts from the next plan on."
            ),
            self,
        )
        about.setWordWrap(True)
        grid = QGridLayout()
        self.rows: dict[Hook, Row] = {}
        for line, (hook, title) in enumerate(TITLES.items(), 1):
            self.rows[hook] = self._add_row(grid, line, hook, tr(title), move)
        for column, words in enumerate((tr("Done by"), tr("Command"), tr("User")), 1):
            grid.addWidget(Label(words, self), 0, column)
        grid.setColumnStretch(2, 1)
        self.column.insertWidget(0, about)
        self.column.insertLayout(1, grid)
        self.foreign = Label(self._describe_foreign(), self)
        self.foreign.setWordWrap(True)
        self.foreign.setVisible(bool(self.foreign.text()))
        self.column.insertWidget(2, self.foreign)
        self.rows[Hook.STOP_APPLICATIONS].place.setFocus()

    @Slot()
    def submit(self) -> None:
        changed = [hook for hook in Hook if _fields(self.rows[hook]) != self._shown[hook]]
        try:
            wanted = {hook: self._command(hook) for hook in changed}
        except InputError as error:
            self.refuse(error)
            return
        self.submitted.emit(wanted)

    def _add_row(self, grid: QGridLayout, line: int, hook: Hook, title: str, move: Move) -> Row:
        label = Label(title, self)
        place, command, user = QComboBox(self), QLineEdit(self), QLineEdit(self)
        label.setBuddy(place)
        keep_narrow(place, 22)
        places: Mapping[HookSide | None, str] = {
            None: tr("a person"),
            Side.OLD: tr("{server} (old server)").format(server=move.old),
            Side.NEW: tr("{server} (new server)").format(server=move.new),
            WORKSTATION: tr("this workstation"),
        }
        for side, words in places.items():
            place.addItem(words, side)
        name = title.replace("&", "").rstrip(":")
        fields = ((place, tr("Done by")), (command, tr("Command")), (user, tr("User")))
        for column, (field, what) in enumerate(fields, 1):
            field.setAccessibleName(f"{name}: {what}")
            grid.addWidget(field, line, column)
        command.setToolTip(tr("The command line, for the shell there. Do not write a password into it."))
        user.setToolTip(tr("The user that runs the command on the server"))
        user.setPlaceholderText(tr("the login user"))
        command.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        user.setFixedWidth(self.fontMetrics().averageCharWidth() * 22)
        grid.addWidget(label, line, 0)
        row = Row(place, command, user)
        if hook in self._before:
            found = self._before[hook]
            place.setCurrentIndex(place.findData(found.side))
            command.setText(found.command)
            user.setText(found.user or "")
        place.currentIndexChanged.connect(lambda _index: _enable(row))
        _enable(row)
        self._shown[hook] = _fields(row)
        return row

    def _command(self, hook: Hook) -> HookCommand | None:
        row = self.rows[hook]
        side: HookSide | None = row.place.currentData()
        if side is None:
            return None
        user = "" if side == WORKSTATION else row.user.text().strip()
        # a field shows no more than some length of a command, so that one that was not edited is taken as recorded
        same = hook in self._before and row.command.text() == self._shown[hook][1]
        command = self._before[hook].command if same else row.command.text().strip()
        return api.moves.make_hook(hook, side, command, user or None)

    def _describe_foreign(self) -> str:
        """Say which hooks do not run, because this user has not recorded them."""
        foreign = [each.hook for each in self._before.values() if each.from_elsewhere]
        titles = [tr(TITLES[hook]).replace("&", "").rstrip(":") for hook in foreign]
        if not titles:
            return ""
        return tr("Not recorded by you, so not run until you change it: {hooks}").format(hooks=", ".join(titles))


def _fields(row: Row) -> tuple[int, str, str]:
    """Return what a row shows. What a disabled field contains does not count where a person does the step."""
    place = row.place.currentIndex()
    return (0, "", "") if row.place.currentData() is None else (place, row.command.text(), row.user.text())


def _enable(row: Row) -> None:
    """Enable the fields that the place needs."""
    side = row.place.currentData()
    row.command.setEnabled(side is not None)
    row.user.setEnabled(side is not None and side != WORKSTATION)
    if side is not None and not row.command.text():
        row.command.setFocus(Qt.FocusReason.OtherFocusReason)
