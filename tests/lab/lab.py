"""Labs as a whole: put one up, take one down, and clear away those whose owner died."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.lab import caps, clusters, debian, disks, hosts, machines, network, root, systemd
from tests.lab.hosts import Host, Kind
from tests.lab.machine import BASE, LabError, descendants, locked, process_identity, run

PASSPHRASE = "key pass"
NAMES = ("old", "new")
_SHOW_MEMORY = """
set -e
awk -v most="$1" '/^MemTotal:/ || ($3 == "kB" && $2 > most) { $2 = most } { print }' /proc/meminfo >/run/meminfo
mount --bind /run/meminfo /proc/meminfo
"""
"""A host with so many kB of memory says so, as a machine and a container of LXC do."""


@dataclass(slots=True)
class Lab:
    """Two running hosts.

    Attributes:
        key: private key of every user; `key_passphrase` the same with a passphrase; `user_ca` signs certificates.
        known_hosts: both hosts' keys, by address and by name.
        disturbed: whether anything was capped, shaped or cut since somebody set this to False.
    """

    name: str
    subnet: int
    old: Host
    new: Host
    disturbed: bool = False

    @property
    def folder(self) -> Path:
        return BASE / self.name

    @property
    def key(self) -> Path:
        return self.folder / "key"

    @property
    def key_passphrase(self) -> Path:
        return self.folder / "key_passphrase"

    @property
    def user_ca(self) -> Path:
        return self.folder / "user_ca"

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    def host(self, name: str) -> Host:
        return {"old": self.old, "new": self.new}[name]

    def cap_disk(
        self, host: str, read_bps: int = 0, write_bps: int = 0, read_iops: int = 0, write_iops: int = 0
    ) -> None:
        """Cap a host's data disk; 0 is no cap."""
        self.disturbed = True
        limits = {"read_bps": read_bps, "write_bps": write_bps, "read_iops": read_iops, "write_iops": write_iops}
        caps.cap(self.host(host).device, self.host(host).group, limits)

    def cap_memory(self, size: int) -> None:
        """Cap what both hosts have of memory, in bytes; stays until the lab is down. Disks in memory do not count."""
        for side in NAMES:
            host = self.host(side)
            disks.fill_up(self.folder / side / "disk")
            group = caps.cap_memory(self.name, side, host.pid, host.group, size)
            host = replace(host, group=group)
            host.exec("sh", "-c", _SHOW_MEMORY, "sh", str(size // 1024))
            setattr(self, side, host)

    def divide_processors(self) -> None:
        """Give each host half of the processors, as two machines have their own; stays until the lab is down. One
        processor cannot be divided."""
        usable = sorted(os.sched_getaffinity(0))
        half = len(usable) // 2
        for side, mine in zip(NAMES, (usable[:half], usable[half:]), strict=True) if half else ():
            host = self.host(side)
            for each in (host.pid, *descendants(host.pid)):
                os.sched_setaffinity(each, mine)
            setattr(self, side, replace(host, processors=tuple(mine)))

    def shape(self, rate: str) -> None:
        """Cap both cables, each way, at a rate such as `1gbit`; `off` lifts it."""
        self.disturbed = True
        network.shape(self.subnet, {"old": self.old.pid, "new": self.new.pid}, rate)

    def cut(self, host: str) -> None:
        self.disturbed = True
        network.cut(self.subnet, host)

    def mend(self, host: str) -> None:
        self.disturbed = True
        network.mend(self.subnet, host)

    def restore(self) -> None:
        """No caps, no shape, no cut cable."""
        if self.old.kind is not Kind.MACHINES:
            self.shape("off")
        for name in NAMES:
            if self.host(name).kind is not Kind.MACHINES:
                self.cap_disk(name)
            self.mend(name)
        self.disturbed = False

    def cut_power(self, host: str) -> None:
        """Of a host with systemd; `boot` brings it back."""
        systemd.cut_power(self.host(host))

    def boot(self, host: str) -> None:
        """Power on again; returns once all that starts with the host has."""
        setattr(self, host, systemd.boot(self.name, self.subnet, self.host(host)))
        hosts.wait_for_sshd(self.host(host), self.folder)
        systemd.wait_for_units(self.host(host))
        state = json.loads((self.folder / "state.json").read_text())
        _write_state(self.folder, {**state, host: asdict(self.host(host))})

    def restart(self, host: str) -> None:
        """An orderly restart of a host with systemd."""
        systemd.shut_down(self.host(host))
        self.boot(host)


@contextmanager
def lab(
    name: str,
    *,
    scale: int = 5,
    size: str = "8G",
    with_clusters: bool = True,
    kind: Kind = Kind.NAMESPACES,
    old_debian: str = debian.RELEASE,
) -> Iterator[Lab]:
    """A lab that ends with the block, and also when this process is killed: a watchdog waits for the end of a pipe."""
    unique = f"{name}-{os.getpid()}"
    watchdog = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("watchdog.py")), unique],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        owner = os.getpid()
        yield up(
            unique, scale=scale, size=size, with_clusters=with_clusters, kind=kind, old_debian=old_debian, owner=owner
        )
    finally:
        complaint = watchdog.communicate()[1].decode()  # closes the pipe; the watchdog takes the lab down
        if watchdog.returncode != 0:
            raise LabError(f"lab {unique} could not be taken down: {complaint.strip()}")


def up(
    name: str,
    *,
    scale: int = 5,
    size: str = "8G",
    with_clusters: bool = True,
    kind: Kind = Kind.NAMESPACES,
    old_debian: str = debian.RELEASE,
    owner: int | None = None,
) -> Lab:
    """Put a lab up. Hosts with systemd have no clusters of the lab's (layouts.py), and old may be of an older Debian.

    With an owner it counts as dead, and may be swept, once that process is gone.
    """
    if not name.replace("-", "").replace("_", "").isalnum():
        raise LabError(f"{name!r} is no name for a lab: letters, digits, - and _")
    folder = BASE / name
    with locked():
        _sweep()
        if folder.exists():
            raise LabError(f"lab {name} is up already: take it down first")
        folder.mkdir(mode=0o700)
        _write_state(folder, {"owner": process_identity(os.getpid())})  # whoever builds it owns it until it stands
        subnet = network.create(name)
    try:
        _make_keys(folder)
        made = _start_hosts(folder, name, subnet, size, kind, old_debian)
        if with_clusters and kind is not Kind.SYSTEMD:
            clusters.start_old(made.old, scale)
            clusters.prepare_new(made.new)
    except BaseException:
        down(name)
        raise
    state = {"subnet": subnet, "old": asdict(made.old), "new": asdict(made.new)}
    _write_state(folder, {"owner": process_identity(owner) if owner else None, **state})
    return made


def down(name: str) -> None:
    """Take a lab down, whatever is there of it. Caps first: they would stay on the device number."""
    folder = BASE / name
    disks.lift_caps(folder)
    hosts.stop(folder)
    disks.remove(folder)
    caps.remove_groups(name)
    network.remove(name)
    shutil.rmtree(folder, ignore_errors=True)


def find(name: str) -> Lab:
    """A lab that is up."""
    try:
        state = json.loads((BASE / name / "state.json").read_text())
        return Lab(name, state["subnet"], _host(state["old"]), _host(state["new"]))
    except (OSError, KeyError) as error:
        raise LabError(f"there is no lab {name}") from error


def _host(fields: dict[str, Any]) -> Host:
    group = fields.get("group")
    made = {"key": Path(fields["key"]), "group": Path(group) if group else None, "kind": Kind(fields["kind"])}
    return Host(**{**fields, **made})


def _sweep() -> None:
    """Take down the labs that died, under the lock; one that resists does not stand in the way of a new one."""
    for folder in BASE.iterdir():
        if _dead(folder):
            with suppress(LabError):
                down(folder.name)


def _dead(folder: Path) -> bool:
    """Whether a lab's owner is gone, or it has none and its hosts ended, as when the machine was restarted."""
    try:
        owner = json.loads((folder / "state.json").read_text())["owner"]
    except FileNotFoundError:  # killed before it could say who it is, or just being taken down
        return True
    if owner is None:
        return not hosts.running(folder)
    return process_identity(int(str(owner).partition(":")[0])) != str(owner)


def _write_state(folder: Path, state: dict[str, Any]) -> None:
    partial = folder / "state.partial"
    partial.write_text(json.dumps(state, default=str))
    partial.rename(folder / "state.json")


def _make_keys(folder: Path) -> None:
    for file, passphrase in (("key", ""), ("key_passphrase", PASSPHRASE), ("user_ca", "")):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", f"lab {file}", "-f", folder / file)


def _start_hosts(folder: Path, name: str, subnet: int, size: str, kind: Kind, old_debian: str) -> Lab:
    addresses = {host: network.address(subnet, host) for host in NAMES}
    known = []
    for host in NAMES:
        up_folder = folder / host / "up"
        up_folder.mkdir(parents=True)
        up_folder.chmod(0o755)
        write = root.write_on_debian if kind is Kind.SYSTEMD else root.write
        write(up_folder, host, addresses, folder)
        public = (up_folder / "etc/ssh/ssh_host_ed25519_key.pub").read_text().split()
        known += [
            f"{pattern} {public[0]} {public[1]}" for pattern in (addresses[host], f"[{addresses[host]}]:2222", host)
        ]
    (folder / "known_hosts").write_text("\n".join(known) + "\n")
    if kind is not Kind.SYSTEMD:
        _make_source_build(folder / "old" / "up")
    if kind is Kind.SYSTEMD:
        releases = zip(NAMES, (old_debian, debian.RELEASE), strict=True)
        old, new = (systemd.start(folder, name, subnet, host, size, release=release) for host, release in releases)
    else:
        start = machines.start if kind is Kind.MACHINES else hosts.start
        old, new = (start(folder, name, subnet, host, size) for host in NAMES)
    made = Lab(name, subnet, old, new)
    for each in (made.old, made.new):
        hosts.wait_for_sshd(each, folder)
        if kind is Kind.SYSTEMD:
            systemd.wait_for_units(each)
    return made


def _make_source_build(up: Path) -> None:
    """No PostgreSQL but one that somebody built."""
    root.hide_debian_postgresql(up)
    root.copy_in(clusters.binaries(), up, clusters.PREFIX)
    ld = up / "etc/ld.so.conf.d"
    ld.mkdir(exist_ok=True)
    (ld / "pgsql.conf").write_text(f"{clusters.PREFIX}/lib\n")
