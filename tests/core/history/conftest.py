"""An empty history, and one with a day's work in it: in a file, and where a test says so, on a server too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.history.store import Store
from tests.core.history import samples
from tests.histories import BOTH, Histories

on_both = pytest.mark.parametrize("on", BOTH)
"""For a test whose history lies in a file, and once more on a server."""


@pytest.fixture
def on() -> str:
    """In a file, for tests of what only a file has."""
    return BOTH[0]


@pytest.fixture
def store(histories: Histories, on: str, tmp_path: Path) -> Iterator[Store]:
    with histories.opened(on, tmp_path / "history") as opened:
        yield opened


@pytest.fixture
def filled(histories: Histories, on: str, tmp_path: Path) -> Iterator[Store]:
    with histories.opened(on, tmp_path / "filled", samples.fill) as opened:
        yield opened
