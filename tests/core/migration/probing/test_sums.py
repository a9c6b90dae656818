"""The probe of checksums: as much as there is time for."""

from pathlib import Path

import pytest

from core.migration.probing import commands
from core.migration.probing.timing import parse_timing
from tests.core.migration.running import program, run

CLOCK = """echo >>read
looks=0
while read -r _; do looks=$((looks + 1)); done <read
case $looks in
  1) echo 1000000000 ;; 2) echo 1700000000 ;; 3) echo 2000000000 ;; 4) echo 2100000000 ;;
  5) echo 3000000000 ;; *) echo 10000000000 ;;
esac"""
"""A first piece for which the program is loaded, one that takes a tenth of a second, and then enough of them."""


@pytest.mark.parametrize("name", ["openssl", "sha256sum"])
def test_without_time_the_first_piece_alone_is_summed_and_its_checksum_is_right(name: str) -> None:
    done = run(commands.sums(name, 2, 0))
    assert (done.returncode, done.stderr) == (0, "")
    assert parse_timing(done.stdout).bytes == 2 * commands.SUMMED_BYTES


@pytest.mark.parametrize(("seconds", "pieces"), [(1, 9), (2, 19)])
def test_the_second_piece_shows_how_much_more_there_is_time_for(tmp_path: Path, seconds: int, pieces: int) -> None:
    program(tmp_path / "programs/date", CLOCK)
    done = run(commands.sums("openssl", 1, seconds), folder=tmp_path, programs=tmp_path / "programs")
    assert (done.returncode, done.stderr) == (0, "")
    timing = parse_timing(done.stdout)
    assert (timing.bytes, timing.seconds) == (pieces * commands.SUMMED_BYTES, 7.0)
