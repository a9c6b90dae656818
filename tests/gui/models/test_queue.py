"""The queue of suites: its forecasts as rows, and what is left of all."""

import pytest

from core.benchmarks.model import Forecast, Side, Volume
from gui.appearance import Tone
from gui.models.queue import FORECAST_COLUMNS, Entry, ForecastRow, State, forecast_rows, whole_queue

VOLUME = Volume(Side.OLD, "db-old", "/srv", "/srv")


@pytest.mark.parametrize(
    ("problems", "left_out", "warnings", "said", "tone"),
    [
        ((), (), (), "none", Tone.GOOD),
        (("no space",), ("no fio",), (), "no space; left out: no fio", Tone.BAD),
        ((), ("no fio",), ("a cluster runs",), "left out: no fio; a cluster runs", Tone.WARNING),
        ((), (), ("a cluster runs",), "a cluster runs", Tone.WARNING),
    ],
)
def test_a_forecast_says_all_that_matters(
    problems: tuple[str, ...], left_out: tuple[str, ...], warnings: tuple[str, ...], said: str, tone: Tone
) -> None:
    forecast = Forecast(VOLUME, 1.0, 1, 2, problems, left_out, warnings)
    row = ForecastRow(Entry("quick", "Both at once", (forecast,)), forecast)
    column = FORECAST_COLUMNS[-1]
    assert column.text(row) == said
    assert column.tone is not None
    assert column.tone(row) is tone


def entry(way: str = "Both, one by one", state: State = State.WAITS, problems: tuple[str, ...] = ()) -> Entry:
    each = Forecast(VOLUME, 600.0, 1, 2, problems, seconds_at_most=1140.0)
    return Entry("quick", way, (each, each), state)


def test_one_range_for_both_sides_of_all_suites() -> None:
    assert whole_queue([entry()]) == "20 min 00 s to 38 min 00 s in all."
    assert whole_queue([entry("Both at once")]) == "10 min 00 s to 19 min 00 s in all."
    assert whole_queue([entry(), entry("Both at once")]) == "30 min 00 s to 57 min 00 s in all."


def test_what_is_left_counts_what_waits_and_not_what_is_done() -> None:
    queue = [entry(state=State.DONE), entry(state=State.RUNS), entry("Both at once")]
    assert whole_queue(queue, 300.0) == "25 min 00 s to 52 min 00 s left in all."
    assert whole_queue([entry(state=State.RUNS)], 1300.0) == "up to 16 min 00 s left in all."
    assert whole_queue([entry(state=State.RUNS), entry()], 3000.0) == (
        "longer than the forecast, 20 min 00 s to 38 min 00 s left in all."
    )


def test_what_is_left_goes_by_the_pace_of_what_runs() -> None:
    runs = entry("Both at once", State.RUNS)
    assert whole_queue([runs], 1300.0, 1000.0) == "longer than the forecast, 17 min 00 s to 32 min 00 s left in all."
    assert whole_queue([runs, entry("Both at once")], 100.0, 600.0) == "20 min 00 s to 38 min 00 s left in all."
    exact = Entry("quick", "Old alone", (Forecast(VOLUME, 51.0, 1, 2),), State.RUNS)
    assert whole_queue([exact], 143.0, 40.0) == "longer than the forecast, about 40 s left in all."


def test_a_suite_that_was_queued_meanwhile_has_no_forecast() -> None:
    queue = [entry(state=State.RUNS), Entry("raid", "Old alone")]
    assert whole_queue(queue, 0.0) == "20 min 00 s to 38 min 00 s left in all, and 1 suite without a forecast."
    assert len(forecast_rows(queue)) == 2


def test_a_problem_of_one_side_is_the_suite_s() -> None:
    assert entry(problems=("no space",)).problems == ("no space", "no space")
