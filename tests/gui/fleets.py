"""What a survey of a hundred servers, or of some of them, leaves in the history: moves of each kind, servers that
could not be read, and clusters without a move.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from core.history.store import Store
from core.migration.model.checks import Status
from core.migration.model.estimate import Estimate, Span
from core.migration.model.move import Move
from core.servers.profiles import Profile
from tests.gui.samples import CHECKS, ESTIMATE, MORNING, cluster, facts

OLD_SERVERS, NEW_SERVERS = 96, 4
CLUSTER = "/srv/pg/data"
UNREAD = {
    11: "db11: the host key of 192.0.2.11 is not known and was not accepted (ssh-ed25519 SHA256:q3x0T4fGv6k)",
    42: "db42: 192.0.2.42 port 22 could not be reached within 10 s",
}
"""Why two servers could not be read, by the number of the server."""
WITHOUT_MOVE = 3
"""The clusters of so many servers have no move."""
SOME = (*range(1, 16), 42, 94, 95, 96)
"""The numbers of servers among which is each kind of them, and each kind of move."""
FOUND = (CHECKS[3:], CHECKS[3:], CHECKS[2:], CHECKS[:1] + CHECKS[2:], CHECKS)
DOWNTIMES = (120.0, 300.0, 900.0, 1800.0, 5400.0, 20000.0)


def fill(store: Store) -> None:
    """Everything that the survey leaves."""
    _fill(store, range(1, OLD_SERVERS + 1))


def fill_some(store: Store) -> None:
    """A fifth of it, which the window reads in a fifth of the time."""
    _fill(store, SOME)


def _fill(store: Store, numbers: Iterable[int]) -> None:
    for number in range(1, NEW_SERVERS + 1):
        store.add_profile(Profile(f"new{number}", f"198.51.100.{number}"))
        store.save_facts(replace(facts(f"new{number}", new=True), clusters=(), taken_at=MORNING))
    for number in numbers:
        _fill_server(store, number)


def _fill_server(store: Store, number: int) -> None:
    server = f"db{number:02}"
    profile = Profile(server, f"192.0.2.{number}")
    store.add_profile(profile)
    if number in UNREAD:
        store.record_unread(profile, UNREAD[number])
    else:
        size = (number * 37 % 96 + 1) * 12 * 10**9
        one = replace(cluster(), data_directory=CLUSTER, size_bytes=size, tablespaces=(), links=())
        store.save_facts(replace(facts(server), clusters=(one,), taken_at=MORNING + timedelta(minutes=number)))
    if number <= OLD_SERVERS - WITHOUT_MOVE:
        new = f"new{number % NEW_SERVERS + 1}"
        store.add_move(Move(f"{server}{CLUSTER}", server, new, CLUSTER, f"/srv/pg/{server}", "/srv/pg", "/srv/pg"))
        if number not in UNREAD:
            found = FOUND[number % len(FOUND)]
            store.save_checks(f"{server}{CLUSTER}", tuple(each for each in found if each.status is not Status.UNKNOWN))
            store.save_estimate(f"{server}{CLUSTER}", _estimate(DOWNTIMES[number % len(DOWNTIMES)]))


def _estimate(downtime: float) -> Estimate:
    likely = ESTIMATE.methods[0]
    down = Span(downtime * 0.7, downtime, downtime * 1.4)
    return replace(ESTIMATE, methods=(replace(likely, downtime_seconds=down), *ESTIMATE.methods[1:]))
