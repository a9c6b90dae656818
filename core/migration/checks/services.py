"""What starts a cluster again, works on it by the clock, or leads clients to it."""

from core.facts.autostart import SECTION as AUTOSTART
from core.facts.ha_and_poolers import SECTION as HA_AND_POOLERS
from core.facts.ha_and_poolers import VIRTUAL
from core.facts.host_environment import HaOrPooler
from core.facts.model import Facts
from core.facts.schedules import SECTION as SCHEDULES
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    passed,
    reason,
    unknown,
    warning,
)
from core.migration.findings.layout import debian

_SHOWN = 10


def managers(case: Case) -> Finding:
    """No cluster manager is at work: it would start old again, or make a second primary."""
    if case.cluster is None:
        return no_cluster(case)
    unread = _unread(
        case, "cluster managers", [facts.host_environment.ha_and_poolers for facts in (case.old, case.new)]
    )
    if unread is not None:
        return unread
    here, there = (_of(facts, "manager") for facts in (case.old, case.new))
    shown = _words(here), _words(there)
    running = [each.name for each in here if each.running]
    if running:
        return blocker(
            *shown,
            f"{', '.join(running)} is at work on {case.old.server}: it would start old again while it is copied",
            "put it to rest as its documentation says (patronictl pause, repmgr service pause, maintenance mode), "
            "then stop it and keep it from starting",
        )
    if here or there:
        return warning(
            *shown,
            "a cluster manager is set up, though none is at work on old",
            "keep it from starting before the move; set it up anew for the cluster on new",
        )
    return passed(*shown, "no cluster manager was found")


def autostart(case: Case) -> Finding:
    """What would start old again is known, so that the plan can keep it from that."""
    cluster, found = case.cluster, case.old.host_environment.autostart
    if cluster is None:
        return no_cluster(case)
    if found is None or case.old.host_environment.ha_and_poolers is None:
        why = reason(case.old, AUTOSTART.name, HA_AND_POOLERS.name)
        return unknown(
            NOTHING,
            NOTHING,
            f"what starts services on {case.old.server} could not be read: {why}",
            "look for init scripts, units and watchdogs of your own, and keep them from starting old",
        )
    named = debian(cluster)
    said = [f"unit {cluster.unit}"] if cluster.unit is not None else []
    if cluster.unit is not None:
        said += ["enabled"] if cluster.unit in found.enabled else []
        restart = _restart(found.restart or {}, cluster.unit)
        said += [f"Restart={restart}"] if restart is not None else []
    if named is not None:
        said.append(f"start.conf {(found.start_conf or {}).get(cluster.name or '', 'not read')}")
    doubts = _doubts(case, found.scripts)
    shown = ", ".join([*said, *doubts]) or "nothing"
    if doubts:
        return warning(
            shown,
            NOTHING,
            "something that the plan does not know may start old again",
            "keep it from that yourself for the time of the move, and look after the stop that no server runs on old",
        )
    return passed(shown, NOTHING, "the plan keeps it from starting after the stop, and nothing else was found")


def pooler(case: Case) -> Finding:
    """No pooler or proxy leads to old that would have to be told of new."""
    unread = _unread(case, "poolers", [facts.host_environment.ha_and_poolers for facts in (case.old, case.new)])
    if unread is not None:
        return unread
    here, there = (_of(facts, "pooler") for facts in (case.old, case.new))
    shown = _words(here), _words(there)
    if not here and not there:
        return passed(*shown, "no pooler or proxy was found on either host; one elsewhere must be told too")
    return warning(
        *shown,
        "a pooler or proxy stands in front of the cluster: its clients go where it leads",
        "let it wait while the cluster is stopped (PgBouncer: PAUSE), and give it new's address; "
        "set it up on new if it runs beside the cluster",
    )


def cron_jobs(case: Case) -> Finding:
    """No scheduled job on old works on the cluster that would have to be moved or stopped."""
    jobs = case.old.host_environment.schedule
    if case.cluster is None:
        return no_cluster(case)
    if jobs is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"the scheduled jobs of {case.old.server} could not be read: {reason(case.old, SCHEDULES.name)}",
            "look with: crontab -l -u postgres; ls /etc/cron.d; systemctl list-timers",
        )
    if not jobs:
        return passed("none", NOTHING, "no scheduled job names PostgreSQL or the data directory")
    lines = [f"{job.place}: {job.line}" for job in jobs[:_SHOWN]]
    more = [f"and {len(jobs) - _SHOWN} more"] if len(jobs) > _SHOWN else []
    return warning(
        "; ".join([*lines, *more]),
        NOTHING,
        "scheduled jobs on old name PostgreSQL or its files: one of them may disturb the copy, or be missed on new",
        "stop them for the time of the move, and set up on new what shall go on there",
    )


def virtual_addresses(case: Case) -> Finding:
    """No address of old is one that clients follow to another host."""
    here, there = case.old.host_environment.virtual_addresses, case.new.host_environment.virtual_addresses
    if here is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"the addresses of {case.old.server} could not be read: {reason(case.old, VIRTUAL.name)}",
            "look with: ip addr show",
        )
    shown = ", ".join(here) or "none", "not read" if there is None else ", ".join(there) or "none"
    if not here:
        return passed(*shown, "old has no address that moves")
    return warning(
        *shown,
        f"{', '.join(here)} can move between hosts: clients may reach old by it",
        "move it to new after the start there, when old is fenced: ip addr del on old, ip addr add and arping on new",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration("ha-manager", "cluster manager", True, "processes, units and files of both", "high-availability"),
        managers,
    ),
    (
        Declaration(
            "autostart", "start of old at boot", False, "units, start.conf, init scripts of old", "server-start"
        ),
        autostart,
    ),
    (
        Declaration(
            "pooler", "connection pooler", False, "processes, units and files of both", "runtime-config-connection"
        ),
        pooler,
    ),
    (
        Declaration("cron-jobs", "scheduled jobs", False, "crontabs and timers of old", "maintenance"),
        cron_jobs,
    ),
    (
        Declaration("virtual-addresses", "virtual addresses", False, "addresses of both", "runtime-config-connection"),
        virtual_addresses,
    ),
)


def _unread(case: Case, what: str, found: list[tuple[HaOrPooler, ...] | None]) -> Finding | None:
    missing = next(
        (facts for facts, programs in zip((case.old, case.new), found, strict=True) if programs is None), None
    )
    if missing is None:
        return None
    return unknown(
        NOTHING,
        NOTHING,
        f"the {what} of {missing.server} could not be read: {reason(missing, HA_AND_POOLERS.name)}",
        f"look on {missing.server} with: ps -ef; ls /etc",
    )


def _of(facts: Facts, role: str) -> list[HaOrPooler]:
    return [each for each in facts.host_environment.ha_and_poolers or () if each.role == role]


def _words(programs: list[HaOrPooler]) -> str:
    return "; ".join(_word(each) for each in programs) or "none"


def _word(program: HaOrPooler) -> str:
    said = (
        ["runs"] * program.running
        + ["starts with the host"] * program.enabled
        + [f"set up in {file}" for file in program.files]
    )
    return f"{program.name} {', '.join(said)}"


def _restart(restart: dict[str, str], unit: str) -> str | None:
    """Of the unit itself, or of the template that it is an instance of: `postgresql@.service`."""
    name, at, _ = unit.partition("@")
    return restart.get(unit) or (restart.get(f"{name}@.service") if at else None)


def _doubts(case: Case, scripts: tuple[str, ...]) -> list[str]:
    """What may start old again and the plan does not know."""
    cluster = case.cluster
    if cluster is None:
        return []
    doubts = [f"{each.name} runs" for each in _of(case.old, "watcher") if each.running]
    if cluster.process is not None:
        parent, unit = cluster.process.parent, cluster.process.unit
        doubts += [f"started by {parent}"] if parent not in (None, "init", "systemd") else []
        doubts += [f"runs in {unit}"] if unit not in (None, cluster.unit) else []
    if cluster.unit is None and debian(cluster) is None:
        doubts += [f"init script {name}" for name in scripts]
    return doubts
