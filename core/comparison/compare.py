"""Old against new: each metric that both sides measured with the same workload, and whether the difference is real."""

from collections.abc import Iterable, Sequence

from core.benchmarks import statistics
from core.benchmarks.model import Outcome, Repetition, Run, Workload
from core.comparison.model import Comparison, Row, Sample, Verdict

TOLERANCE = 0.01
"""A difference under this is never called one, however steady both sides are: no tool measures finer."""

_Key = tuple[str, str, tuple[tuple[str, object], ...]]


def compare(old_runs: Sequence[Run], new_runs: Sequence[Run]) -> Comparison:
    """Two sets of runs side by side, headline rows first, else in the order of the runs.

    Workloads meet by tool, name and parameters: different parameters are never compared, each side then has a row of
    its own. Of a run only repetitions that are `done` count, and of those of one workload on one side all do. Rows are
    rates (more is better) and latencies (less is better); what has no better side (bytes, durations, processor time)
    has none.
    """
    old, new = _by_workload(old_runs), _by_workload(new_runs)
    rows = [
        row
        for key in dict.fromkeys((*old, *new))
        for row in _rows(*_repetitions(old.get(key, ())), *_repetitions(new.get(key, ())))
    ]
    rows.sort(key=lambda row: not row.headline)
    return Comparison(old=_title(old_runs), new=_title(new_runs), rows=tuple(rows))


def lower_is_better(metric: str) -> bool | None:
    """Whether less of the metric is better; None where neither is."""
    if "latency" in metric:
        return True
    if metric.endswith(("_per_second", "_iops")):
        return False
    return None


_Found = list[tuple[Run, Repetition]]


def _by_workload(runs: Iterable[Run]) -> dict[_Key, list[Run]]:
    found: dict[_Key, list[Run]] = {}
    for run in runs:
        found.setdefault(_key(run.workload), []).append(run)
    return found


def _key(workload: Workload) -> _Key:
    parameters: tuple[tuple[str, object], ...] = tuple(sorted(workload.parameters.items()))
    return (workload.tool, workload.name, parameters)


def _repetitions(runs: Sequence[Run]) -> tuple[Workload | None, _Found]:
    good = [(run, repetition) for run in runs for repetition in run.repetitions if repetition.outcome is Outcome.DONE]
    return (runs[-1].workload if runs else None), good


def _rows(old_workload: Workload | None, old: _Found, new_workload: Workload | None, new: _Found) -> list[Row]:
    workload = new_workload or old_workload
    if workload is None:
        return []
    metrics = dict.fromkeys(name for _, repetition in (*old, *new) for name in repetition.metrics)
    headline_first = sorted(metrics, key=lambda name: name != workload.headline)
    return [_row(workload, name, old, new) for name in headline_first if lower_is_better(name) is not None]


def _row(workload: Workload, metric: str, old_found: _Found, new_found: _Found) -> Row:
    old, new = _sample(metric, old_found), _sample(metric, new_found)
    interval = None
    if old is not None and new is not None:
        less = lower_is_better(metric)
        interval = statistics.ratio_of_medians(*((old.values, new.values) if less else (new.values, old.values)))
    return Row(
        workload=workload,
        metric=metric,
        old=old,
        new=new,
        ratio=None if interval is None else interval.ratio,
        ratio_low=None if interval is None else interval.low,
        ratio_high=None if interval is None else interval.high,
        verdict=Verdict.ONE_SIDED if old is None or new is None else _verdict(workload, old, new, interval),
        headline=metric == workload.headline,
    )


def _sample(metric: str, found: _Found) -> Sample | None:
    having = [(run, repetition) for run, repetition in found if metric in repetition.metrics]
    if not having:
        return None
    values = tuple(repetition.metrics[metric] for _, repetition in having)
    last = having[-1][0]
    return Sample(
        values=values,
        median=statistics.median(values),
        mean=statistics.mean(values),
        low=min(values),
        high=max(values),
        variation=statistics.variation(values),
        server=last.volume.server,
        volume=last.volume.mount_point,
        cached=any(repetition.cached for _, repetition in having),
        run_ids=tuple(dict.fromkeys(run.id for run, _ in having if run.id is not None)),
    )


def _verdict(workload: Workload, old: Sample, new: Sample, interval: statistics.Interval | None) -> Verdict:
    """A difference is one when the whole interval lies on one side of 1, and more than TOLERANCE off.

    Memory against disk says nothing about the disks; direct input and output pass the caches by.
    """
    if old.cached != new.cached and workload.parameters.get("direct") is not True:
        return Verdict.UNLIKE
    if interval is None:
        return Verdict.NONE
    if interval.low > 1 and interval.ratio > 1 + TOLERANCE:
        return Verdict.NEW
    if interval.high < 1 and interval.ratio < 1 / (1 + TOLERANCE):
        return Verdict.OLD
    return Verdict.NONE


def _title(runs: Sequence[Run]) -> str:
    return ", ".join(dict.fromkeys(f"{run.volume.server}:{run.volume.mount_point}" for run in runs))
