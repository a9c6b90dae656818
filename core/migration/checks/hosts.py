"""What the two hosts themselves are like: clocks, SELinux and AppArmor, limits, memory, abilities of the kernel."""

import posixpath
from ipaddress import ip_address

from core import units
from core.facts.clocks import NOW as CLOCK
from core.facts.host_environment import UNLIMITED, Limits, Listening, Removal
from core.facts.kernel import SECTION as KERNEL
from core.facts.listening import SECTION as LISTENING
from core.facts.memory import SECTION as MEMORY
from core.facts.model import Cluster, Facts
from core.facts.processes import PROCESS, SESSION
from core.facts.removal import SECTION as SHARED_MEMORY
from core.facts.sections import RIGHTS
from core.facts.security_policy import FIREWALL, SELINUX_AND_APPARMOR
from core.facts.system import SECTION as SYSTEM
from core.migration.checks.capacity import memory_bytes
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.catalogs import age, listed
from core.migration.findings.edited import as_it_will_be
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    no_settings,
    passed,
    reason,
    unknown,
    warning,
)
from core.migration.findings.hosts import Hosts, hosts_of
from core.servers.shell import for_hint

_APART = 1.0
"""Seconds between two clocks from which a file's time on one cannot be held against a moment of the other."""
_FEW_FILES = 1000
"""max_files_per_process as PostgreSQL sets it: a lower limit of the system makes each process open fewer."""


def clocks(case: Case) -> Finding:
    """The clocks agree: a file of the same second counts as changed or not by them."""
    here, there = case.old.host_environment.clock, case.new.host_environment.clock
    if here is None or there is None:
        missing = case.old if here is None else case.new
        return unknown(
            NOTHING,
            NOTHING,
            f"the clock of {missing.server} could not be read: {reason(missing, CLOCK.name)}",
            "compare `date` of both hosts",
        )
    apart = there.ahead_seconds - here.ahead_seconds
    error = here.error_seconds + there.error_seconds
    shown = _kept(here.synchronised), f"{_ahead(apart, error)}, {_kept(there.synchronised)}"
    if abs(apart) - error > _APART:
        return warning(
            *shown,
            f"the clock of new is {_ahead(apart, error)}: times of files and of log lines cannot be compared",
            "set the clocks right by NTP before the copy; the copy itself trusts the times of old alone",
        )
    if abs(apart) + error > _APART:
        return unknown(
            *shown,
            f"the servers answered too slowly to tell their clocks apart by less than {_APART:g} s",
            "compare `date` of both hosts",
        )
    return passed(*shown, "the clocks agree")


def time_zone(case: Case) -> Finding:
    """The same time zone: log lines, cron jobs and a server without a timezone setting go by it."""
    zones = [facts.system.time_zone if facts.system is not None else None for facts in (case.old, case.new)]
    here, there = zones
    if here is None or there is None:
        missing = case.old if here is None else case.new
        return unknown(
            here or NOTHING,
            there or NOTHING,
            f"the time zone of {missing.server} could not be read: {reason(missing, SYSTEM.name)}",
            "compare `timedatectl` of both hosts",
        )
    same = here == there or {here, there} <= {
        "Etc/UTC",
        "UTC",
        "Etc/UCT",
        "Etc/GMT",
        "GMT",
        "Etc/Universal",
        "Universal",
    }
    if same:
        return passed(here, there, "the same time zone")
    return warning(
        here,
        there,
        "the hosts have different time zones: jobs of cron and lines of logs move by that",
        "the cluster's own setting `timezone` travels with it; set the host's with timedatectl set-timezone",
    )


def selinux(case: Case) -> Finding:
    """SELinux does not newly guard new's files."""
    there = case.new.host_environment.security_policy
    here = case.old.host_environment.security_policy
    if there is None or there.selinux is None:
        why = reason(case.new, SELINUX_AND_APPARMOR.name)
        return unknown(
            NOTHING, NOTHING, f"whether SELinux guards {case.new.server} could not be read: {why}", "ask: getenforce"
        )
    shown = here.selinux if here is not None and here.selinux is not None else "not read", there.selinux
    if there.selinux != "enforcing" or shown[0] == "enforcing":
        return passed(
            *shown, "SELinux asks no more of new than of old" if shown[0] == there.selinux else "no new guard"
        )
    return warning(
        *shown,
        "SELinux is enforcing on new: a data directory in an unusual place, or an unusual port, is refused",
        "label the target: semanage fcontext -a -t postgresql_db_t 'TARGET(/.*)?' && restorecon -R TARGET; "
        "a port: semanage port -a -t postgresql_port_t -p tcp PORT",
    )


def apparmor(case: Case) -> Finding:
    """No AppArmor profile of PostgreSQL guards new that old does not have."""
    here, there = case.old.host_environment.security_policy, case.new.host_environment.security_policy
    if there is None or there.apparmor is None:
        why = reason(case.new, SELINUX_AND_APPARMOR.name)
        return unknown(
            NOTHING, NOTHING, f"whether AppArmor guards {case.new.server} could not be read: {why}", "ask: aa-status"
        )
    if there.profiles is None:
        why = "AppArmor is at work there, and its profiles may be read by root alone"
        return unknown(NOTHING, NOTHING, f"the profiles of {case.new.server} are not known: {why}", "ask: aa-status")
    known = set(here.profiles or ()) if here is not None else set()
    shown = ", ".join(sorted(known)) or "no profile", ", ".join(there.profiles) or "no profile"
    if set(there.profiles) <= known:
        return passed(*shown, "no profile of PostgreSQL guards new beyond what guards old")
    return warning(
        *shown,
        "an AppArmor profile guards PostgreSQL on new: places that it does not name are refused",
        "add the target to the profile in /etc/apparmor.d, or set it to complain",
    )


def firewall(case: Case) -> Finding:
    """New's firewall lets clients reach the cluster's port."""
    cluster, rules = case.cluster, case.new.host_environment.firewall
    if cluster is None:
        return no_cluster(case)
    port = str(as_it_will_be(case.move, cluster).port or 5432)
    if rules is None:
        why = reason(case.new, FIREWALL.name, RIGHTS)
        return unknown(
            f"port {port}",
            NOTHING,
            f"the firewall of {case.new.server} could not be read: {why}",
            f"try from a client: pg_isready -h NEW -p {port}",
        )
    naming = [line for line in rules.lines if port in line.replace(",", " ").replace("}", " ").split()]
    shown = f"port {port}", "; ".join(naming) or ("drops what no rule allows" if rules.drops else "drops nothing")
    if rules.drops and not naming:
        return warning(
            *shown,
            f"the firewall of new drops what no rule allows, and no rule names port {port}: clients would not reach it",
            f"allow port {port} for the clients' addresses, as old's firewall does",
        )
    return passed(*shown, f"no rule stands against port {port}")


def port_free(case: Case) -> Finding:
    """On new nothing listens where the cluster will: a server does not start there, or clients find another program."""
    cluster, listening = case.cluster, case.new.host_environment.listening
    if cluster is None:
        return no_cluster(case)
    cluster = as_it_will_be(case.move, cluster)
    if cluster.port is None and not cluster.settings:
        return unknown(
            NOTHING, NOTHING, f"the port of old is not known: {no_settings(case)}", "look in postgresql.conf"
        )
    port = cluster.port or 5432
    here = f"port {port}"
    if listening is None:
        why = reason(case.new, LISTENING.name)
        return unknown(
            here,
            NOTHING,
            f"what listens on {case.new.server} could not be read: {why}",
            f"read the facts again: pghaul facts {case.new.server}",
        )
    if hosts_of(case.old, case.new) is Hosts.ONE:
        return passed(here, here, "both clusters are on one host: the stop of the old one frees its port")
    if case.target is not None and case.target.running:
        return passed(here, here, "a server runs in the target: another check says so")
    taken = [each for each in listening if each.port == port and _in_the_way(each.address, cluster)]
    if not taken:
        return passed(here, "free", "on new nothing listens where the cluster will" + age(cluster))
    held = listed([_held(each) for each in taken])
    return blocker(
        here,
        held,
        f"port {port} of new is taken: {held}. The new server would not start, or clients would find that program",
        "have that program listen elsewhere, or stop it before the move; then read the facts again: "
        f"pghaul facts {case.new.server}",
    )


def _held(one: Listening) -> str:
    """Where it listens, with its program and process where they can be seen."""
    return one.address if one.process is None else f"{one.address} ({one.program}, PID {one.process})"


def _in_the_way(address: str, cluster: Cluster) -> bool:
    """Whether who listens there keeps a server with the cluster's settings from a place of its own.

    A name may stand for any address: what listens on each of a family is in its way then, and a single one is not.
    """
    if address.startswith("/"):
        folders = cluster.settings.get("unix_socket_directories", cluster.settings.get("unix_socket_directory", ""))
        named = [each.strip().strip('"') for each in folders.split(",")]
        return posixpath.dirname(address) in {*named, cluster.socket_directory}
    wanted = {each.strip() for each in cluster.settings.get("listen_addresses", "localhost").split(",") if each.strip()}
    there = ip_address(address)
    if not wanted:
        return False
    if there.is_unspecified:
        # one that takes IPv6 may take IPv4 too; that of IPv4 alone is in the way of any address but one of IPv6
        return there.version == 6 or not all(":" in each for each in wanted)
    whole = {"*", "::"} if there.version == 6 else {"*", "0.0.0.0"}  # noqa: S104  nothing is bound
    if wanted & whole or (there.is_loopback and "localhost" in wanted):
        return True
    return str(there) in {_compressed(each) for each in wanted}


def _compressed(address: str) -> str:
    try:
        return str(ip_address(address))
    except ValueError:
        return address


def limits(case: Case) -> Finding:
    """New does not let processes open fewer files than old does."""
    if case.cluster is None:
        return no_cluster(case)
    here, there = _limits(case.old, case.cluster), _limits(case.new, case.target or next(iter(case.siblings), None))
    if here is None or there is None or here.open_files is None or there.open_files is None:
        missing = case.old if here is None or here.open_files is None else case.new
        return unknown(
            NOTHING,
            NOTHING,
            f"the limits of {missing.server} could not be read: {reason(missing, SESSION.name, PROCESS.name)}",
            "compare `ulimit -n` and `ulimit -l` of the owner on both hosts",
        )
    shown = _limits_words(here), _limits_words(there)
    lower = [
        name
        for name, mine, its in (
            ("open files", here.open_files, there.open_files),
            ("locked memory", here.locked_bytes, there.locked_bytes),
        )
        if mine is not None and its is not None and its < mine and not (name == "open files" and its > _FEW_FILES * 64)
    ]
    if not lower:
        return passed(*shown, "new's limits are not lower")
    return warning(
        *shown,
        f"new allows less: {', '.join(lower)}",
        "raise it where the server is started: LimitNOFILE=, LimitMEMLOCK= of its unit, or /etc/security/limits.d",
    )


def huge_pages(case: Case) -> Finding:
    """New has the huge pages that the cluster used or demands."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    here, there, setting = case.old.memory, case.new.memory, cluster.settings.get("huge_pages")
    buffers = memory_bytes(cluster.settings.get("shared_buffers", ""))
    if here is None or there is None or (setting is None and float(cluster.series) >= 9.4):
        missing = case.new if there is None and here is not None else case.old
        why = no_settings(case) if missing is case.old and here is not None else reason(missing, MEMORY.name)
        return unknown(
            setting or NOTHING,
            NOTHING,
            f"the huge pages of {missing.server} could not be told: {why}",
            "compare HugePages_Total in /proc/meminfo of both hosts, and the setting huge_pages",
        )
    have_old, have_new = ((memory.huge_pages_total or 0) * (memory.huge_page_bytes or 0) for memory in (here, there))
    shown = f"huge_pages {setting or 'not known'}, {units.size(have_old)} reserved", f"{units.size(have_new)} reserved"
    if setting == "on" and have_new < (buffers or 1):
        return warning(
            *shown,
            "the cluster demands huge pages (huge_pages = on) and new has too few: it will not start there",
            "set vm.nr_hugepages on new, or huge_pages = try",
        )
    if setting != "off" and have_old > 0 and have_new < min(have_old, buffers or have_old):
        return warning(
            *shown,
            "old has huge pages and new has too few: the server starts, but is slower with much memory",
            "set vm.nr_hugepages on new as on old",
        )
    return passed(*shown, "new has the huge pages that the cluster uses")


def free_memory(case: Case) -> Finding:
    """New has memory free for the cluster's buffers now."""
    cluster, memory = case.cluster, case.new.memory
    if cluster is None:
        return no_cluster(case)
    buffers = memory_bytes(cluster.settings.get("shared_buffers", ""))
    if memory is None or memory.available_bytes is None or buffers is None:
        why = no_settings(case) if buffers is None else reason(case.new, MEMORY.name)
        return unknown(
            NOTHING, NOTHING, f"new's free memory could not be compared: {why}", f"look on {case.new.server}: free -h"
        )
    if buffers > memory.available_bytes:
        # the very figure changes with every look, and with it what a waiver was given for
        shown = f"shared_buffers {units.size(buffers)}", f"free: less, of {units.size(memory.total_bytes)}"
        return warning(
            *shown,
            f"only {units.size(memory.available_bytes)} of new's memory are free: something else uses it",
            "stop what uses it, or lower shared_buffers for new",
        )
    shown = f"shared_buffers {units.size(buffers)}", f"free {units.size(memory.available_bytes)}"
    return passed(*shown, "new has the memory free")


def nfs(case: Case) -> Finding:
    """What the kernels can do over NFS; a copy over ssh needs none of it."""
    here, there = case.old.host_environment.kernel, case.new.host_environment.kernel
    if here is None or there is None:
        missing = case.old if here is None else case.new
        return unknown(
            NOTHING,
            NOTHING,
            f"the kernel abilities of {missing.server} could not be read: {reason(missing, KERNEL.name)}",
            "only a copy over NFS needs them",
        )
    shown = [
        f"client {_word(kernel.nfs)}, server {_word(kernel.nfsd)}, over UDP {_word(kernel.nfs_udp)}"
        for kernel in (here, there)
    ]
    possible = (here.nfs and there.nfsd) or (here.nfsd and there.nfs)
    return passed(shown[0], shown[1], "a copy over NFS is possible" if possible else "no copy over NFS; ssh needs none")


def shared_memory(case: Case) -> Finding:
    """No logout takes a server its shared memory."""
    if case.cluster is None:
        return no_cluster(case)
    owner = case.cluster.owner
    uids = case.cluster.owner_uid, _uid(case.new, case.target, owner)
    found = [(side, side.host_environment.removal, uid) for side, uid in zip((case.old, case.new), uids, strict=True)]
    shown = [_removal_words(removal, owner, uid) for _, removal, uid in found]
    for side, removal, uid in found:
        if removal is None or (uid is not None and removal.removes is None and uid > removal.most):
            return unknown(
                shown[0],
                shown[1],
                f"it is not known whether a logout of the owner on {side.server} removes the server's shared memory: "
                + reason(side, SHARED_MEMORY.name),
                "ask: busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
                "org.freedesktop.login1.Manager RemoveIPC",
            )
    exposed = [side.server for side, removal, uid in found if _removed(removal, owner, uid)]
    if not exposed:
        return passed(shown[0], shown[1], "no logout removes the shared memory of the server")
    return warning(
        shown[0],
        shown[1],
        f"{owner} is an ordinary account on {' and '.join(exposed)}: when its last session ends, systemd-logind "
        "removes the shared memory of the running server, and no client can connect any more",
        f"as root: {for_hint('loginctl', 'enable-linger', owner or '')}, or set RemoveIPC=no in "
        "/etc/systemd/logind.conf and restart systemd-logind",
    )


def _uid(facts: Facts, cluster: Cluster | None, owner: str | None) -> int | None:
    """The user id of the account there that owns the cluster, or will."""
    if cluster is not None and cluster.owner_uid is not None:
        return cluster.owner_uid
    accounts = facts.host_environment.accounts or ()
    return next((each.uid for each in accounts if each.name == owner), None)


def _removed(removal: Removal | None, owner: str | None, uid: int | None) -> bool:
    """Whether the logout of the owner removes the shared memory of its server."""
    ordinary = removal is not None and uid is not None and uid > removal.most
    return ordinary and removal is not None and removal.removes is not False and owner not in removal.lingering


def _removal_words(removal: Removal | None, owner: str | None, uid: int | None) -> str:
    if removal is None or uid is None:
        return NOTHING
    if uid <= removal.most:
        return f"{owner}: an account of the system's own"
    if owner in removal.lingering:
        return f"{owner} lingers"
    return f"RemoveIPC {_word(removal.removes)}"


CHECKS: tuple[Check, ...] = (
    (Declaration("clocks", "clocks", False, "time of both hosts", "backup-file"), clocks),
    (Declaration("time-zone", "time zone", False, "time zones of both hosts", "runtime-config-client"), time_zone),
    (Declaration("selinux", "SELinux", False, "mode of SELinux on both", "server-start"), selinux),
    (Declaration("apparmor", "AppArmor", False, "profiles of PostgreSQL on both", "server-start"), apparmor),
    (
        Declaration(
            "port-free",
            "port and sockets of new",
            True,
            "port and addresses of old, what listens on new",
            "runtime-config-connection",
        ),
        port_free,
    ),
    (
        Declaration("firewall", "firewall of new", False, "port of old, rules of new", "runtime-config-connection"),
        firewall,
    ),
    (
        Declaration("limits", "limits of processes", False, "open files, locked memory on both", "kernel-resources"),
        limits,
    ),
    (
        Declaration("huge-pages", "huge pages", False, "huge_pages of old, reserved pages of both", "kernel-resources"),
        huge_pages,
    ),
    (
        Declaration(
            "free-memory", "free memory", False, "shared_buffers of old, free memory of new", "kernel-resources"
        ),
        free_memory,
    ),
    (
        Declaration(
            "shared-memory", "shared memory", False, "RemoveIPC, owner of the cluster on both", "kernel-resources"
        ),
        shared_memory,
    ),
    (Declaration("nfs", "NFS", False, "abilities of both kernels", "creating-cluster"), nfs),
)


def _kept(synchronised: bool | None) -> str:
    return {True: "kept by a time server", False: "kept by no time server", None: "not known who keeps it"}[
        synchronised
    ]


def _ahead(apart: float, error: float) -> str:
    """Rounded by what it may be wrong by, so that two looks at the same clocks say the same."""
    step = 1.0 if error < 1 else 10.0
    whole = round(abs(apart) / step) * step
    if abs(apart) <= max(error, _APART):
        return "within a second" if error < _APART else "not told apart"
    return f"about {units.duration(max(whole, 1.0))} {'ahead' if apart > 0 else 'behind'}"


def _limits(facts: Facts, cluster: Cluster | None) -> Limits | None:
    """Of the running server, else of a session, which is what a server started from one gets."""
    if cluster is not None and cluster.process is not None:
        return cluster.process.limits
    return facts.host_environment.limits


def _limits_words(limits: Limits) -> str:
    files = "unlimited" if limits.open_files == UNLIMITED else units.count(limits.open_files)
    locked = "unlimited" if limits.locked_bytes == UNLIMITED else units.size(limits.locked_bytes)
    return f"open files {files}, locked memory {locked}"


def _word(able: bool | None) -> str:
    return {True: "yes", False: "no", None: "not known"}[able]
