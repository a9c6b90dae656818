"""The field for the note on an entry of the history."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from core.language import tr

if TYPE_CHECKING:
    from core.history.store import Entry

_Number = tuple[str, int]


class NoteField(QLineEdit):
    """The note on one entry. Return, leaving the field and selecting another entry emit it.

    The receiver calls `confirm` or `restore`: a note that could not be saved is shown again, and emitted again later.

    Signals: written(entry, note), if the note has changed.
    """

    written = Signal(object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: Entry | None = None
        self._asked: Entry | None = None
        self._handed: dict[_Number, str] = {}
        self._returned: dict[_Number, str] = {}
        self.setAccessibleName(tr("Note"))
        self.setPlaceholderText(tr("A note on this entry. Words with # are tags for the filter."))
        self.setToolTip(tr("Press Return to save the note. Secrets in it are masked."))
        self.editingFinished.connect(self._finish)
        self.show_entry(None)

    def show_entry(self, entry: "Entry | None") -> None:
        """Show what is noted to that entry; what is being typed stays, with the entry that it is typed to."""
        self._asked = entry
        if self._entry is None or not self.isModified():
            self._turn()
        elif entry is not None and _number(entry) == _number(self._entry):
            self._entry = entry
        elif not self.hasFocus():
            self._finish()

    def confirm(self, entry: "Entry", note: str) -> None:
        """Note that a note has been saved."""
        if self._handed.get(_number(entry)) == note:
            del self._handed[_number(entry)]

    def restore(self, entry: "Entry", note: str, _error: Exception) -> None:
        """Show a note again that could not be saved."""
        number = _number(entry)
        if self._handed.get(number) == note:
            self._returned[number] = self._handed.pop(number)
            if self._entry is not None and _number(self._entry) == number:
                self.setModified(True)

    @Slot()
    def _finish(self) -> None:
        if self._entry is not None and self.isModified():
            self._hand_out(self._entry)
        if self._entry is not self._asked:
            self._turn()

    def _hand_out(self, entry: "Entry") -> None:
        self.setModified(False)
        self._returned.pop(_number(entry), None)
        if self.text().strip() != entry.note:
            self._handed[_number(entry)] = self.text()
            self.written.emit(entry, self.text())

    def _turn(self) -> None:
        """Show the entry that was selected last."""
        self._entry = entry = self._asked
        note, returned = "", None
        if entry is not None:
            returned = self._returned.get(_number(entry))
            note = returned or self._handed.get(_number(entry), entry.note)
        if self.text() != note:  # else the typed text can still be undone
            self.setText(note)
            self.setCursorPosition(0)
        self.setModified(returned is not None)
        self.setEnabled(entry is not None)


def _number(entry: "Entry") -> _Number:
    return entry.kind, entry.reference
