"""An empty history, and one with a day's work in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.history.store import Store
from tests.core.history import samples


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "history") as opened:
        yield opened


@pytest.fixture
def filled(store: Store) -> Store:
    samples.fill(store)
    return store
