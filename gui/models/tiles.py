"""The tiles of the benchmarks: one for each workload and side, with its value and repetitions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core import units
from core.benchmarks import statistics
from core.benchmarks.model import Outcome, Run
from core.comparison.compare import OUTLIER, compare, remarks
from core.comparison.model import Row, Verdict
from core.language import marked, tr
from core.sides import Side
from core.tones import Tone
from gui.models.comparison import ComparedRow, times_better, verdict_title
from gui.models.words import counted, metric_value

_PERCENTILES = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
_PER_SECOND = {
    "transactions_per_second": marked("{number} transactions/s"),
    "fsyncs_per_second": marked("{number} fsyncs/s"),
}
"""What is counted each second is named where no head of a column says it."""
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
    contrast: ComparedRow | None = None
    """The two sides compared; None until both have a result."""

    @property
    def ratio(self) -> str:
        """How many times better the better side is; a dash where none is, or only one has a result."""
        return units.ABSENT if self.contrast is None else times_better(self.contrast)

    @property
    def verdict(self) -> str:
        """Which side is better; empty until both have a result."""
        return "" if self.contrast is None else verdict_title(self.contrast)

    @property
    def tone(self) -> Tone:
        """Whether the new server is better or worse."""
        verdict = None if self.contrast is None else self.contrast.row.verdict
        return {Verdict.NEW: Tone.GOOD, Verdict.OLD: Tone.WARNING}.get(verdict or Verdict.NONE, Tone.MUTED)

    @property
    def highest(self) -> float:
        """The highest value of both sides: their pictures have one scale, so that they can be compared."""
        return max((dot.value for tile in (self.old, self.new) if tile is not None for dot in tile.dots), default=0.0)


def contrasts(runs: Sequence[Run]) -> Mapping[str, Row]:
    """Return the main metric of each workload whose newest runs have ended on both sides, compared, by its name.

    It takes its time with many repetitions: it is for the thread that reads them. `runs`: newest first.
    """
    made: dict[str, Row] = {}
    for name, sides in _newest(runs).items():
        ended = [run for side in Side if (run := sides.get(side)) is not None and run.outcome is Outcome.DONE]
        if len(ended) == len(Side):
            old, new = (_of_headline(run) for run in ended)
            found = [row for row in compare([old], [new]).rows if row.headline and row.ratio is not None]
            if found:
                made[name] = found[0]
    return made


def _of_headline(run: Run) -> Run:
    """Return the run without its other metrics."""
    name = run.workload.headline
    repetitions = [
        replace(one, metrics={name: one.metrics[name]} if name in one.metrics else {}) for one in run.repetitions
    ]
    return replace(run, repetitions=tuple(repetitions))


def _newest(runs: Sequence[Run]) -> dict[str, dict[Side, Run]]:
    newest: dict[str, dict[Side, Run]] = {}
    for run in reversed(runs):
        if run.volume.side is not None and not run.volume.elsewhere:
            newest.setdefault(run.workload.name, {})[run.volume.side] = run
    return newest


def tile_rows(
    runs: Sequence[Run], compared: Mapping[str, Row] | None = None, names: tuple[str, str] = ("", "")
) -> tuple[TileRow, ...]:
    """Return a row for each workload, in the order of the first measurement.

    Args:
        runs: newest first.
        compared: what `contrasts` has found.
        names: what the two servers are called in a verdict.
    """
    found = {name: ComparedRow(row, names) for name, row in (compared or {}).items()}
    return tuple(
        TileRow(name, *_named(sides.values()), _tile(sides.get(Side.OLD)), _tile(sides.get(Side.NEW)), found.get(name))
        for name, sides in _newest(runs).items()
    )


def _named(runs: Iterable[Run]) -> tuple[str, str]:
    """Return the main metric and the latest title of a workload."""
    last = max(runs, key=lambda run: run.started_at).workload
    return last.headline, last.title


def live_figure(headline: str, figures: Mapping[str, float]) -> tuple[str, float]:
    """Of what moves at this moment the metric that the headline is seen by, with its value.

    What is no rate of a device's own, transactions say, is seen by the bytes that it moves. Where no bytes are
    reported, it is seen by what is: `final_transactions_per_second` by the transactions of each run.
    """
    if headline in figures:
        return headline, figures[headline]
    side = next((side for side in ("read", "write") if headline.startswith(side)), None)
    sides = ("read", "write") if side is None else (side,)
    moved = [figures[name] for each in sides if (name := f"{each}_bytes_per_second") in figures]
    return ("bytes_per_second", sum(moved)) if moved else next(iter(figures.items()), ("bytes_per_second", 0.0))


def describe_live_figure(headline: str, figures: Mapping[str, float], by: str = "") -> str:
    """Return what moves now, as `812 MB/s on the disk now`, or `893 IOPS now, by fio` if a tool reports it."""
    name, value = live_figure(headline, figures)
    words = tr("{figure} now, by {tool}") if by else tr("{figure} on the disk now")
    figure = (
        tr(_PER_SECOND[name]).format(number=units.count(value)) if name in _PER_SECOND else metric_value(name, value)
    )
    return words.format(figure=figure, tool=by)


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
