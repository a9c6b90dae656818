"""How the files of a copy travel."""

from dataclasses import dataclass
from enum import StrEnum


class Route(StrEnum):
    """The way that rsync's bytes take from the old server to the new one: its name in the history, its text, whether
    it is encrypted.

    A copy is allowed what is encrypted, and the others where its move allows plain text.
    """

    text: str
    encrypted: bool

    SSH = "ssh", "rsync over ssh", True
    DAEMON = "daemon", "rsync daemon", False
    """Contents by an rsync daemon on the new server; folders, links and what is gone over ssh."""
    NFS = "nfs", "rsync over NFS", False
    """Into the new server's folders, mounted on the old server."""
    LOCAL = "local", "rsync from folder to folder", True
    """Both lie on one server: no byte crosses a network."""

    def __new__(cls, value: str, text: str, encrypted: bool) -> "Route":
        """A member: the name is its value, as the history keeps it."""
        route = str.__new__(cls, value)
        route._value_ = value
        route.text, route.encrypted = text, encrypted
        return route


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
