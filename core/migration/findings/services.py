"""The service that starts the new cluster, and whether it does so at boot."""

import posixpath
import re
from itertools import chain
from pathlib import PurePosixPath

from core.facts.model import Cluster, Facts
from core.facts.services import Service
from core.migration.findings.layout import config_file_outside, configuration_left, debian

DEBIAN_CONFIGURATION = "/etc/postgresql"
_SESSIONS = re.compile(r"(?:(?:user|ssh|sshd)(?:@.*)?|cron|crond|atd)\.service")


def service_of(cluster: Cluster, facts: Facts) -> Service | None:
    """What starts the cluster on its own host; None: whoever calls pg_ctl."""
    named = debian(cluster)
    started_by = _runs_in(cluster, facts) or cluster.unit
    if named is None and (started_by is None or not _runs_systemd(facts)):
        return None
    unit = _debian_unit(*named) if named is not None else started_by or ""
    same = (each for each in facts.services if (each.unit, each.user) == (unit, cluster.unit_user))
    known = next(same, None)
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


def _runs_in(cluster: Cluster, facts: Facts) -> str | None:
    """The unit in which the server runs: one of several that name its folder, or that of its configuration."""
    unit = cluster.process.unit if cluster.process is not None and cluster.unit_user is None else None
    known = [each.data_directory for each in facts.services if (each.unit, each.user) == (unit, None)]
    other = any(each.unit == unit for each in facts.clusters)
    return unit if cluster.data_directory in known or (known and not other) else None


def unit_at_work(cluster: Cluster, facts: Facts) -> str | None:
    """The unit in which the server runs, where that is what starts it."""
    service = service_at_work(cluster, facts)
    unit = cluster.process.unit if cluster.process is not None else None
    return unit if service is not None and service.unit == unit else None


def unmatched_unit(cluster: Cluster, facts: Facts) -> str | None:
    """The unit of systemd in which the server runs, and which nothing that was read tells to be the cluster's.

    What gives sessions is none: a server started by hand may run in it.
    """
    unit = cluster.process.unit if cluster.process is not None else None
    if unit is None or not _runs_systemd(facts) or _SESSIONS.fullmatch(unit):
        return None
    return unit if service_at_work(cluster, facts) is None else None


def service_at_work(cluster: Cluster, facts: Facts) -> Service | None:
    """What has the cluster in hand on its own host: a unit only where its server runs in it, or none runs.

    To stop a unit does nothing to a server that somebody started by hand.
    """
    service = service_of(cluster, facts)
    if service is None or service.debian or cluster.process is None or cluster.process.unit == service.unit:
        return service
    return None


def service_for(target: str, cluster: Cluster, new: Facts) -> Service | None:
    """Return the service of the target: what names it on the new server, else as a Debian cluster of the old one.

    None: pg_ctl starts it. A name that another cluster on the new server has is not taken.
    """
    units = [each for each in new.services if each.debian or _runs_systemd(new)]
    named_by = (each for each in units if each.data_directory == posixpath.normpath(target))
    found = chain(named_by, (each for each in units if of_configuration(each, target, cluster)))
    named = debian(cluster)
    if named is None or namesake(target, cluster, new) is not None or not _has(new, "pg_ctlcluster"):
        return next(found, None)
    return next(found, Service(target, "/".join(named), _debian_unit(*named), debian=True))


def namesake(target: str, cluster: Cluster, new: Facts) -> Service | None:
    """Another cluster of new, running or not, that Debian knows by old's name: both would have one configuration.

    None where its data directory is the target, by a link too, or is not there.
    """
    found = next((each for each in new.services if each.debian and each.name == cluster.name), None)
    if found is None or any(gap.absent and gap.of == found.data_directory for gap in new.gaps):
        return None
    known = (each for each in new.clusters if each.name == found.name and "pg_lsclusters" in each.found_by)
    place = next((each.data_directory for each in known), found.data_directory)
    return found if place != posixpath.normpath(target) else None


def of_configuration(service: Service, target: str, cluster: Cluster) -> bool:
    """Whether a unit on the new server names the configuration folder (-D), and copied files name the target.

    What the new server has of its own may name another cluster.
    """
    file, left = config_file_outside(cluster), configuration_left(cluster)
    if service.debian or file is None or file in left or service.data_directory != posixpath.dirname(file):
        return False
    read = [each for each in cluster.configuration_files or () if each.path not in left]
    mentions = [mention.setting for each in read for mention in each.mentions]
    in_force = posixpath.normpath(cluster.settings.get("data_directory", ""))
    return "data_directory" in mentions and in_force == posixpath.normpath(target)


def debian_settings(target: str, cluster: Cluster, service: Service) -> dict[str, str]:
    """What Debian's configuration of the new cluster must say anew, where the old cluster's lies outside its data."""
    # what that says may be a link of the old server's, which the new one need not have
    said = {cluster.data_directory, cluster.settings.get("data_directory", target)}
    if cluster.data_directory == target:
        return {} if said == {target} else {"data_directory": target}
    rules = {name: path for name, path in rules_at(target, cluster).items() if path is not None}
    major_version, _, name = service.name.partition("/")
    pid_file = f"/run/postgresql/{major_version}-{name}.pid"
    return {"data_directory": target, **rules, "external_pid_file": pid_file}


def rules_at(target: str, cluster: Cluster) -> dict[str, str | None]:
    """Where the files of the cluster's access rules come to lie on the new server; None: that is not known."""
    folders = cluster.data_directory, cluster.settings.get("data_directory", cluster.data_directory)
    rules = {"hba_file": cluster.hba_file, "ident_file": cluster.settings.get("ident_file")}
    return {name: None if path is None else _moved(path, folders, target) for name, path in rules.items()}


def rules_beside(cluster: Cluster) -> list[str]:
    """Return the access rule files beside the configuration, which a start with the data directory does not find.

    Debian's configuration names them itself.
    """
    file = config_file_outside(cluster)
    if file is None or debian(cluster) is not None:
        return []
    rules = {"hba_file": cluster.hba_file, "ident_file": cluster.settings.get("ident_file")}
    beside = posixpath.dirname(file)
    return [f"{name}={path}" for name, path in rules.items() if path and posixpath.dirname(path) == beside]


def _moved(path: str, folders: tuple[str, ...], target: str) -> str:
    inside = next((each for each in folders if PurePosixPath(path).is_relative_to(each)), None)
    return path if inside is None else str(PurePosixPath(target) / PurePosixPath(path).relative_to(inside))


def debian_config_file(service: Service) -> str:
    """The postgresql.conf of a Debian cluster."""
    return f"{debian_folder(service)}/postgresql.conf"


def debian_folder(service: Service) -> str:
    """The folder of a Debian cluster's configuration."""
    return f"{DEBIAN_CONFIGURATION}/{service.name}"


def _debian_unit(major_version: str, name: str) -> str:
    return f"postgresql@{major_version}-{name}.service"


def _runs_systemd(facts: Facts) -> bool:
    """Units are read as files: a host may have some and no systemd that would start them."""
    return facts.system is not None and facts.system.init == "systemd"


def _has(facts: Facts, name: str) -> bool:
    tool = facts.tool(name)
    return tool is not None and tool.path is not None
