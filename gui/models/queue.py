"""The queue of suites: their forecasts, their states, and the remaining time."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core import units
from core.benchmarks.model import Forecast
from core.language import marked, tr
from core.sides import Side
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import counted, side_name


class MeasuredSides(StrEnum):
    """On which servers a suite is measured, and whether on both at once."""

    ONE_BY_ONE = "one-by-one"
    AT_ONCE = "at-once"
    OLD_ONLY = "old"
    NEW_ONLY = "new"

    @property
    def sides(self) -> tuple[Side, ...]:
        return _SIDES.get(self, (Side.OLD, Side.NEW))

    @property
    def at_once(self) -> bool:
        return self is MeasuredSides.AT_ONCE


_SIDES = {MeasuredSides.OLD_ONLY: (Side.OLD,), MeasuredSides.NEW_ONLY: (Side.NEW,)}
SIDES_TITLES = {
    MeasuredSides.ONE_BY_ONE: marked("Both, one by one"),
    MeasuredSides.AT_ONCE: marked("Both at once"),
    MeasuredSides.OLD_ONLY: marked("Old server only"),
    MeasuredSides.NEW_ONLY: marked("New server only"),
}


LEFT_OUT = marked("skipped: {reason}")
LATE, NEARLY_DONE = marked("This takes longer than the forecast"), marked("Nearly done")


class State(StrEnum):
    """The state of a suite in the queue."""

    WAITS = "waiting"
    RUNS = "running"
    DONE = "done"


STATE_TITLES = {
    State.WAITS: marked("waiting"),
    State.RUNS: marked("running"),
    State.DONE: marked("done"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A suite in the queue. `forecasts`: one for each side; empty if none was made."""

    suite: str
    measured: MeasuredSides
    forecasts: tuple[Forecast, ...] = ()
    state: State = State.WAITS

    @property
    def seconds(self) -> tuple[float, float]:
        """The shortest and the longest duration of both sides together, in seconds."""
        least = [one.seconds for one in self.forecasts]
        most = [one.seconds if one.seconds_at_most is None else one.seconds_at_most for one in self.forecasts]
        together = max if self.measured.at_once else sum
        return (together(least), together(most)) if self.forecasts else (0.0, 0.0)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems that prevent it."""
        return tuple(problem for one in self.forecasts for problem in one.problems)


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """One side of a suite in the queue."""

    entry: Entry
    forecast: Forecast


def forecast_rows(entries: Sequence[Entry]) -> tuple[ForecastRow, ...]:
    """Return a row for each suite and side, in the order of the queue."""
    return tuple(ForecastRow(entry, one) for entry in entries for one in entry.forecasts)


def describe_queue(
    entries: Sequence[Entry], running_for: float | None = None, running_left: float | None = None
) -> str:
    """Return the duration of all suites and sides in the queue, as a range.

    Args:
        running_for: for how many seconds a suite has been running; then the remaining time is returned.
        running_left: how many seconds it still takes at its current rate; None: by its forecast.
    """
    low = high = 0.0
    for entry in entries:
        if entry.state is State.RUNS:
            least, most = _left(entry, running_for or 0.0, running_left)
        elif entry.state is State.WAITS:
            least, most = entry.seconds
        else:
            continue
        low, high = low + least, high + most
    unknown = sum(not entry.forecasts for entry in entries if entry.state is not State.DONE)
    beside = (
        tr(", plus {unknown} without a forecast").format(unknown=counted(unknown, "{number} suite", "{number} suites"))
        if unknown
        else ""
    )
    if running_for is None:
        return tr("{range} in total{beside}.").format(range=_range(low, high), beside=beside)
    late = any(entry.state is State.RUNS and running_for > entry.seconds[1] > 0 for entry in entries)
    said = tr(LATE) if late else ""
    left = tr("{range} left in total").format(range=_range(low, high)) if high else ""
    return f"{', '.join(part for part in (said, left) if part) or tr(NEARLY_DONE)}{beside}."


def _left(entry: Entry, running_for: float, running_left: float | None) -> tuple[float, float]:
    """Return the shortest and the longest remaining time of the entry, in seconds."""
    least, most = entry.seconds
    if running_left is None:
        return max(0.0, least - running_for), max(0.0, most - running_for)
    return running_left, running_left * (most / least if least > 0 else 1.0)


def _range(least: float, most: float) -> str:
    low, high = (units.duration(_rounded(each)) for each in (least, most))
    if low == high:
        return tr("about {low}").format(low=low)
    return tr("up to {high}").format(high=high) if least < 1 else tr("{low} to {high}").format(low=low, high=high)


def _rounded(seconds: float) -> float | None:
    """Round to minutes from ten minutes on."""
    if not units.known(seconds):
        return None
    return 60 * round(seconds / 60) if seconds >= 600 else round(seconds)


def _takes(row: ForecastRow) -> str:
    least, most = units.duration(row.forecast.seconds), row.forecast.seconds_at_most
    return least if most is None else tr("{least} to {most}").format(least=least, most=units.duration(most))


def _problems(row: ForecastRow) -> str:
    left_out = [tr(LEFT_OUT).format(reason=recorded(reason)) for reason in row.forecast.left_out]
    return "; ".join((*map(recorded, row.forecast.problems), *left_out, *map(recorded, row.forecast.warnings))) or tr(
        "none"
    )


def problem_lines(entry: Entry) -> tuple[str, ...]:
    """Return a line for each volume of a suite with problems, left out workloads or warnings."""
    found = (row for row in forecast_rows((entry,)) if _problems_tone(row) is not Tone.GOOD)
    return tuple(f"{_volume(row)}: {_problems(row)}" for row in found)


def _problems_tone(row: ForecastRow) -> Tone:
    if row.forecast.problems:
        return Tone.BAD
    return Tone.WARNING if row.forecast.left_out or row.forecast.warnings else Tone.GOOD


def _volume(row: ForecastRow) -> str:
    volume = row.forecast.volume
    return volume.words if volume.side is None else f"{side_name(volume.side, volume.server)}: {volume.mount_point}"


_STATE_TONES = {State.WAITS: Tone.MUTED, State.RUNS: Tone.NEW, State.DONE: Tone.GOOD}
SUITE_COLUMN, STATE_COLUMN = 0, 1
FORECAST_COLUMNS: tuple[Column[ForecastRow], ...] = (
    Column("Suite", lambda row: row.entry.suite),
    Column("State", lambda row: tr(STATE_TITLES[row.entry.state]), tone=lambda row: _STATE_TONES[row.entry.state]),
    Column("Volume", _volume),
    Column("Expected duration", _takes, right=True, value=lambda row: row.forecast.seconds),
    Column(
        "Space needed",
        lambda row: units.size(row.forecast.bytes_needed),
        right=True,
        value=lambda row: row.forecast.bytes_needed,
    ),
    Column(
        "Free space",
        lambda row: units.size(row.forecast.bytes_available),
        right=True,
        value=lambda row: row.forecast.bytes_available,
    ),
    Column("Problems", _problems, tone=_problems_tone, tip=_problems, width=Width.REST),
)
