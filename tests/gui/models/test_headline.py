"""The one large line: which server serves the clients, and when a person is waited for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.api.model import ExecutionState
from core.migration.execution.status import MoveStatus
from core.migration.model import step_ids
from core.migration.model.execution import Execution, State, StepRun
from core.migration.model.plan import Decision
from core.migration.model.schedule import FailedTry, Schedule
from core.migration.model.schedule import shown as time_shown
from core.sides import Side
from core.tones import Tone
from gui.models.headline import ASKS, STANDS, STARTS, TRIES_AGAIN, headline
from gui.models.steps import HEADLINES, Part
from tests.core.migration.execution.builders import execution
from tests.figures import figures
from tests.steps import make_step

NOW = datetime(2026, 3, 14, 3, 12, 9, tzinfo=UTC)
COPY = make_step("pre-copy/1/data", "copy", number=1, server="db1", precopy_pass=1, expected_seconds=100.0)
STOP = make_step(step_ids.STOP_OLD_CLUSTER, "stop", number=2, server="db1", downtime=True, expected_seconds=5.0)
DECIDE = replace(make_step(step_ids.DECIDE, "decide", number=3, server="db2", downtime=True), action=Decision())
OPEN = make_step(step_ids.CUTOVER, "open", Side.NEW, number=4, server="db2", downtime=True, expected_seconds=2.0)


def under_way(number: int, seconds: float = 60.0, **more: object) -> Execution:
    """Return an execution in the step with that number, which began so long ago."""
    made = execution(COPY, STOP, DECIDE, OPEN)
    began = NOW - timedelta(seconds=seconds)
    ended = tuple(StepRun(at, at, "", 1, began, began, 0) for at in range(1, number))
    return replace(made, steps=(*ended, replace(StepRun(9, number, "", 1, began), **more)))  # type: ignore[arg-type]


def line(of: Execution, *, asked: bool = False, alive: bool = True) -> tuple[str, Tone]:
    found = headline(ExecutionState(of, alive=alive, read_at=NOW), asked=asked)
    assert found is not None
    return found.text, found.tone


def test_a_copy_is_told_with_its_part_its_server_and_the_time_left() -> None:
    text, tone = line(under_way(1, bytes=60_000_000_000, total=80_000_000_000))
    assert figures(text.replace("db1", "")) == ["75 %", "27 s"]
    assert text.startswith(HEADLINES[Part.WARM])
    assert STANDS[MoveStatus.UNTOUCHED].format(old="db1") in text
    assert tone is Tone.ACCENT


def test_the_time_for_which_it_waits_is_counted_down() -> None:
    schedule = Schedule(NOW + timedelta(hours=3, minutes=12), None)
    to_start = replace(execution(COPY, STOP, DECIDE, OPEN), schedule=schedule)
    text, tone = line(to_start)
    assert text.startswith(STARTS.format(time=time_shown(schedule.start_at or NOW), left="3 h 12 min"))
    assert STANDS[MoveStatus.UNTOUCHED].format(old="db1") in text
    assert tone is Tone.ACCENT
    copied = replace(under_way(2), steps=under_way(2).steps[:1], schedule=Schedule(None, NOW + timedelta(minutes=41)))
    assert line(copied)[0].startswith(ASKS.partition("{time}")[0])
    assert "in 41 min 00 s" in line(copied)[0]


@pytest.mark.parametrize("number", [1, 2], ids=["in a pass whose server was lost", "before the question"])
def test_a_failure_after_which_it_goes_on_is_a_warning(number: int) -> None:
    failed = FailedTry(NOW - timedelta(seconds=20), 3, "the connection to db1 was lost", NOW + timedelta(seconds=20))
    waiting = under_way(number)
    waiting = replace(waiting, steps=waiting.steps[:1], schedule=Schedule(None, NOW + timedelta(hours=3), (failed,)))
    text, tone = line(waiting)
    assert text.startswith(TRIES_AGAIN.format(time=time_shown(failed.next_at), left="20 s"))
    assert STANDS[MoveStatus.UNTOUCHED].format(old="db1") in text
    assert tone is Tone.WARNING
    gone_on = replace(waiting, steps=(*waiting.steps, StepRun(10, number, "", 2, NOW - timedelta(seconds=5))))
    assert not line(gone_on)[0].startswith(TRIES_AGAIN.partition("{time}")[0])


def test_the_downtime_is_told_without_a_second_figure_beside_the_clock() -> None:
    text, _ = line(under_way(4, 1.0))
    assert figures(text.replace("db2", "")) == ["1 s"]
    assert HEADLINES[Part.DOWN] in text
    assert STANDS[MoveStatus.OPENING].format(new="db2") in text


@pytest.mark.parametrize(("number", "asked"), [(3, False), (1, True)], ids=["a decision", "the stop"])
def test_who_is_waited_for_comes_first(number: int, asked: bool) -> None:
    text, tone = line(under_way(number), asked=asked)
    status = MoveStatus.STOPPING if number == 3 else MoveStatus.UNTOUCHED
    assert text.endswith(STANDS[status].format(old="db1"))
    assert HEADLINES[Part.DOWN] not in text
    assert tone is Tone.WARNING


def test_a_finished_move_is_good_and_one_rolled_back_is_not() -> None:
    made = replace(execution(COPY), state=State.DONE)
    assert line(made)[1] is Tone.GOOD
    assert line(replace(made, state=State.ROLLED_BACK))[1] is Tone.WARNING
    assert headline(ExecutionState(), asked=False) is None


def test_every_status_has_its_words() -> None:
    assert set(STANDS) == set(MoveStatus)


def test_what_was_asked_before_a_rollback_is_not_waited_for() -> None:
    """The row of the decision stays open where pghaul was killed while it asked."""
    asked = under_way(3)
    back = replace(asked, steps=(*asked.steps, StepRun(12, 1, "", 1, NOW, back=True)))
    text, tone = line(back)
    assert STANDS[MoveStatus.ROLLING_BACK].format(old="db1") in text
    assert tone is Tone.BAD


def test_a_part_is_not_told_in_percent_where_that_is_not_known_and_never_complete_before_its_end() -> None:
    unknown = make_step("pre-copy/1/space", "copy", number=1, server="db1", precopy_pass=1, expected_seconds=None)
    late = make_step("pre-copy/1/data", "copy", number=2, server="db1", precopy_pass=1, expected_seconds=100.0)
    made = execution(unknown, late, STOP)
    running = replace(made, steps=(StepRun(1, 1, "", 1, NOW - timedelta(seconds=600)),))
    assert "%" not in line(running)[0]
    began = NOW - timedelta(seconds=1000)
    overrun = replace(execution(COPY, STOP), steps=(StepRun(1, 1, "", 1, began),))
    assert "99 %" in line(overrun)[0]
