"""What cannot be, or cannot be together, is said in words."""

import pytest

from core.migration.estimate import estimate, load_spec


def warnings(text: str) -> str:
    cold = estimate(load_spec(text, "spec")).method("cold-copy")
    assert cold is not None
    return "\n".join(cold.warnings)


LARGE = "[cluster]\nsize_bytes = 1220e9\n"


def test_of_size_rate_and_time_it_says_which_pair_gives_what() -> None:
    said = warnings(
        f"{LARGE}[copy]\nobserved_bytes_per_second = 50e6\n[claimed]\nlow_seconds = 10800\nhigh_seconds = 14400"
    )
    for words in (
        "1.1 TiB, 50.0 MB/s and 3 h 00 min to 4 h 00 min cannot all be",
        "give 6 h 47 min",
        "84.7 MB/s to 113 MB/s",
        "502.9 GiB to 670.6 GiB",
    ):
        assert words in said
    link = f"{LARGE}[link]\nbits_per_second = 400e6\n[claimed]\nhigh_seconds = 14400"
    assert "give 6 h 47 min" in warnings(link)


@pytest.mark.parametrize("claim", ["low_seconds = 21600\nhigh_seconds = 25200", "high_seconds = 24000"])
def test_a_claim_that_agrees_with_the_figures_is_left_alone(claim: str) -> None:
    assert warnings(f"{LARGE}[copy]\nobserved_bytes_per_second = 50e6\n[claimed]\n{claim}") == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[cluster]\nsize_bytes = 1220", "less than an empty cluster has: bytes are meant"),
        (f"{LARGE}files = 12", "1 GiB at the most"),
        (f"{LARGE}change_bytes_per_hour = 5e13", "41 times the cluster an hour"),
        (f"{LARGE}index_bytes = 1000e9\nlargest_table_bytes = 900e9", "together more than the cluster"),
        (f"{LARGE}[link]\nbits_per_second = 1000", "is 1.00 kbit/s: bits a second are meant, not Mbit"),
        (f"{LARGE}[link]\nbits_per_second = 1e13", "is 10.0 Tbit/s: is it bits a second?"),
        (f"{LARGE}[old]\nread_bytes_per_second = 180", "is 180 B/s: bytes a second are meant"),
        (f"{LARGE}[copy]\ncompression_ratio = 50", "no cluster was seen to shrink to less than 1/20"),
        (f"{LARGE}[observed]\ndump_seconds = 10", "122 GB/s of cluster: that was never seen; hours, given as seconds?"),
        (f"{LARGE}[observed]\nrestore_seconds = 14400000", "are they milliseconds?"),
    ],
)
def test_a_slip_of_a_unit_is_named(text: str, words: str) -> None:
    assert words in warnings(text)


def test_sound_figures_raise_no_doubt() -> None:
    assert warnings(f"{LARGE}files = 25000\n[link]\nbits_per_second = 1e9\n[old]\nread_bytes_per_second = 2e8") == ""
