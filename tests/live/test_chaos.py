"""One round of `make chaos`, by its own command."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.machine import lab_unavailable
from tests.lab.systemd import systemd_unavailable

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(900)]
PROJECT = Path(__file__).resolve().parents[2]


def test_a_round_says_how_it_came_out() -> None:
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    words = [sys.executable, "-m", "tests.chaos.run", "--seed", "1", "--round", "2", "--fault", "pghaul killed"]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "pghaul killed" in done.stdout
    assert done.stdout.endswith("1 round of seed 1: 1 ok\n")
