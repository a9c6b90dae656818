"""A comparison as rows, bars and latencies."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.benchmarks.model import Run
from core.comparison.model import Comparison, Diagnosis, Row, Sample, Verdict
from core.language import marked, tr
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import capital, metric_name, metric_value, moment

TONES = {
    Verdict.OLD: Tone.OLD,
    Verdict.NEW: Tone.NEW,
    Verdict.NONE: Tone.MUTED,
    Verdict.ONE_SIDED: Tone.WARNING,
    Verdict.UNLIKE: Tone.WARNING,
}


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars of one chart: their names, the samples of both sides, and the divisor for the unit of the axis."""

    title: str
    unit: str
    divisor: float
    names: tuple[str, ...]
    old: tuple[Sample | None, ...]
    new: tuple[Sample | None, ...]


def bars(comparison: Comparison) -> tuple[Bars, ...]:
    """Return one chart of transfer rates and one of operations per second, of the main metrics."""
    rates = [row for row in comparison.rows if row.headline and row.metric.endswith("bytes_per_second")]
    counts = [row for row in comparison.rows if row.headline and row.metric.endswith("iops")]
    made = []
    if rates:
        made.append(_bars(tr("Transfer rate"), "MB/s", 1e6, rates))
    if counts:
        made.append(_bars(tr("Operations"), "IOPS", 1.0, counts))
    return tuple(made)


def _bars(title: str, unit: str, divisor: float, rows: list[Row]) -> Bars:
    names = tuple(tr(row.workload.title) for row in rows)
    return Bars(title, unit, divisor, names, tuple(row.old for row in rows), tuple(row.new for row in rows))


def notes(comparison: Comparison) -> tuple[str, ...]:
    """Return the notes on the intervals, each once."""
    return tuple(dict.fromkeys(capital(recorded(row.note)) + "." for row in comparison.rows if row.note))


def diagnosis_text(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the findings on each volume with evidence and suggestions."""
    return "\n\n".join(_diagnosis(one) for one in diagnoses)


def _diagnosis(diagnosis: Diagnosis) -> str:
    figures = (
        tr("{figures} values").format(figures=units.count(diagnosis.figures))
        if diagnosis.figures
        else tr("nothing measured yet")
    )
    of = f"{diagnosis.server}, {diagnosis.volume}"
    looked = tr("facts read {facts_taken_at}, {figures}").format(
        facts_taken_at=moment(diagnosis.facts_taken_at), figures=figures
    )
    if not diagnosis.findings:
        return tr("{of}: no findings ({looked})").format(of=of, looked=looked)
    lines = [f"{of} ({looked})"]
    for finding in diagnosis.findings:
        lines += ["", f"  {capital(tr(finding.title))}"]
        lines += [f"    {recorded(sentence)}" for sentence in finding.evidence]
        lines += [tr("    Suggestion: {sentence}").format(sentence=recorded(sentence)) for sentence in finding.advice]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row of a comparison; `names`: of its two sets, old and new server or left and right."""

    row: Row
    names: tuple[str, str]

    @property
    def title(self) -> str:
        """The workload, and its metric unless it is the main one."""
        title = tr(self.row.workload.title)
        return title if self.row.headline else f"{title}, {self.metric}"

    @property
    def metric(self) -> str:
        return metric_name(self.row.metric)

    @property
    def differs(self) -> bool:
        """Whether one set is better by more than the noise."""
        return self.row.verdict in (Verdict.OLD, Verdict.NEW)

    @property
    def tone(self) -> Tone:
        return TONES[self.row.verdict]


@dataclass(frozen=True, slots=True)
class Scale:
    """The divisor of a metric's values for an axis, and their unit then."""

    unit: str
    divisor: float


@dataclass(frozen=True, slots=True)
class Latencies:
    """The mean, the percentiles and the maximum of a workload's latency in both sets; None where one was not measured.

    Attributes:
        parts: which they are, by their ids, such as `p99`; `curves`: their values, in seconds.
    """

    title: str
    parts: tuple[str, ...]
    curves: tuple[tuple[float | None, ...], tuple[float | None, ...]]


def compared_rows(comparison: Comparison, names: tuple[str, str], *, every: bool) -> tuple[ComparedRow, ...]:
    """Return the rows of a comparison: the main metric of each workload, or `every` metric."""
    return tuple(ComparedRow(row, names) for row in comparison.rows if every or row.headline)


def better(row: ComparedRow) -> str:
    """Return which set is better and how many times, as `new server 8.9 ×`, or why none is."""
    one = row.row
    if not row.differs or one.ratio is None:
        return {Verdict.NONE: tr("no difference"), Verdict.ONE_SIDED: tr("measured on one side only")}.get(
            one.verdict, tr("not comparable")
        )
    return f"{row.names[0 if one.ratio < 1 else 1]} {_ratio(row)}"


def choose_scale(row: ComparedRow) -> Scale:
    """Return the scale of the row's metric for its highest value."""
    name = row.row.metric
    samples = [sample.high for sample in (row.row.old, row.row.new) if sample is not None]
    highest = max(samples, default=1.0)
    if name.endswith("bytes_per_second"):
        return Scale("GB/s", 1e9) if highest >= 1e10 else Scale(tr("MB/s"), 1e6)
    if name.endswith("_seconds"):
        return Scale("ms", 1e-3)
    return Scale("IOPS" if name.endswith("iops") else metric_name(name), 1.0)


MEAN = "mean"
"""The part of a latency that is no percentile, and stands beside their curve."""
_PARTS = {
    MEAN: marked("mean"),
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
    "max": marked("maximum"),
}
_SIDES = {"read_": marked("reads"), "write_": marked("writes")}


def latencies(comparison: Comparison, of: Row) -> Latencies | None:
    """Return the latency of the row's workload, of its reads or else its writes; None if it was not measured."""
    found = {row.metric: row for row in comparison.rows if row.workload == of.workload}
    sides = ("write_", "read_", "") if of.metric.startswith("write") else ("read_", "write_", "")
    for side in sides:
        rows = {part: found.get(f"{side}latency_{part}_seconds") for part in _PARTS}
        known = {part: row for part, row in rows.items() if row is not None}
        if len(known) > 1:
            curves = (
                tuple(None if row.old is None else row.old.mean for row in known.values()),
                tuple(None if row.new is None else row.new.mean for row in known.values()),
            )
            return Latencies(
                ", ".join([tr(of.workload.title), *([tr(_SIDES[side])] if side else [])]), tuple(known), curves
            )
    return None


def part_title(part: str) -> str:
    """Return the name of a part of a latency: `p99.9`, `maximum`."""
    return tr(_PARTS.get(part, part))


def _sample(row: Row, sample: Sample | None) -> str:
    if sample is None:
        return units.ABSENT
    shown = f"{metric_value(row.metric, sample.mean)} {units.spread(sample.variation)}".rstrip()
    marks = [
        *([tr("cached")] if sample.cached else []),
        *([tr("from memory")] if sample.from_memory else []),
        *([tr("disturbed")] if sample.disturbed else []),
        *([tr("{left_out} excluded").format(left_out=len(sample.left_out))] if sample.left_out else []),
    ]
    return f"{shown} ({', '.join(marks)})" if marks else shown


def _tip(row: Row, sample: Sample | None) -> str:
    if sample is None:
        return tr("Not measured on this side")
    values = ", ".join(metric_value(row.metric, value) for value in sample.values)
    left_out = ", ".join(f"{metric_value(row.metric, one.value)} ({tr(one.reason)})" for one in sample.left_out)
    return f"{sample.server}, {sample.volume}: {values}" + (
        tr("; excluded: {left_out}").format(left_out=left_out) if left_out else ""
    )


def _ratio(row: ComparedRow) -> str:
    """Return how many times better the better set is; the verdict names it."""
    return units.ABSENT if not row.differs or row.row.ratio is None else units.ratio(_times_better(row))


def _times_better(row: ComparedRow) -> float | None:
    ratio = row.row.ratio
    if not row.differs or ratio is None:
        return None
    return units.quotient(1, ratio) if ratio < 1 else ratio


def _interval(row: ComparedRow) -> str:
    """Return the interval of the ratio of the better to the other set, as in `better`."""
    ends = _interval_ends(row)
    return units.ABSENT if ends is None else " – ".join(map(units.ratio, ends))


def _interval_ends(row: ComparedRow) -> tuple[float | None, float | None] | None:
    low, high, ratio = row.row.ratio_low, row.row.ratio_high, row.row.ratio
    if low is None or high is None or ratio is None or not low > 0:
        return None
    return (units.quotient(1, high), units.quotient(1, low)) if row.row.verdict is Verdict.OLD else (low, high)


def _verdict(row: ComparedRow) -> str:
    said = {
        Verdict.OLD: tr("{names} is faster").format(names=row.names[0]),
        Verdict.NEW: tr("{names} is faster").format(names=row.names[1]),
    }
    return said.get(row.row.verdict, tr(row.row.verdict))


FIRST, SECOND = 2, 3
"""The numbers of the columns that are named after the sets."""
COLUMNS: tuple[Column[ComparedRow], ...] = (
    Column("Workload", lambda row: tr(row.row.workload.title), width=Width.REST),
    Column("Metric", lambda row: row.metric),
    Column(
        "Old server, mean",
        lambda row: _sample(row.row, row.row.old),
        right=True,
        value=lambda row: None if row.row.old is None else row.row.old.mean,
        tip=lambda row: _tip(row.row, row.row.old),
    ),
    Column(
        "New server, mean",
        lambda row: _sample(row.row, row.row.new),
        right=True,
        value=lambda row: None if row.row.new is None else row.row.new.mean,
        tip=lambda row: _tip(row.row, row.row.new),
    ),
    Column(
        "Ratio",
        _ratio,
        right=True,
        tone=lambda row: row.tone,
        tip=lambda row: recorded(row.row.note),
        value=_times_better,
    ),
    Column(
        "95 % interval",
        _interval,
        right=True,
        value=lambda row: None if (ends := _interval_ends(row)) is None else ends[0],
    ),
    Column("Verdict", _verdict, tone=lambda row: row.tone),
)


def run_text(run: Run) -> str:
    """Return a run as text: its result, and each repetition with its command and output."""
    ended = ": ".join(part for part in (tr(run.outcome or marked("not finished")), run.stopped) if part)
    parts = [
        tr("{title} on {server}, {mount_point}\n{ended}").format(
            title=tr(run.workload.title), server=run.volume.server, mount_point=run.volume.mount_point, ended=ended
        )
    ]
    for one in run.repetitions:
        lines = [
            tr("Repetition {number}: {outcome}").format(number=one.number, outcome=tr(one.outcome)),
            *(f"{tr(mark.kind)}: {recorded(mark.text)}" for mark in one.marks),
        ]
        parts.append("\n".join([*lines, f"$ {one.command}", one.message, one.raw]))
    return "\n\n".join(parts)
