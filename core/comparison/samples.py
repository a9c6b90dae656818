"""The sample of one metric that a set of runs gives: what counts, and what is shown but left out, with its reason."""

from collections.abc import Sequence

from core.benchmarks import outliers, statistics
from core.benchmarks.model import MarkKind, Outcome, Repetition, Run
from core.comparison.model import LeftOut, Sample

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
    good = [one for one in run.repetitions if one.outcome is Outcome.DONE and metric in one.metrics]
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


def remarks(metric: str, run: Run) -> dict[int, tuple[str, ...]]:
    """What is to be said of each repetition's figure, by number: an outlier, disturbed, cached, from memory."""
    good = [one for one in run.repetitions if one.outcome is Outcome.DONE and metric in one.metrics]
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
    extreme = {kept[position].number for position in outliers.outliers([one.metrics[metric] for one in kept])}
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
