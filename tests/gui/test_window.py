"""The main job's ways through the window: servers, moves, jobs, trouble, the end."""

import sys
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from core import api
from core.api.servers import Tried
from core.api.session import Session
from core.errors import AuthenticationError, InputError, PausedError, UnreachableError
from core.history.store import Store
from core.jobs import CommandEnded, CommandStarted, Job, Progress
from core.language import spoken
from core.migration.model.move import EditedSettings
from core.servers.profiles import Profile, Rights
from gui.app import Catcher
from gui.destinations import Offer, PageId
from gui.dialogs.crash import CrashDialog
from gui.dialogs.move import MoveDialog
from gui.dialogs.report import ReportDialog
from gui.dialogs.server import ServerDialog
from gui.pages.kinds import PAGES
from gui.pages.servers import ServersPage
from gui.widgets.banner import Mood
from gui.window import MainWindow
from gui.work import Work
from tests.figures import figures
from tests.gui import samples
from tests.gui.conftest import at_rest, page, press


def _modal(qtbot: QtBot, kind: type) -> object:
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), kind))
    return QApplication.activeModalWidget()


def _server_dialog(qtbot: QtBot) -> ServerDialog:
    dialog = _modal(qtbot, ServerDialog)
    assert isinstance(dialog, ServerDialog)
    return dialog


def _none_open(qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)


@pytest.mark.parametrize("connects", [True, False])
def test_a_server_is_saved_and_connected_to(
    window: MainWindow, store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, connects: bool
) -> None:
    done: list[str] = []

    def tried(_session: Session, server: str, _job: Job) -> Tried:
        done.append(f"test {server} {len(store.profiles())}")
        return Tried(("commands as root: they work",))

    monkeypatch.setattr(api.servers, "test_server", tried)
    monkeypatch.setattr(api.facts, "read_facts", lambda _session, server, _job: done.append(f"read {server}"))
    window.go(Offer.NEW_SERVER)
    dialog = _server_dialog(qtbot)
    dialog.name.setText("db-old")
    dialog.address.setText("192.0.2.11")
    if connects:
        QTest.keyClick(dialog.address, Qt.Key.Key_Return)
    else:
        dialog.save.click()
    _none_open(qtbot)
    at_rest(qtbot, window)
    assert store.profiles() == (Profile("db-old", "192.0.2.11"),)
    assert done == (["test db-old 1", "read db-old"] if connects else [])
    shown = page(qtbot, window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    assert shown.result.text == ("commands as root: they work" if connects else "")


def test_a_server_is_added_from_the_empty_page(window: MainWindow, store: Store, qtbot: QtBot) -> None:
    window.go(Offer.NEW_SERVER)
    dialog = _server_dialog(qtbot)
    QTest.keyClicks(dialog.name, "db-old")
    QTest.keyClicks(dialog.address, "192.0.2.11")
    dialog.port.setValue(2222)
    dialog.rights.setCurrentIndex(dialog.rights.findData(Rights.SUDO_POSTGRES))
    dialog.save.click()
    _none_open(qtbot)
    at_rest(qtbot, window)
    assert store.profiles() == (Profile("db-old", "192.0.2.11", port=2222, rights=Rights.SUDO_POSTGRES),)
    shown = page(qtbot, window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    assert shown.table.current() is not None


def test_what_was_typed_stays_when_it_cannot_be_kept(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.go(Offer.NEW_SERVER)
    dialog = _server_dialog(qtbot)
    dialog.submit()
    assert all(missing in dialog.trouble.text() for missing in ("name", "address"))
    dialog.name.setText("db-old")
    dialog.address.setText("elsewhere")
    dialog.submit()
    qtbot.waitUntil(lambda: "db-old" in dialog.trouble.text())
    assert dialog.isVisible()
    assert dialog.address.text() == "elsewhere"
    dialog.reject()
    _none_open(qtbot)


def test_a_server_is_edited_with_nothing_lost(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    shown.table.choose(1)
    shown.edit.click()
    dialog = _server_dialog(qtbot)
    assert dialog.profile() == samples.NEW
    dialog.name.setText("db-neu")
    dialog.submit()
    _none_open(qtbot)
    at_rest(qtbot, full_window)
    assert full_store.profile("db-neu").jump == samples.NEW.jump
    assert full_store.move("spring").new == "db-neu"


def test_a_server_that_a_move_uses_is_not_removed(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    shown.table.choose(0)
    shown.remove.click()
    box = _modal(qtbot, QMessageBox)
    press(box, QMessageBox.ButtonRole.DestructiveRole)
    qtbot.waitUntil(full_window.banner.isVisible)
    assert "spring" in full_window.banner.text
    assert len(full_store.profiles()) == 2
    _none_open(qtbot)


def test_a_move_is_made_from_what_the_facts_offer(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    full_window.moves_made.new()
    dialog = _modal(qtbot, MoveDialog)
    assert isinstance(dialog, MoveDialog)
    dialog.old.setCurrentText("db-old")
    dialog.new.setCurrentText("db-new")
    assert [dialog.cluster.itemText(i) for i in range(dialog.cluster.count())] == ["/srv/pg/data", samples.ODD_FOLDER]
    dialog.submit()
    assert dialog.isVisible()
    assert "name" in dialog.trouble.text()
    dialog.name.setText("summer")
    dialog.cluster.setCurrentText(samples.ODD_FOLDER)
    dialog.target.setEditText("/srv/pg/neu")
    assert dialog.old_volume.currentText() == "/srv/pg"
    dialog.targets["/srv/ts"].setText("/fast/ts")
    assert not dialog.plain_text.isChecked()
    dialog.plain_text.setChecked(True)
    assert dialog.edited.currentIndex() == 0
    dialog.edited.setCurrentIndex(2)
    dialog.submit()
    _none_open(qtbot)
    qtbot.waitUntil(lambda: full_window.work.move is not None and full_window.work.move.name == "summer")
    made = full_store.move("summer")
    assert (made.cluster, made.target, made.new_volume) == (samples.ODD_FOLDER, "/srv/pg/neu", "/srv/pg")
    assert (made.tablespace_targets, made.plain_text) == ({"/srv/ts": "/fast/ts"}, True)
    assert made.edited is EditedSettings.FILE
    assert full_window.bar.moves.currentText() == "summer"
    at_rest(qtbot, full_window)


def test_the_direction_is_never_guessed_by_the_alphabet(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    full_window.moves_made.new()
    dialog = _modal(qtbot, MoveDialog)
    assert isinstance(dialog, MoveDialog)
    assert (dialog.old.currentText(), dialog.new.currentText()) == ("", "")  # clusters run on both
    dialog.old.setCurrentText("db-new")
    dialog.new.setCurrentText("db-old")
    dialog.swap.click()
    assert (dialog.old.currentText(), dialog.new.currentText()) == ("db-old", "db-new")
    assert dialog.cluster_facts.text().startswith("15/main, ")
    assert figures(dialog.cluster_facts.text()) == ["15.5", "1.1 TiB", "5432"]
    assert figures(dialog.new_space.text()) == ["1.0 TiB", "2.0 TiB"]  # free, of all
    assert all(value in dialog.new_space.text() for value in ("xfs", "/dev/sdb1"))
    dialog.reject()
    _none_open(qtbot)
    idle = replace(samples.facts("db-new", new=True), clusters=(), taken_at=samples.MORNING + timedelta(hours=1))
    full_store.save_facts(idle)
    full_window.moves_made.new()
    dialog = _modal(qtbot, MoveDialog)
    assert isinstance(dialog, MoveDialog)
    assert (dialog.old.currentText(), dialog.new.currentText()) == ("db-old", "db-new")
    dialog.reject()
    _none_open(qtbot)


def test_a_server_is_tried_before_it_is_kept(window: MainWindow, store: Store, qtbot: QtBot) -> None:
    window.go(Offer.NEW_SERVER)
    dialog = _server_dialog(qtbot)
    dialog.test.click()
    assert "address" in dialog.trouble.text()
    assert dialog.test.isEnabled()  # nothing was asked of any server
    dialog.address.setText("no-such-host.invalid")
    dialog.test.click()
    qtbot.waitUntil(lambda: "no-such-host.invalid" in dialog.trouble.text(), timeout=20_000)
    assert "Hint: " in dialog.trouble.text()
    assert dialog.test.isEnabled()
    assert store.profiles() == ()
    dialog.offer(("db-old", "db-new"))
    assert figures(dialog.address.placeholderText()) == ["2"]
    dialog.reject()
    _none_open(qtbot)
    at_rest(qtbot, window)


def test_without_facts_the_volume_is_the_parent_folder(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    full_store.add_profile(Profile("db-third", "192.0.2.3"))
    full_window.moves_made.new()
    dialog = _modal(qtbot, MoveDialog)
    assert isinstance(dialog, MoveDialog)
    dialog.old.setCurrentText("db-third")
    dialog.cluster.setEditText("/pg/15/main")
    assert dialog.old_volume.currentText() == "/pg/15"
    dialog.reject()
    _none_open(qtbot)


def test_a_move_is_edited_with_nothing_lost(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.moves_made.edit_picked()
    dialog = _modal(qtbot, MoveDialog)
    assert isinstance(dialog, MoveDialog)
    assert dialog.move_made() == samples.MOVE
    dialog.target.setEditText("relative/path")
    dialog.submit()
    assert dialog.isVisible()
    assert "relative/path" in dialog.trouble.text()
    dialog.reject()
    _none_open(qtbot)


def test_a_move_without_servers_leads_to_the_servers(window: MainWindow, qtbot: QtBot) -> None:
    page(qtbot, window, PageId.PLAN)
    window.moves_made.new()
    qtbot.waitUntil(window.banner.isVisible)
    assert window.stack.currentWidget() is page(qtbot, window, PageId.SERVERS)


def test_moves_are_picked_at_the_top(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    full_store.add_move(replace(samples.MOVE, name="autumn"))
    full_window.work.changed.emit()
    qtbot.waitUntil(lambda: full_window.bar.moves.count() == 2)
    assert full_window.bar.moves.currentText() == "spring"
    full_window.bar.moves.textActivated.emit("autumn")
    assert full_window.work.move is not None
    assert full_window.work.move.name == "autumn"
    assert full_window.windowTitle().startswith("autumn")
    assert "/srv/pg/data" in full_window.bar.route.text()
    at_rest(qtbot, full_window)


def test_a_removed_move_is_picked_no_more(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.moves_made.remove_picked()
    box = _modal(qtbot, QMessageBox)
    press(box, QMessageBox.ButtonRole.DestructiveRole)
    qtbot.waitUntil(lambda: full_window.work.move is None)
    at_rest(qtbot, full_window)
    assert not full_window.menus.report.isEnabled()
    _none_open(qtbot)


@pytest.mark.parametrize("by_menu", [True, False])
def test_a_removed_move_can_be_restored(
    full_window: MainWindow, full_store: Store, qtbot: QtBot, by_menu: bool
) -> None:
    move, runs = full_store.move("spring"), len(full_store.runs("spring"))
    restore = full_window.menus.restore_move
    assert not restore.isEnabled()
    full_window.moves_made.remove_picked()
    press(_modal(qtbot, QMessageBox), QMessageBox.ButtonRole.DestructiveRole)
    qtbot.waitUntil(lambda: full_window.work.move is None)
    at_rest(qtbot, full_window)
    assert full_store.moves() == ()
    assert full_window.banner.undo.isVisible()
    if by_menu:
        restore.trigger()
    else:
        full_window.banner.undo.click()
    assert not full_window.banner.isVisible()
    qtbot.waitUntil(lambda: full_window.work.move == move)
    at_rest(qtbot, full_window)
    assert (full_store.move("spring"), len(full_store.runs("spring"))) == (move, runs)
    assert runs
    assert not restore.isEnabled()
    full_window.banner.show_message("another message")
    assert not full_window.banner.undo.isVisible()


def test_a_remark_on_the_history_is_shown_whole_in_the_language_of_the_window(
    full_window: MainWindow, qtbot: QtBot
) -> None:
    assert full_window.work.session is not None
    full_window.work.session.store.remarks.append(
        "3 entries in /aside no longer fit into the history; look at them, and remove them"
    )
    with spoken("de"):
        full_window.work.opened.emit()
        shown = full_window.banner.text
    at_rest(qtbot, full_window)
    assert shown == "3 Einträge in /aside passen nicht mehr in den Verlauf; ansehen und entfernen"


def test_a_move_whose_name_is_taken_is_restored_later(full_window: MainWindow, full_store: Store, qtbot: QtBot) -> None:
    move, restore = full_store.move("spring"), full_window.menus.restore_move
    full_window.moves_made.remove_picked()
    press(_modal(qtbot, QMessageBox), QMessageBox.ButtonRole.DestructiveRole)
    qtbot.waitUntil(restore.isEnabled)
    at_rest(qtbot, full_window)
    full_store.add_move(move)
    restore.trigger()
    qtbot.waitUntil(lambda: full_window.banner.mood is Mood.WRONG)
    at_rest(qtbot, full_window)
    assert restore.isEnabled()
    full_store.update_move(replace(move, name="another"), "spring")
    restore.trigger()
    at_rest(qtbot, full_window)
    assert {each.name for each in full_store.moves()} == {"another", "spring"}
    assert not restore.isEnabled()


def test_a_move_that_cannot_be_restored_does_not_block_the_others(
    full_window: MainWindow, full_store: Store, qtbot: QtBot
) -> None:
    move, restore = full_store.move("spring"), full_window.menus.restore_move
    full_store.add_move(replace(move, name="another"))
    full_window.work.changed.emit()
    for name in ("another", "spring"):
        full_window.moves_made.remove(name)
        press(_modal(qtbot, QMessageBox), QMessageBox.ButtonRole.DestructiveRole)
        qtbot.waitUntil(restore.isEnabled)
        at_rest(qtbot, full_window)
    full_store.add_move(replace(move, name="spring"))
    restore.trigger()
    qtbot.waitUntil(lambda: full_window.banner.mood is Mood.WRONG)
    at_rest(qtbot, full_window)
    restore.trigger()
    at_rest(qtbot, full_window)
    assert {each.name for each in full_store.moves()} == {"another", "spring"}
    assert restore.isEnabled()


@pytest.mark.slow
def test_pages_by_keyboard(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.activateWindow()
    qtbot.waitUntil(full_window.isActiveWindow)
    for number, kind in enumerate(PAGES[:9], 1):
        QTest.keyClick(full_window, getattr(Qt.Key, f"Key_{number}"), Qt.KeyboardModifier.ControlModifier)
        assert isinstance(full_window.stack.currentWidget(), kind.load())
        at_rest(qtbot, full_window)


def test_the_job_bar_and_the_commands_follow_a_job(full_window: MainWindow, qtbot: QtBot) -> None:
    go_on = threading.Event()

    def work(_session: object, job: Job) -> None:
        job.report(CommandStarted("db-old", "dba", "rsync -a 'it''s' new:"))
        job.report(Progress("copy", "copy", 3 << 40, 12 << 40, "bytes"))
        go_on.wait(10)
        job.report(CommandEnded("db-old", "rsync -a 'it''s' new:", 0, 2.0))

    full_window.work.run("Copying spring", work)
    bar = full_window.job_bar
    qtbot.waitUntil(lambda: bar.bar.maximum() == 1000)
    assert bar.bar.value() == 250
    assert bar.title.text() == "Copying spring: copy"
    assert figures(bar.words.text())[:2] == ["3.0 TiB", "12.0 TiB"]
    assert bar.cancel.isVisible()
    go_on.set()
    at_rest(qtbot, full_window)
    assert bar.title.text() == "Ready"
    assert not bar.cancel.isVisible()
    last = full_window.pane.table.rows.rows[-1]
    assert (last.text, last.exit_status) == ("rsync -a 'it''s' new:", 0)
    full_window.pane.table.choose(full_window.pane.table.rows.rowCount() - 1)
    full_window.pane.copy()
    assert QApplication.clipboard().text() == "rsync -a 'it''s' new:"


def test_the_commands_of_one_server(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.pane.take((CommandStarted("db-new", "dba", "df"),))
    full_window.pane.server.setCurrentText("db-new")
    assert [line.text for line in full_window.pane.table.rows.rows] == ["df"]
    qtbot.wait(0)


def test_a_users_error_is_said_with_its_hint(full_window: MainWindow, qtbot: QtBot) -> None:
    def refuse(_session: object, _job: Job) -> None:
        raise AuthenticationError("db-old did not accept the key of dba", "add the key: ssh-copy-id dba@db-old")

    full_window.work.run("Testing", refuse)
    qtbot.waitUntil(full_window.banner.isVisible)
    assert full_window.banner.text == "db-old did not accept the key of dba\nHint: add the key: ssh-copy-id dba@db-old"
    at_rest(qtbot, full_window)


def test_a_bug_shows_its_traceback(full_window: MainWindow, qtbot: QtBot) -> None:
    def fail(_session: object, _job: Job) -> None:
        raise ZeroDivisionError("a bug")

    full_window.work.run("Failing", fail)
    dialog = _modal(qtbot, CrashDialog)
    assert isinstance(dialog, CrashDialog)
    assert "ZeroDivisionError: a bug" in dialog.text.text
    assert "in fail" in dialog.text.text
    dialog.reject()
    _none_open(qtbot)
    at_rest(qtbot, full_window)


def test_what_nobody_caught_is_caught(qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    catcher = Catcher()
    seen: list[BaseException] = []
    catcher.caught.connect(seen.append)
    before = sys.excepthook, threading.excepthook
    catcher.install()
    try:
        sys.excepthook(ValueError, ValueError("here"), None)
        thread = threading.Thread(target=lambda: int("there"))
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: len(seen) == 2)
    finally:
        sys.excepthook, threading.excepthook = before
    assert str(seen[0]) == "here"
    assert "there" in str(seen[1])
    assert "ValueError: here" in capsys.readouterr().err


def test_closing_asks_while_a_job_runs(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.work.run("wait", lambda _session, job: job.wait(20))
    full_window.close()
    box = _modal(qtbot, QMessageBox)
    assert full_window.isVisible()
    press(box, QMessageBox.ButtonRole.RejectRole)
    _none_open(qtbot)
    assert full_window.work.busy
    full_window.close()
    box = _modal(qtbot, QMessageBox)
    press(box, QMessageBox.ButtonRole.DestructiveRole)
    qtbot.waitUntil(lambda: not full_window.isVisible())
    at_rest(qtbot, full_window)


def _report_dialog(qtbot: QtBot, window: MainWindow) -> ReportDialog:
    window.save_report()
    dialog = _modal(qtbot, ReportDialog)
    assert isinstance(dialog, ReportDialog)
    return dialog


@pytest.mark.slow
def test_the_report_is_written_where_the_user_says(full_window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    asked = _report_dialog(qtbot, full_window)
    asked.language.setCurrentIndex(asked.language.findData("de"))
    path = tmp_path / "it's ö.pdf"
    asked.path.setText(str(tmp_path))
    assert asked.file() == tmp_path / "spring.pdf"
    asked.path.setText(str(path.with_suffix("")))  # the ending follows from the format
    asked.submit()
    qtbot.waitUntil(full_window.banner.open.isVisible, timeout=20_000)  # what was saved can be opened
    assert path.read_bytes().startswith(b"%PDF")
    _none_open(qtbot)
    at_rest(qtbot, full_window)


def test_the_ending_of_a_reports_file_is_its_format_and_its_format_the_ending(
    full_window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    asked = _report_dialog(qtbot, full_window)
    asked.path.setText(str(tmp_path / "night.MD"))
    assert asked.shape.currentData() == "md"
    asked.shape.setCurrentIndex(asked.shape.findData("html"))
    assert asked.path.text() == str(tmp_path / "night.html")
    asked.submit()
    qtbot.waitUntil(full_window.banner.open.isVisible, timeout=20_000)  # what was saved can be opened
    assert "<html" in (tmp_path / "night.html").read_text()
    _none_open(qtbot)
    at_rest(qtbot, full_window)


def test_who_writes_a_report_over_a_file_knows_it_beforehand(
    full_window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "there.pdf").write_text("x")
    asked = _report_dialog(qtbot, full_window)
    do_it = asked.buttons.button(QDialogButtonBox.StandardButton.Ok)
    asked.path.setText(str(tmp_path / "there"))
    assert asked.existing.isVisible()
    assert do_it.text().replace("&", "") == "Replace"
    asked.path.setText(str(tmp_path / "other"))
    assert not asked.existing.isVisible()
    assert do_it.text().replace("&", "") == "Save"
    asked.reject()
    _none_open(qtbot)


def test_a_report_that_has_no_folder_is_refused_before_it_is_made(
    full_window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    asked = _report_dialog(qtbot, full_window)
    said: list[str] = []
    for typed in (str(tmp_path / "none" / "x.pdf"), "  ", "x" * 5000 + "/x"):
        asked.path.setText(typed)
        asked.submit()
        assert asked.isVisible()
        assert "Hint: " in asked.trouble.text()
        said.append(asked.trouble.text())
    in_none, in_no_file, in_too_long = said
    assert str(tmp_path / "none") in in_none
    assert "xxx" in in_too_long
    assert "/" not in in_no_file.partition("Hint: ")[0]  # it is about no path
    asked.reject()
    _none_open(qtbot)
    assert not full_window.work.busy


def test_browsing_for_a_reports_file_fills_the_field(full_window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    asked = _report_dialog(qtbot, full_window)
    asked.path.setText(str(tmp_path / "spring.json"))
    asked.browse.click()
    files = _modal(qtbot, QFileDialog)
    assert isinstance(files, QFileDialog)
    assert Path(files.directory().absolutePath()) == tmp_path
    files.fileSelected.emit(str(tmp_path / "autumn.json"))
    files.reject()
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is asked)
    assert asked.path.text() == str(tmp_path / "autumn.json")
    asked.reject()
    _none_open(qtbot)


def test_a_history_that_cannot_be_opened_is_said(work: Work, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    made = MainWindow(work)
    made.show()
    work.open(tmp_path / "file")
    qtbot.waitUntil(made.banner.isVisible)
    assert str(tmp_path / "file") in made.banner.text
    assert not made.menus.new_move.isEnabled()
    made.close()
    made.deleteLater()


def test_the_box_of_moves_is_as_wide_as_the_name_of_a_move_made_later(
    window: MainWindow, store: Store, qtbot: QtBot
) -> None:
    store.add_profile(samples.OLD)
    store.add_profile(samples.NEW)
    store.add_move(replace(samples.MOVE, name="the old storage of the shop to the new one"))
    window.work.changed.emit()
    qtbot.waitUntil(lambda: window.bar.moves.count() == 1)
    at_rest(qtbot, window)
    needed = window.bar.moves.fontMetrics().horizontalAdvance(window.bar.moves.currentText())
    qtbot.waitUntil(lambda: window.bar.moves.width() > needed, timeout=2000)


@pytest.mark.parametrize(("error", "mood"), [(PausedError("a"), Mood.TOLD), (InputError("a"), Mood.WRONG)])
def test_what_the_operator_ended_is_told_without_alarm(
    full_window: MainWindow, error: PausedError | InputError, mood: Mood
) -> None:
    full_window.show_trouble(error)
    assert (full_window.banner.text, full_window.banner.mood) == ("a", mood)


def test_a_pause_while_the_old_cluster_is_stopped_says_so_with_alarm(full_window: MainWindow) -> None:
    error = PausedError("It ended before step 9.", "go on")
    error.stands = "The old cluster is stopped."
    full_window.show_trouble(error)
    assert full_window.banner.mood is Mood.WRONG
    assert full_window.banner.text.splitlines()[0] == "It ended before step 9. The old cluster is stopped."


def test_two_servers_are_tested_and_read_by_one_click(
    full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr("core.api.facts.read_facts", lambda _session, name, _job: read.append(name))
    monkeypatch.setattr(
        "core.api.servers.test_server", lambda _session, name, _job: SimpleNamespace(sentences=(f"{name} answers",))
    )
    shown = page(qtbot, full_window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    shown.table.selectAll()
    qtbot.waitUntil(shown.test.isEnabled)
    assert not shown.edit.isEnabled()
    shown.test.click()
    qtbot.waitUntil(shown.result.isVisible)
    at_rest(qtbot, full_window)
    assert shown.result.text == "db-old:\ndb-old answers\n\ndb-new:\ndb-new answers"
    qtbot.waitUntil(shown.facts.isEnabled)  # both stay selected when the page is read again
    shown.facts.click()
    at_rest(qtbot, full_window)
    assert read == ["db-old", "db-new"]


def test_a_server_that_fails_does_not_keep_the_others_from_their_turn(
    full_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def turn(_session: object, name: str, _job: object) -> SimpleNamespace:
        if name == "db-old":  # the first one
            raise UnreachableError("db-old does not answer")
        read.append(name)
        return SimpleNamespace(sentences=(f"{name} answers",))

    monkeypatch.setattr("core.api.facts.read_facts", turn)
    monkeypatch.setattr("core.api.servers.test_server", turn)
    shown = page(qtbot, full_window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    shown.table.selectAll()
    qtbot.waitUntil(shown.test.isEnabled)
    shown.test.click()
    qtbot.waitUntil(shown.result.isVisible)
    at_rest(qtbot, full_window)
    assert shown.result.text == "db-old:\ndb-old does not answer\n\ndb-new:\ndb-new answers"
    qtbot.waitUntil(shown.facts.isEnabled)
    shown.facts.click()
    at_rest(qtbot, full_window)
    assert read == ["db-new", "db-new"]
    qtbot.waitUntil(lambda: shown.result.text == "db-old:\ndb-old does not answer")
