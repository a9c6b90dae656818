"""The dialog that begins a survey: which servers, what a list says of them, and how many are read at a time."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from core import api
from core.language import tr
from gui.design.measures import GRID, ROW, scaled
from gui.dialogs.form import FormDialog
from gui.models.survey import REFUSED_COLUMNS, SurveyRequest, describe_list
from gui.models.words import counted
from gui.widgets.files import ask_file
from gui.widgets.label import Label
from gui.widgets.table import Table

if TYPE_CHECKING:
    from core.api.survey import Refused, ServerList

KNOWN, FILE, CONFIG = "known", "file", "config"
"""Where the servers come from."""


class SurveyDialog(FormDialog):
    """Shows what a list says before anything is imported.

    Args:
        known: how many servers the history has.
        at_once: how many servers are read at the same time, as in the settings.
        file: the path of the list that was surveyed last.

    Signals:
        list_wanted(Path or None): this list is to be read; None: the ssh configuration.
        submitted(SurveyRequest)
    """

    list_wanted = Signal(object)
    submitted = Signal(object)

    def __init__(self, known: int, at_once: int, file: str = "", parent: QWidget | None = None) -> None:
        super().__init__(tr("Survey servers"), parent)
        self._found: ServerList | None = None
        self.source = QComboBox(self)
        if known:
            said = counted(known, "The {number} known server", "All {number} known servers")
            self.source.addItem(said, KNOWN)
        self.source.addItem(tr("A list in a file"), FILE)
        self.source.addItem(tr("The hosts in ~/.ssh/config"), CONFIG)
        self.path = QLineEdit(file, self)
        self.path.setPlaceholderText(tr("CSV, or an Ansible inventory"))
        self.browse = QPushButton(tr("Bro&wse…"), self)
        self.browse.setAutoDefault(False)
        self.said = Label(parent=self)
        self.said.setWordWrap(True)
        self.refused: Table[Refused] = Table("survey-refused", tr("Entries that cannot be used"), REFUSED_COLUMNS, self)
        self.refused.setFixedHeight(scaled(4 * ROW) + GRID)
        self.at_once = QSpinBox(self, minimum=1, maximum=api.survey.MOST_AT_ONCE)
        self.at_once.setValue(at_once)
        self.refresh = QCheckBox(tr("&Also read servers again that were read within the last hour"), self)
        self.replacing = QCheckBox(tr("&Change known servers and moves as the list says"), self)
        self._lay_out()
        self.source.currentIndexChanged.connect(self._turn)
        self.path.textEdited.connect(self._forget)
        self.path.editingFinished.connect(self._read)
        self.browse.clicked.connect(self._browse)
        self._turn()
        self.source.setFocus()

    def _lay_out(self) -> None:
        self.add(tr("&Servers:"), self.source, tr("The servers that the survey reads"))
        row = QHBoxLayout()
        row.addWidget(self.path, 1)
        row.addWidget(self.browse)
        self.add(tr("&List:"), self.path, tr("The file with the list of servers"), row)
        self.form.addRow("", self.said)
        self.form.addRow(self.refused)
        self.add(
            tr("Servers at the same &time:"),
            self.at_once,
            tr("Number of servers that the survey reads at the same time, each over one connection"),
        )
        self.form.addRow(self.refresh)
        self.form.addRow(self.replacing)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText(tr("Start the su&rvey"))
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 110)

    def begin(self) -> None:
        """Show the dialog, and ask for what is to be read at once."""
        self.open()
        self._read()

    @property
    def _lists(self) -> bool:
        """Whether the servers come from a list."""
        return str(self.source.currentData()) != KNOWN

    @Slot()
    def _turn(self) -> None:
        """Follow the choice of the source."""
        self.form.setRowVisible(1, self.source.currentData() == FILE)
        self.replacing.setVisible(self._lists)
        self._forget()
        self._read()

    @Slot()
    def _forget(self) -> None:
        """Forget what was read of another list."""
        self._found = None
        self._show()

    @Slot()
    def _read(self) -> None:
        """Ask for what the list says."""
        if self._found is not None:
            return
        if self.source.currentData() == CONFIG:
            self.list_wanted.emit(None)
        elif self.source.currentData() == FILE and self.path.text().strip():
            self.list_wanted.emit(self.file)

    @property
    def file(self) -> Path | None:
        """The list that is to be read; None: the ssh configuration."""
        if self.source.currentData() != FILE:
            return None
        text = self.path.text().strip()
        return Path.home() / text[2:] if text.startswith("~/") else Path(text)

    @Slot()
    def _browse(self) -> None:
        ask_file(self, tr("Choose a list of servers"), self._choose)

    def _choose(self, path: Path) -> None:
        self.path.setText(str(path))
        self._forget()
        self._read()

    def show_list(self, wanted: Path | None, found: "ServerList") -> None:
        """Show what the list says, unless another one is wanted by now."""
        if self._lists and wanted == self.file:
            self._found = found
            self._show()

    def show_unread(self, wanted: Path | None, error: Exception) -> None:
        """Show why the list cannot be read, unless another one is wanted by now."""
        if self._lists and wanted == self.file:
            self.refuse(error)

    def _show(self) -> None:
        found = self._found
        self.trouble.hide()
        self.said.setText(
            tr("The survey reads facts. It writes nothing on the servers, and asks no questions.")
            if not self._lists
            else tr("Choose a list. It is imported when the survey starts.")
            if found is None
            else describe_list(found)
        )
        refused = () if found is None else found.refused
        self.refused.set_rows(refused)
        self.form.setRowVisible(self.refused, bool(refused))
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not self._lists or found is not None)
        self.grow()

    @Slot()
    def submit(self) -> None:
        if self._lists and self._found is None:
            return
        request = SurveyRequest(
            self._found if self._lists else None,
            self.at_once.value(),
            refresh=self.refresh.isChecked(),
            replacing=self._lists and self.replacing.isChecked(),
        )
        self.submitted.emit(request)
