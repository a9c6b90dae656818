"""Outputs that somebody else produced, side by side: each output is a set of runs of its own."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.benchmarks.model import Outcome, Output, Repetition, Result, Run, Volume, Workload
from core.benchmarks.tools import readers
from core.comparison.compare import compare, lower_is_better
from core.comparison.model import Comparison, Row, Sample
from core.errors import InputError
from core.sides import Side

_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def compare_outputs(named: Sequence[tuple[str, Output]]) -> Comparison:
    """The results of two or more outputs, by the names of the results; each set has the name that is given with it.

    Of a result that says that it was interrupted, aborted or failed nothing counts. What an output does not tell (when
    it was made, on which volume, whether caches were dropped) stays untold.

    Raises:
        InputError: fewer than two outputs, or outputs of different tools.
    """
    if len(named) < 2:
        raise InputError("a comparison needs at least two outputs", "name two or more outputs")
    # a metric of one name means another thing in another tool
    if len({output.tool for _, output in named}) > 1:
        raise InputError("outputs of different tools cannot be compared", "name outputs of one tool")
    compared = compare(*(runs_of(name, output) for name, output in named))
    first, second, *others = (name for name, _ in named)
    rows = tuple(_untimed(row) for row in compared.rows)
    return replace(compared, old=first, new=second, further=tuple(others), rows=rows, measured=())


def _untimed(row: Row) -> Row:
    """The row without the times that nobody told."""
    further = tuple(replace(contrast, sample=_without_time(contrast.sample)) for contrast in row.further)
    return replace(row, old=_without_time(row.old), new=_without_time(row.new), further=further)


def _without_time(sample: Sample | None) -> Sample | None:
    return None if sample is None else replace(sample, measured_at=None)


def incomplete(output: Output) -> tuple[str, ...]:
    """The results that do not count, each with the reason."""
    return tuple(f"{result.name or output.tool} {why}" for result in output.results if (why := _why_not(result)))


def _why_not(result: Result) -> str:
    if result.aborted:
        return "was aborted"
    if result.interrupted:
        return "was interrupted"
    return f"ended with error {result.errors}" if result.errors else ""


def runs_of(set_name: str, output: Output) -> list[Run]:
    """The runs of an output: its results by their names, on a volume that is called `set_name`."""
    grouped: dict[str, list[Result]] = {}
    counts = Counter(result.name for result in output.results)
    reader = readers()[output.tool]
    # machines are to be compared: their results share a name where the tool names them after the machine
    common = reader.common_name if len(counts) == 1 else None
    for number, result in enumerate(output.results, 1):
        name = common or result.name or output.tool
        if not reader.repeats and counts[result.name] > 1:
            # dd's two results have one name: by their order they are the write and the read
            name = f"{name} {number}"
        grouped.setdefault(name, []).append(result)
    return [_run(set_name, output, name, results) for name, results in grouped.items()]


def _run(set_name: str, output: Output, name: str, results: Sequence[Result]) -> Run:
    metrics = dict.fromkeys(metric for result in results for metric in result.metrics)
    # nobody said what the output was made for: the first rate stands for it, else the first latency
    better = [lower_is_better(metric) for metric in metrics]
    chosen = next((less for less in (False, True) if less in better), None)
    headline = next((metric for metric, less in zip(metrics, better, strict=True) if less is chosen), "")
    repetitions = tuple(
        Repetition(
            number=number,
            started_at=_UNKNOWN_TIME,
            seconds=result.metrics.get("duration_seconds", 0.0),
            # so that compare leaves it out by its own rule
            outcome=Outcome.FAILED if _why_not(result) else Outcome.DONE,
            metrics=result.metrics,
            command="",
            raw="",
            message=_why_not(result),
        )
        for number, result in enumerate(results, 1)
    )
    return Run(
        move="",
        volume=Volume(Side.OLD, set_name, "", ""),
        workload=Workload(name, name, output.tool, headline),
        started_at=_UNKNOWN_TIME,
        outcome=Outcome.DONE,
        repetitions=repetitions,
        tool_version=output.version,
    )
