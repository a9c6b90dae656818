"""What is measured once more, and what is not."""

from typing import cast

import pytest

from core.errors import Cancelled, CommandError, ParseError
from core.jobs import Job, Note
from core.migration.probing.taking import Measured, again_if_nothing

NOTHING = ParseError("a probe measured nothing")


class Tries:
    """A measurement whose tries end so, one after another; a text is what it measured."""

    def __init__(self, *ends: str | Exception) -> None:
        self.ends, self.begun = ends, 0

    def __call__(self) -> Measured:
        self.begun += 1
        end = self.ends[self.begun - 1]
        if isinstance(end, Exception):
            raise end
        return cast("Measured", end)


def test_what_measured_nothing_is_measured_once_more_and_that_is_said() -> None:
    said: list[object] = []
    tries = Tries(NOTHING, "measured")
    assert again_if_nothing(tries, "the sample", Job(said.append)) == cast("Measured", "measured")
    assert [type(each) for each in said] == [Note]


def test_what_measured_something_is_measured_once() -> None:
    said: list[object] = []
    tries = Tries("measured", "more")
    again_if_nothing(tries, "the sample", Job(said.append))
    assert (tries.begun, said) == (1, [])


@pytest.mark.parametrize("ends", [(NOTHING, NOTHING, "third"), (CommandError("it failed"), "second")])
def test_there_is_no_third_try_and_none_after_another_error(ends: tuple[str | Exception, ...]) -> None:
    tries = Tries(*ends)
    with pytest.raises((ParseError, CommandError)):
        again_if_nothing(tries, "the sample", Job())
    assert tries.begun == len(ends) - 1


def test_there_is_no_second_try_of_a_cancelled_job() -> None:
    job, tries = Job(), Tries(NOTHING, "measured")
    job.cancel()
    with pytest.raises(Cancelled):
        again_if_nothing(tries, "the sample", job)
    assert tries.begun == 1
