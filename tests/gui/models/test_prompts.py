"""What the panel of a question says, by where the execution stands."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.migration.model.execution import Execution, StepRun
from gui.asker import StopQuestion
from gui.models.prompts import prompt_for
from tests.core.migration.execution.builders import STEP, execution
from tests.figures import figures
from tests.steps import change_step

WARM = change_step(STEP, precopy_pass=1, root="data")
STOP = change_step(STEP, downtime=True, expected_seconds=35.0)
QUESTION = StopQuestion("old", "15/main", (), warm=True)


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
    found = figures(prompt_for(QUESTION, copied(waited, seconds)).text.replace("15/main", ""))
    assert found == said


def test_a_pass_that_may_come_first_is_said() -> None:
    without = prompt_for(QUESTION, execution(STOP)).text
    later, now = (prompt_for(QUESTION, copied(waited, 50.0)).text for waited in (1.0, 3120.0))
    assert len({without, later, now}) == 3
    assert prompt_for(QUESTION, copied(1.0, 0.1)).text == without  # no wait makes another one worth it
