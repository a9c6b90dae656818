"""Checks of cluster managers, automatic starts, poolers, scheduled jobs and virtual addresses."""

from collections.abc import Sequence

from core.facts.host_environment import Autostart, HaOrPooler, Scheduled
from core.facts.model import Cluster
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, warning
from core.migration.findings.layout import debian_name

_SHOWN = 10


@check(
    "ha-manager",
    "High-availability manager",
    blocking=True,
    compares="processes, units and files of both servers",
    page="high-availability",
    needs=(need.CLUSTER, need.OLD_PROGRAMS, need.NEW_PROGRAMS),
)
def check_cluster_managers(
    context: CheckContext, _cluster: Cluster, here: tuple[HaOrPooler, ...], there: tuple[HaOrPooler, ...]
) -> Finding:
    """Check that no cluster manager is running: it would start the old cluster again."""
    on_old, on_new = _with_role(here, "manager"), _with_role(there, "manager")
    shown = _describe_programs(on_old), _describe_programs(on_new)
    running = [each.name for each in on_old if each.running]
    if running:
        return blocker(
            *shown,
            f"{', '.join(running)} is running on the server {context.old.server}. It would start the old "
            "cluster again during the copy.",
            "Pause it as its documentation says (`patronictl pause`, `repmgr service pause`, "
            "maintenance mode). Then stop it and disable its start.",
        )
    beside = [each.name for each in on_new if each.running]
    if beside:
        return warning(
            *shown,
            f"{', '.join(beside)} is running on the server {context.new.server}. If it manages the target, it may "
            "start or replace that cluster during the copy.",
            "Check which data directory it manages. If it is the target, stop it and disable its start until the move "
            "is finished.",
        )
    if on_old or on_new:
        return warning(
            *shown,
            "A cluster manager is set up, but none is running on the old server.",
            "Disable its start before the move. Set it up again for the new cluster.",
        )
    return passed(*shown, "No cluster manager was found on either server.")


@check(
    "autostart",
    "Automatic start of the old cluster",
    compares="units, start.conf and init scripts of the old server",
    page="server-start",
    needs=(need.CLUSTER, need.OLD_AUTOSTART, need.OLD_PROGRAMS),
)
def check_autostart(
    _context: CheckContext, cluster: Cluster, found: Autostart, here: tuple[HaOrPooler, ...]
) -> Finding:
    """Check that the plan controls everything that would start the old cluster again."""
    named = debian_name(cluster)
    starts = [f"unit {cluster.unit}"] if cluster.unit is not None else []
    if cluster.unit is not None:
        starts += ["enabled"] if cluster.unit in found.enabled else []
        restart = _restart_setting(found.restart or {}, cluster.unit)
        starts += [f"Restart={restart}"] if restart is not None else []
    if named is not None:
        starts.append(f"start.conf {(found.start_conf or {}).get(cluster.name or '', 'not read')}")
    doubts = _uncontrolled_starts(cluster, here, found.scripts)
    shown = ", ".join([*starts, *doubts]) or "nothing"
    if doubts:
        return warning(
            shown,
            NOTHING,
            "Something that the plan does not control may start the old cluster again.",
            "Disable it yourself for the time of the move. After the old cluster is stopped, check "
            "that no server runs there.",
        )
    return passed(
        shown, NOTHING, "Nothing was found that would start the old cluster again once the plan has stopped it."
    )


@check(
    "pooler",
    "Connection pooler",
    compares="processes, units and files of both servers",
    page="runtime-config-connection",
    needs=(need.OLD_PROGRAMS, need.NEW_PROGRAMS),
)
def check_poolers(_context: CheckContext, here: tuple[HaOrPooler, ...], there: tuple[HaOrPooler, ...]) -> Finding:
    """Check for a pooler or proxy that must be pointed at the new server."""
    on_old, on_new = _with_role(here, "pooler"), _with_role(there, "pooler")
    shown = _describe_programs(on_old), _describe_programs(on_new)
    if not on_old and not on_new:
        return passed(
            *shown,
            "No pooler or proxy was found on either server. If there is one on another host, point it at the "
            "new server.",
        )
    return warning(
        *shown,
        "A pooler or proxy is in front of the cluster. Its clients connect to the server that it names.",
        "Pause it during the downtime (PgBouncer: PAUSE), and point it at the new server. If it "
        "runs on the old server, set it up on the new server.",
    )


@check(
    "cron-jobs",
    "Scheduled jobs",
    compares="crontabs and timers of the old server",
    page="maintenance",
    needs=(need.CLUSTER, need.OLD_SCHEDULE),
)
def check_cron_jobs(_context: CheckContext, _cluster: Cluster, jobs: tuple[Scheduled, ...]) -> Finding:
    """Check for scheduled jobs on the old server that use the cluster."""
    if not jobs:
        return passed("none", NOTHING, "No scheduled job on the old server names PostgreSQL or the data directory.")
    lines = [f"{job.place}: {job.line}" for job in jobs[:_SHOWN]]
    more = [f"and {len(jobs) - _SHOWN} more"] if len(jobs) > _SHOWN else []
    return warning(
        "; ".join([*lines, *more]),
        NOTHING,
        "Scheduled jobs on the old server name PostgreSQL or its files. They may disturb the "
        "copy, or be missing on the new server.",
        "Stop the jobs during the move. Set up on the new server those that it needs.",
    )


@check(
    "virtual-addresses",
    "Virtual IP addresses",
    compares="addresses of both servers",
    page="runtime-config-connection",
    needs=(need.OLD_VIRTUAL_ADDRESSES,),
    uses=(need.NEW_VIRTUAL_ADDRESSES,),
)
def check_virtual_addresses(context: CheckContext, here: tuple[str, ...]) -> Finding:
    """Check for virtual IP addresses of the old server."""
    there = need.NEW_VIRTUAL_ADDRESSES.read(context)
    shown = ", ".join(here) or "none", NOTHING if there is None else ", ".join(there) or "none"
    if not here:
        return passed(*shown, "The old server has no virtual IP address.")
    return warning(
        *shown,
        f"{', '.join(here)} can move between hosts. Clients may use it to reach the old server.",
        "Move the address after the start of the new cluster, when the old cluster is fenced: "
        "`ip addr del` on the old server, `ip addr add` and `arping` on the new server.",
    )


def _with_role(programs: Sequence[HaOrPooler], role: str) -> list[HaOrPooler]:
    return [each for each in programs if each.role == role]


def _describe_programs(programs: list[HaOrPooler]) -> str:
    return "; ".join(_describe_program(each) for each in programs) or "none"


def _describe_program(program: HaOrPooler) -> str:
    remarks = (
        ["runs"] * program.running
        + ["starts at boot"] * program.enabled
        + [f"set up in {file}" for file in program.files]
    )
    return f"{program.name} {', '.join(remarks)}"


def _restart_setting(restart: dict[str, str], unit: str) -> str | None:
    """Return Restart= of the unit, or of its template: `postgresql@.service`."""
    name, at, _ = unit.partition("@")
    return restart.get(unit) or (restart.get(f"{name}@.service") if at else None)


def _uncontrolled_starts(cluster: Cluster, programs: Sequence[HaOrPooler], scripts: tuple[str, ...]) -> list[str]:
    """Return what may start the old cluster again and is not controlled by the plan."""
    doubts = [f"{each.name} runs" for each in _with_role(programs, "watcher") if each.running]
    if cluster.process is not None:
        parent, unit = cluster.process.parent, cluster.process.unit
        doubts += [f"started by {parent}"] if parent not in (None, "init", "systemd") else []
        doubts += [f"runs in {unit}"] if unit not in (None, cluster.unit) else []
    if cluster.unit is None and debian_name(cluster) is None:
        doubts += [f"init script {name}" for name in scripts]
    return doubts


CHECKS: tuple[Check, ...] = (
    check_cluster_managers,
    check_autostart,
    check_poolers,
    check_cron_jobs,
    check_virtual_addresses,
)
