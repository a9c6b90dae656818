"""`pghaul history example`: what a person who has no two servers looks at."""

import json
import re
from datetime import datetime
from pathlib import Path

import pytest

from core.cli.main import main
from core.history import example
from core.history.store import Store
from core.migration.execution.status import describe_completed_move


def test_its_report_is_made_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, report = tmp_path / "example", tmp_path / "example.html"
    assert main(["history", "example", str(folder)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{folder / 'history.sqlite3'}\n")
    assert f"set PGHAUL_DATA to {folder}." in said
    monkeypatch.setenv("PGHAUL_DATA", str(folder))
    assert main(["report", example.MOVE, "-o", str(report)]) == 0
    assert "192.0.2.12" in report.read_text(encoding="utf-8")


def test_as_json_it_names_the_file_and_the_move(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "example", str(tmp_path / "here"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "history": str(tmp_path / "here" / "history.sqlite3"),
        "move": example.MOVE,
    }


def test_a_second_one_is_refused_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "example", str(tmp_path / "here")]) == 0
    capsys.readouterr()
    assert main(["history", "example", str(tmp_path / "here")]) == 2
    said, hint = capsys.readouterr().err.splitlines()
    assert said.startswith(f"pghaul: {tmp_path / 'here' / 'history.sqlite3'} ")
    assert hint.startswith("  hint: ")


@pytest.fixture
def _shipped(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands look at the example."""
    assert main(["history", "example", str(tmp_path / "example")]) == 0
    capsys.readouterr()
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "example"))


def _opened() -> datetime:
    """When new was opened; the example is made anew now and then."""
    with Store.open() as store:
        done = store.latest_execution(example.MOVE)
    assert done is not None
    assert done.cutover_at is not None
    return done.cutover_at


@pytest.mark.slow
@pytest.mark.usefixtures("_shipped")
def test_a_plan_and_an_estimate_of_a_move_that_is_over_say_so_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open() as store:
        over = describe_completed_move(store.latest_execution(example.MOVE))
    assert f" {_opened():%Y-%m-%d %H:%M:%S} UTC (execution 2). " in over
    assert "--start-over" in over
    for words in (["plan", example.MOVE], ["estimate", example.MOVE]):
        assert main(words) == 0
        assert over in capsys.readouterr().out.splitlines()[0]
        assert main([*words, "--json"]) == 0
        found = capsys.readouterr()
        warnings = json.loads(found.out).get("warnings", ())
        assert over in found.err + "".join(each["message"] for each in warnings)
    script, runbook = tmp_path / "move.sh", tmp_path / "move.md"
    assert main(["plan", example.MOVE, "--script", str(script), "--runbook", str(runbook)]) == 0
    found = capsys.readouterr()
    assert found.out.splitlines() == [str(script), str(runbook)]
    assert all(over in text for text in (found.err, script.read_text(), runbook.read_text()))


@pytest.mark.usefixtures("_shipped")
def test_what_was_opened_is_not_offered_to_be_taken_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["execute", example.MOVE, "--rollback"]) == 1
    said = capsys.readouterr().err
    assert re.match(rf"pghaul: .* {_opened():%Y-%m-%d} ", said)
    assert len(said.splitlines()) == 2
