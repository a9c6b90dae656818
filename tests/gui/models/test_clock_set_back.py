"""If the clock of the workstation was set back during an execution, the window shows no negative duration."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.api.model import ExecutionState
from core.migration.execution.outcome import figures_of
from core.migration.execution.status import possible
from core.migration.execution.timeline import downtime, running_steps
from core.migration.model import step_ids
from core.migration.model.execution import State
from gui.models.execution import elapsed, summary
from gui.models.figures import figures
from gui.models.headline import headline
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.core.migration.execution.set_back import BACK, negative, set_back
from tests.steps import change_step

STOP = change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, downtime=True)
COPY = change_step(STEP, downtime=True)


@pytest.mark.parametrize("state", [State.DONE, State.STOPPED, State.RUNNING])
def test_no_duration_of_an_execution_is_negative(state: State) -> None:
    began = execution(STEP, STOP, COPY, state=state)
    made = ran(ran(began, 1, seconds=60), 2, seconds=60)
    if state is not State.RUNNING:
        made = replace(made, ended_at=NOW + timedelta(minutes=9))
    runs = (*made.steps, replace(made.steps[-1], id=3, number=3, ended_at=None, bytes=10**9, total=10**10))
    for each in set_back(replace(made, steps=runs)):
        now = NOW - BACK
        alive = state is State.RUNNING
        shown = ExecutionState(
            each,
            alive=alive,
            running=running_steps(each, now) if alive else (),
            figures=figures_of(each),
            possible=possible(each, alive=alive),
            downtime=downtime(each, now),
            read_at=now,
        )
        head = headline(shown, asked=False)
        texts = [*map(elapsed, each.steps), summary(shown), "" if head is None else repr(head)]
        texts += [text for figure in figures(shown) for text in (figure.value, figure.detail)]
        assert not negative(texts)
        assert elapsed(each.steps[0]) in {"1 min 00 s", "–"}
