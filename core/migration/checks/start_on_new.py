"""Check of the service that starts the new cluster, also after a reboot."""

from pathlib import PurePosixPath
from posixpath import normpath

from core.facts.discovery import DEBIAN, UNITS, USER_UNITS
from core.facts.services import Service
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
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.findings.layout import (
    config_file_outside,
    configuration_copied,
    configuration_outside,
    own_configuration_folder,
)
from core.migration.findings.services import (
    debian_config_file,
    debian_namesake,
    find_service,
    names_configuration_folder,
    service_of_target,
    unknown_unit,
)
from core.servers.shell import for_hint

_PG_CTL = "pg_ctl only"
_AFTER_A_STOP = ("always", "on-success")
"""Values of Restart= with which systemd restarts a service that was stopped without it (systemd.service)."""


def check_start_on_new(context: CheckContext) -> Finding:
    """Check that a service starts the new cluster as one starts the old, also after a reboot."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    unread = context.new.gap(DEBIAN.name, UNITS.name)
    if unread is not None:
        return unknown(
            NOTHING,
            NOTHING,
            f"The services that start clusters on {context.new.server} could not be read "
            f"({explain_gap(context.new, unread.section)}).",
            "Look with `pg_lsclusters` and `systemctl list-unit-files '*postgres*'`.",
        )
    unseen = context.old.gap(UNITS.name, USER_UNITS.name) if unknown_unit(cluster, context.old) is not None else None
    if unseen is not None:
        return unknown(
            NOTHING,
            NOTHING,
            f"The services that start clusters on {context.old.server} could not be read "
            f"({explain_gap(context.old, unseen.section)}).",
            "Look with `pg_lsclusters` and `systemctl list-unit-files '*postgres*'`.",
        )
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
            f"the facts of {context.old.server} again. Or stop it yourself (`systemctl stop "
            f"{beside}`), and move it while it is stopped.",
        )
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
    if new is None:
        return _started_by_hand(context, shown, old, beside)
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
    found = new.debian or new.config_file is not None or names_configuration_folder(new, context.move.target, cluster)
    if not found and file is not None:
        return blocker(
            *shown,
            f"{new.unit} on the new server looks for postgresql.conf in {context.move.target}, but "
            "the old cluster has it elsewhere.",
            f"Add `-c config_file={file}` to the unit.",
        )
    if not new.enabled and (old is None or not old.enabled):
        return warning(
            *shown,
            f"{new.unit} starts the new cluster, but not at boot. The old cluster does not start at boot either.",
            "Enable the unit when you are sure that the new server works.",
        )
    return passed(*shown, f"{new.unit} starts the new cluster, also at boot.")


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


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "start-on-new", "Service of the new cluster", True, "clusters and units of both servers", "server-start"
        ),
        check_start_on_new,
    ),
)
