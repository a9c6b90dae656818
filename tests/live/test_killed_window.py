"""The window killed while it moves a cluster; opened again, its strip leads to either end, and nothing is left."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.history.store import Store
from core.migration.model import step_ids
from core.migration.model.execution import State
from core.servers.profiles import Profile
from gui.dialogs.confirm import NameDialog
from gui.models.prompts import CUTOVER, STOP
from gui.pages.execution import MovePage
from gui.window import MainWindow
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.live import moving as site
from tests.live.moving import DATA, MOVE, ROOT, TARGET, sql
from tests.live.windows import PATIENCE_MS, Hand, opened

pytestmark = [
    pytest.mark.lab,
    pytest.mark.timeout(600),  # a minute where nothing else keeps the machine busy
    pytest.mark.qt_log_level_fail("DEBUG"),
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
PROJECT = Path(__file__).resolve().parents[2]
SLOW, SLOWER = "20mbit", "2mbit"
"""The cable while the first copy is to be killed, and while the last is: it then takes some seconds."""
CHANGE = "update pgbench_accounts set abalance = aid where aid <= 2000"
LOOK, CHANGED = "select count(*), sum(abalance) from pgbench_accounts", "100000|2001000"
"""What LOOK finds once CHANGE was made, on whichever host serves."""
FIRST_SECOND = 1.0
NEVER_MS = 3_600_000
TO_THE_END_MS = 240_000


def spread_over_ten_tablespaces(old: Host) -> None:
    """What is changed later moves to one of them; the others hold a table each that nobody changes."""
    for number in range(10):
        folder = f"{ROOT}/ten/{number}"
        old.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", f"{ROOT}/ten", folder)
        sql(old, f"create tablespace ten_{number} location '{folder}'")
        sql(old, f"create table still_{number} tablespace ten_{number} as select 1 as one")
    sql(old, "alter table pgbench_accounts set tablespace ten_0")


@pytest.fixture(params=["one folder", "ten tablespaces"])
def history(
    cluster: Lab, old_profile: Profile, new_profile: Profile, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """A history with the move of a cluster that runs; in the end nothing of ours may be on the hosts."""
    shutil.copy(cluster.known_hosts, Path.home() / ".ssh" / "known_hosts")
    folder = tmp_path / "history"
    with Store.open(folder) as store:
        store.add_profile(old_profile)
        store.add_profile(new_profile)
        store.add_move(MOVE)
    with site.nothing_left(cluster):
        if request.param == "ten tablespaces":
            spread_over_ten_tablespaces(cluster.old)
        yield folder


@contextmanager
def driven(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """The window in a process of its own, at its move; killed in the end."""
    words = [sys.executable, "-X", "faulthandler", "-m", "tests.live.driven_window", str(folder)]
    with subprocess.Popen(
        words, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def is_asked(process: "subprocess.Popen[str]", title: str) -> None:
    """Wait until the window asks that."""
    assert process.stdout is not None
    assert process.stderr is not None
    asked = process.stdout.readline().rstrip("\n")
    assert asked == title, asked or f"it ended with {process.wait()}: {process.stderr.read()}"


def answer(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("yes\n")
    process.stdin.flush()


def at_step(process: "subprocess.Popen[str]", folder: Path, name: str, *, copied: bool) -> None:
    """Wait until a step of the window's whose id begins so runs; `copied`: and has copied something."""
    with Store.open(folder) as store:

        def copies() -> bool:
            assert process.poll() is None, process.communicate()[1]
            latest = store.latest_execution(MOVE.name)
            last = latest.steps[-1] if latest is not None and latest.steps else None
            if latest is None or last is None:
                return False
            runs = latest.plan.steps[last.number - 1].id.startswith(name) and last.ended_at is None
            return runs and (bool(last.bytes) or not copied)

        wait_until(copies, f"{name} to run", seconds=TO_THE_END_MS / 1000)


def in_a_warm_pass(process: "subprocess.Popen[str]", cluster: Lab, folder: Path) -> str:
    sql(cluster.old, CHANGE)
    cluster.shape(SLOW)
    at_step(process, folder, step_ids.of_part(step_ids.PRE_COPY, 1, ""), copied=True)
    process.kill()
    return f"{MOVE.name}: The old cluster is as before."


def in_the_stop(process: "subprocess.Popen[str]", cluster: Lab, folder: Path) -> str:
    is_asked(process, STOP.format(cluster=DATA))
    answer(process)
    is_asked(process, "Stop the applications")
    sql(cluster.old, CHANGE)
    cluster.shape(SLOWER)
    answer(process)
    at_step(process, folder, step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, ""), copied=False)
    process.kill()
    return f"{MOVE.name}: The old cluster has been stopped since "


def at_the_decision(process: "subprocess.Popen[str]", cluster: Lab, folder: Path) -> str:  # noqa: ARG001  a fixture
    is_asked(process, STOP.format(cluster=DATA))
    answer(process)
    is_asked(process, "Stop the applications")
    sql(cluster.old, CHANGE)
    answer(process)
    is_asked(process, CUTOVER)
    process.kill()
    return f"{MOVE.name}: The old cluster has been stopped since "


Killing = Callable[["subprocess.Popen[str]", Lab, Path], str]
PLACES = {"warm": in_a_warm_pass, "stop": in_the_stop, "decision": at_the_decision}


@contextmanager
def killed(
    killing: Killing, cluster: Lab, folder: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    """Kill the window there and open another one, whose strip is there at once and says how the move stands.

    At once: with the first look at the history, not with the next, within a second of what this process computes; how
    long that takes by the clock says how busy the machine is.
    """
    monkeypatch.setattr("gui.controllers.executions.LOOK_MS", NEVER_MS)
    monkeypatch.setattr("gui.controllers.executions.IDLE_MS", NEVER_MS)
    with driven(folder) as process:
        said = killing(process, cluster, folder)
    cluster.shape("off")
    with opened(qapp, folder) as window:
        since = time.process_time()
        strip = window.status_banner
        qtbot.waitUntil(lambda: strip.go_on.isVisible() and strip.back.isVisible(), timeout=PATIENCE_MS)
        assert time.process_time() - since < FIRST_SECOND
        assert strip.text.text().startswith(said)
        assert "move was interrupted" in strip.text.text()
        yield window
        qtbot.waitUntil(strip.isHidden, timeout=PATIENCE_MS)


def confirm(window: MainWindow, hand: Hand, qtbot: QtBot) -> None:
    """Type the cluster's name; what was pressed then begins."""
    dialog = hand.wait_for(NameDialog)
    hand.write(DATA)
    hand.click(dialog.buttons.button(QDialogButtonBox.StandardButton.Ok))
    qtbot.waitUntil(lambda: window.work.busy, timeout=PATIENCE_MS)


def state(window: MainWindow) -> State | None:
    assert window.work.session is not None
    latest = window.work.session.store.latest_execution(MOVE.name)
    return None if latest is None else latest.state


def serves(host: Host) -> bool:
    """Whether the cluster runs there."""
    return f" -D {DATA if host.name == 'old' else TARGET}" in host.exec("ps", "-e", "-o", "args=").stdout


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_a_killed_window_is_gone_on_with(
    place: str, cluster: Lab, history: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with killed(PLACES[place], cluster, history, qapp, qtbot, monkeypatch) as window:
        hand = Hand(qtbot, window)
        hand.click(window.status_banner.go_on)
        confirm(window, hand, qtbot)
        page = window.show_page(MovePage.id)
        assert isinstance(page, MovePage)
        panel = page.prompt
        while window.work.busy:
            if panel.isVisible():
                if not panel.field.text():
                    QTest.keyClicks(panel.field, panel.field.placeholderText())
                hand.click(panel.accept)
            qtbot.waitUntil(lambda: panel.isVisible() or not window.work.busy, timeout=TO_THE_END_MS)
        assert state(window) is State.DONE, window.banner.text
    assert sql(cluster.new, LOOK) == CHANGED
    assert not serves(cluster.old)


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_a_killed_window_is_taken_back(
    place: str, cluster: Lab, history: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with killed(PLACES[place], cluster, history, qapp, qtbot, monkeypatch) as window:
        hand = Hand(qtbot, window)
        hand.click(window.status_banner.back)
        confirm(window, hand, qtbot)
        qtbot.waitUntil(lambda: not window.work.busy, timeout=TO_THE_END_MS)
        assert state(window) is State.ROLLED_BACK, window.banner.text
    assert sql(cluster.old, LOOK) == CHANGED
    assert not serves(cluster.new)
