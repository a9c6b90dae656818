"""Checks of the hosts: clocks, SELinux and AppArmor, ports, limits, memory, NFS support."""

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
from core.migration.findings.catalogs import age_note, format_list
from core.migration.findings.edited import predict_new_cluster
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    explain_missing_settings,
    no_cluster_finding,
    passed,
    unknown,
    warning,
)
from core.migration.findings.hosts import Hosts, compare_hosts
from core.servers.shell import for_hint

_APART = 1.0
"""The difference of two clocks, in seconds, from which the time of a file on one server is useless on the other."""
_FEW_FILES = 1000
"""The default of max_files_per_process: with a lower limit of the system each process opens fewer files."""


def check_clocks(context: CheckContext) -> Finding:
    """Check that the clocks agree."""
    here, there = context.old.host_environment.clock, context.new.host_environment.clock
    if here is None or there is None:
        missing = context.old if here is None else context.new
        return unknown(
            NOTHING,
            NOTHING,
            f"The clock of {missing.server} could not be read ({explain_gap(missing, CLOCK.name)}).",
            "Compare `date` on both servers.",
        )
    apart = there.ahead_seconds - here.ahead_seconds
    error = here.error_seconds + there.error_seconds
    shown = (
        _describe_synchronisation(here.synchronised),
        f"{_describe_difference(apart, error)}, {_describe_synchronisation(there.synchronised)}",
    )
    if abs(apart) - error > _APART:
        return warning(
            *shown,
            f"The clock of the new server is {_describe_difference(apart, error)}. Times of files and of log "
            "lines cannot be compared.",
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


def check_time_zone(context: CheckContext) -> Finding:
    """Check that both servers have the same time zone."""
    zones = [facts.system.time_zone if facts.system is not None else None for facts in (context.old, context.new)]
    here, there = zones
    if here is None or there is None:
        missing = context.old if here is None else context.new
        return unknown(
            here or NOTHING,
            there or NOTHING,
            f"The time zone of {missing.server} could not be read ({explain_gap(missing, SYSTEM.name)}).",
            "Compare `timedatectl` on both servers.",
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
        return passed(here, there, "Both servers have the same time zone.")
    return warning(
        here,
        there,
        f"The time zone of the old server is {here}, that of the new server {there}. Cron "
        "jobs and log lines shift by the difference.",
        "Set the new server's time zone with `timedatectl set-timezone`. The cluster's own "
        "setting `timezone` moves with it.",
    )


def check_selinux(context: CheckContext) -> Finding:
    """Check that SELinux does not restrict the new server more than the old one."""
    there = context.new.host_environment.security_policy
    here = context.old.host_environment.security_policy
    if there is None or there.selinux is None:
        why = explain_gap(context.new, SELINUX_AND_APPARMOR.name)
        return unknown(
            NOTHING,
            NOTHING,
            f"The mode of SELinux on {context.new.server} could not be read ({why}).",
            "Look with `getenforce`.",
        )
    shown = here.selinux if here is not None and here.selinux is not None else "not read", there.selinux
    if there.selinux != "enforcing" or shown[0] == "enforcing":
        return passed(
            *shown,
            "SELinux restricts the new server no more than the old one."
            if shown[0] == there.selinux
            else "SELinux does not restrict the new server.",
        )
    return warning(
        *shown,
        "SELinux is enforcing on the new server. It refuses a data directory at an unusual place, and an unusual port.",
        "Label the target: `semanage fcontext -a -t postgresql_db_t 'TARGET(/.*)?' && restorecon "
        "-R TARGET`. Label an unusual port: `semanage port -a -t postgresql_port_t -p tcp PORT`.",
    )


def check_apparmor(context: CheckContext) -> Finding:
    """Check that no additional AppArmor profile restricts PostgreSQL on the new server."""
    here, there = context.old.host_environment.security_policy, context.new.host_environment.security_policy
    if there is None or there.apparmor is None:
        why = explain_gap(context.new, SELINUX_AND_APPARMOR.name)
        return unknown(
            NOTHING,
            NOTHING,
            f"The state of AppArmor on {context.new.server} could not be read ({why}).",
            "Look with `aa-status`.",
        )
    if there.profiles is None:
        why = "AppArmor is active, and only root may read its profiles"
        return unknown(
            NOTHING,
            NOTHING,
            f"The AppArmor profiles of {context.new.server} are not known ({why}).",
            "Look with `aa-status`.",
        )
    known = set(here.profiles or ()) if here is not None else set()
    shown = ", ".join(sorted(known)) or "no profile", ", ".join(there.profiles) or "no profile"
    if set(there.profiles) <= known:
        return passed(
            *shown, "No AppArmor profile restricts PostgreSQL on the new server beyond those of the old server."
        )
    return warning(
        *shown,
        "An AppArmor profile restricts PostgreSQL on the new server. It refuses paths that it does not name.",
        "Add the target to the profile in /etc/apparmor.d, or set the profile to complain mode (`aa-complain`).",
    )


def check_firewall(context: CheckContext) -> Finding:
    """Check that the new server's firewall lets clients reach the cluster's port."""
    cluster, rules = context.cluster, context.new.host_environment.firewall
    if cluster is None:
        return no_cluster_finding(context)
    port = str(predict_new_cluster(context.move, cluster).port or 5432)
    if rules is None:
        why = explain_gap(context.new, FIREWALL.name, RIGHTS)
        return unknown(
            f"port {port}",
            NOTHING,
            f"The firewall of {context.new.server} could not be read ({why}).",
            f"Try from a client: `pg_isready -h NEW -p {port}`.",
        )
    naming = [line for line in rules.lines if port in line.replace(",", " ").replace("}", " ").split()]
    shown = f"port {port}", "; ".join(naming) or ("drops what no rule allows" if rules.drops else "drops nothing")
    if rules.drops and not naming:
        return warning(
            *shown,
            f"The new server's firewall drops what no rule allows, and no rule names port {port}. "
            "Clients would not reach the new cluster.",
            f"Allow port {port} for the clients' addresses, as the old server's firewall does.",
        )
    return passed(*shown, f"No firewall rule of the new server blocks port {port}.")


def check_port_is_free(context: CheckContext) -> Finding:
    """Check that nothing on the new server listens where the new cluster will."""
    cluster, listening = context.cluster, context.new.host_environment.listening
    if cluster is None:
        return no_cluster_finding(context)
    cluster = predict_new_cluster(context.move, cluster)
    if cluster.port is None and not cluster.settings:
        return unknown(
            NOTHING,
            NOTHING,
            f"The port of the old cluster is not known ({explain_missing_settings(context)}).",
            "Look in postgresql.conf.",
        )
    port = cluster.port or 5432
    here = f"port {port}"
    if listening is None:
        why = explain_gap(context.new, LISTENING.name)
        return unknown(
            here,
            NOTHING,
            f"The listening ports of {context.new.server} could not be read ({why}).",
            f"Read the facts again: `pghaul facts {context.new.server}`.",
        )
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
        f"again: `pghaul facts {context.new.server}`.",
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
        folders = cluster.settings.get("unix_socket_directories", cluster.settings.get("unix_socket_directory", ""))
        named = [each.strip().strip('"') for each in folders.split(",")]
        return posixpath.dirname(address) in {*named, cluster.socket_directory}
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


def check_limits(context: CheckContext) -> Finding:
    """Check that the process limits of the new server are not lower."""
    if context.cluster is None:
        return no_cluster_finding(context)
    here, there = (
        _limits(context.old, context.cluster),
        _limits(context.new, context.target or next(iter(context.siblings), None)),
    )
    if here is None or there is None or here.open_files is None or there.open_files is None:
        missing = context.old if here is None or here.open_files is None else context.new
        return unknown(
            NOTHING,
            NOTHING,
            f"The process limits of {missing.server} could not be read "
            f"({explain_gap(missing, SESSION.name, PROCESS.name)}).",
            "Compare `ulimit -n` and `ulimit -l` of the owner on both servers.",
        )
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


def check_huge_pages(context: CheckContext) -> Finding:
    """Check that the new server has the huge pages that the cluster uses or requires."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    here, there, setting = context.old.memory, context.new.memory, cluster.settings.get("huge_pages")
    buffers = memory_bytes(cluster.settings.get("shared_buffers", ""))
    if here is None or there is None or (setting is None and float(cluster.series) >= 9.4):
        missing = context.new if there is None and here is not None else context.old
        why = (
            explain_missing_settings(context)
            if missing is context.old and here is not None
            else explain_gap(missing, MEMORY.name)
        )
        return unknown(
            setting or NOTHING,
            NOTHING,
            f"The huge pages of {missing.server} are not known ({why}).",
            "Compare HugePages_Total in /proc/meminfo of both servers, and the setting huge_pages.",
        )
    have_old, have_new = ((memory.huge_pages_total or 0) * (memory.huge_page_bytes or 0) for memory in (here, there))
    shown = f"huge_pages {setting or 'not known'}, {units.size(have_old)} reserved", f"{units.size(have_new)} reserved"
    if setting == "on" and have_new < (buffers or 1):
        return warning(
            *shown,
            "The cluster requires huge pages (huge_pages = on), and the new server has too few. The "
            "cluster will not start there.",
            "Set vm.nr_hugepages on the new server, or set huge_pages = try.",
        )
    if setting != "off" and have_old > 0 and have_new < min(have_old, buffers or have_old):
        return warning(
            *shown,
            "The old server has huge pages, and the new server has too few. The cluster starts, but "
            "is slower with much memory.",
            "Set vm.nr_hugepages on the new server as on the old server.",
        )
    return passed(*shown, "The new server has the huge pages that the cluster uses.")


def check_free_memory(context: CheckContext) -> Finding:
    """Check that the new server has enough free memory for shared_buffers."""
    cluster, memory = context.cluster, context.new.memory
    if cluster is None:
        return no_cluster_finding(context)
    buffers = memory_bytes(cluster.settings.get("shared_buffers", ""))
    if memory is None or memory.available_bytes is None or buffers is None:
        why = explain_missing_settings(context) if buffers is None else explain_gap(context.new, MEMORY.name)
        return unknown(
            NOTHING,
            NOTHING,
            f"The free memory of the new server could not be compared with shared_buffers ({why}).",
            f"Look on {context.new.server} with `free -h`.",
        )
    if buffers > memory.available_bytes:
        # the exact number changes with each reading, and would invalidate the waiver each time
        shown = f"shared_buffers {units.size(buffers)}", f"less than that free, of {units.size(memory.total_bytes)}"
        return warning(
            *shown,
            f"The new server has only {units.size(memory.available_bytes)} of free memory. "
            "Something else uses the rest.",
            "Stop what uses the memory, or lower shared_buffers for the new server.",
        )
    shown = f"shared_buffers {units.size(buffers)}", f"free {units.size(memory.available_bytes)}"
    return passed(*shown, "The new server has enough free memory for shared_buffers.")


def check_nfs_support(context: CheckContext) -> Finding:
    """Report whether the kernels support a copy over NFS; this never prevents a move."""
    here, there = context.old.host_environment.kernel, context.new.host_environment.kernel
    if here is None or there is None:
        missing = context.old if here is None else context.new
        return unknown(
            NOTHING,
            NOTHING,
            f"The NFS support of the kernel of {missing.server} could not be read "
            f"({explain_gap(missing, KERNEL.name)}).",
            "Ignore this unless you copy over NFS.",
        )
    shown = [
        f"client {_yes_or_no(kernel.nfs)}, server {_yes_or_no(kernel.nfsd)}, over UDP {_yes_or_no(kernel.nfs_udp)}"
        for kernel in (here, there)
    ]
    possible = (here.nfs and there.nfsd) or (here.nfsd and there.nfs)
    return passed(
        shown[0],
        shown[1],
        "A copy over NFS is possible."
        if possible
        else "A copy over NFS is not possible. A copy over ssh does not need NFS.",
    )


def check_shared_memory(context: CheckContext) -> Finding:
    """Check that no logout removes the shared memory of a running server."""
    if context.cluster is None:
        return no_cluster_finding(context)
    owner = context.cluster.owner
    uids = context.cluster.owner_uid, _owner_uid(context.new, context.target, owner)
    found = [
        (side, side.host_environment.removal, uid) for side, uid in zip((context.old, context.new), uids, strict=True)
    ]
    shown = [_describe_removal(removal, owner, uid) for _, removal, uid in found]
    for side, removal, uid in found:
        if removal is None or (uid is not None and removal.removes is None and uid > removal.most):
            return unknown(
                shown[0],
                shown[1],
                (
                    f"It is not known whether a logout of the owner on {side.server} removes the server's "
                    f"shared memory ({explain_gap(side, SHARED_MEMORY.name)})."
                ),
                "Look with `busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
                "org.freedesktop.login1.Manager RemoveIPC`.",
            )
    exposed = [side.server for side, removal, uid in found if _is_removed(removal, owner, uid)]
    if not exposed:
        return passed(shown[0], shown[1], "No logout removes the shared memory of the server.")
    return warning(
        shown[0],
        shown[1],
        f"{owner} is an ordinary user on {' and '.join(exposed)}. When the user's last "
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


def _is_removed(removal: Removal | None, owner: str | None, uid: int | None) -> bool:
    """Return whether systemd-logind removes the shared memory of the server when its owner logs out."""
    ordinary = removal is not None and uid is not None and uid > removal.most
    return ordinary and removal is not None and removal.removes is not False and owner not in removal.lingering


def _describe_removal(removal: Removal | None, owner: str | None, uid: int | None) -> str:
    if removal is None or uid is None:
        return NOTHING
    if uid <= removal.most:
        return f"{owner}: a system account"
    if owner in removal.lingering:
        return f"{owner}: lingering enabled"
    return f"RemoveIPC {_yes_or_no(removal.removes)}"


CHECKS: tuple[Check, ...] = (
    (Declaration("clocks", "System clocks", False, "time of both servers", "backup-file"), check_clocks),
    (
        Declaration("time-zone", "Time zone", False, "time zones of both servers", "runtime-config-client"),
        check_time_zone,
    ),
    (Declaration("selinux", "SELinux", False, "mode of SELinux on both servers", "server-start"), check_selinux),
    (
        Declaration("apparmor", "AppArmor", False, "AppArmor profiles of PostgreSQL on both servers", "server-start"),
        check_apparmor,
    ),
    (
        Declaration(
            "port-free",
            "Port and sockets on the new server",
            True,
            "port and addresses of the old cluster, what listens on the new server",
            "runtime-config-connection",
        ),
        check_port_is_free,
    ),
    (
        Declaration(
            "firewall",
            "Firewall of the new server",
            False,
            "port of the old cluster, firewall rules of the new server",
            "runtime-config-connection",
        ),
        check_firewall,
    ),
    (
        Declaration(
            "limits",
            "Process limits",
            False,
            "limits for open files and locked memory on both servers",
            "kernel-resources",
        ),
        check_limits,
    ),
    (
        Declaration(
            "huge-pages",
            "Huge pages",
            False,
            "huge_pages of the old cluster, reserved huge pages of both servers",
            "kernel-resources",
        ),
        check_huge_pages,
    ),
    (
        Declaration(
            "free-memory",
            "Free memory on the new server",
            False,
            "shared_buffers of the old cluster, free memory of the new server",
            "kernel-resources",
        ),
        check_free_memory,
    ),
    (
        Declaration(
            "shared-memory",
            "Shared memory after a logout",
            False,
            "RemoveIPC and owner of the cluster on both servers",
            "kernel-resources",
        ),
        check_shared_memory,
    ),
    (Declaration("nfs", "NFS support", False, "NFS support of both kernels", "creating-cluster"), check_nfs_support),
)


def _describe_synchronisation(synchronised: bool | None) -> str:
    return {True: "synchronised", False: "not synchronised", None: "synchronisation not known"}[synchronised]


def _describe_difference(seconds_apart: float, error: float) -> str:
    """Return the difference rounded to its possible error, so that repeated checks have the same evidence."""
    step = 1.0 if error < 1 else 10.0
    whole = round(abs(seconds_apart) / step) * step
    if abs(seconds_apart) <= max(error, _APART):
        return "within a second" if error < _APART else "difference not measurable"
    return f"about {units.duration(max(whole, 1.0))} {'ahead' if seconds_apart > 0 else 'behind'}"


def _limits(facts: Facts, cluster: Cluster | None) -> Limits | None:
    """Return the limits of the running server, else those of a session, which a server started there inherits."""
    if cluster is not None and cluster.process is not None:
        return cluster.process.limits
    return facts.host_environment.limits


def _describe_limits(limits: Limits) -> str:
    files = "unlimited" if limits.open_files == UNLIMITED else units.count(limits.open_files)
    locked = "unlimited" if limits.locked_bytes == UNLIMITED else units.size(limits.locked_bytes)
    return f"open files {files}, locked memory {locked}"


def _yes_or_no(able: bool | None) -> str:
    return {True: "yes", False: "no", None: "not known"}[able]
