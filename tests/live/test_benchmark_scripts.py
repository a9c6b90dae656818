"""Every script in `benchmarks/` runs to its end, as small as it can be asked to; its figures are not judged here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
SMALLEST = {
    "beside": ("0.1",),
    "by_hand": ("0.1",),
    "checks": ("1",),
    "copying": ("0.1", "pgbench"),
    "estimate": ("--only", "5", "--ways", "warm", "--keep", "{folder}"),
    "facts": ("1",),
    "history": ("1000", "100"),
    "lists": ("1000",),
    "pgbench": ("1",),
    "plan": (),
    "published": (),
    "reports": (),
    "stopping": ("0.1",),
    "survey": ("3",),
    "window": ("300", "1"),
}
"""The words with which each takes the least."""
MISSED = 1
"""Ends so where a figure misses its bound, as some must that are measured beside other tests."""


def scripts() -> list[str]:
    """The names of those that can be started; the other files are parts of these."""
    return sorted(path.stem for path in (TOP / "benchmarks").glob("*.py") if "__main__" in path.read_text("utf-8"))


@pytest.mark.long
@pytest.mark.lab
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", scripts())
def test_a_benchmark_runs_to_its_end(name: str, tmp_path: Path) -> None:
    words = [word.format(folder=tmp_path) for word in SMALLEST[name]]
    ran = subprocess.run(
        [sys.executable, "-P", f"benchmarks/{name}.py", *words],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in {0, MISSED}, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    assert "FAILED" not in ran.stdout
    assert any(character.isdigit() for character in ran.stdout)
