"""Where the programs of a PostgreSQL major version lie on a server, for whoever is to run them.

What a cluster's owner says of its programs counts for that owner alone: any account of a host can put up what looks
like a cluster, and anybody else who ran its programs would run what that account has written. No such folder is ever
root's to search.
"""

import posixpath
from pathlib import PurePosixPath

from core.facts.model import Cluster, Facts

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def programs_of(facts: Facts, cluster: Cluster, user: str) -> str:
    """Return the PATH for the programs of a cluster, its own first: others may lack its libraries."""
    path = program_path(facts, cluster.series, user).split(":")
    return ":".join(dict.fromkeys([*([cluster.bin_directory] if cluster.bin_directory else []), *path]))


def program_path(facts: Facts, major_version: str, user: str) -> str:
    """Return the PATH for the programs of a major version on a server, for a user of that server."""
    known = [each.bin_directory for each in facts.clusters if each.series == major_version and can_run(each, user)]
    tool = facts.tool("postgres")
    # its folder counts only where it is of this very major version; one that others can change was not asked for its
    # version
    if tool is not None and tool.path is not None and (tool.version or "").startswith(f"{major_version}."):
        known.append(str(PurePosixPath(tool.path).parent))
    places = [
        *known,
        f"/usr/lib/postgresql/{major_version}/bin",
        f"/usr/pgsql-{major_version}/bin",
        *_SYSTEM_PATH.split(":"),
    ]
    return ":".join(dict.fromkeys(place for place in places if place))


def can_run(cluster: Cluster, user: str) -> bool:
    """Return whether the user may run the cluster's programs: they are its own, or come from packages."""
    place = posixpath.normpath(cluster.bin_directory or "")
    packaged = place.startswith("/usr/") and not place.startswith("/usr/local/")
    return bool(cluster.bin_directory) and (cluster.owner == user or packaged)
