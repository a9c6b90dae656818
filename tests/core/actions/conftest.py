"""A desk that asks nobody, over a history with one move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.actions import Session
from core.servers.profiles import Nobody
from tests.core.migration.builders import history


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with history(tmp_path) as store, Session(store, Nobody()) as made:
        yield made
