"""The dialog of a move's hooks: what is shown, what is saved, and what is refused."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.history.store import Store
from core.migration.model.move import WORKSTATION, Hook, HookCommand, HookSide
from core.sides import Side
from gui.destinations import PageId
from gui.dialogs.hooks import HooksDialog, Row
from gui.pages.plan import PlanPage
from gui.window import MainWindow
from tests.gui import samples
from tests.gui.conftest import at_rest, page

STOP = HookCommand(Hook.STOP_APPLICATIONS, Side.OLD, "systemctl stop shop", "root")
ADDRESS = HookCommand(Hook.MOVE_ADDRESS, Side.NEW, "ip address add 192.0.2.10/24 dev eth0")


def _type(row: Row, side: object, command: str = "", user: str = "") -> None:
    row.place.setCurrentIndex(row.place.findData(side))
    row.command.setText(command)
    row.user.setText(user)


@pytest.fixture
def dialog(qtbot: QtBot) -> HooksDialog:
    made = HooksDialog(samples.MOVE, (STOP, ADDRESS))
    qtbot.addWidget(made)
    made.show()
    return made


def _submitted(dialog: HooksDialog) -> list[dict[Hook, HookCommand | None]]:
    found: list[dict[Hook, HookCommand | None]] = []
    dialog.submitted.connect(found.append)
    dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
    return found


def test_only_what_was_changed_is_submitted(dialog: HooksDialog) -> None:
    assert _submitted(dialog) == [{}]
    _type(dialog.rows[Hook.STOP_APPLICATIONS], None)
    _type(dialog.rows[Hook.MOVE_ADDRESS], Side.NEW, ADDRESS.command, "root")
    _type(dialog.rows[Hook.TELL_POOLER], WORKSTATION, "./pooler new ", "left from another side")
    assert _submitted(dialog) == [
        {
            Hook.STOP_APPLICATIONS: None,
            Hook.MOVE_ADDRESS: HookCommand(Hook.MOVE_ADDRESS, Side.NEW, ADDRESS.command, "root"),
            Hook.TELL_POOLER: HookCommand(Hook.TELL_POOLER, WORKSTATION, "./pooler new"),
        }
    ]


def test_a_hook_without_a_command_is_refused(dialog: HooksDialog) -> None:
    _type(dialog.rows[Hook.MOVE_CRON_JOBS], Side.OLD, "  ")
    assert _submitted(dialog) == []
    assert dialog.trouble.isVisible()
    assert dialog.isVisible()


@pytest.mark.parametrize(
    ("side", "command", "user"), [(None, False, False), (Side.OLD, True, True), (WORKSTATION, True, False)]
)
def test_the_place_says_which_fields_it_needs(dialog: HooksDialog, side: object, command: bool, user: bool) -> None:
    row = dialog.rows[Hook.STOP_APPLICATIONS]
    _type(row, side)
    assert (row.command.isEnabled(), row.user.isEnabled()) == (command, user)


def test_a_hook_of_somebody_else_is_marked_and_not_signed_unless_it_is_changed(qtbot: QtBot) -> None:
    foreign = HookCommand(STOP.hook, STOP.side, STOP.command, STOP.user, from_elsewhere=True)
    dialog = HooksDialog(samples.MOVE, (foreign, ADDRESS))
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.foreign.isVisible()
    assert dialog.foreign.text().endswith(": Stop the applications")
    assert _submitted(dialog) == [{}]


LONG = "true " + "x" * 40_000


@pytest.mark.parametrize(
    ("side", "command", "user"),
    [
        (Side.OLD, "systemctl stop shop ", "root"),
        (Side.OLD, "systemctl stop shop", ""),
        (WORKSTATION, "./stop", "root"),
        (Side.OLD, LONG, "root"),
    ],
    ids=["blank", "empty user", "user on the workstation", "long"],
)
def test_a_hook_that_nobody_touched_is_not_submitted(qtbot: QtBot, side: HookSide, command: str, user: str) -> None:
    foreign = HookCommand(STOP.hook, side, command, user, from_elsewhere=True)
    dialog = HooksDialog(samples.MOVE, (foreign, ADDRESS))
    qtbot.addWidget(dialog)
    dialog.show()
    assert _submitted(dialog) == [{}]
    dialog.rows[Hook.MOVE_ADDRESS].user.setText("root")
    assert _submitted(dialog) == [{Hook.MOVE_ADDRESS: replace(ADDRESS, user="root")}]


def test_a_long_command_stays_whole_when_its_user_changes(qtbot: QtBot) -> None:
    dialog = HooksDialog(samples.MOVE, (replace(STOP, command=LONG),))
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.rows[STOP.hook].user.setText("dba")
    assert _submitted(dialog) == [{STOP.hook: replace(STOP, command=LONG, user="dba")}]


def test_hooks_are_set_on_the_page_of_the_plan(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.PLAN)
    assert isinstance(shown, PlanPage)
    name = samples.MOVE.name
    full_store.save_hook(name, ADDRESS)
    shown.hooks.click()
    qtbot.waitUntil(lambda: shown.findChild(HooksDialog) is not None)
    dialog = shown.findChild(HooksDialog)
    assert dialog is not None
    row = dialog.rows[Hook.STOP_APPLICATIONS]
    _type(dialog.rows[Hook.MOVE_ADDRESS], None)
    _type(row, Side.OLD, "PGPASSWORD=hunter22 psql", "root")
    QTest.keyClick(row.command, Qt.Key.Key_Return)
    qtbot.waitUntil(dialog.trouble.isVisible)  # the history keeps no secret
    row.command.setText(STOP.command)
    QTest.keyClick(row.command, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown.findChild(HooksDialog) is None)
    at_rest(qtbot, full_window)
    assert full_store.hooks(name) == (STOP,)
