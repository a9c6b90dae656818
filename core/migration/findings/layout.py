"""By which layout a cluster was installed, and where its configuration lies."""

from pathlib import PurePosixPath

from core.facts.model import Cluster


def debian(cluster: Cluster) -> tuple[str, str] | None:
    """Series and name of a cluster of Debian's layout, None for another."""
    if cluster.name is None or "pg_lsclusters" not in cluster.found_by:
        return None
    series, _, name = cluster.name.partition("/")
    return (series, name) if name else None


def configuration_folder(cluster: Cluster) -> str | None:
    """The folder of postgresql.conf where it lies outside the data directory, None where it travels with it."""
    if cluster.config_file is None:
        return None
    folder = PurePosixPath(cluster.config_file).parent
    return None if folder.is_relative_to(cluster.data_directory) else str(folder)
