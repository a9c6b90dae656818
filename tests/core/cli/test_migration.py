"""Checks, plans, reports, comparisons and estimates on the command line: what they say, and where their hints lead."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core import units
from core.api.session import Session
from core.cli import comparison
from core.cli.estimate import SPEC_EXAMPLE, estimate_text
from core.cli.main import main
from core.cli.migration import checks_text, plan_summary, plan_text
from core.comparison.compare import compare
from core.history.store import Store
from core.migration.estimate import load_spec
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate, Method, Span
from core.redaction import MASK
from core.servers.running import Completed
from tests.core.history import samples
from tests.core.migration import builders
from tests.core.migration.plan.plans import opening, plan
from tests.histories import Histories


def result(status: Status, *, blocking: bool = True) -> CheckResult:
    found = samples.checks()[0]
    return CheckResult("id", "title", status, "message", found.old, found.new, blocking=blocking)


def test_unknown_checks_are_counted_beside_the_blockers() -> None:
    results = (result(Status.BLOCKER), result(Status.UNKNOWN), result(Status.UNKNOWN, blocking=False))
    assert re.search(r"\n3 checks, 1 blocker, 1 unknown \([^)]+\), 1 unknown [^\n]+$", checks_text(results))
    assert checks_text((result(Status.PASS), result(Status.WARNING))).endswith("\n2 checks, 0 blockers, 1 warning")
    assert checks_text((result(Status.PASS),)).endswith("\n1 check, 0 blockers")


def test_what_several_checks_say_alike_stands_once() -> None:
    said = checks_text((result(Status.BLOCKER), replace(result(Status.BLOCKER), id="other"), result(Status.WARNING)))
    assert said.startswith("BLOCKER  2 checks [id, other]: ")
    assert [line[:8].strip() for line in said.splitlines() if not line.startswith(" ")][:-1] == ["BLOCKER", "WARNING"]
    assert "3 checks, 2 blockers, 1 warning" in said


def test_passed_checks_are_named_and_shown_with_their_values_when_asked_for() -> None:
    passed = replace(result(Status.PASS), id="good", message="both have it")
    said = checks_text((result(Status.WARNING), passed))
    assert "both have it" not in said
    assert "PASS     1 check. With their values: --all\n           good\n" in said
    assert "PASS     title [good]: both have it\n" in checks_text((result(Status.WARNING), passed), passed=True)


def test_a_plan_in_short_has_a_line_for_each_step_and_no_commands() -> None:
    made = plan({"running": True})
    short = plan_summary(made)
    lines = short.splitlines()
    numbers = [int(line[:4]) for line in lines if line[:4].strip().isdigit()]
    assert numbers == [step.number for step in made.steps]
    assert [line for line in lines if line.endswith("point of no return")] == [
        line for line in lines if line.startswith(f"{opening(made).number:4}  ")
    ]
    commands = {line for step in made.steps for native in step.native for line in native.splitlines()}
    assert [each for each in commands if each in short] == []
    assert [each for each in commands if each not in plan_text(made)] == []


def test_a_plan_names_the_downtime_and_what_stands_against_it() -> None:
    made = plan({"running": True, "version": "15.99"})
    down = made.downtime_seconds
    for said in (plan_summary(made), plan_text(made)):
        head = said.partition("\n\n")[0]
        assert f": {units.duration(down)}. " in head
        assert [str(each) for each in made.warnings if str(each) not in head] == []


@pytest.mark.slow
def test_the_commands_of_a_plan_are_shown_when_asked_for(
    histories: Histories, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answered = {"old": builders.old(), "new": builders.new()}
    monkeypatch.setattr("core.facts.collect.Facts", lambda *, server, **_: answered[server])
    monkeypatch.setattr(Session, "server", lambda _session, name, _job: Answers(name))
    histories.copy(Path(os.environ["PGHAUL_DATA"]), builders.set_up)
    shown = {}
    for words in (["plan", "spring"], ["plan", "spring", "--all"]):
        assert main(words) == 0
        shown[len(words)] = capsys.readouterr().out
    assert "\n   $ " not in shown[2]
    assert "\n   $ " in shown[3]


def test_the_example_of_a_spec_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--help"]) == 0
    assert SPEC_EXAMPLE in capsys.readouterr().out
    spec = load_spec("\n".join(SPEC_EXAMPLE.splitlines()[1:]), "example")
    assert spec.cluster.size_bytes == 1.22e12
    assert spec.copy.compression_ratio == 2.5


def test_the_method_that_an_execution_carries_out_stands_first() -> None:
    def method(name: str, seconds: float, stopped: float) -> Method:
        return Method(name, Span(seconds, seconds, seconds), Span(stopped, stopped, stopped), ())

    made = Estimate((method("cold-copy", 3600, 3500), method("warm-copy", 4000, 40)), planned="warm-copy")
    first = estimate_text(made).splitlines()[0]
    assert re.match(
        r"pghaul execute \D+ 1 h 07 min \(1 h 07 min – 1 h 07 min\); method: pre-copy and final sync; downtime: 40 s",
        first,
    )
    assert first.endswith("; downtime of a copy with the cluster stopped: 58 min 20 s")
    assert (
        "; method: copy with the cluster stopped; downtime: "
        in estimate_text(replace(made, planned="cold-copy")).splitlines()[0]
    )
    assert estimate_text(replace(made, planned="")).startswith("method")


class Answers:
    """A server of whose answers the facts are made by hand."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.profile = builders.profile(name)

    def can_become(self, *_: object) -> bool:
        return True

    def run(self, *_: object, **__: object) -> Completed:
        return Completed("true", 0, "", "", 0.1)


def test_a_script_and_a_runbook_hold_no_secret_of_the_cluster(
    histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("Geheim-1x", "Geheim-2x")
    said = (f"password={words[0]}", f'pg_hba.conf line 1: radiussecrets="{words[1]}"')
    answered = {"old": builders.old(builders.cluster(start_complaints=said)), "new": builders.new()}
    monkeypatch.setattr("core.facts.collect.Facts", lambda *, server, **_: answered[server])
    monkeypatch.setattr(Session, "server", lambda _session, name, _job: Answers(name))
    histories.copy(Path(os.environ["PGHAUL_DATA"]), builders.set_up)
    paths = [tmp_path / "move.sh", tmp_path / "move.md"]
    assert main(["plan", "spring", "--script", str(paths[0]), "--runbook", str(paths[1])]) == 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert [name for name in ("password=", "radiussecrets=") if f" {name}{MASK}" not in text] == []
        assert [word for word in words if word in text] == []


@pytest.mark.parametrize("text", ["[1,2]", "3", '"x"'])
def test_json_without_tables_is_called_that(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec"
    spec.write_text(text)
    assert main(["estimate", "--spec", str(spec)]) == 2
    assert " JSON " in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["notes.txt", "report", "report.pdf.txt"])
def test_a_report_is_written_under_a_name_that_says_its_shape(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open() as store:
        samples.fill(store)
    path = tmp_path / name
    path.write_text("mine")
    assert main(["report", samples.MOVE.name, "-o", str(path)]) == 2
    assert ".pdf" in capsys.readouterr().err
    assert path.read_text() == "mine"


@pytest.mark.slow
def test_a_written_plan_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
    script, runbook = tmp_path / "move.sh", tmp_path / "move.md"
    assert main(["plan", samples.MOVE.name, "--script", str(script), "--runbook", str(runbook)]) == 0
    assert capsys.readouterr().out == f"{script}\n{runbook}\n"
    assert script.stat().st_size > 0


def test_two_runs_are_named_by_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
        runs = store.runs(samples.MOVE.name)
    first = runs[0]
    same = next(run for run in runs[1:] if run.workload == first.workload)
    other = next(run for run in runs if run.workload.name != first.workload.name)
    assert main(["compare", str(first.id), str(same.id)]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert f"run {first.id}: {first.volume.server}:{first.volume.mount_point}" in head
    assert "old" not in head.replace(first.volume.server, "")
    assert main(["compare", str(first.id), str(other.id)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert {str(first.id), str(other.id)} <= set(re.findall(r"\d+", err))
    said = comparison.text(compare([first], [same]), ("run 3", "run 13"))
    assert "run 13 faster" in said
    assert "new faster" not in said


def test_a_run_that_is_not_there_names_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "run", "7"]) == 2
    assert "pghaul history runs MOVE" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["server", "list"], ["--help"]])
def test_a_full_disk_behind_stdout_is_no_bug(
    arguments: list[str], unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    code = f"import sys; from core.cli.main import main; sys.exit(main({arguments}))"
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert (ended.returncode, ended.stderr.count("\n"), ended.stderr[:8]) == (2, 1, "pghaul: ")
    assert "(ENOSPC)" in ended.stderr
