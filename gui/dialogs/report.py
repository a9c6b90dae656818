"""The dialog of a report: its kind, format, language, contents and file."""

import os
from pathlib import Path

from PySide6.QtCore import QFileInfo, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialogButtonBox, QHBoxLayout, QLineEdit, QPushButton, QWidget

from core.errors import InputError
from core.language import current, languages, marked, tr
from core.user_settings.declaration import NAMES, ReportSettings
from gui.dialogs.form import FormDialog
from gui.models.report import ReportRequest
from gui.widgets.files import ask_path, file_name
from gui.widgets.label import Label

_KINDS = (
    ("plan", marked("Migration plan with a go/no-go decision")),
    ("execution", marked("Record of the execution")),
    ("storage", marked("Storage comparison")),
    ("capacity", marked("Capacity")),
)
_OF_ALL = (("fleet", marked("Fleet overview")),)
"""The report on all moves."""
_SHAPES = (("pdf", "PDF"), ("html", marked("HTML, one file")), ("md", marked("Markdown")), ("json", "JSON"))
_PAPERS = (("a4", "A4"), ("us-letter", marked("Letter")))
_PAPER_OF = {"letter": "us-letter"}
"""The paper of a setting, if its word is another one here."""
_USUAL = ReportSettings()


class ReportDialog(FormDialog):
    """Asks for the report on one move, or on all moves for None. It proposes a file in `folder`, and language and paper
    as in the settings.

    Signal: submitted(ReportRequest, the Path of the file).
    """

    submitted = Signal(object, object)

    def __init__(
        self,
        move: str | None,
        kind: str,
        folder: Path,
        parent: QWidget | None = None,
        *,
        settings: ReportSettings = _USUAL,
    ) -> None:
        super().__init__(
            tr("Report on all moves") if move is None else tr("Report on {move}").format(move=move), parent
        )
        self._move, self._folder, self._settings = move, folder, settings
        self.kind = _choice(self, _OF_ALL if move is None else _KINDS)
        self.kind.setCurrentIndex(self.kind.findData(kind))
        self.shape = _choice(self, _SHAPES)
        self.language = _choice(self, tuple((code, NAMES.get(code, code)) for code in languages()))
        self.language.setCurrentIndex(self.language.findData(_language(settings.language)))
        self.paper = _choice(self, _PAPERS)
        self.paper.setCurrentIndex(self.paper.findData(_PAPER_OF.get(settings.paper, settings.paper)))
        self.path = QLineEdit(str(folder / self._usual_name()), self)
        self.browse = QPushButton(tr("Bro&wse…"), self)
        self.browse.setAutoDefault(False)
        self.existing = Label(tr("This file exists. It will be replaced."), self)
        self.masked = QCheckBox(tr("Replace the names of &servers, addresses and people"), self)
        self.masked.setChecked(settings.mask)
        self.appendices = QCheckBox(tr("Append &raw values, commands and functions"), self)
        self.appendices.setVisible(move is not None)
        self._lay_out()
        self.shape.currentIndexChanged.connect(self._change_ending)
        self.path.textChanged.connect(self._look)
        self.browse.clicked.connect(self._browse)
        self._look()
        self.path.setFocus()
        self.path.selectAll()

    @Slot()
    def submit(self) -> None:
        path = self.file()
        if path is None:
            self.refuse(InputError(tr("The report needs the name of a file."), tr("Type a name, or choose a file.")))
            return
        if not QFileInfo(str(path.parent)).isDir():
            self.refuse(
                InputError(
                    tr("The folder `{parent}` does not exist.").format(parent=path.parent),
                    tr("Create the folder, or choose another one."),
                )
            )
            return
        chosen = (self.kind, self.language, self.paper)
        kind, language, paper = (str(each.currentData()) for each in chosen)
        shape = path.suffix.removeprefix(".").lower()
        request = ReportRequest(
            move=self._move,
            kind=kind,
            shape=shape,
            language=language,
            paper=paper,
            masked=self.masked.isChecked(),
            appendices=self.appendices.isChecked(),
            company=self._settings.company,
            logo=self._settings.logo,
        )
        self.accept()
        self.submitted.emit(request, path)

    def file(self) -> Path | None:
        """Return the path in the field, with the ending of a format; None if the field is empty.

        If only a folder is typed, the usual name of the report is added.
        """
        text = self.path.text().strip()
        if not text:
            return None
        typed = Path.home() / text[2:] if text.startswith("~/") else Path(text)
        path = self._folder / typed
        if QFileInfo(str(path)).isDir():  # False for a name that is too long, where Path raises
            return path / self._usual_name()
        if path.suffix.removeprefix(".").lower() in dict(_SHAPES):
            return path
        return path.with_name(f"{path.name}.{self.shape.currentData()}")

    def _usual_name(self) -> str:
        return file_name(f"{self._move or 'fleet'}.{self.shape.currentData()}")

    @Slot()
    def _look(self) -> None:
        """Follow the ending of the file, and show whether the file exists and will be replaced."""
        path = self.file()
        if path is not None:
            self.shape.setCurrentIndex(self.shape.findData(path.suffix.removeprefix(".").lower()))
        there = path is not None and os.path.lexists(path)
        self.existing.setVisible(there)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText(tr("R&eplace") if there else tr("Sa&ve"))
        self.trouble.hide()
        self.grow()

    @Slot()
    def _change_ending(self) -> None:
        path = self.file()
        shape = str(self.shape.currentData())
        if path is not None and path.suffix.removeprefix(".").lower() != shape:
            self.path.setText(str(path.with_suffix(f".{shape}")))

    @Slot()
    def _browse(self) -> None:
        path = self.file()
        name, shape = self._usual_name() if path is None else path.name, str(self.shape.currentData())
        dialog = ask_path(self, tr("Save the report"), name, shape, lambda chosen: self.path.setText(str(chosen)))
        dialog.setDirectory(str(self._folder if path is None else path.parent))

    def _lay_out(self) -> None:
        self.add(tr("&Kind:"), self.kind)
        self.add(tr("&Format:"), self.shape)
        self.add(tr("&Language:"), self.language)
        self.add(tr("&Paper:"), self.paper, tr("The paper size of a PDF"))
        row = QHBoxLayout()
        row.addWidget(self.path, 1)
        row.addWidget(self.browse)
        self.add(tr("Save &as:"), self.path, tr("The file to which the report is written"), row)
        self.form.addRow("", self.existing)
        self.form.addRow(self.masked)
        self.form.addRow(self.appendices)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 80)


def _language(setting: str) -> str:
    return current() if setting == "auto" else setting


def _choice(parent: QWidget, choices: tuple[tuple[str, str], ...]) -> QComboBox:
    made = QComboBox(parent)
    for word, shown in choices:
        made.addItem(tr(shown), word)
    return made
