"""How the files of a copy travel."""

from dataclasses import dataclass
from enum import StrEnum


class Route(StrEnum):
    """The way that rsync's bytes take from old to new."""

    SSH = "ssh"
    DAEMON = "daemon"
    """Contents by an rsync daemon on new, unencrypted; folders, links and what is gone over ssh."""
    NFS = "nfs"
    """Into new's folders, mounted on old, unencrypted."""
    LOCAL = "local"
    """From folder to folder: both lie on one server."""

    @property
    def text(self) -> str:
        """For people."""
        return _ROUTE_TITLES[self]


UNENCRYPTED = frozenset({Route.DAEMON, Route.NFS})
"""Routes whose bytes anybody on the network may read: for moves that allow plain text."""

_ROUTE_TITLES = {
    Route.SSH: "rsync over ssh",
    Route.DAEMON: "rsync daemon",
    Route.NFS: "rsync over NFS",
    Route.LOCAL: "rsync from folder to folder",
}


@dataclass(frozen=True, slots=True)
class Transport:
    """How the files of a copy travel: by rsync, and the rest of it.

    Attributes:
        cipher: ssh's name of it; empty: what both ends of ssh agree on by themselves.
        compression: `lz4`, `zstd:1`, `zlib:1`, the level behind the colon; empty: none.
        streams: how many rsyncs run side by side.
        route: the way that the bytes take.
        mount: over NFS, the options in which one mount differs from another: `vers=4.2,nconnect=4`.
    """

    cipher: str = ""
    compression: str = ""
    streams: int = 1
    route: Route = Route.SSH
    mount: str = ""

    @property
    def name(self) -> str:
        """For people: `rsync over ssh, lz4, aes128-ctr, 2 streams`."""
        parts = [self.route.text]
        parts += [part for part in (self.mount, self.compression.replace(":", " level "), self.cipher) if part]
        return ", ".join([*parts, "one stream" if self.streams == 1 else f"{self.streams} streams"])


PLAIN = Transport()
"""What every pair of servers has: one stream of rsync over ssh, with nothing added."""
