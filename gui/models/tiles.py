"""The cockpit: a tile a workload and side, with its value, its repetitions as dots, and what is to be said of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.benchmarks import statistics
from core.benchmarks.model import Forecast, Outcome, Run, Side
from core.comparison.samples import remarks
from gui.appearance import Tone
from gui.models.words import metric_name

_PERCENTILES = ("p50", "p95", "p99", "p999")
_TONES = {Outcome.FAILED: Tone.BAD, Outcome.CANCELLED: Tone.WARNING, Outcome.INTERRUPTED: Tone.WARNING}


@dataclass(frozen=True, slots=True)
class Dot:
    """A repetition: its headline; `counts`: nothing speaks against it."""

    value: float
    counts: bool


@dataclass(frozen=True, slots=True)
class Tile:
    """The newest run of a workload on one side.

    Attributes:
        value: the mean of the repetitions that count; `detail`: its spread and the latency's percentiles.
        state: how the run stands; `tone`: where that is no good.
    """

    value: str
    detail: str
    state: str
    tone: Tone | None
    dots: tuple[Dot, ...]
    running: bool = False


@dataclass(frozen=True, slots=True)
class TileRow:
    """A workload with its tile on either side; None: nothing was measured there."""

    title: str
    old: Tile | None
    new: Tile | None


def tile_rows(runs: Sequence[Run]) -> tuple[TileRow, ...]:
    """A row a workload, in the order in which they were measured first; `runs`: newest first."""
    newest: dict[str, dict[Side, Run]] = {}
    for run in reversed(runs):
        newest.setdefault(run.workload.name, {})[run.volume.side] = run
    return tuple(
        TileRow(next(iter(sides.values())).workload.title, _tile(sides.get(Side.OLD)), _tile(sides.get(Side.NEW)))
        for sides in newest.values()
    )


def _tile(run: Run | None) -> Tile | None:
    if run is None:
        return None
    headline, said = run.workload.headline, remarks(run.workload.headline, run)
    dots = tuple(Dot(one.metrics[headline], not said[one.number]) for one in run.repetitions if headline in one.metrics)
    counted = [dot.value for dot in dots if dot.counts] or [dot.value for dot in dots]
    value = units.metric(headline, sum(counted) / len(counted)) if counted else units.ABSENT
    running = run.outcome is None
    made = units.counted(len(run.repetitions), "repetition")
    state = f"measuring, {made}" if running else f"{run.outcome}, {made}"
    marked = sorted({word for words in said.values() for word in words})
    state += f"; {', '.join(marked)}" if marked else ""
    tone = Tone.NEW if running else _TONES.get(run.outcome or Outcome.DONE, Tone.WARNING if marked else None)
    return Tile(value, _detail(run, counted), state, tone, dots, running)


def _detail(run: Run, counted: Sequence[float]) -> str:
    spread = units.spread(statistics.variation(counted)) if len(counted) > 1 else ""
    last = run.repetitions[-1].metrics if run.repetitions else {}
    known = [(name, value) for name, value in last.items() if any(f"latency_{one}_" in name for one in _PERCENTILES)]
    shown = [f"{metric_name(name)} {units.metric(name, value)}" for name, value in known[:3]]
    return ", ".join([metric_name(run.workload.headline), *([spread] if spread else []), *shown])


def whole_job(forecasts: Sequence[Forecast], elapsed: float | None) -> str:
    """How long the whole job takes, all sides together, as a range; while it runs, what of it is left."""
    least = sum(one.seconds for one in forecasts)
    most = sum(one.seconds if one.seconds_at_most is None else one.seconds_at_most for one in forecasts)
    if elapsed is None:
        return f"{_range(least, most)} in all."
    left = (max(0.0, least - elapsed), max(0.0, most - elapsed))
    return (
        f"{units.clock(elapsed)} so far; {_range(*left)} left in all." if left[1] else f"{units.clock(elapsed)} so far."
    )


def _range(least: float, most: float) -> str:
    low, high = (units.duration(60 * round(each / 60) if each >= 600 else each) for each in (least, most))
    return f"about {low}" if low == high else f"{low} to {high}"
