"""Moves of which the clock is known, from the figures that were known before."""

import re
from pathlib import Path

import pytest

from core.migration.estimate import estimate, load_spec

SPECS = Path(__file__).parents[3] / "data" / "specs"
HOUR = 3600.0


def test_a_move_of_2011_from_its_dump_and_restore_of_2007() -> None:
    """730 GB took 24.8 h: dump 9.3 h, load 4 h, indexes 8.45 h, ANALYZE 3 h. The copy went at 50 MB/s."""
    path = SPECS / "1220gb-after-730gb.toml"
    made = estimate(load_spec(path.read_text(encoding="utf-8"), path.name))
    dump, cold = made.method("dump-restore"), made.method("cold-copy")
    assert dump is not None
    assert cold is not None
    assert dump.duration_seconds.likely == pytest.approx(40 * HOUR, rel=0.1)
    phases = {stage.name: stage.seconds.likely for stage in dump.stages}
    whole = sum(phases[name] for name in ("dump", "load", "indexes", "analyze"))
    shares = {name: seconds / whole for name, seconds in phases.items() if seconds > HOUR}
    seen = {"dump": 33480, "load": 14400, "indexes": 30420, "analyze": 10800}
    assert shares == pytest.approx({name: seconds / sum(seen.values()) for name, seconds in seen.items()}, rel=0.05)
    assert cold.duration_seconds.likely == pytest.approx(6.8 * HOUR, rel=0.02)
    assert any(re.search(r"\b50\.0 MB/s \w+ 3 h 00 min to 4 h 00 min\b", text) for text in cold.warnings)
