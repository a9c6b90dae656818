"""Reports of a move with a day's work, and of one that was only just set up."""

from pathlib import Path

import pytest

from core.history.store import Store
from core.reports.report import Report, build
from tests.core.history import samples


@pytest.fixture
def full(tmp_path: Path) -> Report:
    with Store.open(tmp_path / "full") as store:
        samples.fill(store)
        return build(store, samples.MOVE.name)


@pytest.fixture
def empty(tmp_path: Path) -> Report:
    with Store.open(tmp_path / "empty") as store:
        store.add_profile(samples.OLD)
        store.add_profile(samples.NEW)
        store.add_move(samples.MOVE)
        return build(store, samples.MOVE.name)
