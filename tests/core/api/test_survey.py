"""A survey by facts that the history holds: which of them do, and what becomes of a move that is under way."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.api.migration import check_and_estimate
from core.api.session import Session
from core.api.survey import Survey, run_survey
from core.api.waivers import waive_check
from core.facts.model import Facts
from core.jobs import Job
from core.migration.model.checks import Status
from core.servers.lists.formats import read_list
from core.servers.profiles import Nobody
from tests.core.migration.builders import new, old, space
from tests.core.migration.execution.builders import execution


@pytest.fixture(autouse=True)
def _unreachable(session: Session) -> None:
    for name in ("old", "new"):
        session.store.put_profile(replace(session.store.profile(name), address="127.0.0.1", port=1, jump=None))


def surveyed(session: Session, on_old: Facts, on_new: Facts) -> Survey:
    for facts in (on_old, on_new):
        session.store.save_facts(replace(facts, taken_at=datetime.now(UTC)))
    return run_survey(session, None, Nobody(), Job())


def asked(made: Survey) -> list[str]:
    return [each.server for each in made.servers if each.asked]


def test_facts_of_new_are_fresh_where_they_say_what_lies_in_the_target(session: Session) -> None:
    assert asked(surveyed(session, old(), new())) == []
    assert asked(surveyed(session, old(), new(gaps=()))) == ["new"]


def test_facts_of_new_are_fresh_where_they_know_the_target_of_each_tablespace(session: Session) -> None:
    (cluster,) = old().clusters
    holding = old(replace(cluster, tablespaces=(space("/space"),)))
    assert asked(surveyed(session, holding, new(target_entries={"/space": ()}))) == []
    assert asked(surveyed(session, holding, new(target_entries={}))) == ["new"]


def test_a_move_that_is_under_way_is_a_row_that_says_so(session: Session) -> None:
    session.store.execution_started(replace(execution(), move="spring"))
    (move,) = surveyed(session, old(), new()).moves
    assert re.search(r"\bexecution 1\b.*\brunning\b", move.unknown)
    assert session.store.checks("spring") is None


def test_replacing_looks_for_the_cluster_that_the_list_names(session: Session) -> None:
    for facts in (old(), new()):
        session.store.save_facts(replace(facts, taken_at=datetime.now(UTC)))
    rows = "name,address,port,new,cluster,target,move\nold,127.0.0.1,1,new,/elsewhere,,spring\nnew,127.0.0.1,1,,,,\n"
    made = run_survey(session, read_list("fleet", rows), Nobody(), Job(), replacing=True)
    assert asked(made) == ["old", "new"]


def test_a_warning_that_was_waived_bears_its_waiver(session: Session) -> None:
    move = session.store.move("spring")
    (cluster,) = old().clusters
    archiving = old(replace(cluster, settings=cluster.settings | {"archive_mode": "on"}))
    results, _ = check_and_estimate(session, move, archiving, new())
    warning = next(each for each in results if each.status is Status.WARNING)
    waive_check(session, "spring", warning.id, "it is known")
    again, _ = check_and_estimate(session, move, archiving, new())
    assert next(each for each in again if each.id == warning.id).waiver is not None
