"""The routes of a transport, a module each: the steps that set up the route and remove it. Probes run the same steps.

`send_…` in `resources/sh/copy.sh` says how rsync sends by a route. `passes.copy_settings` names that function, so that
a plan takes along the function of its own route only, and `passes.native_rsync` shows it to people. Whatever a mount
needs is in `probing/candidates.py`. ARCHITECTURE.md says how a route is added; `local.py` is the shortest to read.
"""

from typing import Protocol

from core.migration.model.plan import Step
from core.migration.model.transport import Route
from core.migration.transports import daemon, local, nfs, ssh
from core.migration.transports.copy_channel import CopyChannel


class RouteSteps(Protocol):
    """What each module of a route provides; `owner` is the owner of the cluster on the old server."""

    def opening_steps(self, channel: CopyChannel, owner: str) -> list[Step]: ...

    def closing_steps(self, channel: CopyChannel, owner: str) -> list[Step]: ...


ROUTES: dict[Route, RouteSteps] = {Route.SSH: ssh, Route.DAEMON: daemon, Route.NFS: nfs, Route.LOCAL: local}


def route_steps(channel: CopyChannel) -> RouteSteps:
    """Return the module of the channel's route."""
    return ROUTES[channel.transport.route]
