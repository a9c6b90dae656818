"""What a server can be to a window that it should not be: each is seen as a sentence that says what to do."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.history.store import Store
from core.migration.model.checks import Status
from core.migration.model.move import Move
from core.servers.profiles import Profile, Rights
from core.servers.secrets import session_secrets
from gui.dialogs.questions import SecretDialog
from gui.dialogs.server import ServerDialog
from gui.models.queue import MeasuredSides
from gui.pages.check import CheckPage
from gui.pages.measure import MeasurePage
from gui.pages.page import AnyPage
from gui.pages.plan import PlanPage
from gui.pages.servers import ServersPage
from gui.window import MainWindow
from tests.figures import without
from tests.lab import clusters
from tests.lab.lab import Lab
from tests.live.windows import PATIENCE_MS, Hand, opened

pytestmark = [
    pytest.mark.lab,
    pytest.mark.usefixtures("clean_hosts"),
    pytest.mark.qt_log_level_fail("DEBUG"),
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
SMALL = 50_000_000
"""Bytes that a full disk has left."""


@pytest.fixture
def known_keys(lab: Lab) -> Path:
    """The DBA has been on both hosts before; the file that says so."""
    made = Path.home() / ".ssh" / "known_hosts"
    shutil.copy(lab.known_hosts, made)
    return made


@pytest.fixture
def window(
    qapp: QApplication,
    known_keys: Path,  # noqa: ARG001  a fixture
    old_profile: Profile,
    new_profile: Profile,
    tmp_path: Path,
    qtbot: QtBot,
) -> Iterator[MainWindow]:
    """On a history with both servers and a move of the cluster that old has."""
    with Store.open(tmp_path / "history") as store:
        for profile in (old_profile, new_profile):
            store.add_profile(profile)
        store.add_move(Move("spring", "old", "new", clusters.DATA, clusters.NEW_DATA, "/srv/pg", "/srv/pg"))
    with opened(qapp, tmp_path / "history") as made:
        qtbot.waitUntil(lambda: made.work.move is not None, timeout=PATIENCE_MS)
        yield made


@pytest.fixture
def full_disk(lab: Lab) -> Iterator[None]:
    free = lab.old.exec("df", "--output=avail", "-B1", "/srv/pg").stdout.split()[1]
    lab.old.exec("fallocate", "-l", str(int(free) - SMALL), "/srv/pg/filler")
    yield
    lab.old.exec("rm", "/srv/pg/filler")


def shown(window: MainWindow, qtbot: QtBot, kind: type[AnyPage]) -> AnyPage:
    page = window.show_page(kind.id)
    qtbot.waitUntil(lambda: page.shown and window.work.runner.idle, timeout=PATIENCE_MS)
    return page


def tried(window: MainWindow, qtbot: QtBot, profile: Profile, answer: str | None = None) -> ServerDialog:
    """The dialog of a new server, after Test; each secret that is asked for is answered so, or declined."""
    session_secrets.forget_server(profile.name)
    page = shown(window, qtbot, ServersPage)
    assert isinstance(page, ServersPage)
    page.add_one()
    dialog = Hand(qtbot, window).wait_for(ServerDialog)
    dialog.name.setText(profile.name)
    dialog.address.setText(profile.address)
    dialog.user.setText(profile.user or "")
    dialog.port.setValue(profile.port or 0)
    dialog.identity_file.setText(profile.identity_file or "")
    dialog.rights.setCurrentIndex(dialog.rights.findData(profile.rights))
    dialog.test.click()

    def ended() -> bool:
        asks = QApplication.activeModalWidget()
        if isinstance(asks, SecretDialog):
            asks.field.setText(answer or "")
            (asks.reject if answer is None else asks.accept)()
        return not window.work.busy and dialog.test.isEnabled()

    qtbot.waitUntil(ended, timeout=PATIENCE_MS)
    return dialog


def strange_key(folder: Path) -> str:
    """A private key that no server knows."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "strange"], check=True)
    return str(folder / "strange")


def test_a_wrong_field_is_said_where_it_was_typed(window: MainWindow, qtbot: QtBot, old_profile: Profile) -> None:
    other, reasons = replace(old_profile, name="other"), set()
    for wrong, said in (
        (replace(other, address="no-such-host.invalid"), "no-such-host.invalid"),
        (replace(other, port=9), "port 9 "),
        (replace(other, user="nobody-here"), "nobody-here"),
    ):
        dialog = tried(window, qtbot, wrong)
        reasons.add(without((wrong.address, str(wrong.port or 22), str(wrong.user)), dialog.trouble.text()))
        complains(dialog, said)
    assert len(reasons) == 3


def test_a_wrong_key(window: MainWindow, qtbot: QtBot, old_profile: Profile, tmp_path: Path) -> None:
    wrong = replace(old_profile, name="other", identity_file=strange_key(tmp_path))
    complains(tried(window, qtbot, wrong), f"{old_profile.user}")


def test_a_wrong_password(window: MainWindow, qtbot: QtBot, old_profile: Profile) -> None:
    wrong = replace(old_profile, name="other", identity_file=None)
    complains(tried(window, qtbot, wrong, answer="not it"), f"{old_profile.user}")


def test_a_changed_host_key(window: MainWindow, qtbot: QtBot, lab: Lab, old_profile: Profile, known_keys: Path) -> None:
    key = lab.user_ca.with_suffix(".pub").read_text()  # any other key of that type
    known_keys.write_text(f"{lab.old.address} {key}")
    complains(tried(window, qtbot, replace(old_profile, name="other")), "SHA256:")


def complains(dialog: ServerDialog, said: str) -> None:
    """A sentence with its remedy, and what was typed still there."""
    text = dialog.trouble.text()
    assert dialog.trouble.isVisible()
    assert said in text
    assert "Hint: " in text
    assert dialog.isVisible()
    dialog.reject()


def test_no_sudo(window: MainWindow, qtbot: QtBot, nosudo_profile: Profile) -> None:
    dialog = tried(window, qtbot, replace(nosudo_profile, rights=Rights.SUDO))
    assert dialog.found.isVisible()
    text = dialog.found.text()
    assert "): they fail: " in text
    assert "hint: " in text
    dialog.reject()


@pytest.mark.long
def test_the_cable_is_out(window: MainWindow, qtbot: QtBot, lab: Lab) -> None:
    page = shown(window, qtbot, CheckPage)
    assert isinstance(page, CheckPage)
    lab.cut("old")
    page.start.click()
    qtbot.waitUntil(window.banner.isVisible, timeout=PATIENCE_MS)
    assert "old" in window.banner.text
    assert "Hint: " in window.banner.text
    qtbot.waitUntil(lambda: window.work.runner.idle, timeout=PATIENCE_MS)


@pytest.mark.long
def test_no_postgresql_in_the_folder(window: MainWindow, qtbot: QtBot) -> None:
    session = window.work.session
    assert session is not None
    session.store.update_move(replace(session.store.move("spring"), cluster="/srv/pg/nothing"), "spring")
    window.work.changed.emit()
    page = shown(window, qtbot, CheckPage)
    assert isinstance(page, CheckPage)
    page.start.click()
    qtbot.waitUntil(lambda: page.table.rows.rowCount() > 0 and not window.work.busy, timeout=PATIENCE_MS)
    (found,) = [row for row in page.table.rows.rows if row.id == "cluster-exists"]
    assert found.status is Status.BLOCKER
    assert found.hint
    plan = shown(window, qtbot, PlanPage)
    assert isinstance(plan, PlanPage)
    plan.start.click()
    qtbot.waitUntil(window.banner.isVisible, timeout=PATIENCE_MS)
    assert "/srv/pg/nothing" in window.banner.text
    assert "Hint: " in window.banner.text
    qtbot.waitUntil(lambda: window.work.runner.idle, timeout=PATIENCE_MS)


@pytest.mark.long
@pytest.mark.usefixtures("full_disk")
def test_a_full_disk(window: MainWindow, qtbot: QtBot) -> None:
    page = shown(window, qtbot, MeasurePage)
    assert isinstance(page, MeasurePage)
    page.sides.setCurrentIndex(page.sides.findData(MeasuredSides.OLD_ONLY.value))
    page.forecast.click()
    qtbot.waitUntil(page.forecasts.isVisible, timeout=PATIENCE_MS)
    (row,) = page.forecasts.rows.rows
    assert any("MiB free" in problem for problem in row.forecast.problems)
    assert not page.start.isEnabled()
    assert "cannot start" in page.hint.text()
