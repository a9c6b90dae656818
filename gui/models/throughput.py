"""The rate of the copy over time, while the page is shown: as much of it as fits into a curve."""

import math
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from core import units
from core.api.model import ExecutionState
from core.language import tr
from core.tones import Tone
from gui.models.chart import Axis, Chart, Mark, Path, scale, times

MOST = 600
"""So many points are kept. When there are more, each two neighbours become one."""
LONGEST_SECONDS = 5.0
"""So long without any news of the copy counts as a rate of zero. What copies records its progress more often."""
GAP = 3.0
"""The line is broken where this many times as long passes between two points as is usual."""
MEGA = 1e6

Point = tuple[float, float]
"""Seconds since the first look, and bytes a second."""


class Throughput:
    """Collects the rate of one execution, from what each look at it finds."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self._began: datetime | None = None
        self._before: tuple[datetime, dict[int, int]] | None = None

    def take(self, state: ExecutionState) -> None:
        """Take the bytes that the running steps have copied. What is told again says nothing of them."""
        if state.told_again:
            return
        execution, at = state.execution, state.read_at
        steps = () if execution is None or not state.alive else execution.steps
        running = {run.id: run.bytes for run in steps if run.ended_at is None and run.bytes is not None}
        if at is None or not running:
            self._before = None
            return
        if self._before is not None:
            self._add(at, running, *self._before)
        if self._before is None or self._before[1] != running:
            self._before = (at, running)

    def _add(self, at: datetime, running: dict[int, int], since: datetime, before: dict[int, int]) -> None:
        seconds = (at - since).total_seconds()
        if seconds <= 0 or (running == before and seconds < LONGEST_SECONDS):
            return
        self._began = self._began or since
        gained = sum(max(0, done - before.get(number, done)) for number, done in running.items())
        self.points.append(((at - self._began).total_seconds(), gained / seconds))
        if running == before:
            self._before = (at, running)
        if len(self.points) > MOST:
            pairs = zip(self.points[::2], self.points[1::2], strict=False)
            newest = self.points[-1:] if len(self.points) % 2 else []
            self.points = [*(((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in pairs), *newest]


def throughput_chart(points: Sequence[tuple[float, float]]) -> Chart | None:
    """Return the curve of a copy; None of fewer than two points that can be shown."""
    known = [(at, rate / MEGA) for at, rate in points if math.isfinite(at) and math.isfinite(rate) and rate >= 0]
    if len(known) < 2:
        return None
    usual = max(LONGEST_SECONDS, (known[-1][0] - known[0][0]) / len(known))
    lines: list[list[Point]] = [[known[0]]]
    for before, after in pairwise(known):
        if after[0] - before[0] > GAP * usual:
            lines.append([])
        lines[-1].append(after)
    marks: tuple[Mark, ...] = tuple(Path(tuple(line), Tone.ACCENT, filled=True) for line in lines)
    last, most = known[-1][1], max(rate for _, rate in known)
    across = times(known[-1][0])
    return Chart(
        tr("Throughput (MB/s)"),
        tr("Throughput of the copy over time"),
        tr("now {now}, at most {most}").format(now=units.rate(last * MEGA), most=units.rate(most * MEGA)),
        Axis(min(0.0, across.low), across.high, across.ticks),
        scale(most, 1.1),
        marks,
        ((last, units.rate(last * MEGA)),),
        lines=4,
    )
