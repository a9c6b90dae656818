"""What fio says of its rates while it runs, and that its results are read as without it."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.benchmarks.fio.tool import FIO
from core.benchmarks.model import Workload
from core.benchmarks.runs import Saying, without_ticks
from core.benchmarks.tool import LiveOutput, Machine, Phase, Procedure
from core.servers import remote_process
from core.servers.functions import library, named_in
from core.servers.shell import call

MARK = "pghaul-0123"
# fio 3.33 of Debian 12: `--rw=randrw --numjobs=2`, and a log with fdatasync
MIXED = (
    b"Jobs: 2 (f=2)\rJobs: 2 (f=2): [m(2)][60.0%][r=69.0MiB/s,w=68.1MiB/s][r=8836,w=8713 IOPS][eta 00m:02s]\r"
    b"Jobs: 2 (f=2): [m(2)][100.0%][r=94.9MiB/s,w=94.2MiB/s][r=12.1k,w=12.1k IOPS][eta 00m:00s]\r"
)
LOG = b"Jobs: 1 (f=1): [W(1)][60.0%][w=16.7MiB/s][w=2135 IOPS][eta 00m:02s]\r"
OF_2 = b"Jobs: 1 (f=1): [r(1)] [42.9% done] [31744KB/0KB/0KB /s] [3968/0/0 iops] [eta 00m:04s]\r"


def procedure(pattern: str, **parameters: str | int | bool) -> Procedure:
    size: dict[str, str | int] = {"size_bytes": 32 << 20, "runtime_seconds": 4}
    made = Workload("one", "one", "fio", "read_iops", {"pattern": pattern, **size, **parameters})
    return FIO.procedure(made, Machine(None, None))


def live(phase: Phase) -> LiveOutput:
    assert phase.live is not None
    return phase.live


def test_the_rates_of_a_moment_are_read() -> None:
    saying = Saying(live(procedure("randrw", direct=True).phases[0]))
    first, second, third, _ = MIXED.split(b"\r")
    assert saying.take(first + b"\r" + second[:40]) == {}
    assert saying.take(second[40:] + b"\r") == {
        "read_iops": 8836.0,
        "read_bytes_per_second": 8836 * 8192.0,
        "write_iops": 8713.0,
        "write_bytes_per_second": 8713 * 8192.0,
    }
    assert saying.take(b". 1 2 3 4\n" + third + b"\r")["read_iops"] == 12_100.0
    assert saying.take(b". 1 2 3 4\n{}\n") == {}


def test_a_write_of_a_log_is_a_sync() -> None:
    saying = Saying(live(procedure("write", direct=False, sync="fdatasync").phases[0]))
    assert saying.take(LOG)["fsyncs_per_second"] == 2135.0


def test_what_goes_to_memory_and_what_another_version_says_is_no_rate() -> None:
    assert procedure("write", direct=False).phases[0].live is None
    assert Saying(live(procedure("randread", direct=True).phases[0])).take(OF_2) == {}


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_output_breaks_it(first: bytes, second: bytes) -> None:
    said = live(procedure("randrw", direct=True).phases[0])
    saying = Saying(said)
    for data in (first, second, b"Jobs: 1" + first, b"[r=" + second + b" IOPS]\r"):
        saying.take(data)
    without_ticks((first + second).decode(errors="replace"), said)


def test_nothing_of_it_stays_in_the_output() -> None:
    said = live(procedure("randread", direct=True).phases[0])
    for line in (MIXED, LOG, OF_2):
        assert without_ticks(".\n" + line.decode() + ". 1 2 3 4\n\n{\nJobs: 1\n", said) == "{\nJobs: 1\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed here")
@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_fio_says_its_rates_and_its_results(tmp_path: Path, shell: str) -> None:
    made = procedure("randread", direct=True)
    (phase,) = made.phases
    assert made.prepare is not None
    subprocess.run([str(word) for word in made.prepare.words], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    called = call("bench_run_with_ticks", "", *phase.run_words).text
    program = f"{library(named_in(called))}\n{called}"
    saying, rates, output = Saying(live(phase)), list[float](), b""
    with subprocess.Popen([shell, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        while data := os.read(running.stdout.fileno(), 65536):
            output += data
            rates += [rate for name, rate in saying.take(data).items() if name == "read_iops"]
    assert running.returncode == 0
    reading = made.read([without_ticks(output.decode(), live(phase)).lstrip()])
    assert reading.failure == ""
    assert rates
    assert 0 < min(rates) <= max(rates)
    # the mean of all is among those of each second, unless there were few
    assert min(rates) / 3 < reading.metrics["read_iops"] < 3 * max(rates)


def running_in(folder: Path) -> list[Path]:
    """Return the processes of fio that work in this folder, in /proc; its parent comes first."""
    found = []
    for process in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        with suppress(OSError):  # it has ended meanwhile
            if process.joinpath("cwd").readlink() == folder and process.joinpath("comm").read_text() == "fio\n":
                found.append(process)
    return found


def writes(process: Path) -> int | None:
    """Return how often it has written, or None if it has ended."""
    try:
        return int(re.findall(r"^syscw: (\d+)$", process.joinpath("io").read_text(), re.MULTILINE)[0])
    except (OSError, IndexError):
        return None


def wait_until(holds: Callable[[], bool]) -> bool:
    """Return whether it holds before fio would end by itself."""
    until = time.monotonic() + 20
    while not (held := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return held


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed here")
@pytest.mark.parametrize(
    ("shell", "jobs"),
    # what ends them in a shell knows nothing of their number; make test-long runs every pair
    [("dash", 3), ("bash", 1), *(pytest.param(*each, marks=pytest.mark.long) for each in (("dash", 1), ("bash", 3)))],
)
def test_nothing_of_fio_stays_when_the_connection_is_lost(tmp_path: Path, shell: str, jobs: int) -> None:
    """Its processes are in groups of their own: fio must still be there to end them when its group is ended."""
    made = procedure("randread", direct=True, runtime_seconds=60, jobs=jobs)
    (phase,) = made.phases
    assert made.prepare is not None
    subprocess.run([str(word) for word in made.prepare.words], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    line, first = remote_process.line((), call("bench_run_with_ticks", "", *phase.run_words), MARK, lifeline=600)
    located = shutil.which(shell)
    assert located is not None
    tmp_path.joinpath("sh").symlink_to(located)
    with subprocess.Popen(
        ["sh", "-c", line],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(first)
        running.stdin.flush()
        try:
            said = b""
            while b" IOPS]" not in said and (data := os.read(running.stdout.fileno(), 65536)):
                said += data
            assert b" IOPS]" in said
            begun = running_in(tmp_path)
            assert len(begun) == 1 + jobs
            before = writes(begun[0])
            running.stdout.close()  # as sshd does it when the connection is lost
            assert wait_until(lambda: writes(begun[0]) != before)
            running.stdin.close()
            assert wait_until(lambda: running_in(tmp_path) == [])
        finally:
            for process in running_in(tmp_path):
                os.kill(int(process.name), signal.SIGKILL)
