"""pg_test_fsync: the first comparison alone, in every language."""

from pathlib import Path

import pytest

from core.benchmarks.pg_test_fsync import parse_pg_test_fsync
from core.errors import ParseError

DATA = Path(__file__).parents[2] / "data" / "pg_test_fsync"
C = (DATA / "v15-C.txt").read_text()
ONE = C[: C.index("Compare file sync methods using two")]
TWO = C[C.index("Compare file sync methods using two") :]


def test_other_comparisons_are_left_out() -> None:
    assert parse_pg_test_fsync(C) == parse_pg_test_fsync(ONE)
    with pytest.raises(
        ParseError, match=r"^pg_test_fsync: (expected |this output was cut off, or its run has no result. Expected )"
    ):
        parse_pg_test_fsync(TWO)


def test_two_runs() -> None:
    assert len(parse_pg_test_fsync(C + C).results) == 8


@pytest.mark.parametrize("block", ["8kB", "16kB", "64kB"])
def test_any_block_size(block: str) -> None:
    assert len(parse_pg_test_fsync(C.replace("one 8kB", f"one {block}")).results) == 4


def test_9_1_marks_what_was_not_direct() -> None:
    text = ONE.replace("open_datasync                 ", "open_datasync (non-direct I/O)*")
    assert parse_pg_test_fsync(text).results[0].name == "open_datasync"


@pytest.mark.parametrize("absent", ["n/a", "n/a*", "entf.", "-"])
def test_a_missing_method_is_absent(absent: str) -> None:
    text = ONE.replace("4198.877 ops/sec     238 usecs/op", absent)
    assert [result.name for result in parse_pg_test_fsync(text).results] == ["fdatasync", "fsync", "open_sync"]
