"""The checks of files, hosts, storage and what starts a cluster: each with what makes it fail, and what it needs."""

import dataclasses
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.facts.host_environment import (
    Account,
    Autostart,
    Clock,
    DiskHealth,
    Firewall,
    HaOrPooler,
    HostEnvironment,
    IrregularFiles,
    Limits,
    Process,
    Removal,
    Scheduled,
    SecurityPolicy,
)
from core.facts.model import Array, Cluster, Facts, FileSystem, Gap, Link, Memory, System
from core.migration.checks import CHECKS, check
from core.migration.model.checks import CheckResult, Status
from core.migration.model.move import Move
from tests.core.migration.builders import DATA, TARGET, cluster, control, host_environment, move, new, old, space

B, U, W, P = Status.BLOCKER, Status.UNKNOWN, Status.WARNING, Status.PASS
GB = 1024**3
SYSTEM = System("x", "Debian", "6.1", "x86_64")
RUNNING_UNDER = {"running": True, "port": 5432}


def one(identifier: str, here: Facts, there: Facts, undertaking: Move | None = None) -> CheckResult:
    results = check(undertaking or move(), here, there)
    return next(result for result in results if result.id == identifier)


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

# check, changes of the cluster, of old's environment, of new's, how it comes out, words of the message
CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], Status, str]] = [
    ("owner", {}, {}, {"accounts": (Account("root", 0, 0),)}, B, "has no user postgres"),
    ("owner", {"owner": None, "owner_uid": 4711}, {}, {}, B, "has no name"),
    ("owner", {}, {}, {"accounts": None}, U, "could not be compared"),
    ("owner-number", {"owner_uid": 1500}, {}, {}, W, "another number"),
    ("owner-number", {}, {}, {"accounts": (Account("root", 0, 0),)}, U, "nothing to compare"),
    ("unreadable-files", odd(unreadable=2, examples={"unreadable": ("/d/x",)}), {}, {}, B, "2 files"),
    ("unreadable-files", {"irregular_files": None}, {}, {}, U, "could not be read"),
    ("foreign-files", odd(foreign=1), {}, {}, P, "1 file of somebody else"),
    (
        "foreign-files",
        foreign_key("on"),
        {},
        {},
        B,
        "refuses a key of its own",
    ),
    (
        "foreign-files",
        foreign_key("off"),
        {},
        {},
        P,
        "private key",
    ),
    ("special-files", odd(special=2, examples={"special": ("/x", "/y")}), {}, {}, W, "FIFOs or devices"),
    ("special-files", {"irregular_files": None}, {}, {}, U, "could not be read"),
    ("folder-mode", {"mode": "755"}, {}, {}, W, "refuses to start"),
    ("folder-mode", {"mode": "750"}, {}, {}, P, "the mode"),
    ("folder-mode", {"mode": "750", "series": "10", "version": "10.23"}, {}, {}, W, "refuses to start"),
    ("folder-mode", {"mode": None}, {}, {}, U, "could not be read"),
    ("hard-links", odd(hard_links=3), {}, {}, W, "several names"),
    ("sparse-files", odd(sparse=1, sparse_bytes=1 << 30), {}, {}, W, "with holes"),
    ("ha-manager", {}, {"ha_and_poolers": (PATRONI,)}, {}, B, "patroni is at work on old"),
    ("ha-manager", {}, {"ha_and_poolers": (RESTING,)}, {}, W, "none is at work"),
    ("ha-manager", {}, {}, {"ha_and_poolers": (PATRONI,)}, W, "set up"),
    ("ha-manager", {}, {}, {"ha_and_poolers": None}, U, "could not be read"),
    ("autostart", process("runsv"), {}, {}, W, "may start old again"),
    ("autostart", process("systemd", "patroni.service"), {}, {}, W, "may start old again"),
    ("autostart", {}, {"autostart": Autostart(scripts=("postgresql",))}, {}, W, "may start old again"),
    (
        "autostart",
        {},
        {"ha_and_poolers": (HaOrPooler("monit", "watcher", running=True, enabled=True),)},
        {},
        W,
        "may start",
    ),
    ("autostart", process("systemd", "a.service") | {"unit": "a.service"}, {}, {}, P, "the plan keeps it"),
    ("autostart", {}, {"autostart": None}, {}, U, "could not be read"),
    ("pooler", {}, {"ha_and_poolers": (BOUNCER,)}, {}, W, "stands in front"),
    ("pooler", {}, {"ha_and_poolers": None}, {}, U, "could not be read"),
    ("cron-jobs", {}, {"schedule": (JOB,)}, {}, W, "scheduled jobs"),
    ("cron-jobs", {}, {"schedule": None}, {}, U, "could not be read"),
    ("virtual-addresses", {}, {"virtual_addresses": ("10.0.0.50",)}, {}, W, "10.0.0.50 can move"),
    ("virtual-addresses", {}, {"virtual_addresses": None}, {}, U, "could not be read"),
    ("clocks", {}, {}, {"clock": Clock(5.2, 0.1)}, W, "about 5.0 s ahead"),
    ("clocks", {}, {}, {"clock": Clock(-99.9, 0.1)}, W, "behind"),
    ("clocks", {}, {}, {"clock": Clock(0.0, 4.0)}, U, "too slowly"),
    ("clocks", {}, {"clock": None}, {}, U, "could not be read"),
    ("selinux", {}, {}, {"security_policy": SecurityPolicy("enforcing", apparmor=False)}, W, "enforcing on new"),
    ("selinux", {}, {}, {"security_policy": SecurityPolicy("permissive", apparmor=False)}, P, "no new guard"),
    ("selinux", {}, {}, {"security_policy": SecurityPolicy(None, apparmor=False)}, U, "could not be read"),
    (
        "apparmor",
        {},
        {},
        {"security_policy": SecurityPolicy("disabled", apparmor=True, profiles=("postgres (enforce)",))},
        W,
        "profile",
    ),
    ("apparmor", {}, {}, {"security_policy": None}, U, "could not be read"),
    ("apparmor", {}, {}, {"security_policy": SecurityPolicy("disabled", True, None)}, U, "are not known"),
    ("firewall", {}, {}, {"firewall": Firewall(drops=True, lines=("tcp dport 22 accept",))}, W, "port 5432"),
    ("firewall", {}, {}, {"firewall": Firewall(drops=True, lines=("tcp dport { 22, 5432 } accept",))}, P, "5432"),
    ("firewall", {}, {}, {"firewall": None}, U, "could not be read"),
    ("limits", process(files=65536), {}, {}, W, "open files"),
    ("limits", {}, {}, {"limits": Limits(1024, 65536)}, W, "locked memory"),
    ("limits", {}, {}, {"limits": None}, U, "could not be read"),
    ("shared-memory", {"owner_uid": 1500}, {}, {}, W, "an ordinary account on old:"),
    ("shared-memory", {"owner_uid": 1500}, {"removal": Removal(True, 999, ("postgres",))}, {}, P, "no logout"),
    ("shared-memory", {"owner_uid": 1500}, {"removal": Removal(False)}, {}, P, "no logout"),
    ("shared-memory", {"owner_uid": 1500}, {"removal": Removal(None)}, {}, U, "it is not known"),
    ("shared-memory", {}, {}, {"removal": None}, U, "on new removes"),
    ("nfs", {}, {"kernel": None}, {}, U, "could not be read"),
    ("disk-health", {}, {"disks": (DiskHealth("sda", healthy=False, said="FAILED!"),)}, {}, W, "sda of old"),
    ("disk-health", {}, {"disks": None}, {}, U, "could not be read"),
    ("disk-health", {}, {"disks": (DiskHealth("vda", healthy=None, said="no SMART"),)}, {}, U, "not every host"),
    ("primary", {"leftovers": ("standby.signal",)}, {}, {}, B, "standby"),
    ("primary", {"control": control(state="in archive recovery"), **RUNNING_UNDER}, {}, {}, B, "standby"),
    ("primary", {"control": None}, {}, {}, U, "not known"),
    ("leftovers", odd(partial=1, examples={"partial": ("/d/.~tmp~",)}), {}, {}, W, ".~tmp~"),
]


@pytest.mark.parametrize(("identifier", "of_cluster", "on_old", "on_new", "status", "words"), CASES)
def test_each(
    identifier: str,
    of_cluster: dict[str, Any],
    on_old: dict[str, Any],
    on_new: dict[str, Any],
    status: Status,
    words: str,
) -> None:
    here = old(cluster(**of_cluster), host_environment=host_environment(**on_old))
    result = one(identifier, here, new(host_environment=host_environment(**on_new)))
    assert (result.status, words in result.message) == (status, True), result.message
    assert one(identifier, old(), new()).status is P


def test_holes_of_a_compressing_file_system_are_none() -> None:
    here = old(cluster(**odd(sparse=9, sparse_bytes=1 << 30)))
    zfs = FileSystem("/srv/pg", "tank", "zfs", ("rw",), 9 * GB, 8 * GB)
    assert one("sparse-files", replace(here, file_systems=(zfs,)), new()).status is P


def placed(kind: str, *options: str, point: str = "/srv/pg") -> Facts:
    return replace(new(), file_systems=(FileSystem(point, "/dev/x", kind, ("rw", *options), 99 * GB, 98 * GB),))


@pytest.mark.parametrize(
    ("there", "target", "status", "words"),
    [
        (new(), "/data", B, "too near to the root"),
        (new(), "/var/lib/postgresql", B, "a folder of the system"),
        (placed("tmpfs"), TARGET, B, "gone after a restart"),
        (placed("xfs", "ro"), TARGET, B, "read-only"),
        (placed("xfs", point=TARGET), TARGET, W, "mount point"),
        (replace(new(), file_systems=()), TARGET, U, "not known"),
    ],
)
def test_a_place_that_is_none(there: Facts, target: str, status: Status, words: str) -> None:
    result = one("target-path", old(), there, move(target=target))
    assert (result.status, words in result.message) == (status, True), result.message


def test_copy_on_write() -> None:
    assert one("copy-on-write", old(), placed("btrfs", "compress=zstd:3")).status is W
    assert "compress=zstd:3" in one("copy-on-write", old(), placed("btrfs", "compress=zstd:3")).new
    assert one("copy-on-write", old(), placed("btrfs", "nodatacow")).status is P
    assert one("copy-on-write", old(), replace(new(), file_systems=())).status is U


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
    assert (shared.status, "share /srv/pg" in shared.message) == (W, True)


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


def test_time_zones() -> None:
    vienna = replace(new(), system=replace(SYSTEM, time_zone="Europe/Vienna"))
    assert one("time-zone", old(), vienna).status is W
    assert one("time-zone", old(), replace(new(), system=replace(SYSTEM, time_zone="UTC"))).status is P
    assert one("time-zone", old(), replace(new(), system=SYSTEM)).status is U


@pytest.mark.parametrize("identifier", ["links", "leftovers", "tablespaces-inside", "wal-directory"])
def test_links_that_could_not_be_read_are_no_pass(identifier: str) -> None:
    blind = old(gaps=(Gap("links", f"links and tablespaces of {DATA}", "it took too long", DATA),))
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
    "arrays": ("old.system", "new.system"),
    "disk-health": ("old.host_environment.disks", "new.host_environment.disks"),
    "clocks": ("old.host_environment.clock", "new.host_environment.clock"),
    "time-zone": ("old.system", "new.system"),
    "selinux": ("new.host_environment.security_policy",),
    "apparmor": ("new.host_environment.security_policy",),
    "firewall": ("new.host_environment.firewall",),
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
    "slots": ("cluster.wide",),
    "subscriptions": ("cluster.wide",),
    "publications": ("cluster.databases",),
    "standbys": ("cluster.wide",),
    "prepared-transactions": ("cluster.wide",),
    "schedulers": ("cluster.databases", "cluster.wide"),
    "unlogged": ("cluster.databases",),
    "local-start": ("cluster.wide", "new.trials"),
}


@pytest.mark.parametrize(("identifier", "path"), [(name, path) for name, paths in EVIDENCE.items() for path in paths])
def test_without_its_evidence_a_check_never_passes(identifier: str, path: str) -> None:
    side, _, rest = path.partition(".")
    here, there = old(), new()
    if side == "cluster":
        here = old(_without(cluster(), rest))
    elif side == "old":
        here = _without(here, rest)
    else:
        there = _without(there, rest)
        there = replace(there, trials=()) if rest == "clusters" else there  # a trial says what a cluster would
    result = one(identifier, here, there)
    assert result.status is not P, result.message
    assert result.message
    assert result.hint


@pytest.mark.parametrize("identifier", [declaration.id for declaration, _ in CHECKS])
def test_no_check_passes_without_facts_of_either_side(identifier: str) -> None:
    nothing = Facts("old", old().taken_at, 0.1, 1)
    result = one(identifier, nothing, replace(nothing, server="new"))
    assert result.status in (B, U) or identifier == "target-stopped"


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
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    here=spoiled(old(RICH, host_environment=CROWDED)),
    there=spoiled(new(replace(RICH, data_directory=TARGET), host_environment=CROWDED)),
)
def test_whatever_the_facts_hold_every_check_comes_to_a_finding(here: Facts, there: Facts) -> None:
    results = check(move(), here, there)
    assert {result.id for result in results} == {declaration.id for declaration, _ in CHECKS}
    assert all(result.message and isinstance(result.status, Status) for result in results)


def test_the_samples_are_whole() -> None:
    assert isinstance(RICH, Cluster)
    assert set(EVIDENCE) <= {declaration.id for declaration, _ in CHECKS}
