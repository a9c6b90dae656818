"""Checks of cluster managers, automatic starts, poolers, scheduled jobs and virtual addresses."""

from core.facts.autostart import SECTION as AUTOSTART
from core.facts.ha_and_poolers import SECTION as HA_AND_POOLERS
from core.facts.ha_and_poolers import VIRTUAL
from core.facts.host_environment import HaOrPooler
from core.facts.model import Facts
from core.facts.schedules import SECTION as SCHEDULES
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    no_cluster_finding,
    passed,
    unknown,
    warning,
)
from core.migration.findings.layout import debian_name

_SHOWN = 10


def check_cluster_managers(context: CheckContext) -> Finding:
    """Check that no cluster manager is running: it would start the old cluster again."""
    if context.cluster is None:
        return no_cluster_finding(context)
    unread = _unread_or_found(
        context, "cluster managers", [facts.host_environment.ha_and_poolers for facts in (context.old, context.new)]
    )
    if unread is not None:
        return unread
    here, there = (_programs_with_role(facts, "manager") for facts in (context.old, context.new))
    shown = _describe_programs(here), _describe_programs(there)
    running = [each.name for each in here if each.running]
    if running:
        return blocker(
            *shown,
            f"{', '.join(running)} is running on {context.old.server}. It would start the old "
            "cluster again during the copy.",
            "Pause it as its documentation says (`patronictl pause`, `repmgr service pause`, "
            "maintenance mode). Then stop it and disable its start.",
        )
    if here or there:
        return warning(
            *shown,
            "A cluster manager is set up, but none is running on the old server.",
            "Disable its start before the move. Set it up again for the new cluster.",
        )
    return passed(*shown, "No cluster manager was found on either server.")


def check_autostart(context: CheckContext) -> Finding:
    """Check that the plan controls everything that would start the old cluster again."""
    cluster, found = context.cluster, context.old.host_environment.autostart
    if cluster is None:
        return no_cluster_finding(context)
    if found is None or context.old.host_environment.ha_and_poolers is None:
        why = explain_gap(context.old, AUTOSTART.name, HA_AND_POOLERS.name)
        return unknown(
            NOTHING,
            NOTHING,
            f"What starts services on {context.old.server} could not be read ({why}).",
            "Look for init scripts, units and watchdogs of your own, and keep them from starting the old cluster.",
        )
    named = debian_name(cluster)
    starts = [f"unit {cluster.unit}"] if cluster.unit is not None else []
    if cluster.unit is not None:
        starts += ["enabled"] if cluster.unit in found.enabled else []
        restart = _restart_setting(found.restart or {}, cluster.unit)
        starts += [f"Restart={restart}"] if restart is not None else []
    if named is not None:
        starts.append(f"start.conf {(found.start_conf or {}).get(cluster.name or '', 'not read')}")
    doubts = _uncontrolled_starts(context, found.scripts)
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
        shown,
        NOTHING,
        "The plan keeps the old cluster stopped. Nothing else was found that would start it again.",
    )


def check_poolers(context: CheckContext) -> Finding:
    """Check for a pooler or proxy that must be pointed at the new server."""
    unread = _unread_or_found(
        context, "poolers", [facts.host_environment.ha_and_poolers for facts in (context.old, context.new)]
    )
    if unread is not None:
        return unread
    here, there = (_programs_with_role(facts, "pooler") for facts in (context.old, context.new))
    shown = _describe_programs(here), _describe_programs(there)
    if not here and not there:
        return passed(
            *shown,
            "No pooler or proxy was found on either server. One on another host must be pointed at the new server.",
        )
    return warning(
        *shown,
        "A pooler or proxy is in front of the cluster. Its clients connect to the server that it names.",
        "Pause it during the downtime (PgBouncer: PAUSE), and point it at the new server. If it "
        "runs on the old server, set it up on the new server.",
    )


def check_cron_jobs(context: CheckContext) -> Finding:
    """Check for scheduled jobs on the old server that use the cluster."""
    jobs = context.old.host_environment.schedule
    if context.cluster is None:
        return no_cluster_finding(context)
    if jobs is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"The scheduled jobs of {context.old.server} could not be read "
            f"({explain_gap(context.old, SCHEDULES.name)}).",
            "Look with `crontab -l -u postgres; ls /etc/cron.d; systemctl list-timers`.",
        )
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


def check_virtual_addresses(context: CheckContext) -> Finding:
    """Check for virtual IP addresses of the old server."""
    here, there = context.old.host_environment.virtual_addresses, context.new.host_environment.virtual_addresses
    if here is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"The addresses of {context.old.server} could not be read ({explain_gap(context.old, VIRTUAL.name)}).",
            "Look with `ip addr show`.",
        )
    shown = ", ".join(here) or "none", "not read" if there is None else ", ".join(there) or "none"
    if not here:
        return passed(*shown, "The old server has no virtual IP address.")
    return warning(
        *shown,
        f"{', '.join(here)} can move between hosts. Clients may use it to reach the old server.",
        "Move the address after the start of the new cluster, when the old cluster is fenced: "
        "`ip addr del` on the old server, `ip addr add` and `arping` on the new server.",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "ha-manager", "Cluster manager", True, "processes, units and files of both servers", "high-availability"
        ),
        check_cluster_managers,
    ),
    (
        Declaration(
            "autostart",
            "Automatic start of the old cluster",
            False,
            "units, start.conf and init scripts of the old server",
            "server-start",
        ),
        check_autostart,
    ),
    (
        Declaration(
            "pooler",
            "Connection pooler",
            False,
            "processes, units and files of both servers",
            "runtime-config-connection",
        ),
        check_poolers,
    ),
    (
        Declaration("cron-jobs", "Scheduled jobs", False, "crontabs and timers of the old server", "maintenance"),
        check_cron_jobs,
    ),
    (
        Declaration(
            "virtual-addresses", "Virtual IP addresses", False, "addresses of both servers", "runtime-config-connection"
        ),
        check_virtual_addresses,
    ),
)


def _unread_or_found(context: CheckContext, what: str, found: list[tuple[HaOrPooler, ...] | None]) -> Finding | None:
    missing = next(
        (facts for facts, programs in zip((context.old, context.new), found, strict=True) if programs is None), None
    )
    if missing is None:
        return None
    return unknown(
        NOTHING,
        NOTHING,
        f"The {what} of {missing.server} could not be read ({explain_gap(missing, HA_AND_POOLERS.name)}).",
        f"Look on {missing.server} with `ps -ef` and `ls /etc`.",
    )


def _programs_with_role(facts: Facts, role: str) -> list[HaOrPooler]:
    return [each for each in facts.host_environment.ha_and_poolers or () if each.role == role]


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


def _uncontrolled_starts(context: CheckContext, scripts: tuple[str, ...]) -> list[str]:
    """Return what may start the old cluster again and is not controlled by the plan."""
    cluster = context.cluster
    if cluster is None:
        return []
    doubts = [f"{each.name} runs" for each in _programs_with_role(context.old, "watcher") if each.running]
    if cluster.process is not None:
        parent, unit = cluster.process.parent, cluster.process.unit
        doubts += [f"started by {parent}"] if parent not in (None, "init", "systemd") else []
        doubts += [f"runs in {unit}"] if unit not in (None, cluster.unit) else []
    if cluster.unit is None and debian_name(cluster) is None:
        doubts += [f"init script {name}" for name in scripts]
    return doubts
