"""Whatever a subcommand runs on a server is in the history: `pghaul history commands`."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from core.cli.main import main
from core.errors import UnreachableError
from core.history.store import Store
from core.jobs import CommandEnded, CommandStarted, Job
from core.migration.model.execution import State
from core.servers.profiles import Asker, Profile
from tests.core.migration.builders import set_up
from tests.core.migration.execution.builders import execution
from tests.histories import Histories

ANSWERS = ("--confirm", "15/main", "--manual-steps-done")
WORDS = (
    ("facts", "old"),
    ("server", "test", "old"),
    ("server", "install", "old", "fio"),
    ("survey",),
    ("bench", "spring"),
    ("bench", "spring", "--forecast"),
    ("diagnose", "spring"),
    ("check", "spring"),
    ("probe", "spring"),
    ("probe", "spring", "--watch", "1h"),
    ("probe", "spring", "--watch", "--status"),
    ("probe", "spring", "--watch", "--end"),
    ("probe", "spring", "--sustained", "10m"),
    ("estimate", "spring"),
    ("plan", "spring"),
    ("execute", "spring", "--start-over", *ANSWERS),
    ("execute", "spring", "--resume", *ANSWERS),
    ("execute", "spring", "--rollback"),
    ("execute", "spring", "--cancel"),
)
UNREAD = {"ssh 10.77.0.11", "ssh 10.77.0.12"}
"""What a survey notes of each server that it could not read."""


@pytest.fixture
def store(histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path))
    with histories.open(tmp_path, set_up) as made:
        yield made


def test_each_command_that_ran_is_in_the_history(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[tuple[str, str, int]] = []

    def lost(profile: Profile, _asker: Asker, job: Job) -> NoReturn:
        """A server that is gone behind its first command."""
        name, command = profile.name, f"true {len(ran)}"
        ran.append((name, command, 0))
        job.report(CommandStarted(name, "dba", command))
        job.report(CommandEnded(name, command, 0, 0.1))
        raise UnreachableError(f"{name} is gone")

    for module in ("core.servers.connection", "core.api.survey"):
        monkeypatch.setattr(f"{module}.connect", lost)
    move = store.move("spring")
    begun = execution()
    planned = replace(begun.plan, data_directory=move.cluster, target=move.target, logins=())
    store.execution_changed(store.execution_started(replace(begun, plan=planned)), State.STOPPED)
    for words in WORDS:
        before = len(ran)
        assert main(words) in {1, 3}, words
        assert len(ran) > before, words
    capsys.readouterr()
    assert main(["history", "commands", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["commands"]
    shown = [(each["server"], each["command"], each["exit_status"]) for each in listed]
    assert sorted(each for each in shown if each[1] not in UNREAD) == sorted(ran)
