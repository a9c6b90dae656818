"""What is typed goes to the entry that it was typed to, and is there until it is written."""

from datetime import UTC, datetime

from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.errors import HistoryError
from core.history.store import Entry
from gui.widgets.note_field import NoteField

RUN = Entry(datetime(2026, 3, 14, tzinfo=UTC), "run", "spring", "fio", 1, "before")
PLAN = Entry(datetime(2026, 3, 15, tzinfo=UTC), "plan", "spring", "by rsync", 1)


def of_run(qtbot: QtBot) -> tuple[NoteField, list[tuple[str, str]]]:
    """The field at the run, and the list of what it hands out."""
    field, handed = NoteField(), []
    qtbot.addWidget(field)
    field.written.connect(lambda entry, note: handed.append((entry.kind, note)))
    field.show_entry(RUN)
    field.end(False)
    return field, handed


def test_while_it_is_typed_in_it_stays_with_its_entry(qtbot: QtBot) -> None:
    field, handed = of_run(qtbot)
    field.show()
    field.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    QTest.keyClicks(field, " and a")
    field.show_entry(PLAN)
    QTest.keyClicks(field, "fter")
    assert (field.text(), handed) == ("before and after", [])
    field.clearFocus()
    assert handed == [("run", "before and after")]
    assert field.text() == PLAN.note


def test_what_could_not_be_written_is_handed_out_again(qtbot: QtBot) -> None:
    field, handed = of_run(qtbot)
    QTest.keyClicks(field, " and after")
    field.show_entry(PLAN)
    field.restore(RUN, "before and after", HistoryError("the history is locked"))
    assert field.text() == PLAN.note
    field.show_entry(RUN)
    assert field.text() == "before and after"
    field.show_entry(PLAN)
    assert handed == [("run", "before and after")] * 2
    field.confirm(RUN, "before and after")
    field.show_entry(RUN)
    assert field.text() == RUN.note


def test_what_is_being_written_stands_in_the_field(qtbot: QtBot) -> None:
    field, handed = of_run(qtbot)
    QTest.keyClicks(field, " and after")
    field.returnPressed.emit()
    field.editingFinished.emit()
    field.show_entry(RUN)
    assert field.text() == "before and after"
    field.editingFinished.emit()
    assert len(handed) == 1
