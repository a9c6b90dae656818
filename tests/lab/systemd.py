"""The lab's hosts with systemd as process 1: containers over one Debian, whose power can be cut and that can restart.

Units, journal, sessions of users and control groups are real; the kernel is this machine's, at its own speed.
"""

import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

from tests.lab import caps, debian, disks, hosts, network
from tests.lab.hosts import FILESYSTEMS, Host, Kind
from tests.lab.machine import LabError, children, descendants, wait_until

PACKAGES = Path(__file__).with_name("packages-systemd.txt")
_BOOT = Path(__file__).with_name("boot.sh")
_TOOLS = ("mmdebstrap", "systemd-nspawn")
_SECONDS = 90.0
"""How long a host may take to come up or to go down in order; units have as long to stop."""


def systemd_unavailable() -> str | None:
    """Why this machine cannot host systemd, in one line; None when it can."""
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        return f"hosts with systemd need {', '.join(missing)}: apt-get install $(grep -v '^#' {PACKAGES.name})"
    return None


def start(folder: Path, lab: str, subnet: int, name: str, size: str, *, release: str = debian.RELEASE) -> Host:
    """Start a host whose upper folder is written, over that Debian; returns once its process 1 runs, its cable laid."""
    own = folder / name
    for each in ("work", "root", "data"):
        (own / each).mkdir()
    device = disks.create(own / "disk", size, FILESYSTEMS[name])
    group = caps.make_group(lab, name)
    caps.cap(device, group, caps.NONE)
    (own / "base").symlink_to(debian.debian(release))
    address = network.address(subnet, name)
    return boot(lab, subnet, Host(name, address, folder / "key", 0, device, group, kind=Kind.SYSTEMD))


def boot(lab: str, subnet: int, host: Host) -> Host:
    """Power on: what it was made of, with a process 1 of its own again."""
    own = host.key.parent / host.name
    cable = network.cable_name(subnet, host.name)
    wait_until(lambda: cable not in dict(network.links()), f"the cable of {host.name} to be gone")
    groups = caps.make_service_groups(lab, host.name)
    base = (own / "base").readlink()
    first = hosts.launch(own, groups, _BOOT, host.name, host.device, FILESYSTEMS[host.name], base)
    network.attach(subnet, host.name, lab, first)
    try:
        wait_until(lambda: _init(first) is not None, f"systemd of {host.name} to run")
    except LabError as error:
        raise LabError(f"{error}: {(own / 'log').read_text().strip()}") from error
    return replace(host, pid=_init(first) or 0)


def wait_for_units(host: Host) -> None:
    """Wait until systemd has started all that starts with the host, or has failed to."""
    states = ("running", "degraded")
    ask = ("systemctl", "is-system-running")
    wait_until(lambda: host.exec(*ask, check=False).stdout.strip() in states, f"{host.name} to boot", seconds=_SECONDS)


def cut_power(host: Host) -> None:
    """Every process of the host gone at once; what the kernel holds of its disks stays, as behind a battery."""
    own = host.key.parent / host.name
    for parent in hosts.running(own):
        for pid in children(parent):
            os.kill(pid, signal.SIGKILL)
    _wait_for_end(own)


def shut_down(host: Host) -> None:
    """An orderly end: units are stopped, as before a restart."""
    host.exec("systemctl", "--no-block", "poweroff")
    _wait_for_end(host.key.parent / host.name)


def _wait_for_end(own: Path) -> None:
    wait_until(lambda: not hosts.running(own), f"{own.name} to end", seconds=_SECONDS)


def _init(first: int) -> int | None:
    """The container's process 1 among the supervisor's descendants, as this machine numbers it, once it is systemd.

    Source: NSpid of proc_pid_status(5): the number in each namespace, the innermost last.
    """
    for pid in descendants(first):
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if fields["Name"] == "systemd" and fields["NSpid"].split()[-1] == "1":
            return pid
    return None
