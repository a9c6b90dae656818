"""Executions during which the clock of the workstation was set back."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta

from core.migration.model.execution import Execution, StepRun

BACK = timedelta(hours=3)
NEGATIVE = re.compile(r"[-\u2212]\s?\d+(?:[.,]\d+)? (?:d|h|min|s|ms|MB/s)\b")


def set_back(execution: Execution) -> Iterator[Execution]:
    """Yield the execution once for each moment at which the clock may have been set back: before or in each step."""
    for at in range(len(execution.steps)):
        for within in (False, True):
            runs = tuple(_run(run, number - at, within=within) for number, run in enumerate(execution.steps))
            ended = execution.ended_at
            yield replace(execution, steps=runs, ended_at=None if ended is None else ended - BACK)


def _run(run: StepRun, after: int, *, within: bool) -> StepRun:
    """Return the run with its times after the change; `after` is its place behind the step of the change."""
    starts_later = after > 0 or (after == 0 and not within)
    started = run.started_at - BACK if starts_later else run.started_at
    ended = run.ended_at if run.ended_at is None or after < 0 else run.ended_at - BACK
    return replace(run, started_at=started, ended_at=ended)


def negative(texts: Iterable[str]) -> list[str]:
    """Return the texts that contain a negative duration or rate."""
    return [text for text in texts if NEGATIVE.search(text)]
