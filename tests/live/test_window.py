"""The window against the two real hosts: what a user does, from the first unknown host key to the plan."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from core.api.session import Session
from core.benchmarks.model import Outcome
from core.history.store import Store
from core.migration.model.move import Move
from core.servers.profiles import Profile, Rights
from core.servers.secrets import session_secrets
from gui import appearance
from gui.dialogs.questions import SecretDialog
from gui.models.checks import Group
from gui.models.report import ReportRequest
from gui.pages.check import CheckPage
from gui.pages.compare import ComparePage
from gui.pages.estimate import EstimatePage
from gui.pages.facts import FactsPage
from gui.pages.measure import MeasurePage
from gui.pages.page import AnyPage, PartPage
from gui.pages.plan import PlanPage
from gui.pages.servers import ServersPage
from gui.window import MainWindow
from gui.work import Work
from tests.gui.watchdog import Watchdog
from tests.lab import clusters, root
from tests.lab.lab import Lab

pytestmark = [
    pytest.mark.lab,
    pytest.mark.usefixtures("clean_hosts"),
    pytest.mark.qt_log_level_fail("DEBUG"),
    pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints"),
]

PATIENCE_MS = 120_000
Kind = TypeVar("Kind", bound=AnyPage)


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    appearance.prepare(qapp)
    work = Work()
    made = MainWindow(work)
    made.show()
    work.use(Session(Store.open(tmp_path / "history"), work.asker))
    qtbot.waitUntil(lambda: work.runner.idle)
    yield made
    work.close()
    made.close()
    made.deleteLater()
    work.deleteLater()


@pytest.fixture
def servers(window: MainWindow, old_profile: Profile, new_profile: Profile, qtbot: QtBot) -> tuple[Profile, Profile]:
    """Both described."""
    _keep(window, old_profile, new_profile)
    qtbot.waitUntil(lambda: window.work.runner.idle)
    return old_profile, new_profile


@pytest.fixture
def known_keys(lab: Lab) -> None:
    """The DBA has been on both hosts before."""
    shutil.copy(lab.known_hosts, Path.home() / ".ssh" / "known_hosts")


@pytest.fixture
def move(window: MainWindow, servers: tuple[Profile, Profile], known_keys: None, qtbot: QtBot) -> Move:  # noqa: ARG001
    made = Move("spring", "old", "new", clusters.DATA, clusters.NEW_DATA, "/srv/pg", "/srv/pg")
    _store(window).add_move(made)
    window.work.changed.emit()
    qtbot.waitUntil(lambda: window.work.move == made)
    return made


def _store(window: MainWindow) -> Store:
    assert window.work.session is not None
    return window.work.session.store


def _keep(window: MainWindow, *profiles: Profile) -> None:
    for profile in profiles:
        _store(window).add_profile(profile)
    window.work.changed.emit()


def _page(window: MainWindow, kind: type[Kind], qtbot: QtBot) -> Kind:
    page = window.show_page(kind.id)
    assert isinstance(page, kind)
    _rest(window, qtbot)
    return page


def _rest(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.work.runner.idle, timeout=PATIENCE_MS)


def _idle_without_secrets(window: MainWindow) -> bool:
    """Whether all is at rest; declines each password that is asked for on the way."""
    dialog = QApplication.activeModalWidget()
    if isinstance(dialog, SecretDialog):
        dialog.reject()
    return window.work.runner.idle


def _choose(page: ServersPage, name: str) -> None:
    names = [row.profile.name for row in page.table.rows.rows]
    page.table.choose(names.index(name))


def test_an_unknown_host_key_is_shown_trusted_and_remembered(
    window: MainWindow, servers: tuple[Profile, Profile], asker: object, qtbot: QtBot
) -> None:
    page = _page(window, ServersPage, qtbot)
    _choose(page, servers[0].name)
    page.test.click()
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QMessageBox), timeout=20_000)
    box = QApplication.activeModalWidget()
    assert isinstance(box, QMessageBox)
    shown = re.search(r"SHA256:\S+", box.informativeText())
    assert shown is not None
    assert shown[0] in getattr(asker, "fingerprints")  # noqa: B009  the lab's asker is no type of ours
    next(button for button in box.buttons() if "Trust" in button.text()).click()
    _rest(window, qtbot)
    assert f" {servers[0].name} as dba" in page.result.text
    assert not window.banner.isVisible()
    _store(window).update_profile(servers[0])
    page.test.click()  # nothing is asked again
    _rest(window, qtbot)
    assert QApplication.activeModalWidget() is None


def test_a_declined_host_key_is_said_and_nothing_is_connected(
    window: MainWindow, servers: tuple[Profile, Profile], qtbot: QtBot
) -> None:
    page = _page(window, ServersPage, qtbot)
    _choose(page, servers[0].name)
    page.test.click()
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QMessageBox), timeout=20_000)
    box = QApplication.activeModalWidget()
    assert isinstance(box, QMessageBox)
    box.reject()
    _rest(window, qtbot)
    assert window.banner.isVisible()
    assert "host key" in window.banner.text
    assert page.result.text == ""


@pytest.mark.usefixtures("known_keys")
def test_a_sudo_password_is_asked_for(window: MainWindow, plain_profile: Profile, qtbot: QtBot) -> None:
    session_secrets.forget_server(plain_profile.name)  # another test of this process may have given it
    _keep(window, plain_profile)
    page = _page(window, ServersPage, qtbot)
    _choose(page, plain_profile.name)
    page.test.click()
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), SecretDialog), timeout=20_000)
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, SecretDialog)
    dialog.field.setText(root.PASSWORD)
    dialog.accept()
    _rest(window, qtbot)
    assert "): they work" in page.result.text
    assert "): they fail" not in page.result.text
    assert root.PASSWORD not in "\n".join(line.text for line in window.pane.table.rows.rows)


@pytest.mark.usefixtures("known_keys")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"address": "no-such-host.invalid"}, "no-such-host.invalid"),
        ({"port": 9}, "port 9"),
        ({"user": "nobody-here"}, "nobody-here"),
    ],
)
def test_a_server_that_cannot_be_reached_is_said(
    window: MainWindow, old_profile: Profile, qtbot: QtBot, change: dict[str, object], said: str
) -> None:
    fields = {name: getattr(old_profile, name) for name in Profile.__slots__}
    _keep(window, Profile(**{**fields, **change, "rights": Rights.NONE}))
    page = _page(window, ServersPage, qtbot)
    _choose(page, old_profile.name)
    page.test.click()
    qtbot.waitUntil(lambda: _idle_without_secrets(window), timeout=20_000)
    assert window.banner.isVisible()
    assert said in window.banner.text
    assert "Hint: " in window.banner.text


@pytest.mark.measures
def test_the_main_job_through_the_pages(window: MainWindow, move: Move, qtbot: QtBot, tmp_path: Path) -> None:
    """Facts, checks, estimate, plan and report, with the event loop never standing still."""
    with Watchdog(window) as watchdog:
        facts = _page(window, FactsPage, qtbot)
        facts.read.click()
        _rest(window, qtbot)
        assert any(row.cluster.data_directory == move.cluster for row in facts.clusters.rows.rows)
        parts: list[PartPage[Any]] = []
        kinds: tuple[type[PartPage[Any]], ...] = (CheckPage, EstimatePage, PlanPage)
        for kind in kinds:
            part = _page(window, kind, qtbot)
            part.start.click()
            _rest(window, qtbot)
            parts.append(part)
        window.write_report(ReportRequest(move.name, "plan"), tmp_path / "spring.pdf")
        _rest(window, qtbot)
    checks, estimate, plan = parts
    assert isinstance(checks, CheckPage)
    assert isinstance(estimate, EstimatePage)
    assert isinstance(plan, PlanPage)
    checks.chips.chips[Group.PASS].click()  # what passed is folded at first
    assert checks.table.rows.rowCount() > 50
    assert {row.method.method for row in estimate.table.rows.rows} >= {"cold-copy", "dump-restore"}
    assert plan.step.commands.text
    assert (tmp_path / "spring.pdf").read_bytes().startswith(b"%PDF")
    commands = window.pane.table.rows.rows
    assert {line.server for line in commands if line.server} == {"old", "new"}
    assert all(line.seconds is not None for line in commands if line.level == "command")
    assert watchdog.blocks == []


@pytest.mark.long
@pytest.mark.measures
def test_benchmarks_by_forecast_live_and_compared(window: MainWindow, move: Move, qtbot: QtBot) -> None:  # noqa: ARG001
    page = _page(window, MeasurePage, qtbot)
    page.suite.setCurrentText("quick")
    assert not page.start.isEnabled()
    with Watchdog(window) as watchdog:
        page.forecast.click()
        _rest(window, qtbot)
        assert [row.forecast.problems for row in page.forecasts.rows.rows] == [(), ()]
        assert page.start.isEnabled()
        page.start.click()
        qtbot.waitUntil(lambda: page.table.rows.rowCount() > 0, timeout=PATIENCE_MS)
        qtbot.waitUntil(lambda: any(row.repetition is not None for row in page.table.rows.rows), timeout=PATIENCE_MS)
        assert window.work.busy  # repetitions are seen before the suite has ended
        window.cancel()
        _rest(window, qtbot)
    assert window.banner.text == "The job was cancelled."
    assert Outcome.CANCELLED in {row.run.outcome for row in page.table.rows.rows}
    assert watchdog.blocks == []
    comparison = _page(window, ComparePage, qtbot)
    assert comparison.isVisible()
