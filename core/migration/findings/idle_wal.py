"""WAL segments on the old server that are not copied: the server keeps them to overwrite them."""

from core.facts.model import Cluster


def idle_wal(cluster: Cluster) -> int:
    """Bytes of the segments with names beyond the one in use (resources/sh/wal.sh); 0 where the facts do not tell.

    The server itself was asked. What it wrote since its last checkpoint lies ahead of the segment in use and travels.
    A standby's WAL travels whole.
    """
    wide = cluster.wide
    return 0 if wide is None or wide.in_recovery else wide.idle_wal_bytes or 0
