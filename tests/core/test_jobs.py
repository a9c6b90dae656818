import threading

import pytest

from core.errors import Cancelled
from core.jobs import Event, Job, Note


def test_events_reach_the_listener() -> None:
    seen: list[Event] = []
    Job(seen.append).report(Note("hello"))
    assert seen == [Note("hello")]


def test_a_job_without_a_listener_is_silent() -> None:
    Job().report(Note("hello"))


def test_check_raises_only_after_cancel() -> None:
    job = Job()
    job.check()
    job.cancel()
    with pytest.raises(Cancelled):
        job.check()


def test_wait_ends_at_once_when_cancelled() -> None:
    job = Job()
    thread = threading.Timer(0.05, job.cancel)
    thread.start()
    with pytest.raises(Cancelled):
        job.wait(60)
    thread.join()


def test_callbacks_run_once_and_only_while_registered() -> None:
    calls: list[str] = []
    job = Job()
    with job.on_cancel(lambda: calls.append("gone")):
        pass
    with job.on_cancel(lambda: calls.append("held")):
        job.cancel()
        job.cancel()
    with job.on_cancel(lambda: calls.append("late")):
        pass
    assert calls == ["held", "late"]


def test_a_relayed_job_shares_the_cancel_and_passes_events() -> None:
    seen: list[Event] = []
    job = Job(seen.append)
    relayed = job.relay(lambda event: job.report(Note(f"relayed {event}")))
    relayed.report(Note("x"))
    assert len(seen) == 1
    calls: list[str] = []
    with relayed.on_cancel(lambda: calls.append("cancelled")):
        job.cancel()
    assert calls == ["cancelled"]
    assert relayed.cancelled
