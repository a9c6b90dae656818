"""What reports rest on: a move with a day's work, one that was only just set up, a comparison of its storages."""

from dataclasses import replace

import pytest

from core.comparison.compare import compare
from core.history import example
from core.history.store import Store
from core.reports.kinds.storage import StorageReport
from core.reports.report import Report, build
from core.sides import Side
from tests.core.history import samples
from tests.histories import Histories


@pytest.fixture(scope="session")
def full(histories: Histories, tmp_path_factory: pytest.TempPathFactory) -> Report:
    with histories.open(tmp_path_factory.mktemp("full"), samples.fill) as store:
        return build(store, samples.MOVE.name)


@pytest.fixture(scope="session")
def empty(histories: Histories, tmp_path_factory: pytest.TempPathFactory) -> Report:
    with histories.open(tmp_path_factory.mktemp("empty"), samples.set_up) as store:
        return build(store, samples.MOVE.name)


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The example's."""
    folder = tmp_path_factory.mktemp("shipped")
    example.lay(folder)
    with Store.open(folder) as store:
        return build(store, example.MOVE)


@pytest.fixture(scope="session")
def storages(full: Report) -> StorageReport:
    sides = [[run for run in full.runs if run.volume.side is side] for side in Side]
    return replace(
        StorageReport(compare(*sides), full.runs, full.made_at, full.program_version),
        diagnoses=full.diagnoses,
        profiles=(full.old, full.new),
        facts=tuple(each for each in (full.old_facts, full.new_facts) if each is not None),
    )
