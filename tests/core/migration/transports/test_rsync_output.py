"""rsync's own account of a run: numbers in every locale's dress, cut-off outputs, several runs."""

from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ParseError
from core.migration.transports.rsync_output import parse_rsync

DATA = Path(__file__).parents[3] / "data" / "rsync"
SAMPLES = [path.read_bytes().decode() for path in sorted(DATA.glob("*.txt"))]
SUMMARY = "sent {} bytes  received 43 bytes  {} bytes/sec\ntotal size is {}  speedup is {}\n"


@pytest.mark.parametrize(
    ("sent", "rate", "total", "speedup", "values"),
    [
        ("1234567", "411523.33", "2469134", "2.00", (1234567, 411523.33, 2469134, 2.0)),
        ("1,234,567", "411,523.33", "2,469,134", "2.00", (1234567, 411523.33, 2469134, 2.0)),
        ("1.234.567", "411.523,33", "2.469.134", "2,00", (1234567, 411523.33, 2469134, 2.0)),
        ("1\u202f234\u202f567", "411\u202f523,33", "2\u202f469\u202f134", "2,00", (1234567, 411523.33, 2469134, 2.0)),
        ("1'234'567", "411'523.33", "2'469'134", "2.00", (1234567, 411523.33, 2469134, 2.0)),
        ("1.23M", "411.52K", "2.47M", "2.01", (1230000, 411520.0, 2470000, 2.01)),
        ("1,23M", "411,52K", "2,47G", "2.009,35", (1230000, 411520.0, 2470000000, 2009.35)),
        ("999", "83.00", "1,000", "1,234.50", (999, 83.0, 1000, 1234.5)),
        ("1.01T", "99.50M", "2.02P", "2,000.00", (1010000000000, 99.5e6, 2020000000000000, 2000.0)),
    ],
)
def test_numbers_in_every_dress(sent: str, rate: str, total: str, speedup: str, values: tuple[float, ...]) -> None:
    read = parse_rsync(SUMMARY.format(sent, rate, total, speedup))
    assert (read.bytes_sent, read.bytes_per_second, read.total_size_bytes, read.speedup) == values
    assert (read.bytes_received, read.dry_run, read.files) == (43, False, None)


def test_a_dry_run_is_marked() -> None:
    assert parse_rsync(SUMMARY.format(1, "1.00", 1, "1.00 (DRY RUN)")).dry_run


def test_of_several_runs_the_last_counts_with_its_own_block() -> None:
    stats = (DATA / "v3.5.0-a-stats.txt").read_text()
    plain = SUMMARY.format("7", "1.00", "8", "1.00")
    assert parse_rsync(plain + stats).files == 5
    last = parse_rsync(stats + plain)
    assert (last.bytes_sent, last.files, last.literal_bytes) == (7, None, None)


@pytest.mark.parametrize(
    "text",
    ["", "\n", "rsync: connection unexpectedly closed", "sent bytes", "          6.11G  38%   86.46MB/s    0:01:07\n"],
)
def test_no_summary(text: str) -> None:
    with pytest.raises(ParseError, match=r"^rsync: ") as caught:
        parse_rsync(text)
    assert " ".join(text.split()) in caught.value.message


@pytest.mark.slow
@pytest.mark.parametrize("text", SAMPLES)
def test_a_cut_off_output_says_nothing_that_the_whole_does_not(text: str) -> None:
    whole = asdict(parse_rsync(text))
    for cut in range(len(text)):
        try:
            part = asdict(parse_rsync(text[:cut]))
        except ParseError:
            continue
        if text[cut:].rstrip().lstrip(" (") in "DRY RUN)" or text[cut:].startswith(" (DRY RUN)"):
            part.pop("dry_run")  # only these words at the very end tell
        for name, value in part.items():
            assert value is None or value == pytest.approx(whole[name], rel=0.001), (cut, name)


@given(st.sampled_from(SAMPLES), st.data())
def test_damage_never_crashes(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from(["9" * 30, "9" * 5000, ",", ".", "G", "\0", "²", "\n"]) | st.text(max_size=5))
    try:
        read = parse_rsync(text[:start] + piece + text[start + data.draw(st.integers(0, 9)) :])
    except ParseError:
        return
    assert all(value is None or value >= 0 for value in asdict(read).values())
