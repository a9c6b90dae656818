"""Who is not heard of is taken for gone: a benchmark's folder goes with them."""

import subprocess
from pathlib import Path

import pytest

from core.benchmarks.keeper import SILENCE_SECONDS
from core.servers.functions import library
from tests.resources.sh.examples import SHELLS

# the lock is the machine's: it stays free for others
KEEP = library(["bench_keep"]) + '\nflock() { :; }\nbench_keep "$1" "$2" me 1 me@here\n'


@pytest.mark.slow
def test_after_a_last_beat_and_silence_the_folder_is_removed(tmp_path: Path) -> None:
    keepers = {
        tmp_path / f"pghaul-bench-{shell}": subprocess.Popen(
            [shell, "-c", KEEP, "sh", str(tmp_path), f"pghaul-bench-{shell}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for shell in SHELLS
    }
    try:
        for folder, keeper in keepers.items():
            assert keeper.stdout is not None
            assert keeper.stdin is not None
            assert keeper.stdout.readline() == b"pghaul-ready\n"
            assert (folder / ".pghaul-bench").read_text() == "me\n"
            keeper.stdin.write(b".\n")
            keeper.stdin.flush()  # and it stays open
        ends = [keeper.wait(timeout=20) for keeper in keepers.values()]
    finally:
        for keeper in keepers.values():
            with keeper:
                keeper.kill()
    assert (ends, list(tmp_path.iterdir())) == ([0, 0], [])


def test_silence_is_thirty_seconds() -> None:
    assert SILENCE_SECONDS == 30
