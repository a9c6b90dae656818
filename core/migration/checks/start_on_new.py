"""Check of the service that starts the new cluster, also after a reboot."""

from pathlib import PurePosixPath
from posixpath import normpath

from core.facts.discovery import DEBIAN, UNITS, USER_UNITS
from core.facts.services import Service
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
from core.migration.findings.hosts import Hosts, hosts_of
from core.migration.findings.layout import (
    config_file_outside,
    configuration_brought,
    configuration_outside,
    own_folder,
)
from core.migration.findings.services import (
    debian_config_file,
    namesake,
    of_configuration,
    service_for,
    service_of,
    unmatched_unit,
)
from core.servers.shell import for_hint

_PG_CTL = "pg_ctl only"
_AFTER_A_STOP = ("always", "on-success")
"""Values of Restart= with which systemd starts again what was stopped past it (systemd.service)."""


def start_on_new(case: Case) -> Finding:
    """Check that a service starts the new cluster as one starts the old, also after a reboot."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    unread = case.new.gap(DEBIAN.name, UNITS.name)
    if unread is not None:
        return unknown(
            NOTHING,
            NOTHING,
            f"The services that start clusters on {case.new.server} could not be read "
            f"({reason(case.new, unread.section)}).",
            "Look with `pg_lsclusters` and `systemctl list-unit-files '*postgres*'`.",
        )
    unseen = case.old.gap(UNITS.name, USER_UNITS.name) if unmatched_unit(cluster, case.old) is not None else None
    if unseen is not None:
        return unknown(
            NOTHING,
            NOTHING,
            f"The services that start clusters on {case.old.server} could not be read "
            f"({reason(case.old, unseen.section)}).",
            "Look with `pg_lsclusters` and `systemctl list-unit-files '*postgres*'`.",
        )
    old, new = service_of(cluster, case.old), service_for(case.move.target, cluster, case.new)
    shown = _words(old), _words(new)
    beside = unmatched_unit(cluster, case.old)
    if beside is not None and cluster.process is not None and cluster.process.restart in _AFTER_A_STOP:
        return blocker(
            *shown,
            f"The server of {cluster.data_directory} runs in {beside}, but {beside} does not "
            "name this directory in anything that pghaul has read. pghaul would stop the server with "
            f"pg_ctl, and systemd would start it again at once (Restart={cluster.process.restart}).",
            f"Name the directory in {beside} (-D in ExecStart=, or Environment=PGDATA=), and read "
            f"the facts of {case.old.server} again. Or stop it yourself (`systemctl stop "
            f"{beside}`), and move it while it is stopped.",
        )
    other = _namesake(case)
    if other is not None:
        return blocker(
            *shown,
            f"Cluster {other.name} on the new server has its data in {other.data_directory}. The "
            "old cluster's configuration would replace the configuration of that cluster.",
            "Rename that cluster (`pg_renamecluster`), drop it if nobody needs it, or make "
            f"{other.data_directory} the target.",
        )
    configured = _configured(case)
    if configured is not None:
        folder, path = configured
        return blocker(
            *shown,
            f"Another cluster on the new server, in {folder}, is configured by {path}. The old cluster's file would "
            "replace it.",
            "Move the configuration of that cluster elsewhere, or remove its data directory if nobody needs it. Then "
            f"read the facts again: `{for_hint('pghaul', 'facts', case.new.server)}`.",
        )
    taken = _taken(case, new)
    if taken is not None:
        folder, what = taken
        return blocker(
            *shown,
            f"Another cluster on the new server, in {folder}, runs with {what}. The move would take this from it.",
            "Give that cluster a unit of its own, or stop it for good. Then read the facts again: "
            f"`{for_hint('pghaul', 'facts', case.new.server)}`.",
        )
    if new is None:
        return _by_hand(case, shown, old, beside)
    if new.debian and new.name.partition("/")[0] != cluster.series:
        return blocker(
            *shown,
            f"{case.move.target} is registered on the new server as cluster {new.name}, but the "
            f"old cluster is PostgreSQL {cluster.series}.",
            f"Register it again: `{for_hint('pg_dropcluster', *new.name.split('/', 1))}`, then "
            f"`pg_createcluster {cluster.series} …`.",
        )
    file = config_file_outside(cluster)
    if new.debian and file not in (None, debian_config_file(new)):
        return blocker(
            *shown,
            f"{case.move.target} is registered on the new server as cluster {new.name}, but the "
            f"old cluster's configuration is {file}.",
            "Give it the name of the old cluster with `pg_renamecluster`.",
        )
    found = new.debian or new.config_file is not None or of_configuration(new, case.move.target, cluster)
    if not found and file is not None:
        return blocker(
            *shown,
            f"{new.unit} on the new server looks for postgresql.conf in {case.move.target}, but "
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


def _namesake(case: Case) -> Service | None:
    """Return another Debian cluster on the new server with the old cluster's name: both would share a configuration."""
    cluster = case.cluster
    if cluster is None or own_folder(cluster) not in configuration_outside(cluster):
        return None
    if hosts_of(case.old, case.new) is Hosts.ONE:
        return None  # it is old itself
    return namesake(case.move.target, cluster, case.new)


def _configured(case: Case) -> tuple[str, str] | None:
    """The folder of another cluster of new, running or not, and a file of its configuration that would be replaced."""
    if case.cluster is None or hosts_of(case.old, case.new) is Hosts.ONE:
        return None  # it is old itself
    brought = [PurePosixPath(path) for path in configuration_brought(case.cluster)]
    for each in case.new.clusters:
        if each.data_directory == normpath(case.move.target):
            continue
        read = [one.path for one in each.configuration_files or () if one.state == "file"]
        for path in (each.config_file, each.hba_file, each.settings.get("ident_file"), *read):
            if path and any(PurePosixPath(path).is_relative_to(one) for one in brought):
                return each.data_directory, path
    return None


def _taken(case: Case, service: Service | None) -> tuple[str, str] | None:
    """Return the directory of another running cluster on the new server and its unit, if the move would take it."""
    if service is None or service.user is not None or hosts_of(case.old, case.new) is Hosts.ONE:
        return None
    for each in case.new.clusters:
        unit = each.process.unit if each.process is not None else None
        if each.running and each.data_directory != normpath(case.move.target) and unit == service.unit:
            return each.data_directory, service.unit
    return None


def _by_hand(case: Case, shown: tuple[str, str], old: Service | None, beside: str | None) -> Finding:
    if old is None and beside is not None:
        return warning(
            *shown,
            f"The server of {case.move.cluster} runs in {beside}, but {beside} does not name "
            "its directory in anything that pghaul has read. pghaul stops it and starts the new "
            "cluster with pg_ctl. The new cluster will not start after a reboot.",
            f"If {beside} starts the server, create such a unit on the new server with -D {case.move.target}.",
        )
    if old is None:
        return passed(
            *shown, "pghaul starts the new cluster with pg_ctl. As on the old server, it does not start after a reboot."
        )
    return warning(
        *shown,
        f"No service manages {case.move.target} on the new server. pghaul starts it with "
        "pg_ctl, but it will not start after a reboot.",
        f"Before the move, create a unit with -D {case.move.target} on the new server, or a "
        "Debian cluster (`pg_createcluster`).",
    )


def _words(service: Service | None) -> str:
    if service is None:
        return _PG_CTL
    whose = f" of {service.user}" if service.user is not None else ""
    return f"{service.unit}{whose}, {'enabled' if service.enabled else 'not enabled'}"


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "start-on-new", "Service of the new cluster", True, "clusters and units of both servers", "server-start"
        ),
        start_on_new,
    ),
)
