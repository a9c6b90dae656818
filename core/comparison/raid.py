"""What an array of n drives may be expected to do, from what one drive does: the what-if of a new storage.

Let n be the drives, g the groups of a nested level, d the drives' worth of data (`Layout.data_drives`), r and w what
one drive reads and writes a second.

| level  | d      | random read | random write    | survives any | at best |
| ------ | ------ | ----------- | --------------- | ------------ | ------- |
| 0      | n      | n r         | n w             | 0            | 0       |
| 1      | 1      | n r         | w               | n - 1        | n - 1   |
| 10     | n / 2  | n r         | n w / 2         | 1            | n / 2   |
| 5      | n - 1  | n r         | n / (2/r + 2/w) | 1            | 1       |
| 6      | n - 2  | n r         | n / (3/r + 3/w) | 2            | 2       |
| 50     | n - g  | n r         | as 5            | 1            | g       |
| 60     | n - 2g | n r         | as 6            | 2            | 2 g     |

- Random writes carry the write penalty of Patterson, Gibson and Katz ("A Case for Redundant Arrays of Inexpensive
  Disks", 1988): a mirror writes twice; a small write under parity reads old data and old parity and writes both anew,
  four requests, and six with two parities. Where one drive reads and writes alike, n / (2/r + 2/w) is n w / 4.
- Sequential writes are of full stripes, which need no reading: d w. A controller or a stripe cache that merges small
  writes may do better than the penalty says: the seven SSDs of Hoeppner (linux-raid and xfs lists, 2014-04-16) did
  about twice as much under md's RAID-5.
- Sequential reads are of one stream: d r. A mirror reads one copy then; several streams at once, or a controller that
  spreads one over both copies, read n r, which is given beside it. Bleything ("PostgreSQL Server Benchmarks", part
  five, 2011) measured both on eight drives: 320 MB/s under md's RAID-10, 615 MB/s under the controller's.
- Linux md carries out the writes of levels 1, 10, 5 and 6 in one kernel thread an array; levels 0 and linear have none.
  The same letter of Hoeppner has 59 228 random writes of 4 kB at half a core of 3.3 GHz under RAID-5, so about 118 000
  at a whole one, and 35 000 at a tenth under a mirror. Nested levels have a thread for each group. The lesser of drives
  and threads holds; since Linux 3.12 parity arrays may be given more (group_thread_cnt).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.benchmarks.model import Run
from core.comparison.compare import newest_done, sample_of
from core.errors import InputError

PARITY_THREAD_IOPS = 118_000.0
MIRROR_THREAD_IOPS = 350_000.0
"""Random writes a second that one md thread carries out on a core of 3.3 GHz of 2013."""
MOST_DRIVES = 1000


class Level(StrEnum):
    """A RAID level."""

    STRIPE = "0"
    MIRROR = "1"
    STRIPED_MIRRORS = "10"
    PARITY = "5"
    DOUBLE_PARITY = "6"
    STRIPED_PARITY = "50"
    STRIPED_DOUBLE_PARITY = "60"


_PARITIES = {Level.PARITY: 1, Level.DOUBLE_PARITY: 2, Level.STRIPED_PARITY: 1, Level.STRIPED_DOUBLE_PARITY: 2}
_NESTED = {Level.STRIPED_PARITY, Level.STRIPED_DOUBLE_PARITY}
_MEASURED = ("read_iops", "write_iops", "read_bytes_per_second", "write_bytes_per_second")
_FEWEST = {Level.STRIPED_MIRRORS: 4, Level.PARITY: 3, Level.DOUBLE_PARITY: 4}


@dataclass(frozen=True, slots=True)
class Drive:
    """What one drive does by itself; None where it is not known."""

    read_iops: float | None = None
    write_iops: float | None = None
    read_bytes_per_second: float | None = None
    write_bytes_per_second: float | None = None
    capacity_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """A level over a number of drives. `groups` counts the arrays below a nested level, 1 for the others.

    Raises:
        InputError: there is no such array.
    """

    level: Level
    drives: int
    groups: int = 1

    def __post_init__(self) -> None:
        level, drives, groups = self.level, self.drives, self.groups
        fewest = _FEWEST.get(level, 2)
        if level in _NESTED:
            # a group is a RAID-5 or RAID-6 of its own: two of data and its parities
            fewest = _PARITIES[level] + 2
            if groups < 2 or drives % groups or drives // groups < fewest:
                raise InputError(
                    f"RAID {level} of {drives} drives in {groups} groups cannot be built",
                    f"use two or more groups of equal size, each of at least {fewest} drives",
                )
        elif groups != 1:
            raise InputError(f"RAID {level} has no groups", "use groups only with RAID 50 and RAID 60")
        if not fewest <= drives <= MOST_DRIVES:
            raise InputError(
                f"RAID {level} of {drives} drives cannot be built", f"use from {fewest} to {MOST_DRIVES} drives"
            )
        if level is Level.STRIPED_MIRRORS and drives % 2:
            raise InputError(
                f"RAID 10 of {drives} drives cannot be built from pairs",
                "use an even number of drives; the remaining drive can be a spare",
            )

    @property
    def data_drives(self) -> int:
        """The drives' worth of data."""
        match self.level:
            case Level.STRIPE:
                return self.drives
            case Level.MIRROR:
                return 1
            case Level.STRIPED_MIRRORS:
                return self.drives // 2
        return self.drives - self.groups * _PARITIES[self.level]

    @property
    def survives_any(self) -> int:
        """So many drives may fail, whichever they are."""
        match self.level:
            case Level.STRIPE:
                return 0
            case Level.MIRROR:
                return self.drives - 1
            case Level.STRIPED_MIRRORS:
                return 1
        return _PARITIES[self.level]

    @property
    def survives_at_best(self) -> int:
        """So many may fail where none shares a pair or group with too many others."""
        if self.level is Level.STRIPED_MIRRORS:
            return self.drives // 2
        return self.survives_any * self.groups

    @property
    def title(self) -> str:
        """For people."""
        groups = f" in {self.groups} groups" if self.groups > 1 else ""
        return f"RAID {self.level} of {self.drives}{groups}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What an array may be expected to do; None where what it follows from is not known."""

    layout: Layout
    read_iops: float | None
    write_iops: float | None
    read_bytes_per_second: float | None
    parallel_read_bytes_per_second: float | None
    write_bytes_per_second: float | None
    capacity_bytes: float | None
    thread_bound: bool
    """md's write thread, not the drives, bounds write_iops."""


def expect(layout: Layout, drive: Drive, thread_iops: float | None = None) -> Expected:
    """What the array does of drives like this one under md.

    Args:
        thread_iops: random writes a second that one write thread carries out; None: by level as measured in 2014;
            infinity: a controller, which has none.

    Raises:
        InputError: a figure of the drive or the thread is not above zero.
    """
    figures = (
        drive.read_iops,
        drive.write_iops,
        drive.read_bytes_per_second,
        drive.write_bytes_per_second,
        drive.capacity_bytes,
        thread_iops,
    )
    # not > 0 refuses NaN too
    if any(figure is not None and not figure > 0 for figure in figures):
        raise InputError("the performance of a drive or thread is not above 0", "state values above 0")
    by_drives, by_threads = _write_iops(layout, drive), _thread_iops(layout, thread_iops)
    return Expected(
        layout=layout,
        read_iops=_times(layout.drives, drive.read_iops),
        write_iops=None if by_drives is None else min(by_drives, by_threads),
        read_bytes_per_second=_times(layout.data_drives, drive.read_bytes_per_second),
        parallel_read_bytes_per_second=_times(
            layout.data_drives if layout.level in _PARITIES else layout.drives, drive.read_bytes_per_second
        ),
        write_bytes_per_second=_times(layout.data_drives, drive.write_bytes_per_second),
        capacity_bytes=_times(layout.data_drives, drive.capacity_bytes),
        thread_bound=by_drives is not None and by_threads < by_drives,
    )


def layouts(drives: int) -> tuple[Layout, ...]:
    """Every level that can be built of so many drives, nested ones in two groups or, failing that, in three.

    Raises:
        InputError: none can.
    """
    found: list[Layout] = []
    problem = InputError(f"no array can be built from {drives} drives", f"use from 2 to {MOST_DRIVES} drives")
    for level in Level:
        # more groups of the same drives give less room, and are asked for by name
        for groups in (2, 3) if level in _NESTED else (1,):
            try:
                found.append(Layout(level, drives, groups))
            except InputError:
                continue
            break
    if not found:
        raise problem
    return tuple(found)


def measured(runs: Sequence[Run]) -> Drive:
    """The best median of each figure that the latest runs on one volume came to; of runs that are done alone."""
    best: dict[str, float] = {}
    by_workload: dict[str, list[Run]] = {}
    for run in runs:
        by_workload.setdefault(run.workload.name, []).append(run)
    for of_workload in by_workload.values():
        newest = newest_done(of_workload)
        # a metric counts only where it was what the workload was made for
        if newest is None or newest.workload.headline not in _MEASURED:
            continue
        metric = newest.workload.headline
        sample = sample_of(metric, newest)
        if sample is not None:
            # depths and block sizes differ: the best of them is what the drive can do
            best[metric] = max(best.get(metric, 0.0), sample.median)
    return Drive(**best)


def _times(factor: int, figure: float | None) -> float | None:
    return None if figure is None else factor * figure


def _write_iops(layout: Layout, drive: Drive) -> float | None:
    """By the write penalty; reads are taken to be as fast as writes where they are not known."""
    write = drive.write_iops
    if write is None:
        return None
    parities = _PARITIES.get(layout.level)
    if parities is None:
        return layout.data_drives * write
    read = drive.read_iops or write
    # the block itself, and each parity
    requests = 1 + parities
    return layout.drives / (requests / read + requests / write)


def _thread_iops(layout: Layout, stated: float | None) -> float:
    if layout.level is Level.STRIPE:
        return float("inf")
    usual = PARITY_THREAD_IOPS if layout.level in _PARITIES else MIRROR_THREAD_IOPS
    # each array below has a thread of its own
    return layout.groups * (usual if stated is None else stated)
