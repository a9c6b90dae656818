"""What cannot be, or cannot be together, is said in words."""

import pytest

from core.migration.estimate import estimate, load_spec
from core.migration.estimate.plausible import TOGETHER


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
        "1.1 TiB, 50.0 MB/s ",
        " 3 h 00 min to 4 h 00 min ",
        " 6 h 47 min",
        "84.7 MB/s to 113 MB/s",
        "502.9 GiB to 670.6 GiB",
    ):
        assert words in said
    link = f"{LARGE}[link]\nbits_per_second = 400e6\n[claimed]\nhigh_seconds = 14400"
    assert " 6 h 47 min" in warnings(link)


@pytest.mark.parametrize("claim", ["low_seconds = 21600\nhigh_seconds = 25200", "high_seconds = 24000"])
def test_a_claim_that_agrees_with_the_figures_is_left_alone(claim: str) -> None:
    assert warnings(f"{LARGE}[copy]\nobserved_bytes_per_second = 50e6\n[claimed]\n{claim}") == ""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[cluster]\nsize_bytes = 1220", "cluster.size_bytes = 1220 "),
        (f"{LARGE}files = 12", " 12 files "),
        (f"{LARGE}change_bytes_per_hour = 5e13", "cluster.change_bytes_per_hour = 5e+13 "),
        (f"{LARGE}index_bytes = 1000e9\nlargest_table_bytes = 900e9", TOGETHER),
        (f"{LARGE}[link]\nbits_per_second = 1000", "link.bits_per_second = 1000 "),
        (f"{LARGE}[link]\nbits_per_second = 1e13", " 10.0 Tbit/s. "),
        (f"{LARGE}[old]\nread_bytes_per_second = 180", " 180 B/s. "),
        (f"{LARGE}[copy]\ncompression_ratio = 150", "1/100"),
        (f"{LARGE}[observed]\ndump_seconds = 10", " 122 GB/s, "),
        (f"{LARGE}[observed]\nrestore_seconds = 14400000", "observed.restore_seconds = 1.44e+07 "),
    ],
)
def test_a_slip_of_a_unit_is_named(text: str, named: str) -> None:
    assert named in warnings(text)


def test_sound_figures_raise_no_doubt() -> None:
    assert warnings(f"{LARGE}files = 25000\n[link]\nbits_per_second = 1e9\n[old]\nread_bytes_per_second = 2e8") == ""
