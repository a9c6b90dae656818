"""Many moves: which were carried out, from here and as they are set up now, and what a report makes of all."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.api.moves import completion_time
from core.api.reports import make_fleet_report
from core.api.session import Session
from core.api.survey import run_survey
from core.errors import InputError
from core.history.store import Store
from core.jobs import Job
from core.migration.model.execution import State
from core.servers.lists.formats import read_list
from core.servers.profiles import Nobody
from tests.core.migration.builders import new, old
from tests.core.migration.execution.builders import execution


def carried_out(store: Store, target: str = "") -> None:
    """The move, as it is set up, or into another target."""
    move, made = store.move("spring"), execution()
    plan = replace(made.plan, data_directory=move.cluster, target=target or move.target)
    store.execution_changed(store.execution_started(replace(made, plan=plan)), State.DONE)


def test_a_move_that_leads_elsewhere_now_is_not_over(session: Session) -> None:
    store = session.store
    carried_out(store, "/srv/other")  # an earlier pghaul let it be changed since
    assert completion_time(session, store.move("spring")) is None
    carried_out(store)
    assert completion_time(session, store.move("spring")) is not None


def test_an_execution_of_other_servers_does_not_count(session: Session) -> None:
    carried_out(session.store)
    session.store.put_profiles([replace(session.store.profile("new"), address="192.0.2.99")])
    assert completion_time(session, session.store.move("spring")) is None  # its seal holds no more


def test_a_second_move_into_a_target_that_was_filled_is_stopped(session: Session) -> None:
    carried_out(session.store)
    session.store.put_move(replace(session.store.move("spring"), name="again"))
    for facts in (old(), new()):
        session.store.save_facts(replace(facts, taken_at=datetime.now(UTC)))
    found = {one.move.name: one for one in run_survey(session, None, Nobody(), Job()).moves}
    assert found["spring"].moved_at is not None
    assert found["again"].in_the_way == "spring"
    assert any(" spring " in each for each in found["again"].stops)


def test_a_list_of_which_nothing_is_taken_says_why(session: Session) -> None:
    with pytest.raises(InputError) as caught:
        run_survey(session, read_list("fleet", "old ansible_host=192.0.2.77\n"), Nobody(), Job())
    assert "line 1: " in caught.value.message
    assert "--replace" in caught.value.hint


def _read(session: Session, name: str, address: str = "127.0.0.1") -> None:
    """A server that answers to nobody, whose facts are fresh."""
    session.store.put_profile(replace(session.store.profile(name), address=address, port=1, jump=None))
    facts = {"old": old, "new": new}[name]()
    session.store.save_facts(replace(facts, taken_at=datetime.now(UTC)))


def test_a_report_ranks_moves_as_the_survey_did(session: Session) -> None:
    carried_out(session.store)
    spring = session.store.move("spring")
    for move in (replace(spring, name="again"), replace(spring, name="autumn", target="/srv/pg/16")):
        session.store.put_move(move)
    for name in ("old", "new"):
        _read(session, name)
    surveyed = run_survey(session, None, Nobody(), Job())
    reported = make_fleet_report(session, (), datetime.now(UTC))
    assert [(one.move.name, one.stops, one.moved_at) for one in reported.moves] == [
        (one.move.name, one.stops, one.moved_at) for one in surveyed.moves
    ]
    assert [one.move.name for one in make_fleet_report(session, ["autumn"], datetime.now(UTC)).moves] == ["autumn"]
    assert {each.profile.name for each in reported.servers} == {"old", "new"}


def test_a_server_that_could_not_be_read_since_leaves_its_move_unknown(session: Session) -> None:
    for name in ("old", "new"):
        _read(session, name)
    made = run_survey(session, None, Nobody(), Job(), refresh=True)
    failures = {each.server: each.failure for each in made.servers}
    assert "old: 127.0.0.1 port 1 " in failures["old"]
    reported = make_fleet_report(session, (), datetime.now(UTC))
    assert [one.unknown for one in reported.moves] == [failures["old"]]
    assert {each.profile.name for each in reported.unread} == {"old", "new"}
    for name in ("old", "new"):
        _read(session, name)
    assert make_fleet_report(session, (), datetime.now(UTC)).unread == ()


def test_a_report_on_nothing_says_so(session: Session) -> None:
    session.store.remove_move("spring")
    assert make_fleet_report(session, (), datetime.now(UTC)).moves == ()
    with pytest.raises(InputError, match="'spring'"):
        make_fleet_report(session, ["spring"], datetime.now(UTC))
    for name in ("old", "new"):
        session.store.remove_profile(name)
    with pytest.raises(InputError, match="there is no server to report on"):
        make_fleet_report(session, (), datetime.now(UTC))
