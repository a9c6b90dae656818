"""Reports of a move with a day's work, and of one that was only just set up."""

import pytest

from core.reports.report import Report, build
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
