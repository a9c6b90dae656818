"""The question whether to wait for an array: asked beside the window's loop, and answered once."""

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from core.text import capital
from gui.dialogs.confirm import ask_about_resync
from tests.gui.conftest import press

RESYNC = "md0 (raid10) resyncs, 12.5 % done, about 41 min 30 s left on db01: the figures will be its too"


@pytest.mark.parametrize(
    ("role", "answers"),
    [
        (QMessageBox.ButtonRole.AcceptRole, [True]),
        (QMessageBox.ButtonRole.DestructiveRole, [False]),
        (QMessageBox.ButtonRole.RejectRole, []),
    ],
)
def test_each_answer(qtbot: QtBot, role: QMessageBox.ButtonRole, answers: list[bool]) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    given: list[bool] = []
    box = ask_about_resync(parent, RESYNC, given.append)
    assert box.text() == f"{capital(RESYNC)}."
    with qtbot.waitSignal(box.finished):
        press(box, role)
    assert given == answers
