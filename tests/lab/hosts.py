"""A lab host: a process in namespaces of its own, with root, address, data disk and sshd of its own."""

import os
import shlex
import signal
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.lab import caps, disks, network, root
from tests.lab.machine import LabError, children, command_lines, process_identity, wait_until

INIT = Path(__file__).with_name("init.sh")
FILESYSTEMS = {"old": "ext4", "new": "xfs"}
_MACHINE = "qemu-system-x86_64"
_BUILDERS = {"setsid", "unshare", _MACHINE, "truncate", "mke2fs", "mkfs.ext4", "mkfs.xfs", "losetup", "ssh-keygen"}
_NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid")


class Kind(StrEnum):
    """What a host is made of."""

    NAMESPACES = "namespaces"
    """Of this machine, by init.sh: no service manager."""
    MACHINES = "machines"
    """A virtual machine, entered by an sshd of the lab's own; see machines.py."""
    SYSTEMD = "systemd"
    """A container of Debian with systemd as process 1; see systemd.py."""


@dataclass(frozen=True, slots=True)
class Host:
    """One of the two hosts.

    Attributes:
        name: `old` or `new`.
        user: the user who may do everything by sudo without a password; see root.py for the others.
        key: the private key that every user accepts.
        pid: the host's process 1, as this machine numbers it; of a virtual machine, the machine itself.
        device: the loop device of the data disk; empty: it is the virtual machine's own.
        group: the control group of all that runs inside, where caps belong to groups; see caps.py.
        data_disk: where the data disk is mounted.
        kind: what the host is made of.
        processors: those that it may use; empty: all of this machine, which it shares with the other host.
    """

    name: str
    address: str
    key: Path
    pid: int
    device: str
    group: Path | None
    user: str = "dba"
    password: str = root.PASSWORD
    data_disk: str = "/srv/pg"
    kind: Kind = Kind.NAMESPACES
    processors: tuple[int, ...] = ()

    def exec(
        self,
        *words: str,
        user: str | None = None,
        input: str | None = None,  # noqa: A002  as subprocess has it
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command inside, past ssh, as root or as a user in their home; LabError when it fails and `check`."""
        done = subprocess.run(
            self.command(*words, user=user), input=input or "", capture_output=True, text=True, check=False
        )
        if check and done.returncode != 0:
            raise LabError(f"{self.name}: {' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
        return done

    def command(self, *words: str, user: str | None = None) -> list[str]:
        """The words that run a command inside."""
        clean = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"]
        become = [] if user is None else ["runuser", "-u", user, "--"]
        if self.kind is Kind.MACHINES:
            return [*_ssh(self), shlex.join([*clean, *become, *words])]
        enter = ["nsenter", "-t", str(self.pid), *_NAMESPACES, "--root", "--wd"]
        if self.kind is Kind.SYSTEMD:  # its control groups are its service manager's
            return [*enter, "--cgroup", *clean, *become, *words]
        own = ["taskset", "-c", ",".join(map(str, self.processors))] if self.processors else []
        return [*caps.in_groups([self.group] if self.group else []), *own, *enter, *clean, *become, *words]


def _ssh(host: Host) -> list[str]:
    """Into a virtual machine as root, by a connection that is kept for a while: a handshake takes it a second."""
    options = {
        "BatchMode": "yes",
        "ControlMaster": "auto",
        "ControlPath": host.key.parent / f"{host.name}.ssh",
        "ControlPersist": "20",
        "LogLevel": "ERROR",
        "ServerAliveInterval": "15",
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    return ["ssh", "-F", "/dev/null", "-i", str(host.key), "-p", "2200", *words, f"root@{host.address}", "--"]


def start(folder: Path, lab: str, subnet: int, name: str, size: str) -> Host:
    """Start a host whose upper folder is written; returns once its process runs and its cable is laid."""
    own = folder / name
    (own / "work").mkdir()
    (own / "root").mkdir()
    device = disks.create(own / "disk", size, FILESYSTEMS[name])
    group = caps.make_group(lab, name)
    caps.cap(device, group, caps.NONE)
    pid = launch(own, [] if group is None else [group], INIT, name, device, FILESYSTEMS[name])
    network.attach(subnet, name, lab, pid)
    return Host(name, network.address(subnet, name), folder / "key", pid, device, group)


def launch(own: Path, groups: Sequence[Path], script: Path, *words: str | Path) -> int:
    """Run a host's first script, `SCRIPT FOLDER WORDS…`, in namespaces and groups of its own; gives its process."""
    start = [*caps.in_groups(groups), "setsid", "--fork", "unshare", *_NAMESPACES, "--fork", "--kill-child"]
    start += ["--propagation", "private", "/bin/sh", str(script), str(own), *map(str, words)]
    with (own / "log").open("ab") as log:  # an orphan from the first, so that nobody here has to bury it
        subprocess.run(start, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    first: list[int] = []

    def started() -> bool:
        first.extend(pid for parent in running(own) for pid in children(parent))
        return bool(first)

    try:
        wait_until(started, f"host {own.name} to start")
    except LabError as error:
        raise LabError(f"{error}: {(own / 'log').read_text().strip()}") from error
    return first[0]


def wait_for_sshd(host: Host, folder: Path) -> None:
    """Wait until both sshd answer, then let the kernel detach the disk when the host ends."""
    log = folder / host.name / "log" if host.kind is not Kind.MACHINES else folder / f"{host.name}-machine" / "console"
    ports = {Kind.NAMESPACES: (22, 2222), Kind.MACHINES: (22, 2222, 2200), Kind.SYSTEMD: (22,)}[host.kind]

    def answers() -> bool:
        if process_identity(host.pid) is None:
            raise LabError(f"host {host.name} ended")
        return all(_open(host.address, port) for port in ports)

    try:
        wait_until(answers, f"sshd of {host.name} to answer", seconds=120)  # an emulated machine needs it
    except LabError as error:
        raise LabError(f"{error}: {log.read_text().strip()}") from error
    if host.kind is Kind.NAMESPACES:
        disks.let_go(host.device)


def _open(address: str, port: int) -> bool:
    try:
        with socket.create_connection((address, port), timeout=1):
            return True
    except OSError:
        return False


def running(folder: Path) -> list[int]:
    """A lab folder's hosts: the `unshare` that is the parent of a host's process 1, or the virtual machine."""
    return [pid for pid, words in command_lines() if words[0] in {"unshare", _MACHINE} and _belongs(words, folder)]


def _building(folder: Path) -> list[int]:
    """What a killed owner left at work on a lab: its own commands that name the folder, `unshare` among them."""
    return [pid for pid, words in command_lines() if words[0] in _BUILDERS and _belongs(words, folder)]


def _belongs(words: Sequence[str], folder: Path) -> bool:
    return any(word == str(folder) or word.startswith(f"{folder}/") for word in words)


def stop(folder: Path) -> None:
    """End every process of a lab's hosts. `unshare` ignores TERM; the end of a host's process 1 ends all of its own."""
    for parent in _building(folder):
        for pid in [*children(parent), parent]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    wait_until(lambda: not _building(folder), f"hosts of {folder} to end")
