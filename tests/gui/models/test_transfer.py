"""The path between the servers, link by link."""

from dataclasses import replace

import pytest

from core.api.migration import ProbeForecast
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from gui.models.transfer import PATH, PROBE_COLUMNS, coming_words, links, probes_summary, slowest_link, whole_transfer
from tests.figures import figures
from tests.gui import samples
from tests.gui.models.test_fuzzed import FLOATS

LZ4 = Transport(compression="lz4", cipher="aes128-ctr")


def probe(quantity: Quantity, rate: float, transport: Transport | None = None) -> Probe:
    return Probe(quantity, rate, 1 << 30, 5.0, "how", "", "", samples.MORNING, transport)


PROBES = (
    probe(Quantity.WRITE, 150e6),
    probe(Quantity.READ, 80e6),
    probe(Quantity.SUMS, 20e6),
    probe(Quantity.SSH, 100e6, Transport(cipher="aes128-ctr")),
    probe(Quantity.SSH, 40e6, Transport(cipher="3des-cbc")),
    probe(Quantity.WIRE, 120e6),
    probe(Quantity.WIRE, 160e6),
    probe(Quantity.END_TO_END, 70e6, replace(LZ4, compression="")),
    probe(Quantity.END_TO_END, 90e6, LZ4),
)


def test_links_stand_from_the_old_server_to_the_new_one() -> None:
    found = links(PROBES)
    assert [link.quantity for link in found] == [Quantity.READ, Quantity.SSH, Quantity.WIRE, Quantity.WRITE]
    assert [link.rate for link in found] == [80e6, 100e6, 120e6, 150e6]
    assert [link.slowest for link in found] == [True, False, False, False]
    assert found[-1].part == 1.0
    assert set(PATH).isdisjoint({Quantity.SUMS, Quantity.END_TO_END, Quantity.CHANGES})


def test_the_whole_transfer_is_its_fastest_sample() -> None:
    whole = whole_transfer(PROBES)
    assert whole is PROBES[-1]
    assert whole_transfer(PROBES[:-2]) is None


def test_a_whole_that_is_faster_than_its_slowest_link_says_why() -> None:
    plain, compressed = slowest_link(PROBES[:-1]), slowest_link(PROBES)
    assert figures(plain) == figures(compressed) == ["80.0 MB/s"]
    assert compressed.startswith(plain)
    assert len(compressed) > len(plain)
    assert slowest_link(()) == ""


def test_candidates_differ_by_compression_and_cipher() -> None:
    compression, cipher = PROBE_COLUMNS[1].text, PROBE_COLUMNS[2].text
    assert [(compression(one), cipher(one)) for one in PROBES[-2:]] == [("none", "aes128-ctr"), ("lz4", "aes128-ctr")]
    assert compression(PROBES[0]) == cipher(PROBES[0]) == ""
    by_nfs = probe(Quantity.END_TO_END, 1.0, Transport(route=Route.NFS))
    assert (compression(by_nfs), cipher(by_nfs)) == ("none", "")
    assert cipher(probe(Quantity.SSH, 1.0, Transport())) == "default"


@pytest.mark.parametrize("rate", FLOATS)
def test_whatever_was_measured_has_a_place(rate: float) -> None:
    found = links([probe(each, rate) for each in Quantity])
    assert all(0.0 <= link.part <= 1.0 and link.shown for link in found)
    assert probes_summary([probe(each, rate) for each in Quantity]) is not None


def test_both_forecasts_are_told_before_a_test_begins() -> None:
    usual, thorough = ProbeForecast(15.0, 3 << 20, 2 << 20), ProbeForecast(105.0, 3 << 30, 2 << 30)
    assert figures(coming_words(usual, thorough)) == [
        "15 s", "3.0 MiB", "2.0 MiB", "1 min 45 s", "3.0 GiB", "2.0 GiB",
    ]  # fmt: skip
