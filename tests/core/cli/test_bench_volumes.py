"""`pghaul bench MOVE --volume …`: what is measured are the volumes that are named, on the servers that they are of."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import pytest

from core.api.session import Session
from core.benchmarks import volume_device
from core.cli.main import main
from core.facts.model import Facts, Tool
from core.history.store import Store
from core.jobs import Job
from tests.core.facts.here import Here
from tests.core.migration.builders import set_up
from tests.core.migration.running import program
from tests.histories import Histories

SIZE = 4 << 20
DD = f"""
title = "dd alone"
repetitions = 1
[[workload]]
name = "dd"
title = "dd"
tool = "dd"
headline = "write_bytes_per_second"
[workload.parameters]
size_bytes = {SIZE}
"""

PGBENCH = """
title = "pgbench alone"
repetitions = 1
[[workload]]
name = "pgbench"
title = "pgbench"
tool = "pgbench"
headline = "transactions_per_second"
[workload.parameters]
scale = 1
runtime_seconds = 1
"""


@pytest.fixture(autouse=True)
def store(histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A history with a move, of whose new server the facts were read."""
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "history"))
    with histories.open(tmp_path / "history", set_up) as made:
        made.save_facts(Facts("new", datetime.now(UTC), 1.0, 1))


def test_the_forecast_of_two_volumes_of_one_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def here(_session: Session, name: str, _job: Job) -> Here:
        asked.append(name)
        return Here()

    monkeypatch.setattr(Session, "server", here)
    monkeypatch.setattr(volume_device, "LOOK_SECONDS", 0.01)
    program(tmp_path / "programs" / "fio", "exit 0")  # to try its engines takes seconds
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:{os.environ['PATH']}")
    suite, volumes = tmp_path / "dd.toml", [tmp_path / "a", tmp_path / "b"]
    suite.write_text(DD)
    for volume in volumes:
        volume.mkdir()
    places = [word for volume in volumes for word in ("--volume", f"new:{volume}")]
    main(["bench", "spring", "--suite", str(suite), "--forecast", "--json", *places])
    forecasts = json.loads(capsys.readouterr().out)["forecasts"]
    found = [(each["volume"]["server"], each["volume"]["folder"], each["bytes_needed"]) for each in forecasts]
    assert found == [("new", str(volume), SIZE) for volume in volumes]
    assert set(asked) == {"new"}


def test_without_a_move_other_major_versions_are_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A move has one major version for both servers; here each server may have its own."""
    monkeypatch.setattr(Session, "server", lambda _session, _name, _job: Here())
    monkeypatch.setattr(volume_device, "LOOK_SECONDS", 0.01)
    for tool in ("fio", "initdb"):
        program(tmp_path / "programs" / tool, "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:{os.environ['PATH']}")
    suite = tmp_path / "pgbench.toml"
    suite.write_text(PGBENCH)
    words = ["bench", f"old:{tmp_path}", f"new:{tmp_path}", "--suite", str(suite), "--forecast", "--json"]
    for versions, warned in (({"old": "15.4", "new": "15.9"}, False), ({"old": "15.4", "new": "17.1"}, True)):
        with Store.open(tmp_path / "history") as store:
            for name, version in versions.items():
                found = Tool("postgres", "/usr/bin/postgres", version)
                store.save_facts(Facts(name, datetime.now(UTC), 1.0, 1, tools=(found,)))
        main(words)
        forecasts = json.loads(capsys.readouterr().out)["forecasts"]
        said = [
            any("PostgreSQL 15 on old, PostgreSQL 17 on new" in each for each in one["warnings"]) for one in forecasts
        ]
        assert said == [warned, warned]


def test_a_volume_of_no_server_of_the_move_reaches_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_session: Session, name: str, _job: Job) -> NoReturn:
        raise AssertionError(name)

    monkeypatch.setattr(Session, "server", none)
    assert main(["bench", "spring", "--volume", "new:/mnt/a", "--volume", "nowhere:/mnt/b"]) == 2
