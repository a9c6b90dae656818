"""Where the programs of a PostgreSQL series lie on a server."""

from pathlib import PurePosixPath

from core.facts.model import Cluster, Facts

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def programs_of(facts: Facts, cluster: Cluster) -> str:
    """The PATH that finds the programs of a cluster on its server, its own first: others may lack its libraries."""
    path = program_path(facts, cluster.series).split(":")
    return ":".join(dict.fromkeys([*([cluster.bin_directory] if cluster.bin_directory else []), *path]))


def program_path(facts: Facts, series: str) -> str:
    """The PATH that finds the programs of a series on a server.

    Its clusters' first, then where a server program of that series was found, the packages' places, the system's.
    """
    known = [cluster.bin_directory for cluster in facts.clusters if cluster.series == series and cluster.bin_directory]
    tool = facts.tool("postgres")
    # its folder counts only where it is of this very series
    if tool is not None and tool.path is not None and (tool.version or "").startswith(f"{series}."):
        known.append(str(PurePosixPath(tool.path).parent))
    places = [*known, f"/usr/lib/postgresql/{series}/bin", f"/usr/pgsql-{series}/bin", *_SYSTEM_PATH.split(":")]
    return ":".join(dict.fromkeys(places))
