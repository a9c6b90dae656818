"""The tiles of the benchmarks: one for each workload and side, with its value and repetitions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core import units
from core.benchmarks import statistics
from core.benchmarks.model import Outcome, Run
from core.comparison.compare import OUTLIER, remarks
from core.language import tr
from core.sides import Side
from core.tones import Tone
from gui.models.words import counted, metric_value

_PERCENTILES = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
_TONES = {Outcome.FAILED: Tone.BAD, Outcome.CANCELLED: Tone.WARNING, Outcome.INTERRUPTED: Tone.WARNING}


@dataclass(frozen=True, slots=True)
class Dot:
    """A repetition: its main metric, and why it does not count; empty: it counts."""

    value: float
    remarks: tuple[str, ...] = ()
    shown: str = ""
    """The value with its unit."""

    @property
    def counts(self) -> bool:
        return not self.remarks

    @property
    def outlying(self) -> bool:
        return OUTLIER in self.remarks


@dataclass(frozen=True, slots=True)
class Tile:
    """The newest run of a workload on one side.

    Attributes:
        value: the mean of the repetitions that count; `spread`: theirs; `detail`: the latency of the last one.
        state: how the run stands; `tone`: where that is no good.
    """

    value: str
    spread: str
    detail: str
    state: str
    tone: Tone | None
    dots: tuple[Dot, ...]
    running: bool = False


@dataclass(frozen=True, slots=True)
class TileRow:
    """A workload with its tile on either side; None: nothing was measured there. `name`: as in its suite."""

    name: str
    headline: str
    title: str
    old: Tile | None
    new: Tile | None

    @property
    def highest(self) -> float:
        """The highest value of both sides: their pictures have one scale, so that they can be compared."""
        return max((dot.value for tile in (self.old, self.new) if tile is not None for dot in tile.dots), default=0.0)


def tile_rows(runs: Sequence[Run]) -> tuple[TileRow, ...]:
    """Return a row for each workload, in the order of the first measurement; `runs`: newest first."""
    newest: dict[str, dict[Side, Run]] = {}
    for run in (each for each in reversed(runs) if not each.volume.elsewhere):
        newest.setdefault(run.workload.name, {})[run.volume.side] = run
    return tuple(
        TileRow(name, *_named(sides.values()), _tile(sides.get(Side.OLD)), _tile(sides.get(Side.NEW)))
        for name, sides in newest.items()
    )


def _named(runs: Iterable[Run]) -> tuple[str, str]:
    """Return the main metric and the latest title of a workload."""
    last = max(runs, key=lambda run: run.started_at).workload
    return last.headline, last.title


def live_figure(headline: str, figures: Mapping[str, float]) -> tuple[str, float]:
    """Of what a device moves at this moment the metric that the headline is seen by, with its value.

    What is no rate of a device's own, transactions say, is seen by the bytes that it moves.
    """
    if headline in figures:
        return headline, figures[headline]
    side = next((side for side in ("read", "write") if headline.startswith(side)), None)
    sides = ("read", "write") if side is None else (side,)
    return "bytes_per_second", sum(figures.get(f"{each}_bytes_per_second", 0.0) for each in sides)


def describe_live_figure(headline: str, figures: Mapping[str, float]) -> str:
    """Return what a device transfers now, as `812 MB/s on the disk now`."""
    name, value = live_figure(headline, figures)
    return tr("{figure} on the disk now").format(figure=metric_value(name, value))


def _tile(run: Run | None) -> Tile | None:
    if run is None:
        return None
    headline, said = run.workload.headline, remarks(run.workload.headline, run)
    dots = tuple(
        Dot(one.metrics[headline], said[one.number], metric_value(headline, one.metrics[headline]))
        for one in run.repetitions
        if headline in one.metrics
    )
    values = [dot.value for dot in dots if dot.counts] or [dot.value for dot in dots]
    value = metric_value(headline, sum(values) / len(values)) if values else units.ABSENT
    running = run.outcome is None
    made = counted(len(run.repetitions), "{number} repetition", "{number} repetitions")
    state = tr("running, {made}").format(made=made) if run.outcome is None else f"{tr(run.outcome)}, {made}"
    found = sorted({word for words in said.values() for word in words})
    state += f"; {', '.join(map(tr, found))}" if found else ""
    tone = Tone.NEW if running else _TONES.get(run.outcome or Outcome.DONE, Tone.WARNING if found else None)
    spread = units.spread(statistics.variation(values)) if len(values) > 1 else ""
    return Tile(value, spread, _percentiles(run), state, tone, dots, running)


def _percentiles(run: Run) -> str:
    last = run.repetitions[-1].metrics if run.repetitions else {}
    found = [
        (side, words, metric_value(name, last[name]))
        for side in ("", "read_", "write_")
        for percentile, words in _PERCENTILES.items()
        if (name := f"{side}latency_{percentile}_seconds") in last
    ]
    several = len({side for side, _, _ in found}) > 1
    return ", ".join(f"{tr(side.replace('_', ' ')) if several else ''}{words} {value}" for side, words, value in found)
