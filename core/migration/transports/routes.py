"""The routes of a transport, a module each, behind one face: what opens and closes it, where rsync sends, what flushes.

opening, closing    the steps that open and close the way; a probe runs the very same commands
target              the words by which an rsync on old reaches a folder of new
contents, sender    the same for a pass over listed files alone, and the words ahead of its options
flush               what ends when all that was sent is on new's disk
"""

from typing import Protocol

from core.migration.model.plan import Step
from core.migration.model.transport import Route
from core.migration.transports import daemon, local, nfs, ssh
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell


class Face(Protocol):
    """What every module of a route has; `owner`: who owns the cluster on old.

    CONTENTS_ALONE: folders, links and what is gone take another way than the contents of files.
    """

    CONTENTS_ALONE: bool

    def opening(self, channel: CopyChannel, owner: str) -> list[Step]: ...

    def closing(self, channel: CopyChannel, owner: str) -> list[Step]: ...

    def target(self, channel: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]: ...

    def contents(self, channel: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]: ...

    def sender(self, channel: CopyChannel) -> tuple[str | Shell, ...]: ...

    def flush(self, channel: CopyChannel, label: str) -> Shell: ...


_ROUTES: dict[Route, Face] = {Route.SSH: ssh, Route.DAEMON: daemon, Route.NFS: nfs, Route.LOCAL: local}


def route_of(channel: CopyChannel) -> Face:
    """The route of the way's transport."""
    return _ROUTES[channel.transport.route]
