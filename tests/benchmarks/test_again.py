"""What was kept of a benchmark is estimated anew without what came of the move."""

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.again import CLOCK, ESTIMATE, PROBED, STATUS, again, clocked, kept, probings
from benchmarks.judging import Clock, Probing
from core import documents
from core.history.example import MOVE, lay
from core.history.store import Store
from core.migration.model import step_ids

STEPS = [
    {"number": 1, "point_of_no_return": False, "stopped": False},
    {"number": 2, "point_of_no_return": False, "stopped": True},
    {"number": 3, "point_of_no_return": True, "stopped": True},
]
RUNS = [
    {"number": number, "started_at": f"2026-11-23T10:00:{begun}", "ended_at": f"2026-11-23T10:00:{ended}"}
    for number, begun, ended in ((1, "00", "07"), (2, "08", "10"), (3, "10", "20"))
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two ways of setting 3 that were kept, of the example's move; another without a clock, and what is none."""
    for way in ("warm", "cold"):
        lay(tmp_path / f"3-{way}" / "history")
        with Store.open(tmp_path / f"3-{way}" / "history") as store:
            began = min(each.started_at for each in store.executions(MOVE))
            made = max((each for each in store.estimates(MOVE) if each.made_at and each.made_at < began),
                       key=lambda each: each.made_at or began)  # fmt: skip
        (tmp_path / f"3-{way}" / ESTIMATE).write_text(json.dumps(documents.to_plain(made)))
    (tmp_path / "3-warm" / CLOCK).write_text(json.dumps(asdict(Clock(30.0, 4.0))))
    (tmp_path / "3-cold" / STATUS).write_text(json.dumps({"execution": {"plan": {"steps": STEPS}, "steps": RUNS}}))
    (tmp_path / "10-dump").mkdir()
    (tmp_path / "notes").mkdir()
    return tmp_path


def test_what_has_a_clock_is_found_in_the_order_in_which_it_was_done(folder: Path) -> None:
    assert [(each.number, each.way, each.clock) for each in kept(folder)] == [
        (3, "warm", Clock(30.0, 4.0)),
        (3, "cold", Clock(20.0, 12.0)),
    ]


def test_nothing_that_came_later_tells_anything(folder: Path) -> None:
    warm = next(kept(folder))
    history = warm.folder / "history" / "history.sqlite3"
    before = hashlib.sha256(history.read_bytes()).hexdigest()
    made = again(warm)
    assert hashlib.sha256(history.read_bytes()).hexdigest() == before
    method = next(each for each in made["methods"] if each["method"] == "warm-copy")
    assert not [stage for stage in method["stages"] if stage["evidence"].startswith("timed")]
    with closing(sqlite3.connect(history)) as connection, connection:
        connection.execute("DELETE FROM executions")
        connection.execute("DELETE FROM execution_steps")
    without = next(each for each in again(warm)["methods"] if each["method"] == "warm-copy")
    assert without == method


def test_the_clock_of_an_execution_is_of_all_steps_and_of_the_stop() -> None:
    status = {"execution": {"plan": {"steps": STEPS}, "steps": RUNS}}
    assert clocked(status) == Clock(whole=20.0, down=12.0)


def test_the_downtime_begins_with_the_stop_of_the_cluster_not_with_that_of_the_applications() -> None:
    ids = (step_ids.STOP_APPLICATIONS, step_ids.STOP_OLD_CLUSTER, step_ids.CUTOVER)
    steps: list[dict[str, object]] = [
        {"number": number, "id": each, "downtime": True, "action": {}} for number, each in enumerate(ids, 1)
    ]
    assert clocked({"execution": {"plan": {"steps": steps}, "steps": RUNS}}) == Clock(whole=20.0, down=12.0)
    stopped_before = [each for each in steps if each["id"] != step_ids.STOP_OLD_CLUSTER]
    assert clocked({"execution": {"plan": {"steps": stopped_before}, "steps": RUNS}}) == Clock(whole=20.0, down=20.0)


def test_the_seconds_of_the_kept_probes_are_told_once_a_setting_with_their_time(folder: Path) -> None:
    titles = ["one", "two", "three"]
    assert list(probings(kept(folder), titles)) == []  # they were not kept
    for way, seconds in (("warm", 12.5), ("cold", 9.0)):
        (folder / f"3-{way}" / PROBED).write_text(json.dumps({"seconds": seconds}))
    ((at, found),) = probings(kept(folder), titles)
    assert found == Probing("three", 12.5, 30.0)
    assert at == next(kept(folder)).made_at
