"""Checks of what starts the new cluster: its service, the options of the command line, and a trial before the downtime.

Where pg_ctl starts a server, pghaul gives it the options that it ran with. A unit and pg_ctlcluster give their own.
What an environment variable gave the old server nothing gives the new one.
"""

import re
from datetime import timedelta
from pathlib import PurePosixPath
from posixpath import normpath

from core.facts.catalog import Edited
from core.facts.model import Cluster, TrialStart
from core.facts.starters import Service
from core.migration.checks import needs as need
from core.migration.checks.configuration import start_errors
from core.migration.checks.declaration import Check, check
from core.migration.findings.catalogs import format_list
from core.migration.findings.edited import (
    OF_THE_LAYOUT,
    SOCKETS,
    canonical_value,
    command_line_settings,
    display_value,
    environment_settings,
)
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, warning
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.findings.layout import (
    config_file_outside,
    configuration_copied,
    configuration_outside,
    named_config_file_on_new,
    own_configuration_folder,
)
from core.migration.findings.releases import version_numbers
from core.migration.findings.services import (
    active_service,
    debian_config_file,
    debian_folder,
    debian_namesake,
    find_service,
    names_configuration_folder,
    service_of_target,
    unknown_unit,
)
from core.migration.findings.trial import trial_basis
from core.servers.shell import for_hint, quoted

_PG_CTL = "pg_ctl only"
_TRIAL_HOLDS = timedelta(days=1)
_DEBIAN_SOCKETS = "/var/run/postgresql"
"""The directory of the Unix sockets that pg_ctlcluster gives a server if its files name none."""
_AFTER_A_STOP = ("always", "on-success")
"""Values of Restart= with which systemd restarts a service that was stopped without it (systemd.service)."""


@check(
    "start-on-new",
    "Service of the new cluster",
    blocking=True,
    compares="clusters and units of both servers",
    page="server-start",
    needs=(need.CLUSTER, need.NEW_SERVICES, need.OLD_SERVICES),
    uses=(need.OLD_SYSTEM, need.NEW_SYSTEM),
)
def check_start_on_new(
    context: CheckContext, cluster: Cluster, _new_services: tuple[Service, ...], _old_services: tuple[Service, ...]
) -> Finding:
    """Check that a service starts the new cluster as one starts the old, also after a reboot."""
    old, new = find_service(cluster, context.old), service_of_target(context.move.target, cluster, context.new)
    shown = _describe_service(old), _describe_service(new)
    beside = unknown_unit(cluster, context.old)
    if beside is not None and cluster.process is not None and cluster.process.restart in _AFTER_A_STOP:
        return blocker(
            *shown,
            f"The server of {cluster.data_directory} runs in {beside}, but {beside} does not "
            "name this directory in anything that pghaul has read. pghaul would stop the server with "
            f"pg_ctl, and systemd would start it again at once (Restart={cluster.process.restart}).",
            f"Name the directory in {beside} (-D in ExecStart=, or Environment=PGDATA=), and read "
            f"the facts of the server {context.old.server} again. Or stop it yourself (`systemctl stop "
            f"{beside}`), and move it while it is stopped.",
        )
    # What would harm another cluster is reported before what concerns the new one alone.
    endangered = _find_endangered_cluster(context, shown, new)
    if endangered is not None:
        return endangered
    if new is None:
        return _started_by_hand(context, shown, old, beside)
    misregistered = _find_wrong_registration(context, cluster, shown, new)
    if misregistered is not None:
        return misregistered
    if not new.enabled and (old is None or not old.enabled):
        return warning(
            *shown,
            f"The unit {new.unit}, which starts the new cluster for clients, is not enabled. The new cluster would not "
            "start at boot. The old cluster does not start at boot either.",
            "Enable the unit when you are sure that the new server works.",
        )
    return passed(*shown, f"{new.unit} starts the new cluster, also at boot.")


def _find_endangered_cluster(context: CheckContext, shown: tuple[str, str], new: Service | None) -> Finding | None:
    """Return a blocker if the move would take the configuration or the unit of another cluster on the new server."""
    # Debian's tools know a cluster by major version and name. A second cluster of the same name shares its folder in
    # /etc/postgresql, and the copy of the configuration would overwrite the files of the first.
    other = _namesake(context)
    if other is not None:
        return blocker(
            *shown,
            f"Cluster {other.name} on the new server has its data in {other.data_directory}. The "
            "old cluster's configuration would replace the configuration of that cluster.",
            "Rename that cluster (`pg_renamecluster`), drop it if nobody needs it, or make "
            f"{other.data_directory} the target.",
        )
    configured = _replaced_configuration(context)
    if configured is not None:
        folder, path = configured
        return blocker(
            *shown,
            f"Another cluster on the new server, in {folder}, is configured by {path}. The old cluster's file would "
            "replace it.",
            "Move the configuration of that cluster elsewhere, or remove its data directory if nobody needs it. Then "
            f"read the facts again: `{for_hint('pghaul', 'facts', context.new.server)}`.",
        )
    taken = _taken_directory(context, new)
    if taken is not None:
        folder, what = taken
        return blocker(
            *shown,
            f"Another cluster on the new server, in {folder}, runs with {what}. The move would take this from it.",
            "Give that cluster a unit of its own, or stop it for good. Then read the facts again: "
            f"`{for_hint('pghaul', 'facts', context.new.server)}`.",
        )
    return None


def _find_wrong_registration(
    context: CheckContext, cluster: Cluster, shown: tuple[str, str], new: Service
) -> Finding | None:
    """Return a blocker if the service of the target would not start it with the configuration of the old cluster."""
    if new.debian and new.name.partition("/")[0] != cluster.series:
        return blocker(
            *shown,
            f"{context.move.target} is registered on the new server as cluster {new.name}, but the "
            f"old cluster is PostgreSQL {cluster.series}.",
            f"Register it again: `{for_hint('pg_dropcluster', *new.name.split('/', 1))}`, then "
            f"`pg_createcluster {cluster.series} …`.",
        )
    file = config_file_outside(cluster)
    if new.debian and file not in (None, debian_config_file(new)):
        return blocker(
            *shown,
            f"{context.move.target} is registered on the new server as cluster {new.name}, but the "
            f"old cluster's configuration is {file}.",
            "Give it the name of the old cluster with `pg_renamecluster`.",
        )
    file = named_config_file_on_new(cluster, context.move.target)
    found = new.debian or new.config_file is not None or names_configuration_folder(new, context.move.target, cluster)
    if not found and file is not None:
        return blocker(
            *shown,
            f"{new.unit} on the new server looks for postgresql.conf in {context.move.target}, but "
            "the old cluster has it elsewhere.",
            f"Add `-c config_file={file}` to the unit.",
        )
    return None


def _namesake(context: CheckContext) -> Service | None:
    """Return another Debian cluster on the new server with the old cluster's name: both would share a configuration."""
    cluster = context.cluster
    if cluster is None or own_configuration_folder(cluster) not in configuration_outside(cluster):
        return None
    if compare_hosts(context.old, context.new) is Hosts.ONE:
        return None  # the new server is the old server itself
    return debian_namesake(context.move.target, cluster, context.new)


def _replaced_configuration(context: CheckContext) -> tuple[str, str] | None:
    """Return another cluster on the new server and a configuration file of it that the move would replace."""
    if context.cluster is None or compare_hosts(context.old, context.new) is Hosts.ONE:
        return None  # the new server is the old server itself
    brought = [PurePosixPath(path) for path in configuration_copied(context.cluster)]
    for each in context.new.clusters:
        if each.data_directory == normpath(context.move.target):
            continue
        read = [one.path for one in each.configuration_files or () if one.state == "file"]
        for path in (each.config_file, each.hba_file, each.settings.get("ident_file"), *read):
            if path and any(PurePosixPath(path).is_relative_to(one) for one in brought):
                return each.data_directory, path
    return None


def _taken_directory(context: CheckContext, service: Service | None) -> tuple[str, str] | None:
    """Return the directory of another running cluster on the new server and its unit, if the move would take it."""
    if service is None or service.user is not None or compare_hosts(context.old, context.new) is Hosts.ONE:
        return None
    for each in context.new.clusters:
        unit = each.process.unit if each.process is not None else None
        if each.running and each.data_directory != normpath(context.move.target) and unit == service.unit:
            return each.data_directory, service.unit
    return None


def _started_by_hand(context: CheckContext, shown: tuple[str, str], old: Service | None, beside: str | None) -> Finding:
    if old is None and beside is not None:
        return warning(
            *shown,
            f"The server of {context.move.cluster} runs in {beside}, but {beside} does not name "
            "its directory in anything that pghaul has read. pghaul stops it and starts the new "
            "cluster with pg_ctl. The new cluster will not start after a reboot.",
            f"If {beside} starts the server, create such a unit on the new server with -D {context.move.target}.",
        )
    if old is None:
        return passed(
            *shown, "pghaul starts the new cluster with pg_ctl. As on the old server, it does not start after a reboot."
        )
    return warning(
        *shown,
        f"No service manages {context.move.target} on the new server. pghaul starts it with "
        "pg_ctl, but it will not start after a reboot.",
        f"Before the move, create a unit with -D {context.move.target} on the new server, or a "
        "Debian cluster (`pg_createcluster`).",
    )


def _describe_service(service: Service | None) -> str:
    if service is None:
        return _PG_CTL
    whose = f" of {service.user}" if service.user is not None else ""
    return f"{service.unit}{whose}, {'enabled' if service.enabled else 'not enabled'}"


_TOLD_SINCE = (9, 2)
"""The first major version whose server program shows the values in the files (-C)."""


@check(
    "start-options",
    "Command-line options of PostgreSQL",
    blocking=True,
    compares="command line and environment of the old server, service of the new server",
    page="app-postgres",
    needs=(need.CLUSTER,),
    uses=(need.OPTIONS, need.OLD_SYSTEM, need.NEW_SYSTEM),
)
def check_start_options(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the service of the new cluster gives each command-line option of the old server."""
    if not cluster.running:
        return passed(
            "stopped",
            NOTHING,
            "The old server is stopped, so it has no command-line options that the new server would need.",
        )
    new, options = service_of_target(context.move.target, cluster, context.new), _relevant_options(cluster)
    shown = format_list([_typed_option(each) for each in options or ()]) or (NOTHING if options is None else "none")
    if new is None:
        variables = environment_settings(cluster)
        if of_variables := [each for each in options or () if each.name in variables]:
            return _finding_for_pg_ctl(context, of_variables)
        return passed(shown, "pg_ctl only", "pghaul starts the new server with the options of the old server.")
    if options is None and version_numbers(cluster.series) < _TOLD_SINCE:
        return warning(
            shown,
            new.unit,
            "The old server could not be asked for the options on its command line, and PostgreSQL "
            f"{cluster.series} does not tell them otherwise.",
            f"Look for options in its postmaster.opts, and check whether {new.unit} gives them.",
        )
    if options is None:
        return need.OPTIONS.unread(context)
    if not options:
        return passed(
            shown, NOTHING, "The postgres process of the old cluster was started without settings on its command line."
        )
    if new.debian:
        return _finding_for_debian(context, cluster, options, shown, new)
    if new.options is None:
        return warning(
            shown,
            new.unit,
            f"The old server has options on its command line ({shown}). The options that "
            f"{new.unit} gives on the new server are not known: it starts a script, or takes "
            "options from a variable.",
            f"Check that it gives the options: `systemctl cat {new.unit}`. Or write the settings "
            "into the files of the old server, which are copied.",
        )
    return _finding_for_unit(context, cluster, options, new)


def _relevant_options(cluster: Cluster) -> list[Edited] | None:
    """Return the options that the files alone would not give, as far as the major version shows that."""
    found = cluster.options
    if found is None and version_numbers(cluster.series) < _TOLD_SINCE and cluster.wide is not None:
        return [Edited(each.name, each.value, None) for each in command_line_settings(cluster)]
    return None if found is None else [each for each in found if each.name not in OF_THE_LAYOUT]


def _finding_for_pg_ctl(context: CheckContext, options: list[Edited]) -> Finding:
    """Return the finding if pg_ctl starts the new cluster: pghaul passes options, but no environment variables."""
    shown = format_list([_typed_option(each) for each in options])
    would = format_list([f"{each.name}={_value_in_file(each) or NOTHING}" for each in options])
    return blocker(
        shown,
        NOTHING,
        f"The old server has {shown} from its environment, which is not copied. The new server would have {would}.",
        "Write the value that is in force into postgresql.conf of the old server. This changes "
        "nothing there, and the file is copied. Then read the facts again: `pghaul facts "
        f"{quoted(context.old.server)}`.",
    )


def _finding_for_debian(
    context: CheckContext, cluster: Cluster, options: list[Edited], shown: str, new: Service
) -> Finding:
    """Return the finding for a Debian cluster: pg_ctl.conf contains its options if its unit started it.

    Options can also be typed for pg_ctlcluster, which then starts the server itself, outside of the unit.
    """
    old_service, folder = active_service(cluster, context.old), own_configuration_folder(cluster)
    if old_service is not None and old_service.debian and folder is not None:
        if cluster.process is not None and cluster.process.unit == old_service.unit:
            return passed(shown, new.unit, "The options are copied with pg_ctl.conf of the old cluster.")
        typed = [each for each in options if (each.name in SOCKETS, each.in_force) != (True, _DEBIAN_SOCKETS)]
        if not typed:
            return passed(shown, new.unit, "pg_ctlcluster gives the new server these options, too.")
        return warning(
            shown,
            new.unit,
            f"The old server has options on its command line ({shown}). pg_ctlcluster starts the new server only with "
            "the options in pg_ctl.conf of the old cluster. pghaul copies that file, but does not read it.",
            f"Check that {folder}/pg_ctl.conf on the old server contains the options, and add those that it lacks. Or "
            "write the settings into the other files of the old server, which are copied.",
        )
    return warning(
        shown,
        new.unit,
        f"The old server has options on its command line ({shown}). pg_ctlcluster starts the "
        "new server only with the options in its pg_ctl.conf, which pghaul does not read.",
        "Write the settings into the files of the old server, which are copied. Or write the "
        f"options into {debian_folder(new)}/pg_ctl.conf on the new server.",
    )


def _finding_for_unit(context: CheckContext, cluster: Cluster, options: list[Edited], new: Service) -> Finding:
    """Return the finding from the command line of the unit: an option that is surely missing is a blocker."""
    given = dict(new.options or ())
    if any(
        each.name == "unix_socket_directory" for each in options
    ):  # before 9.3; facts contain -k by the later name of the setting
        given = {"unix_socket_directory" if name in SOCKETS else name: value for name, value in given.items()}
    old_service = active_service(cluster, context.old)
    equal_options = set(new.options or ()) & set(old_service.options or ()) if old_service is not None else set()
    lacking, doubtful = list[Edited](), list[Edited]()
    for each in options:
        if each.name in given and (
            (each.name, given[each.name]) in equal_options or _are_equal(each, given[each.name])
        ):
            continue
        certain = each.name not in given or _are_comparable(each, given[each.name])
        if certain and not _is_doubtful(cluster, each, old_service):
            lacking.append(each)
        else:
            doubtful.append(each)
    old = format_list([_typed_option(each) for each in options])
    displayed = [f"{name}={value}" for name, value in given.items() if value is not None and name not in OF_THE_LAYOUT]
    on_new = format_list(displayed) or "none"
    hint = (
        f"Add the option to ExecStart= of {new.unit}, or write the setting into the files of "
        "the old server, which are copied. Then read the facts of both servers again."
    )
    if lacking:
        description = format_list([_describe_option(each, given.get(each.name)) for each in lacking])
        return blocker(old, on_new, f"{description}. {new.unit} starts it without the option.", hint)
    if doubtful:
        description = format_list([_describe_option(each, given.get(each.name)) for each in doubtful])
        return warning(old, on_new, f"{description}, unless both values mean the same. Check {new.unit}.", hint)
    return passed(old, on_new, f"{new.unit} gives the new server the options of the old server.")


def _is_doubtful(cluster: Cluster, option: Edited, old_service: Service | None) -> bool:
    """Return whether the files alone may give the same value, or the option is Debian's directory for sockets."""
    if option.name in SOCKETS:
        return old_service is not None and old_service.debian
    return option.in_file is None and version_numbers(cluster.series) < _TOLD_SINCE


def _are_equal(option: Edited, given: str | None) -> bool:
    """Return whether both values are equal; if one may be secret, it is enough that both are given."""
    if option.in_force is None or given is None:
        return True
    return canonical_value(option.in_force, option.unit) == canonical_value(given, option.unit)


def _are_comparable(option: Edited, given: str | None) -> bool:
    """Return whether both are plain numbers or switches, so that other words mean another value."""
    values = [canonical_value(each, option.unit) for each in (option.in_force, given) if each is not None]
    return len(values) == 2 and all(each in ("on", "off") or re.fullmatch(r"-?[0-9]+", each) for each in values)


def _typed_option(option: Edited) -> str:
    return option.name if option.in_force is None else f"{option.name}={display_value(option.in_force, option.unit)}"


def _value_in_file(option: Edited) -> str | None:
    return None if option.in_file is None else display_value(option.in_file, option.unit)


def _describe_option(option: Edited, given: str | None) -> str:
    """Return a description of the option with both values."""
    value_on_new = given if given is not None else _value_in_file(option)
    if option.in_force is None:
        return (
            f"{option.name} is set by the command line or the environment of the old server (its value may be secret)"
        )
    in_force = display_value(option.in_force, option.unit)
    if value_on_new is None:
        return f"{option.name} is {in_force} from the command line or the environment of the old server"
    return (
        f"{option.name} is {in_force or NOTHING} from the command line or the "
        f"environment of the old server, and would be {value_on_new or NOTHING} on the new server"
    )


@check(
    "trial-start",
    "Trial start on the new server",
    blocking=True,
    compares="old cluster's configuration, answer of an empty cluster on the new server",
    page="server-start",
    needs=(need.CLUSTER,),
    uses=(need.NEW_TRIAL_START, need.NEW_SYSTEM),
)
def check_trial_start(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that an empty cluster with the old cluster's configuration has started on the new server."""
    trial = need.NEW_TRIAL_START.read(context)
    file = cluster.config_file or NOTHING
    rerun = for_hint("pghaul", "check", context.move.name)
    meant = context.move.cluster, context.move.target, context.move.edited or ""
    if trial is None or (trial.cluster, trial.target, trial.edited) != meant:
        return warning(
            file,
            NOTHING,
            "The trial start was not made yet. It starts an empty cluster with the old cluster's "
            "configuration on the new server.",
            f"Run the checks, which make the trial start: `{rerun}`.",
        )
    if not _still_holds(context, cluster, trial):
        return warning(
            file,
            NOTHING,
            "Since the trial start, settings or programs have changed, or more than a day has passed. It is not known "
            "whether an empty cluster with the old cluster's configuration would still start on the new server.",
            f"Run the checks, which make the trial start again: `{rerun}`.",
        )
    service = service_of_target(context.move.target, cluster, context.new)
    by_unit = service.unit if service is not None else NOTHING
    noted = _describe_age(context, trial)
    hindered = _describe_hindrances(trial, by_unit) + noted
    problem = _find_trial_problem(cluster, trial, file, by_unit, hindered, rerun)
    if problem is not None:
        return problem
    addresses = ", ".join(trial.listened) or NOTHING
    remark = f" It did not listen on {', '.join(trial.lacking)}, which the new server lacks." if trial.lacking else ""
    remark += noted if service is None else ""
    if service is not None:
        unit = for_hint("systemctl", "cat", service.unit)
        return warning(
            file,
            addresses if addresses == NOTHING else f"the trial listened on {addresses}",
            "A trial start by pg_ctl succeeded: an empty cluster started with the old cluster's configuration. The "
            f"move starts the new cluster for clients by the service {service.unit}, which was not "
            f"tried.{remark}{hindered}",
            f"Check whether the unit would start it (User=, sandboxing, limits, conditions): `{unit}`.",
        )
    return passed(
        file, addresses, f"An empty cluster with the old cluster's configuration started on the new server.{remark}"
    )


def _describe_age(context: CheckContext, trial: TrialStart) -> str:
    """Return, as a sentence to append, that facts were read again since the trial start; empty if not."""
    if trial.at is None or not _facts_were_read_again(context, trial):
        return ""
    at = f"{trial.at:%Y-%m-%d %H:%M}"
    return f" The trial start was made at {at} UTC. It was not repeated when the facts were read again."


def _describe_hindrances(trial: TrialStart, by_unit: str) -> str:
    """Return, as sentences to append, what may keep the unit from starting the new cluster; empty if nothing may."""
    hindered = (
        f" {'; '.join(trial.hindering)} may keep {by_unit} from starting the new cluster." if trial.hindering else ""
    )
    if trial.unjudged:
        unjudged = "; ".join(trial.unjudged)
        hindered += f" It was not judged whether these conditions of {by_unit} will be met: {unjudged}."
    return hindered


def _find_trial_problem(
    cluster: Cluster, trial: TrialStart, file: str, by_unit: str, hindered: str, rerun: str
) -> Finding | None:
    """Return the finding if the trial start failed, was not tried, or the unit's conditions are not met; else None."""
    if trial.unmet and trial.hook and not trial.failed:
        return warning(
            file,
            trial.target,
            f"systemd would not start {by_unit} on the new server now, because of what is not met there: "
            f"{'; '.join(trial.unmet)}. Your command for {trial.hook}, which runs before the old cluster is stopped, "
            f"may change that.{hindered}",
            "Check that the command does so. If a condition is still not met after it, the move ends before it stops "
            "the old cluster.",
        )
    if trial.unmet and not trial.failed:
        return blocker(
            file,
            trial.target,
            f"systemd would not start {by_unit} on the new server, because these conditions are not "
            f"met: {'; '.join(trial.unmet)}.",
            "Meet the conditions, or remove the lines from the unit (`systemctl edit --full "
            f"{by_unit}`). Then run the checks again: `{rerun}`.",
        )
    if trial.not_tried:
        return warning(
            file,
            NOTHING,
            f"The trial start on the new server was not made, because {trial.not_tried}.{hindered}",
            f"Remove the obstacle and run the checks again: `{rerun}`. Otherwise only the start in "
            "the downtime shows whether the new cluster starts.",
        )
    if trial.failed and start_errors(
        cluster
    ):  # the message of PostgreSQL quotes these lines, which may contain secrets
        return blocker(
            file,
            trial.target,
            "An empty cluster with the old cluster's configuration does not start on the new server. The check "
            "`start-files` says which lines of the configuration are wrong.",
            f"Correct these lines. Then run the checks again: `{rerun}`.",
        )
    if trial.failed:
        return blocker(
            file,
            trial.target,
            f"An empty cluster with the old cluster's configuration does not start on the new server: {trial.failed}",
            "Correct what PostgreSQL names, on the new server or in the old cluster's configuration. "
            f"Otherwise the start in the downtime fails too. Then run the checks again: `{rerun}`.",
        )
    return None


def _still_holds(context: CheckContext, cluster: Cluster, trial: TrialStart) -> bool:
    """Return whether the trial start was made with these facts, or within a day before them with equal ones."""
    if not _facts_were_read_again(context, trial):
        return True
    if trial.at is None or trial.basis != trial_basis(cluster, context.new, trial.target):
        return False
    return max(context.old.taken_at, context.new.taken_at) - trial.at < _TRIAL_HOLDS


def _facts_were_read_again(context: CheckContext, trial: TrialStart) -> bool:
    """Return whether facts of one of the servers are later than those for which the trial start was made."""
    new_again = trial.at is not None and context.new.taken_at > trial.at
    return new_again or trial.of != context.old.taken_at.isoformat()


CHECKS: tuple[Check, ...] = (check_start_on_new, check_start_options, check_trial_start)
