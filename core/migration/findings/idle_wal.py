"""WAL segments on the old server that are not copied: the server keeps them to overwrite them."""

from core.facts.model import Cluster


def idle_wal_bytes(cluster: Cluster) -> int:
    """Return the size in bytes of WAL segments after the current one (resources/sh/wal.sh); 0 if it is not known.

    The server itself was queried. WAL since its last checkpoint precedes the current segment and is copied. The WAL of
    a standby is copied completely.
    """
    wide = cluster.wide
    return 0 if wide is None or wide.in_recovery else wide.idle_wal_bytes or 0
