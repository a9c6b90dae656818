"""A comparison as rows, and as bars for each unit."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.benchmarks.model import Run
from core.comparison.model import Comparison, Diagnosis, Row, Sample, Verdict
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import metric_name, moment

TONES = {
    Verdict.OLD: Tone.OLD,
    Verdict.NEW: Tone.NEW,
    Verdict.NONE: Tone.MUTED,
    Verdict.ONE_SIDED: Tone.WARNING,
    Verdict.UNLIKE: Tone.WARNING,
}


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars of one plot: the names below, old and new samples, and what divides them into the unit of the axis."""

    title: str
    unit: str
    divisor: float
    names: tuple[str, ...]
    old: tuple[Sample | None, ...]
    new: tuple[Sample | None, ...]


def bars(comparison: Comparison) -> tuple[Bars, ...]:
    """One plot for transfer rates, one for operations a second, of the metrics that stand for their workloads."""
    rates = [row for row in comparison.rows if row.headline and row.metric.endswith("bytes_per_second")]
    counts = [row for row in comparison.rows if row.headline and row.metric.endswith("iops")]
    made = []
    if rates:
        made.append(_bars("Transfer rate", "MB/s", 1e6, rates))
    if counts:
        made.append(_bars("Operations", "IOPS", 1.0, counts))
    return tuple(made)


def _bars(title: str, unit: str, divisor: float, rows: list[Row]) -> Bars:
    names = tuple(row.workload.title for row in rows)
    return Bars(title, unit, divisor, names, tuple(row.old for row in rows), tuple(row.new for row in rows))


def notes(comparison: Comparison) -> tuple[str, ...]:
    """What must be known to read the intervals, each once."""
    return tuple(dict.fromkeys(row.note[:1].upper() + row.note[1:] + "." for row in comparison.rows if row.note))


def diagnosis_text(diagnoses: Sequence[Diagnosis]) -> str:
    """What was found on each volume, with its evidence and what to try."""
    return "\n\n".join(_diagnosis(one) for one in diagnoses)


def _diagnosis(diagnosis: Diagnosis) -> str:
    figures = f"{units.count(diagnosis.figures)} figures" if diagnosis.figures else "nothing measured yet"
    of = f"{diagnosis.server}, {diagnosis.volume}"
    looked = f"facts of {moment(diagnosis.facts_taken_at)}, {figures}"
    if not diagnosis.findings:
        return f"{of}: nothing found ({looked})"
    lines = [f"{of} ({looked})"]
    for finding in diagnosis.findings:
        lines += ["", f"  {finding.title[:1].upper()}{finding.title[1:]}"]
        lines += [f"    {sentence}" for sentence in finding.evidence]
        lines += [f"    Try: {sentence}" for sentence in finding.advice]
    return "\n".join(lines)


def _sample(row: Row, sample: Sample | None) -> str:
    if sample is None:
        return units.ABSENT
    shown = f"{units.metric(row.metric, sample.mean)} {units.spread(sample.variation)}".rstrip()
    marks = [
        *(["cached"] if sample.cached else []),
        *(["from memory"] if sample.from_memory else []),
        *(["disturbed"] if sample.disturbed else []),
        *([f"{len(sample.left_out)} left out"] if sample.left_out else []),
    ]
    return f"{shown} ({', '.join(marks)})" if marks else shown


def _tip(row: Row, sample: Sample | None) -> str:
    if sample is None:
        return "not measured on this side"
    values = ", ".join(units.metric(row.metric, value) for value in sample.values)
    left_out = ", ".join(f"{units.metric(row.metric, one.value)} ({one.reason})" for one in sample.left_out)
    return f"{sample.server}, {sample.volume}: {values}" + (f"; left out: {left_out}" if left_out else "")


def _interval(row: Row) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return units.ABSENT
    return f"{units.ratio(row.ratio_low)} – {units.ratio(row.ratio_high)}"


COLUMNS: tuple[Column[Row], ...] = (
    Column("Workload", lambda row: row.workload.title, width=Width.REST),
    Column("Metric", lambda row: metric_name(row.metric)),
    Column("Old (mean)", lambda row: _sample(row, row.old), right=True, tip=lambda row: _tip(row, row.old)),
    Column("New (mean)", lambda row: _sample(row, row.new), right=True, tip=lambda row: _tip(row, row.new)),
    Column("New : old", lambda row: units.ratio(row.ratio), right=True),
    Column("Interval", _interval, right=True),
    Column("Verdict", lambda row: str(row.verdict), tone=lambda row: TONES[row.verdict]),
)


def run_text(run: Run) -> str:
    """A run whole: how it ended, each repetition with its command and output."""
    ended = ": ".join(part for part in (str(run.outcome or "not ended"), run.stopped) if part)
    parts = [f"{run.workload.title} on {run.volume.server}, {run.volume.mount_point}\n{ended}"]
    for one in run.repetitions:
        lines = [f"repetition {one.number}: {one.outcome}", *(f"{mark.kind}: {mark.text}" for mark in one.marks)]
        parts.append("\n".join([*lines, f"$ {one.command}", one.message, one.raw]))
    return "\n\n".join(parts)
