import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from core import api
from core.jobs import Job
from core.migration.model import step_ids
from core.migration.model.execution import StopAnswer
from core.migration.model.move import Hook
from core.migration.model.plan import OperatorTask, Step
from core.servers.profiles import ToKeep
from gui.asker import HostKeyQuestion, Question, SecretQuestion, WindowAsker
from gui.bridge import Runner
from gui.destinations import PageId
from gui.dialogs.questions import SecretDialog, TakeOnDialog, TakeOverDialog, dialog_for
from gui.models.prompts import DONE, OPEN_NEW
from gui.pages.execution import MovePage
from gui.widgets.banner import Mood
from gui.widgets.message_box import MessageBox
from gui.widgets.prompt_panel import PromptPanel
from gui.window import MainWindow
from gui.work import Work
from tests.gui.conftest import at_rest
from tests.steps import change_step

FINGERPRINT = "SHA256:Pzv8QnVuZGVsIG9mIGtleXMgaW4gYSBkcmF3ZXI"


@pytest.fixture
def runner(qapp: object) -> Iterator[Runner]:  # noqa: ARG001
    made = Runner()
    yield made
    made.shutdown(5)
    made.deleteLater()


def _dialog(qtbot: QtBot) -> QDialog:
    def found() -> QDialog | None:
        widget = QApplication.activeModalWidget()
        return widget if isinstance(widget, QDialog) else None

    qtbot.waitUntil(lambda: found() is not None)
    dialog = found()
    assert dialog is not None
    return dialog


def _gone(qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)


def test_a_host_key_is_shown_and_accepted(window: MainWindow, work: Work, qtbot: QtBot) -> None:
    answers: list[bool] = []
    work.run(
        "connect", lambda session, _job: session.asker.accept_host_key("db", "192.0.2.1", "ssh-ed25519", FINGERPRINT)
    )
    assert work.task is not None
    work.task.succeeded.connect(answers.append)
    dialog = _dialog(qtbot)
    assert isinstance(dialog, QMessageBox)
    assert FINGERPRINT in dialog.informativeText()
    assert "ssh_host_ed25519_key.pub" in dialog.informativeText()
    assert "db" in dialog.text()
    assert "192.0.2.1" in dialog.text()
    trust = next(button for button in dialog.buttons() if "Trust" in button.text())
    QTest.mouseClick(trust, Qt.MouseButton.LeftButton)
    at_rest(qtbot, window)
    assert answers == [True]
    _gone(qtbot)


def test_escape_and_return_do_not_trust_a_key(window: MainWindow, work: Work, qtbot: QtBot) -> None:
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        answers: list[bool] = []
        work.run("connect", lambda session, _job: session.asker.accept_host_key("db", "h", "ssh-ed25519", FINGERPRINT))
        assert work.task is not None
        work.task.succeeded.connect(answers.append)
        QTest.keyClick(_dialog(qtbot), key)
        at_rest(qtbot, window)
        assert answers == [False]
        _gone(qtbot)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["password", "passphrase", "sudo", "interactive"])
def test_a_secret_is_typed_hidden(window: MainWindow, work: Work, qtbot: QtBot, kind: str) -> None:
    answers: list[str | None] = []
    work.run("connect", lambda session, _job: session.asker.secret("db", "Password of dba on db", kind=kind))
    assert work.task is not None
    work.task.succeeded.connect(answers.append)
    dialog = _dialog(qtbot)
    assert isinstance(dialog, SecretDialog)
    assert dialog.field.echoMode() is dialog.field.EchoMode.Password
    dialog.field.insert("it's $ecret ö")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    at_rest(qtbot, window)
    assert answers == ["it's $ecret ö"]
    _gone(qtbot)


@pytest.mark.parametrize(
    ("kind", "keyring", "offered"), [("sudo", True, True), ("sudo", False, False), ("interactive", True, False)]
)
def test_a_secret_is_kept_in_the_keyring_if_the_operator_wants_it(
    window: MainWindow,
    work: Work,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    keyring: bool,
    offered: bool,
) -> None:
    monkeypatch.setattr(api.servers, "has_keyring", lambda: keyring)
    answers: list[str] = []
    for _ in range(2):
        work.run("connect", lambda session, _job: session.asker.secret("db", "Password", kind=kind))
        assert work.task is not None
        work.task.succeeded.connect(answers.append)
        dialog = _dialog(qtbot)
        assert isinstance(dialog, SecretDialog)
        assert dialog.keep.isVisible() is offered
        dialog.keep.setChecked(offered and not answers)
        dialog.field.setText("typed")
        dialog.accept()
        at_rest(qtbot, window)
        _gone(qtbot)
    assert answers == ["typed", "typed"]
    assert [isinstance(answer, ToKeep) for answer in answers] == [offered, False]


def test_the_banner_says_that_the_keyring_did_not_store_a_secret(
    window: MainWindow, work: Work, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api.servers, "has_keyring", lambda: True)
    answers: list[str] = []
    work.run("connect", lambda session, _job: session.asker.secret("db", "Password of dba on db", kind="password"))
    assert work.task is not None
    work.task.succeeded.connect(answers.append)
    dialog = _dialog(qtbot)
    assert isinstance(dialog, SecretDialog)
    dialog.keep.setChecked(True)
    dialog.field.setText("typed")
    dialog.accept()
    at_rest(qtbot, window)
    _gone(qtbot)
    assert not window.banner.isVisible()
    assert isinstance(answers[0], ToKeep)
    teller = threading.Thread(target=answers[0].not_kept)  # the connection's thread
    teller.start()
    teller.join()
    qtbot.waitUntil(window.banner.isVisible)
    assert (window.banner.mood, "Password of dba on db" in window.banner.text) == (Mood.WRONG, True)


def test_the_eye_shows_what_is_typed(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = dialog_for(SecretQuestion("db", "Password", "sudo"), parent)
    assert isinstance(dialog, SecretDialog)
    field = dialog.field
    hidden, picture = field.eye.text(), field.eye.icon().pixmap(16).toImage()
    QTest.keyClicks(field, "secret")
    assert field.displayText() != "secret"
    field.eye.trigger()
    assert field.displayText() == "secret"
    assert field.eye.text() != hidden
    assert field.eye.icon().pixmap(16).toImage() != picture
    field.eye.trigger()
    assert field.displayText() != "secret"


def test_a_declined_secret_is_none_even_when_something_was_typed(window: MainWindow, work: Work, qtbot: QtBot) -> None:
    answers: list[str | None] = []
    work.run("connect", lambda session, _job: session.asker.secret("db", "Password", kind="password"))
    assert work.task is not None
    work.task.succeeded.connect(answers.append)
    dialog = _dialog(qtbot)
    assert isinstance(dialog, SecretDialog)
    QTest.keyClicks(dialog.field, "half")
    dialog.reject()
    at_rest(qtbot, window)
    assert answers == [None]
    _gone(qtbot)


def test_cancelling_the_job_takes_its_question_back(window: MainWindow, work: Work, qtbot: QtBot) -> None:
    work.run("connect", lambda session, _job: session.asker.secret("db", "Password", kind="password"))
    _dialog(qtbot)
    window.cancel()
    at_rest(qtbot, window)
    _gone(qtbot)


def test_closing_declines_what_is_asked_and_what_will_be(runner: Runner, qtbot: QtBot) -> None:
    asker = WindowAsker()
    asked: list[Question] = []
    answers: list[str | None] = []
    asker.asked.connect(asked.append)

    def ask(_job: Job) -> None:
        answers.append(asker.secret("db", "one", kind="sudo"))
        answers.append(asker.secret("db", "two", kind="sudo"))

    runner.start("ask", ask)
    qtbot.waitUntil(lambda: len(asked) == 1)
    asker.close()
    qtbot.waitUntil(lambda: runner.idle)
    assert answers == [None, None]
    assert len(asked) == 1
    asker.deleteLater()


def test_a_question_counts_its_first_answer(qapp: object) -> None:  # noqa: ARG001
    question = Question("db")
    question.answer("first")
    question.answer(None)
    assert question.wait() == "first"


def panel(window: MainWindow, qtbot: QtBot) -> PromptPanel:
    """The panel in the page Move, once it asks."""
    move = window.show_page(PageId.MOVE)
    assert isinstance(move, MovePage)
    qtbot.waitUntil(lambda: not move.prompt.isHidden() and move.prompt.decline.isEnabled())
    return move.prompt


@pytest.mark.slow
def test_the_cluster_is_stopped_by_its_typed_name_alone(full_window: MainWindow, work: Work, qtbot: QtBot) -> None:
    for typed, expected in (("15/main", True), ("15/other", False)):
        answers: list[StopAnswer] = []
        work.run("execute", lambda _session, _job: work.asker.confirm_stop("15/main", (), warm=False))
        assert work.task is not None
        work.task.succeeded.connect(answers.append)
        asks = panel(full_window, qtbot)
        assert "15/main" in asks.text.text()
        assert not asks.accept.isEnabled()
        QTest.keyClicks(asks.field, typed)
        assert asks.accept.isEnabled() is expected
        (asks.accept if expected else asks.decline).click()
        at_rest(qtbot, full_window)
        assert answers == [StopAnswer.STOP if expected else StopAnswer.DECLINED]
        assert asks.isHidden()


def test_what_pghaul_has_not_recorded_is_taken_over_by_the_typed_name_of_the_move(
    window: MainWindow, work: Work, qtbot: QtBot
) -> None:
    for typed, expected in (("spring", True), ("15/main", False)):
        answers: list[bool] = []
        work.run(
            "execute", lambda _session, _job: work.asker.confirm_take_over("spring", "1. on old as root: evil\nthe end")
        )
        assert work.task is not None
        work.task.succeeded.connect(answers.append)
        dialog = _dialog(qtbot)
        assert isinstance(dialog, TakeOverDialog)
        assert "spring" in dialog.text.text()
        assert dialog.shown.edit.toPlainText() == "1. on old as root: evil\nthe end"
        QTest.keyClicks(dialog.field, typed)
        QTest.keyClick(dialog, Qt.Key.Key_Return if expected else Qt.Key.Key_Escape)
        at_rest(qtbot, window)
        assert answers == [expected]
        _gone(qtbot)


@pytest.mark.parametrize(("typed", "expected"), [("by the pooler", "by the pooler"), ("", "")])
def test_what_a_step_has_found_is_taken_on_with_a_reason(
    typed: str, expected: str, window: MainWindow, work: Work, qtbot: QtBot
) -> None:
    answers: list[str] = []
    work.run("execute", lambda _session, _job: work.asker.accept_finding("old: it cannot be reached"))
    assert work.task is not None
    work.task.succeeded.connect(answers.append)
    dialog = _dialog(qtbot)
    assert isinstance(dialog, TakeOnDialog)
    assert dialog.text.text().startswith("old: it cannot be reached.")
    QTest.keyClick(dialog, Qt.Key.Key_Return)  # without a reason it does nothing
    assert dialog.isVisible()
    QTest.keyClicks(dialog.field, typed)
    QTest.keyClick(dialog, Qt.Key.Key_Return if typed else Qt.Key.Key_Escape)
    at_rest(qtbot, window)
    assert answers == [expected]
    _gone(qtbot)


@pytest.mark.slow
@pytest.mark.parametrize(("button", "expected"), [("accept", True), ("decline", False)])
def test_a_step_of_the_persons_is_asked_for_in_the_page(
    button: str, expected: bool, full_window: MainWindow, work: Work, qtbot: QtBot
) -> None:
    answers: list[bool] = []
    work.run("execute", lambda _session, _job: work.asker.confirm_manual_step(CRON))
    assert work.task is not None
    work.task.succeeded.connect(answers.append)
    asks = panel(full_window, qtbot)
    assert (asks.title.text(), asks.text.text()) == ("Move the cron jobs", "What old runs must run on new.")
    assert asks.table.text == CRON.table
    assert asks.accept.text() == f"&{DONE[Hook.MOVE_CRON_JOBS]}"
    assert asks.back.isHidden()
    assert full_window.job_bar.title.text().endswith(f": {CRON.title}")
    QTest.mouseClick(getattr(asks, button), Qt.MouseButton.LeftButton)
    at_rest(qtbot, full_window)
    assert answers == [expected]


@pytest.mark.slow
def test_the_decision_says_what_its_buttons_do(full_window: MainWindow, work: Work, qtbot: QtBot) -> None:
    work.run(
        "execute",
        lambda _session, _job: work.asker.confirm_manual_step(change_step(CRON, id=step_ids.DECIDE, table="")),
    )
    asks = panel(full_window, qtbot)
    assert asks.accept.text() == OPEN_NEW
    assert not asks.back.isHidden()
    full_window.cancel()
    at_rest(qtbot, full_window)
    assert asks.isHidden()


CRON = Step(
    id=step_ids.MOVE_CRON_JOBS,
    title="Move the cron jobs",
    action=OperatorTask(),
    reason="what old runs must run on new",
    undo="take them back",
    table="old  0 3 * * *  vacuumdb\nnew",
    number=3,
    server="workstation",
)


def test_no_path_in_the_question_for_a_host_key_is_broken(window: MainWindow) -> None:
    box = dialog_for(HostKeyQuestion("db1", "192.0.2.11", "ssh-ed25519", FINGERPRINT), window)
    assert isinstance(box, MessageBox)
    label = box.findChild(QLabel, "qt_msgbox_informativelabel")
    assert label is not None
    command = next(line for line in box.informativeText().split("\n") if "/etc/ssh" in line)
    assert label.minimumWidth() > label.fontMetrics().horizontalAdvance(command)
