"""The question whether to wait for an array: asked beside the window's loop, and answered once."""

import pytest
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gui.dialogs.resync import ask_about_resync

RESYNC = "md0 (raid10) resyncs, 12.5 % done, about 41 min 30 s left on db01: the figures will be its too"


@pytest.mark.parametrize(("label", "answers"), [("&Wait, then start", [True]), ("&Start now", [False]), (None, [])])
def test_each_answer(qtbot: QtBot, label: str | None, answers: list[bool]) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    given: list[bool] = []
    box = ask_about_resync(parent, RESYNC, given.append)
    assert box.text().startswith("Md0 (raid10) resyncs, 12.5 % done")
    assert isinstance(box, QMessageBox)
    with qtbot.waitSignal(box.finished):
        if label is None:
            box.reject()
        else:
            next(button for button in box.findChildren(QPushButton) if button.text() == label).click()
    assert given == answers
