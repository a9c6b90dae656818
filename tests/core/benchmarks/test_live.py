"""What sysbench and pgbench say of their rates while they run, and that their results are read as without it."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.model import Metrics, Parameter, Workload
from core.benchmarks.pgbench.tool import PGBENCH
from core.benchmarks.runs import Saying, without_ticks
from core.benchmarks.sysbench import SYSBENCH
from core.benchmarks.tool import LiveOutput, Machine, Procedure
from core.facts.model import Cluster
from core.servers.functions import library, named_in
from core.servers.shell import call
from tests.postgresql import OWNER, Server

DATA = Path(__file__).parents[2] / "data"
MIB = 2**20
TICK = ". 1 2 3 4\n"
ANY = Machine(None, None, series="15")


def sysbench(pattern: str = "rndwr", machine: Machine = ANY, **parameters: int | bool) -> Procedure:
    given: dict[str, Parameter] = {"pattern": pattern, "size_bytes": 16 * MIB, "runtime_seconds": 3, **parameters}
    return SYSBENCH.procedure(Workload("one", "one", "sysbench", "read_iops", given), machine)


def pgbench(machine: Machine = ANY, **parameters: str | int) -> Procedure:
    given: dict[str, Parameter] = {"scale": 1, "clients": 2, "runtime_seconds": 3, **parameters}
    return PGBENCH.procedure(Workload("one", "one", "pgbench", "transactions_per_second", given), machine)


def live(procedure: Procedure) -> LiveOutput:
    found = procedure.phases[-1].live
    assert found is not None
    return found


def rates(said: LiveOutput, text: str) -> list[Metrics]:
    """The rates of a whole output, as it would arrive in one line after the other."""
    saying = Saying(said)
    return [found for line in text.splitlines(keepends=True) if (found := saying.take(line.encode()))]


def test_sysbench_says_megabytes_and_syncs() -> None:
    text = (DATA / "sysbench" / "v1.0.20-rndwr-fsync-intervals.txt").read_text()
    first, second = rates(live(sysbench(block_bytes=16384)), text)
    assert first == {
        "write_bytes_per_second": 24.90 * MIB,
        "write_iops": 24.90 * MIB / 16384,
        "fsyncs_per_second": 3185.63,
    }
    assert second["fsyncs_per_second"] == 5983.48


def test_sysbench_says_reads() -> None:
    text = (DATA / "sysbench" / "11-v1.0.x-report-interval-tail-f48557819877.txt").read_text()
    found = rates(live(sysbench("rndrd", block_bytes=16384)), text)
    assert len(found) == 9
    assert found[0] == {"read_bytes_per_second": 30.44 * MIB, "read_iops": 30.44 * MIB / 16384}


PROGRESS = (
    "progress: 1.0 s, 8.0 tps, lat 120.123 ms stddev 5.000\n"  # up to 14
    "progress: 2.0 s, 1806.8 tps, lat 5.490 ms stddev 1.222, 0 failed\n"
    "progress: 3.0 s, 0.0 tps, lat -nan ms stddev -nan, 0 failed\n"
)


def test_pgbench_says_transactions() -> None:
    found = rates(live(pgbench()), PROGRESS)
    assert found == [{"transactions_per_second": value} for value in (8.0, 1806.8, 0.0)]


@pytest.mark.parametrize(
    ("procedure", "line"),
    [
        (sysbench(), "[ 1s ] reads: 0.00 MiB/s writes: 24.90 MiB/s fsyncs: 3185.63/s latency (ms,95%): 0.841"),
        (pgbench(), "progress: 2.0 s, 1806.8 tps, lat 5.490 ms stddev 1.222, 0 failed"),
    ],
    ids=["sysbench", "pgbench"],
)
def test_a_cut_or_odd_line_has_no_rate_and_stays_ahead_of_the_report(procedure: Procedure, line: str) -> None:
    said = live(procedure)
    beginning = str(said.run[1])
    (whole,) = rates(said, f"{line}\n")
    report = "the report\nprogress: of the report\n[ of the report ]\n"
    for end in range(len(beginning), len(line)):
        cut = line[:end]
        assert rates(said, f"{cut}\n") in ([], [whole]), cut
        kept = "" if said.line.fullmatch(cut) else f"{cut}\n"
        assert without_ticks(f"{TICK}{cut}\n{TICK}{line}\n{report}", said) == kept + report, cut
    for odd in (line.replace(".", ","), line.replace(" ", "  "), line.replace("2", "nan"), line.replace("0", "9" * 30)):
        assert rates(said, f"{odd}\n") == [], odd
        if odd.startswith(beginning):
            assert without_ticks(f"{odd}\n{TICK}{report}", said) == f"{odd}\n{report}", odd


REPORT = """transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 2
number of threads: 2
duration: 3 s
number of transactions actually processed: 24
latency average = 120.123 ms
latency stddev = 5.000 ms
tps = 8.000000 (including connections establishing)
tps = 8.100000 (excluding connections establishing)
"""


def test_an_error_in_a_line_of_rates_is_not_lost() -> None:
    progress = PROGRESS.splitlines()[0]
    for error in ("client 3 aborted in command 5 (SQL) of script 0; ERROR:  division by zero", "nothing"):
        made = pgbench()
        (phase,) = made.phases
        text = without_ticks(f"{TICK}{progress}{error}\n{TICK}{PROGRESS}{REPORT}", phase.live)
        assert text == f"{progress}{error}\n{REPORT}"
        assert bool(made.read([text]).failure) == ("aborted" in error)


@pytest.mark.parametrize(("of_move", "of_cluster", "expected"), [("15", "9.2", False), ("9.2", "15", True)])
def test_the_version_of_the_measured_cluster_counts(of_move: str, of_cluster: str, expected: bool) -> None:
    cluster = Cluster("/srv/pg", of_cluster, None, running=True, port=5432, owner="postgres")
    machine = Machine(None, None, series=of_move, clusters=(cluster,))
    (phase,) = pgbench(machine, cluster="/srv/pg").phases
    assert (phase.live is not None) == expected
    assert ("-P" in phase.run_words) == expected


@given(st.binary(max_size=200), st.binary(max_size=200))
@pytest.mark.parametrize("said", [live(sysbench()), live(pgbench())], ids=["sysbench", "pgbench"])
def test_no_output_breaks_it(said: LiveOutput, first: bytes, second: bytes) -> None:
    saying = Saying(said)
    for data in (first, second, str(said.run[1]).encode() + first + b"\n", b"\n" + second):
        saying.take(data)
    without_ticks((first + second).decode(errors="replace"), said)


def test_versions_without_such_an_option_are_run_as_before() -> None:
    assert [phase.live for phase in sysbench(machine=Machine(None, None, versions={"sysbench": "0.4.12"})).phases] == [
        None
    ]
    for series in ("9.3", "8.4", None):
        (phase,) = pgbench(Machine(None, None, series=series)).phases
        assert phase.live is None
        assert phase.run_words == phase.words
    assert pgbench(Machine(None, None, series="9.4")).phases[0].live is not None


def test_each_run_of_a_test_that_ages_the_storage_says_its_rates_and_its_filling_none() -> None:
    filling, *runs = pgbench(test="drift").phases
    assert filling.live is None
    assert all(phase.live is not None for phase in runs)


def program(words: Sequence[str | int | float]) -> str:
    called = call(str(words[0]), *words[1:]).text
    return f"{library(named_in(called))}\n{called}"


def run(words: Sequence[str | int | float], folder: Path, shell: str) -> list[bytes]:
    """Run it, and return its output as it arrives."""
    made: list[bytes] = []
    with subprocess.Popen([shell, "-c", program(words)], cwd=folder, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        while data := os.read(running.stdout.fileno(), 65536):
            made.append(data)
    assert running.returncode == 0, made
    return made


def measured(procedure: Procedure, folder: Path, shell: str) -> tuple[list[float], float]:
    """Run the one phase with ticks, and return the rates that it said and the one of its result."""
    (phase,) = procedure.phases
    headline, saying, said = procedure.headlines[0], Saying(live(procedure)), list[float]()
    output = run(("bench_run_with_ticks", "", *phase.run_words), folder, shell)
    for data in output:
        said += [rate for name, rate in saying.take(data).items() if name == headline]
    text = without_ticks(b"".join(output).decode(), phase.live).lstrip()
    assert not [line for line in text.splitlines() if line.startswith((str(live(procedure).run[1]), ". "))]
    reading = procedure.read([text])
    assert reading.failure == ""
    return said, reading.metrics[headline]


def in_each_shell(name: str, in_dash: str, in_bash: str) -> pytest.MarkDecorator:
    """Each shell and each kind of run once, which know nothing of each other; make test-long runs every pair."""
    pairs = [("dash", in_dash), ("bash", in_bash)]
    others = [("dash", in_bash), ("bash", in_dash)]
    return pytest.mark.parametrize(
        ("shell", name), [*pairs, *(pytest.param(*each, marks=pytest.mark.long) for each in others)]
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed here")
@in_each_shell("pattern", "rndrd", "rndwr")
def test_sysbench_says_its_rates_and_its_result(tmp_path: Path, shell: str, pattern: str) -> None:
    made = sysbench(pattern)
    assert made.prepare is not None
    run(made.prepare.words, tmp_path, shell)
    said, result = measured(made, tmp_path, shell)
    assert said
    assert min(said) / 3 < result < 3 * max(said)


@pytest.mark.slow
@in_each_shell("test", "tpcb", "select")
def test_pgbench_says_its_rates_and_its_result(postgresql: Server, tmp_path: Path, shell: str, test: str) -> None:
    url = postgresql.create(f"bench_{shell}_{test}".replace("-", "_"))
    database = url.partition("?")[0].rpartition("/")[2]
    client = (
        *("env", f"PATH={postgresql.programs}:/usr/bin:/bin", f"PGHOST={postgresql.folder}"),
        *(f"PGUSER={OWNER}", f"PGDATABASE={database}"),
    )
    subprocess.run([*client, "pgbench", "-i", "-q", "-s", "1"], check=True, capture_output=True)
    made = pgbench(test=test)
    (phase,) = made.phases
    command = phase.words[phase.words.index("pgbench") :]
    said, result = measured(replace(made, phases=(replace(phase, words=(*client, *command)),)), tmp_path, shell)
    assert said
    assert min(said) / 3 < result < 3 * max(said)
    postgresql.drop(url)


def test_the_exit_status_and_the_complaints_of_a_tool_are_passed_on(tmp_path: Path) -> None:
    words = ("bench_run_telling", "- ", "eval", "echo '- now'; echo why >&2; (exit 3)")
    for shell in ("dash", "bash"):
        ended = subprocess.run([shell, "-c", program(words)], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (3, "- now\nwhy\n", "")


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_tool_that_writes_much_does_not_wait_for_a_shell_that_reads_bytes(tmp_path: Path, shell: str) -> None:
    """All of its lines are printed, and none is looked at any more: a notice for each transaction halved the rate."""
    many = "i=0; while [ $i -lt 2000 ]; do echo notice $i; i=$((i + 1)); done"
    output = b"".join(
        run(("bench_run_telling", "- ", "eval", f"echo '- 1'; {many}; printf -- '- 2\\nend'"), tmp_path, shell)
    )
    notices = "".join(f"notice {number}\n" for number in range(2000))
    assert output.decode() == f"- 1\n{notices}- 2\nend"
