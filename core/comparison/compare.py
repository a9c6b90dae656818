"""Sets of runs side by side: the sample of each metric that they share, and whether the difference is real."""

import math
from collections.abc import Iterable, Sequence

from core import units
from core.benchmarks import statistics
from core.benchmarks.model import MarkKind, Outcome, Repetition, Run, Workload
from core.comparison.machines import NO_MACHINES, Machines
from core.comparison.model import Comparison, Contrast, LeftOut, Row, Sample, Verdict

# The sample of one metric that a set of runs gives: what counts, and what is shown but left out, with its reason.

OUTLIER = "outlier"
DISTURBED = "disturbed"


def newest_done(runs: Sequence[Run]) -> Run | None:
    """The run of a workload that counts in a set: the newest that is done.

    Earlier runs of the same volume are another time's: two are compared as two sets, never made into one sample. A run
    that failed, was cancelled or interrupted never counts, nor do the repetitions that it came to.
    """
    done = [run for run in runs if run.outcome is Outcome.DONE]
    return max(done, key=lambda run: (run.started_at, run.id or 0), default=None)


def sample_of(metric: str, run: Run) -> Sample | None:
    """The metric's sample in a run that is done; None where no repetition measured it.

    Left out are disturbed repetitions, as long as statistics.FEWEST undisturbed ones are there, and then outliers, by
    the rule of core/benchmarks/outliers. Mean, median, spread and every ratio are of what is left.
    """
    good = _measured(metric, run)
    if not good:
        return None
    kept, left_out = _kept(metric, good)
    values = tuple(one.metrics[metric] for one in kept)
    return Sample(
        values=values,
        median=statistics.median(values),
        mean=statistics.mean(values),
        low=min(values),
        high=max(values),
        variation=statistics.variation(values),
        server=run.volume.server,
        volume=run.volume.mount_point,
        cached=any(one.cached for one in kept),
        run_ids=() if run.id is None else (run.id,),
        left_out=left_out,
        disturbed=any(one.disturbed for one in kept),
        from_memory=any(_from_memory(metric, one) for one in kept),
        measured_at=run.started_at,
    )


def _measured(metric: str, run: Run) -> list[Repetition]:
    """The repetitions that are done and have a value of the metric; one that is not finite is none."""
    done = (one for one in run.repetitions if one.outcome is Outcome.DONE)
    return [one for one in done if math.isfinite(one.metrics.get(metric, math.nan))]


def remarks(metric: str, run: Run) -> dict[int, tuple[str, ...]]:
    """What is to be said of each repetition's figure, by number: an outlier, disturbed, cached, from memory."""
    good = _measured(metric, run)
    kept = {one.number for one in _kept(metric, good)[0]} if good else set()
    return {
        one.number: (
            *([str(one.outcome)] if one.outcome is not Outcome.DONE else []),
            *([OUTLIER] if one in good and one.number not in kept and not one.disturbed else []),
            *([DISTURBED] if one.disturbed else []),
            *(["cached"] if one.cached else []),
            *(["from memory"] if _from_memory(metric, one) else []),
        )
        for one in run.repetitions
    }


def _kept(metric: str, good: Sequence[Repetition]) -> tuple[list[Repetition], tuple[LeftOut, ...]]:
    """The repetitions that count, and the others' values in the order of the repetitions."""
    calm = [one for one in good if not one.disturbed]
    # too few undisturbed ones: all count, and the sample says that it is disturbed
    kept = calm if len(calm) >= statistics.FEWEST else list(good)
    extreme = {kept[position].number for position in statistics.outliers([one.metrics[metric] for one in kept])}
    numbers = {one.number for one in kept}
    left_out = tuple(
        LeftOut(one.metrics[metric], OUTLIER if one.number in numbers else DISTURBED)
        for one in good
        if one.number in extreme or one.number not in numbers
    )
    return [one for one in kept if one.number not in extreme], left_out


def _from_memory(metric: str, repetition: Repetition) -> bool:
    """Whether this repetition's figure is memory's: a mark on reads says nothing of writes."""
    # a rewrite reads and writes, but what memory keeps from the disk is its writes
    kind = MarkKind.CACHE if metric.startswith("read_") else MarkKind.MEMORY if "write_" in metric else None
    return any(mark.kind is kind for mark in repetition.marks)


# Sets of runs side by side: each metric that they share a workload for, and whether the difference is real.

TOLERANCE = 0.01
"""A difference under this is never called one, however steady both sides are: no tool measures finer."""

WorkloadKey = tuple[str, str, tuple[tuple[str, object], ...]]


def compare(
    old_runs: Sequence[Run],
    new_runs: Sequence[Run],
    *further: Sequence[Run],
    dated: bool = False,
    machines: Machines = NO_MACHINES,
) -> Comparison:
    """Two or more sets of runs side by side, headline rows first, else in the order of the runs.

    Workloads meet by tool, name and parameters: different parameters are never compared, each set then has a row of
    its own. Of several runs of one workload in one set the newest that is done counts alone, of that run the
    repetitions that are `done`. Rows are rates (more is better) and latencies (less is better); what has no better side
    (bytes, durations, processor time) has none. Every set is held against the first. `dated`: name each set with the
    time of its newest run, for sets of one volume. `machines`: whose volumes were measured.
    """
    sets = (old_runs, new_runs, *further)
    by_workload = [_by_workload(runs) for runs in sets]
    rows = [
        row
        for key in dict.fromkeys(key for found in by_workload for key in found)
        for row in _rows([found.get(key) for found in by_workload])
    ]
    # sorted() keeps the order of what is alike
    rows.sort(key=lambda row: not row.headline)
    old, new, *others = (_title(runs, dated) for runs in sets)
    measured = tuple(tuple(dict.fromkeys(map(machines.volume_of, runs))) for runs in sets)
    return Comparison(old=old, new=new, rows=tuple(rows), further=tuple(others), measured=measured)


def lower_is_better(metric: str) -> bool | None:
    """Whether less of the metric is better; None where neither is."""
    if "latency" in metric:
        return True
    # every rate of this product says so in its name
    if metric.endswith(("_per_second", "_iops")):
        return False
    return None


def _by_workload(runs: Iterable[Run]) -> dict[WorkloadKey, tuple[Workload, Run | None]]:
    """Of each workload the run that counts; None where none is done."""
    found: dict[WorkloadKey, list[Run]] = {}
    for run in runs:
        found.setdefault(workload_key(run.workload), []).append(run)
    return {key: (group[-1].workload, newest_done(group)) for key, group in found.items()}


def workload_key(workload: Workload) -> WorkloadKey:
    """Return by what runs are compared: those with other parameters are of another workload."""
    # a suite that was edited between two runs measures something else
    parameters: tuple[tuple[str, object], ...] = tuple(sorted(workload.parameters.items()))
    return (workload.tool, workload.name, parameters)


def _rows(found: Sequence[tuple[Workload, Run | None] | None]) -> list[Row]:
    # the newest title: it may have been worded anew
    workload = [one[0] for one in found if one is not None][-1]
    runs = [one[1] if one is not None else None for one in found]
    metrics = dict.fromkeys(
        name for run in runs if run is not None for repetition in run.repetitions for name in repetition.metrics
    )
    headline_first = sorted(metrics, key=lambda name: name != workload.headline)
    return [_row(workload, name, runs) for name in headline_first if lower_is_better(name) is not None]


def _row(workload: Workload, metric: str, runs: Sequence[Run | None]) -> Row:
    first, *others = (None if run is None else sample_of(metric, run) for run in runs)
    second, *further = (_contrast(workload, metric, first, other) for other in others)
    return Row(
        workload=workload,
        metric=metric,
        old=first,
        new=second.sample,
        ratio=second.ratio,
        ratio_low=second.ratio_low,
        ratio_high=second.ratio_high,
        verdict=second.verdict,
        headline=metric == workload.headline,
        further=tuple(further),
        note=_note([first, *others]),
    )


def _contrast(workload: Workload, metric: str, first: Sample | None, other: Sample | None) -> Contrast:
    if first is None or other is None:
        return Contrast(other, None, None, None, Verdict.ONE_SIDED)
    less = lower_is_better(metric)
    # the ratio above 1 speaks for the other side, whatever the metric
    interval = statistics.ratio_of_means(*((first.values, other.values) if less else (other.values, first.values)))
    verdict = _verdict(workload, first, other, interval)
    if interval is None:
        return Contrast(other, None, None, None, verdict)
    return Contrast(other, interval.ratio, interval.low, interval.high, verdict)


def _verdict(workload: Workload, old: Sample, new: Sample, interval: statistics.Interval | None) -> Verdict:
    """A difference is one when the whole interval lies on one side of 1, and more than TOLERANCE off.

    Memory against disk says nothing about the disks; direct input and output pass the caches by.
    """
    if old.from_memory != new.from_memory:
        return Verdict.UNLIKE
    # warm against cold: the difference would be the memory's
    if old.cached != new.cached and workload.parameters.get("direct") is not True:
        return Verdict.UNLIKE
    if interval is None:
        return Verdict.NONE
    # sure, and large enough for anybody to notice
    if interval.low > 1 and interval.ratio > 1 + TOLERANCE:
        return Verdict.NEW
    if interval.high < 1 and interval.ratio < 1 / (1 + TOLERANCE):
        return Verdict.OLD
    return Verdict.NONE


def _note(samples: Sequence[Sample | None]) -> str:
    """What an interval of few values is; empty where the bootstrap made it, or nobody did."""
    counts = [len(sample.values) for sample in samples if sample is not None]
    if len(counts) < 2 or min(counts) >= statistics.FEWEST:
        return ""
    assumed_noise = units.share(statistics.ASSUMED_NOISE)
    values = "one value" if min(counts) == 1 else f"{min(counts)} values"
    return (
        f"{values} on one side cannot show the noise. The interval reaches from the smallest to the largest ratio of "
        f"any two values, widened by an assumed {assumed_noise} on both ends"
    )


def _title(runs: Sequence[Run], dated: bool) -> str:
    names = ", ".join(dict.fromkeys(f"{run.volume.server}:{run.volume.mount_point}" for run in runs))
    if not dated or not runs:
        return names
    return f"{names} {max(run.started_at for run in runs):%Y-%m-%d %H:%M}"
