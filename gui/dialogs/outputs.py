"""The dialog for one or two outputs of benchmark tools, as files or pasted text."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget
from PySide6.QtWidgets import QPushButton as Button

from core.errors import InputError
from core.language import marked, tr
from core.system_errors import reason
from gui.design.measures import fixed_font
from gui.dialogs.form import FormDialog
from gui.models.sentences import compared, recorded
from gui.widgets.files import ask_file
from gui.widgets.label import Label

LARGEST_FILE = 2_000_000
"""In bytes; no tool prints more."""
ANY_TOOL = marked("recognise the tool")


class OutputsDialog(FormDialog):
    """Asks for outputs and their tool. Signal: given(list of (name, text), tool or None)."""

    given = Signal(object, object)

    def __init__(self, tools: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(tr("Outputs of benchmark tools"), parent)
        self.tool = QComboBox(self)
        self.tool.addItems([tr(ANY_TOOL), *tools])
        self.add(tr("&Tool:"), self.tool, tr("The tool that has written the outputs"))
        self.left = OutputField(tr("&Left"), tr("left"), tr("&Open…"), self)
        self.right = OutputField(tr("&Right (optional)"), tr("right"), tr("O&pen…"), self)
        both = QHBoxLayout()
        for field in (self.left, self.right):
            both.addWidget(field)
            field.troubled.connect(self.refuse)
        self.form.addRow(both)
        self.column.setStretchFactor(self.form, 1)  # the texts take what room there is
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText(tr("&Compare"))
        self.resize(820, 520)

    @Slot()
    def submit(self) -> None:
        tool = None if self.tool.currentIndex() == 0 else self.tool.currentText()
        self.given.emit([self.left.answer, self.right.answer], tool)


class OutputField(QWidget):
    """The name and the text of one output. Signal: troubled(InputError)."""

    troubled = Signal(object)

    def __init__(self, label: str, side: str, browse_text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._side = side
        self.name = QLineEdit(self)
        self.name.setPlaceholderText(side)
        self.name.setAccessibleName(tr("Name of the output ({side})").format(side=side))
        self.text = QPlainTextEdit(self)
        self.text.setFont(fixed_font())
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("Output ({side})").format(side=side))
        self.text.setPlaceholderText(tr("Paste the output of the tool, or open a file."))
        browse = Button(browse_text, self)
        browse.setAccessibleName(tr("Open a file ({side})").format(side=side))
        browse.clicked.connect(partial(ask_file, self, tr("Open an output"), self.open))
        named = Label(label, self)
        named.setBuddy(self.name)
        head = QHBoxLayout()
        for widget in (named, self.name, browse):
            head.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.text, 1)

    @property
    def answer(self) -> tuple[str, str]:
        """The name and the text of the output."""
        return self.name.text().strip() or self._side, self.text.toPlainText()

    def open(self, path: Path) -> None:
        """Show the text and the name of a file."""
        from core.inputs import read_input

        try:
            too_large = path.stat().st_size > LARGEST_FILE
            text = "" if too_large else read_input(str(path))
        except (OSError, InputError) as error:
            why = compared(reason(error)) if isinstance(error, OSError) else recorded(error.message)
            self.troubled.emit(
                InputError(
                    tr("`{name}` cannot be read: {why}").format(name=path.name, why=why), tr("Choose another file.")
                )
            )
            return
        if too_large:
            hint = tr("Choose the file that the tool has written.")
            self.troubled.emit(
                InputError(tr("`{name}` is too large for the output of a benchmark tool.").format(name=path.name), hint)
            )
            return
        self.text.setPlainText(text)
        # of fio's logs only the whole name says what they hold
        self.name.setText(path.name if path.suffix == ".log" else path.stem)
