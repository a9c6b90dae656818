"""The dialog of a server: where the focus stays, and what Return does."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.errors import InputError
from core.servers.profiles import Profile
from gui.dialogs.server import ServerDialog

CANCEL, SAVE = QDialogButtonBox.StandardButton.Cancel, QDialogButtonBox.StandardButton.Ok


@pytest.fixture
def dialog(qtbot: QtBot) -> ServerDialog:
    made = ServerDialog(None)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitExposed(made)
    made.name.setText("db-old")
    made.address.setText("192.0.2.1")
    made.address.setFocus()
    return made


@pytest.mark.parametrize("by_key", [False, True], ids=["click", "key"])
def test_after_a_test_return_saves_or_tests_and_never_cancels(dialog: ServerDialog, *, by_key: bool) -> None:
    tested: list[Profile] = []
    saved: list[Profile] = []
    dialog.test_wanted.connect(tested.append)
    dialog.submitted.connect(lambda profile, _name: saved.append(profile))
    if by_key:
        dialog.test.setFocus()
        QTest.keyClick(dialog.test, Qt.Key.Key_Space)
    else:
        QTest.mouseClick(dialog.test, Qt.MouseButton.LeftButton)
    focus = dialog.test if by_key else dialog.address
    assert dialog.focusWidget() is focus
    dialog.test.click()
    assert len(tested) == 1  # it is still under way
    dialog.refuse(InputError("no route to host"))
    assert dialog.focusWidget() is focus
    assert not dialog.buttons.button(CANCEL).isDefault()
    QTest.keyClick(focus, Qt.Key.Key_Return)
    assert (len(tested), len(saved)) == ((2, 0) if by_key else (1, 1))
    assert dialog.isVisible()


def test_return_on_cancel_saves_nothing(dialog: ServerDialog) -> None:
    saved: list[Profile] = []
    dialog.submitted.connect(lambda profile, _name: saved.append(profile))
    assert dialog.buttons.button(SAVE).isDefault()
    dialog.buttons.button(CANCEL).setFocus()
    QTest.keyClick(dialog.buttons.button(CANCEL), Qt.Key.Key_Return)
    assert saved == []
    assert not dialog.isVisible()
