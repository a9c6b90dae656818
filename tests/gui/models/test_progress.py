from dataclasses import replace

import pytest

from core import units
from core.api.execution import RunningStep
from core.jobs import Progress
from core.migration.execution.status import unfinished
from gui.models.progress import Stage, Told, find_stage, remaining, tell_execution, title, words
from tests.core.migration.execution.builders import STEP, execution
from tests.figures import figures

GIB = 1 << 30
COPY = Stage("copy", 0.0, 0.0)


def test_words_say_bytes_time_and_what_is_left() -> None:
    text = words(Progress("copy", "copy", 3 * GIB, 12 * GIB, "bytes"), COPY, 100.0)
    assert said(text) == [["3.0 GiB", "12.0 GiB"], ["32.2 MB/s"], ["1 min 40 s"], ["5 min 00 s"]]


def said(words: str) -> list[list[str]]:
    """The figures of each part of the line beside the bar."""
    return [figures(part) for part in words.split(" · ")]


def test_steps_and_seconds() -> None:
    assert said(words(Progress("checks", "checks", 2, 8), COPY, 1.0)) == [["2", "8"], ["1.0 s"]]
    assert said(words(Progress("run", "run", 15, 60, "seconds"), Stage("", 0.0, 0.0), 15.0)) == [["15 s"], ["45 s"]]


def test_what_is_slower_than_its_forecast_is_left_for_longer() -> None:
    first = find_stage(Progress("read, 1 of 3", "read, 1 of 3", 0, 100, "seconds", "old (1 of 2)"), 2.0, None)
    later = Progress("write, 2 of 3", "write, 2 of 3", 50, 100, "seconds", "old (1 of 2)")
    assert find_stage(later, 60.0, first) is first  # one work, whatever its parts are called
    assert remaining(later, first, 2.5) == 50  # too early to tell: as it was forecast
    assert remaining(later, first, 152.0) == pytest.approx(150.0)
    assert said(words(later, first, 152.0)) == [["2 min 32 s"], ["2 min 30 s"]]


@pytest.mark.parametrize(
    ("progress", "elapsed"),
    [
        (Progress("copy", "copy", 5, None, "bytes"), 100.0),  # nobody knows the total
        (Progress("copy", "copy", 5, 10, "bytes"), 1.0),  # too early
        (Progress("copy", "copy", 1, 1000, "bytes"), 100.0),  # too little
        (Progress("copy", "copy", 0, 10, "bytes"), 100.0),  # nothing yet
        (Progress("copy", "copy", 12, 10, "bytes"), 100.0),  # the total was wrong
        (Progress("copy", "copy", 0, 0, "bytes"), 100.0),
    ],
)
def test_no_time_is_said_where_none_is_known(progress: Progress, elapsed: float) -> None:
    assert remaining(progress, COPY, elapsed) is None
    assert figures(words(progress, COPY, elapsed))[-1] == units.duration(elapsed)  # what has elapsed comes last


def test_a_new_stage_starts_its_own_clock() -> None:
    first = find_stage(Progress("read", "read", 5, 10), 2.0, None)
    assert find_stage(Progress("read", "read", 9, 10), 50.0, first) is first
    second = find_stage(Progress("write", "write", 0, 10), 60.0, first)
    assert second == Stage("write", 60.0, 0)
    assert remaining(Progress("write", "write", 5, 10), second, 70.0) == pytest.approx(10.0)


def test_the_same_stage_again_from_its_beginning_is_a_new_one() -> None:
    first = find_stage(Progress("repetition", "repetition", 9, 10), 2.0, Stage("repetition", 0.0, 3.0))
    assert first == Stage("repetition", 0.0, 3.0)
    assert find_stage(Progress("repetition", "repetition", 0, 10), 30.0, first) == Stage("repetition", 30.0, 0)


def test_without_progress_the_time_alone() -> None:
    assert said(words(None, None, 0.2)) == [["0 s"]]
    assert said(words(None, None, 75.0)) == [["1 min 15 s"]]


def test_of_a_long_work_the_whole_is_said_too() -> None:
    whole = "step 23 of 51, old stopped 2 min 13 s ago"
    steps = Progress("old: stop old", "old: stop old", 22, 51, "steps", whole)
    assert said(words(steps, find_stage(steps, 0, None), 5)) == [["5.0 s"]]
    copied = Progress("old: final pass", "old: final pass", 3 * GIB, 12 * GIB, "bytes", whole)
    assert said(words(copied, COPY, 100)) == [["3.0 GiB", "12.0 GiB"], ["32.2 MB/s"]]
    assert title("Moving spring", copied) == f"{whole}: {copied.title}"
    assert title("Probing", Progress("", "", 1, 3)) == "Probing"


def test_of_an_execution_only_what_the_other_places_tell() -> None:
    """Its own figures are of another time than those of the banner and the page."""
    copied = Progress("copy", "Copy", 3 * GIB, 12 * GIB, "bytes", "step 23 of 51, about 2 min left", "old", 7)
    told = Told("step 24 of 51, about 1 min 50 s left", "Copy", "3.1 GiB of 12.0 GiB")
    assert figures(title("Moving spring", copied, told)) == figures(told.position)
    assert words(copied, COPY, 100.0, told) == told.amount
    assert title("Moving spring", copied, replace(told, title="Stop", server="db1")) == f"{told.position}: db1: Stop"
    assert figures(title("Moving spring", copied)) == []  # before the first look
    assert said(words(copied, COPY, 100.0)) == said(words(copied, COPY, 100.0, replace(told, amount="")))
    assert said(words(copied, COPY, 100.0)) == [["1 min 40 s"]]


def test_the_amount_is_told_of_one_running_step() -> None:
    made = execution(STEP)
    found = unfinished(made, made.started_at, alive=True)
    assert found is not None
    copying = RunningStep("Copy", 90.0, 3 * GIB, 12 * GIB, 20e6, "db1")
    one = tell_execution(found, (copying,))
    assert (one.title, one.server, figures(one.amount)) == ("Copy", "db1", ["3.0 GiB", "12.0 GiB", "20.0 MB/s"])
    both = tell_execution(found, (copying, replace(copying, title="Sums")))
    assert (both.title, both.server, both.amount) == ("Copy, Sums", "", "")
    assert one.position == both.position == found.at
