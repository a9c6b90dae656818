"""The routes of a transport, a module each: the steps that open and close the way; a probe runs the very same steps.

How rsync sends by a route stands in `resources/sh/copy.sh`, `send_…`. ARCHITECTURE.md says how one is added.
"""

from typing import Protocol

from core.migration.model.plan import Step
from core.migration.model.transport import Route
from core.migration.transports import daemon, local, nfs, ssh
from core.migration.transports.copy_channel import CopyChannel


class RouteSteps(Protocol):
    """What every module of a route has; `owner`: who owns the cluster on the old server."""

    def opening(self, channel: CopyChannel, owner: str) -> list[Step]: ...

    def closing(self, channel: CopyChannel, owner: str) -> list[Step]: ...


ROUTES: dict[Route, RouteSteps] = {Route.SSH: ssh, Route.DAEMON: daemon, Route.NFS: nfs, Route.LOCAL: local}


def route_of(channel: CopyChannel) -> RouteSteps:
    """The route of the channel's transport."""
    return ROUTES[channel.transport.route]
