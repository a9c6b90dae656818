"""Figures that others published, read by the parsers and put through the comparison as they were."""

from pathlib import Path

import pytest

from core.benchmarks.fio.output import parse_fio
from core.comparison.foreign_outputs import compare_outputs
from core.comparison.model import Comparison, Row, Verdict

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def file_systems() -> Comparison:
    """A DBA's fio 1.57 on ext3, ext4 and XFS of one array of 24 disks: four tests each, one run of each."""
    names = ("ext3", "ext4", "xfs")
    return compare_outputs(
        [(name, parse_fio((DATA / f"fio/v1.57-four-groups-{name}.txt").read_text(encoding="utf-8"))) for name in names]
    )


def row_of(comparison: Comparison, workload: str, metric: str) -> Row:
    return next(row for row in comparison.rows if (row.workload.name, row.metric) == (workload, metric))


@pytest.mark.parametrize(
    ("workload", "kilobytes", "iops", "verdicts"),
    [
        ("random-write-direct", (56947, 58933, 41688), (7118, 7366, 5210), (Verdict.NONE, Verdict.OLD)),
        ("random-write-buf", (472904, 670727, 27876), (59113, 83840, 3484), (Verdict.NEW, Verdict.OLD)),
        ("sequential-write-direct", (279, 83959, 51895), (34, 10494, 6486), (Verdict.NEW, Verdict.NEW)),
        ("sequential-write-buffered", (19944, 163683, 770776), (2492, 20460, 96347), (Verdict.NEW, Verdict.NEW)),
    ],
)
def test_three_file_systems_side_by_side(
    file_systems: Comparison,
    workload: str,
    kilobytes: tuple[int, ...],
    iops: tuple[int, ...],
    verdicts: tuple[Verdict, ...],
) -> None:
    assert (file_systems.old, file_systems.new, file_systems.further) == ("ext3", "ext4", ("xfs",))
    for metric, expected in (
        ("write_bytes_per_second", [number * 1024 for number in kilobytes]),
        ("write_iops", list(iops)),
    ):
        row = row_of(file_systems, workload, metric)
        samples = [row.old, row.new, *(contrast.sample for contrast in row.further)]
        # fio 1.57 cuts its IOPS down to whole numbers; the parser knows them finer
        assert [sample and sample.mean for sample in samples] == pytest.approx(expected, rel=0.006, abs=1)
        assert (row.verdict, row.further[0].verdict) == verdicts
        assert "one value" in row.note
