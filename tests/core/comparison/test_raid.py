"""What an array may be expected to do, by figures worked by hand and by arrays that others have measured."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.benchmarks.model import Outcome, Repetition, Run, Volume, Workload
from core.comparison.raid import Drive, Layout, Level, expect, layouts, measured
from core.errors import InputError
from core.sides import Side

DRIVE = Drive(100, 100, 200e6, 150e6, 1e12)
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("layout", "read_iops", "write_iops", "one_stream", "streams", "writes", "capacity", "any_", "best"),
    [
        (Layout(Level.STRIPE, 8), 800, 800, 1600e6, 1600e6, 1200e6, 8e12, 0, 0),
        (Layout(Level.MIRROR, 2), 200, 100, 200e6, 400e6, 150e6, 1e12, 1, 1),
        (Layout(Level.MIRROR, 3), 300, 100, 200e6, 600e6, 150e6, 1e12, 2, 2),
        (Layout(Level.STRIPED_MIRRORS, 8), 800, 400, 800e6, 1600e6, 600e6, 4e12, 1, 4),
        (Layout(Level.PARITY, 8), 800, 200, 1400e6, 1400e6, 1050e6, 7e12, 1, 1),
        (Layout(Level.DOUBLE_PARITY, 6), 600, 100, 800e6, 800e6, 600e6, 4e12, 2, 2),
        (Layout(Level.STRIPED_PARITY, 8, 2), 800, 200, 1200e6, 1200e6, 900e6, 6e12, 1, 2),
        (Layout(Level.STRIPED_DOUBLE_PARITY, 12, 3), 1200, 200, 1200e6, 1200e6, 900e6, 6e12, 2, 6),
    ],
    ids=lambda value: value.title if isinstance(value, Layout) else "",
)
def test_worked_by_hand(
    layout: Layout,
    read_iops: float,
    write_iops: float,
    one_stream: float,
    streams: float,
    writes: float,
    capacity: float,
    any_: int,
    best: int,
) -> None:
    found = expect(layout, DRIVE)
    assert found.read_iops == pytest.approx(read_iops)
    assert found.write_iops == pytest.approx(write_iops)
    assert found.read_bytes_per_second == pytest.approx(one_stream)
    assert found.parallel_read_bytes_per_second == pytest.approx(streams)
    assert found.write_bytes_per_second == pytest.approx(writes)
    assert found.capacity_bytes == capacity
    assert (layout.survives_any, layout.survives_at_best) == (any_, best)
    assert not found.thread_bound


def test_reads_of_the_penalty_cost_what_reads_cost() -> None:
    """n / (2/r + 2/w): 4 / (2/400 + 2/100) = 160."""
    assert expect(Layout(Level.PARITY, 4), Drive(400, 100)).write_iops == pytest.approx(160)
    assert expect(Layout(Level.PARITY, 4), Drive(None, 100)).write_iops == pytest.approx(100)


def test_what_is_not_known_stays_unknown() -> None:
    found = expect(Layout(Level.PARITY, 4), Drive(read_iops=100))
    assert found.read_iops == 400
    assert found.write_iops is found.capacity_bytes is found.write_bytes_per_second is None
    assert not found.thread_bound


@pytest.mark.parametrize(
    ("level", "drives", "groups", "message"),
    [
        (Level.DOUBLE_PARITY, 3, 1, "RAID 6 of 3 "),
        (Level.STRIPED_MIRRORS, 5, 1, "RAID 10 of 5 "),
        (Level.STRIPED_MIRRORS, 2, 1, "RAID 10 of 2 "),
        (Level.PARITY, 2, 1, "RAID 5 of 2 "),
        (Level.MIRROR, 1, 1, "RAID 1 of 1 "),
        (Level.STRIPE, 0, 1, "RAID 0 of 0 "),
        (Level.STRIPE, 1001, 1, "RAID 0 of 1001 "),
        (Level.STRIPED_PARITY, 6, 1, r"RAID 50 of 6 .*\b1 "),
        (Level.STRIPED_PARITY, 7, 2, r" [67] .*\b2 "),
        (Level.STRIPED_DOUBLE_PARITY, 6, 2, r" [67] .*\b2 "),
        (Level.PARITY, 6, 2, "RAID 5 "),
    ],
)
def test_what_cannot_be_built(level: Level, drives: int, groups: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Layout(level, drives, groups)


@pytest.mark.parametrize("figure", [0, -1, float("nan")])
def test_a_drive_that_does_nothing(figure: float) -> None:
    with pytest.raises(InputError):
        expect(Layout(Level.STRIPE, 2), replace(DRIVE, write_iops=figure))


def test_every_level_of_a_number_of_drives() -> None:
    assert [layout.level for layout in layouts(8)] == list(Level)
    assert [layout.level for layout in layouts(3)] == [Level.STRIPE, Level.MIRROR, Level.PARITY]
    assert [(layout.level, layout.groups) for layout in layouts(9)][-1] == (Level.STRIPED_PARITY, 3)
    with pytest.raises(InputError, match=r"\b1 "):
        layouts(1)


def test_md_and_controller_of_2011() -> None:
    """Bleything, RAID-10 of eight drives: one wrote 92 822 KiB/s; of all md read 320 465, the controller 615 135."""
    found = expect(Layout(Level.STRIPED_MIRRORS, 8), Drive(read_bytes_per_second=92_822 * 1024))
    assert found.read_bytes_per_second == pytest.approx(320_465 * 1024, rel=0.20)
    assert found.parallel_read_bytes_per_second == pytest.approx(615_134.8 * 1024, rel=0.25)


def test_seven_drives_under_one_write_thread() -> None:
    """Hoeppner 2014, RAID-5 of seven SSDs: 318 691 reads a second are 45 527 a drive; writes 59 228 at half a core.

    Drives that write as fast as they read bound it from above: these were slowed by their own collecting of garbage.
    """
    drive = Drive(read_iops=45_527, write_iops=45_527)
    found = expect(Layout(Level.PARITY, 7), drive)
    assert found.read_iops == pytest.approx(318_691, rel=0.001)
    assert found.write_iops is not None
    assert 59_228 < found.write_iops < 118_000
    assert not found.thread_bound
    assert expect(Layout(Level.PARITY, 14), replace(drive, write_iops=80_000)).thread_bound


def test_two_threads_of_a_nested_level() -> None:
    """The same letter: a core of 2 GHz carries 61 000 of RAID-5; two groups of three SSDs come to 122 000 at most."""
    fast = Drive(read_iops=1e6, write_iops=1e6)
    found = expect(Layout(Level.STRIPED_PARITY, 6, 2), fast, thread_iops=61_000)
    assert (found.write_iops, found.thread_bound) == (122_000, True)
    assert expect(Layout(Level.STRIPE, 6), fast, thread_iops=61_000).write_iops == 6e6
    assert not expect(Layout(Level.PARITY, 6), fast, thread_iops=float("inf")).thread_bound


def run(name: str, metric: str, values: tuple[float, ...], outcome: Outcome = Outcome.DONE) -> Run:
    repetitions = tuple(
        Repetition(number, AT, 1.0, outcome, {metric: value}, "", "") for number, value in enumerate(values, 1)
    )
    workload = Workload(name, name, "fio", metric)
    return Run("m", Volume(Side.OLD, "old", "/srv", "/srv"), workload, AT, outcome, AT, repetitions)


def test_the_best_median_is_what_was_measured() -> None:
    runs = [
        run("depth-1", "read_iops", (90, 100, 110)),
        run("depth-32", "read_iops", (390, 400, 410)),
        run("broken", "read_iops", (9999,), Outcome.FAILED),
        run("write", "write_bytes_per_second", (50e6,)),
    ]
    assert measured(runs) == Drive(read_iops=400, write_bytes_per_second=50e6)
    assert measured([]) == Drive()
