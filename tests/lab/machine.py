"""What the lab needs of this machine: commands, locks, processes, and whether it can host a lab at all."""

import fcntl
import os
import pwd
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

BASE = Path("/var/lib/pghaul-lab")
"""Every lab has a folder here; the folder itself stays."""

CACHE = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache" / "pghaul-lab"
"""PostgreSQL binaries and initialised clusters, kept between labs; by the password database, as tests change HOME."""

CGROUPS = Path("/sys/fs/cgroup")
CAPS_OF_ROOT = CGROUPS / "blkio"
MEMORY = CGROUPS / "memory"
PACKAGES = Path(__file__).with_name("packages.txt")
_TOOLS = (
    *("ip", "tc", "losetup", "mkfs.ext4", "mkfs.xfs", "unshare", "nsenter", "sshd", "ssh-keygen", "sudo", "useradd"),
    *("rsync", "fio", "iperf3", "pg_createcluster", "dpkg-query", "runuser", "socat"),
)


class LabError(Exception):
    """The lab could not be set up; the text names what failed."""


def run(*words: str | Path, stdin: bytes | None = None, accept_failure: bool = False) -> str:
    """The standard output of a command on this machine; LabError with its stderr when it fails."""
    done = subprocess.run([str(word) for word in words], input=stdin or b"", capture_output=True, check=False)
    if done.returncode != 0 and not accept_failure:
        shown = " ".join(str(word) for word in words)
        raise LabError(f"{shown}: exit status {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


@contextmanager
def locked() -> Iterator[None]:
    """One at a time: choosing a subnet, sweeping dead labs, filling the cache."""
    BASE.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(BASE, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def wait_until(condition: Callable[[], bool], what: str, *, seconds: float = 15.0) -> None:
    """Look until the condition holds; LabError naming `what` when it does not in time.

    Again after 10 ms, after a costly look later: looks must not take the processor from what they wait for.
    """
    end = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if condition():
            return
        ended = time.monotonic()
        if ended > end:
            raise LabError(f"{what}: not within {seconds:.0f} seconds")
        time.sleep(min(max(0.01, 3 * (ended - began)), 0.2))


@contextmanager
def killed_at_the_end(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """The process, which is killed and waited for when the block is left: one failed test must not fail the next."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def process_identity(pid: int) -> str | None:
    """`PID:START`, which no later process shares; None when there is no such process or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else f"{pid}:{fields[19]}"


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    """The children of a process, and theirs."""
    return [each for child in children(pid) for each in (child, *descendants(child))]


def command_lines() -> Iterator[tuple[int, list[str]]]:
    """Every process's id and words."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue


@cache
def lab_unavailable() -> str | None:
    """Why this machine cannot host a lab, in one line; None when it can."""
    if not sys.platform.startswith("linux"):
        return "the lab needs Linux"
    if os.geteuid() != 0:
        return "the lab needs root"
    missing = [
        tool for tool in _TOOLS if shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") is None
    ]
    if missing:
        return f"the lab needs {', '.join(missing)}: apt-get install $(grep -v '^#' {PACKAGES.name})"
    if not Path("/usr/lib/postgresql/15/bin/postgres").exists():
        return "the lab needs Debian's postgresql-15"
    if os.uname().machine != "x86_64":
        return "the lab needs x86_64: there is no build of PostgreSQL 15.5 for another architecture"
    if not _can_cap():
        return f"the lab needs disk caps: no blkio or io control group at {CGROUPS}"
    return _kernel_lacks()


def _can_cap() -> bool:
    if (CAPS_OF_ROOT / "blkio.throttle.read_bps_device").exists():
        return True
    try:
        return {"io", "memory"} <= set((CGROUPS / "cgroup.controllers").read_text().split())
    except OSError:
        return False


def _kernel_lacks() -> str | None:
    if not Path("/dev/loop-control").exists():
        return "the lab needs loop devices: no /dev/loop-control"
    BASE.mkdir(mode=0o700, exist_ok=True)
    trial = (
        f"set -e; mount -t tmpfs tmpfs {BASE}; cd {BASE}; mkdir up work root; "
        "mount -t overlay trial -o lowerdir=/,upperdir=up,workdir=work root; "
        "ip link add trial type veth peer name trial1; ip link add trial2 type bridge; "
        "tc qdisc replace dev trial root tbf rate 1gbit burst 256kb latency 50ms"
    )
    words = ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--propagation", "private"]
    done = subprocess.run([*words, "sh", "-c", trial], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return "the lab needs namespaces, overlay, veth, bridge and tbf: " + re.sub(r"\s+", " ", done.stderr).strip()


if __name__ == "__main__":
    print(lab_unavailable() or "")
