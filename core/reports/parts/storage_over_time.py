"""Storages over time: how a volume's results have changed from run to run, and what happened within a run."""

from collections.abc import Callable, Sequence
from datetime import datetime

from core.benchmarks.model import Outcome, Run, Series
from core.benchmarks.series import series_of
from core.comparison.compare import WorkloadKey, sample_of, workload_key
from core.comparison.machines import NO_MACHINES, Machines
from core.comparison.model import MeasuredVolume, Sample
from core.language import tr
from core.reports.charts.time_plots import MOST_LINES, Dated, course, runs_over_time
from core.reports.drawing import Drawing
from core.reports.model import Section, Text
from core.reports.words import counted, listed, moment

_MOST_PLOTS = 12


def results_over_time(runs: Sequence[Run], machines: Machines = NO_MACHINES) -> Section:
    """Plots of each workload that has run more than once on a volume; runs of other parameters are never joined.

    When results of others were measured is not known, so they have no place here.

    Args:
        runs: the runs, in the order of the sets.
        machines: which machine each run was measured on: machines that had one name are never joined either.
    """
    line_of = machines.volume_of
    dated = _dated(runs)
    repeated = [of for of in _by_workload(dated).values() if len(of) > len(set(map(line_of, of)))]
    among = {line_of(run) for of in repeated for run in of}
    lines = [line for line in dict.fromkeys(map(line_of, runs)) if line in among]
    shown = lines[:MOST_LINES]
    plots = [_plot(of, shown, line_of) for of in repeated]
    visible = [plot for plot in plots if any(plot.volumes)][:_MOST_PLOTS]  # some are of volumes without a line
    drawn = runs_over_time(visible, [line.name for line in shown])
    if not drawn:
        return Section(tr("Results over time"), ())
    explained = [
        tr("Each mark is the mean of a run. The line through it reaches from the lowest to the highest value.")
    ]
    if shared := dict.fromkeys(line.server for line in map(line_of, dated) if line.since is not None):
        said = tr(
            "Several machines had the same name, one after another: {servers}. Each has a line of its own, named by "
            "its first run."
        )
        explained.append(said.format(servers=listed(shared)))
    return Section(
        tr("Results over time"),
        (Text(" ".join(explained), small=True), *drawn, *_left_out(len(plots) - len(visible), len(lines))),
    )


def courses(runs: Sequence[Run], machines: Machines = NO_MACHINES) -> Section:
    """Plots of the runs whose output is a log with a value for each interval, the newest runs of each workload."""
    plots: list[Drawing] = []
    most = 0
    for of_workload in _by_workload(_done(runs)).values():
        logged: dict[str, list[tuple[Run, Series]]] = {}
        for run in of_workload:
            for series in series_of(run):
                logged.setdefault(series.metric, []).append((run, series))
        for found in logged.values():
            most = max(most, len(found))
            latest = found[-MOST_LINES:]
            title = tr(of_workload[-1].workload.title)
            names = _names([run for run, _ in latest], machines)
            plots.append(course(title, [series for _, series in latest], names))
    if not plots:
        return Section(tr("Course of the runs"), ())
    visible = plots[:_MOST_PLOTS]
    explained = tr(
        "The tool has logged these values while it ran. Where a point stands for several of them, it is their mean, "
        "and a line reaches from the lowest to the highest one."
    )
    return Section(
        tr("Course of the runs"),
        (Text(explained, small=True), *visible, *_left_out(len(plots) - len(visible), most)),
    )


def _dated(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have a value and a time of their own, the oldest first."""
    return [run for run in _done(runs) if not run.volume.elsewhere and sample_of(run.workload.headline, run)]


def _plot(runs: Sequence[Run], shown: Sequence[MeasuredVolume], line_of: Callable[[Run], MeasuredVolume]) -> Dated:
    """Return the runs of one workload as lines."""
    headline = runs[-1].workload.headline
    lines: dict[MeasuredVolume, list[tuple[datetime, Sample]]] = {line: [] for line in shown}
    for run in runs:
        if (line := lines.get(line_of(run))) is not None and (sample := sample_of(headline, run)) is not None:
            line.append((run.started_at, sample))
    return Dated(tr(runs[-1].workload.title), headline, tuple(map(tuple, lines.values())))


def _done(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that are done, the oldest first."""
    done = (run for run in runs if run.outcome is Outcome.DONE)
    return sorted(done, key=lambda run: (run.started_at, run.id or 0))


def _left_out(plots: int, lines: int) -> tuple[Text, ...]:
    """Say what is missing: so many plots, and of so many lines those that have no form of mark."""
    said = []
    if lines > MOST_LINES:
        said.append(
            counted(lines - MOST_LINES, "{number} further line is not shown.", "{number} further lines are not shown.")
        )
    if plots:
        said.append(counted(plots, "{number} further plot is not shown.", "{number} further plots are not shown."))
    return tuple(Text(each, small=True) for each in said)


def _by_workload(runs: Sequence[Run]) -> dict[WorkloadKey, list[Run]]:
    found: dict[WorkloadKey, list[Run]] = {}
    for run in runs:
        found.setdefault(workload_key(run.workload), []).append(run)
    return found


def _names(runs: Sequence[Run], machines: Machines) -> list[str]:
    """What the runs are called: by their volumes, and also by their times where two are of one volume."""
    volumes = [machines.volume_of(run).name for run in runs]
    return [
        name if volumes.count(name) == 1 else f"{name}, {moment(run.started_at)}"
        for name, run in zip(volumes, runs, strict=True)
    ]
