"""A program that is killed at any moment: nothing that was finished is lost, and nothing half is shown."""

import contextlib
import multiprocessing
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core import settings
from core.history.backup import backup
from core.history.database import FILE_NAME, MIGRATIONS
from core.history.store import Store
from tests.core.history import samples, writing
from tests.core.history.contents import contents
from tests.core.history.samples import MOVE
from tests.histories import BOTH, Histories

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows kills in another way")

RELEASED = Path("tests/data/history")
A_HISTORY = 10
"""So many are killed over one history, which they fill: then another is begun, as to look at all of it takes longer."""
LONGEST_SECONDS = 0.4

Killing = Callable[..., None]


@pytest.fixture(scope="module")
def processes() -> Any:
    """Processes that have loaded the program already, and share nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([writing.__name__])
    return context


@pytest.fixture
def killed(processes: Any) -> Killing:
    """Run something in a process of its own, and kill that a while after it began, or after something came true."""

    def kill(work: Callable[..., None], *words: object, after: float, once: Callable[[], bool] = lambda: True) -> None:
        here, there = processes.Pipe()
        process = processes.Process(target=writing.begun, args=(there, work, *words))
        process.start()
        assert here.recv() == "begun"
        while not once() and process.is_alive():
            time.sleep(0.01)
        time.sleep(after)
        process.kill()
        process.join(60)
        assert process.exitcode in {-signal.SIGKILL, 0}
        process.close()
        here.close()
        there.close()

    return kill


@pytest.mark.slow
@pytest.mark.parametrize(
    ("on", "times"),
    [("sqlite", 6), ("postgresql", 3), *(pytest.param(on, 100, marks=pytest.mark.long) for on in BOTH)],
)
@pytest.mark.timeout(1800)
def test_while_it_records(on: str, histories: Histories, tmp_path: Path, killed: Killing, times: int) -> None:
    chance = random.Random(times)
    recorded = 0
    for first in range(0, times, A_HISTORY):
        said = tmp_path / f"said {first}"
        said.touch()
        with histories.placed(on, tmp_path / f"history {first}", samples.set_up) as place:
            for number in range(min(A_HISTORY, times - first)):
                before, after = said.stat().st_size, chance.uniform(0.0, LONGEST_SECONDS)
                words = (place, settings.config_folder(), said, number * 1000)
                killed(writing.record, *words, once=partial(_has_grown, said, before), after=after)
                writing.hold(place, said.read_text().splitlines(), unsaid=number + 1)
            with Store.open(place) as store:
                assert all(run.outcome is not None for run in store.runs(MOVE.name))  # nobody is at them any more
        recorded += len(said.read_text().splitlines())
    assert recorded >= times


def _has_grown(path: Path, size: int) -> bool:
    return path.stat().st_size > size


@pytest.mark.slow
@pytest.mark.parametrize("times", [5, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.timeout(1800)
def test_while_a_copy_is_put_back(histories: Histories, tmp_path: Path, killed: Killing, times: int) -> None:
    with histories.open(tmp_path / "history", samples.fill) as store:
        copy = backup(store.path.parent, tmp_path / "copy")
        store.remove_move(MOVE.name)
    whole, without = contents(copy), contents(store.path)
    chance = random.Random(times)
    for _ in range(times):
        after = chance.uniform(0.02, LONGEST_SECONDS)
        killed(writing.restored, store.path.parent, settings.config_folder(), copy, after=after)
        with Store.open(store.path.parent) as found:
            assert bool(found.moves()) is (contents(store.path) == whole)
        assert contents(store.path) in (whole, without)
        for kept in store.path.parent.glob("history-replaced-*"):
            kept.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("times", [5, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.timeout(1800)
def test_while_it_is_brought_up(tmp_path: Path, killed: Killing, times: int) -> None:
    brought_up = 0
    for number in range(times):
        folder = tmp_path / str(number)
        folder.mkdir()
        with contextlib.closing(sqlite3.connect(folder / FILE_NAME)) as connection:
            connection.executescript((RELEASED / "0001.sql").read_text(encoding="utf-8"))
        killed(writing.opened, folder, settings.config_folder(), after=LONGEST_SECONDS * number / times)
        with contextlib.closing(sqlite3.connect(folder / FILE_NAME)) as connection:
            revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]
            brought_up += revision != "0001"
        with Store.open(folder) as store:
            assert store.moves() == (MOVE,)
            assert len(store.runs(MOVE.name)) == 10
            assert len(store.entries()) == 23
        assert revision in {"0001", MIGRATIONS.head}
    assert brought_up < times
