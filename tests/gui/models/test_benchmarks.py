"""Forecasts as rows: what forbids the start, what is left out, what colours the figures."""

import pytest

from core.benchmarks.model import Forecast, Side, Volume
from gui.appearance import Tone
from gui.models.benchmarks import FORECAST_COLUMNS

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
    column = FORECAST_COLUMNS[-1]
    assert column.text(forecast) == said
    assert column.tone is not None
    assert column.tone(forecast) is tone
