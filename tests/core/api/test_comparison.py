"""What was measured, picked and set side by side; outputs of others."""

import pytest

from core.api.comparison import metric_over_time
from core.api.outputs import read_outputs
from core.api.session import Session
from core.benchmarks.model import Outcome, Repetition, Run, Volume, Workload
from core.comparison.model import Verdict
from core.errors import InputError, ParseError
from core.sides import Side
from tests.core.migration.builders import NOW

METRICS = {"read_iops": 900.0, "read_latency_p99_seconds": 0.0021}
DD = "262144+0 records in\n262144+0 records out\n2147483648 bytes (2.1 GB) copied, {seconds} s, 61 MB/s\n"


def test_whose_outputs_they_are_is_found_out() -> None:
    tool, found = read_outputs([("ext3", DD.format(seconds=35.1)), ("xfs", DD.format(seconds=7.02))])
    assert (tool, found.old, found.new) == ("dd", "ext3", "xfs")
    assert found.rows[0].ratio == pytest.approx(5.0)


def test_one_output_is_shown_by_itself() -> None:
    tool, found = read_outputs([("ext3", DD.format(seconds=35.1)), ("", "  \n")], "dd")
    assert (tool, found.old, found.new) == ("dd", "ext3", "nothing else")
    assert {row.verdict for row in found.rows} == {Verdict.ONE_SIDED}


def test_over_time_any_metric_can_be_seen(session: Session) -> None:
    volume = Volume(Side.OLD, "old", "/srv/pg", "/srv/pg/pghaul-bench")
    number = session.store.run_started(Run("spring", volume, Workload("read", "reads", "fio", "read_iops"), NOW))
    session.store.repetition_ended(number, Repetition(1, NOW, 60.0, Outcome.DONE, METRICS, "fio", ""))
    session.store.run_ended(number, Outcome.DONE, NOW, "3.33")
    for metric, value in METRICS.items():
        found = metric_over_time(session, "spring", "fio", "read", metric)
        assert [(at, sample.mean) for at, sample in found.old] == [(NOW, value)]
        assert found.new == ()
    assert metric_over_time(session, "spring", "fio", "read", "write_iops").old == ()


def test_what_no_tool_printed_is_refused() -> None:
    with pytest.raises(InputError):
        read_outputs([("a", ""), ("b", "\n")])
    with pytest.raises(ParseError, match=": a"):
        read_outputs([("a", "hello")])
    with pytest.raises(ParseError, match="a: dd: expected"):
        read_outputs([("a", "hello")], "dd")
