"""Run work on several servers at the same time, each in a thread of its own, with a combined progress."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from core.jobs import Event, Job, Progress

T = TypeVar("T")


class _CombinedProgress:
    """The combined progress of parts that run at the same time: it lasts as long as the slowest part.

    Its methods can be called from several threads.
    """

    def __init__(self, names: Sequence[str], job: Job) -> None:
        self._job = job
        self._lock = threading.Lock()
        self._parts: dict[str, Progress | None] = dict.fromkeys(names)

    def report_part(self, name: str, event: Event) -> None:
        """Report an event of one part; progress is combined with that of the others."""
        with self._lock:
            if isinstance(event, Progress):
                self._parts[name] = event
                event = self._combine(event)
            self._job.report(event)

    def end(self, name: str) -> None:
        """Mark one part as ended: from now on only the others count."""
        with self._lock:
            del self._parts[name]

    def _combine(self, last: Progress) -> Progress:
        known = {name: part for name, part in self._parts.items() if part is not None}
        title = "; ".join(f"{name}: {part.title}" for name, part in known.items())
        progress_id = ";".join(f"{name}:{part.id}" for name, part in known.items())
        totals = [part.total for part in known.values() if part.total is not None]
        # progress in the same unit can be combined; progress in different units cannot
        if (
            len(known) < len(self._parts)
            or len(totals) < len(known)
            or {part.unit for part in known.values()} != {last.unit}
        ):
            return Progress(progress_id, title, 0.0, None, last.unit)
        remaining = max(part.total - part.done for part in known.values() if part.total is not None)
        return Progress(progress_id, title, max(totals) - remaining, max(totals), last.unit)


def run_side_by_side(parts: Sequence[tuple[str, Callable[[Job], T]]], job: Job) -> list[T]:
    """Run all parts at the same time and return their results in order.

    If one fails, the others still run to their end. Then the first error is raised.

    Args:
        parts: a name for display and the function of each part.
        job: the job that reports the combined progress.
    """
    progress = _CombinedProgress([name for name, _ in parts], job)
    with ThreadPoolExecutor(len(parts), thread_name_prefix="side") as pool:
        running = [pool.submit(_carry_out, work, name, progress, job) for name, work in parts]
    return [one.result() for one in running]


def _carry_out(work: Callable[[Job], T], name: str, progress: _CombinedProgress, job: Job) -> T:
    try:
        return work(job.relay(partial(progress.report_part, name)))
    finally:
        progress.end(name)
