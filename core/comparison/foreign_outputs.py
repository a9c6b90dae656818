"""Outputs that somebody else produced, side by side: each output is a set of runs of its own."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime

from core.benchmarks.model import Metrics, Outcome, Output, Repetition, Result, Run, Volume, Workload
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
    differing = frozenset[Differing]().union(*(find_differing([output]) for _, output in named))
    compared = compare(*(runs_of(name, output, differing) for name, output in named))
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


Differing = tuple[str, str]
"""A name of results, and a condition of measuring by which results of that name differ: `clients`."""


def find_differing(outputs: Iterable[Output]) -> frozenset[Differing]:
    """By which conditions the results of these outputs differ that have one name, all outputs taken together.

    What was measured with 10 and with 50 clients is no repetition of one thing.
    """
    told: dict[Differing, set[float | None]] = {}
    for name, result in (each for output in outputs for each in _named_results(output)):
        for condition in _CONDITIONS:
            told.setdefault((name, condition), set()).add(result.metrics.get(condition))
    return frozenset(which for which, values in told.items() if len(values) > 1)


def runs_of(set_name: str, output: Output, differing: Set[Differing]) -> list[Run]:
    """The runs of an output: its results by their names, on a volume that is called `set_name`.

    Results that have one name, but differ in a condition, are told apart by it.
    """
    grouped: dict[str, list[Result]] = {}
    counts = Counter(result.name for result in output.results)
    reader = readers()[output.tool]
    for number, (known, result) in enumerate(_named_results(output), 1):
        name = _name_by_conditions(known, result.metrics, differing)
        # dd's two results have one name: by their order they are the write and the read
        by_order = not reader.repeats and counts[result.name] > 1
        grouped.setdefault(f"{name} {number}" if by_order else name, []).append(result)
    return [_run(set_name, output, name, results) for name, results in grouped.items()]


def _named_results(output: Output) -> list[tuple[str, Result]]:
    # machines are to be compared: their results share a name where the tool names them after the machine
    one_name = len({result.name for result in output.results}) == 1
    common = readers()[output.tool].common_name if one_name else None
    return [(common or one.name or output.tool, one) for one in output.results]


_CONDITIONS = ("scale", "clients", "threads")
"""What a result tells of how it was measured."""


def _name_by_conditions(name: str, metrics: Metrics, differing: Set[Differing]) -> str:
    told = [each for each in _CONDITIONS if each in metrics and (name, each) in differing]
    return ", ".join((name, *(_words(each, metrics[each]) for each in told)))


def _words(condition: str, value: float) -> str:
    number = f"{value:.15g}"
    if condition == "scale":
        return f"scale {number}"
    return f"{number} {condition.removesuffix('s') if value == 1 else condition}"


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
