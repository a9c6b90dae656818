"""`pghaul bench db1:/srv/a db2:/srv/b`: storage is measured and compared without a move, here by real ssh and fio."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from core.history.store import Store
from core.migration.model.execution import lock_path
from tests.histories import Histories
from tests.sshd import this_machine, with_ssh_and_fio

FIO = """
title = "short"
repetitions = 1
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
runtime_seconds = 1
[[workload]]
name = "across"
title = "pgbench across"
tool = "pgbench"
headline = "transactions_per_second"
[workload.parameters]
scale = 1
runtime_seconds = 1
from_other_server = true
"""


@dataclass(frozen=True, slots=True)
class Servers:
    """This machine as two servers, db1 and db2, each with a folder."""

    first: str
    second: str
    suite: Path


@pytest.fixture
def servers(histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """A history with two servers and no move."""
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "history"))
    (tmp_path / "short.toml").write_text(FIO)
    with this_machine(tmp_path, "db1", "db2") as profiles:
        with histories.open(tmp_path / "history") as store:
            for profile in profiles:
                (tmp_path / profile.name).mkdir()
                store.add_profile(profile)
        yield Servers(f"db1:{tmp_path}/db1", f"db2:{tmp_path}/db2", tmp_path / "short.toml")


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, Any, str]:
    code = main((*map(str, words), "--json"))
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err


@pytest.mark.slow
@with_ssh_and_fio
def test_two_servers_are_measured_compared_and_reported_without_a_move(
    servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = (servers.first, servers.second)
    suite = ("--suite", servers.suite)
    code, forecast, err = run(capsys, "bench", *both, *suite, "--forecast")
    assert code == 0, err
    assert [f"{one['volume']['server']}:{one['volume']['folder']}" for one in forecast["forecasts"]] == list(both)
    # what needs the other server of a move is skipped, and said
    assert all("belongs to no move" in one["left_out"][0] for one in forecast["forecasts"])

    code, measured, err = run(capsys, "bench", *both, *suite)
    assert code == 0, err
    assert [(one["move"], one["volume"]["side"], one["outcome"]) for one in measured["runs"]] == [
        (None, None, "done")
    ] * 2
    assert all(one["repetitions"][0]["metrics"]["write_iops"] > 0 for one in measured["runs"])
    assert [list((tmp_path / name).iterdir()) for name in ("db1", "db2")] == [[], []]

    code, compared, _ = run(capsys, "compare", *both)
    assert code == 0
    assert (compared["old"], compared["new"]) == both
    row = next(row for row in compared["rows"] if row["headline"])
    assert row["old"]["run_ids"] == [measured["runs"][0]["id"]]

    for words, number in (((servers.second,), 1), (("--server", "db1"), 1)):
        _, listed, _ = run(capsys, "history", "runs", *words)
        assert len(listed["runs"]) == number
    _, entries, _ = run(capsys, "history", "list")
    assert [one["move"] for one in entries["entries"] if one["kind"] == "run"] == [None, None]

    code, diagnoses, _ = run(capsys, "diagnose", *both, "--last")
    assert code == 0
    assert [(one["server"], one["figures"] > 0) for one in diagnoses] == [("db1", True), ("db2", True)]
    code, expected, _ = run(capsys, "storage", "what-if", servers.first, "--drives", "2", "--level", "0")
    assert code == 0
    assert expected["expected"][0]["write_iops"] == pytest.approx(2 * expected["measured"][0]["drive"]["write_iops"])
    assert main(["report", "storage", *both, "-o", str(tmp_path / "storage.pdf")]) == 0
    assert (tmp_path / "storage.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
@with_ssh_and_fio
def test_a_volume_is_compared_over_time(servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    suite = ("--suite", servers.suite)
    code, _, err = run(capsys, "bench", servers.first, *suite)
    assert code == 0, err
    code, _, err = run(capsys, "compare", servers.first)
    assert (code, "measured only once" in err) == (2, True)
    code, _, err = run(capsys, "bench", servers.first, servers.first, *suite, "--parallel")
    assert (code, "two volumes of one server" in err) == (2, True)
    code, _, err = run(capsys, "bench", servers.first, *suite)
    assert code == 0, err
    code, compared, _ = run(capsys, "compare", servers.first)
    assert code == 0
    row = next(row for row in compared["rows"] if row["headline"])
    assert row["old"]["run_ids"] < row["new"]["run_ids"]
    assert compared["old"].startswith(servers.first)


@pytest.mark.slow
@with_ssh_and_fio
def test_a_server_whose_cluster_is_being_moved_is_not_measured(
    servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = Path(f"{lock_path(str(tmp_path))}-test")
    lock.symlink_to("0123456789abcdef someone at desk since 2026-11-01 10:00 UTC")
    with contextlib.ExitStack() as end:
        end.callback(lock.unlink)
        code, _, err = run(capsys, "bench", servers.first, "--suite", servers.suite)
    assert "is being moved by" in err
    assert code == 1
    with Store.open(tmp_path / "history") as store:
        assert store.runs_on("db1") == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bench",), "neither a move nor a volume"),
        (("bench", "spring", "db1:/a"), "'spring' is not a volume of a server"),
        (("bench", "db1:/a", "--side", "old"), "need a move"),
        (("bench", "db1:/a", "--volume", "old:/a"), "need a move"),
        (("bench", "nowhere:/a"), "'nowhere' does not exist"),
        (("compare", "db1:/a", "db2:/a"), "no benchmark of db1:/a has finished yet"),
        (("compare", "db1:/a"), "never measured"),
        (("compare", "db1:/a@2026-13-01", "db2:/a"), "is not a date"),
        (("diagnose", "db1:/a", "--side", "old"), "needs a move"),
        (("storage", "what-if", "db1:/a", "--drives", "4"), "'db1' does not exist"),
        (("storage", "what-if", "db1:/a", "--drives", "4", "--side", "old"), "needs a move"),
        (("storage", "what-if", "spring", "winter", "--drives", "4"), "only one move"),
        (("history", "export", "spring", "winter", "-o", "x"), "only one move"),
        (("import",), "no move is given"),
    ],
)
def test_what_cannot_be_measured_or_compared_is_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
