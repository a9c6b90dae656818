"""A desk that asks nobody, over a history with one move."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.actions import Desk
from core.history.store import Store
from core.servers.profiles import Nobody, Profile
from tests.core.migration.builders import move


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Two servers and the move `spring` between them; nobody is asked."""
    with Store.open(tmp_path) as store:
        store.add_profile(Profile("old", "192.0.2.1"))
        store.add_profile(Profile("new", "192.0.2.2"))
        store.add_move(replace(move(), name="spring"))
        with Desk(store, Nobody()) as made:
            yield made
