"""A run whose process is gone is ended as interrupted; one whose process lives is left alone."""

import dataclasses
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.benchmarks.model import Outcome
from core.history import owners
from core.history.belonging import ALIVE
from core.history.owners import Owners
from core.history.store import Store
from tests.core.history import samples
from tests.windows import windows_locks

PROJECT = Path(__file__).resolve().parents[3]
HOLD = """
import dataclasses, sys
from pathlib import Path
from core.history.store import Store
from tests.core.history import samples
from core.sides import Side
store = Store.open(Path(sys.argv[1]))
samples.fill(store)
run = dataclasses.replace(store.runs(samples.MOVE.name)[0], outcome=None, ended_at=None)
print(store.run_started(run), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "history"


def hold(folder: Path) -> tuple["subprocess.Popen[str]", int]:
    """Another program that has begun a run, with repetitions, and its number."""
    words = [sys.executable, "-c", HOLD, str(folder)]
    process = subprocess.Popen(words, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@pytest.mark.slow
def test_a_killed_program_leaves_an_interrupted_run(folder: Path) -> None:
    process, number = hold(folder)
    try:
        with Store.open(folder) as store:
            assert store.run(number).outcome is None
            process.kill()
            process.communicate()
            run = store.run(number)
            assert run.outcome is Outcome.INTERRUPTED
            last = run.repetitions[-1]
            assert run.ended_at == last.started_at + timedelta(seconds=last.seconds)
            assert store.runs(samples.MOVE.name, side=run.volume.side)[-1].outcome is not None
        assert list((folder / ALIVE).iterdir()) == []
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_an_own_run_is_not_interrupted_while_it_lasts(folder: Path) -> None:
    with Store.open(folder) as store, Store.open(folder) as other:
        samples.fill(store)
        run = dataclasses.replace(store.runs(samples.MOVE.name)[0], outcome=None, ended_at=None, repetitions=())
        number = store.run_started(run)
        assert other.run(number).outcome is None
        store.run_ended(number, Outcome.DONE, datetime(2026, 11, 21, tzinfo=UTC), "3.33", "steady")
        ended = other.run(number)
        assert (ended.outcome, ended.stopped) == (Outcome.DONE, "steady")


def test_a_token_is_alive_until_its_owner_lets_go(tmp_path: Path) -> None:
    first, second = Owners(tmp_path), Owners(tmp_path)
    token = first.mine()
    assert first.mine() == token
    assert second.alive(token)
    first.close()
    assert not second.alive(token)
    assert not second.alive("0000000000000000")


def test_on_windows_the_lock_of_its_library_tells_who_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = windows_locks(monkeypatch, owners)
    mine, other = Owners(tmp_path), Owners(tmp_path)
    token = mine.mine()
    assert other.alive(token)
    mine.close()
    assert not other.alive(token)
    (tmp_path / ALIVE / token).touch()  # of a process that was killed: nobody holds its lock
    assert not other.alive(token)
    assert not list((tmp_path / ALIVE).iterdir())
    assert set(asked) == {"LK_NBLCK"}
