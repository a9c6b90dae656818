"""Facts that the history holds already: whoever stands on them hears how old they are."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from core.api.checks import run_checks
from core.api.facts import collect_and_save
from core.api.migration import plan_move
from core.api.session import Session
from core.errors import UnreachableError
from core.facts.model import TrialStart
from core.jobs import Event, Job, Note
from core.servers.connection import Server
from tests.core.facts.here import Here
from tests.core.migration.builders import new, old, space


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (timedelta(minutes=1), []),
        (timedelta(hours=3), [r"\bold\b.* 3 h 00 min .*: pghaul facts old$"]),
    ],
)
def test_a_plan_says_how_old_the_facts_are_that_it_stands_on(session: Session, age: timedelta, said: list[str]) -> None:
    now = datetime.now(UTC)
    session.store.save_facts(old(taken_at=now - age))
    session.store.save_facts(new(taken_at=now))
    events: list[Event] = []
    plan_move(session, "spring", Job(events.append))
    notes = [event.text for event in events if isinstance(event, Note) and "pghaul facts" in event.text]
    assert len(notes) == len(said)
    assert all(re.search(pattern, note) for pattern, note in zip(said, notes, strict=True))


def test_facts_of_new_that_do_not_know_a_tablespaces_target_are_read_anew(session: Session) -> None:
    session.store.put_profile(replace(session.store.profile("new"), address="127.0.0.1", port=1, jump=None))
    (cluster,) = old().clusters
    session.store.save_facts(old(replace(cluster, tablespaces=(space("/space"),))))
    session.store.save_facts(new(taken_at=datetime.now(UTC), target_entries={"/space": ()}))
    run_checks(session, "spring", Job(), refresh=False)
    session.store.save_facts(new(taken_at=datetime.now(UTC), target_entries={}))
    with pytest.raises(UnreachableError):
        run_checks(session, "spring", Job(), refresh=False)


@pytest.mark.slow
@pytest.mark.parametrize("another", [False, True])
def test_what_was_tried_on_another_machine_is_not_taken_over(session: Session, another: bool) -> None:
    here = cast("Server", Here())
    session.store.put_profile(Here.profile)
    first = collect_and_save(session.store, here, Job(), None)
    assert first.system is not None
    machine = "0" * 32 if another else first.system.machine_id
    tried = TrialStart("/srv/pg/data", "/srv/pg/15/main")
    known = replace(first, system=replace(first.system, machine_id=machine), trial_start=tried)
    events: list[Event] = []
    assert collect_and_save(session.store, here, Job(events.append), known).trial_start == (None if another else tried)
    warned = [event.text for event in events if isinstance(event, Note) and "machine ID" in event.text]
    assert len(warned) == another


@pytest.mark.slow
@pytest.mark.parametrize("another", [False, True])
@pytest.mark.parametrize("unread", [0, 1, 2])
def test_another_machine_is_noticed_after_facts_that_tell_no_machine(
    session: Session, unread: int, *, another: bool
) -> None:
    here = cast("Server", Here())
    session.store.put_profile(Here.profile)
    first = collect_and_save(session.store, here, Job(), None)
    assert first.system is not None
    told = replace(first.system, machine_id="0" * 32) if another else first.system
    tried = TrialStart("/srv/pg/data", "/srv/pg/15/main")
    systems = [told, *([replace(told, machine_id=None)] * unread)]
    for number, system in enumerate(systems, 1):
        at = first.taken_at + timedelta(microseconds=number)
        session.store.save_facts(replace(first, system=system, taken_at=at, trial_start=tried))
    events: list[Event] = []
    known = session.store.facts(Here.profile.name)
    read = collect_and_save(session.store, here, Job(events.append), known)
    assert read.trial_start == (None if another else tried)
    warned = [event.text for event in events if isinstance(event, Note) and "machine ID" in event.text]
    assert len(warned) == another
