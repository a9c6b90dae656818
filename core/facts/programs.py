"""Where the programs of a PostgreSQL series lie on a server."""

from core.facts.model import Facts

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def program_path(facts: Facts, series: str) -> str:
    """The PATH that finds the programs of a series on a server: of its clusters first, Debian's place, the system's."""
    known = [cluster.bin_directory for cluster in facts.clusters if cluster.series == series and cluster.bin_directory]
    places = [*known, f"/usr/lib/postgresql/{series}/bin", f"/usr/pgsql-{series}/bin", *_SYSTEM_PATH.split(":")]
    return ":".join(dict.fromkeys(places))
