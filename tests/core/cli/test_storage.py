"""`pghaul storage`: what another array would do, and the script that prepares a volume."""

import json
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.benchmarks.model import Outcome, Repetition, Run, Volume, Workload
from core.cli.main import main
from core.history.store import Store
from core.sides import Side
from tests.core.cli.refusals import reasons

ONE = [
    "--read-iops",
    "100",
    "--write-iops",
    "100",
    "--read-rate",
    "200e6",
    "--write-rate",
    "150e6",
    "--capacity",
    "1e12",
]


def test_every_level_of_eight_drives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", "what-if", "--drives", "8", *ONE]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" of ")[0] for line in lines[2:]] == [f"RAID {n}" for n in (0, 1, 10, 5, 6, 50, 60)]
    ten = next(line for line in lines if line.startswith("RAID 10"))
    assert "800 MB/s" in ten
    assert re.search(r" 1, .*\b4$", ten)


def test_one_level_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", "what-if", "--drives", "6", "--level", "50", "--groups", "2", *ONE, "--json"]) == 0
    (expected,) = json.loads(capsys.readouterr().out)["expected"]
    assert expected["layout"] == {"level": "50", "drives": 6, "groups": 2}
    assert expected["write_iops"] == 150
    assert not expected["thread_bound"]


def test_the_write_thread_is_named_where_it_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["storage", "what-if", "--drives", "6", "--level", "5", "--write-iops", "100", "--thread-iops", "100"]
    assert main(words) == 0
    assert re.search(r"100 \(.*\bmd\b", capsys.readouterr().out)
    assert main([*words[:-2], "--controller"]) == 0
    assert "md" not in capsys.readouterr().out


def test_what_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        (["what-if", "--drives", "3", "--level", "6", *ONE], "RAID 6 of 3 "),
        (["what-if", "--drives", "5", "--level", "10", *ONE], "RAID 10 of 5 "),
        (["what-if", "--drives", "1", *ONE], " 1 "),
        (["what-if", "--drives", "8"], "--read-iops"),
        (["what-if", "--drives", "8", "--read-iops", "0"], "above 0"),
        (["what-if", "--drives", "8", "--groups", "2", *ONE], " 50 or 60"),
        (["prepare", "/srv/pg", "/dev/sdb", "/dev/sdc"], " 2"),
        (["prepare", "srv", "/dev/sdb"], "'srv'"),
        (["prepare", "/srv/pg", "/dev/sdb;x"], "'/dev/sdb;x'"),
        (["prepare", "/srv/pg", "/dev/sdb", "-o", "/nowhere/x.sh"], "(ENOENT)"),
    ]
    assert len(reasons(((["storage", *words], said) for words, said in cases), capsys)) == len(cases)


def test_the_script_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "storage",
        "prepare",
        "/srv/pg",
        "/dev/sdb",
        "/dev/sdc",
        "/dev/sdd",
        "--level",
        "5",
        "--file-system",
        "ext4",
    ]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("#!/bin/sh\n")
    assert "stride=16,stripe_width=32" in printed
    file = tmp_path / "prepare.sh"
    assert main([*words, "-o", str(file)]) == 0
    assert file.read_text() == printed
    assert not file.stat().st_mode & stat.S_IXUSR
    assert str(file) in capsys.readouterr().err


@pytest.fixture
def move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A move in a history of its own."""
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path))
    for name in ("old", "new"):
        assert main(["server", "add", name, "192.0.2.1"]) == 0
    words = [
        "--cluster",
        "/srv/pg/data",
        "--target",
        "/srv/pg/data",
        "--old-volume",
        "/srv/pg",
        "--new-volume",
        "/srv/pg",
    ]
    assert main(["move", "add", "spring", "--old", "old", "--new", "new", *words]) == 0
    return "spring"


def measure(move: str, side: Side, rate: float) -> None:
    """One run of random reads in the history."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    workload = Workload("random-read", "random read", "fio", "read_iops")
    with Store.open() as store:
        run = store.run_started(Run(move, Volume(side, str(side), "/srv/pg", "/srv/pg"), workload, at))
        store.repetition_ended(run, Repetition(1, at, 1.0, Outcome.DONE, {"read_iops": rate}, "fio", ""))
        store.run_ended(run, Outcome.DONE, at, "3.33")


def test_beside_a_move_that_was_never_measured(move: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", "what-if", move, "--drives", "4"]) == 2
    assert "new:/srv/pg" in capsys.readouterr().err
    assert main(["storage", "what-if", move, "--drives", "4", "--level", "10", *ONE]) == 0
    assert "RAID 10 of 4" in capsys.readouterr().out


@pytest.mark.slow
def test_drives_as_the_volume_of_one_side(move: str, capsys: pytest.CaptureFixture[str]) -> None:
    measure(move, Side.OLD, 150)
    measure(move, Side.NEW, 5000)
    capsys.readouterr()
    assert main(["storage", "what-if", move, "--drives", "4", "--level", "5", "--side", "old", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["expected"][0]["read_iops"] == 600
    assert found["expected"][0]["write_iops"] is None
    assert [(one["side"], one["drive"]["read_iops"]) for one in found["measured"]] == [("old", 150), ("new", 5000)]
    assert main(["storage", "what-if", move, "--drives", "4"]) == 0
    assert "measured: new:/srv/pg" in capsys.readouterr().out
