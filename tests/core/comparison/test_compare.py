"""Verdicts on known samples, and which runs are held against each other."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.benchmarks.model import Mark, MarkKind, Metrics, Outcome, Parameter, Repetition, Run, Volume, Workload
from core.comparison.compare import compare
from core.comparison.model import LeftOut, Row, Verdict
from core.sides import Side

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
    assert row.ratio == pytest.approx(7996 / (2702 / 3))
    assert row.ratio is not None
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
    assert row.ratio == pytest.approx(7996 / (2702 / 3))


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


def test_sides_are_named_and_runs_never_pooled() -> None:
    runs = [a_run(Side.OLD, *iops(1), number=3), a_run(Side.OLD, *iops(3), number=4)]
    comparison = compare(runs, [a_run(Side.NEW, *iops(2))])
    assert (comparison.old, comparison.new) == ("srv-old:/srv/pg", "srv-new:/srv/pg")
    sample = comparison.rows[0].old
    assert sample is not None
    assert (sample.run_ids, sample.values) == ((4,), (3.0,))


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.CANCELLED, Outcome.INTERRUPTED, None])
def test_a_partial_run_never_counts(outcome: Outcome | None) -> None:
    whole = a_run(Side.OLD, *iops(900, 903, 899), number=1)
    partial = replace(a_run(Side.OLD, *iops(1, 2, 3), number=2), outcome=outcome, started_at=NOW + timedelta(hours=1))
    new = a_run(Side.NEW, *iops(900))
    sample = compare([whole, partial], [new]).rows[0].old
    assert sample is not None
    assert (sample.run_ids, sample.values) == ((1,), (900, 903, 899))
    assert compare([partial], [new]).rows[0].old is None


SOFTWARE_READS = (337376, 321752, 284567, 324414, 334216)
HARDWARE_READS = (655455, 617670, 557031, 659125, 586393)
"""KiB a second, sequential, of the same eight disks as md RAID-10 and behind a controller (2011)."""
HARDWARE_FSYNCS = (3170.57, 7606.69, 8379.83, 7627.63, 7523.14)


def test_the_hardware_array_reads_faster() -> None:
    row = only_row(a_run(Side.OLD, *iops(*SOFTWARE_READS)), a_run(Side.NEW, *iops(*HARDWARE_READS)))
    assert row.verdict is Verdict.NEW
    assert round(row.ratio or 0, 2) == 1.92
    assert 1.6 < (row.ratio_low or 0) < 1.8 < 2.1 < (row.ratio_high or 0) < 2.3
    assert (row.old and row.old.left_out, row.new and row.new.left_out, row.note) == ((), (), "")


def test_an_outlier_is_shown_and_left_out() -> None:
    sample = only_row(a_run(Side.OLD, *iops(*HARDWARE_FSYNCS)), a_run(Side.NEW, *iops(8000))).old
    assert sample is not None
    assert sample.left_out == (LeftOut(3170.57, "outlier"),)
    assert (round(sample.mean, 2), sample.low) == (7784.32, 7523.14)


def marked(side: Side, kind: MarkKind, *figures: tuple[float, bool]) -> Run:
    run = a_run(side, *iops(*[value for value, _ in figures]))
    repetitions = zip(run.repetitions, figures, strict=True)
    return replace(
        run,
        repetitions=tuple(
            replace(one, marks=(Mark(kind, "why"),) if has_it else ()) for one, (_, has_it) in repetitions
        ),
    )


def test_disturbed_repetitions_are_left_out_where_enough_are_not() -> None:
    new = a_run(Side.NEW, *iops(1))
    enough = marked(Side.OLD, MarkKind.DISTURBED, (900, False), (500, True), (903, False), (899, False))
    sample = only_row(enough, new).old
    assert sample is not None
    assert (sample.values, sample.left_out, sample.disturbed) == ((900, 903, 899), (LeftOut(500, "disturbed"),), False)
    few = marked(Side.OLD, MarkKind.DISTURBED, (900, False), (500, True), (903, False))
    sample = only_row(few, new).old
    assert sample is not None
    assert (sample.values, sample.left_out, sample.disturbed) == ((900, 500, 903), (), True)


def test_what_was_read_from_memory_is_held_against_no_disk() -> None:
    cached = marked(Side.NEW, MarkKind.CACHE, (9000, True), (9001, True), (9002, True))
    disk = a_run(Side.OLD, *iops(900, 903, 899))
    assert only_row(disk, cached).verdict is Verdict.UNLIKE
    assert only_row(disk, marked(Side.NEW, MarkKind.MEMORY, (9000, True), (9001, True))).verdict is Verdict.NEW


def test_three_sets_side_by_side() -> None:
    ext3, ext4 = a_run(Side.OLD, *iops(100, 101, 99)), a_run(Side.OLD, *iops(200, 201, 199))
    xfs = a_run(Side.OLD, *iops(50, 51, 49))
    comparison = compare([ext3], [ext4], [xfs], [])
    assert comparison.further == ("srv-old:/srv/pg", "")
    (row,) = comparison.rows
    assert (row.verdict, row.ratio) == (Verdict.NEW, 2.0)
    third, fourth = row.further
    assert (third.verdict, third.ratio, third.sample and third.sample.mean) == (Verdict.OLD, 0.5, 50.0)
    assert (fourth.verdict, fourth.sample) == (Verdict.ONE_SIDED, None)


def test_few_values_are_explained_in_words() -> None:
    one = only_row(a_run(Side.OLD, *iops(900)), a_run(Side.NEW, *iops(8000, 7998, 7990)))
    assert " 10 % " in one.note
    two = only_row(a_run(Side.OLD, *iops(900, 901)), a_run(Side.NEW, *iops(8000, 7998)))
    assert two.note.startswith("2 values on one side")


def test_sets_of_one_volume_are_dated() -> None:
    earlier = a_run(Side.OLD, *iops(100))
    later = replace(a_run(Side.OLD, *iops(200)), started_at=NOW + timedelta(days=20))
    comparison = compare([earlier], [later], dated=True)
    assert (comparison.old, comparison.new) == ("srv-old:/srv/pg 2026-01-01 00:00", "srv-old:/srv/pg 2026-01-21 00:00")


def test_nothing_to_compare() -> None:
    assert compare([], []).rows == ()
