"""A desk that asks nobody, over a history with one move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.api.session import Session
from core.servers.profiles import Nobody
from tests.core.migration.builders import set_up
from tests.histories import Histories


@pytest.fixture
def session(histories: Histories, tmp_path: Path) -> Iterator[Session]:
    with histories.open(tmp_path, set_up) as store, Session(store, Nobody()) as made:
        yield made
