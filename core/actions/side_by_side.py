"""Work on several servers at once, told as one: each on a thread of its own, their progress put together."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from core.jobs import Event, Job, Progress

T = TypeVar("T")


class _Together:
    """The progress of parts that run at once, as that of one work: it lasts as long as the part that has most left.

    Safe to be told from several threads.
    """

    def __init__(self, names: Sequence[str], job: Job) -> None:
        self._job = job
        self._lock = threading.Lock()
        self._parts: dict[str, Progress | None] = dict.fromkeys(names)

    def tell(self, name: str, event: Event) -> None:
        """Pass on what one part reports."""
        with self._lock:
            if isinstance(event, Progress):
                self._parts[name] = event
                event = self._whole(event)
            self._job.report(event)

    def end(self, name: str) -> None:
        """One part has come to its end: from now on the others say how far the work is."""
        with self._lock:
            del self._parts[name]

    def _whole(self, last: Progress) -> Progress:
        told = {name: part for name, part in self._parts.items() if part is not None}
        title = "; ".join(f"{name}: {part.title}" for name, part in told.items())
        totals = [part.total for part in told.values() if part.total is not None]
        # as seconds they can be held against each other; as different things they cannot
        if (
            len(told) < len(self._parts)
            or len(totals) < len(told)
            or {part.unit for part in told.values()} != {last.unit}
        ):
            return Progress(title, 0.0, None, last.unit)
        left = max(part.total - part.done for part in told.values() if part.total is not None)
        return Progress(title, max(totals) - left, max(totals), last.unit)


def side_by_side(parts: Sequence[tuple[str, Callable[[Job], T]]], job: Job) -> list[T]:
    """The results of all parts, in their order. `parts`: a name for people, and what to do.

    Where one fails, the others are carried out to their end; then the first failure is raised.
    """
    together = _Together([name for name, _ in parts], job)
    with ThreadPoolExecutor(len(parts), thread_name_prefix="side") as pool:
        running = [pool.submit(_carry_out, work, name, together, job) for name, work in parts]
    return [one.result() for one in running]


def _carry_out(work: Callable[[Job], T], name: str, together: _Together, job: Job) -> T:
    try:
        return work(job.relay(partial(together.tell, name)))
    finally:
        together.end(name)
