"""A comparison as rows, bars and latencies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core import units
from core.benchmarks.model import Parameter, Run, Workload
from core.comparison.model import Comparison, Diagnosis, Row, Sample, Verdict
from core.language import marked, tr
from core.text import capital
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import counted, listed, metric_name, metric_value, moment

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
    """Return the notes on the intervals, each once, and on names that several machines had."""
    intervals = dict.fromkeys(capital(recorded(row.note)) + "." for row in comparison.rows if row.note)
    return tuple(note for note in (*intervals, comparison.machines_note) if note)


def diagnosis_text(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the findings on each volume with evidence and suggestions."""
    return "\n\n".join(_diagnosis(one) for one in diagnoses)


def _diagnosis(diagnosis: Diagnosis) -> str:
    figures = (
        tr("{figures} values").format(figures=units.count(diagnosis.figures))
        if diagnosis.figures
        else tr("nothing measured yet")
    )
    of = diagnosis.measured.name
    looked = tr("facts read {facts_taken_at}, {figures}").format(
        facts_taken_at=moment(diagnosis.facts_taken_at), figures=figures
    )
    unused = counted(
        diagnosis.unused,
        "{number} run on this volume does not count, because another machine had the same name then.",
        "{number} runs on this volume do not count, because another machine had the same name then.",
    )
    lines = [f"{of} ({looked})", *([f"  {unused}"] * bool(diagnosis.unused))]
    if not diagnosis.findings:
        lines[0] = tr("{of}: no findings ({looked})").format(of=of, looked=looked)
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
    """The percentiles of a workload's latency in both sets; None where one was not measured.

    Attributes:
        parts: which they are, by their ids, such as `p99`; `curves`: their values, in seconds.
    """

    title: str
    parts: tuple[str, ...]
    curves: tuple[tuple[float | None, ...], tuple[float | None, ...]]


def compared_rows(comparison: Comparison, names: tuple[str, str], *, every: bool) -> tuple[ComparedRow, ...]:
    """Return the rows of a comparison: the main metric of each workload, or `every` metric."""
    return tuple(ComparedRow(row, names) for row in comparison.rows if every or row.headline)


def pair(comparison: Comparison, number: int) -> Comparison:
    """Return the comparison of the first set with one other; 0: the second set, 1: the third, and so on."""
    measured = comparison.measured[:1] + comparison.measured[number + 1 : number + 2]
    if number == 0:
        rows = tuple(replace(row, further=()) for row in comparison.rows)
        return replace(comparison, rows=rows, further=(), measured=measured)
    contrasts = ((row, row.further[number - 1]) for row in comparison.rows)
    found = tuple(
        replace(
            row,
            new=one.sample,
            ratio=one.ratio,
            ratio_low=one.ratio_low,
            ratio_high=one.ratio_high,
            verdict=one.verdict,
            further=(),
        )
        for row, one in contrasts
    )
    return Comparison(comparison.old, comparison.further[number - 1], found, measured=measured)


@dataclass(frozen=True, slots=True)
class Headline:
    """Which set is faster, in a sentence; `tone`: None where neither of the two sets is the wanted one."""

    text: str
    tone: Tone | None


def headline(comparison: Comparison, names: tuple[str, str], *, wanted: bool) -> Headline:
    """Return which of two sets is faster, by the main metric of each workload and by the interval of its ratio.

    Args:
        comparison: the two sets.
        names: what they are called where a sentence begins.
        wanted: whether the second set should be the faster one, as a new server should.
    """
    rows = [ComparedRow(row, names) for row in comparison.rows if row.headline]
    found = {verdict: [row for row in rows if row.row.verdict is verdict] for verdict in Verdict}
    ahead, behind, even = found[Verdict.NEW], found[Verdict.OLD], found[Verdict.NONE]
    number = len(ahead) + len(behind) + len(even)
    if not number:
        nothing = tr("No workload was measured on both sides in the same way, so there is nothing to compare.")
        return Headline(nothing if rows else "", Tone.MUTED)
    # the set that is ahead more often begins the sentence
    first, ahead, behind = (1, ahead, behind) if len(ahead) >= len(behind) else (0, behind, ahead)
    workloads = counted(number, "{number} workload", "{number} workloads")
    if not ahead:
        said = tr("No difference beyond the noise in {workloads}.").format(workloads=workloads)
    elif len(ahead) == number:
        in_all = tr("{name} is faster in all {workloads}, {times}.")
        said = (tr("{name} is faster, {times}.") if number == 1 else in_all).format(
            name=names[first], workloads=workloads, times=_times(ahead)
        )
    else:
        said = tr("{name} is faster in {number} of {workloads}, {times}.").format(
            name=names[first], number=len(ahead), workloads=workloads, times=_times(ahead)
        )
        others = [
            *([tr("slower in {number}, {times}").format(number=len(behind), times=_times(behind))] * bool(behind)),
            *([tr("no difference beyond the noise in {number}").format(number=len(even))] * bool(even)),
        ]
        said = f"{said} {capital(listed(others))}."
    tone = Tone.WARNING if behind or not first else Tone.GOOD if ahead else None
    return Headline(said, tone if wanted else None)


def _times(rows: Sequence[ComparedRow]) -> str:
    """Return how many times better the better set is, as `2.08 to 3.33 times`."""
    known = sorted(times for row in rows if (times := _times_better(row)) is not None)
    ends = [units.ratio(each).removesuffix(" ×") for each in (known[:1] + known[-1:])]
    return (
        units.ABSENT
        if not ends
        else tr("{factor} times").format(factor=ends[0])
        if len(set(ends)) == 1
        else tr("{low} to {high} times").format(low=ends[0], high=ends[1])
    )


def better(row: ComparedRow) -> str:
    """Return which set is better and how many times, as `new server 8.9 ×`, or why none is."""
    one = row.row
    if not row.differs or one.ratio is None:
        return {Verdict.NONE: tr("no difference"), Verdict.ONE_SIDED: tr("measured on one side only")}.get(
            one.verdict, tr("not comparable")
        )
    return f"{row.names[0 if one.ratio < 1 else 1]} {times_better(row)}"


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


PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9, "p9999": 99.99}
"""The percentiles that a tool may tell, by their ids. The mean and the maximum are none."""
_SIDES = {"read_": marked("reads"), "write_": marked("writes")}


def latencies(comparison: Comparison, of: Row) -> Latencies | None:
    """Return the latency of the row's workload, of its reads or else its writes; None if it was not measured."""
    found = {row.metric: row for row in comparison.rows if row.workload == of.workload}
    sides = ("write_", "read_", "") if of.metric.startswith("write") else ("read_", "write_", "")
    for side in sides:
        rows = {part: found.get(f"{side}latency_{part}_seconds") for part in PERCENTILES}
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
    """Return the name of a percentile: `p99.9`."""
    return f"p{PERCENTILES[part]:g}" if part in PERCENTILES else part


@dataclass(frozen=True, slots=True)
class Depths:
    """A workload at several queue depths: of each depth its main metric, and its latency where it was measured."""

    title: str
    rows: tuple[tuple[int, ComparedRow], ...]
    latencies: tuple[tuple[int, ComparedRow], ...]


def depths(comparison: Comparison, names: tuple[str, str], of: Row | None) -> Depths | None:
    """Return the workloads that differ from that of the row in their queue depth alone; None where there are not two.

    Without a row, or with one that has no such others, the first workload that has some is taken.
    """
    groups: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in comparison.rows:
        depth = row.workload.parameters.get("depth")
        if row.headline and isinstance(depth, int) and depth > 0:
            groups.setdefault(_but_depth(row.workload), {})[depth] = row
    several = {key: rows for key, rows in groups.items() if len(rows) > 1}
    if not several:
        return None
    chosen = several.get(_but_depth(of.workload)) if of is not None else None
    rows = sorted((chosen or next(iter(several.values()))).items())
    latency = (f"{rows[0][1].metric.split('_')[0]}_latency_p99_seconds", "latency_p99_seconds")
    by_workload = {
        row.workload.name: row for metric in reversed(latency) for row in comparison.rows if row.metric == metric
    }
    told = [(depth, by_workload[row.workload.name]) for depth, row in rows if row.workload.name in by_workload]
    return Depths(
        _shared(tuple(tr(row.workload.title) for _, row in rows)),
        tuple((depth, ComparedRow(row, names)) for depth, row in rows),
        tuple((depth, ComparedRow(row, names)) for depth, row in told),
    )


def _but_depth(workload: Workload) -> tuple[object, ...]:
    others: dict[str, Parameter] = {name: value for name, value in workload.parameters.items() if name != "depth"}
    return workload.tool, workload.headline, *sorted(map(repr, others.items()))


def _shared(titles: tuple[str, ...]) -> str:
    """Return what all titles begin with, without the number that they differ in."""
    shared = titles[0]
    while not all(title.startswith(shared) for title in titles):
        shared = shared[:-1]
    words, comma, last = shared.rstrip().rpartition(",")
    return words if comma and len(last.split()) < 2 else shared.strip(" ,")


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


def times_better(row: ComparedRow) -> str:
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


def verdict_title(row: ComparedRow) -> str:
    """Return which set is faster, or why none is, in two or three words."""
    said = {
        Verdict.OLD: tr("{names} is faster").format(names=row.names[0]),
        Verdict.NEW: tr("{names} is faster").format(names=row.names[1]),
        Verdict.NONE: tr("no difference"),
        Verdict.ONE_SIDED: tr("one side only"),
        Verdict.UNLIKE: tr("not comparable"),
    }
    return said[row.row.verdict]


def _verdict_in_full(row: ComparedRow) -> str:
    return verdict_title(row) if row.differs else tr(row.row.verdict)


METRIC, FIRST, SECOND, INTERVAL = 1, 2, 3, 5
"""The numbers of columns: that of the metric, which main metrics can do without, as the unit of their values says it;
those that are named after the sets; and that of the interval, which the tip of the ratio has, too.
"""
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
        times_better,
        right=True,
        tone=lambda row: row.tone,
        tip=lambda row: "\n".join(part for part in (_interval(row), recorded(row.row.note)) if part),
        value=_times_better,
    ),
    Column(
        "95 % interval",
        _interval,
        right=True,
        value=lambda row: None if (ends := _interval_ends(row)) is None else ends[0],
    ),
    Column("Verdict", verdict_title, tone=lambda row: row.tone, tip=_verdict_in_full),
)


def run_text(run: Run) -> str:
    """Return a run as text: its result, and each repetition with its command and output."""
    ended = ": ".join(part for part in (tr(run.outcome or marked("not finished")), recorded(run.stopped)) if part)
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
        parts.append("\n".join([*lines, f"$ {one.command}", recorded(one.message), one.raw]))
    return "\n\n".join(parts)
