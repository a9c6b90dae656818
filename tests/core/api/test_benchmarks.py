"""Work on two servers at once, told as one."""

import threading
from functools import partial

import pytest

from core.api.benchmarks import run_side_by_side
from core.errors import Cancelled, CommandError
from core.jobs import Event, Job, Live, Progress


def test_both_run_at_once_and_their_progress_is_one() -> None:
    heard: list[Event] = []
    met = threading.Barrier(2, timeout=20)

    def work(number: int, job: Job) -> int:
        job.report(Progress(f"step {number}", f"step {number}", 10.0 * number, 100.0, "seconds"))
        job.report(Live(f"side {number}", "read", {"read_iops": 1.0}))
        met.wait()
        return number

    assert run_side_by_side([("old", partial(work, 1)), ("new", partial(work, 2))], Job(heard.append)) == [1, 2]
    last = [event for event in heard if isinstance(event, Progress)][-1]
    assert last == Progress(
        "old:step 1;new:step 2", "old: step 1; new: step 2", 10.0, 100.0, "seconds"
    )  # 90 s are left of old's: of both too
    assert {event.source for event in heard if isinstance(event, Live)} == {"side 1", "side 2"}


def test_who_has_ended_says_no_more_how_far_it_is() -> None:
    heard: list[Event] = []
    ended = threading.Event()

    def short(job: Job) -> None:
        job.report(Progress("short", "short", 1.0, 100.0, "seconds"))

    def long(job: Job) -> None:
        job.report(Progress("long", "long", 1.0, 100.0, "seconds"))
        assert ended.wait(20)
        for _ in range(2000):
            job.report(Progress("long", "long", 60.0, 100.0, "seconds"))
            last = heard[-1]
            assert isinstance(last, Progress)
            if last.id == "new:long":
                return
            job.wait(0.01)
        raise AssertionError(heard[-1])

    def short_ends(job: Job) -> None:
        short(job)
        ended.set()

    run_side_by_side([("old", short_ends), ("new", long)], Job(heard.append))
    assert heard[-1] == Progress("new:long", "new: long", 60.0, 100.0, "seconds")


def test_different_units_cannot_be_held_against_each_other() -> None:
    heard: list[Event] = []
    met = threading.Barrier(2, timeout=20)

    def wait(job: Job) -> None:
        job.report(Progress("wait", "wait", 1, 2, "arrays"))
        met.wait()

    def read(job: Job) -> None:
        job.report(Progress("read", "read", 5, 60, "seconds"))
        met.wait()

    run_side_by_side([("old", wait), ("new", read)], Job(heard.append))
    last = heard[-1]
    assert isinstance(last, Progress)
    assert last.total is None


def test_one_failure_lets_the_other_finish() -> None:
    failed, done = threading.Event(), []

    def fail(_job: Job) -> None:
        failed.set()
        raise CommandError("the disk of old is full", exit_status=1)

    def go_on(_job: Job) -> None:
        assert failed.wait(20)
        done.append("new")

    with pytest.raises(CommandError, match="full"):
        run_side_by_side([("old", fail), ("new", go_on)], Job())
    assert done == ["new"]


def test_cancelling_stops_both() -> None:
    job = Job()
    met = threading.Barrier(3, timeout=20)

    def wait(each: Job) -> None:
        met.wait()
        each.wait(20)

    def cancel() -> None:
        met.wait()
        job.cancel()

    who = threading.Thread(target=cancel)
    who.start()
    with pytest.raises(Cancelled):
        run_side_by_side([("old", wait), ("new", wait)], job)
    who.join()
