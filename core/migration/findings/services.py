"""The service that starts the new cluster, and whether it does so at boot."""

import posixpath
import re
from itertools import chain
from pathlib import PurePosixPath

from core.facts.model import Cluster, Facts
from core.facts.starters import Service
from core.migration.findings.layout import config_file_outside, configuration_not_copied, debian_name

DEBIAN_CONFIGURATION = "/etc/postgresql"
_SESSIONS = re.compile(r"(?:(?:user|ssh|sshd)(?:@.*)?|cron|crond|atd)\.service")


def find_service(cluster: Cluster, facts: Facts) -> Service | None:
    """Return the service that starts the cluster on its own host, or None if pg_ctl alone starts it."""
    named = debian_name(cluster)
    started_by = _running_unit(cluster, facts) or cluster.unit
    if named is None and (started_by is None or not _runs_systemd(facts)):
        return None
    unit = _debian_unit(*named) if named is not None else started_by or ""
    matching = (each for each in facts.services if (each.unit, each.user) == (unit, cluster.unit_user))
    known = next(matching, None)
    return Service(
        cluster.data_directory,
        cluster.name or unit,
        unit,
        debian=named is not None,
        user=cluster.unit_user,
        config_file=cluster.config_file,
        enabled=known.enabled if known is not None else None,
        options=known.options if known is not None else None,
    )


def _running_unit(cluster: Cluster, facts: Facts) -> str | None:
    """Return the unit in which the server runs, if that unit names its data directory or its configuration."""
    unit = cluster.process.unit if cluster.process is not None and cluster.unit_user is None else None
    known = [each.data_directory for each in facts.services if (each.unit, each.user) == (unit, None)]
    other = any(each.unit == unit for each in facts.clusters)
    return unit if cluster.data_directory in known or (known and not other) else None


def active_unit(cluster: Cluster, facts: Facts) -> str | None:
    """Return the unit in which the server runs, if that unit is the cluster's service."""
    service = active_service(cluster, facts)
    unit = cluster.process.unit if cluster.process is not None else None
    return unit if service is not None and service.unit == unit else None


def unknown_unit(cluster: Cluster, facts: Facts) -> str | None:
    """Return the systemd unit in which the server runs, if nothing that was read says that it is the cluster's.

    Units of login sessions do not count: a server that was started by hand may run in one.
    """
    unit = cluster.process.unit if cluster.process is not None else None
    if unit is None or not _runs_systemd(facts) or _SESSIONS.fullmatch(unit):
        return None
    return unit if active_service(cluster, facts) is None else None


def active_service(cluster: Cluster, facts: Facts) -> Service | None:
    """Return the service that controls the cluster on its own host.

    A unit counts only if the server runs in it or no server runs: stopping the unit does not stop a server that
    somebody started by hand.
    """
    service = find_service(cluster, facts)
    if service is None or service.debian or cluster.process is None or cluster.process.unit == service.unit:
        return service
    return None


def service_of_target(target: str, cluster: Cluster, new: Facts) -> Service | None:
    """Return the service of the target: one that names it on the new server, else a Debian cluster like the old one.

    None if pg_ctl starts the new cluster. The name of another cluster on the new server is not used.
    """
    units = [each for each in new.services if each.debian or _runs_systemd(new)]
    named_by = (each for each in units if each.data_directory == posixpath.normpath(target))
    found = chain(named_by, (each for each in units if names_configuration_folder(each, target, cluster)))
    named = debian_name(cluster)
    if named is None or debian_namesake(target, cluster, new) is not None or not _has_tool(new, "pg_ctlcluster"):
        return next(found, None)
    return next(found, Service(target, "/".join(named), _debian_unit(*named), debian=True))


def debian_namesake(target: str, cluster: Cluster, new: Facts) -> Service | None:
    """Return another Debian cluster on the new server with the old cluster's name: both would share a configuration.

    None if its data directory does not exist or is the target, even through a link.
    """
    found = next((each for each in new.services if each.debian and each.name == cluster.name), None)
    if found is None or any(gap.absent and gap.of == found.data_directory for gap in new.gaps):
        return None
    known = (each for each in new.clusters if each.name == found.name and "pg_lsclusters" in each.found_by)
    place = next((each.data_directory for each in known), found.data_directory)
    return found if place != posixpath.normpath(target) else None


def names_configuration_folder(service: Service, target: str, cluster: Cluster) -> bool:
    """Return whether a unit on the new server names the configuration folder (-D), and copied files name the target.

    Files that the new server has of its own may name another cluster.
    """
    file, not_copied = config_file_outside(cluster), configuration_not_copied(cluster)
    if service.debian or file is None or file in not_copied or service.data_directory != posixpath.dirname(file):
        return False
    read = [each for each in cluster.configuration_files or () if each.path not in not_copied]
    mentions = [mention.setting for each in read for mention in each.mentions]
    in_force = posixpath.normpath(cluster.settings.get("data_directory", ""))
    return "data_directory" in mentions and in_force == posixpath.normpath(target)


def debian_settings(target: str, cluster: Cluster, service: Service) -> dict[str, str]:
    """Return the settings to change in Debian's configuration of the new cluster, if it lies outside the data."""
    # the setting may name a link on the old server that does not exist on the new server
    named_directories = {cluster.data_directory, cluster.settings.get("data_directory", target)}
    if cluster.data_directory == target:
        return {} if named_directories == {target} else {"data_directory": target}
    rules = {name: path for name, path in access_rule_paths(target, cluster).items() if path is not None}
    major_version, _, name = service.name.partition("/")
    pid_file = f"/run/postgresql/{major_version}-{name}.pid"
    return {"data_directory": target, **rules, "external_pid_file": pid_file}


def access_rule_paths(target: str, cluster: Cluster) -> dict[str, str | None]:
    """Return the paths of the access rule files on the new server, by setting; None if one is not known."""
    folders = cluster.data_directory, cluster.settings.get("data_directory", cluster.data_directory)
    rules = {"hba_file": cluster.hba_file, "ident_file": cluster.settings.get("ident_file")}
    return {name: None if path is None else _path_on_new(path, folders, target) for name, path in rules.items()}


def access_rules_beside_configuration(cluster: Cluster) -> list[str]:
    """Return the access rule files beside the configuration, which a start with the data directory does not find.

    Debian's configuration names them itself.
    """
    file = config_file_outside(cluster)
    if file is None or debian_name(cluster) is not None:
        return []
    rules = {"hba_file": cluster.hba_file, "ident_file": cluster.settings.get("ident_file")}
    folder = posixpath.dirname(file)
    return [f"{name}={path}" for name, path in rules.items() if path and posixpath.dirname(path) == folder]


def _path_on_new(path: str, folders: tuple[str, ...], target: str) -> str:
    inside = next((each for each in folders if PurePosixPath(path).is_relative_to(each)), None)
    return path if inside is None else str(PurePosixPath(target) / PurePosixPath(path).relative_to(inside))


def debian_config_file(service: Service) -> str:
    """Return the postgresql.conf of a Debian cluster."""
    return f"{debian_folder(service)}/postgresql.conf"


def debian_folder(service: Service) -> str:
    """Return the folder with the configuration of a Debian cluster."""
    return f"{DEBIAN_CONFIGURATION}/{service.name}"


def _debian_unit(major_version: str, name: str) -> str:
    return f"postgresql@{major_version}-{name}.service"


def _runs_systemd(facts: Facts) -> bool:
    """Return whether systemd runs on the host. Units are read as files, which may exist without systemd."""
    return facts.system is not None and facts.system.init == "systemd"


def _has_tool(facts: Facts, name: str) -> bool:
    tool = facts.tool(name)
    return tool is not None and tool.path is not None
