import pytest

from core.migration.plan.steps.inventory import time_limit

TIMEOUT = (2**31 - 1) // 1000
"""Seconds that PostgreSQL takes for a timeout at most."""


@pytest.mark.parametrize(
    ("size", "least", "most"),
    [(0, 600, 3600), (10**12, 4 * 86400, TIMEOUT), (40 * 10**12, 20 * 86400, TIMEOUT), (None, 20 * 86400, TIMEOUT)],
)
def test_what_reads_much_has_time_for_it_and_an_end(size: int | None, least: int, most: int) -> None:
    assert least <= time_limit(size) <= most
