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
    """The PATH that finds the programs of a cluster on its server, its own first: others may lack its libraries.

    `user`: its owner, who is to run them.
    """
    path = program_path(facts, cluster.series, user).split(":")
    return ":".join(dict.fromkeys([*([cluster.bin_directory] if cluster.bin_directory else []), *path]))


def program_path(facts: Facts, major_version: str, user: str) -> str:
    """The PATH that finds the programs of a major version on a server, for that user of it.

    Its clusters' first, then where a server program of that major version was found, the packages' places, the
    system's.
    """
    known = [each.bin_directory for each in facts.clusters if each.series == major_version and may_run(each, user)]
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


def may_run(cluster: Cluster, user: str) -> bool:
    """Whether that user may run the cluster's programs: they are its own, or lie where packages alone put any."""
    place = posixpath.normpath(cluster.bin_directory or "")
    packaged = place.startswith("/usr/") and not place.startswith("/usr/local/")
    return bool(cluster.bin_directory) and (cluster.owner == user or packaged)
