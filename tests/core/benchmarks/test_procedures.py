"""What runs for a workload of each tool, and what is read from the real outputs of such a run."""

from pathlib import Path

import pytest

from core.benchmarks.model import Parameter, Workload
from core.benchmarks.tool import Machine, ParameterError, Procedure
from core.benchmarks.tools import procedure_of, programs_of
from core.errors import InputError, ParseError

DATA = Path(__file__).parents[2] / "data"
GIB = 2**30
MIB = 2**20
BIN = "/usr/lib/postgresql/15/bin"
ROOT = Machine(memory_bytes=4 * GIB, threads=4, bin_directories=(BIN, "/opt/pg/bin"), fio_engine="libaio", user="root")
OLD_SYSBENCH = Machine(None, None, versions={"sysbench": "0.4.12"})


def made(tool: str, headline: str, machine: Machine = ROOT, /, **parameters: Parameter) -> Procedure:
    return procedure_of(Workload("w", "w", tool, headline, parameters), machine)


def commands(procedure: Procedure) -> list[str]:
    return [phase.shown for phase in procedure.phases]


def read(procedure: Procedure, *path: str) -> dict[str, float]:
    reading = procedure.read([DATA.joinpath(*path).read_text()])
    assert reading.failure == ""
    return reading.metrics


WRITE_ONLY: dict[str, Parameter] = {"ram_bytes": 31744 * MIB, "flush": True, "concurrency": 4}


def test_bonnie_writes_twice_the_memory_in_full() -> None:
    procedure = made("bonnie", "seeks_per_second", characters=True, files=16)
    assert commands(procedure) == ["bonnie++ -d . -m pghaul -n 16 -r 4096 -s 8192:8192 -u root"]
    assert procedure.fresh_bytes == 8 * GIB
    assert {"write_char_bytes_per_second", "rewrite_bytes_per_second"} <= set(procedure.headlines)


def test_bonnie_writes_only_what_a_wal_volume_holds() -> None:
    procedure = made("bonnie", "write_bytes_per_second", **WRITE_ONLY)
    assert commands(procedure) == ["bonnie++ -d . -m pghaul -n 0 -r 31744 -s 63488:8192 -f -b -c 4 -u root"]
    nobody = made("bonnie", "write_bytes_per_second", Machine(None, None), **WRITE_ONLY)
    assert "-u" not in commands(nobody)[0].split()


def test_bonnie_reads_what_is_not_in_memory_where_caches_are_dropped() -> None:
    procedure = made("bonnie", "read_bytes_per_second", size_bytes=64 * MIB, drop_caches=True, seeks=100)
    assert commands(procedure) == ["run_bonnie_uncached -d . -m pghaul -n 0 -r 32 -s 64:8192:100 -f -u root"]


def test_bonnies_report_is_read() -> None:
    metrics = read(made("bonnie", "write_bytes_per_second", **WRITE_ONLY), "bonnie", "17-v1.96-csv-f56752901350.csv")
    assert metrics["write_bytes_per_second"] == 64825 * 1024
    assert metrics["seeks_per_second"] == 258.5


SEEKS: dict[str, Parameter] = {"pattern": "rndrd", "files": 500, "size_bytes": 500 * 32 * MIB}
SYNCS: dict[str, Parameter] = {"pattern": "rndwr", "size_bytes": 16384, "block_bytes": 16384, "runtime_seconds": 10}


def test_sysbench_seeks_in_files_that_it_prepared() -> None:
    procedure = made("sysbench", "read_iops", **SEEKS)
    (run,) = commands(procedure)
    assert run.endswith(
        "sysbench fileio --file-num=500 --file-total-size=16777216000 --file-block-size=8192 --file-test-mode=rndrd "
        "--file-fsync-freq=0 --file-fsync-end=off --file-extra-flags=direct --threads=1 --time=60 --events=0 run"
    )
    assert procedure.prepare is not None
    assert "sysbench fileio --file-num=500 --file-total-size=16777216000 prepare" in procedure.prepare.shown
    assert dict(procedure.laid_out) == {"sysbench-500x33554432": 16777216000}


@pytest.mark.parametrize("version", ["0.4.12", "0.5"])
def test_sysbench_before_1_0_is_spoken_to_in_its_own_words(version: str) -> None:
    old = Machine(None, None, versions={"sysbench": version})
    procedure = made("sysbench", "fsyncs_per_second", old, **SYNCS)
    (run,) = commands(procedure)
    assert run.endswith(
        "sysbench --test=fileio --file-num=1 --file-total-size=16384 --file-block-size=16384 --file-test-mode=rndwr "
        "--file-fsync-freq=1 --file-fsync-end=off --num-threads=1 --max-time=10 --max-requests=0 run"
    )
    assert procedure.prepare is not None
    assert "sysbench --test=fileio --file-num=1" in procedure.prepare.shown


def test_sysbenchs_seeks_have_latencies_and_no_writes() -> None:
    metrics = read(made("sysbench", "read_iops", **SEEKS), "sysbench", "v1.0.20-rndrd-p99.txt")
    assert metrics["read_iops"] == 557678.72
    assert "latency_max_seconds" in metrics
    assert not [name for name in metrics if name.startswith(("write", "fsync"))]


def test_sysbenchs_syncs_have_no_latencies_of_memory() -> None:
    metrics = read(made("sysbench", "fsyncs_per_second", **SYNCS), "sysbench", "v1.0.20-rndwr-fsync-intervals.txt")
    assert metrics["fsyncs_per_second"] == 4560.38
    assert not [name for name in metrics if "latency" in name]


def test_of_an_old_sysbench_each_write_is_one_sync() -> None:
    procedure = made("sysbench", "fsyncs_per_second", OLD_SYSBENCH, **SYNCS)
    metrics = read(procedure, "sysbench", "02-v0.4.12-f285875758.txt")
    assert metrics["fsyncs_per_second"] == metrics["write_iops"] == pytest.approx(281160 / 300.0035)


def test_pg_test_fsync_is_the_first_clusters_own() -> None:
    procedure = made("pg_test_fsync", "fsyncs_per_second", method="open_datasync", seconds_per_test=1)
    assert (procedure.program, commands(procedure)) == (
        f"{BIN}/pg_test_fsync",
        [f"{BIN}/pg_test_fsync -s 1 -f pg_test_fsync.out"],
    )
    assert procedure.program in programs_of(ROOT)
    assert read(procedure, "pg_test_fsync", "02-v9.2-no-usecs-reflowed-f14850793.txt") == {
        "fsyncs_per_second": 1828.665,
        "fdatasync_fsyncs_per_second": 1839.337,
        "fsync_fsyncs_per_second": 538.328,
        "open_sync_fsyncs_per_second": 442.936,
    }


def test_a_sync_method_that_the_server_does_not_have_is_a_failure() -> None:
    procedure = made("pg_test_fsync", "fsyncs_per_second", method="fsync_writethrough")
    output = (DATA / "pg_test_fsync" / "02-v9.2-no-usecs-reflowed-f14850793.txt").read_text()
    reading = procedure.read([output])
    assert reading.failure.endswith(" fsync_writethrough")
    assert "fsyncs_per_second" not in reading.metrics


DIRECT: dict[str, Parameter] = {"direct": True, "size_bytes": 8 * MIB, "runtime_seconds": 1}


@pytest.mark.parametrize("engine", ["libaio", "io_uring"])
@pytest.mark.parametrize("block", [4096, 8192])
def test_fio_keeps_requests_under_way_by_the_servers_engine(engine: str, block: int) -> None:
    machine = Machine(None, None, fio_engine=engine)
    procedure = made("fio", "read_iops", machine, pattern="randread", depth=64, block_bytes=block, **DIRECT)
    words = commands(procedure)[0].split()
    assert {f"--ioengine={engine}", "--iodepth=64", f"--bs={block}"} <= set(words)
    assert "--ioengine=psync" in commands(made("fio", "read_iops", machine, pattern="randread", **DIRECT))[0].split()


def test_fio_without_an_asynchronous_engine_says_so() -> None:
    with pytest.raises(InputError, match=r"libaio .*io_uring"):
        made("fio", "read_iops", Machine(None, None), pattern="randread", depth=2, **DIRECT)


def test_fio_mixes_reads_and_writes() -> None:
    procedure = made("fio", "write_iops", pattern="randrw", **DIRECT)
    assert "--rwmixread=70" in commands(procedure)[0].split()
    assert set(procedure.headlines) == {"read_iops", "read_bytes_per_second", "write_iops", "write_bytes_per_second"}


LOG: dict[str, Parameter] = {"pattern": "write", "direct": False, "size_bytes": 8 * MIB, "runtime_seconds": 1}


@pytest.mark.parametrize("sync", ["fdatasync", "fsync"])
def test_fio_writes_a_log_over_and_over_and_syncs_each_block(sync: str) -> None:
    procedure = made("fio", "fsyncs_per_second", sync=sync, **LOG)
    assert {f"--{sync}=1", "--overwrite=1", "--time_based", "--direct=0"} <= set(commands(procedure)[0].split())
    assert (procedure.fresh_bytes, sum(procedure.laid_out.values())) == (0, 8 * MIB)
    metrics = read(procedure, "fio-sync", "v3.33-fdatasync.json")
    assert metrics["fsyncs_per_second"] == pytest.approx(1480.519481)
    assert metrics["latency_mean_seconds"] == pytest.approx(662841.446694e-9)
    assert metrics["latency_p99_seconds"] == pytest.approx(6.71744e-3)
    assert not [name for name in metrics if name.startswith("write_latency")]


@pytest.mark.parametrize(
    ("tool", "parameters", "concerned"),
    [
        ("bonnie", {"size_bytes": 100}, ["size_bytes"]),
        ("bonnie", {"size_bytes": MIB, "ram_bytes": MIB}, ["size_bytes", "ram_bytes"]),
        ("bonnie", {"chunk_bytes": 5000}, ["chunk_bytes"]),
        ("bonnie", {"concurrency": 0}, ["concurrency"]),
        ("bonnie", {"files": 1025}, ["files"]),
        ("bonnie", {"seeks": 0}, ["seeks"]),
        ("dd", {"size_bytes": 1}, ["block_bytes", "size_bytes"]),
        ("sysbench", {"pattern": "rndrd", "size_bytes": 8191}, ["size_bytes", "files", "block_bytes"]),
        ("sysbench", {"pattern": "rndwr", "size_bytes": 65536, "files": 2}, ["files", "pattern"]),
        ("sysbench", {"pattern": "rndrd", "size_bytes": 8192, "threads": 0}, ["threads"]),
        ("pg_test_fsync", {"seconds_per_test": 0}, ["seconds_per_test"]),
        ("fio", {"pattern": "randrw", **DIRECT, "read_fraction": 1.0}, ["read_fraction"]),
        ("fio", {**LOG, "sync": "fsync", "direct": True}, ["sync", "pattern", "direct"]),
        ("fio", {"pattern": "randwrite", **DIRECT, "direct": False, "depth": 4}, ["depth", "direct"]),
    ],
)
def test_a_wrong_parameter_is_named(tool: str, parameters: dict[str, Parameter], concerned: list[str]) -> None:
    with pytest.raises(ParameterError, match=r"^workload w: ") as refused:
        made(tool, "", **parameters)
    assert list(refused.value.parameters) == concerned
    assert all(name in f"{refused.value}" for name in concerned[:1])
    assert refused.value.hint


@pytest.mark.parametrize(
    ("tool", "parameters", "named"),
    [("bonnie", {"direct": True}, "direct"), ("pg_test_fsync", {"method": "x"}, "method")],
)
def test_an_unknown_parameter_is_named(tool: str, parameters: dict[str, Parameter], named: str) -> None:
    with pytest.raises(InputError, match=f"^workload w: .*{named}"):
        made(tool, "", **parameters)


@pytest.mark.parametrize("tool", ["bonnie", "dd"])
def test_what_depends_on_the_memory_needs_to_know_it(tool: str) -> None:
    with pytest.raises(InputError) as refused:
        made(tool, "write_bytes_per_second", Machine(None, None))
    assert "size_bytes" in refused.value.hint


def test_no_postgresql_no_pg_test_fsync() -> None:
    with pytest.raises(InputError, match="PostgreSQL"):
        made("pg_test_fsync", "fsyncs_per_second", Machine(None, None))


@pytest.mark.parametrize(
    ("tool", "parameters"),
    [("bonnie", {}), ("sysbench", SEEKS), ("pg_test_fsync", {}), ("fio", {**LOG, "sync": "fsync"})],
)
@pytest.mark.parametrize("output", ["", "bash: no such program\n", "{"])
def test_an_output_without_a_result_is_an_error(tool: str, parameters: dict[str, Parameter], output: str) -> None:
    headlines = {"bonnie": "write_bytes_per_second", "sysbench": "read_iops"}
    procedure = made(tool, headlines.get(tool, "fsyncs_per_second"), **parameters)
    with pytest.raises(ParseError):
        procedure.read([output])
