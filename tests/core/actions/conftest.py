"""A desk that asks nobody, over a history with one move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.actions import Desk
from core.servers.profiles import Nobody
from tests.core.migration.builders import history


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with history(tmp_path) as store, Desk(store, Nobody()) as made:
        yield made
