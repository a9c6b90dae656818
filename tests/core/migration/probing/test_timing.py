import re

import pytest

from core.errors import ParseError
from core.migration.probing.timing import Timing, parse_timing, ratio_of


def test_parse_timing() -> None:
    text = "Number of files: 3\nnanoseconds 1500000000\nconnect 200000000\nflush 30000000\nbytes 300\ndirect yes\n"
    assert parse_timing(text) == Timing(300, 1.5, 200_000_000, 30_000_000)


@pytest.mark.parametrize("text", ["", "bytes 5", "nanoseconds 5", "bytes 0\nnanoseconds 5", "bytes -5\nnanoseconds 5"])
def test_nothing_was_measured(text: str) -> None:
    with pytest.raises(ParseError, match=re.escape(repr(text.partition("\n")[0]))):
        parse_timing(text)


def test_of_a_sample_that_was_cut_off_nothing_tells_how_it_shrank() -> None:
    """The pass over small files prints how far these shrank; the one over large files was ended ahead of that."""
    first = "Literal data: 5,161,472 bytes\nTotal bytes sent: 645,184\n"
    whole = f"{first}Literal data: 94,838,528 bytes\nTotal bytes sent: 94,354,816\nnanoseconds 1\n"
    assert ratio_of(whole) == pytest.approx(100 / 95, rel=0.001)
    assert ratio_of(f"{first}nanoseconds 1\nconnect 1\ncut off\n") is None
    assert ratio_of("nanoseconds 1\n") is None
