from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.migration.estimate import estimate, spec_of
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import PLAIN, Route, Transport
from core.migration.transports.choice import choose_transport, latest_pass, tried_routes
from tests.core.migration.builders import NOW, move, old, probe


def sample(
    rate: float, compression: str = "", streams: int = 1, ratio: float | None = None, taken_at: datetime = NOW
) -> Probe:
    made = probe(Quantity.END_TO_END, rate)
    transport = Transport("", compression, streams)
    return replace(made, transport=transport, ratio=ratio, began_at=NOW, taken_at=taken_at)


LINKS = [probe(Quantity.READ, 800e6), probe(Quantity.WIRE, 119e6), probe(Quantity.WRITE, 700e6)]


def test_the_fastest_is_taken_and_the_figures_say_why() -> None:
    tried = [sample(111e6), sample(480e6, "lz4", ratio=8.0), sample(400e6, "zstd:1", ratio=20.0)]
    choice = choose_transport([*LINKS, *tried])
    assert choice.transport == Transport("", "lz4", 1)
    assert choice.bound_by == "old cpu"
    for words in (
        "480 MB/s",
        "no compression (111 MB/s)",
        "zstd level 1 (400 MB/s)",
        "CPU of the old server",
    ):
        assert words in choice.why


@pytest.mark.parametrize(
    ("links", "rate", "ratio", "bound"),
    [
        ((60e6, 119e6, 600e6), 58e6, 1.0, "old disk"),
        ((800e6, 119e6, 60e6), 59e6, 8.0, "new disk"),
        ((800e6, 119e6, 600e6), 110e6, 1.0, "wire"),
        ((800e6, 12e6, 600e6), 80e6, 8.0, "wire"),
        ((800e6, 119e6, 600e6), 300e6, 8.0, "old cpu"),
    ],
)
def test_the_bound_is_the_link_that_it_comes_near_to(
    links: tuple[float, float, float], rate: float, ratio: float, bound: str
) -> None:
    quantities = (Quantity.READ, Quantity.WIRE, Quantity.WRITE)
    probes = [probe(quantity, link) for quantity, link in zip(quantities, links, strict=True)]
    assert choose_transport([*probes, sample(rate, "lz4", ratio=ratio)]).bound_by == bound


def test_of_what_is_as_fast_the_lightest_is_taken() -> None:
    tried = [sample(59e6), sample(60e6, "lz4"), sample(60.1e6, "zstd:1"), sample(60.2e6, "", 4)]
    assert choose_transport(tried).transport == PLAIN


def test_what_an_earlier_pass_tried_counts_no_more() -> None:
    before = NOW - timedelta(hours=1)
    early = sample(900e6, "lz4", taken_at=before)
    early = replace(early, began_at=before)
    assert choose_transport([early, sample(100e6)]).transport == PLAIN
    read = replace(probe(Quantity.READ, 80e6), taken_at=before, began_at=before)
    assert read in latest_pass([early, sample(100e6), read])


def test_a_cancelled_pass_does_not_replace_the_full_one_before() -> None:
    before = NOW - timedelta(hours=1)
    tried = [sample(12e6), sample(80e6, "lz4"), replace(sample(90e6, "zstd:1"), bytes=10**12)]
    full = [replace(each, taken_at=before, began_at=before) for each in tried]
    choice = choose_transport([*full, sample(11e6)])
    assert choice.transport == Transport("", "zstd:1", 1)
    assert choice.sample == full[2]
    assert sample(11e6) in latest_pass([*full, sample(11e6)])
    assert full[0] not in latest_pass([*full, sample(11e6)])
    again = [sample(11e6), sample(70e6, "lz4"), sample(60e6, "zstd:1")]
    assert choose_transport([*full, *again]).transport == Transport("", "lz4", 1)


def test_of_an_earlier_pass_no_route_counts_that_was_not_tried_again() -> None:
    before = NOW - timedelta(hours=1)
    made = [sample(rate, compression) for rate, compression in ((12e6, ""), (80e6, "lz4"), (90e6, "zstd:1"))]
    by_daemon = replace(made[2], transport=Transport("", "zstd:1", 1, route=Route.DAEMON))
    full = [replace(each, taken_at=before, began_at=before) for each in (*made[:2], by_daemon)]
    assert tried_routes([*full, sample(11e6)]) == {Route.SSH}
    assert choose_transport([*full, sample(11e6)], list(Route)).transport == Transport("", "lz4", 1)


@pytest.mark.parametrize(("rates", "counts"), [((90, 50), 50), ((90, 50, 60), 60), ((50, 60, 90, 70), 60)])
def test_of_several_tries_in_one_pass_the_median_counts(rates: tuple[int, ...], counts: int) -> None:
    tries = [sample(rate, "lz4", taken_at=NOW + timedelta(seconds=at)) for at, rate in enumerate(rates)]
    assert [each.bytes_per_second for each in latest_pass(tries)] == [counts]
    assert [each.bytes_per_second for each in latest_pass([*tries, sample(40)])] == [counts, 40]


def test_where_some_were_sampled_larger_they_alone_count() -> None:
    lucky, small = sample(900e6, "lz4"), sample(800e6, "zstd:1")
    large = [replace(sample(rate, "zstd:1"), bytes=4 * small.bytes) for rate in (300e6, 320e6, 310e6)]
    cut_off = replace(sample(305e6, "zstd:3"), bytes=3 * small.bytes)
    choice = choose_transport([lucky, small, *large, cut_off])
    assert (choice.transport.compression, choice.sample) == ("zstd:1", large[2])
    assert "lz4 (900 MB/s)" in choice.why
    assert choose_transport([lucky, small, cut_off]).transport.compression == "zstd:3"


def test_a_compressed_sample_contradicts_no_link() -> None:
    """480 MB/s over a wire of 119 MB/s: an eighth of it crosses."""
    probes = [*LINKS, probe(Quantity.SSH, 300e6), sample(480e6, "lz4", 2, ratio=8.0)]
    cold = estimate(spec_of(move(), old(), probes)).method("cold-copy")
    assert cold is not None
    assert cold.warnings == ()
    copy = next(stage for stage in cold.stages if stage.name == "copy")
    # and what its passes begin with, one of which lists what is to be deleted
    assert copy.seconds.likely == pytest.approx(10e9 / 480e6 + 1.0, rel=0.15)
