"""Suites and runs as rows: one row for each repetition, the newest run first."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from core import units
from core.benchmarks.model import Outcome, Repetition, Run
from core.comparison.compare import remarks
from core.language import marked, tr
from core.text import capital
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import counted, metric_name, metric_value, minute, moment, side_name

if TYPE_CHECKING:
    from core.api.benchmarks import Listed

NO_SUITE = marked("The suite {suite} of the settings is not listed here, so another one is selected.")


@dataclass(frozen=True, slots=True)
class RepetitionRow:
    """A repetition of a run; None if the run has none yet."""

    run: Run
    repetition: Repetition | None
    remarks: tuple[str, ...] = ()
    """The marks of its main metric: outlier, disturbed, cached, from memory."""

    @property
    def at(self) -> datetime:
        return self.run.started_at if self.repetition is None else self.repetition.started_at


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of a repetition, by its id, and its value in SI base units."""

    metric: str
    value: float


def describe_suite(suite: "Listed") -> str:
    """Return the description of a suite."""
    if suite.problem:
        return recorded(suite.problem)
    made = tr("{workloads} with {tools}").format(
        workloads=counted(len(suite.workloads), "{number} workload", "{number} workloads"), tools=", ".join(suite.tools)
    )
    return tr("{title}: {made}. Each is repeated {repetitions} times or more.").format(
        title=capital(tr(suite.title)), made=made, repetitions=suite.repetitions
    )


def _needs(suite: "Listed") -> str:
    memory = (
        tr("{memory_multiple} × memory").format(memory_multiple=suite.memory_multiple) if suite.memory_multiple else ""
    )
    return " + ".join(part for part in (units.size(suite.bytes_needed) if suite.bytes_needed else "", memory) if part)


def repetition_rows(runs: tuple[Run, ...]) -> tuple[RepetitionRow, ...]:
    """Return the repetitions of all runs in the given order, the newest repetition of each run first."""
    return tuple(row for run in runs for row in _rows(run))


def _rows(run: Run) -> tuple[RepetitionRow, ...]:
    said = remarks(run.workload.headline, run)
    return tuple(RepetitionRow(run, one, said[one.number]) for one in run.repetitions[::-1]) or (
        RepetitionRow(run, None),
    )


def metrics(row: RepetitionRow) -> tuple[MetricRow, ...]:
    """Return all metrics of a repetition."""
    if row.repetition is None:
        return ()
    return tuple(MetricRow(name, value) for name, value in row.repetition.metrics.items())


def _outcome(row: RepetitionRow) -> str:
    if row.repetition is None:
        return tr("running") if row.run.outcome is None else tr(row.run.outcome)
    return ", ".join(dict.fromkeys((tr(row.repetition.outcome), *map(tr, row.remarks))))


def _outcome_tip(row: RepetitionRow) -> str:
    """Return the message of the tool, the values behind each mark, and why the run has stopped."""
    one = row.repetition
    lines = (
        []
        if one is None
        else [recorded(one.message), *(f"{tr(mark.kind)}: {recorded(mark.text)}" for mark in one.marks)]
    )
    return "\n".join(line for line in (*lines, recorded(row.run.stopped)) if line)


def _outcome_tone(row: RepetitionRow) -> Tone | None:
    outcome = row.run.outcome if row.repetition is None else row.repetition.outcome
    if outcome is None:
        return Tone.MUTED
    tones = {Outcome.FAILED: Tone.BAD, Outcome.CANCELLED: Tone.WARNING, Outcome.INTERRUPTED: Tone.WARNING}
    return tones.get(outcome, Tone.WARNING if row.remarks else None)


def _headline_value(row: RepetitionRow) -> float | None:
    return None if row.repetition is None else row.repetition.metrics.get(row.run.workload.headline)


def _headline(row: RepetitionRow) -> str:
    value = _headline_value(row)
    return units.ABSENT if value is None else metric_value(row.run.workload.headline, value)


def _server(row: RepetitionRow) -> str:
    volume = row.run.volume
    if volume.elsewhere:
        return units.ABSENT
    return volume.server if volume.side is None else side_name(volume.side, volume.server)


SUITE_COLUMNS: "tuple[Column[Listed], ...]" = (
    Column("Suite", lambda row: row.name),
    Column("Description", describe_suite, tip=describe_suite, width=Width.REST),
    # a multiple of a memory whose size is not known here orders only suites that need the same space otherwise
    Column("Space needed", _needs, right=True, value=lambda row: row.bytes_needed + row.memory_multiple),
)
VOLUME_COLUMN, METRIC_COLUMN = 2, 5
"""Of the repetitions: the first only where there are several volumes, the other in what is filtered and saved alone."""
REPETITION_COLUMNS: tuple[Column[RepetitionRow], ...] = (
    Column(
        "Time",
        lambda row: minute(row.at),
        value=lambda row: row.at.timestamp(),
        tip=lambda row: moment(row.at),
        width=Width.WHOLE,
    ),
    Column("Server", _server),
    Column("Volume", lambda row: row.run.volume.mount_point),
    Column("Workload", lambda row: tr(row.run.workload.title), width=Width.REST),
    Column(
        "Repetition",
        lambda row: "" if row.repetition is None else str(row.repetition.number),
        right=True,
        value=lambda row: None if row.repetition is None else row.repetition.number,
    ),
    Column("Main metric", lambda row: metric_name(row.run.workload.headline)),
    Column("Value", _headline, right=True, value=_headline_value),
    Column(
        "Duration",
        lambda row: "" if row.repetition is None else units.duration(row.repetition.seconds),
        right=True,
        value=lambda row: None if row.repetition is None else row.repetition.seconds,
    ),
    Column("Result", _outcome, tone=_outcome_tone, tip=_outcome_tip),
)
METRIC_COLUMNS: tuple[Column[MetricRow], ...] = (
    Column("Metric", lambda row: metric_name(row.metric), width=Width.REST),
    Column("Value", lambda row: metric_value(row.metric, row.value), right=True, value=lambda row: row.value),
)
