from datetime import UTC, datetime, timedelta

import pytest

from core.migration.execution.passes import (
    MOST,
    FinishedPasses,
    PrecopyPass,
    estimate_gain,
    is_another_pass_worthwhile,
    is_last_pass_outdated,
    is_pass_due_while_waiting,
)


def test_a_first_pass_of_seconds_is_enough() -> None:
    assert not is_another_pass_worthwhile([PrecopyPass(4.9, 1_000_000)])
    assert is_another_pass_worthwhile([PrecopyPass(600, 60_000_000_000)])


def test_a_first_pass_during_which_little_was_touched_is_enough() -> None:
    """100 MB/s: 400 MB are sent whole in 4 s; so many were touched in 600 s, and six times as many in an hour."""
    quiet = [PrecopyPass(600, 60_000_000_000, left=400_000_000)]
    assert estimate_gain(quiet) == pytest.approx(4.0)
    assert not is_another_pass_worthwhile(quiet)
    assert is_another_pass_worthwhile([PrecopyPass(600, 60_000_000_000, left=600_000_000)])
    assert estimate_gain([PrecopyPass(600, 60_000_000_000, left=90_000_000_000)]) == 600
    assert estimate_gain(quiet, 3000) == pytest.approx(24.0)
    assert is_last_pass_outdated(quiet, 3000)
    assert estimate_gain([PrecopyPass(600, 0, left=0)]) == 600


def test_what_came_during_the_last_pass_is_what_the_next_one_would_spare() -> None:
    """100 MB/s; 10 MB of changes a second of copying: each pass leaves a tenth of the one before."""
    first, second = PrecopyPass(1000, 100_000_000_000), PrecopyPass(100, 10_000_000_000)
    assert estimate_gain([first, second]) == pytest.approx(0.1 * (100 - 10))
    assert is_another_pass_worthwhile([first, second])
    assert not is_another_pass_worthwhile([first, second, PrecopyPass(10, 1_000_000_000)])


def test_the_look_at_every_file_is_no_gain() -> None:
    """The second pass took its time to look, not to send: a third takes as long."""
    assert not is_another_pass_worthwhile([PrecopyPass(1000, 100_000_000_000), PrecopyPass(60, 1_000_000)])


def test_a_cluster_that_changes_as_fast_as_it_is_copied_is_not_copied_for_ever() -> None:
    same = PrecopyPass(1000, 100_000_000_000)
    assert not is_another_pass_worthwhile([same, same])
    shorter = [PrecopyPass(1000 * 0.9**number, None) for number in range(MOST)]
    assert is_another_pass_worthwhile(shorter[:-1])
    assert not is_another_pass_worthwhile(shorter)


def test_without_bytes_the_seconds_alone_tell() -> None:
    assert estimate_gain([PrecopyPass(100, None), PrecopyPass(40, None)]) == 60
    assert not is_another_pass_worthwhile([PrecopyPass(100, None), PrecopyPass(99, None)])


@pytest.mark.parametrize(
    ("waited", "left", "made"),
    [
        (0, 199, False),  # nothing has changed since
        (60, 7200, False),
        (899, 7200, False),
        (900, 7200, True),
        (300, 199, True),  # the last one ends shortly before the question
        (300, 201, False),
        (900, 99, False),  # it would delay the question
    ],
)
def test_passes_while_the_question_is_waited_for(*, waited: float, left: float, made: bool) -> None:
    """The files change by 20 MB/s, and 100 MB/s are sent."""
    copied = (PrecopyPass(1000, 100_000_000_000), PrecopyPass(100, 20_000_000_000))
    ended = datetime.now(UTC) - timedelta(seconds=waited + 0.5)
    assert is_pass_due_while_waiting(FinishedPasses(copied, ended), left) is made
    quiet = (copied[0], PrecopyPass(100, 0))
    assert not is_pass_due_while_waiting(FinishedPasses(quiet, ended), left)
    assert not is_pass_due_while_waiting(FinishedPasses((), None), left)


def test_what_came_while_people_were_waited_for_is_worth_a_pass() -> None:
    """1 MB of changes a second at 100 MB/s: 10 s of them are no matter, three hours of them are 108 s of stop."""
    copied = [PrecopyPass(1000, 100_000_000_000), PrecopyPass(10, 1_000_000_000)]
    assert not is_last_pass_outdated(copied, 10)
    assert estimate_gain(copied, 10_790) == pytest.approx(0.01 * (10_800 - 108))
    assert is_last_pass_outdated(copied, 10_790)
    assert not is_last_pass_outdated([], 10_790)


def test_the_change_is_reckoned_from_one_beginning_to_the_next() -> None:
    """A pass that sent three hours of changes says nothing of those of the seconds that it took."""
    late = PrecopyPass(108, 10_800_000_000, after=10_800)
    assert not is_last_pass_outdated([PrecopyPass(1000, 100_000_000_000), PrecopyPass(10, 1_000_000_000), late], 60)
    assert is_last_pass_outdated([PrecopyPass(1000, 100_000_000_000), PrecopyPass(10, 1_000_000_000), late], 3600)
