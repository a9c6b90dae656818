"""The course of a run: what its tool has logged of each interval, where its output is such a log."""

from contextlib import suppress

from core.benchmarks.fio.output import fio_log_series, looks_like_json
from core.benchmarks.model import Outcome, Repetition, Run, Series
from core.benchmarks.pgbench.output import pgbench_series
from core.errors import ParseError
from core.pasted import plain

_FEWEST = 3
"""Points that make a course."""


def series_of(run: Run) -> tuple[Series, ...]:
    """Return each metric of which a repetition has a log, from the first repetition that has one."""
    found: dict[str, Series] = {}
    for repetition in run.repetitions:
        if repetition.outcome is Outcome.DONE and repetition.raw:
            with suppress(ParseError):  # an output without a log
                for series in _read(run.workload.tool, repetition):
                    if len(series.points) >= _FEWEST:
                        found.setdefault(series.metric, series)
    return tuple(found.values())


def _read(tool: str, repetition: Repetition) -> tuple[Series, ...]:
    match tool:
        case "fio" if not looks_like_json(repetition.raw):
            return fio_log_series(plain(repetition.raw), repetition.metrics)
        case "pgbench":
            return pgbench_series(plain(repetition.raw))
        case _:
            return ()
