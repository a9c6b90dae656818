"""What the history holds of a move, as the report's data."""

import dataclasses
from pathlib import Path

import pytest

from core.errors import InputError
from core.migration.model.checks import Status
from core.reports.report import Report, build
from tests.core.history import samples
from tests.histories import Histories


def test_everything_known_is_in_it(full: Report) -> None:
    assert full.move == samples.MOVE
    assert (full.old, full.new) == (samples.OLD, samples.NEW)
    assert full.cluster is not None
    assert full.cluster.size_bytes == samples.SIZE
    assert full.comparison is not None
    assert [row.workload for row in full.comparison.rows if row.headline] == list(samples.WORKLOADS)
    assert full.checks == samples.checks()
    assert full.probes == samples.probes()
    assert full.estimate == samples.estimate()
    assert full.plan == samples.plan()


def test_nothing_known_is_none(empty: Report) -> None:
    assert empty.cluster is None
    assert empty.comparison is None
    assert empty.checks is None
    assert empty.blockers == ()


def test_an_unknown_that_may_block_is_a_blocker(full: Report) -> None:
    assert [check.id for check in full.blockers] == ["collation", "extension-libraries"]
    harmless = tuple(dataclasses.replace(check, blocking=False) for check in samples.checks())
    assert [check.status for check in dataclasses.replace(full, checks=harmless).blockers] == [Status.BLOCKER]


def test_a_move_that_is_not_there(histories: Histories, tmp_path: Path) -> None:
    with histories.open(tmp_path) as store, pytest.raises(InputError, match="the move 'nothing' does not exist"):
        build(store, "nothing")
