"""Storages side by side: any runs against any, no move needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.benchmarks.model import Run
from core.comparison.machines import NO_MACHINES, Machines
from core.comparison.model import Comparison, Diagnosis, Row, Verdict
from core.facts.model import Facts
from core.language import current, tr
from core.reports.model import Answer, Document, Section, Text, Tone
from core.reports.options import Options
from core.reports.parts.method import method
from core.reports.parts.storage_over_time import courses, results_over_time
from core.reports.parts.storage_tables import (
    all_metrics,
    diagnoses,
    dots,
    figures,
    headlines,
    latencies,
    method_and_units,
    ratio_chart,
    raw_values,
    workloads,
)
from core.reports.summary import faster
from core.reports.words import counted, instant, listed
from core.servers.profiles import Profile
from core.text import capital


@dataclass(frozen=True, slots=True)
class StorageReport:
    """What a comparison of storages rests on: each set's runs beside it, in the order of the sets.

    Attributes:
        runs: all that were found; those of machines that had the same name before are not compared.
        profiles: all servers of the history; their names are masked in a masked report.
        facts: those of the servers that are compared, as far as they were read.
        machines: which machine each run was measured on.
    """

    compared: Comparison
    runs: tuple[Run, ...]
    made_at: datetime
    program_version: str
    diagnoses: tuple[Diagnosis, ...] = ()
    profiles: tuple[Profile, ...] = ()
    facts: tuple[Facts, ...] = ()
    machines: Machines = NO_MACHINES

    @property
    def compared_runs(self) -> tuple[Run, ...]:
        """The runs on the machines that are compared."""
        volumes = {volume for one in self.compared.measured for volume in one}
        return tuple(run for run in self.runs if self.machines.volume_of(run) in volumes)


def storage_report(report: StorageReport, options: Options) -> Document:
    """The comparison."""
    compared = report.compared
    sets = compared.names
    return Document(
        kind="storage",
        title=tr("Storage comparison"),
        subtitle=tr("{others} compared with {first}").format(others=listed(sets[1:]), first=sets[0]),
        label=tr("Storage comparison"),
        language=current(),
        made_at=report.made_at,
        program=f"pghaul {report.program_version}",
        answers=_answers(report),
        charts=tuple(
            chart for chart in (Section(tr("Ratio to {first}").format(first=sets[0]), ratio_chart(compared)),) if chart
        ),
        sections=tuple(section for section in _sections(report, options) if section),
    )


def _answers(report: StorageReport) -> tuple[Answer, ...]:
    compared = report.compared
    sets = compared.names
    question = tr("Is {second} faster than {first}?").format(first=sets[0], second=sets[1])
    return (faster(question, compared), *_further(compared), _trust(compared), _when(report), _trouble(report))[:5]


def _further(compared: Comparison) -> tuple[Answer, ...]:
    """Of three and more sets how the others stand to the first, in one line."""
    if not compared.further:
        return ()
    said = []
    for number, name in enumerate(compared.names[2:]):
        verdicts = [row.further[number].verdict for row in headlines(compared)]
        said.append(
            tr("{name}: faster in {faster}, slower in {slower} of {all}.").format(
                name=name,
                faster=verdicts.count(Verdict.NEW),
                slower=verdicts.count(Verdict.OLD),
                all=counted(len(verdicts), "{number} workload", "{number} workloads"),
            )
        )
    words = counted(len(compared.further), "{number} more set", "{number} more sets")
    return (Answer(tr("How do the other sets compare?"), words, tuple(said)),)


def _trust(compared: Comparison) -> Answer:
    question = tr("How reliable is the result?")
    rows = headlines(compared)
    few = [row for row in rows if row.note]
    marked = [
        row
        for row in rows
        for sample in (row.old, row.new)
        if sample is not None and (sample.disturbed or sample.from_memory)
    ]
    if not rows:
        return Answer(question, tr("Not known"), (), Tone.MUTED)
    details = []
    if few:
        details.append(tr("Too few repetitions in {workloads}.").format(workloads=listed(_titles(few))))
    if marked:
        details.append(tr("Disturbed, or read from memory: {workloads}.").format(workloads=listed(_titles(marked))))
    if details:
        return Answer(question, tr("With reservations"), tuple(details), Tone.MIXED)
    return Answer(question, tr("Verdicts hold with 95 % confidence"), (), Tone.GOOD)


def _titles(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(tr(row.workload.title) for row in rows))


def _when(report: StorageReport) -> Answer:
    question = tr("What was measured, and when?")
    runs = report.compared_runs
    if not runs:
        return Answer(question, tr("Nothing"), (), Tone.MUTED)
    first, last = min(run.started_at for run in runs), max(run.started_at for run in runs)
    tools = listed(sorted({run.program for run in runs}))
    words = counted(len(runs), "{number} run", "{number} runs")
    when = tr("From {first} to {last}, with {tools}.").format(first=instant(first), last=instant(last), tools=tools)
    return Answer(question, words, tuple(said for said in (when, report.compared.machines_note) if said))


def _trouble(report: StorageReport) -> Answer:
    question = tr("What causes poor results?")
    found = [finding for one in report.diagnoses for finding in one.findings]
    if not report.diagnoses:
        return Answer(question, tr("Not known: no facts of these servers"), (), Tone.MUTED)
    if not found:
        return Answer(question, tr("Nothing was found"), (), Tone.PLAIN)
    words = counted(len(found), "{number} finding", "{number} findings")
    return Answer(question, words, (f"{capital(listed(tr(one.title) for one in found))}.",), Tone.MIXED)


def _sections(report: StorageReport, options: Options) -> tuple[Section, ...]:
    compared = report.compared
    if not compared.rows:
        return (Section(tr("Values"), (Text(tr("No two of these runs have a workload in common."), Tone.MUTED),)),)
    appendices = (all_metrics(compared), *raw_values(report.runs, report.machines)) if options.raw else ()
    return (
        Section(tr("Values"), (*dots(compared), *figures(compared), *filter(None, (latencies(compared),)))),
        results_over_time(report.runs, report.machines),
        courses(report.runs, report.machines),
        diagnoses(report.diagnoses),
        workloads(report.runs, report.machines),
        method(
            *method_and_units(
                tr("A ratio above 1 means that the second set of measurements is faster, also for latencies.")
            ),
            masked=options.masked,
        ),
        *appendices,
    )
