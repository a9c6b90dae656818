"""The lab itself: hosts that answer, caps and shapes that hold, cables that can be cut, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from core.jobs import Job
from core.servers.connection import Server
from core.servers.shell import command
from tests.lab import caps, clusters, disks, footprint
from tests.lab import lab as labs
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import BASE, LabError, command_lines, process_identity, run, wait_until
from tests.lab.traces import traces
from tests.live.moving import ASIDE

pytestmark = pytest.mark.lab

PROJECT = Path(__file__).resolve().parents[2]
CAPS = {"old": (40_000_000, 30_000_000, 900, 600), "new": (80_000_000, 60_000_000, 2000, 1500)}
HOLD_A_LAB = """
import sys
from tests.lab.lab import lab
with lab(sys.argv[1], with_clusters=False, size="1G") as made:
    print(made.name, flush=True)
    sys.stdin.read()
"""


def test_hosts_answer_over_ssh(old_server: Server, new_server: Server) -> None:
    for server in (old_server, new_server):
        assert server.run(command("hostname"), Job()).stdout == f"{server.name}\n"


@pytest.mark.parametrize(
    ("user", "become", "stdin", "expected"),
    [
        ("dba", "root", "", 0),
        ("plain", "root", "", 1),
        ("plain", "root", "s3cret pass\n", 0),
        ("plain", "root", "wrong\n", 1),
        ("pgonly", "postgres", "", 0),
        ("pgonly", "root", "", 1),
        ("nosudo", "root", "s3cret pass\n", 1),
    ],
)
def test_sudo_allows_what_each_user_may(lab: Lab, user: str, become: str, stdin: str, expected: int) -> None:
    options = ["-S", "-p", ""] if stdin else ["-n"]
    words = ["sudo", *options, "-u", become, "--", "true"]
    assert lab.old.exec(*words, user=user, input=stdin, check=False).returncode == expected


def test_old_runs_a_source_build_and_knows_nothing_of_debians_postgresql(lab: Lab) -> None:
    query = "SELECT count(*), pg_relation_filepath('archive') ~ '^pg_tblspc/' FROM archive"
    words = ["psql", "-h", "/tmp", "-XAt", "-c", "SHOW server_version", "-c", query, clusters.DATABASE]
    shown = lab.old.exec(f"{clusters.PREFIX}/bin/{words[0]}", *words[1:], user="postgres").stdout
    assert shown == "15.5\n50000|t\n"
    assert lab.old.exec("sh", "-c", "command -v pg_lsclusters psql", check=False).stdout == ""
    assert "postgresql" not in lab.old.exec("dpkg-query", "-W").stdout


def test_old_accepts_the_application_by_password_from_new(lab: Lab) -> None:
    address = f"postgresql://{clusters.ROLE}@{lab.old.address}/{clusters.DATABASE}"
    words = [
        "env",
        f"PGPASSWORD={clusters.ROLE_PASSWORD}",
        "psql",
        "-XAt",
        "-c",
        "SELECT max(bid) FROM pgbench_branches",
    ]
    assert lab.new.exec(*words, address).stdout == "5\n"


def test_new_has_debians_layout_with_an_empty_data_directory(lab: Lab) -> None:
    fields = lab.new.exec("pg_lsclusters", "--no-header").stdout.split()
    assert fields[:6] == ["15", "main", "5432", "down", "postgres", clusters.NEW_DATA]
    assert lab.new.exec("ls", "-A", clusters.NEW_DATA).stdout == ""


def test_file_systems_differ(lab: Lab) -> None:
    assert _file_system(lab.old) == "ext4"
    assert _file_system(lab.new) == "xfs"


def _file_system(host: Host) -> str:
    return host.exec("stat", "-f", "-c", "%T", host.data_disk).stdout.strip().replace("ext2/ext3", "ext4")


_OFF = 0.05
"""A cap that is not there, or of another unit, is off by more."""


@pytest.mark.long
@pytest.mark.measures
def test_fio_reads_the_disk_caps_back(lab: Lab) -> None:
    with ExitStack() as folders, ThreadPoolExecutor(2) as both:
        written = [folders.enter_context(_written_file(host)) for host in (lab.old, lab.new)]
        for name, limits in CAPS.items():
            lab.cap_disk(name, *limits)
        measured = dict(zip(CAPS, both.map(_settled, (lab.old, lab.new), written, CAPS.values()), strict=True))
    for name, limits in CAPS.items():
        assert measured[name] == pytest.approx(limits, rel=_OFF), name


@contextmanager
def _written_file(host: Host) -> Iterator[str]:
    """A folder with a file for fio; written, as what is only allocated costs no read but a write of the journal."""
    folder = host.exec("mktemp", "-d", f"{host.data_disk}/fio.XXXXXX").stdout.strip()
    try:
        host.exec("dd", "if=/dev/zero", f"of={folder}/data", "bs=1M", "count=64", "oflag=direct")
        yield folder
    finally:
        host.exec("rm", "-r", folder)


def _settled(host: Host, folder: str, limits: Sequence[float]) -> list[float]:
    """What fio reads back; where that is not near at once, the most of three times: a full machine stalls."""
    found = [_fio(host, folder)]
    if found[0] != pytest.approx(limits, rel=_OFF):
        found += [_fio(host, folder) for _ in range(2)]
    return [max(figures) for figures in zip(*found, strict=True)]


def _fio(host: Host, folder: str) -> tuple[float, ...]:
    """Bytes per second read and written in large requests, then requests per second in small ones."""
    large = _fio_pair(host, folder, "bw_bytes", ["--bs=128k", "--name=read", "--rw=read", "--name=write", "--rw=write"])
    small = ["--bs=4k", "--name=read", "--rw=randread", "--name=write", "--rw=randwrite"]
    return *large, *_fio_pair(host, folder, "iops", small)


def _fio_pair(host: Host, folder: str, figure: str, jobs: list[str]) -> tuple[float, float]:
    common = [f"--filename={folder}/data", "--size=64M", "--direct=1", "--ioengine=libaio", "--iodepth=16"]
    common += ["--time_based", "--ramp_time=1", "--runtime=6", "--output-format=json"]
    shown = host.exec("fio", *common, *jobs).stdout
    results = {job["jobname"]: job for job in json.loads(shown)["jobs"]}
    return results["read"]["read"][figure], results["write"]["write"][figure]


def test_lifted_caps_are_gone(lab: Lab) -> None:
    lab.cap_disk("old", 1_000_000, 2_000_000, 10, 0)
    assert caps.read(lab.old.device, lab.old.group) == {"read_bps": 1_000_000, "write_bps": 2_000_000, "read_iops": 10}
    lab.restore()
    assert caps.read(lab.old.device, lab.old.group) == {}


@pytest.mark.long
def test_a_host_has_no_more_memory_than_it_is_given() -> None:
    with labs.lab("memory", with_clusters=False, size="1G") as small:
        small.cap_memory(64 * 1024**2)
        for host in (small.old, small.new):
            host.exec("sh", "-c", "head -c 300M /dev/zero >/srv/pg/zeros && cat /srv/pg/zeros >/dev/null")
            kept = int(host.exec("fincore", "-bnro", "RES", "/srv/pg/zeros").stdout)
            assert 0 < kept <= 64 * 1024**2
            shown = host.exec("grep", "-E", "^Mem(Total|Available):", "/proc/meminfo").stdout.split()
            assert (int(shown[1]), int(shown[4]) <= 64 * 1024) == (64 * 1024, True)
    assert traces(small.name) == []


@pytest.mark.long
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor cannot be divided")
def test_the_hosts_share_no_processor_that_was_divided() -> None:
    with labs.lab("processors", with_clusters=False, size="1G") as small:
        small.divide_processors()
        used = []
        for host in (small.old, small.new):
            ssh = ["ssh", "-i", str(small.key), "-o", f"UserKnownHostsFile={small.known_hosts}", f"dba@{host.address}"]
            asked = ["grep", "Cpus_allowed_list", "/proc/self/status"]
            outside = subprocess.run([*ssh, *asked], capture_output=True, text=True, check=True).stdout
            assert host.exec(*asked).stdout == outside
            used.append(outside)
        assert used[0] != used[1]
    assert traces(small.name) == []


@pytest.mark.long
@pytest.mark.measures
def test_iperf3_sees_the_shape_of_the_network(lab: Lab) -> None:
    lab.shape("200mbit")
    shaped = _iperf3(lab)
    lab.shape("off")
    assert shaped == pytest.approx(200e6, rel=0.1)
    assert _iperf3(lab) > 1e9


def _iperf3(lab: Lab) -> float:
    """Bits per second received by new from old."""
    listening = subprocess.Popen(lab.new.command("iperf3", "-s", "-1"), stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: ":5201 " in lab.new.exec("ss", "-Hltn").stdout, "iperf3 to listen")
        shown = lab.old.exec("iperf3", "-c", lab.new.address, "-t", "2", "-J").stdout
    finally:
        listening.terminate()
        listening.wait()
    received = json.loads(shown)["end"]["sum_received"]["bits_per_second"]
    assert isinstance(received, float)
    return received


def test_a_cut_cable_carries_nothing_and_a_mended_one_all(lab: Lab) -> None:
    assert _reaches(lab) == {"from here": True, "from old": True}
    lab.cut("new")
    assert _reaches(lab) == {"from here": False, "from old": False}
    lab.mend("new")
    wait_until(lambda: all(_reaches(lab).values()), "the mended cable to carry")


def _reaches(lab: Lab) -> dict[str, bool]:
    """Whether new's sshd can be reached from this machine and from old."""
    words = ["socat", "-u", "OPEN:/dev/null", f"TCP:{lab.new.address}:22,connect-timeout=1"]
    here = subprocess.run(words, check=False, stderr=subprocess.DEVNULL).returncode == 0
    return {"from here": here, "from old": lab.old.exec(*words, check=False).returncode == 0}


def test_keyboard_interactive_has_a_port_of_its_own(lab: Lab) -> None:
    known = f"UserKnownHostsFile={lab.known_hosts}"
    words = [
        "ssh",
        "-F",
        "none",
        "-o",
        known,
        "-o",
        "BatchMode=yes",
        "-v",
        "-p",
        "2222",
        f"dba@{lab.old.address}",
        "true",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "Authentications that can continue: keyboard-interactive\n" in done.stderr.replace("\r", "")


@pytest.mark.long
def test_two_labs_at_once_do_not_meet(lab: Lab) -> None:
    with labs.lab("second", with_clusters=False, size="1G") as second:
        assert second.subnet != lab.subnet
        assert second.old.exec("hostname").stdout == "old\n"
        second.cut("old")
        assert _reaches(lab) == {"from here": True, "from old": True}
        second.cap_disk("old", 1_000_000, 0, 0, 0)
        assert second.old.device != lab.old.device
        lab.old.exec("touch", "/home/dba/mine")
        assert second.old.exec("ls", "/home/dba").stdout == ""
        lab.old.exec("rm", "/home/dba/mine")


@pytest.mark.parametrize(
    "sign", [signal.SIGKILL, *(pytest.param(each, marks=pytest.mark.long) for each in (signal.SIGTERM, signal.SIGINT))]
)
def test_a_killed_owner_leaves_nothing(lab: Lab, sign: signal.Signals) -> None:
    owner = _hold_a_lab()
    try:
        assert owner.stdout is not None
        name = owner.stdout.readline().strip()
        inside = _processes_of(labs.find(name))
        assert len(inside) >= 6  # process 1 and two sshd in each host
        assert traces(name) != []
    finally:
        owner.send_signal(sign)
        owner.communicate()
    wait_until(lambda: traces(name) == [], f"every trace of {name} to go: {traces(name)}")
    assert [pid for pid in inside if process_identity(pid) is not None] == []
    assert lab.old.exec("true").returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("after", ["folder", "bridge", "host"])
def test_an_owner_killed_while_the_lab_starts_leaves_nothing(after: str) -> None:
    owner = _hold_a_lab()
    name = f"killed-{owner.pid}"
    ready = {
        "folder": (BASE / name).exists,
        "bridge": lambda: any(trace.startswith("link") for trace in traces(name)),
        "host": lambda: any(trace.startswith("process") and "unshare" in trace for trace in traces(name)),
    }
    try:
        wait_until(ready[after], f"the lab's {after}")
    finally:
        owner.kill()
        owner.communicate()
    wait_until(lambda: traces(name) == [], f"every trace of {name} to go")


def _hold_a_lab() -> subprocess.Popen[str]:
    """A process that holds a lab named after itself."""
    words = [sys.executable, "-c", HOLD_A_LAB, "killed"]
    return subprocess.Popen(
        words, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def _processes_of(made: Lab) -> list[int]:
    """Every process of both hosts, as this machine numbers them."""
    namespaces = {Path(f"/proc/{host.pid}/ns/pid").stat().st_ino for host in (made.old, made.new)}
    return [pid for pid, _ in command_lines() if _namespace(pid) in namespaces]


def _namespace(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None


@pytest.mark.long
def test_a_dead_labs_leftovers_are_swept_by_the_next() -> None:
    labs.up("leftover", with_clusters=False, size="1G")
    state = BASE / "leftover" / "state.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "owner": "1:0"}))  # no process 1 began at 0
    with labs.lab("sweeper", with_clusters=False, size="1G"):
        assert traces("leftover") == []


def test_a_name_that_is_taken_is_refused_and_the_lab_stays(lab: Lab) -> None:
    with pytest.raises(LabError, match="is up already"):
        labs.up(lab.name)
    assert lab.old.exec("hostname").stdout == "old\n"


def test_a_footprint_tells_what_was_left(lab: Lab) -> None:
    before = footprint.footprint(lab.old)
    sleeps = "pgrep -x -f 'sleep 100' >/dev/null"
    litter = f"echo key >>/home/dba/.ssh/authorized_keys; mkdir /srv/pg/data/odd {ASIDE}"
    sleeper = "setsid sleep 100 >/dev/null 2>&1 &"
    lab.old.exec("sh", "-c", f"{litter}; {sleeper} until {sleeps}; do sleep 0.05; done")
    found = footprint.differences(before, footprint.footprint(lab.old))
    tidy = f"pkill -x -f 'sleep 100'; rmdir /srv/pg/data/odd {ASIDE}; sed -i '$d' /home/dba/.ssh/authorized_keys"
    lab.old.exec("sh", "-c", f"{tidy}; while {sleeps}; do sleep 0.05; done")
    assert "processes: left behind: root sleep 100" in found
    assert "files: left behind: /srv/pg/data/odd" in found
    assert f"files: left behind: {ASIDE}" in found
    assert any(line.startswith("contents: left behind:") and "authorized_keys" in line for line in found)
    assert footprint.differences(before, footprint.footprint(lab.old)) == []


@pytest.mark.usefixtures("clean_hosts")
def test_an_untouched_host_keeps_its_footprint(lab: Lab) -> None:
    lab.old.exec("true")


def test_a_disk_in_memory_never_takes_what_other_programs_need(tmp_path: Path) -> None:
    run("mount", "-t", "tmpfs", "-o", "size=4T", "pghaul-lab", tmp_path)
    try:
        image = tmp_path / "disk.img"
        run("truncate", "-s", "3T", image)
        with pytest.raises(LabError, match="MiB more of memory than other programs can spare"):
            disks.fill_up(tmp_path)
        assert image.stat().st_blocks == 0
    finally:
        run("umount", tmp_path)
