"""The dialog of a server: where the focus stays, and what Return does."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.api.servers import ServerUse
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
    focus = dialog.test if by_key else dialog.hosts
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


def test_a_picked_host_names_the_server_unless_it_has_a_name(dialog: ServerDialog) -> None:
    dialog.offer(("alpha", "beta"))
    assert dialog.address.text() == "192.0.2.1"  # what was typed stays
    assert [dialog.hosts.itemText(number) for number in range(dialog.hosts.count())] == ["alpha", "beta"]
    dialog.name.clear()
    for host in ("alpha", "beta"):
        dialog.hosts.setCurrentIndex(dialog.hosts.findText(host))
        dialog.hosts.textActivated.emit(host)
        assert (dialog.name.text(), dialog.profile().address) == (host, host)
    dialog.name.setText("mine")
    dialog.hosts.setCurrentIndex(0)
    dialog.hosts.textActivated.emit("alpha")
    assert (dialog.name.text(), dialog.profile().address) == ("mine", "alpha")
    assert dialog.hosts.count() == 2


def test_nothing_is_picked_before_a_person_picks(qtbot: QtBot) -> None:
    made = ServerDialog(None)
    qtbot.addWidget(made)
    made.offer(("alpha",))
    assert made.profile().address == ""


def test_only_a_new_server_is_connected_to(qtbot: QtBot) -> None:
    for profile, connects in ((None, True), (Profile("db-old", "192.0.2.1"), False)):
        made = ServerDialog(profile)
        qtbot.addWidget(made)
        made.name.setText("db-old")
        made.address.setText("192.0.2.1")
        made.submit()
        assert made.connects is connects
        assert made.save.isHidden() is not connects


def test_tab_goes_from_field_to_field(dialog: ServerDialog) -> None:
    dialog.name.setFocus()
    for field in (dialog.hosts, dialog.user, dialog.port, dialog.identity_file):
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        assert dialog.focusWidget() is field
    typed = dialog.address.text()
    dialog.hosts.setFocus()
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_End)
    QTest.keyClicks(dialog.focusWidget(), "5")
    assert dialog.address.text() == f"{typed}5"


@pytest.mark.parametrize("fixed", [{"address", "port"}, {"address", "port", "name", "user", "jump"}])
def test_what_an_unfinished_move_fixes_cannot_be_edited(qtbot: QtBot, fixed: set[str]) -> None:
    profile = Profile("db-old", "192.0.2.1", user="dba", port=2222)
    made = ServerDialog(profile)
    qtbot.addWidget(made)
    made.fix(None)
    fields = {"name": made.name, "address": made.hosts, "port": made.port, "user": made.user, "jump": made.jump}
    assert all(field.isEnabled() for field in fields.values())
    assert made.fixed.isHidden()
    made.fix(ServerUse("spring", frozenset(fixed), "Execution 7 of the move has not ended."))
    assert {name for name, field in fields.items() if not field.isEnabled()} == fixed
    assert all("spring" in fields[name].toolTip() for name in fixed)
    assert not made.fixed.isHidden()
    assert made.rights.isEnabled()
    assert made.profile() == profile
