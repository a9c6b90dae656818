"""What starts the copy on new, for its clients and after a restart of the host."""

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

_PG_CTL = "pg_ctl alone"
_AFTER_A_STOP = ("always", "on-success")
"""Values of Restart= with which systemd starts again what was stopped past it (systemd.service)."""


def start_on_new(case: Case) -> Finding:
    """Something on new starts the target, as something starts old, and after a restart of the host too."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    unread = case.new.gap(DEBIAN.name, UNITS.name)
    if unread is not None:
        return unknown(
            NOTHING,
            NOTHING,
            f"what starts clusters on {case.new.server} could not be read: {reason(case.new, unread.section)}",
            "look with: pg_lsclusters; systemctl list-unit-files '*postgres*'",
        )
    unseen = case.old.gap(UNITS.name, USER_UNITS.name) if unmatched_unit(cluster, case.old) is not None else None
    if unseen is not None:
        return unknown(
            NOTHING,
            NOTHING,
            f"what starts clusters on {case.old.server} could not be read: {reason(case.old, unseen.section)}",
            "look with: pg_lsclusters; systemctl list-unit-files '*postgres*'",
        )
    old, new = service_of(cluster, case.old), service_for(case.move.target, cluster, case.new)
    shown = _words(old), _words(new)
    beside = unmatched_unit(cluster, case.old)
    if beside is not None and cluster.process is not None and cluster.process.restart in _AFTER_A_STOP:
        return blocker(
            *shown,
            f"the server of {cluster.data_directory} runs in {beside}, and nothing that pghaul read of {beside} names "
            f"this folder: pghaul would stop it by pg_ctl, and systemd would start it again at once "
            f"(Restart={cluster.process.restart})",
            f"have {beside} name the folder (-D in ExecStart=, or Environment=PGDATA=), and read the facts of "
            f"{case.old.server} again; or stop it yourself, systemctl stop {beside}, and move it stopped",
        )
    other = _namesake(case)
    if other is not None:
        return blocker(
            *shown,
            f"cluster {other.name} of new has its data in {other.data_directory}: old's configuration would take the "
            "place of its own",
            f"rename it (pg_renamecluster), drop it if nobody needs it, or make {other.data_directory} the target",
        )
    configured = _configured(case)
    if configured is not None:
        folder, path = configured
        return blocker(
            *shown,
            f"Another cluster of the new server, in {folder}, is configured by {path}: the file of the old server "
            "would take its place",
            "Give that cluster a configuration elsewhere, or remove its data directory if nobody needs it. Then read "
            f"the facts again: {for_hint('pghaul', 'facts', case.new.server)}",
        )
    taken = _taken(case, new)
    if taken is not None:
        folder, what = taken
        return blocker(
            *shown,
            f"another cluster of new, in {folder}, runs with {what}, which the move would take from it",
            "Give that cluster a unit of its own, or stop it for good. Then read the facts again: "
            f"{for_hint('pghaul', 'facts', case.new.server)}",
        )
    if new is None:
        return _by_hand(case, shown, old, beside)
    if new.debian and new.name.partition("/")[0] != cluster.series:
        return blocker(
            *shown,
            f"{case.move.target} is registered on new as cluster {new.name}, but what comes is of {cluster.series}",
            f"register it anew: {for_hint('pg_dropcluster', *new.name.split('/', 1))}; "
            f"pg_createcluster {cluster.series} …",
        )
    file = config_file_outside(cluster)
    if new.debian and file not in (None, debian_config_file(new)):
        return blocker(
            *shown,
            f"{case.move.target} is registered on new as cluster {new.name}, but old's configuration is {file}",
            "give it old's name: pg_renamecluster",
        )
    found = new.debian or new.config_file is not None or of_configuration(new, case.move.target, cluster)
    if not found and file is not None:
        return blocker(
            *shown,
            f"{new.unit} of new looks for postgresql.conf in {case.move.target}, and old's lies elsewhere",
            f"have the unit say -c config_file={file}",
        )
    if not new.enabled and (old is None or not old.enabled):
        return warning(
            *shown,
            f"{new.unit} starts new, but as on old not by itself after a restart of the host",
            "enable it on new when new has proven itself",
        )
    return passed(*shown, f"{new.unit} starts new, also after a restart of the host")


def _namesake(case: Case) -> Service | None:
    """Another cluster of new that Debian knows by old's name: their configuration would lie in one folder."""
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
    """The folder of another cluster that runs on new, and its unit, by which the target would be started."""
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
            f"the server of {case.move.cluster} runs in {beside}, and nothing that pghaul read of {beside} names its "
            "folder: pg_ctl stops it and starts new, and after a restart of the host nobody starts new",
            f"where {beside} starts the server, give new such a unit with -D {case.move.target}",
        )
    if old is None:
        return passed(*shown, "as on old, pg_ctl starts new, and nothing after a restart of the host")
    return warning(
        *shown,
        f"nothing on new starts {case.move.target}: pg_ctl will, and after a restart of the host nobody",
        f"before the move, give new a unit with -D {case.move.target}, or a cluster of Debian's: pg_createcluster",
    )


def _words(service: Service | None) -> str:
    if service is None:
        return _PG_CTL
    whose = f" of {service.user}" if service.user is not None else ""
    return f"{service.unit}{whose}, {'enabled' if service.enabled else 'not enabled'}"


CHECKS: tuple[Check, ...] = (
    (
        Declaration("start-on-new", "what starts new", True, "clusters and units of both", "server-start"),
        start_on_new,
    ),
)
