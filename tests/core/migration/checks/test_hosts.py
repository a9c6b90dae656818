"""The checks of files, hosts, storage and what starts a cluster: each with what makes it fail, and what it needs."""

import dataclasses
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import units
from core.facts.clusters import CONTROL
from core.facts.data_files import IRREGULAR_FILES
from core.facts.host_environment import (
    Account,
    Autostart,
    Clock,
    DiskHealth,
    Firewall,
    HaOrPooler,
    HostEnvironment,
    IrregularFiles,
    Kernel,
    Limits,
    Listening,
    Process,
    Removal,
    Scheduled,
    SecurityPolicy,
)
from core.facts.model import Array, Cluster, Facts, FileSystem, Gap, HugePages, Link, Memory, System
from core.migration.checks import CHECKS, run_checks
from core.migration.findings.finding import CheckContext, Finding
from core.migration.model.checks import Status
from core.migration.model.move import Move
from tests.core.migration.builders import DATA, TARGET, cluster, control, host_environment, move, new, old, space
from tests.figures import without

B, U, W, P = Status.BLOCKER, Status.UNKNOWN, Status.WARNING, Status.PASS
GB = 1024**3
SYSTEM = System("x", "Debian", "6.1", "x86_64")
RUNNING_UNDER = {"running": True, "port": 5432}


COMPARE = {check.id: check for check in CHECKS}


def one(identifier: str, here: Facts, there: Facts, undertaking: Move | None = None) -> Finding:
    """What one check finds, without those beside it."""
    return COMPARE[identifier].run(CheckContext(undertaking or move(), here, there))


def told(finding: Finding) -> str:
    """Where a finding names what it is about."""
    return f"{finding.old} | {finding.new} | {finding.message}"


def odd(**changes: Any) -> dict[str, Any]:
    return {"irregular_files": replace(IrregularFiles(0, 0, 0, 0, 0, 0, {}), **changes)}


def foreign_key(ssl: str) -> dict[str, object]:
    """The private key of the server is another user's; whether it is in use."""
    examples = {"foreign": (f"{DATA}/server.key",)}
    return {**odd(foreign=1, examples=examples), "settings": {"ssl": ssl, "ssl_key_file": "server.key"}}


def process(parent: str | None = "init", unit: str | None = None, files: int = 1024) -> dict[str, Any]:
    return {"process": Process(Limits(files, 8 << 20), parent, unit), **RUNNING_UNDER}


PATRONI = HaOrPooler("patroni", "manager", running=True, enabled=True)
RESTING = HaOrPooler("repmgrd", "manager", running=False, enabled=False, files=("/etc/repmgr.conf",))
BOUNCER = HaOrPooler("pgbouncer", "pooler", running=True, enabled=False)
JOB = Scheduled("/etc/cron.d/backup", "postgres", "0 3 * * * postgres pg_dump shop")

OLD, NEW = "alder", "birch"
SOCKETS = {"unix_socket_directories": "/run/postgresql, /var/run/x"}
ALL = "0.0.0.0"
"""Names of the servers that are in no sentence."""
WHY = "it took too long"
"""The reason of a section that could not be read."""


@dataclasses.dataclass(frozen=True)
class Spoiled:
    """What is changed of the facts, how the check comes out then, and the values that it names.

    `unread`: the section of the cluster that could not be read.
    """

    status: Status
    named: tuple[str, ...] = ()
    cluster: dict[str, Any] = dataclasses.field(default_factory=dict)
    old: dict[str, Any] = dataclasses.field(default_factory=dict)
    new: dict[str, Any] = dataclasses.field(default_factory=dict)
    unread: str = ""


CASES: dict[str, tuple[Spoiled, ...]] = {
    "owner": (
        Spoiled(B, (NEW, "postgres"), new={"accounts": (Account("root", 0, 0),)}),
        Spoiled(B, ("uid 4711", DATA, OLD), {"owner": None, "owner_uid": 4711}),
        Spoiled(U, (NEW,), new={"accounts": None}),
    ),
    "owner-number": (
        Spoiled(P, ("uid 1500", "uid 101"), {"owner_uid": 1500}),
        Spoiled(U, ("postgres, uid 101",), new={"accounts": (Account("root", 0, 0),)}),
    ),
    "unreadable-files": (
        Spoiled(B, ("/d/x", "2"), odd(unreadable=2, examples={"unreadable": ("/d/x",)})),
        Spoiled(U, (WHY,), {"irregular_files": None}, unread=IRREGULAR_FILES.name),
    ),
    "foreign-files": (
        Spoiled(P, ("1",), odd(foreign=1)),
        Spoiled(B, (f"{DATA}/server.key",), foreign_key("on")),
        Spoiled(P, (f"{DATA}/server.key",), foreign_key("off")),
    ),
    "special-files": (
        Spoiled(W, ("/x, /y", "2"), odd(special=2, examples={"special": ("/x", "/y")})),
        Spoiled(U, (WHY,), {"irregular_files": None}, unread=IRREGULAR_FILES.name),
    ),
    "folder-mode": (
        Spoiled(W, ("755", "700 or 750", "15"), {"mode": "755"}),
        Spoiled(P, ("750",), {"mode": "750"}),
        Spoiled(W, ("750 | 700 |", "10"), {"mode": "750", "series": "10", "version": "10.23"}),
        Spoiled(U, (WHY,), {"mode": None}, unread=IRREGULAR_FILES.name),
    ),
    "hard-links": (Spoiled(W, ("3",), odd(hard_links=3)),),
    "sparse-files": (Spoiled(W, ("1", "1.0 GiB"), odd(sparse=1, sparse_bytes=1 << 30)),),
    "ha-manager": (
        Spoiled(B, ("patroni", OLD), old={"ha_and_poolers": (PATRONI,)}),
        Spoiled(W, ("repmgrd", "/etc/repmgr.conf"), old={"ha_and_poolers": (RESTING,)}),
        Spoiled(W, ("patroni is running on the server", NEW), new={"ha_and_poolers": (PATRONI,)}),
        Spoiled(U, (NEW,), new={"ha_and_poolers": None}),
    ),
    "autostart": (
        Spoiled(W, ("runsv",), process("runsv")),
        Spoiled(W, ("patroni.service",), process("systemd", "patroni.service")),
        Spoiled(W, ("postgresql",), old={"autostart": Autostart(scripts=("postgresql",))}),
        Spoiled(W, ("monit",), old={"ha_and_poolers": (HaOrPooler("monit", "watcher", running=True, enabled=True),)}),
        Spoiled(P, ("a.service",), process("systemd", "a.service") | {"unit": "a.service"}),
        Spoiled(U, (OLD,), old={"autostart": None}),
    ),
    "pooler": (
        Spoiled(W, ("pgbouncer",), old={"ha_and_poolers": (BOUNCER,)}),
        Spoiled(U, (OLD,), old={"ha_and_poolers": None}),
    ),
    "cron-jobs": (
        Spoiled(W, (f"{JOB.place}: {JOB.line}",), old={"schedule": (JOB,)}),
        Spoiled(U, (OLD,), old={"schedule": None}),
    ),
    "virtual-addresses": (
        Spoiled(W, ("10.0.0.50",), old={"virtual_addresses": ("10.0.0.50",)}),
        Spoiled(U, (OLD,), old={"virtual_addresses": None}),
    ),
    "clocks": (
        Spoiled(W, ("5.0 s ahead",), new={"clock": Clock(5.2, 0.1)}),
        Spoiled(W, ("1 min 40 s behind",), new={"clock": Clock(-99.9, 0.1)}),
        Spoiled(U, ("1 s",), new={"clock": Clock(0.0, 4.0)}),
        Spoiled(P, ("– | within a second |",), old={"clock": Clock(0.1, 0.1)}, new={"clock": Clock(0.1, 0.1)}),
        Spoiled(U, (OLD,), old={"clock": None}),
    ),
    "selinux": (
        Spoiled(W, ("disabled | enforcing",), new={"security_policy": SecurityPolicy("enforcing", apparmor=False)}),
        Spoiled(P, ("disabled | permissive",), new={"security_policy": SecurityPolicy("permissive", apparmor=False)}),
        Spoiled(U, (NEW,), new={"security_policy": SecurityPolicy(None, apparmor=False)}),
    ),
    "apparmor": (
        Spoiled(
            W,
            ("postgres (enforce)",),
            new={"security_policy": SecurityPolicy("disabled", True, ("postgres (enforce)",))},
        ),
        Spoiled(U, (NEW,), new={"security_policy": None}),
        Spoiled(U, (NEW,), new={"security_policy": SecurityPolicy("disabled", True, None)}),
    ),
    "firewall": (
        Spoiled(W, ("5432",), new={"firewall": Firewall(drops=True, lines=("tcp dport 22 accept",))}),
        Spoiled(
            P,
            ("tcp dport { 22, 5432 } accept",),
            new={"firewall": Firewall(drops=True, lines=("tcp dport { 22, 5432 } accept",))},
        ),
        Spoiled(W, ("tcp dport 5432 drop",), new={"firewall": Firewall(drops=False, lines=("tcp dport 5432 drop",))}),
        Spoiled(
            W,
            ("-A INPUT -p tcp --dport 5432 -j REJECT",),
            new={"firewall": Firewall(drops=True, lines=("-A INPUT -p tcp --dport 5432 -j REJECT",))},
        ),
        Spoiled(U, (NEW,), new={"firewall": None}),
    ),
    "port-free": (
        Spoiled(B, ("5432", f"{ALL} (pgbouncer, PID 77)"), new={"listening": (Listening(ALL, 5432, 77, "pgbouncer"),)}),
        Spoiled(B, ("::",), new={"listening": (Listening("::", 5432),)}),
        Spoiled(P, ("5432",), new={"listening": (Listening(ALL, 5433), Listening("/tmp/.s.PGSQL.5433", 5433))}),
        Spoiled(U, (NEW,), new={"listening": None}),
        Spoiled(U, ("port",), {"port": None, "settings": {}}),
    ),
    "limits": (
        Spoiled(W, (units.count(65536), units.count(1024)), process(files=65536)),
        Spoiled(W, ("8.0 MiB", "64.0 KiB"), new={"limits": Limits(1024, 65536)}),
        Spoiled(U, (NEW,), new={"limits": None}),
    ),
    "shared-memory": (
        Spoiled(W, ("postgres", "RemoveIPC", OLD), {"owner_uid": 1500}),
        Spoiled(P, ("postgres",), {"owner_uid": 1500}, {"removal": Removal(True, 999, ("postgres",))}),
        Spoiled(P, ("RemoveIPC",), {"owner_uid": 1500}, {"removal": Removal(False)}),
        Spoiled(U, ("RemoveIPC", OLD), {"owner_uid": 1500}, {"removal": Removal(None)}),
        Spoiled(U, (NEW,), new={"removal": None}),
    ),
    "nfs": (
        Spoiled(U, (OLD,), old={"kernel": None}),
        Spoiled(P, ("– | client yes, server yes", "does not need NFS"), old={"kernel": Kernel(None, None, None)}),
        Spoiled(
            P,
            ("client no, server no | client yes, server yes", "not possible"),
            old={"kernel": Kernel(False, False, None)},
        ),
    ),
    "disk-health": (
        Spoiled(
            W, ("FAILED!", f"sda (server {OLD})"), old={"disks": (DiskHealth("sda", healthy=False, said="FAILED!"),)}
        ),
        Spoiled(U, (OLD,), old={"disks": None}),
        Spoiled(U, ("vda", "no SMART"), old={"disks": (DiskHealth("vda", healthy=None, said="no SMART"),)}),
    ),
    "primary": (
        Spoiled(B, ("standby.signal", "shut down"), {"leftovers": ("standby.signal",)}),
        Spoiled(B, ("in archive recovery",), {"control": control(state="in archive recovery"), **RUNNING_UNDER}),
        Spoiled(U, (WHY,), {"control": None}, unread=CONTROL.name),
    ),
    "leftovers": (Spoiled(W, ("/d/.~tmp~",), odd(partial=1, examples={"partial": ("/d/.~tmp~",)})),),
}


@pytest.mark.parametrize("identifier", CASES)
def test_each_fails_for_its_own_reason_and_names_it(identifier: str, subtests: pytest.Subtests) -> None:
    assert one(identifier, old(), new()).status is P
    for number, spoiled in enumerate(CASES[identifier]):
        here = replace(old(cluster(**spoiled.cluster), host_environment=host_environment(**spoiled.old)), server=OLD)
        here = replace(here, gaps=(*here.gaps, Gap(spoiled.unread, "its section", WHY, DATA)))
        there = replace(new(host_environment=host_environment(**spoiled.new)), server=NEW)
        with subtests.test(number=number):
            found = one(identifier, here, there)
            assert found.status is spoiled.status
            assert [value for value in spoiled.named if value not in told(found)] == []


@pytest.mark.parametrize(
    ("held", "addresses", "taken"),
    [
        ("127.0.0.1", "*", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "10.0.0.11", False),
        (ALL, "localhost", True),
        (ALL, "::1", False),
        (ALL, "", False),
        ("::", ALL, True),
        ("0:0:0:0:0:0:0:1", "::1", True),
        ("0:0:0:0:0:0:0:1", ALL, False),
        ("10.0.0.12", "10.0.0.12, 10.0.0.13", True),
        ("10.0.0.12", "db.example.org", False),
        ("/run/postgresql/.s.PGSQL.5432", "", True),
        ("/tmp/.s.PGSQL.5432", "*", False),
    ],
)
def test_what_is_in_the_way_of_where_it_listens(held: str, addresses: str, taken: bool) -> None:
    here = old(cluster(settings={**cluster().settings, "listen_addresses": addresses, **SOCKETS}))
    found = one("port-free", here, new(host_environment=host_environment(listening=(Listening(held, 5432, 7, "x"),))))
    assert found.status is (B if taken else P)


def test_the_port_of_one_host_is_freed_by_the_stop_and_that_of_the_target_is_another_checks() -> None:
    held = host_environment(listening=(Listening(ALL, 5432, 7, "postgres"),))
    there = new(cluster(data_directory=TARGET, running=True), host_environment=held)
    assert one("port-free", old(), there).status is P
    here = old()
    assert here.system is not None
    same = replace(here, system=replace(here.system, boot_id="b"))
    assert one("port-free", same, replace(same, server="new", host_environment=held)).status is P


def test_the_limit_that_is_lower_is_named() -> None:
    fewer_files = one("limits", old(cluster(**process(files=65536))), new()).message
    less_locked = one("limits", old(), new(host_environment=host_environment(limits=Limits(1024, 65536)))).message
    assert ("open files" in fewer_files, "locked memory" in fewer_files) == (True, False)
    assert ("open files" in less_locked, "locked memory" in less_locked) == (False, True)


def test_holes_of_a_compressing_file_system_are_none() -> None:
    here = old(cluster(**odd(sparse=9, sparse_bytes=1 << 30)))
    zfs = FileSystem("/srv/pg", "tank", "zfs", ("rw",), 9 * GB, 8 * GB)
    assert one("sparse-files", replace(here, file_systems=(zfs,)), new()).status is P


def placed(kind: str, *options: str, point: str = "/srv/pg") -> Facts:
    return replace(new(), file_systems=(FileSystem(point, "/dev/x", kind, ("rw", *options), 99 * GB, 98 * GB),))


def test_a_place_that_is_none(subtests: pytest.Subtests) -> None:
    reasons = set()
    for there, target, status, named in (
        (new(), "/data", B, "/data"),
        (new(), "/var/lib/postgresql", B, "/var/lib/postgresql"),
        (placed("tmpfs"), TARGET, B, "tmpfs"),
        (placed("xfs", "ro"), TARGET, B, "/srv/pg "),
        (placed("xfs", point=TARGET), TARGET, W, TARGET),
        (replace(new(), file_systems=()), TARGET, U, TARGET),
    ):
        with subtests.test(target, status=status):
            result = one("target-path", old(), there, move(target=target))
            assert (result.status, named in result.message) == (status, True)
            system = there.file_system_of(target)
            assert system is None or system.kind in result.new
            reasons.add(without([target], result.message))
    assert len(reasons) == 6


def test_copy_on_write() -> None:
    assert one("copy-on-write", old(), placed("btrfs", "compress=zstd:3")).status is W
    assert "compress=zstd:3" in one("copy-on-write", old(), placed("btrfs", "compress=zstd:3")).new
    assert one("copy-on-write", old(), placed("btrfs", "nodatacow")).status is P
    assert one("copy-on-write", old(), replace(new(), file_systems=())).status is U


def test_file_systems_inside_the_data_directory() -> None:
    """Named by both devices, unless new has one in the same place."""
    wal = FileSystem(f"{DATA}/pg_wal", "/dev/wal", "ext4", ("rw",), 99 * GB, 98 * GB)
    here = replace(old(), file_systems=(*old().file_systems, wal))
    result = one("inner-mounts", here, placed("ext4"))
    assert (result.status, result.old) == (W, f"{DATA}/pg_wal is /dev/wal")
    assert result.new == f"{TARGET}/pg_wal is on /dev/x"
    own = replace(wal, mount_point=f"{TARGET}/pg_wal")
    assert one("inner-mounts", here, replace(new(), file_systems=(*new().file_systems, own))).status is P
    assert one("inner-mounts", old(), new()).status is P
    spread = cluster(tablespaces=(space("/space"),))
    for place, status in (("/space/PG_13_202007201", P), ("/space/PG_15_202209061", W)):
        apart = replace(old(spread), file_systems=(*old().file_systems, replace(own, mount_point=place)))
        assert one("inner-mounts", apart, new()).status is status
    itself = replace(wal, mount_point=DATA)
    assert one("inner-mounts", replace(old(), file_systems=(itself,)), new()).status is P


def test_arrays() -> None:
    bad = Array("md0", "raid1", "active", ("sda", "sdb"), degraded=True)
    assert one("arrays", old(arrays=(bad,)), new()).status is W
    assert one("arrays", old(), replace(new(), arrays=(replace(bad, degraded=False, action="resync"),))).status is W
    assert one("arrays", old(), replace(new(), arrays=(replace(bad, degraded=False),))).status is P
    assert one("arrays", old(gaps=(Gap("arrays", "md arrays", "it took too long"),)), new()).status is U


def test_the_wal_gets_a_place_of_its_own_again() -> None:
    apart = old(cluster(links=(Link("pg_wal", "/wal", dangling=False, size_bytes=GB, files=3),)))
    assert one("wal-directory", apart, new()).status is P
    shared = one("wal-directory", apart, new(), move(tablespace_targets={"/wal": "/srv/pg/wal"}))
    assert (shared.status, "/srv/pg " in shared.message) == (W, True)


def test_huge_pages_and_free_memory() -> None:
    demanding = old(cluster(settings={"shared_buffers": "4GB", "huge_pages": "on"}))
    used = Memory(32 * GB, 30 * GB, 0, 4096, 2 << 20)
    assert one("huge-pages", demanding, new()).status is W
    assert one("huge-pages", demanding, replace(new(), memory=used)).status is P
    trying = old(cluster(settings={"shared_buffers": "4GB", "huge_pages": "try"}), memory=used)
    assert one("huge-pages", trying, new()).status is W
    assert one("huge-pages", old(cluster(settings={})), new()).status is U
    busy = replace(new(), memory=Memory(32 * GB, 1 * GB, 0))
    assert one("free-memory", demanding, busy).status is W
    assert one("free-memory", demanding, replace(new(), memory=None)).status is U


TWO_MB = 2 << 20


def with_pages(total: int, free: int, promised: int, *, available: int = 30, size: int = TWO_MB) -> Facts:
    """The new server, of 32 GiB, with so many GiB in huge pages of that size. The default size is 2 MiB."""
    pages = HugePages(size, *(each * GB // size for each in (total, free, promised)))
    return replace(new(), memory=Memory(32 * GB, available * GB, 0, 0, TWO_MB, (pages,)))


@pytest.mark.parametrize(
    ("there", "size", "huge_pages", "free_memory"),
    [
        # all free; not promised to others; promised, or used
        (with_pages(8, 8, 0), "0", {"on": P, "try": P, "off": P}, {"on": P, "try": P, "off": P}),
        (with_pages(8, 6, 2), "0", {"on": P, "try": P, "off": P}, {"on": P, "try": P, "off": P}),
        (with_pages(8, 6, 3), "0", {"on": W, "try": W, "off": P}, {"on": W, "try": P, "off": P}),
        (with_pages(8, 3, 0), "0", {"on": W, "try": W, "off": P}, {"on": W, "try": P, "off": P}),
        # whatever is free besides, or is not
        (with_pages(24, 24, 0, available=3), "0", {"on": P, "try": P, "off": P}, {"on": P, "try": P, "off": W}),
        (with_pages(24, 6, 3, available=3), "0", {"on": W, "try": W, "off": P}, {"on": W, "try": W, "off": W}),
        # of another size than the cluster uses
        (with_pages(8, 8, 0, size=GB), "0", {"on": W, "try": W, "off": P}, {"on": W, "try": P, "off": P}),
        (with_pages(8, 8, 0, size=GB), "1048576", {"on": P, "try": P, "off": P}, {"on": P, "try": P, "off": P}),
    ],
)
@pytest.mark.parametrize("setting", ["on", "try", "off"])
def test_only_free_huge_pages_of_the_size_in_use_count(
    there: Facts, size: str, huge_pages: dict[str, Status], free_memory: dict[str, Status], setting: str
) -> None:
    of = cluster(settings={"shared_buffers": "4GB", "huge_pages": setting, "huge_page_size": size})
    both = (HugePages(TWO_MB, 4096, 0, 0), HugePages(GB, 8, 0, 0))
    here = old(of, memory=Memory(32 * GB, 1, 0, 4096, TWO_MB, both))
    assert one("huge-pages", here, there).status is huge_pages[setting]
    assert one("free-memory", here, there).status is free_memory[setting]


@pytest.mark.parametrize(
    ("shared", "free", "status", "note"),
    [("4352", 4 * GB, W, False), ("4352", 4352 << 20, P, False), (None, 4 * GB, P, True), (None, 3 * GB, W, False)],
)
@pytest.mark.parametrize("setting", ["on", "try"])
def test_all_shared_memory_comes_from_huge_pages(
    shared: str | None, free: int, status: Status, note: bool, setting: str
) -> None:
    """Not only shared_buffers. Before 15, and of a stopped server, only those are known."""
    told = {"shared_memory_size": shared} if shared is not None else {}
    of = cluster(settings={"shared_buffers": "4GB", "huge_pages": setting, **told})
    pages = HugePages(TWO_MB, 4096, free // TWO_MB, 0)
    there = replace(new(), memory=Memory(32 * GB, 2 * GB, 0, 0, TWO_MB, (pages,)))
    here = old(of, memory=Memory(32 * GB, 1, 0, 4096, TWO_MB, (HugePages(TWO_MB, 4096, 0, 0),)))
    result = one("huge-pages", here, there)
    assert (result.status, "whole shared memory" in result.message) == (status, note)
    assert (f"{'at least ' if shared is None else ''}4." in result.message) == (status is W)
    assert one("free-memory", here, there).status is status


@pytest.mark.parametrize(
    ("setting", "overcommit", "available", "huge_pages", "free_memory"),
    [
        ("on", 2 * GB, 2 * GB, W, P),
        ("on", 2 * GB, GB // 4, W, W),
        ("on", GB // 4, 2 * GB, W, W),
        ("try", 2 * GB, 2 * GB, P, W),
        ("try", GB // 4, 2 * GB, W, W),
    ],
)
def test_surplus_pages_may_be_refused(
    setting: str, overcommit: int, available: int, huge_pages: Status, free_memory: Status
) -> None:
    """Of 4 GiB and something, 3.5 are free in reserved huge pages."""
    of = cluster(settings={"shared_buffers": "4GB", "shared_memory_size": "4352", "huge_pages": setting})
    pages = HugePages(TWO_MB, 1792, 1792, 0, overcommit // TWO_MB, 0)
    there = replace(new(), memory=Memory(32 * GB, available, 0, 0, TWO_MB, (pages,)))
    here = old(of, memory=Memory(32 * GB, 1, 0, 0, TWO_MB, (HugePages(TWO_MB, 0, 0, 0, 4096, 0),)))
    result = one("huge-pages", here, there)
    assert result.status is huge_pages
    assert ("nr_overcommit_hugepages" in result.message) == (overcommit == 2 * GB)
    assert one("free-memory", here, there).status is free_memory


def test_memory_in_huge_pages_is_no_other_memory() -> None:
    """Of 32 GiB, 24 are in huge pages: 4 GiB of shared_buffers are half of the rest."""
    there = with_pages(24, 24, 0, available=3)
    found = {}
    for setting in ("on", "try", "off"):
        of = cluster(settings={"shared_buffers": "4GB", "huge_pages": setting})
        found[setting] = one("memory", old(of), there)
    assert {setting: each.status for setting, each in found.items()} == {"on": P, "try": P, "off": W}
    assert "24.0 GiB in huge pages" in found["off"].message
    said = one("free-memory", old(cluster(settings={"shared_buffers": "4GB", "huge_pages": "off"})), there).message
    for number in ("3.0 GiB of free memory", "shared_buffers takes 4.0 GiB", "Huge pages take 24.0 GiB"):
        assert number in said


def test_on_one_host_the_memory_of_the_old_cluster_becomes_free() -> None:
    system = replace(SYSTEM, boot_id="2f5e")
    one_host = replace(with_pages(4, 0, 0, available=1), system=system, network_links=old().network_links)
    for running, status in ((True, P), (False, W)):
        of = cluster(settings={"shared_buffers": "4GB", "huge_pages": "on"}, running=running)
        here = old(of, memory=one_host.memory, system=system)
        for identifier in ("huge-pages", "free-memory"):
            assert one(identifier, here, one_host).status is status


def test_time_zones() -> None:
    vienna = replace(new(), system=replace(SYSTEM, time_zone="Europe/Vienna"))
    assert one("time-zone", old(), vienna).status is W
    assert one("time-zone", old(), replace(new(), system=replace(SYSTEM, time_zone="UTC"))).status is P
    assert one("time-zone", old(), replace(new(), system=SYSTEM)).status is U


def test_links_that_could_not_be_read_are_no_pass(subtests: pytest.Subtests) -> None:
    blind = old(gaps=(Gap("links", f"links and tablespaces of {DATA}", "it took too long", DATA),))
    for identifier in ("links", "leftovers", "tablespaces-inside", "wal-directory"):
        with subtests.test(identifier):
            result = one(identifier, blind, new())
            assert (result.status, "it took too long" in result.message) == (U, True)


# What each check rests on, by side: without it there is no pass.
EVIDENCE: dict[str, tuple[str, ...]] = {
    "architecture": ("old.system", "new.system"),
    "control-data": ("cluster.control", "new.clusters"),
    "libc": ("old.system", "new.system"),
    "minor": ("cluster.version", "new.clusters"),
    "product": ("cluster.version",),
    "series": ("new.clusters",),
    "target-identity": ("new.gaps",),
    "old-stopped": ("cluster.control",),
    "space": ("cluster.size_bytes", "new.file_systems"),
    "inodes": ("cluster.files", "new.file_systems"),
    "memory": ("cluster.settings", "new.memory"),
    "rsync": ("old.tools", "new.tools"),
    "gnu-tools": ("old.tools", "new.tools"),
    "ssh": ("old.tools",),
    "primary": ("cluster.control",),
    "ha-manager": ("old.host_environment.ha_and_poolers", "new.host_environment.ha_and_poolers"),
    "autostart": ("old.host_environment.autostart", "old.host_environment.ha_and_poolers"),
    "pooler": ("old.host_environment.ha_and_poolers", "new.host_environment.ha_and_poolers"),
    "cron-jobs": ("old.host_environment.schedule",),
    "virtual-addresses": ("old.host_environment.virtual_addresses",),
    "owner": ("cluster.owner", "new.host_environment.accounts"),
    "owner-number": ("cluster.owner_uid", "new.host_environment.accounts"),
    "unreadable-files": ("cluster.irregular_files",),
    "foreign-files": ("cluster.irregular_files",),
    "special-files": ("cluster.irregular_files",),
    "folder-mode": ("cluster.mode",),
    "hard-links": ("cluster.irregular_files",),
    "sparse-files": ("cluster.irregular_files",),
    "target-path": ("new.file_systems",),
    "copy-on-write": ("new.file_systems",),
    "inner-mounts": ("old.file_systems",),
    "arrays": ("old.system", "new.system"),
    "disk-health": ("old.host_environment.disks", "new.host_environment.disks"),
    "clocks": ("old.host_environment.clock", "new.host_environment.clock"),
    "time-zone": ("old.system", "new.system"),
    "selinux": ("new.host_environment.security_policy",),
    "apparmor": ("new.host_environment.security_policy",),
    "firewall": ("new.host_environment.firewall",),
    "port-free": ("new.host_environment.listening",),
    "limits": ("old.host_environment.limits", "new.host_environment.limits"),
    "shared-memory": ("old.host_environment.removal", "new.host_environment.removal"),
    "huge-pages": ("cluster.settings", "old.memory", "new.memory"),
    "free-memory": ("cluster.settings", "new.memory"),
    "nfs": ("old.host_environment.kernel", "new.host_environment.kernel"),
    "collation": ("cluster.databases", "old.collation_order", "new.collation_order", "old.system", "new.system"),
    "locales": ("cluster.databases", "new.collation_order"),
    "extension-libraries": ("cluster.databases", "new.trials"),
    "extension-versions": ("cluster.databases", "new.trials"),
    "settings": ("new.trials",),
    "setting-paths": ("cluster.wide",),
    "listen-addresses": ("cluster.settings",),
    "access-rules": ("cluster.wide", "cluster.wide.hba"),
    "configuration-elsewhere": ("cluster.config_file",),
    "certificate": ("cluster.wide",),
    "pending-settings": ("cluster.wide",),
    "archiving": ("cluster.settings",),
    "pgbackrest": ("cluster.wide",),
    "slots": ("cluster.wide",),
    "subscriptions": ("cluster.wide",),
    "publications": ("cluster.databases",),
    "standbys": ("cluster.wide",),
    "prepared-transactions": ("cluster.wide",),
    "schedulers": ("cluster.databases", "cluster.wide"),
    "unlogged": ("cluster.databases",),
    "local-start": ("cluster.wide", "new.trials"),
}


def test_without_its_evidence_a_check_never_passes(subtests: pytest.Subtests) -> None:
    for identifier, path in [(name, path) for name, paths in EVIDENCE.items() for path in paths]:
        side, _, rest = path.partition(".")
        here, there = old(), new()
        if side == "cluster":
            here = old(_without(cluster(), rest))
        elif side == "old":
            here = _without(here, rest)
        else:
            there = _without(there, rest)
            there = replace(there, trials=()) if rest == "clusters" else there  # a trial says what a cluster would
        with subtests.test(identifier, path=path):
            result = one(identifier, here, there)
            assert result.status is not P
            assert result.message
            assert result.hint


def test_no_check_passes_without_facts_of_either_side() -> None:
    nothing = Facts("old", old().taken_at, 0.1, 1)
    results = run_checks(move(), nothing, replace(nothing, server="new"))
    assert {result.id for result in results} == set(COMPARE)
    assert {result.id for result in results if result.status not in (B, U)} <= {"target-stopped"}


def _without(thing: Any, path: str) -> Any:
    """The thing with the field at the end of the dotted path as it is where nothing was read."""
    name, _, rest = path.partition(".")
    value = getattr(thing, name)
    if rest:
        return replace(thing, **{name: _without(value, rest)})
    nothing: Any = () if isinstance(value, tuple) and not isinstance(thing, HostEnvironment) else None
    return replace(thing, **{name: {} if isinstance(value, dict) else nothing})


GARBAGE: dict[str, st.SearchStrategy[Any]] = {
    "int": st.sampled_from([0, -1, 1, 1 << 70]),
    "float": st.sampled_from([0.0, -1.0, 1e300]),
    "str": st.sampled_from(["", "\udcff", "x" * 500, "9.9.9", "/", "²", "a\nb", "1e9", "-"]),
    "bool": st.booleans(),
}


@st.composite
def spoiled(draw: st.DrawFn, thing: Any) -> Any:
    """A dataclass, some of whose fields are None, empty, or nonsense of their own kind."""
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):
        return thing
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(thing):
        value, text = getattr(thing, field.name), str(field.type)
        if draw(st.integers(0, 9)) > 2:
            continue
        if isinstance(value, tuple):
            changes[field.name] = draw(st.sampled_from([(), value])) if value else value
            changes[field.name] = tuple(draw(spoiled(each)) for each in changes[field.name])
        elif isinstance(value, dict):
            changes[field.name] = draw(st.sampled_from([{}, dict.fromkeys(value, "\udcff none")]))
        elif dataclasses.is_dataclass(value):
            changes[field.name] = None if "None" in text and draw(st.booleans()) else draw(spoiled(value))
        elif "None" in text and draw(st.booleans()):
            changes[field.name] = None
        elif type(value).__name__ in GARBAGE and field.name not in ("data_directory", "series"):
            changes[field.name] = draw(GARBAGE[type(value).__name__])
    return replace(thing, **changes)


RICH = cluster(
    tablespaces=(space("/space/a"), space(f"{DATA}/inside", 16401)),
    links=(Link("pg_wal", "/wal", dangling=False, size_bytes=1, files=1), Link("x", "/gone", dangling=True)),
    leftovers=("backup_label", "postmaster.pid"),
    **process("runsv"),
    **odd(foreign=1, sparse=2, examples={"foreign": ("/x",)}),
)
CROWDED = host_environment(
    ha_and_poolers=(PATRONI, BOUNCER),
    schedule=(JOB,),
    disks=(DiskHealth("sda", healthy=False, said="FAILED!"),),
    virtual_addresses=("10.0.0.50",),
)


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    here=spoiled(old(RICH, host_environment=CROWDED)),
    there=spoiled(new(replace(RICH, data_directory=TARGET), host_environment=CROWDED)),
)
def test_whatever_the_facts_hold_every_check_comes_to_a_finding(here: Facts, there: Facts) -> None:
    results = run_checks(move(), here, there)
    assert {result.id for result in results} == {check.id for check in CHECKS}
    assert all(result.message and isinstance(result.status, Status) for result in results)


def test_the_samples_are_whole() -> None:
    assert isinstance(RICH, Cluster)
    assert set(EVIDENCE) <= {check.id for check in CHECKS}
