"""Every route stands in each of the places that a route needs; a new one fails here until it does."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import documents
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.probing.candidates import search
from core.migration.transports.choice import allowed_routes, choose_transport
from core.migration.transports.copy_channel import CopyChannel
from core.migration.transports.passes import copy_settings, prepare_call
from core.migration.transports.routes import route_steps
from core.servers.functions import functions
from core.servers.profiles import Profile
from core.servers.shell import call
from tests.core.migration.builders import NOW, move, new, old, probe

PAGE = (Path(__file__).parents[4] / "docs" / "concepts" / "transport.md").read_text(encoding="utf-8")
CHANNEL = CopyChannel(
    "pghaul-copy-0123456789ab",
    "/tmp/pghaul-copy-0123456789ab",
    "10.77.0.2",
    22,
    "dba",
    "postgres",
    (),
    ("10.77.0.1",),
    (("data", "/new"),),
)
WORDS = {Route.SSH: "over ssh", Route.DAEMON: "an rsync daemon", Route.NFS: "NFS", Route.LOCAL: "Within one server"}
"""What docs/concepts/transport.md calls each route."""
SENDS = {Route.SSH: "send_by_ssh", Route.DAEMON: "send_by_ssh", Route.NFS: "send_by_nfs", Route.LOCAL: "send_locally"}


def sample(transport: Transport, rate: float) -> Probe:
    return replace(probe(Quantity.END_TO_END, rate), transport=transport, began_at=NOW)


@pytest.fixture(params=Route, ids=str)
def route(request: pytest.FixtureRequest) -> Route:
    found: Route = request.param
    return found


def test_it_is_opened_and_closed_and_nothing_of_it_stays(route: Route) -> None:
    channel = replace(CHANNEL, transport=Transport(route=route))
    opening, closing = (
        route_steps(channel).opening_steps(channel, "postgres"),
        route_steps(channel).closing_steps(channel, "postgres"),
    )
    assert all(step.resume.opens_channel and step.in_rehearsal for step in opening)
    assert all(step.resume.closes_channel and step.in_rehearsal for step in closing)
    assert {step.side for step in closing} >= {step.side for step in opening if "rm " in step.undo}


def test_rsync_knows_where_to_send(route: Route) -> None:
    """`*` is the way over ssh, where new says itself that all is on its disk; whoever adds a route says so there."""
    made = copy_settings(replace(CHANNEL, transport=Transport(route=route)))
    assert {made["copy_send"], made["copy_stream"]} <= set(functions())
    assert route in {Route.SSH, Route.DAEMON} or f"    {route})" in functions()["ask_target"].text


@pytest.mark.slow
@pytest.mark.parametrize("streams", [1, 4])
def test_a_copy_takes_along_only_the_functions_of_its_route_and_streams(route: Route, streams: int) -> None:
    channel = replace(CHANNEL, transport=Transport(streams=streams, route=route), rsync=(3, 2, 7))
    taken = {
        name
        for name in functions()
        if f"\n{name}() {{\n" in prepare_call(channel, call("precopy_pass", "data")).functions
    }
    assert taken & set(SENDS.values()) == {SENDS[route]}
    assert ("read_daemon_port" in taken) is (route is Route.DAEMON)
    assert {each in taken for each in ("balance_streams", "run_streams", "show_streams")} == {streams > 1}
    assert not any(each.startswith("cold_") for each in taken)


def test_it_is_allowed_sampled_chosen_and_kept(route: Route) -> None:
    profile = Profile("new", "10.77.0.2")
    over_network = route is not Route.LOCAL
    assert (route in allowed_routes(replace(move(), plain_text=True), old(), new(), profile)) is over_network
    assert (route in allowed_routes(move(), old(), new(), profile)) is (over_network and route.encrypted)
    probes = [sample(Transport(streams=4), 85e6)]

    def measure(transport: Transport) -> Probe:
        probes.append(sample(transport, 1e9 if transport.route is route else 80e6))
        return probes[-1]

    search(measure, Transport(), (3, 2, 7), {}, lambda: [Transport(route=route)])
    assert choose_transport(probes, [Route.SSH, route]).transport.route is route
    assert documents.load(Transport, documents.dump(Transport(route=route))).route is route


def test_people_read_of_it(route: Route) -> None:
    assert Transport(route=route).name == f"{route.text}, one stream"
    assert WORDS[route] in PAGE
