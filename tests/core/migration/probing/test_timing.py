import re

import pytest

from core.errors import ParseError
from core.migration.probing.timing import Timing, parse_timing


def test_parse_timing() -> None:
    text = "Number of files: 3\nnanoseconds 1500000000\nconnect 200000000\nflush 30000000\nbytes 300\ndirect yes\n"
    assert parse_timing(text) == Timing(300, 1.5, 200_000_000, 30_000_000)


@pytest.mark.parametrize("text", ["", "bytes 5", "nanoseconds 5", "bytes 0\nnanoseconds 5", "bytes -5\nnanoseconds 5"])
def test_nothing_was_measured(text: str) -> None:
    with pytest.raises(ParseError, match=re.escape(repr(text.partition("\n")[0]))):
        parse_timing(text)
