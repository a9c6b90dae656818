"""Verdicts on known samples, and which runs are held against each other."""

from datetime import UTC, datetime

import pytest

from core.benchmarks.model import Metrics, Outcome, Parameter, Repetition, Run, Side, Volume, Workload
from core.comparison.compare import compare
from core.comparison.model import Row, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_run(
    side: Side,
    *metrics: Metrics,
    name: str = "w",
    outcomes: tuple[Outcome, ...] = (),
    parameters: dict[str, Parameter] | None = None,
    number: int = 1,
    cached: bool = False,
) -> Run:
    outcomes = outcomes or (Outcome.DONE,) * len(metrics)
    return Run(
        move="m",
        volume=Volume(side, f"srv-{side}", "/srv/pg", "/srv/pg/x"),
        workload=Workload(name, name, "fio", "read_iops", parameters or {"jobs": 5}),
        started_at=NOW,
        outcome=Outcome.DONE,
        repetitions=tuple(
            Repetition(position, NOW, 1.0, outcome, values, "fio", "", cached=cached)
            for position, (values, outcome) in enumerate(zip(metrics, outcomes, strict=True), 1)
        ),
        id=number,
    )


def iops(*values: float) -> list[Metrics]:
    return [{"read_iops": value} for value in values]


def only_row(old: Run, new: Run) -> Row:
    (row,) = compare([old], [new]).rows
    return row


def test_new_faster() -> None:
    row = only_row(a_run(Side.OLD, *iops(900, 903, 899)), a_run(Side.NEW, *iops(8000, 7998, 7990)))
    assert row.verdict is Verdict.NEW
    assert row.ratio == 7998 / 900
    assert row.ratio_low is not None
    assert row.ratio_high is not None
    assert row.ratio_low <= row.ratio <= row.ratio_high
    assert row.headline


def test_old_faster() -> None:
    row = only_row(a_run(Side.OLD, *iops(900, 903, 899)), a_run(Side.NEW, *iops(450, 451, 449)))
    assert row.verdict is Verdict.OLD


def test_noise_is_no_difference() -> None:
    row = only_row(a_run(Side.OLD, *iops(900, 1100, 1000)), a_run(Side.NEW, *iops(1050, 950, 1020)))
    assert row.verdict is Verdict.NONE


def test_a_difference_finer_than_any_tool_is_none() -> None:
    row = only_row(a_run(Side.OLD, *iops(900, 900, 900)), a_run(Side.NEW, *iops(901, 901, 901)))
    assert row.verdict is Verdict.NONE


def test_two_repetitions_need_a_clear_difference() -> None:
    old = a_run(Side.OLD, *iops(1000, 1001))
    assert only_row(old, a_run(Side.NEW, *iops(1080, 1081))).verdict is Verdict.NONE
    assert only_row(old, a_run(Side.NEW, *iops(1200, 1201))).verdict is Verdict.NEW


@pytest.mark.parametrize(
    ("old_cached", "new_cached", "direct", "verdict"),
    [
        (False, True, False, Verdict.UNLIKE),
        (True, False, False, Verdict.UNLIKE),
        (True, True, False, Verdict.NEW),
        (False, True, True, Verdict.NEW),
    ],
)
def test_memory_is_not_held_against_a_disk(old_cached: bool, new_cached: bool, direct: bool, verdict: Verdict) -> None:
    parameters: dict[str, Parameter] = {"direct": direct}
    old = a_run(Side.OLD, *iops(900, 903, 899), parameters=parameters, cached=old_cached)
    new = a_run(Side.NEW, *iops(8000, 7998, 7990), parameters=parameters, cached=new_cached)
    row = only_row(old, new)
    assert row.verdict is verdict
    assert row.ratio == 7998 / 900


def test_less_latency_is_better() -> None:
    old = a_run(Side.OLD, *[{"read_latency_p99_seconds": value} for value in (0.01, 0.0101, 0.0099)])
    new = a_run(Side.NEW, *[{"read_latency_p99_seconds": value} for value in (0.001, 0.00101, 0.00099)])
    row = only_row(old, new)
    assert row.verdict is Verdict.NEW
    assert row.ratio is not None
    assert abs(row.ratio - 10) < 1e-9


def test_failed_and_cancelled_repetitions_do_not_count() -> None:
    ended = (Outcome.DONE, Outcome.CANCELLED, Outcome.FAILED)
    old = a_run(Side.OLD, *iops(900, 1, 2), outcomes=ended)
    row = only_row(old, a_run(Side.NEW, *iops(900)))
    assert row.old is not None
    assert row.old.values == (900,)


def test_nothing_done_on_a_side_is_one_sided() -> None:
    row = only_row(a_run(Side.OLD, *iops(1), outcomes=(Outcome.FAILED,)), a_run(Side.NEW, *iops(900)))
    assert row.verdict is Verdict.ONE_SIDED
    assert (row.old, row.ratio) == (None, None)


def test_different_parameters_are_never_compared() -> None:
    old, new = a_run(Side.OLD, *iops(1)), a_run(Side.NEW, *iops(2), parameters={"jobs": 4})
    rows = compare([old], [new]).rows
    assert [row.verdict for row in rows] == [Verdict.ONE_SIDED, Verdict.ONE_SIDED]


def test_headlines_come_first_and_sizes_are_left_out() -> None:
    def metrics(value: float) -> Metrics:
        return {"read_bytes_per_second": value, "bytes": 5.0, "duration_seconds": 3.0, "read_iops": value}

    old = [a_run(Side.OLD, metrics(1), name="a"), a_run(Side.OLD, metrics(1), name="b")]
    new = [a_run(Side.NEW, metrics(2), name="a"), a_run(Side.NEW, metrics(2), name="b")]
    rows = compare(old, new).rows
    assert [(row.workload.name, row.metric) for row in rows] == [
        ("a", "read_iops"),
        ("b", "read_iops"),
        ("a", "read_bytes_per_second"),
        ("b", "read_bytes_per_second"),
    ]


def test_sides_are_named_and_runs_pooled() -> None:
    runs = [a_run(Side.OLD, *iops(1), number=3), a_run(Side.OLD, *iops(3), number=4)]
    comparison = compare(runs, [a_run(Side.NEW, *iops(2))])
    assert (comparison.old, comparison.new) == ("srv-old:/srv/pg", "srv-new:/srv/pg")
    sample = comparison.rows[0].old
    assert sample is not None
    assert (sample.run_ids, sample.median, sample.low, sample.high) == ((3, 4), 2.0, 1.0, 3.0)


def test_nothing_to_compare() -> None:
    assert compare([], []).rows == ()
