"""An empty history, and one with a day's work in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.history.store import Store
from tests.core.history import samples
from tests.histories import Histories


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "history") as opened:
        yield opened


@pytest.fixture
def filled(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "filled", samples.fill) as opened:
        yield opened
