"""Storages side by side: each workload's own metric with its repetitions, latencies, what was left out, diagnoses."""

from collections.abc import Iterable, Sequence

from core import units
from core.benchmarks import statistics
from core.benchmarks.model import Run
from core.comparison.machines import NO_MACHINES, Machines
from core.comparison.model import Comparison, Contrast, Diagnosis, Sample, Verdict
from core.comparison.model import Row as Compared
from core.language import tr
from core.reports.charts.storage_plots import percentiles, ratios, repetitions, samples
from core.reports.model import Block, Cell, Code, Item, Items, Row, Section, Table, Text, Tone
from core.reports.words import counted, instant, metric_title, verdict
from core.text import capital

FIRST_PAGE = 7
"""So many workloads have room on page one."""
_TONES = {Verdict.NEW: Tone.GOOD, Verdict.OLD: Tone.BAD}
_MOST_PLOTS = 12


def headlines(compared: Comparison | None) -> tuple[Compared, ...]:
    """The rows that stand for their workloads."""
    return () if compared is None else tuple(row for row in compared.rows if row.headline)


def ratio_chart(compared: Comparison) -> tuple[Block, ...]:
    """The plot of page one: the ratios of as many workloads as have room, those that differ most first."""
    rows = sorted(headlines(compared), key=lambda row: -abs((row.ratio or 1.0) - 1.0))[:FIRST_PAGE]
    shown = [row for row in headlines(compared) if row in rows]
    drawing = ratios(shown, compared.names)
    return () if drawing is None else (drawing,)


def figures(compared: Comparison) -> tuple[Block, ...]:
    """Each workload's own metric as a table."""
    return (
        compared_table("storage", compared, headlines(compared)),
        *(Text(note, small=True) for note in _notes(headlines(compared))),
    )


def latencies(compared: Comparison) -> Section:
    """The latencies by percentile, a plot for each workload; false if there are none."""
    return Section(tr("Latencies by percentile"), percentiles(compared, compared.names)[:_MOST_PLOTS])


def dots(compared: Comparison) -> tuple[Block, ...]:
    """Each repetition of each workload's own metric as a mark."""
    plot = repetitions(headlines(compared), compared.names)
    return () if plot is None else (plot,)


def compared_table(name: str, compared: Comparison, rows: Sequence[Compared]) -> Table:
    """A column a set, each against the first."""
    sets = compared.names
    head = (tr("Workload"), tr("Metric"), *sets, *((tr("Ratio"), tr("Interval")) if len(sets) == 2 else ()))
    widths = (2.2, 1.5, *((0.9,) * len(sets)), *((0.0, 0.0) if len(sets) == 2 else ()))
    right = frozenset(range(2, len(head) - (1 if len(sets) == 2 else 0)))
    return Table(name, (*head, tr("Verdict")), tuple(_row(row, len(sets)) for row in rows), (*widths, 0.9), right)


def _row(row: Compared, sets: int) -> Row:
    title = (tr(row.workload.title), metric_title(row.metric))
    if sets == 2:
        verdict_cell = Cell(verdict(row.verdict), tone=_TONES.get(row.verdict, Tone.PLAIN))
        ratio = Cell(units.ratio(row.ratio), row.ratio)
        return *title, _mean(row.metric, row.old), _mean(row.metric, row.new), ratio, _interval(row), verdict_cell
    contrasts = (Contrast(row.new, row.ratio, row.ratio_low, row.ratio_high, row.verdict), *row.further)
    others = tuple(
        Cell(
            f"{_mean(row.metric, one.sample).text}\n{units.ratio(one.ratio)}",
            None if one.sample is None else one.sample.mean,
        )
        for one in contrasts
    )
    said = "; ".join(dict.fromkeys(verdict(one.verdict) for one in contrasts))
    return *title, _mean(row.metric, row.old), *others, said


def _interval(row: Compared) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return units.ABSENT
    low, high = units.ratio(row.ratio_low).removesuffix(" ×"), units.ratio(row.ratio_high)
    return tr("{low} to {high}").format(low=low, high=high)


def _mean(metric: str, sample: Sample | None) -> Cell:
    if sample is None:
        return Cell(units.metric(metric, None))
    marks = [
        *([tr("disturbed")] if sample.disturbed else []),
        *([tr("from memory")] if sample.from_memory else []),
        *([tr("{number} excluded").format(number=len(sample.left_out))] if sample.left_out else []),
    ]
    shown = units.metric(metric, sample.mean)
    return Cell(f"{shown} ({', '.join(marks)})" if marks else shown, sample.mean)


def _notes(rows: Sequence[Compared]) -> list[str]:
    """What must be known of some workloads to read their figures."""
    sides = [(row, sample) for row in rows for sample in samples(row) if sample is not None]
    cached = _titles(row for row, sample in sides if sample.cached)
    memory = _titles(row for row, sample in sides if sample.from_memory)
    disturbed = _titles(row for row, sample in sides if sample.disturbed)
    few = _titles(row for row in rows if row.note)
    said = (
        (few, tr("There are too few values to measure the noise, so the interval is a guess: {workloads}.")),
        (cached, tr("The caches could not be dropped before each repetition: {workloads}.")),
        (
            memory,
            tr("Some data was read from memory or stayed there. These values are not those of the disks: {workloads}."),
        ),
        (
            disturbed,
            tr(
                "Other programs used the disks at the same time, and too few repetitions were undisturbed: {workloads}."
            ),
        ),
    )
    return [
        *(sentence.format(workloads=titles) for titles, sentence in said if titles),
        *(_excluded_values(row, sample) for row, sample in sides if sample.left_out),
    ]


def _titles(rows: Iterable[Compared]) -> str:
    return ", ".join(dict.fromkeys(tr(row.workload.title) for row in rows))


def _excluded_values(row: Compared, sample: Sample) -> str:
    values = ", ".join(f"{units.metric(row.metric, one.value)} ({tr(one.reason)})" for one in sample.left_out)
    said = tr("Excluded from {workload} on {server}: {values}.")
    return said.format(workload=tr(row.workload.title), server=sample.server, values=values)


def diagnoses(found: Sequence[Diagnosis]) -> Section:
    """What explains poor results of each volume, and what to try."""
    blocks: list[Block] = []
    for one in found:
        items = tuple(
            Item(" ".join(finding.evidence), " ".join(finding.advice), Tone.MIXED, capital(tr(finding.title)))
            for finding in one.findings
        )
        read = tr("{volume}: based on the facts of {instant} and {figures}")
        looked = read.format(
            volume=one.measured.name,
            instant=instant(one.facts_taken_at),
            figures=counted(one.figures, "{number} value", "{number} values"),
        )
        blocks += [Text(looked, small=True), Items(items) if items else Text(tr("Nothing was found."))]
        if one.unused:
            said = counted(
                one.unused,
                "{number} run on this volume does not count, because another machine had the same name then.",
                "{number} runs on this volume do not count, because another machine had the same name then.",
            )
            blocks.append(Text(said, small=True))
    return Section(tr("Causes of poor results, and remedies"), tuple(blocks))


def method_and_units(better: str) -> tuple[Item, ...]:
    """How the figures of a comparison are made.

    Args:
        better: what a ratio above 1 means, as a sentence.
    """
    confidence = units.share(statistics.CONFIDENCE)
    interval = tr(
        "The interval contains the ratio with {confidence} confidence. If a workload was repeated at least {fewest} "
        "times on both sides of the comparison, the interval is computed by bootstrap. With fewer repetitions, each "
        "value of the one side is divided by each value of the other. The interval reaches from the smallest to the "
        "largest of these ratios, and is widened by {noise} for noise."
    ).format(confidence=confidence, fewest=statistics.FEWEST, noise=units.share(statistics.ASSUMED_NOISE))
    return (
        Item(better, title=tr("Ratio")),
        Item(tr("The requests bypass the page cache of the operating system."), title=tr("Direct")),
        Item(tr("A block of PostgreSQL, {bytes} bytes.").format(bytes=units.count(8192)), title=tr("8 kB")),
        Item(interval, title=tr("Interval")),
        Item(
            tr(
                "Each value is the mean of its repetitions, without those that are excluded. A repetition is disturbed "
                "if other work used the disk or the processors meanwhile. Disturbed repetitions are excluded if there "
                "are at least three undisturbed ones. If at least five repetitions are left, outliers among them are "
                "excluded, but no more than 20 %. They are found by a statistical test (the generalised extreme "
                "studentised deviate test, at a level of 5 %). Each excluded repetition is listed with the results."
            ),
            title=tr("Outliers"),
        ),
    )


def all_metrics(compared: Comparison) -> Section:
    """Every metric that has a better side, beside the workloads' own."""
    rows = [row for row in compared.rows if not row.headline]
    table = compared_table("storage-all-metrics", compared, rows)
    return Section(tr("Appendix: all other metrics"), (table,) if rows else ())


def workloads(runs: Sequence[Run], machines: Machines = NO_MACHINES) -> Section:
    """What was run, a row for what all ran alike."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for run in runs:
        parameters = ", ".join(_parameter(name, value) for name, value in run.workload.parameters.items())
        done = counted(len(run.repetitions), "{number} repetition", "{number} repetitions")
        where = machines.volume_of(run).name
        found.setdefault((tr(run.workload.title), parameters), {})[where] = f"{run.program}, {done}"
    rows = [
        (title, parameters, "\n".join(f"{where}: {how}" for where, how in places.items()))
        for (title, parameters), places in found.items()
    ]
    head = (tr("Workload"), tr("Parameters"), tr("Volume and program"))
    table = Table("workloads", head, tuple(rows), (0.9, 1.4, 2))
    return Section(tr("Workloads"), (table,) if rows else ())


def _parameter(name: str, value: object) -> str:
    """`block 8.0 KiB` of `block_bytes`: the unit stands with the figure."""
    if isinstance(value, bool):
        return f"{name} {tr('yes') if value else tr('no')}"
    if isinstance(value, int | float) and name.endswith(("_bytes", "_seconds")):
        return f"{name.rpartition('_')[0]} {units.metric(name, value)}"
    return f"{name} {value}"


def raw_values(runs: Sequence[Run], machines: Machines = NO_MACHINES) -> tuple[Section, ...]:
    """Every repetition's metrics, and what the tools printed."""
    rows = [
        (
            tr(run.workload.title),
            machines.volume_of(run).name,
            str(one.number),
            name,
            Cell(units.plain(value), value),
        )
        for run in runs
        for one in run.repetitions
        for name, value in sorted(one.metrics.items())
    ]
    head = (tr("Workload"), tr("Volume"), tr("No."), tr("Metric"), tr("Value (SI base units)"))
    table = Table("raw-values", head, tuple(rows), (1, 1, 0, 1, 0), frozenset({2, 4}))
    outputs: list[Block] = []
    for run in runs:
        for one in run.repetitions:
            title = f"{tr(run.workload.title)}, {machines.volume_of(run).name}, {one.number}"
            outputs += [Text(title, small=True), Code(f"{one.command}\n\n{one.raw}".rstrip())]
    printed = Section(tr("Appendix: output of the tools"), tuple(outputs))
    return (Section(tr("Appendix: raw values"), (table,)), printed) if rows else ()
