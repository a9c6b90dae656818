"""`pghaul estimate`: what it says."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.cli.estimate import by_stage_text, estimate_text, record_text
from core.cli.main import main
from core.migration.estimate import estimate, load_spec
from core.migration.execution.record import EstimateComparison
from core.migration.model.estimate import Span, method_title
from core.migration.model.execution import Kind
from tests.core.migration.builders import NOW


def row(stage: str, likely: float, seconds: float) -> EstimateComparison:
    return EstimateComparison(
        3, "spring", Kind.REHEARSAL, NOW + timedelta(0), stage, Span(0.5 * likely, likely, 2 * likely), seconds
    )


def test_the_record_says_how_good_the_estimates_were() -> None:
    text = record_text([row("prepare", 4, 4), row("warm passes", 100, 400), row("stop old", 2, 0.5)])
    assert "spring, copy rehearsal" in text
    assert "spring, dress rehearsal" in record_text([replace(row("prepare", 4, 4), dressed=True)])
    assert ": 1 of 3" in text
    assert [word in text for word in ("within", "above high", "below low")] == [True] * 3
    assert " 1.00 × " in text
    assert record_text([]).startswith("no move or rehearsal")


def test_each_stage_has_its_own_hit_rate_and_bias() -> None:
    """In the order of a plan, the whole at the end."""
    of_all = [row("whole", 10, 30), row("stop old", 2, 2), row("prepare", 4, 8), row("prepare", 4, 32)]
    lines = [line.split() for line in by_stage_text(of_all).splitlines()[1:]]
    assert [line for line in lines if line[0][0].isalpha()] == [
        ["Preparation", "2", "50", "%", "4.00", "×"],
        ["Stop", "of", "the", "old", "cluster", "1", "100", "%", "1.00", "×"],
        ["Whole", "move", "1", "0", "%", "3.00", "×"],
    ]
    assert by_stage_text([]) == ""


def test_a_record_without_executions_and_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--record", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "record": [],
        "hit_rate": None,
        "bias": None,
        "stages_of_all_moves": [],
    }
    assert main(["estimate", "--record", "--spec", "x"]) == 2
    assert main(["estimate", "--record", "--price", "9"]) == 2


def test_what_cannot_be_taken_says_why_and_stages_say_where_they_come_from() -> None:
    text = estimate_text(
        estimate(load_spec("[cluster]\nsize_bytes = 1e12\n[old]\nversion = 13\n[new]\nversion = 17", "x"))
    )
    assert f"({method_title('cold-copy')})" in text
    ruled_out = ", ".join(map(method_title, ("cold-copy", "warm-copy", "streaming-replica")))
    assert re.search(rf"{ruled_out} .*\b17\b.*\b13\b", text, re.MULTILINE)
    plain = estimate_text(estimate(load_spec("[cluster]\nsize_bytes = 1e12", "x")))
    assert f"stages of {method_title('warm-copy')}:" in plain
    assert [line for line in plain.splitlines() if re.search(r"^Stop of the old cluster .* assumed$", line)]
    assert "space on the new server" in plain
    replica = next(line for line in plain.splitlines() if line.startswith(method_title("streaming-replica")))
    assert "931.3 GiB, on the old server" in replica  # it keeps the WAL of the base copy


def test_a_move_that_files_cannot_make_promises_no_downtime() -> None:
    made = estimate(load_spec("[cluster]\nsize_bytes = 1e12\n[old]\nversion = 13\n[new]\nversion = 17", "x"))
    first = estimate_text(replace(made, planned="warm-copy")).splitlines()[0]
    assert re.search(r"^pghaul execute .*PostgreSQL 17\b", first)
    assert not re.search(r"\d (s|min|h)\b", first)


def test_verify_all_is_priced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text("[cluster]\nsize_bytes = 1.22e12\n[copy]\nobserved_bytes_per_second = 50e6\n")

    def stop(*options: str) -> float:
        assert main(["estimate", "--spec", str(spec), "--json", *options]) == 0
        methods = {each["method"]: each for each in json.loads(capsys.readouterr().out)["methods"]}
        return float(methods["cold-copy"]["downtime_seconds"]["likely"])

    assert stop("--verify", "all") > stop() + 3600
