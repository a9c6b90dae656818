"""What the panel of a question says, by where the execution stands."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.migration.execution.passes import read_finished_passes
from core.migration.model import step_ids
from core.migration.model.checks import Status
from core.migration.model.execution import Execution, StepRun
from core.migration.model.plan import Login, PlanWarning
from core.sides import Side
from gui.asker import StepQuestion, StopQuestion
from gui.models.execution import BUTTONS, Doing
from gui.models.prompts import OPEN_NEW, STOP_IT, prompt_for
from tests.core.migration.execution.builders import STEP, execution
from tests.figures import figures
from tests.steps import change_step

WARM = change_step(STEP, precopy_pass=1, root="data")
STOP = change_step(STEP, downtime=True, expected_seconds=35.0)
QUESTION = StopQuestion("old", "15/main", (), warm=True)


def stop_text(asking: Execution) -> str:
    """What is said before the stop once the passes are known."""
    return prompt_for(QUESTION, asking, read_finished_passes(asking)).text


def copied(waited: float, seconds: float) -> Execution:
    """Its one pass took so long, and ended so long ago."""
    ended = datetime.now(UTC) - timedelta(seconds=waited)
    run = StepRun(1, 1, "copy", 1, ended - timedelta(seconds=seconds), ended, 0, 60_000_000_000)
    return replace(execution(WARM, STOP), steps=(run,))


@pytest.mark.parametrize(
    ("waited", "seconds", "said"),
    [
        (3120.0, 50.0, ["52 min 00 s", "50 s", "35 s"]),  # the change of a pass of 50 s is worth another
        (1.0, 50.0, ["35 s"]),
    ],
    ids=["old", "new"],
)
def test_the_stop_names_the_pass_that_comes_first(waited: float, seconds: float, said: list[str]) -> None:
    found = figures(stop_text(copied(waited, seconds)).replace("15/main", ""))
    assert found == said


def test_a_pass_that_may_come_first_is_said() -> None:
    without = stop_text(execution(STOP))
    later, now = (stop_text(copied(waited, 50.0)) for waited in (1.0, 3120.0))
    assert len({without, later, now}) == 3
    assert stop_text(copied(1.0, 0.1)) == without  # no wait makes another one worth it


def test_what_comes_before_the_stop_is_not_guessed_while_the_passes_are_not_known() -> None:
    unread, read = (prompt_for(QUESTION, copied(3120.0, 50.0)).text, stop_text(copied(3120.0, 50.0)))
    assert (figures(unread.replace("15/main", "")), figures(read.replace("15/main", ""))) == (
        ["35 s"],
        ["52 min 00 s", "50 s", "35 s"],
    )
    assert not set(unread.split(". ")) - set(read.split(". "))  # and what is said stays


@pytest.mark.parametrize(("number", "more"), [(0, []), (5, []), (8, ["3"])])
def test_the_stop_names_the_first_warnings_and_counts_the_others(number: int, more: list[str]) -> None:
    made = execution(STOP)
    warnings = [PlanWarning(f"The disk {name} is full.", Status.WARNING, "space") for name in "abcdefgh"[:number]]
    asked = replace(made, plan=replace(made.plan, warnings=(*warnings,)))
    prompt = prompt_for(replace(QUESTION, connected=("3 of app",)), asked)
    client, *told = prompt.table.splitlines()
    assert client == "3 of app"
    assert told[1:6] == [one.message for one in warnings[:5]]
    assert [figures(line) for line in told[6:]] == [more for _ in more]


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (("1 of app on shop, local",), "1"),
        (("3 of app on shop from 10.0.0.7, web", "12 of report from 10.0.0.9"), "15"),
        (("2 of app", "a line of another kind"), "3"),
    ],
)
def test_each_client_that_loses_its_connection_is_counted(lines: tuple[str, ...], number: str) -> None:
    text = prompt_for(replace(QUESTION, connected=lines), execution(STOP)).text
    assert number in figures(text.replace("15/main", "")), text


def test_clients_can_be_listed_again_if_the_plan_lists_them() -> None:
    clients = change_step(STEP, id=step_ids.LIST_CLIENTS)
    assert prompt_for(QUESTION, execution(clients, STOP)).can_look_again
    assert not prompt_for(QUESTION, execution(STOP)).can_look_again


def test_the_buttons_name_the_servers_that_the_plan_knows() -> None:
    made = execution(STOP, change_step(STEP, side=Side.NEW))
    named = replace(made, plan=replace(made.plan, logins=(login(Side.OLD, "db1"), login(Side.NEW, "db&2"))))
    decision = StepQuestion("workstation", "decide", "look at it", step_id=step_ids.DECIDE)
    stop, cutover = prompt_for(QUESTION, named), prompt_for(decision, named)
    assert (stop.button, stop.back) == ("&Shut down PostgreSQL on db1", "Roll &back to db1")
    assert (cutover.button, cutover.back) == ("Open db&&2 to cl&ients", "Roll &back to db1")
    assert (prompt_for(QUESTION, None).button, prompt_for(QUESTION, None).back) == (STOP_IT, BUTTONS[Doing.BACK])
    assert prompt_for(decision, None).button == OPEN_NEW


def login(side: Side, server: str) -> Login:
    return Login(side, server, f"ssh {server}", None, "sudo")
