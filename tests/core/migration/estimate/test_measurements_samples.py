"""How sure a sample of the copy is."""

from dataclasses import replace
from math import log

import pytest

from core.migration.estimate import estimate, spec_of
from core.migration.model.estimate import Span
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import PLAIN
from tests.core.migration.builders import NOW, move, old, probe

PATH = "copy.observed_bytes_per_second"


def sampled(seconds: float, raw: str = "") -> Probe:
    made = probe(Quantity.END_TO_END, 80e6)
    return replace(made, transport=PLAIN, began_at=NOW, seconds=seconds, bytes=round(80e6 * seconds), raw=raw)


@pytest.mark.parametrize(
    ("seconds", "raw", "apart"),
    [(2.0, "connect 200000000\n", 0.0), (0.2, "", log(1.3)), (2.0, "connect 200000000\ncut off\n", log(1.3))],
)
def test_a_short_sample_and_one_that_was_cut_off_are_doubted(seconds: float, raw: str, apart: float) -> None:
    assert spec_of(move(), old(), [sampled(seconds, raw)]).history.sources[PATH].apart == apart


def test_the_range_of_a_short_sample_is_wider() -> None:
    def width(taken: Probe) -> float:
        method = estimate(spec_of(move(), old(), [taken])).method("cold-copy")
        span = method.duration_seconds if method is not None else Span(1, 1, 1)
        return span.high / span.low

    assert width(sampled(0.2)) > 1.1 * width(sampled(2.0))
