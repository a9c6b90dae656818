"""The dry run of a script: what it shows of a plan, and what is said of one that does not run."""

from dataclasses import replace

import pytest

from core import this_workstation
from core.errors import InputError
from core.jobs import Job
from core.migration.execution import script_check
from core.migration.execution.script_check import check_script
from core.migration.model.plan import Plan
from core.migration.plan import script
from tests.core.migration.plan.plans import odd_plan
from tests.core.migration.plan.plans import plan as made

PLAN = made({"running": True})


@pytest.mark.parametrize("plan", [PLAN, odd_plan()], ids=["plain", "odd"])
def test_a_script_that_shows_all_steps_passes(plan: Plan) -> None:
    found = check_script(plan, Job())
    assert found.passed
    assert (found.steps, found.way_back) == (len(plan.steps), len(plan.way_back))
    assert all(step.title.split("\n")[0] in found.output for step in plan.steps)


@pytest.mark.parametrize(
    ("text", "error"),
    [("exit 3\n", ""), ("echo no >&2; exit 3\n", "no"), ("if\n", "Syntax error"), ("nothing-here\n", "not found")],
)
def test_a_script_that_does_not_run_fails(monkeypatch: pytest.MonkeyPatch, text: str, error: str) -> None:
    monkeypatch.setattr(script_check, "script", lambda _: text)
    found = check_script(PLAN, Job())
    assert not found.passed
    assert error in found.error


def test_a_locale_that_the_workstation_lacks_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    warns = "echo 'sh: warning: setlocale: LC_ALL: cannot change locale (xx_YY.UTF-8)' >&2"
    monkeypatch.setattr(script_check, "script", lambda plan: f"{warns}\n{script(plan)}")
    assert check_script(PLAN, Job()).passed
    monkeypatch.setattr(script_check, "script", lambda plan: f"{warns}\necho no >&2\n{script(plan)}")
    found = check_script(PLAN, Job())
    assert (found.passed, found.error) == (False, "no")


def test_a_step_that_is_not_shown_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_check, "script", lambda plan: script(replace(plan, steps=plan.steps[:-1])))
    found = check_script(PLAN, Job())
    assert (found.passed, found.missing) == (False, (PLAN.steps[-1].number,))


def test_without_sh_it_is_refused_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    with pytest.raises(InputError, match="Windows") as refused:
        check_script(PLAN, Job())
    assert "Linux" in refused.value.hint
