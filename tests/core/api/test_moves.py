"""Many moves: which were carried out, from here and as they are set up now, and what a report makes of all."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.api.moves import completion
from core.api.reports import make_fleet_report
from core.api.session import Session
from core.api.survey import run_survey
from core.errors import InputError
from core.history import example
from core.history.store import Store
from core.jobs import Job
from core.migration.model.execution import Kind, State
from core.migration.model.fleet import MoveState
from core.servers.lists.formats import read_list
from core.servers.profiles import Nobody
from core.this_workstation import whoami
from tests.core.migration.builders import new, old
from tests.core.migration.execution.builders import execution


def carried_out(store: Store, target: str = "", owner: str = whoami()) -> None:
    """The move, as it is set up, or into another target."""
    move, made = store.move("spring"), execution()
    plan = replace(made.plan, data_directory=move.cluster, target=target or move.target)
    store.execution_changed(store.execution_started(replace(made, plan=plan, owner=owner)), State.DONE)


def test_a_move_that_leads_elsewhere_now_is_not_over(session: Session) -> None:
    store = session.store
    carried_out(store, "/srv/other")  # an earlier pghaul let it be changed since
    assert completion(session, store.move("spring")) is None
    carried_out(store)
    assert completion(session, store.move("spring")) is not None


@pytest.mark.parametrize("owner", [whoami(), "eve@elsewhere"])
def test_an_execution_of_other_servers_does_not_count(session: Session, owner: str) -> None:
    carried_out(session.store, owner=owner)
    assert completion(session, session.store.move("spring")) is not None
    session.store.put_profiles([replace(session.store.profile("new"), address="192.0.2.99")])
    assert completion(session, session.store.move("spring")) is None  # its seal holds no more, if it has one


def test_a_move_that_somebody_else_has_carried_out_is_done_and_says_who(tmp_path: Path) -> None:
    example.lay(tmp_path)
    with Store.open(tmp_path) as store:
        made = make_fleet_report(Session(store, Nobody()), (), datetime.now(UTC))
        mine = store.own_executions(example.MOVE)
    assert not mine
    assert [(one.move.name, one.state, one.moved_by) for one in made.moves] == [
        (example.MOVE, MoveState.DONE, "dba@workstation")
    ]


def test_what_somebody_else_has_only_rehearsed_or_rolled_back_is_not_done(session: Session) -> None:
    store = session.store
    made = replace(execution(), owner="eve@elsewhere")
    plan = replace(made.plan, data_directory=store.move("spring").cluster, target=store.move("spring").target)
    for state in (State.ROLLED_BACK, State.CANCELLED, State.INTERRUPTED):
        store.execution_changed(store.execution_started(replace(made, plan=plan)), state)
        assert completion(session, store.move("spring")) is None


def test_what_somebody_else_does_later_with_a_move_of_ones_own_undoes_it(session: Session) -> None:
    """As on a history that several people share: who reads that it is done may remove the old cluster."""
    store = session.store
    plan = replace(execution().plan, data_directory=store.move("spring").cluster, target=store.move("spring").target)
    made = replace(execution(), plan=plan, owner="eve@elsewhere")
    for kind, state in ((Kind.REAL, State.ROLLED_BACK), (Kind.REAL, State.INTERRUPTED), (Kind.REHEARSAL, State.DONE)):
        carried_out(store)
        assert completion(session, store.move("spring")) is not None
        store.execution_changed(store.execution_started(replace(made, kind=kind)), state)
        assert completion(session, store.move("spring")) is None
    carried_out(store)
    assert completion(session, store.move("spring")) is not None


@pytest.mark.parametrize("owner", ["", " ", whoami()])
def test_what_is_not_signed_and_names_nobody_else_does_not_count(session: Session, owner: str) -> None:
    store = session.store
    plan = replace(execution().plan, data_directory=store.move("spring").cluster, target=store.move("spring").target)
    number = store.execution_started(replace(execution(), plan=plan, owner=owner))
    store.execution_changed(number, State.DONE)
    store.put_profiles([replace(store.profile("new"), address="192.0.2.99")])  # its signature holds no more
    assert number not in store.own_executions("spring")
    assert completion(session, store.move("spring")) is None


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
