"""By which layout a cluster was installed, and where its configuration lies."""

import re
from pathlib import PurePosixPath

from core.facts.model import Cluster
from core.migration.findings.system_folders import in_system_folder

_NAME = re.compile(r"\w[\w.+-]*")
"""A name of Debian's for a major version or a cluster: one folder. Source: pg_createcluster(1)."""


def debian(cluster: Cluster) -> tuple[str, str] | None:
    """Series and name of a cluster of Debian's layout, None for another."""
    if cluster.name is None or "pg_lsclusters" not in cluster.found_by:
        return None
    major_version, _, name = cluster.name.partition("/")
    return (major_version, name) if name else None


def configuration_outside(cluster: Cluster) -> tuple[str, ...]:
    """Paths of its configuration outside the data directory: Debian's own folder of it whole, else file by file.

    Any other folder may hold what is not the cluster's: `/etc`, or the data directory itself.
    """
    in_force = [each.file for each in cluster.wide.settings] if cluster.wide is not None else []
    # what no setting in force comes from is read by a start all the same
    read = [each.path for each in cluster.configuration_files or () if each.state == "file"]
    named = (cluster.config_file, cluster.hba_file, cluster.settings.get("ident_file"), *in_force, *read)
    files = dict.fromkeys(path for path in named if path and not _within(path, cluster.data_directory))
    own = own_folder(cluster)
    if own is None or not any(_within(path, own) for path in files):
        return tuple(files)
    return (own, *(path for path in files if not _within(path, own)))


def configuration_brought(cluster: Cluster) -> tuple[str, ...]:
    """Those that the plan takes along: Debian's folder of the cluster, and what lies in no folder of the system's.

    The old server names the paths: in `/etc` or `/usr` they may be anything of the new server's.
    """
    own = own_folder(cluster)
    return tuple(path for path in configuration_outside(cluster) if path == own or not in_system_folder(path))


def configuration_left(cluster: Cluster) -> tuple[str, ...]:
    """Return the others: the new server must have its own before it starts."""
    brought = configuration_brought(cluster)
    return tuple(path for path in configuration_outside(cluster) if path not in brought)


def config_file_outside(cluster: Cluster) -> str | None:
    """postgresql.conf where it lies outside the data directory: there its server does not find it by itself."""
    file = cluster.config_file
    return None if file is None or _within(file, cluster.data_directory) else file


def own_folder(cluster: Cluster) -> str | None:
    """The folder that Debian keeps for this cluster alone, unless that holds the data directory too."""
    named = debian(cluster)
    if named is None or not all(map(_NAME.fullmatch, named)):
        return None
    folder = f"/etc/postgresql/{'/'.join(named)}"
    return None if _within(cluster.data_directory, folder) else folder


def _within(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)
