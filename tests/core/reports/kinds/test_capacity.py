"""Capacity: growth from sizes that were read, when it is full, which window is enough."""

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest

from core.reports.kinds.capacity import capacity_report
from core.reports.model import drawings
from core.reports.options import Options
from core.reports.report import Report, build
from core.sides import Side
from tests.core.history import samples
from tests.core.reports.reading import answers, names, rows, words
from tests.histories import Histories

MONTH = timedelta(days=30.44)


@pytest.fixture
def growing(histories: Histories, tmp_path: Path) -> Report:
    """12 GB more each month, for half a year."""
    now = samples.facts(Side.OLD)
    with histories.open(tmp_path, samples.fill) as store:
        for month in range(1, 7):
            (cluster,) = now.clusters
            then = dataclasses.replace(cluster, size_bytes=samples.SIZE + month * 12_000_000_000)
            at = now.taken_at + month * MONTH
            store.save_facts(dataclasses.replace(now, taken_at=at, clusters=(then,)))
        return build(store, samples.MOVE.name)


def test_growth_and_when_it_is_full(growing: Report) -> None:
    made = capacity_report(growing, Options())
    size, grows, old, new, window = answers(made)
    assert (size, grows) == ("1.2 TiB", "11.2 GiB a month")
    assert (old, new) == ("In 0.8 months", "In 158 months")
    assert window
    assert [row[1] for row in rows(made, "sizes")][:2] == ["1.1 TiB", "1.1 TiB"]
    assert [row[0] for row in rows(made, "later")] == ["0", "3", "6", "12"]
    assert [row[0] for row in rows(made, "windows")] == ["15 min", "1 h", "4 h", "8 h", "24 h"]
    assert [one.name for one in drawings(made)] == ["growth", "window"]


@pytest.mark.slow
def test_sizes_of_one_day_tell_no_growth(full: Report) -> None:
    made = capacity_report(full, Options())
    assert made.answers[1].words == "Not known"
    assert "Read the facts again" in made.answers[1].details[0]
    assert [row[0] for row in rows(made, "later")] == ["0"]  # not the same row four times
    assert f"pghaul estimate '{full.move.name}' --growth 20GB" in words(made.sections)


def test_a_cluster_that_shrinks_takes_no_longer_later(growing: Report) -> None:
    (began, large), *_ = growing.sizes
    shrinks = dataclasses.replace(growing, sizes=((began, 2 * large), (began + MONTH, large)))
    made = capacity_report(shrinks, Options())
    assert [row[0] for row in rows(made, "later")] == ["0"]
    assert "The cluster does not grow" in words(made.sections)


def test_without_facts_it_says_so(empty: Report) -> None:
    made = capacity_report(empty, Options())
    assert answers(made) == ["Not known"] * 5
    assert "The size of the cluster is not known." in words(made.sections)
    assert "later" not in names(made)
