"""Facts that the history holds already: whoever stands on them hears how old they are."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.actions import Desk, plan
from core.history.store import Store
from core.jobs import Event, Job, Note
from core.servers.profiles import Nobody, Profile
from tests.core.migration.builders import move, new, old


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(tmp_path) as store:
        store.add_profile(Profile("old", "192.0.2.1"))
        store.add_profile(Profile("new", "192.0.2.2"))
        store.add_move(replace(move(), name="spring"))
        with Desk(store, Nobody()) as made:
            yield made


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (timedelta(minutes=1), []),
        (timedelta(hours=3), ["the facts of old are 3 h 00 min old; fresh ones: pghaul facts old"]),
    ],
)
def test_a_plan_says_how_old_the_facts_are_that_it_stands_on(desk: Desk, age: timedelta, said: list[str]) -> None:
    now = datetime.now(UTC)
    desk.store.save_facts(old(taken_at=now - age))
    desk.store.save_facts(new(taken_at=now))
    events: list[Event] = []
    plan(desk, "spring", Job(events.append))
    assert [event.text for event in events if isinstance(event, Note) and "facts" in event.text] == said
