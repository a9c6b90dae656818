"""What the benchmark of the estimate measures."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from benchmarks import estimate
from benchmarks.again import ESTIMATE, PROBED
from benchmarks.estimate import ALL, SETTINGS, Run, Setting
from benchmarks.stopping import Load, Ran
from tests.lab.lab import Lab
from tests.lab.machine import LabError

SPAN = {"low": 20.0, "likely": 30.0, "high": 40.0}
MADE = {"methods": [{"method": "warm-copy", "duration_seconds": SPAN, "downtime_seconds": SPAN}]}
MADE["methods"] += [{**MADE["methods"][0], "method": "cold-copy"}]
STATUS = {
    "execution": {
        "plan": {"steps": [{"number": 1, "point_of_no_return": True, "stopped": True}]},
        "steps": [{"number": 1, "started_at": "2026-11-23T10:00:00", "ended_at": "2026-11-23T10:00:30"}],
    }
}


def test_there_are_twelve_settings_each_with_a_title_of_its_own() -> None:
    assert len({each.title for each in SETTINGS}) == len(SETTINGS) >= 12


class Stage:
    """Two hosts that do nothing: under which load each was probed, and what `pghaul` was told to fail at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: str = "", lab_fails: bool = False) -> None:
        self.load: Load | None = None
        self.probed: list[Load | None] = []
        self.fails, self.lab_fails = fails, lab_fails
        for name in ("prepared", "busy", "describe", "pghaul", "cold_caches"):
            monkeypatch.setattr(estimate, name, getattr(self, name))
        monkeypatch.setattr("tests.lab.clusters.control", lambda *_: None)

    @contextmanager
    def prepared(self, setting: Setting) -> Iterator[MagicMock]:
        if self.lab_fails:
            raise LabError(f"{setting.title} cannot be set up")
        yield MagicMock()

    @contextmanager
    def busy(self, lab: Lab, scale: int, load: Load) -> Iterator[None]:  # noqa: ARG002  as the true one has it
        self.load = load
        yield
        self.load = None

    def describe(self, lab: Lab, folder: Path) -> float:  # noqa: ARG002  as the true one has it
        (folder / "history").mkdir()
        self.probed.append(self.load)
        return 12.0

    def pghaul(self, folder: Path, *words: str) -> Ran:  # noqa: ARG002  as the true one has it
        if self.fails and self.fails in words and "--confirm" in words:
            raise RuntimeError("pghaul execute: it failed")
        return Ran(json.dumps(STATUS if "--status" in words else MADE), 0)

    def cold_caches(self) -> None:
        """Nothing is cached."""


def test_a_way_that_fails_ends_neither_its_setting_nor_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Stage(monkeypatch, fails="--verify")
    run = Run(tmp_path)
    for number in (1, 4):
        run.measure(number, SETTINGS[number - 1], ("all", "warm"))
    titles = [f"{SETTINGS[number - 1].title}, warm: {kind}" for number in (1, 4) for kind in ("whole", "downtime")]
    assert [row.title for row in run.rows] == titles
    assert sorted(each.name for each in tmp_path.iterdir()) == ["1-all", "1-warm", "4-all", "4-warm"]
    assert (tmp_path / "1-all" / ESTIMATE).exists()
    assert run.end() == 1
    printed = capsys.readouterr().out
    assert printed.count("FAILED") == 4  # two at once, and again at the end
    assert titles[0] in printed


def test_a_setting_that_cannot_be_set_up_is_said_and_ends_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Stage(monkeypatch, lab_fails=True)
    run = Run(tmp_path)
    run.measure(1, SETTINGS[0], ("warm",))
    assert [each.partition(": ")[0] for each in run.failed] == [SETTINGS[0].title]
    assert run.end() == 1


def test_probes_are_timed_kept_and_held_against_the_first_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Stage(monkeypatch)
    run = Run(tmp_path)
    run.measure(2, SETTINGS[1], ("warm", "all"))
    assert [(each.title, each.seconds, each.whole) for each in run.probed] == [(SETTINGS[1].title, 12.0, 30.0)]
    assert json.loads((tmp_path / "2-all" / PROBED).read_text()) == {"seconds": 12.0}
    assert run.end() == 0


def test_what_is_done_without_the_load_is_estimated_from_probes_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(monkeypatch)
    Run(tmp_path).measure(11, SETTINGS[10], ("warm", "cold"))
    assert stage.probed == [ALL, None]
    stage.probed.clear()
    Run(tmp_path).measure(1, SETTINGS[0], ("warm", "cold"))
    assert stage.probed == [None]
