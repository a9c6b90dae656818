"""Who is not heard of is taken for gone: a benchmark's folder goes with them."""

import subprocess
import time
from pathlib import Path

import pytest

from core.benchmarks.folders import SILENCE_SECONDS
from core.servers.functions import library
from tests.resources.sh.examples import SHELLS

# the lock is the machine's: it stays free for others
KEEP = library(["bench_keep"]) + '\nflock() { :; }\nbench_keep "$1" "$2" me 1 me@here\n'


@pytest.mark.slow
def test_after_a_last_beat_and_silence_the_folder_is_removed(tmp_path: Path) -> None:
    begun = time.monotonic()
    keepers = [
        subprocess.Popen(
            [shell, "-c", KEEP, "sh", str(tmp_path), f"pghaul-bench-{shell}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for shell in SHELLS
    ]
    try:
        for keeper in keepers:
            assert keeper.stdin is not None
            keeper.stdin.write(b".\n")
            keeper.stdin.flush()  # and it stays open
        ends = [keeper.wait(timeout=20) for keeper in keepers]
        assert (ends, list(tmp_path.iterdir())) == ([0, 0], [])
        assert time.monotonic() - begun >= 1
        assert [keeper.stdout.read() for keeper in keepers if keeper.stdout is not None] == [b"pghaul-ready\n"] * 2
    finally:
        for keeper in keepers:
            with keeper:
                keeper.kill()


def test_silence_is_thirty_seconds() -> None:
    assert SILENCE_SECONDS == 30
