"""The queue of suites that are to be measured: each with its forecast, how it stands, and what is left of all."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core import units
from core.benchmarks.model import Forecast, Side
from core.language import marked, tr
from gui.appearance import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import counted


@dataclass(frozen=True, slots=True)
class Way:
    """Which sides are measured, and whether both at once."""

    sides: tuple[Side, ...]
    at_once: bool = False


WAYS = {
    marked("Both, one by one"): Way((Side.OLD, Side.NEW)),
    marked("Both at once"): Way((Side.OLD, Side.NEW), at_once=True),
    marked("Old alone"): Way((Side.OLD,)),
    marked("New alone"): Way((Side.NEW,)),
}


LEFT_OUT = marked("left out: {reason}")
LATE, NEARLY_DONE = marked("longer than the forecast"), marked("nearly done")


class State(StrEnum):
    """How a suite of the queue stands."""

    WAITS = marked("waits")
    RUNS = marked("measuring")
    DONE = marked("done")


@dataclass(frozen=True, slots=True)
class Entry:
    """A suite of the queue. `forecasts`: one a side; none: nobody made any yet."""

    suite: str
    way: str
    forecasts: tuple[Forecast, ...] = ()
    state: State = State.WAITS

    @property
    def seconds(self) -> tuple[float, float]:
        """From how long to how long it takes, both sides together."""
        least = [one.seconds for one in self.forecasts]
        most = [one.seconds if one.seconds_at_most is None else one.seconds_at_most for one in self.forecasts]
        together = max if WAYS[self.way].at_once else sum
        return (together(least), together(most)) if self.forecasts else (0.0, 0.0)

    @property
    def problems(self) -> tuple[str, ...]:
        """What forbids it."""
        return tuple(problem for one in self.forecasts for problem in one.problems)


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """One side of a suite of the queue."""

    entry: Entry
    forecast: Forecast


def forecast_rows(entries: Sequence[Entry]) -> tuple[ForecastRow, ...]:
    """A row a suite and side, in the order of the queue."""
    return tuple(ForecastRow(entry, one) for entry in entries for one in entry.forecasts)


def whole_queue(entries: Sequence[Entry], running_for: float | None = None, running_left: float | None = None) -> str:
    """How long the queue takes, all suites and sides together, as a range.

    `running_for`: for how many seconds one runs already: what is left of all is said. `running_left`: how many it may
    still take by its own pace, with as few repetitions as can be; None: by its forecast.
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
        tr(", and {unknown} without a forecast").format(unknown=counted(unknown, "{number} suite", "{number} suites"))
        if unknown
        else ""
    )
    if running_for is None:
        return tr("{range} in all{beside}.").format(range=_range(low, high), beside=beside)
    late = any(entry.state is State.RUNS and running_for > entry.seconds[1] > 0 for entry in entries)
    said = tr(LATE) if late else ""
    left = tr("{range} left in all").format(range=_range(low, high)) if high else ""
    return f"{', '.join(part for part in (said, left) if part) or tr(NEARLY_DONE)}{beside}."


def _left(entry: Entry, running_for: float, running_left: float | None) -> tuple[float, float]:
    """From how many to how many seconds the entry may still take."""
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
    """To the minute where the seconds say nothing any more."""
    if not units.known(seconds):
        return None
    return 60 * round(seconds / 60) if seconds >= 600 else round(seconds)


def _takes(row: ForecastRow) -> str:
    least, most = units.duration(row.forecast.seconds), row.forecast.seconds_at_most
    return least if most is None else tr("{least} to {most}").format(least=least, most=units.duration(most))


def _problems(row: ForecastRow) -> str:
    left_out = [tr(LEFT_OUT).format(reason=reason) for reason in row.forecast.left_out]
    return "; ".join((*map(recorded, row.forecast.problems), *left_out, *map(recorded, row.forecast.warnings))) or tr(
        "none"
    )


def _problems_tone(row: ForecastRow) -> Tone:
    if row.forecast.problems:
        return Tone.BAD
    return Tone.WARNING if row.forecast.left_out or row.forecast.warnings else Tone.GOOD


_STATE_TONES = {State.WAITS: Tone.MUTED, State.RUNS: Tone.NEW, State.DONE: Tone.GOOD}
FORECAST_COLUMNS: tuple[Column[ForecastRow], ...] = (
    Column("Suite", lambda row: row.entry.suite),
    Column("State", lambda row: tr(row.entry.state), tone=lambda row: _STATE_TONES[row.entry.state]),
    Column("Volume", lambda row: f"{tr(row.forecast.volume.side)}: {row.forecast.volume.mount_point}"),
    Column("Takes about", _takes, right=True),
    Column("Needs", lambda row: units.size(row.forecast.bytes_needed), right=True),
    Column("Free", lambda row: units.size(row.forecast.bytes_available), right=True),
    Column("Problems", _problems, tone=_problems_tone, tip=_problems, width=Width.REST),
)
