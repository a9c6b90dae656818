from pathlib import Path

import pytest

from core.errors import ParseError
from core.migration.probing.timing import Timing, parse_iperf3, parse_timing

IPERF3 = Path(__file__).parents[2] / "data" / "iperf3"


def test_parse_timing() -> None:
    text = "Number of files: 3\nnanoseconds 1500000000\nconnect 200000000\nbytes 300\ndirect yes\n"
    assert parse_timing(text) == Timing(300, 1.5, 0.2)


@pytest.mark.parametrize("text", ["", "bytes 5", "nanoseconds 5", "bytes 0\nnanoseconds 5", "bytes -5\nnanoseconds 5"])
def test_nothing_was_measured(text: str) -> None:
    with pytest.raises(ParseError, match="measured nothing"):
        parse_timing(text)


def test_parse_iperf3() -> None:
    timing = parse_iperf3((IPERF3 / "3.12-tcp.json").read_text())
    assert timing.seconds == pytest.approx(3.0, abs=0.1)
    assert timing.bytes * 8 / timing.seconds == pytest.approx(957e6, rel=0.03)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("iperf3: error", "no JSON"),
        ('{"start": {', "no JSON"),
        ('{"error": "unable to connect to server: Connection refused", "end": {}}', "Connection refused"),
        ('{"end": {}}', "no received bytes"),
        ('{"end": {"sum_received": {"bytes": 0, "seconds": 3}}}', "no received bytes"),
        ('{"end": {"sum_received": {"bytes": "x", "seconds": 3}}}', "no received bytes"),
        ('{"end": []}', "no received bytes"),
    ],
)
def test_iperf3_without_a_result(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        parse_iperf3(text)
