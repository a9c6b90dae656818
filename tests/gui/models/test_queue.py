"""The queue of suites: its forecasts as rows, and what is left of all."""

import pytest

from core.benchmarks.model import Forecast, Volume
from core.sides import Side
from core.tones import Tone
from gui.models.queue import (
    FORECAST_COLUMNS,
    LATE,
    LEFT_OUT,
    Entry,
    ForecastRow,
    MeasuredSides,
    State,
    describe_queue,
    forecast_rows,
)
from tests.figures import figures

VOLUME = Volume(Side.OLD, "db-old", "/srv", "/srv")
ONE_BY_ONE, AT_ONCE = MeasuredSides.ONE_BY_ONE, MeasuredSides.AT_ONCE
NO_FIO = LEFT_OUT.format(reason="no fio")


@pytest.mark.parametrize(
    ("problems", "left_out", "warnings", "said", "tone"),
    [
        ((), (), (), "none", Tone.GOOD),
        (("no space",), ("no fio",), (), f"no space; {NO_FIO}", Tone.BAD),
        ((), ("no fio",), ("a cluster runs",), f"{NO_FIO}; a cluster runs", Tone.WARNING),
        ((), (), ("a cluster runs",), "a cluster runs", Tone.WARNING),
    ],
)
def test_a_forecast_says_all_that_matters(
    problems: tuple[str, ...], left_out: tuple[str, ...], warnings: tuple[str, ...], said: str, tone: Tone
) -> None:
    forecast = Forecast(VOLUME, 1.0, 1, 2, problems, left_out, warnings)
    row = ForecastRow(Entry("quick", AT_ONCE, (forecast,)), forecast)
    column = FORECAST_COLUMNS[-1]
    assert column.text(row) == said
    assert column.tone is not None
    assert column.tone(row) is tone


def entry(measured: MeasuredSides = ONE_BY_ONE, state: State = State.WAITS, problems: tuple[str, ...] = ()) -> Entry:
    each = Forecast(VOLUME, 600.0, 1, 2, problems, seconds_at_most=1140.0)
    return Entry("quick", measured, (each, each), state)


def test_one_range_for_both_sides_of_all_suites() -> None:
    assert figures(describe_queue([entry()])) == ["20 min 00 s", "38 min 00 s"]
    assert figures(describe_queue([entry(AT_ONCE)])) == ["10 min 00 s", "19 min 00 s"]
    assert figures(describe_queue([entry(), entry(AT_ONCE)])) == ["30 min 00 s", "57 min 00 s"]


def test_what_is_left_counts_what_waits_and_not_what_is_done() -> None:
    queue = [entry(state=State.DONE), entry(state=State.RUNS), entry(AT_ONCE)]
    assert left(queue, 300.0) == (False, ["25 min 00 s", "52 min 00 s"])
    assert left([entry(state=State.RUNS)], 1300.0) == (False, ["16 min 00 s"])
    assert left([entry(state=State.RUNS), entry()], 3000.0) == (True, ["20 min 00 s", "38 min 00 s"])


def left(queue: list[Entry], running_for: float, running_left: float | None = None) -> tuple[bool, list[str]]:
    """Whether it is said to take longer than its forecast, and the figures of what is left."""
    said = describe_queue(queue, running_for, running_left)
    return said.startswith(LATE), figures(said)


def test_what_is_left_goes_by_the_pace_of_what_runs() -> None:
    runs = entry(AT_ONCE, State.RUNS)
    assert left([runs], 1300.0, 1000.0) == (True, ["17 min 00 s", "32 min 00 s"])
    assert left([runs, entry(AT_ONCE)], 100.0, 600.0) == (False, ["20 min 00 s", "38 min 00 s"])
    exact = Entry("quick", MeasuredSides.OLD_ONLY, (Forecast(VOLUME, 51.0, 1, 2),), State.RUNS)
    assert left([exact], 143.0, 40.0) == (True, ["40 s"])


def test_a_suite_that_was_queued_meanwhile_has_no_forecast() -> None:
    queue = [entry(state=State.RUNS), Entry("raid", MeasuredSides.OLD_ONLY)]
    assert left(queue, 0.0) == (False, ["20 min 00 s", "38 min 00 s", "1"])  # and one suite without a forecast
    assert len(forecast_rows(queue)) == 2


def test_a_problem_of_one_side_is_the_suite_s() -> None:
    assert entry(problems=("no space",)).problems == ("no space", "no space")
