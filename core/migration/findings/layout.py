"""The layout by which a cluster was installed, and where its configuration lies."""

import re
from pathlib import PurePosixPath
from posixpath import normpath

from core.facts.model import Cluster

_NAME = re.compile(r"\w[\w.+-]*")
"""Debian's name of a major version or of a cluster, which is one folder. Source: pg_createcluster(1)."""


def debian_name(cluster: Cluster) -> tuple[str, str] | None:
    """Return major version and name of a cluster in Debian's layout, or None for any other layout."""
    if cluster.name is None or "pg_lsclusters" not in cluster.found_by:
        return None
    major_version, _, name = cluster.name.partition("/")
    return (major_version, name) if name else None


def configuration_outside(cluster: Cluster) -> tuple[str, ...]:
    """Return the paths of the configuration outside the data directory.

    Debian's folder for the cluster is returned as a whole, anything else file by file: another folder, such as `/etc`,
    may contain files that are not the cluster's.
    """
    in_force = [each.file for each in cluster.wide.settings] if cluster.wide is not None else []
    # a start reads these files even if no setting in force comes from them
    read = [each.path for each in cluster.configuration_files or () if each.state == "file"]
    named = (cluster.config_file, cluster.hba_file, cluster.settings.get("ident_file"), *in_force, *read)
    # no archive may contain a path with `..`
    paths = [normpath(path) for path in named if path]
    files = dict.fromkeys(path for path in paths if not _is_within(path, cluster.data_directory))
    own = own_configuration_folder(cluster)
    if own is None or not any(_is_within(path, own) for path in files):
        return tuple(files)
    return (own, *(path for path in files if not _is_within(path, own)))


def configuration_copied(cluster: Cluster) -> tuple[str, ...]:
    """Return the configuration that the plan copies: Debian's folder for the cluster, and files in no system folder.

    The old server names these paths: in `/etc` or `/usr` they could be any file of the new server.
    """
    own = own_configuration_folder(cluster)
    return tuple(path for path in configuration_outside(cluster) if path == own or not is_in_system_folder(path))


def configuration_not_copied(cluster: Cluster) -> tuple[str, ...]:
    """Return the configuration that is not copied: the new server must have its own before the start."""
    brought = configuration_copied(cluster)
    return tuple(path for path in configuration_outside(cluster) if path not in brought)


def config_file_outside(cluster: Cluster) -> str | None:
    """Return postgresql.conf if it lies outside the data directory, where a server does not look for it."""
    file = cluster.config_file
    return None if file is None or _is_within(file, cluster.data_directory) else file


def named_config_file(cluster: Cluster) -> str | None:
    """Return postgresql.conf if a start with the data directory alone would not read it.

    It lies outside of the data directory, or has another name in it.
    """
    file = cluster.config_file
    if file is None or PurePosixPath(file) == PurePosixPath(cluster.data_directory, "postgresql.conf"):
        return None
    return file


def named_config_file_on_new(cluster: Cluster, target: str) -> str | None:
    """Return the path of `named_config_file` on the new server, whose data directory is the target."""
    file = named_config_file(cluster)
    if file is None or config_file_outside(cluster) is not None:
        return file
    return str(PurePosixPath(target) / PurePosixPath(file).relative_to(cluster.data_directory))


def own_configuration_folder(cluster: Cluster) -> str | None:
    """Return Debian's configuration folder for this cluster, unless it contains the data directory."""
    named = debian_name(cluster)
    if named is None or not all(map(_NAME.fullmatch, named)):
        return None
    folder = f"/etc/postgresql/{'/'.join(named)}"
    return None if _is_within(cluster.data_directory, folder) else folder


def _is_within(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)


_ITSELF = """
/bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var
/usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var/cache /var/lib /var/log /var/run /var/spool
/var/tmp /var/lib/postgresql /var/lib/pgsql
"""
"""Folders that are never a data directory themselves: deleting files there would break the host."""
_BELOW = """
/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /root /run /sbin /sys /usr /var/cache /var/lib/dpkg /var/lib/rpm
/var/log /var/run /var/spool
"""
"""Folders whose subfolders belong to the system, too."""
_OWN_BELOW = "/usr/local"


def is_in_system_folder(path: str) -> bool:
    """Return whether the path, without its `..`, lies below a system folder."""
    place = PurePosixPath(normpath(path))
    return not place.is_relative_to(_OWN_BELOW) and any(map(place.is_relative_to, _BELOW.split()))


def is_system_folder(path: str) -> bool:
    """Return whether the path is a system folder, lies below one, or is a folder that programs share."""
    return is_in_system_folder(path) or normpath(path) in _ITSELF.split()
