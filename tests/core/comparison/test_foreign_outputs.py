"""Outputs of others side by side: what meets, what counts, and what is left untold."""

from pathlib import Path

import pytest

from core.benchmarks.model import Output
from core.benchmarks.tools import parsers
from core.comparison.foreign_outputs import compare_outputs, incomplete
from core.comparison.model import Verdict
from core.errors import InputError

DATA = Path(__file__).parents[2] / "data"
PGBENCH = """transaction type: TPC-B (sort of)
scaling factor: 1
query mode: simple
number of clients: 10
number of threads: 1
number of transactions per client: 1000
number of transactions actually processed: 10000/10000
tps = {tps} (including connections establishing)
tps = {tps} (excluding connections establishing)
"""


def bonnie(file: str) -> Output:
    return parsers()["bonnie"]((DATA / file).read_text(encoding="utf-8"))


def test_machines_are_compared_whatever_they_are_called() -> None:
    slow, fast = "bonnie/v1.03-text-csv-slowserver.txt", "bonnie/v1.03-text-csv-thud.txt"
    compared = compare_outputs([("slow", bonnie(slow)), ("fast", bonnie(fast))])
    by_metric = {row.metric: row for row in compared.rows}
    assert (compared.old, compared.new, compared.further) == ("slow", "fast", ())
    writes = by_metric["write_bytes_per_second"]
    assert writes.verdict is Verdict.NEW
    assert writes.ratio == pytest.approx(46554 / 20830)
    assert by_metric["read_bytes_per_second"].verdict is Verdict.NONE
    assert by_metric["seeks_per_second"].verdict is Verdict.OLD


def test_results_of_one_name_are_repetitions() -> None:
    sets = [
        parsers()["pgbench"]("".join(PGBENCH.format(tps=tps) for tps in rates))
        for rates in ((100, 101, 99), (61, 60, 62))
    ]
    (row,) = compare_outputs([("a", sets[0]), ("b", sets[1])]).rows
    assert row.old is not None
    assert row.old.values == (100, 101, 99)
    assert row.verdict is Verdict.OLD
    assert row.old.measured_at is None


def test_a_write_and_a_read_of_dd_are_no_repetitions() -> None:
    text = "4+0 records in\n4+0 records out\n1000 bytes (1.0 kB) copied, {} s, 1 kB/s\n"
    sets = [parsers()["dd"](text.format(write) + text.format(read)) for write, read in ((10, 5), (5, 5))]
    rows = [row for row in compare_outputs([("a", sets[0]), ("b", sets[1])]).rows if row.metric == "bytes_per_second"]
    assert [row.workload.name for row in rows] == ["dd 1", "dd 2"]
    assert [row.ratio for row in rows] == [2, 1]


def test_an_interrupted_job_does_not_count() -> None:
    text = (DATA / "fio/20-v2.1.10-sigint-two-jobs-snipped-f30227283165.txt").read_text(encoding="utf-8")
    output = parsers()["fio"](text)
    assert [each.split()[0] for each in incomplete(output)] == ["job1", "job2"]
    compared = compare_outputs([("a", output), ("b", output)])
    assert {row.old for row in compared.rows} == {None}


def test_what_cannot_be_compared() -> None:
    one = bonnie("bonnie/v1.03-text-csv-thud.txt")
    with pytest.raises(InputError):
        compare_outputs([("a", one)])
    with pytest.raises(InputError, match="different tools"):
        compare_outputs([("a", one), ("b", parsers()["pgbench"](PGBENCH.format(tps=9)))])


def with_conditions(*runs: tuple[int, int, int]) -> Output:
    """A run each: its scale, its clients and its rate."""
    text = PGBENCH.replace("factor: 1\n", "factor: {scale}\n").replace("clients: 10\n", "clients: {clients}\n")
    return parsers()["pgbench"]("".join(text.format(scale=scale, clients=of, tps=tps) for scale, of, tps in runs))


def test_what_one_set_measured_several_ways_meets_its_like_in_a_set_that_measured_it_one_way() -> None:
    several, one = with_conditions((10, 10, 1000), (10, 50, 3000)), with_conditions((10, 10, 2000))
    for named in ([("a", several), ("b", one)], [("b", one), ("a", several)]):
        rows = {row.workload.name: row for row in compare_outputs(named).rows}
        assert [name.rpartition(", ")[2] for name in sorted(rows)] == ["10 clients", "50 clients"]
        assert {row.ratio for row in rows.values()} == {2.0 if named[0][0] == "a" else 0.5, None}


def test_large_scales_are_told_apart() -> None:
    large = with_conditions((1_234_567, 10, 100), (1_234_568, 10, 300))
    rows = compare_outputs([("a", large), ("b", large)]).rows
    assert [row.workload.name.rpartition(", ")[2] for row in rows] == ["scale 1234567", "scale 1234568"]
    assert [row.ratio for row in rows] == [1, 1]
