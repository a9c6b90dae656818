"""The dialog that measures volumes of any servers: forecast, benchmarks by real ssh and fio, comparison and report."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.api.session import Session
from core.history.store import Store
from core.jobs import Live, Progress
from gui.destinations import PageId
from gui.dialogs.storage import StorageDialog
from gui.pages.servers import ServersPage
from gui.window import MainWindow
from gui.work import Work
from tests.gui.conftest import at_rest, page
from tests.histories import Histories
from tests.sshd import this_machine, with_ssh_and_fio

SUITE = """
title = "short"
repetitions = {repetitions}
[[workload]]
name = "writes"
title = "Random writes"
tool = "fio"
headline = "write_iops"
[workload.parameters]
pattern = "randwrite"
direct = false
block_bytes = 8192
jobs = 1
size_bytes = 4194304
runtime_seconds = {seconds}
"""


@pytest.fixture
def measuring(work: Work, histories: Histories, tmp_path: Path) -> Iterator[tuple[Work, Store]]:
    """A history with two servers and no move, and no window."""
    with this_machine(tmp_path, "db1", "db2") as profiles, histories.open(tmp_path / "history") as store:
        for profile in profiles:
            (tmp_path / profile.name).mkdir()
            store.add_profile(profile)
        work.use(Session(store, work.asker))
        yield work, store
        work.close()


def _dialog(qtbot: QtBot, work: Work, folder: Path, *, repetitions: int = 1, seconds: int = 1) -> StorageDialog:
    suite = folder / "short.toml"
    suite.write_text(SUITE.format(repetitions=repetitions, seconds=seconds))
    dialog = StorageDialog(work, ("db1", "db2"), (str(suite),))
    qtbot.addWidget(dialog)
    dialog.show()
    for field, name in zip(dialog.fields, ("db1", "db2"), strict=True):
        assert field.server.currentText() == name
        field.folder.setText(f"{folder}/{name}")
    return dialog


def _rest(qtbot: QtBot, work: Work) -> None:
    qtbot.waitUntil(lambda: work.runner.idle, timeout=120_000)


@pytest.mark.slow
@pytest.mark.measures
@with_ssh_and_fio
def test_two_volumes_are_measured_compared_and_reported(
    measuring: tuple[Work, Store], qtbot: QtBot, tmp_path: Path
) -> None:
    work, store = measuring
    troubles: list[Exception] = []
    work.troubled.connect(troubles.append)
    dialog = _dialog(qtbot, work, tmp_path)
    assert dialog.places == (f"db1:{tmp_path}/db1", f"db2:{tmp_path}/db2")
    assert dialog.forecast.isEnabled()
    assert not dialog.start.isEnabled()
    dialog.forecast.click()
    _rest(qtbot, work)
    assert [row.forecast.volume.words for row in dialog.forecasts.rows.rows] == list(dialog.places)
    assert dialog.start.isEnabled()
    dialog.start.click()
    assert dialog.measures
    assert dialog.cancel.isVisible()
    assert not dialog.fields[0].isEnabled()
    _rest(qtbot, work)
    assert not dialog.measures
    assert troubles == []
    assert [run.move for name in ("db1", "db2") for run in store.runs_on(name)] == [None, None]
    (row,) = dialog.table.rows.rows
    assert row.names == dialog.places
    assert row.row.old is not None
    assert dialog.said.text()
    saved: list[Path] = []
    dialog.saved.connect(saved.append)
    dialog.write_report(tmp_path / "storage.pdf")
    _rest(qtbot, work)
    assert saved == [tmp_path / "storage.pdf"]
    assert saved[0].read_bytes().startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.measures
@with_ssh_and_fio
def test_a_folder_that_does_not_exist_is_refused_and_can_be_corrected(
    measuring: tuple[Work, Store], qtbot: QtBot, tmp_path: Path
) -> None:
    work, _ = measuring
    troubles: list[Exception] = []
    work.troubled.connect(troubles.append)
    dialog = _dialog(qtbot, work, tmp_path)
    first = dialog.hint.text()
    dialog.fields[1].folder.setText(f"{tmp_path}/nowhere")
    dialog.forecast.click()
    assert dialog.hint.text() != first
    _rest(qtbot, work)
    assert [str(tmp_path / "nowhere") in str(each) for each in troubles] == [True]
    assert dialog.hint.text() == first
    assert dialog.forecast.isEnabled()
    assert not dialog.start.isEnabled()
    dialog.fields[1].folder.setText(f"{tmp_path}/db2")
    dialog.forecast.click()
    _rest(qtbot, work)
    assert dialog.start.isEnabled()


@pytest.mark.slow
@pytest.mark.measures
@with_ssh_and_fio
def test_cancelled_benchmarks_end_and_leave_nothing(
    measuring: tuple[Work, Store], qtbot: QtBot, tmp_path: Path
) -> None:
    work, store = measuring
    dialog = _dialog(qtbot, work, tmp_path, repetitions=3, seconds=60)
    dialog.forecast.click()
    _rest(qtbot, work)
    dialog.start.click()
    qtbot.waitUntil(lambda: " on the disk now" in dialog.now.text() or dialog.bar.maximum() > 0, timeout=60_000)
    dialog.cancel.click()
    _rest(qtbot, work)
    assert not dialog.measures
    assert dialog.start.isVisible()
    assert [run.outcome for run in store.runs_on("db1")] == ["cancelled"]
    assert list((tmp_path / "db1").iterdir()) == []


def test_another_volume_or_suite_needs_another_forecast(work: Work, qtbot: QtBot) -> None:
    dialog = StorageDialog(work, ("db1", "db2", "db3"), ("quick", "standard"))
    qtbot.addWidget(dialog)
    assert list(dialog.places) == []
    dialog.fields[0].folder.setText("srv/pg")
    assert list(dialog.places) == []
    dialog.fields[0].folder.setText("/srv/pg")
    dialog.add_volume("db3").folder.setText("/mnt/a")
    assert list(dialog.places) == ["db1:/srv/pg", "db3:/mnt/a"]
    dialog.fields[1].remove.click()
    dialog.fields[0].remove.click()
    assert list(dialog.places) == ["db3:/mnt/a"]


def test_progress_and_the_current_rate_are_shown(work: Work, qtbot: QtBot) -> None:
    dialog = StorageDialog(work, ("db1",), ("quick",))
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.take_events(
        (
            Progress("a", "Random reads, 2 of 5", 30.0, 60.0, "seconds", whole="db1:/srv/pg (1 of 2)"),
            Live("db1:/srv/pg", "reads", {"read_bytes_per_second": 812e6}),
        )
    )
    step, rate = dialog.now.text().splitlines()
    assert "Random reads, 2 of 5" in step
    assert rate.startswith("db1:/srv/pg: ")
    assert "812" in rate
    assert dialog.bar.value() == dialog.bar.maximum() // 2


def test_the_page_of_servers_opens_it_with_the_selected_server_first(full_window: MainWindow, qtbot: QtBot) -> None:
    shown = page(qtbot, full_window, PageId.SERVERS)
    assert isinstance(shown, ServersPage)
    shown.table.choose(1)
    second = shown.table.current()
    assert second is not None
    shown.storage.click()
    at_rest(qtbot, full_window)
    (dialog,) = full_window.findChildren(StorageDialog)
    assert dialog.isVisible()
    assert dialog.fields[0].server.currentText() == second.profile.name
    assert dialog.suite.count() > 3
    shown.storage.click()
    at_rest(qtbot, full_window)
    assert full_window.findChildren(StorageDialog) == [dialog]
