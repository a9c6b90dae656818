"""The search for a transport, over a landscape of rates that is known."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import PLAIN, Route, Transport
from core.migration.probing.candidates import fastest_cipher, search, worth_measuring_ssh
from core.migration.transports.choice import choose_transport
from core.migration.transports.rsync_versions import UNKNOWN, Version
from tests.core.migration.builders import NOW, probe

RATIOS = {"": 1.0, "lz4": 4.0, "zstd:1": 6.0, "zstd:3": 7.0, "zlib:1": 5.0, "zlib:3": 5.1}
FAST_DISKS = {Quantity.READ: 2e9, Quantity.WRITE: 2e9}


def found(
    rate: Callable[[Transport], float | None],
    version: Version = (3, 2, 7),
    links: dict[Quantity, float] = FAST_DISKS,
    plain: Transport = PLAIN,
    others: tuple[Transport, ...] = (),
    size_bytes: int | None = None,
) -> tuple[Transport, list[Transport]]:
    """What is chosen, and what was tried on the way."""
    taken: list[Probe] = []

    def measure(transport: Transport) -> Probe | None:
        value = rate(transport)
        if value is None:
            return None
        made = probe(Quantity.END_TO_END, value)
        taken.append(replace(made, transport=transport, began_at=NOW, ratio=RATIOS.get(transport.compression, 8.0)))
        return taken[-1]

    search(measure, plain, version, links, lambda: others, size_bytes)
    routes = [plain.route, *(other.route for other in others)]
    return choose_transport(taken, routes).transport, [each.transport for each in taken if each.transport is not None]


def chain(wire: float, processors: int) -> Callable[[Transport], float]:
    """Bytes a second where each compression has its ratio and its speed on one processor, and ssh one of its own."""
    speeds = {"": 1e12, "lz4": 500e6, "zstd:1": 250e6, "zstd:3": 150e6, "zlib:1": 60e6, "zlib:3": 50e6}

    def rate(transport: Transport) -> float:
        ratio, speed = RATIOS.get(transport.compression, 8.0), speeds.get(transport.compression, 40e6)
        streams = min(transport.streams, processors)
        return min(wire * ratio, streams * speed, streams * 300e6 * ratio)

    return rate


@pytest.mark.parametrize(
    ("wire", "processors", "version", "expected"),
    [
        (12e6, 2, (3, 2, 7), Transport("", "zstd:3", 1)),
        (119e6, 1, (3, 2, 7), Transport("", "lz4", 1)),
        (119e6, 4, (3, 2, 7), Transport("", "zstd:1", 4)),
        (119e6, 2, (3, 1, 3), Transport("", "", 1)),
        (5e6, 1, (3, 1, 3), Transport("", "zlib:1", 1)),
        (5e6, 4, UNKNOWN, Transport("", "zlib:1", 1)),
        (1250e6, 4, (3, 2, 7), Transport("", "lz4", 4)),
    ],
)
def test_the_best_of_all_is_found(wire: float, processors: int, version: Version, expected: Transport) -> None:
    rate = chain(wire, processors)
    chosen, tried = found(rate, version)
    again, others = found(rate, version, FAST_DISKS | {Quantity.WIRE: wire})
    assert chosen == again == expected
    assert max(len(tried), len(others)) <= 16
    kinds = ("", "lz4", "zstd:1", "zstd:3", "zstd:6") if version >= (3, 2, 0) else ("", "zlib:1")
    streams = (1, 2, 4, 8) if version >= (3, 1, 0) else (1,)
    best = max(rate(Transport("", kind, number)) for kind in kinds for number in streams)
    assert rate(chosen) >= 0.95 * best


def test_over_a_slow_network_what_is_sent_as_it_is_is_tried_only_if_it_could_be_faster() -> None:
    links = FAST_DISKS | {Quantity.WIRE: 12e6}
    _, tried = found(chain(12e6, 2), links=links)
    assert tried[:2] == [Transport("", "lz4"), Transport("", "zstd:1")]
    assert all(each.compression for each in tried)
    incompressible = {"": 12e6, "lz4": 11.8e6}
    chosen, tried = found(lambda each: incompressible.get(each.compression, 11e6) / each.streams, links=links)
    assert tried[0] == Transport("", "lz4")
    assert chosen == Transport()
    # the network was busy when it was measured: what crossed it compressed shows that
    busy = {"": 900e6, "lz4": 300e6}
    chosen, _ = found(lambda each: busy.get(each.compression, 50e6) / each.streams, links=links)
    assert chosen == Transport()
    assert found(chain(12e6, 2), (3, 1, 3), links)[1][0] == Transport()  # neither lz4 nor zstd
    assert found(chain(2e9, 2), links=FAST_DISKS | {Quantity.WIRE: 1.9e9})[1][0] == Transport()


def test_nothing_is_tried_once_a_disk_is_at_its_end() -> None:
    _, tried = found(lambda _: 59e6, links={Quantity.READ: 60e6, Quantity.WRITE: 500e6})
    assert tried == [Transport()]


def test_a_sample_at_nine_tenths_of_the_disk_is_at_its_end() -> None:
    disks = {Quantity.READ: 60e6, Quantity.WRITE: 500e6}
    assert len(found(lambda _: 55e6, links=disks)[1]) == 1
    assert len(found(lambda _: 53e6, links=disks)[1]) > 1


def test_no_other_transport_is_tried_where_the_whole_copy_takes_seconds() -> None:
    _, tried = found(chain(12e6, 2), size_bytes=30 * 10**6)
    assert tried == [Transport()]
    _, tried = found(chain(12e6, 2), size_bytes=100 * 10**6)
    assert tried == [Transport(), Transport("", "lz4")]
    assert len(found(chain(12e6, 2), size_bytes=10**12)[1]) == len(found(chain(12e6, 2))[1]) > 2


def test_no_other_route_is_opened_where_it_cannot_matter() -> None:
    def refuse() -> tuple[Transport, ...]:
        raise RuntimeError("a route was opened")

    made = replace(probe(Quantity.END_TO_END, 59e6), began_at=NOW)
    links = {Quantity.READ: 60e6, Quantity.WRITE: 500e6}
    assert search(lambda transport: replace(made, transport=transport), PLAIN, (3, 2, 7), links, refuse) == []


def test_ssh_is_not_measured_over_a_network_that_is_slower_than_every_cipher() -> None:
    assert not worth_measuring_ssh({Quantity.WIRE: 12e6, Quantity.READ: 500e6})
    assert worth_measuring_ssh({Quantity.WIRE: 119e6})
    assert worth_measuring_ssh({Quantity.READ: 12e6})  # the network is not known


def test_a_sample_that_outruns_a_disk_shows_that_the_disk_was_measured_badly() -> None:
    _, tried = found(lambda _: 97e6, links={Quantity.READ: 57e6, Quantity.WRITE: 500e6})
    assert len(tried) > 1


def test_what_is_near_the_fastest_is_worth_a_closer_look() -> None:
    rates = {"": 100e6, "lz4": 300e6, "zstd:1": 280e6, "zstd:3": 150e6}

    def close(rate: Callable[[Transport], float]) -> list[Transport]:
        made = partial(replace, probe(Quantity.END_TO_END, 1.0))
        return search(lambda each: made(bytes_per_second=rate(each), transport=each), PLAIN, (3, 2, 7), FAST_DISKS)

    assert close(lambda each: rates.get(each.compression, 50e6) / each.streams) == [
        Transport("", "lz4"),
        Transport("", "zstd:1"),
    ]
    assert close(lambda each: 300e6 if each == Transport("", "lz4") else 100e6) == []
    streams = close(lambda each: 900e6 if each == Transport("", "lz4", 2) else rates.get(each.compression, 50e6))
    assert streams == [Transport("", "lz4", 2), Transport("", "lz4")]
    table = {("lz4", 1): 500e6, ("zstd:1", 1): 600e6, ("lz4", 2): 700e6, ("zstd:1", 2): 650e6}
    assert close(lambda each: table.get((each.compression, each.streams), 50e6)) == [
        *(Transport("", "lz4", 2), Transport("", "lz4")),
        *(Transport("", "zstd:1"), Transport("", "zstd:1", 2)),
    ]
    assert len(close(lambda _: 100e6)) == 5


def test_within_one_server_there_are_streams_alone() -> None:
    local = Transport(route=Route.LOCAL)
    chosen, tried = found(lambda transport: 400e6 * min(transport.streams, 2), plain=local)
    assert chosen == replace(local, streams=2)
    assert all(each.route is Route.LOCAL and not each.compression for each in tried)


def test_what_fails_is_left_out() -> None:
    """An rsync that was built without lz4 and zstd, whatever its version."""
    rate = chain(5e6, 1)
    chosen, _ = found(lambda transport: None if transport.compression[:1] in {"l", "z"} else rate(transport))
    assert chosen == Transport()
    chosen, _ = found(lambda transport: None if transport.compression[:2] in {"lz", "zs"} else rate(transport))
    assert chosen == Transport("", "zlib:1", 1)
    assert found(lambda _: None)[1] == []


def test_a_cipher_is_named_where_it_is_clearly_faster() -> None:
    assert fastest_cipher({"": 300e6, "aes128-ctr": 310e6}) == ""
    assert fastest_cipher({"": 300e6, "aes128-ctr": 370e6}) == ""
    assert fastest_cipher({"": 300e6, "aes128-ctr": 380e6, "chacha20-poly1305@openssh.com": 299e6}) == "aes128-ctr"
    assert fastest_cipher({}) == ""


DAEMON = Transport(route=Route.DAEMON)


def test_another_route_is_tried_like_the_fastest_over_ssh_and_wins_by_its_figures() -> None:
    def ciphered(transport: Transport) -> float:
        """A cipher costs a processor; what does not pass through it is as fast as a wire of 1 GB/s."""
        return min(1e9, transport.streams * 400e6) if transport.route is Route.SSH else 1e9

    chosen, tried = found(ciphered, others=(DAEMON,))
    assert chosen == Transport("", "", 4)  # it reaches the wire as well, and nobody reads it there
    assert DAEMON not in tried
    chosen, tried = found(
        lambda transport: 0.5 * ciphered(transport) if transport.route is Route.SSH else 1e9, others=(DAEMON,)
    )
    assert chosen.route is Route.DAEMON
    assert {each.compression for each in tried if each.route is Route.DAEMON} >= {"", "lz4"}


def test_another_route_that_fails_or_whose_rsync_is_too_old_leaves_ssh() -> None:
    chosen, _ = found(lambda transport: 100e6 if transport.route is Route.SSH else None, others=(DAEMON,))
    assert chosen.route is Route.SSH
    _, tried = found(lambda _: 100e6, version=(3, 0, 9), others=(DAEMON,))
    assert all(each.route is Route.SSH for each in tried)
