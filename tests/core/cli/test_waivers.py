"""`pghaul check MOVE --waive ID --reason TEXT` and `--unwaive ID`, on what the history holds."""

import json
from dataclasses import replace

import pytest

from core.cli.main import main
from core.history.store import Store
from core.migration.model.checks import Status
from tests.core.cli.refusals import reasons
from tests.core.history import samples

MOVE = samples.MOVE.name


@pytest.fixture
def filled() -> dict[Status, str]:
    """A history with a day's work in it: the id of one check of each status."""
    with Store.open() as store:
        samples.fill(store)
        return {result.status: result.id for result in store.checks(MOVE) or ()}


def test_a_warning_is_waived_and_taken_back(filled: dict[Status, str], capsys: pytest.CaptureFixture[str]) -> None:
    warning = filled[Status.WARNING]
    assert main(["check", MOVE, "--waive", warning, "--reason", "tested on a copy"]) == 1
    said = capsys.readouterr().out
    assert "WAIVED" in said
    assert f"[{warning}]" in said
    assert "tested on a copy" in said
    assert said.splitlines()[-1].endswith("1 waived")
    main(["history", "list", "--json"])
    entries = json.loads(capsys.readouterr().out)["entries"]
    number = next(entry["reference"] for entry in entries if entry["title"] == f"{warning}: tested on a copy")
    assert main(["history", "show", "waiver", str(number)]) == 0
    assert f"{warning} waived by " in capsys.readouterr().out
    assert main(["check", MOVE, "--unwaive", warning, "--json"]) == 1
    results = json.loads(capsys.readouterr().out)["checks"]
    assert [result["waiver"] for result in results] == [None] * len(results)


def test_checks_that_a_survey_left_to_run_are_counted_apart_and_the_exit_code_is_1(
    filled: dict[Status, str], capsys: pytest.CaptureFixture[str]
) -> None:
    warning = filled[Status.WARNING]
    for pending, code in ((True, 1), (False, 0)):
        with Store.open() as store:
            left = [each for each in samples.checks() if not each.stops]
            waiting = replace(left[0], id="locales", status=Status.UNKNOWN, blocking=True, pending=True)
            store.save_checks(MOVE, (waiting, *left) if pending else tuple(left))
        assert main(["check", MOVE, "--waive", warning, "--reason", "tested on a copy"]) == code
        said = capsys.readouterr().out
        assert ("TO RUN" in said, "0 blockers, 1 to run first" in said) == (pending, pending)
        assert "counts as a blocker" not in said


@pytest.mark.slow
def test_what_is_refused(filled: dict[Status, str], capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        before = store.waivers(MOVE)
    cases = [
        (["--waive", "no-such-check", "--reason", "we hope"], "no-such-check"),
        (["--waive", filled[Status.BLOCKER], "--reason", "we hope"], filled[Status.BLOCKER]),
        (["--waive", filled[Status.WARNING]], "--reason"),
        (["--unwaive", filled[Status.WARNING]], filled[Status.WARNING]),
        (["--reason", "because"], "--waive"),
        (["--waive", "a", "--unwaive", "b"], "--unwaive"),
    ]
    assert len(reasons(((["check", MOVE, *words], said) for words, said in cases), capsys)) == len(cases)
    with Store.open() as store:
        assert store.waivers(MOVE) == before


def test_the_list_needs_no_servers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["checks"]
    assert {"id", "title", "blocking", "compares", "severity"} <= set(listed[0])
    assert {each["severity"] for each in listed} == {"blocker", "warning"}
    assert main(["check", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= len(listed)
