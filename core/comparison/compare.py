"""Sets of runs side by side: each metric that they share a workload for, and whether the difference is real."""

from collections.abc import Iterable, Sequence

from core.benchmarks import statistics
from core.benchmarks.model import Run, Workload
from core.comparison.model import Comparison, Contrast, Row, Sample, Verdict
from core.comparison.samples import newest_done, sample_of

TOLERANCE = 0.01
"""A difference under this is never called one, however steady both sides are: no tool measures finer."""

_Key = tuple[str, str, tuple[tuple[str, object], ...]]


def compare(
    old_runs: Sequence[Run], new_runs: Sequence[Run], *further: Sequence[Run], dated: bool = False
) -> Comparison:
    """Two or more sets of runs side by side, headline rows first, else in the order of the runs.

    Workloads meet by tool, name and parameters: different parameters are never compared, each set then has a row of
    its own. Of several runs of one workload in one set the newest that is done counts alone, of that run the
    repetitions that are `done`. Rows are rates (more is better) and latencies (less is better); what has no better side
    (bytes, durations, processor time) has none. Every set is held against the first. `dated`: name each set with the
    time of its newest run, for sets of one volume.
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
    return Comparison(old=old, new=new, rows=tuple(rows), further=tuple(others))


def lower_is_better(metric: str) -> bool | None:
    """Whether less of the metric is better; None where neither is."""
    if "latency" in metric:
        return True
    # every rate of this product says so in its name
    if metric.endswith(("_per_second", "_iops")):
        return False
    return None


def _by_workload(runs: Iterable[Run]) -> dict[_Key, tuple[Workload, Run | None]]:
    """Of each workload the run that counts; None where none is done."""
    found: dict[_Key, list[Run]] = {}
    for run in runs:
        found.setdefault(_key(run.workload), []).append(run)
    return {key: (group[-1].workload, newest_done(group)) for key, group in found.items()}


def _key(workload: Workload) -> _Key:
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
    values = "one value" if min(counts) == 1 else f"{min(counts)} values"
    return (
        f"{values} on one side cannot show the noise. The interval reaches from the smallest to the largest ratio of "
        f"any two values, widened by an assumed {statistics.ASSUMED_NOISE:.0%} on both ends".replace("%", " %")
    )


def _title(runs: Sequence[Run], dated: bool) -> str:
    names = ", ".join(dict.fromkeys(f"{run.volume.server}:{run.volume.mount_point}" for run in runs))
    if not dated or not runs:
        return names
    return f"{names} {max(run.started_at for run in runs):%Y-%m-%d %H:%M}"
