"""What checks need, each subject once: where it is in the facts, and what an unknown says if it is missing.

The part of an ID before the point says whose facts these are: of the old cluster, of the old or of the new server.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from core.facts import (
    accounts,
    block_devices,
    cluster_configuration,
    clusters,
    data_files,
    databases,
    discovery,
    file_systems,
    ha_and_poolers,
    kernel,
    machine,
    network,
    programs,
    security_policy,
    starters,
)
from core.facts.catalog import Catalogs, ClusterWide
from core.facts.host_environment import Limits
from core.facts.model import Cluster, ControlData, Database, Facts, FileSystem
from core.facts.sections import RIGHTS, TRIAL, Section
from core.facts.starters import Service
from core.migration.checks.declaration import READ_AGAIN, Need
from core.migration.findings.binaries import list_preloaded_libraries
from core.migration.findings.catalogs import databases_with_catalogs, format_list
from core.migration.findings.collations import affected_collations
from core.migration.findings.data_roots import data_roots
from core.migration.findings.edited import predict_new_cluster
from core.migration.findings.finding import NOTHING, CheckContext, Finding, explain_gap, no_cluster_finding, unknown
from core.migration.findings.services import unknown_unit
from core.migration.model.move import Move
from core.migration.transports.copy_channel import LISTS
from core.servers.shell import quoted

T = TypeVar("T")
Databases = list[tuple[Database, Catalogs]]
"""The databases that are no templates, each with its catalogs."""

_FILE_SYSTEMS = (file_systems.MOUNTS, file_systems.SPACE)
_SETTINGS = (clusters.SETTINGS, databases.SQL)
_POLICY = (security_policy.SELINUX_AND_APPARMOR,)
_CONTENTS = (data_files.LINKS, data_files.IRREGULAR_FILES)
_MEMORY_UNITS = {"": 8192, "B": 1, "kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
"""PostgreSQL's units; a number without a unit counts blocks of 8 kB in shared_buffers."""
_LISTS_BY_HAND = "Compare by hand: allow 1 kB for each file, and run `df /tmp` on both servers."
_LOOK_FOR_SERVICES = "Look on the server {server} with `pg_lsclusters` and `systemctl list-unit-files '*postgres*'`."
INSTALL = (
    "Install PostgreSQL {series} on the new server, with its first cluster. That cluster shows how the binaries "
    "were built."
)


def _of_cluster(
    name: str,
    words: str,
    read: Callable[[Cluster], T | None],
    *sections: Section[object],
    hint: str = READ_AGAIN,
    missing: str = "",
) -> Need[T]:
    """Return a need that the facts of the old cluster contain."""
    return Need(
        f"cluster.{name}",
        words,
        lambda context: read(context.cluster) if context.cluster is not None else None,
        sections,
        hint,
        missing,
    )


def _setting(name: str, read: Callable[[Move, Cluster], T | None]) -> Need[T]:
    """Return the need of one setting of the old cluster."""
    return Need(
        f"cluster.{name}",
        f"value of {name}",
        lambda context: read(context.move, context.cluster) if context.cluster is not None else None,
        _SETTINGS,
        "Look in postgresql.conf on the server {server}.",
    )


def _of_both(
    name: str,
    words: str,
    read: Callable[[Facts], T | None],
    *sections: Section[object] | str,
    hint: str = READ_AGAIN,
    missing: str = "",
) -> tuple[Need[T], Need[T]]:
    """Return the needs that the facts of the old and of the new server contain."""
    return (
        Need(f"old.{name}", words, lambda context: read(context.old), sections, hint, missing),
        Need(f"new.{name}", words, lambda context: read(context.new), sections, hint, missing),
    )


# The old cluster and its files

CLUSTER = Need("cluster", "old cluster", lambda context: context.cluster, explain=no_cluster_finding)
CONTROL = _of_cluster(
    "control",
    "output of pg_controldata",
    lambda cluster: cluster.control,
    clusters.CONTROL,
    hint="Run pg_controldata of the old server's binaries on the data directory by hand, or put the binaries where "
    "pghaul finds them.",
)


def _read_owner(cluster: Cluster) -> tuple[str, int] | None:
    name, number = cluster.owner, cluster.owner_uid
    return (name, number) if name is not None and number is not None else None


OWNER = _of_cluster("owner", "owner", _read_owner, accounts.ACCOUNTS, hint="Compare `id` of the owner on both servers.")
MODE = _of_cluster("mode", "mode of the data directory", lambda cluster: cluster.mode, data_files.IRREGULAR_FILES)
IRREGULAR_FILES = _of_cluster(
    "irregular-files", "list of file kinds", lambda cluster: cluster.irregular_files, data_files.IRREGULAR_FILES
)


def _unless_gap(*sections: Section[object]) -> Callable[[CheckContext], Cluster | None]:
    """Return a function that returns the cluster unless one of these sections of it has a gap."""
    names = [each.name for each in sections]
    return lambda context: None if context.old.gap(*names, of=context.move.cluster) else context.cluster


LINKS = Need("cluster.links", "list of links", _unless_gap(data_files.LINKS), (data_files.LINKS,))
CONTENTS = Need("cluster.contents", "list of links and file kinds", _unless_gap(*_CONTENTS), _CONTENTS)


def _count_files(context: CheckContext) -> int | None:
    files = [root.files for root in data_roots(context.move, context.cluster)] if context.cluster is not None else []
    known = [number for number in files if number is not None]
    return sum(known) if len(known) == len(files) else None


FILE_COUNT = Need("cluster.files", "number of files", _count_files, (data_files.SIZE, data_files.LINKS), _LISTS_BY_HAND)

# The settings of the old cluster


def memory_bytes(setting: str) -> int | None:
    """Return a memory setting such as `128MB` in bytes, or None; a number without a unit counts 8 kB blocks."""
    found = re.fullmatch(r"\s*(\d+)\s*([kMGT]?B)?\s*", setting)
    return int(found[1]) * _MEMORY_UNITS[found[2] or ""] if found is not None else None


def _read_huge_pages(_move: Move, cluster: Cluster) -> str | None:
    return cluster.settings.get("huge_pages", None if float(cluster.series) >= 9.4 else "")


def _read_huge_page_size(_move: Move, cluster: Cluster) -> int:
    return int(cluster.settings.get("huge_page_size", "0")) * 1024


def _read_port(move: Move, cluster: Cluster) -> int | None:
    new = predict_new_cluster(move, cluster)
    return None if new.port is None and not new.settings else new.port or 5432


def _read_libraries(cluster: Cluster) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    known = cluster.wide is not None or "shared_preload_libraries" in cluster.settings
    return list_preloaded_libraries(cluster) if known else None


SHARED_BUFFERS = _setting("shared_buffers", lambda _, cluster: memory_bytes(cluster.settings.get("shared_buffers", "")))
SHARED_MEMORY = _setting(
    "shared_memory_size",
    lambda _, cluster: (
        memory_bytes(f"{cluster.settings['shared_memory_size']}MB")
        if "shared_memory_size" in cluster.settings
        else None
    ),
)
"""The whole shared memory in bytes, which includes shared_buffers. Only a running server tells it, since 15."""
HUGE_PAGES = _setting("huge_pages", _read_huge_pages)
"""The setting; empty before 9.4, where a server has no huge pages."""
HUGE_PAGE_SIZE = _setting("huge_page_size", _read_huge_page_size)
"""In bytes; 0, and before 14, for the default size of the host."""
ARCHIVE_MODE = _setting("archive_mode", lambda _, cluster: cluster.settings.get("archive_mode"))
LISTEN_ADDRESSES = _setting(
    "listen_addresses", lambda move, cluster: predict_new_cluster(move, cluster).settings.get("listen_addresses")
)
PORT = _setting("port", _read_port)
CONFIG_FILE = _setting("config_file", lambda _, cluster: cluster.config_file)
SETTINGS = _of_cluster(
    "settings",
    "settings",
    lambda cluster: cluster.settings if cluster.settings or cluster.wide is not None else None,
    *_SETTINGS,
)
PRELOADED_LIBRARIES = _of_cluster(
    "preloaded-libraries",
    "libraries that are loaded at the start",
    _read_libraries,
    *_SETTINGS,
    hint="Read shared_preload_libraries in postgresql.conf, and look for each library on the new server.",
    missing="The libraries that the old cluster on the server {server} loads at its start are not known ({reason}).",
)
CONFIGURATION_FILES = _of_cluster(
    "configuration-files",
    "configuration files",
    lambda cluster: cluster.configuration_files,
    cluster_configuration.CONFIGURATION_FILES,
)
START_COMPLAINTS = _of_cluster(
    "start-complaints",
    "validity of the configuration files",
    lambda cluster: cluster.start_complaints,
    cluster_configuration.START_FILES,
    missing="It is not known whether PostgreSQL on the server {server} would start with the configuration files as "
    "they are now ({reason}).",
)
OPTIONS = _of_cluster(
    "options", "command-line options", lambda cluster: cluster.options, cluster_configuration.START_FILES
)

# The catalogs of the old cluster


def _explain_catalogs(context: CheckContext, what: str) -> Finding:
    if context.cluster is None:
        return no_cluster_finding(context)
    server = context.old.server
    if not context.cluster.running:
        return unknown(
            "stopped",
            NOTHING,
            f"{what} are not known. The cluster on the server {server} is stopped, and its facts were never read while "
            "it was running.",
            f"Start it once, run `pghaul facts {quoted(server)}` and stop it. pghaul keeps what it has read for the "
            "checks.",
        )
    gap = context.old.gap(databases.SQL.name, of=context.move.cluster)
    reason = gap.reason if gap is not None else "the facts do not contain it"
    return unknown(
        "running",
        NOTHING,
        f"{what} could not be read by SQL on the server {server} ({reason}).",
        "Allow its owner to connect by the Unix socket (pg_hba.conf: local all postgres peer), and read the facts "
        "again.",
    )


def _explain_cluster_wide(context: CheckContext) -> Finding:
    return _explain_catalogs(context, "The catalogs of the whole cluster")


def _explain_databases(context: CheckContext) -> Finding:
    known = context.cluster.databases if context.cluster is not None else ()
    missing = [each.name for each in known if not each.template and each.catalogs is None]
    return _explain_catalogs(context, f"The catalogs of {format_list(missing) if missing else 'its databases'}")


def _read_cluster_wide(context: CheckContext) -> ClusterWide | None:
    return context.cluster.wide if context.cluster is not None else None


def _read_databases(context: CheckContext) -> Databases | None:
    return databases_with_catalogs(context.cluster) if context.cluster is not None else None


CLUSTER_WIDE = Need("cluster.wide", "cluster-wide catalogs", _read_cluster_wide, explain=_explain_cluster_wide)
DATABASES = Need("cluster.databases", "catalogs of every database", _read_databases, explain=_explain_databases)
COLLATIONS = Need("cluster.collations", "collations of every database", affected_collations, explain=_explain_databases)

# The old server

OLD_AUTOSTART = Need(
    "old.autostart",
    "automatic starts",
    lambda context: context.old.host_environment.autostart,
    (starters.AUTOSTART, ha_and_poolers.SECTION),
    "Look for init scripts, units and watchdogs of your own, and keep them from starting the old cluster.",
)
OLD_SCHEDULE = Need(
    "old.schedule",
    "scheduled jobs",
    lambda context: context.old.host_environment.schedule,
    (starters.SCHEDULES,),
    "Look with `crontab -l -u postgres; ls /etc/cron.d; systemctl list-timers`.",
)
OLD_FILE_SYSTEMS = Need(
    "old.file-systems",
    "mounted file systems",
    lambda context: context.old.file_systems or None,
    _FILE_SYSTEMS,
    "Look with `findmnt`.",
)


def _read_old_services(context: CheckContext) -> tuple[Service, ...] | None:
    """Return the services; None if one that was not read may be what runs the old server."""
    in_doubt = context.cluster is not None and unknown_unit(context.cluster, context.old) is not None
    gap = context.old.gap(discovery.UNITS.name, discovery.USER_UNITS.name)
    return None if in_doubt and gap is not None else context.old.services


def _read_new_services(context: CheckContext) -> tuple[Service, ...] | None:
    gap = context.new.gap(discovery.DEBIAN.name, discovery.UNITS.name)
    return None if gap is not None else context.new.services


OLD_SERVICES = Need(
    "old.services",
    "services that start clusters",
    _read_old_services,
    (discovery.UNITS, discovery.USER_UNITS),
    _LOOK_FOR_SERVICES,
    "The services that start clusters on the server {server} could not be read ({reason}).",
)

# The new server

NEW_SERVICES = Need(
    "new.services",
    "services that start clusters",
    _read_new_services,
    (discovery.DEBIAN, discovery.UNITS),
    _LOOK_FOR_SERVICES,
    OLD_SERVICES.missing,
)
NEW_ACCOUNTS = Need(
    "new.accounts",
    "users",
    lambda context: context.new.host_environment.accounts,
    (accounts.ACCOUNTS,),
    "Compare `id` of the owner on both servers.",
)
NEW_SERVERS = Need(
    "new.servers",
    "running PostgreSQL servers",
    lambda context: None if context.new.gap(discovery.POSTMASTERS.name, RIGHTS) is not None else context.new,
    (discovery.POSTMASTERS, RIGHTS),
    "Look on the server {server} with `ps -C postgres -o args`.",
    "The PostgreSQL servers that are running on the server {server} are not known ({reason}).",
)
NEW_LISTENING = Need(
    "new.listening", "listening ports", lambda context: context.new.host_environment.listening, (network.LISTENING,)
)
NEW_FIREWALL = Need(
    "new.firewall",
    "firewall",
    lambda context: context.new.host_environment.firewall,
    (security_policy.FIREWALL, RIGHTS),
    "Try from a client whether the cluster's port can be reached: `pg_isready -h HOST -p PORT`.",
)
NEW_TRIAL_START = Need(
    "new.trial-start",
    "trial start",
    lambda context: context.new.trial_start,
    hint="Run the checks again: they make the trial start.",
)
NEW_DATASETS = Need("new.datasets", "ZFS datasets", lambda context: context.new.host_environment.datasets)
NEW_FREE_MEMORY = Need(
    "new.free-memory",
    "free memory",
    lambda context: context.new.memory.available_bytes if context.new.memory is not None else None,
    (machine.MEMORY,),
    "Look on the server {server} with `free -h`.",
)


def _read_target_file_systems(context: CheckContext) -> list[FileSystem] | None:
    roots = data_roots(context.move, context.cluster) if context.cluster is not None else ()
    found = [context.new.file_system_of(root.target) for root in roots]
    known = [each for each in found if each is not None]
    return known if known and len(known) == len(found) else None


TARGET_FILE_SYSTEMS = Need(
    "new.target-file-systems",
    "file systems of the targets",
    _read_target_file_systems,
    _FILE_SYSTEMS,
    "Look on the server {server} with `findmnt`.",
    "The file systems of the targets on the server {server} are not known ({reason}).",
)


def _read_new_control(context: CheckContext) -> tuple[str, ControlData] | None:
    """Return the data directory and control data of a cluster that the new server's binaries have created."""
    made = next((each for each in context.siblings if each.control is not None), None)
    return (made.data_directory, made.control) if made is not None and made.control is not None else None


def _explain_new_control(context: CheckContext) -> Finding:
    if context.cluster is None:
        return no_cluster_finding(context)
    series = context.cluster.series
    return unknown(
        NOTHING,
        NOTHING,
        f"No cluster of PostgreSQL {series} that the binaries of the server {context.new.server} have created is known "
        f"({explain_gap(context.new, TRIAL)}).",
        f"Run the checks again: they create such a cluster. {INSTALL.format(series=series)}",
    )


NEW_CONTROL = Need(
    "new.control",
    "control data of a trial cluster",
    _read_new_control,
    explain=_explain_new_control,
)


def _read_new_postgresql(context: CheckContext) -> tuple[object, ...] | None:
    """Return the clusters and server programs on the new server, of whatever major version; None if there are none."""
    tools = [context.new.tool(name) for name in ("postgres", "pg_test_fsync", "pgbench")]
    named = (tool for tool in tools if tool is not None and tool.path is not None)
    found = (*context.new.clusters, *named, *(programs.server_programs(context.new) or ()))
    return found or None


NEW_POSTGRESQL = Need(
    "new.postgresql",
    "clusters and programs of PostgreSQL",
    _read_new_postgresql,
    (discovery.POSTMASTERS, programs.TOOLS, programs.SERVER_PROGRAMS),
)
BINARIES = Need(
    "new.binaries",
    "answers of the binaries in a trial cluster",
    lambda context: context.binaries,
    (TRIAL,),
    "Run the checks again: they create a trial cluster with the new server's binaries and ask it.",
    "The binaries of the server {server} were not asked ({reason}).",
)


def unanswered(old: str, silent: list[str]) -> Finding:
    """Return the unknown for files and names of which the binaries did not say whether the new server has them."""
    names = format_list(silent)
    return unknown(old, names, f"It is not known whether the new server has {names}.", "Run the checks again.")


# Both servers

OLD_SYSTEM, NEW_SYSTEM = _of_both("system", "architecture", lambda facts: facts.system, machine.SYSTEM)
OLD_LIBC, NEW_LIBC = _of_both(
    "libc",
    "C library version",
    lambda facts: facts.system.libc if facts.system is not None else None,
    machine.SYSTEM,
    hint="Compare `getconf GNU_LIBC_VERSION` on both servers.",
)
OLD_TIME_ZONE, NEW_TIME_ZONE = _of_both(
    "time-zone",
    "time zone",
    lambda facts: facts.system.time_zone if facts.system is not None else None,
    machine.SYSTEM,
    hint="Compare `timedatectl` on both servers.",
)
OLD_CLOCK, NEW_CLOCK = _of_both(
    "clock", "clock", lambda facts: facts.host_environment.clock, machine.NOW, hint="Compare `date` on both servers."
)
OLD_SELINUX, NEW_SELINUX = _of_both(
    "selinux",
    "mode of SELinux",
    lambda facts: policy.selinux if (policy := facts.host_environment.security_policy) is not None else None,
    *_POLICY,
    hint="Look on the server {server} with `getenforce`.",
    missing="The mode of SELinux on the server {server} could not be read ({reason}).",
)
NEW_APPARMOR = Need(
    "new.apparmor",
    "state of AppArmor",
    lambda context: policy.apparmor if (policy := context.new.host_environment.security_policy) is not None else None,
    _POLICY,
    "Look on the server {server} with `aa-status`.",
    "The state of AppArmor on the server {server} could not be read ({reason}).",
)
OLD_PROFILES, NEW_PROFILES = _of_both(
    "apparmor-profiles",
    "AppArmor profiles",
    lambda facts: policy.profiles if (policy := facts.host_environment.security_policy) is not None else None,
    hint="Look on the server {server} with `aa-status`.",
    missing="The AppArmor profiles of the server {server} are not known. AppArmor is active, and only root may read "
    "its profiles.",
)
OLD_MEMORY, NEW_MEMORY = _of_both(
    "memory", "memory", lambda facts: facts.memory, machine.MEMORY, hint="Look on the server {server} in /proc/meminfo."
)
OLD_LISTS, NEW_LISTS = _of_both(
    "lists",
    "file system of /tmp",
    lambda facts: facts.file_system_of(LISTS),
    *_FILE_SYSTEMS,
    hint=_LISTS_BY_HAND,
    missing="It is not known whether /tmp on the server {server} has room for the lists of files ({reason}).",
)
OLD_REMOVAL, NEW_REMOVAL = _of_both(
    "removal",
    "setting RemoveIPC of systemd-logind",
    lambda facts: facts.host_environment.removal,
    accounts.REMOVAL,
    hint="Look with `busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
    "org.freedesktop.login1.Manager RemoveIPC`.",
    missing="It is not known whether a logout of the owner on the server {server} removes the shared memory of a "
    "running cluster ({reason}).",
)
OLD_KERNEL, NEW_KERNEL = _of_both(
    "kernel",
    "NFS support of the kernel",
    lambda facts: facts.host_environment.kernel,
    kernel.KERNEL,
    hint="Ignore this unless you copy over NFS.",
)
OLD_PROGRAMS, NEW_PROGRAMS = _of_both(
    "ha-and-poolers",
    "list of cluster managers and poolers",
    lambda facts: facts.host_environment.ha_and_poolers,
    ha_and_poolers.SECTION,
    hint="Look on the server {server} with `ps -ef` and `ls /etc`.",
)
OLD_VIRTUAL_ADDRESSES, NEW_VIRTUAL_ADDRESSES = _of_both(
    "virtual-addresses",
    "addresses",
    lambda facts: facts.host_environment.virtual_addresses,
    ha_and_poolers.VIRTUAL,
    hint="Look on the server {server} with `ip addr show`.",
)
OLD_ARRAYS, NEW_ARRAYS = _of_both(
    "arrays",
    "md arrays",
    lambda facts: None if facts.system is None or facts.gap(block_devices.ARRAYS.name) is not None else facts.arrays,
    machine.SYSTEM,
    block_devices.ARRAYS,
    hint="Look on the server {server} with `cat /proc/mdstat`.",
)


def _explain_disks(facts: Facts) -> Finding:
    tool = facts.tool("smartctl")
    absent = tool is not None and tool.path is None
    why = "smartctl is not installed" if absent else explain_gap(facts, block_devices.HEALTH.name)
    return unknown(
        NOTHING,
        NOTHING,
        f"The health of the disks of the server {facts.server} could not be read ({why}).",
        f"Install smartmontools on the server {facts.server}, or read the health with the tool of the disk controller.",
    )


def _explain_old_disks(context: CheckContext) -> Finding:
    return _explain_disks(context.old)


def _explain_new_disks(context: CheckContext) -> Finding:
    return _explain_disks(context.new)


OLD_DISKS = Need(
    "old.disks", "disk health", lambda context: context.old.host_environment.disks, explain=_explain_old_disks
)
NEW_DISKS = Need(
    "new.disks", "disk health", lambda context: context.new.host_environment.disks, explain=_explain_new_disks
)


def _read_limits(facts: Facts, cluster: Cluster | None) -> Limits | None:
    """Return the limits of the running server, else those of a session, which a server started there inherits."""
    process = cluster.process if cluster is not None else None
    limits = process.limits if process is not None else facts.host_environment.limits
    return None if limits is None or limits.open_files is None else limits


def _read_old_limits(context: CheckContext) -> Limits | None:
    return _read_limits(context.old, context.cluster)


def _read_new_limits(context: CheckContext) -> Limits | None:
    return _read_limits(context.new, context.target or next(iter(context.siblings), None))


_OF_A_PROCESS = (kernel.SESSION, kernel.PROCESS)
_COMPARE_LIMITS = "Compare `ulimit -n` and `ulimit -l` of the owner on both servers."
OLD_LIMITS = Need("old.limits", "process limits", _read_old_limits, _OF_A_PROCESS, _COMPARE_LIMITS)
NEW_LIMITS = Need("new.limits", "process limits", _read_new_limits, _OF_A_PROCESS, _COMPARE_LIMITS)
