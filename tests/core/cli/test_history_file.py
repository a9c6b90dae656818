"""`pghaul history backup | restore | check | prune` as they are typed."""

import contextlib
import json
import os
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from core.benchmarks.model import Volume
from core.cli.main import main
from core.history.database import FILE_NAME
from core.history.store import Store
from core.migration.model.execution import State
from core.sides import Side
from tests.core.history import samples
from tests.core.history.samples import MOVE, OLD


@pytest.fixture
def history() -> Path:
    folder = Path(os.environ["PGHAUL_DATA"])
    with Store.open(folder) as store:
        samples.fill(store)
    return folder / FILE_NAME


def test_a_history_comes_back_from_its_backup(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", "backup", "-o", str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/kept\n"
    assert main(["move", "remove", MOVE.name, "--yes"]) == 0
    assert main(["history", "restore", str(tmp_path / "kept")]) == 0
    said = capsys.readouterr().out
    assert re.search(rf"{history} .*{tmp_path}/kept\b", said, re.MULTILINE)
    assert re.search(rf"{history.parent}/history-\S+\.sqlite3", said)
    assert main(["history", "restore", str(tmp_path / "kept"), "--json"]) == 0
    assert Path(json.loads(capsys.readouterr().out)["kept"]).is_file()
    with Store.open() as store:
        assert store.moves() == (MOVE,)


def test_a_whole_history_is_found_so(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "check"]) == 0
    said = capsys.readouterr().out
    assert f"{history}, " in said
    assert "not damaged" in said
    assert main(["history", "check", "--rescue", "--json"]) == 0  # nothing to rescue
    assert json.loads(capsys.readouterr().out)["damage"] == []


@pytest.mark.slow
def test_a_damaged_history_is_rescued(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.closing(sqlite3.connect(history)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'commands'").fetchone()[0]
    with history.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)
    assert main(["history", "commands"]) == 2
    assert "pghaul history check --rescue" in capsys.readouterr().err
    assert main(["history", "check"]) == 1
    assert "damaged" in capsys.readouterr().out
    assert main(["history", "check", "--rescue"]) == 0
    said = capsys.readouterr().out
    assert "the damaged file was kept as" in said
    assert "commands: from 0 on" in said
    assert main(["history", "check"]) == 0
    assert main(["move", "show", MOVE.name]) == 0


def test_what_is_old_goes_only_when_it_was_confirmed(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = history.with_name("history-0005-20200101T000000.000000Z.sqlite3")
    old.write_bytes(b"x")
    os.utime(old, (0, 0))
    assert main(["history", "prune", "--before", "0d"]) == 2
    assert "add --yes" in capsys.readouterr().err
    assert main(["history", "prune", "--before", "2020-01-01", "--yes"]) == 0
    assert "2020-01-01 00:00 UTC: " in capsys.readouterr().out
    assert main(["history", "prune", "--before", "0d", "--dry-run"]) == 0
    assert "command: 1" in capsys.readouterr().out
    assert old.exists()
    with Store.open() as store:
        assert len(store.commands()) == 1
    assert main(["history", "prune", "--before", "0d", "--kind", "command", "--kind", "copy", "--yes", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rows"] == {"command": 1}
    assert said["copies"] == [str(old)]
    assert said["removed"] is True
    assert not old.exists()
    with Store.open() as store:
        assert store.commands() == ()
        assert len(store.entries()) > 5


@pytest.mark.parametrize("before", ["yesterday", "2026-02-30", "-1d", "99999999d", ""])
def test_a_day_that_is_none(before: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "prune", "--before", before]) == 2
    assert "is not a day" in capsys.readouterr().err or before == "-1d"


def test_the_runs_of_a_removed_server_are_exported_by_its_name(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(history.parent) as store:
        (run, *_) = samples.runs(Side.OLD)
        store.add_runs((replace(run, move=None, volume=Volume(None, OLD.name, "/mnt/a", "/mnt/a/bench")),))
        store.execution_changed(1, State.DONE)
        store.remove_move(MOVE.name)
    archive, words = tmp_path / "x.pghaul", ["history", "export", f"{OLD.name}:/mnt/a", "-o"]
    assert main([*words, str(archive), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"archive": str(archive), "removed_servers": []}
    assert main(["server", "remove", OLD.name]) == 0
    assert main([*words, str(archive), "--replace"]) == 0
    assert f"{OLD.name} (removed): " in capsys.readouterr().out
    for other, options in (("there", []), ("there as well", ["--json"])):
        monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / other))
        assert main(["history", "import", str(archive), *options]) == 0
        said = capsys.readouterr().out
        assert (f"{OLD.name} (removed): " in said) if not options else json.loads(said)["removed_servers"] == [OLD.name]
        assert main(["history", "runs", f"{OLD.name}:/mnt/a"]) == 0
        assert run.workload.title in capsys.readouterr().out
