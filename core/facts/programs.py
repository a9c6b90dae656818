"""Where the programs of a PostgreSQL series lie on a server."""

from pathlib import PurePosixPath

from core.facts.model import Facts

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


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
