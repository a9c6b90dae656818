"""Checks of the hosts: clocks, SELinux and AppArmor, ports, limits, memory, NFS support."""

import posixpath
import re
from ipaddress import ip_address

from core import units
from core.facts.host_environment import UNLIMITED, Clock, Firewall, Kernel, Limits, Listening, Removal
from core.facts.model import Cluster, Facts, Memory
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.findings.catalogs import age_note, format_list
from core.migration.findings.edited import list_socket_folders, predict_new_cluster
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, unknown, warning
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.findings.memory import (
    huge_pages_of_size,
    memory_in_huge_pages,
    takes_huge_pages,
    takes_surplus_pages,
)
from core.servers.shell import for_hint, quoted

_APART = 1.0
"""The difference of two clocks, in seconds, from which the time of a file on one server is useless on the other."""
_REFUSES = re.compile(r"-j (?:DROP|REJECT)\b|\b(?:drop|reject)\b")
"""A rule of iptables or nft that lets nothing through."""
_FEW_FILES = 1000
"""The default of max_files_per_process: with a lower limit of the system each process opens fewer files."""


@check(
    "clocks",
    "System clocks",
    compares="time of both servers",
    page="backup-file",
    needs=(need.OLD_CLOCK, need.NEW_CLOCK),
)
def check_clocks(_context: CheckContext, here: Clock, there: Clock) -> Finding:
    """Check that the clocks agree."""
    apart = there.ahead_seconds - here.ahead_seconds
    error = here.error_seconds + there.error_seconds
    difference = _describe_difference(apart, error)
    shown = (
        _describe_synchronisation(here.synchronised) or NOTHING,
        ", ".join(filter(None, (difference, _describe_synchronisation(there.synchronised)))),
    )
    if abs(apart) - error > _APART:
        return warning(
            *shown,
            f"The clock of the new server is {difference}. Times of files and of log lines cannot be compared.",
            "Synchronise the clocks with NTP before the copy. The copy itself relies on the times of "
            "the old server only.",
        )
    if abs(apart) + error > _APART:
        return unknown(
            *shown,
            f"The servers answered too slowly to compare their clocks to within {_APART:g} s.",
            "Compare `date` on both servers.",
        )
    return passed(*shown, "The clocks of both servers agree.")


@check(
    "time-zone",
    "Time zone",
    compares="time zones of both servers",
    page="runtime-config-client",
    needs=(need.OLD_TIME_ZONE, need.NEW_TIME_ZONE),
)
def check_time_zone(_context: CheckContext, here: str, there: str) -> Finding:
    """Check that both servers have the same time zone."""
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
        return passed(here, there, "Both servers have the same time zone.")
    return warning(
        here,
        there,
        f"The time zone of the old server is {here}, that of the new server {there}. Cron "
        "jobs and log lines shift by the difference.",
        "Set the new server's time zone with `timedatectl set-timezone`. The cluster's own "
        "setting `timezone` moves with it.",
    )


@check(
    "selinux",
    "SELinux",
    compares="mode of SELinux on both servers",
    page="server-start",
    needs=(need.NEW_SELINUX,),
    uses=(need.OLD_SELINUX,),
)
def check_selinux(context: CheckContext, mode: str) -> Finding:
    """Check that SELinux does not restrict the new server more than the old one."""
    here = need.OLD_SELINUX.read(context)
    shown = here or NOTHING, mode
    if mode != "enforcing" or shown[0] == "enforcing":
        return passed(
            *shown,
            "SELinux restricts the new server no more than the old one."
            if shown[0] == mode
            else "SELinux does not restrict the new server.",
        )
    return warning(
        *shown,
        "SELinux is enforcing on the new server. It refuses a data directory at an unusual place, and an unusual port.",
        "Label the target: `semanage fcontext -a -t postgresql_db_t 'TARGET(/.*)?' && restorecon "
        "-R TARGET`. Label an unusual port: `semanage port -a -t postgresql_port_t -p tcp PORT`.",
    )


@check(
    "apparmor",
    "AppArmor",
    compares="AppArmor profiles of PostgreSQL on both servers",
    page="server-start",
    needs=(need.NEW_APPARMOR, need.NEW_PROFILES),
    uses=(need.OLD_PROFILES,),
)
def check_apparmor(context: CheckContext, _active: bool, profiles: tuple[str, ...]) -> Finding:
    """Check that no additional AppArmor profile restricts PostgreSQL on the new server."""
    known = set(need.OLD_PROFILES.read(context) or ())
    shown = ", ".join(sorted(known)) or "no profile", ", ".join(profiles) or "no profile"
    if set(profiles) <= known:
        return passed(
            *shown, "No AppArmor profile restricts PostgreSQL on the new server beyond those of the old server."
        )
    return warning(
        *shown,
        "An AppArmor profile restricts PostgreSQL on the new server. It refuses paths that it does not name.",
        "Add the target to the profile in /etc/apparmor.d, or set the profile to complain mode (`aa-complain`).",
    )


@check(
    "firewall",
    "Firewall of the new server",
    compares="port of the old cluster, firewall rules of the new server",
    page="runtime-config-connection",
    needs=(need.CLUSTER, need.NEW_FIREWALL),
)
def check_firewall(context: CheckContext, cluster: Cluster, rules: Firewall) -> Finding:
    """Check that the new server's firewall lets clients reach the cluster's port."""
    port = str(predict_new_cluster(context.move, cluster).port or 5432)
    naming = [line for line in rules.lines if port in line.replace(",", " ").replace("}", " ").split()]
    blocking = [line for line in naming if _REFUSES.search(line)]
    shown = f"port {port}", "; ".join(naming) or ("drops what no rule allows" if rules.drops else "drops nothing")
    if rules.drops and not naming:
        return warning(
            *shown,
            f"The new server's firewall drops what no rule allows, and no rule names port {port}. "
            "Clients would not reach the new cluster.",
            f"Allow port {port} for the clients' addresses, as the old server's firewall does.",
        )
    if blocking:
        return warning(
            *shown,
            f"The new server's firewall has a rule that blocks port {port}: {blocking[0]}.",
            f"Check that all clients can reach port {port} of the new server, and change the rule if they cannot.",
        )
    return passed(*shown, f"No firewall rule of the new server blocks port {port}.")


@check(
    "port-free",
    "Port and sockets on the new server",
    blocking=True,
    compares="port and addresses of the old cluster, what listens on the new server",
    page="runtime-config-connection",
    needs=(need.CLUSTER, need.PORT, need.NEW_LISTENING),
    uses=(need.OLD_SYSTEM, need.NEW_SYSTEM),
)
def check_port_is_free(context: CheckContext, cluster: Cluster, port: int, listening: tuple[Listening, ...]) -> Finding:
    """Check that nothing on the new server listens where the new cluster will."""
    cluster = predict_new_cluster(context.move, cluster)
    here = f"port {port}"
    if compare_hosts(context.old, context.new) is Hosts.ONE:
        return passed(
            here, here, "Both clusters are on the same host. The port becomes free when the old cluster is stopped."
        )
    if context.target is not None and context.target.running:
        return passed(here, here, "A server is running in the target. See the check `target-stopped`.")
    taken = [each for each in listening if each.port == port and _is_in_the_way(each.address, cluster)]
    if not taken:
        return passed(here, "free", f"Nothing on the new server listens where the new cluster will.{age_note(cluster)}")
    listeners = format_list([_describe_listener(each) for each in taken])
    return blocker(
        here,
        listeners,
        f"Port {port} of the new server is in use: {listeners}. The new cluster would not start, "
        "or clients would connect to that program.",
        "Stop that program before the move, or let it listen elsewhere. Then read the facts "
        f"again: `pghaul facts {quoted(context.new.server)}`.",
    )


def _describe_listener(listener: Listening) -> str:
    """Return where a process listens, with its program and process ID if they are visible."""
    return (
        listener.address
        if listener.process is None
        else f"{listener.address} ({listener.program}, PID {listener.process})"
    )


def _is_in_the_way(address: str, cluster: Cluster) -> bool:
    """Return whether a listening process keeps a server with the cluster's settings from one of its addresses.

    A host name may stand for any address. Only a socket for all addresses of a family is in its way, not one for a
    single address.
    """
    if address.startswith("/"):
        return posixpath.dirname(address) in list_socket_folders(cluster)
    wanted = {each.strip() for each in cluster.settings.get("listen_addresses", "localhost").split(",") if each.strip()}
    listening = ip_address(address)
    if not wanted:
        return False
    if listening.is_unspecified:
        # a socket for all IPv6 addresses may accept IPv4, too; one for IPv4 blocks every address except IPv6 ones
        return listening.version == 6 or not all(":" in each for each in wanted)
    any_address = {"*", "::"} if listening.version == 6 else {"*", "0.0.0.0"}  # noqa: S104  nothing is bound
    if wanted & any_address or (listening.is_loopback and "localhost" in wanted):
        return True
    return str(listening) in {_compress_address(each) for each in wanted}


def _compress_address(address: str) -> str:
    try:
        return str(ip_address(address))
    except ValueError:
        return address


@check(
    "limits",
    "Process limits",
    compares="limits for open files and locked memory on both servers",
    page="kernel-resources",
    needs=(need.CLUSTER, need.OLD_LIMITS, need.NEW_LIMITS),
)
def check_limits(_context: CheckContext, _cluster: Cluster, here: Limits, there: Limits) -> Finding:
    """Check that the process limits of the new server are not lower."""
    shown = _describe_limits(here), _describe_limits(there)
    lower = [
        name
        for name, mine, its in (
            ("open files", here.open_files, there.open_files),
            ("locked memory", here.locked_bytes, there.locked_bytes),
        )
        if mine is not None and its is not None and its < mine and not (name == "open files" and its > _FEW_FILES * 64)
    ]
    if not lower:
        return passed(*shown, "The limits of the new server are not lower than those of the old server.")
    return warning(
        *shown,
        f"The new server has lower limits: {', '.join(lower)}.",
        "Raise them where the server is started: LimitNOFILE= and LimitMEMLOCK= of its unit, or "
        "/etc/security/limits.d.",
    )


@check(
    "huge-pages",
    "Huge pages",
    compares="huge_pages and shared memory of the old cluster, huge pages of both servers",
    page="kernel-resources",
    needs=(need.HUGE_PAGES, need.OLD_MEMORY, need.NEW_MEMORY),
    uses=(need.SHARED_MEMORY, need.SHARED_BUFFERS, need.HUGE_PAGE_SIZE),
)
def check_huge_pages(context: CheckContext, setting: str, here: Memory, there: Memory) -> Finding:
    """Check that the new server has the huge pages that the cluster uses or requires."""
    shared = need.SHARED_MEMORY.read(context)
    size = need.HUGE_PAGE_SIZE.read(context) or 0
    old, new = huge_pages_of_size(here, size), huge_pages_of_size(there, size)
    have_old = old.total_bytes + old.surplus_bytes
    shown = (
        f"huge_pages {setting}, {units.size(old.total_bytes)} reserved"
        if setting
        else f"{units.size(old.total_bytes)} reserved",
        f"{units.size(new.total_bytes)} reserved",
    )
    if _frees_its_memory(context):
        return passed(*shown, _ON_ONE_HOST)
    needed = shared or need.SHARED_BUFFERS.read(context) or have_old or 1
    # with `try`, a server takes none if there are too few: then the old one has none to lose
    needs_none = setting not in ("on", "try") or (setting == "try" and have_old < needed)
    if needs_none or new.available_bytes >= needed:
        if needs_none or shared is not None:
            said = "The cluster needs no huge pages." if needs_none else _ENOUGH_HUGE_PAGES
            return passed(*shown, said)
        return passed(
            *shown,
            "The new server has enough huge pages for shared_buffers. The whole shared memory is somewhat larger. Its "
            "size is not known, because pghaul reads it only from a running cluster of PostgreSQL 15 or later.",
        )
    size_needed = units.size(needed) if shared is not None else f"at least {units.size(needed)}"
    by_surplus = takes_surplus_pages(setting, needed, new)
    free = f"{units.size(new.available_bytes)} of free huge pages, in pages of {units.block(new.size_bytes)}"
    surplus = units.size(new.surplus_bytes)
    if by_surplus and setting == "try":
        return passed(
            *shown,
            f"The cluster needs {size_needed} of huge pages. The new server has only {free}, but its kernel may add "
            f"{surplus} on demand (vm.nr_overcommit_hugepages). If it cannot, the cluster starts without huge pages.",
        )
    # the exact number changes with each reading, and would invalidate the waiver each time
    shown = shown[0], f"{shown[1]}, too few of them free"
    if by_surplus:
        return warning(
            *shown,
            f"The cluster requires huge pages (huge_pages = on) for {size_needed}. The new server has only {free}, but "
            f"its kernel may add {surplus} on demand (vm.nr_overcommit_hugepages). If it cannot, the cluster will not "
            "start there.",
            "Set vm.nr_hugepages on the new server, which reserves the pages.",
        )
    if setting == "on":
        return warning(
            *shown,
            f"The cluster requires huge pages (huge_pages = on) for {size_needed}. The new server has only "
            f"{free}. The cluster will not start there.",
            "Set vm.nr_hugepages on the new server, or set huge_pages = try.",
        )
    return warning(
        *shown,
        f"The old server has huge pages. The cluster needs {size_needed} of them, and the new server has only "
        f"{free}. The cluster starts, but is slower with much memory.",
        "Set vm.nr_hugepages on the new server as on the old server.",
    )


_ENOUGH_HUGE_PAGES = "The new server has the huge pages that the cluster uses."
_ON_ONE_HOST = "Both clusters are on the same host. The memory becomes free when the old cluster is stopped."


def _frees_its_memory(context: CheckContext) -> bool:
    """Return whether the new server is the host on which the old cluster is running."""
    running = context.cluster is not None and context.cluster.running
    return running and compare_hosts(context.old, context.new) is Hosts.ONE


@check(
    "free-memory",
    "Free memory on the new server",
    compares="shared_buffers and huge_pages of the old cluster, free memory and free huge pages of the new server",
    page="kernel-resources",
    needs=(need.SHARED_BUFFERS, need.NEW_MEMORY, need.NEW_FREE_MEMORY),
    uses=(need.HUGE_PAGES, need.HUGE_PAGE_SIZE, need.SHARED_MEMORY),
)
def check_free_memory(context: CheckContext, buffers: int, there: Memory, available: int) -> Finding:
    """Check that the new server has enough free memory for shared_buffers, or enough free huge pages."""
    setting = need.HUGE_PAGES.read(context)
    huge = huge_pages_of_size(there, need.HUGE_PAGE_SIZE.read(context) or 0)
    reserved, shared = memory_in_huge_pages(there), need.SHARED_MEMORY.read(context) or buffers
    old = f"shared_buffers {units.size(buffers)}"
    if _frees_its_memory(context):
        return passed(old, f"memory {units.size(there.total_bytes)}", _ON_ONE_HOST)
    # surplus pages are made of free memory
    by_surplus = setting == "on" and takes_surplus_pages(setting, shared, huge)
    if takes_huge_pages(setting, shared, huge) or (by_surplus and available >= shared - huge.available_bytes):
        return passed(
            old,
            f"free huge pages {units.size(huge.available_bytes)}",
            "The new server has enough free huge pages for shared_buffers."
            if not by_surplus
            else "The new server has enough memory for shared_buffers, in huge pages that are free or made on demand.",
        )
    # the exact numbers change with each reading, and would invalidate the waiver each time
    if setting == "on":
        return warning(
            old,
            f"less than that free, of {units.size(huge.total_bytes)} in huge pages",
            f"The new server has only {units.size(huge.available_bytes)} of free huge pages, and the shared memory of "
            f"the cluster takes {units.size(shared)}. With huge_pages = on, the cluster uses no other memory for it.",
            "Reserve more huge pages on the new server, or set huge_pages = try.",
        )
    if buffers > available:
        shown = old, f"less than that free, of {units.size(there.total_bytes)}"
        if reserved:
            return warning(
                *shown,
                f"The new server has only {units.size(available)} of free memory, and shared_buffers takes "
                f"{units.size(buffers)}. Huge pages take {units.size(reserved)}, and the cluster cannot use them: "
                f"huge_pages is {setting or 'not known'}, and {units.size(huge.available_bytes)} is free in pages of "
                f"{units.block(huge.size_bytes)}.",
                "Reserve fewer huge pages, or enough of them for shared_buffers. Or stop what uses the memory, or "
                "lower shared_buffers for the new server.",
            )
        return warning(
            *shown,
            f"The new server has only {units.size(available)} of free memory, and shared_buffers takes "
            f"{units.size(buffers)}. Something else uses the rest.",
            "Stop what uses the memory, or lower shared_buffers for the new server.",
        )
    return passed(old, f"free {units.size(available)}", "The new server has enough free memory for shared_buffers.")


@check(
    "nfs",
    "NFS support",
    compares="NFS support of both kernels",
    page="creating-cluster",
    needs=(need.OLD_KERNEL, need.NEW_KERNEL),
)
def check_nfs_support(_context: CheckContext, here: Kernel, there: Kernel) -> Finding:
    """Report whether the kernels support a copy over NFS; this never prevents a move."""
    shown = _describe_nfs(here), _describe_nfs(there)
    if (here.nfs and there.nfsd) or (here.nfsd and there.nfs):
        return passed(*shown, "A copy over NFS is possible.")
    refused = False in (here.nfs, there.nfsd) and False in (here.nfsd, there.nfs)
    return passed(
        *shown,
        "A copy over NFS is not possible. A copy over ssh does not need NFS."
        if refused
        else "A copy over ssh does not need NFS.",
    )


def _describe_nfs(kernel: Kernel) -> str:
    """Return what the kernel supports, as far as it is known."""
    if None in {kernel.nfs, kernel.nfsd}:
        return NOTHING
    if kernel.nfs_udp is None:
        return f"client {_yes_or_no(kernel.nfs)}, server {_yes_or_no(kernel.nfsd)}"
    return f"client {_yes_or_no(kernel.nfs)}, server {_yes_or_no(kernel.nfsd)}, over UDP {_yes_or_no(kernel.nfs_udp)}"


@check(
    "shared-memory",
    "Shared memory after a logout",
    compares="RemoveIPC and owner of the cluster on both servers",
    page="kernel-resources",
    needs=(need.CLUSTER, need.OLD_REMOVAL, need.NEW_REMOVAL),
    uses=(need.NEW_ACCOUNTS,),
)
def check_shared_memory(context: CheckContext, cluster: Cluster, here: Removal, there: Removal) -> Finding:
    """Check that no logout removes the shared memory of a running server."""
    owner = cluster.owner
    found = (
        (context.old, here, cluster.owner_uid),
        (context.new, there, _owner_uid(context.new, context.target, owner)),
    )
    shown = [_describe_removal(removal, owner, uid) for _, removal, uid in found]
    for side, removal, uid in found:
        if uid is not None and removal.removes is None and uid > removal.most:
            return unknown(
                shown[0],
                shown[1],
                f"It is not known whether a logout of the owner on the server {side.server} removes the shared memory "
                "of a running cluster.",
                "Look with `busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
                "org.freedesktop.login1.Manager RemoveIPC`.",
            )
    exposed = [side.server for side, removal, uid in found if _is_removed(removal, owner, uid)]
    if not exposed:
        return passed(shown[0], shown[1], "No logout removes the shared memory of PostgreSQL.")
    return warning(
        shown[0],
        shown[1],
        f"{owner} is an ordinary user (server: {', '.join(exposed)}). When the user's last "
        "session ends, systemd-logind removes the shared memory of the running server, and no "
        "client can connect any more.",
        f"As root, run `{for_hint('loginctl', 'enable-linger', owner or '')}`, or set "
        "RemoveIPC=no in /etc/systemd/logind.conf and restart systemd-logind.",
    )


def _owner_uid(facts: Facts, cluster: Cluster | None, owner: str | None) -> int | None:
    """Return the user ID of the account on that host that owns the cluster, or will own it."""
    if cluster is not None and cluster.owner_uid is not None:
        return cluster.owner_uid
    accounts = facts.host_environment.accounts or ()
    return next((each.uid for each in accounts if each.name == owner), None)


def _is_removed(removal: Removal, owner: str | None, uid: int | None) -> bool:
    """Return whether systemd-logind removes the shared memory of the server when its owner logs out."""
    ordinary = uid is not None and uid > removal.most
    return ordinary and removal.removes is not False and owner not in removal.lingering


def _describe_removal(removal: Removal, owner: str | None, uid: int | None) -> str:
    if uid is None:
        return NOTHING
    if uid <= removal.most:
        return f"{owner}: a system account"
    if owner in removal.lingering:
        return f"{owner}: lingering enabled"
    return f"RemoveIPC {_yes_or_no(removal.removes)}"


def _describe_synchronisation(synchronised: bool | None) -> str | None:
    """Return whether the clock is synchronised; None if that is not known, which the comparison does not need."""
    return {True: "synchronised", False: "not synchronised", None: None}[synchronised]


def _describe_difference(seconds_apart: float, error: float) -> str:
    """Return the difference rounded to its possible error, so that repeated checks have the same evidence."""
    step = 1.0 if error < 1 else 10.0
    whole = round(abs(seconds_apart) / step) * step
    if abs(seconds_apart) <= max(error, _APART):
        return "within a second" if error < _APART else "difference not measurable"
    return f"about {units.duration(max(whole, 1.0))} {'ahead' if seconds_apart > 0 else 'behind'}"


def _describe_limits(limits: Limits) -> str:
    files = "unlimited" if limits.open_files == UNLIMITED else units.count(limits.open_files)
    locked = "unlimited" if limits.locked_bytes == UNLIMITED else units.size(limits.locked_bytes)
    return f"open files {files}, locked memory {locked}"


def _yes_or_no(able: bool | None) -> str:
    return {True: "yes", False: "no", None: "not known"}[able]


CHECKS: tuple[Check, ...] = (
    check_clocks,
    check_time_zone,
    check_selinux,
    check_apparmor,
    check_port_is_free,
    check_firewall,
    check_limits,
    check_huge_pages,
    check_free_memory,
    check_shared_memory,
    check_nfs_support,
)
