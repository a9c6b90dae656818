"""Facts that the history holds already: whoever stands on them hears how old they are."""

from datetime import UTC, datetime, timedelta

import pytest

from core.actions import Session, plan
from core.jobs import Event, Job, Note
from tests.core.migration.builders import new, old


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (timedelta(minutes=1), []),
        (timedelta(hours=3), ["the facts of old are 3 h 00 min old; fresh ones: pghaul facts old"]),
    ],
)
def test_a_plan_says_how_old_the_facts_are_that_it_stands_on(session: Session, age: timedelta, said: list[str]) -> None:
    now = datetime.now(UTC)
    session.store.save_facts(old(taken_at=now - age))
    session.store.save_facts(new(taken_at=now))
    events: list[Event] = []
    plan(session, "spring", Job(events.append))
    assert [event.text for event in events if isinstance(event, Note) and "facts" in event.text] == said
