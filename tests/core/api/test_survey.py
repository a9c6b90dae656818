"""A survey by facts that the history holds: which of them do, and what becomes of a move that is under way."""

import json
import re
import sqlite3
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.api.checks import waive_check
from core.api.migration import check_and_estimate
from core.api.reports import make_fleet_report
from core.api.session import Session
from core.api.survey import Survey, import_list, load_list, run_survey
from core.cli.main import main
from core.errors import Cancelled, HistoryError, InputError
from core.facts.model import Facts
from core.jobs import Event, Job, Note, ServerState
from core.language import spoken
from core.migration.model.checks import Status
from core.migration.model.fleet import MoveState
from core.migration.model.move import Move
from core.reports.recorded import is_known, recorded
from core.servers.lists.formats import read_list
from core.servers.lists.model import Listed, ServerList, WantedMove
from core.servers.profiles import Nobody, Profile
from tests.core.migration.builders import new, old, space
from tests.core.migration.execution.builders import execution


@pytest.fixture(autouse=True)
def _unreachable(session: Session) -> None:
    for number, name in enumerate(("old", "new"), 1):
        session.store.put_profile(replace(session.store.profile(name), address=f"127.0.0.{number}", port=1, jump=None))


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
    rows = "name,address,port,new,cluster,target,move\nold,127.0.0.1,1,new,/elsewhere,,spring\nnew,127.0.0.2,1,,,,\n"
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


HEAD = "name,address,new,cluster\n"


def imported(
    folder: Path, rows: str, capsys: pytest.CaptureFixture[str], *words: str, head: str = HEAD
) -> tuple[int, dict[str, list]]:  # type: ignore[type-arg]
    path = folder / "fleet.csv"
    path.write_text(head + rows)
    code = main(["server", "import", str(path), "--json", *words])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_a_list_is_taken_once_and_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "db1,192.0.2.1,new1,/srv/pg\nnew1,192.0.2.2,,\n"
    code, first = imported(tmp_path, rows, capsys)
    assert (code, first["added"], first["moves"]) == (0, ["db1", "new1"], ["db1/srv/pg"])
    code, again = imported(tmp_path, rows, capsys)
    assert (code, again["added"], again["kept"], again["moves"]) == (0, [], ["db1", "new1"], ["db1/srv/pg"])
    assert main(["move", "show", "db1/srv/pg"]) == 0
    assert ": /srv on db1, /srv on new1" in capsys.readouterr().out


def test_what_is_known_otherwise_stays_unless_it_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(tmp_path, "db1,192.0.2.1,new1,/srv/pg\nnew1,192.0.2.2,,\nnew2,192.0.2.4,,\n", capsys)
    rows = "db1,192.0.2.1,new2,/srv/pg\nnew1,192.0.2.3,,\n"
    code, found = imported(tmp_path, rows, capsys)
    assert code == 1
    assert [(each["place"], each["name"]) for each in found["refused"]] == [("line 3", "new1"), ("line 2", "db1")]
    assert all("--replace" in each["hint"] for each in found["refused"])
    code, found = imported(tmp_path, rows, capsys, "--replace")
    assert (code, found["changed"], found["moves"]) == (0, ["new1"], ["db1/srv/pg"])
    assert main(["move", "list", "--json"]) == 0
    assert [each["new"] for each in json.loads(capsys.readouterr().out)["moves"]] == ["new2"]


def test_what_a_list_does_not_say_of_a_move_is_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    servers = "new1,192.0.2.2,,,\nnew2,192.0.2.4,,,\n"
    head = "name,address,new,cluster,target\n"
    imported(tmp_path, f"db1,192.0.2.1,new1,/srv/pg,\n{servers}", capsys, head=head)
    move = "move", "add", "db1/srv/pg", "--old", "db1", "--new", "new1", "--cluster", "/srv/pg"
    assert main([*move, "--tablespace", "/a=/b", "--allow-unencrypted", "--edited", "file", "--replace"]) == 0
    capsys.readouterr()
    rows = f"db1,192.0.2.1,new1,/srv/pg,/srv/pg2\n{servers}"
    assert imported(tmp_path, rows, capsys, "--replace", head=head)[0] == 0
    assert main(["move", "list", "--json"]) == 0
    (kept,) = json.loads(capsys.readouterr().out)["moves"]
    assert (kept["target"], kept["tablespace_targets"], kept["plain_text"]) == ("/srv/pg2", {"/a": "/b"}, True)
    assert kept["edited"] == "file"
    for row, lost in (("new2,/srv/pg,", "without encryption between"), ("new1,/srv/x,", "for another cluster")):
        named = f"{head.strip()},move\n"
        rows = f"db1,192.0.2.1,{row},db1/srv/pg\n"
        code, found = imported(tmp_path, rows, capsys, "--replace", head=named)
        assert code == 1
        assert lost in found["refused"][0]["reason"]


def test_a_row_that_the_history_cannot_hold_is_no_end_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = f'"db\n1",192.0.2.1,,\n{"x" * 101},192.0.2.1,,\ndb2,192.0.2.2,nobody,/srv/pg\n'
    code, found = imported(tmp_path, rows, capsys)
    assert (code, found["added"], found["moves"]) == (1, ["db2"], [])
    reasons = [each["reason"] for each in found["refused"]]
    assert "U+000A" in reasons[0]
    assert " 101 " in reasons[1]
    assert "'nobody'" in reasons[2]


def test_for_people_and_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fleet"
    path.write_text("db1\n$(x)\n")
    assert main(["server", "import", str(path)]) == 1
    said = capsys.readouterr().out
    assert "servers: 1 added" in said
    assert ": 1\n" in said
    assert "'$(x)'" in said
    assert main(["server", "import", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_the_state_of_each_server_is_reported_on_the_thread_of_the_job(session: Session) -> None:
    told: list[tuple[str, str, int]] = []
    results: list[object] = []

    def listen(event: Event) -> None:
        if isinstance(event, ServerState):
            told.append((event.server, event.state, threading.get_ident()))
            results.append(event.result)

    made = run_survey(session, None, Nobody(), Job(listen), at_once=1)
    assert [each.server for each in made.servers if each.failure] == ["new", "old"]
    here = threading.get_ident()
    waiting = [(name, "waiting", here) for name in ("new", "old")]
    # the old server is read first
    assert told == [*waiting, *((name, state, here) for name in ("old", "new") for state in ("running", "done"))]
    assert [each for each in results if each is not None] == [*made.servers][::-1]


def test_the_note_on_each_server_is_german_in_a_german_window(session: Session) -> None:
    notes: list[str] = []
    for facts in (old(), new(gaps=())):
        session.store.save_facts(replace(facts, taken_at=datetime.now(UTC)))
    job = Job(lambda event: notes.append(event.text) if isinstance(event, Note) else None)
    run_survey(session, None, Nobody(), job)
    with spoken("de"):
        said = [recorded(note) for note in notes]
    assert said == ["old: 1 Cluster, früher gelesen", "new: 127.0.0.2 Port 1 lehnt die Verbindung ab"]


def test_a_survey_that_is_continued_reads_what_was_not_read_since_it_began(session: Session) -> None:
    now = datetime.now(UTC)
    session.store.save_facts(replace(old(), taken_at=now))
    session.store.save_facts(replace(new(), taken_at=now - timedelta(minutes=5)))
    for since, expected in ((None, ["new", "old"]), (now - timedelta(minutes=1), ["new"])):
        assert asked(run_survey(session, None, Nobody(), Job(), refresh=True, since=since)) == expected


def test_a_cancel_ends_a_survey_whose_servers_were_all_read_recently(session: Session) -> None:
    for facts in (old(), new()):
        session.store.save_facts(replace(facts, taken_at=datetime.now(UTC)))
    done: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, ServerState) and event.state == "done":
            done.append(event.server)
            job.cancel()

    job = Job(listen)
    with pytest.raises(Cancelled):
        run_survey(session, None, Nobody(), job)
    assert done == ["old"]


def test_a_cancel_ends_the_import_of_the_moves(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "old,127.0.0.1,1,new,/a\nold,127.0.0.1,1,new,/b\nnew,127.0.0.2,1,,\n"
    found = read_list("fleet", f"name,address,port,new,cluster\n{rows}")
    job, put = Job(), session.store.put_move

    def put_and_cancel(move: Move) -> None:
        put(move)
        job.cancel()

    monkeypatch.setattr(session.store, "put_move", put_and_cancel)
    with pytest.raises(Cancelled):
        run_survey(session, found, Nobody(), job, replacing=True)
    assert {move.name for move in session.store.moves()} == {"spring", "old/a"}


def test_a_survey_of_thousands_of_moves_begins_soon(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"db{number}" for number in range(8000)]
    rows = [f"{name},192.0.2.1,new,/srv/{name}" for name in names]
    found = read_list("fleet", "\n".join([HEAD.strip(), *rows, "new,192.0.2.2,,"]))
    monkeypatch.setattr(session.store, "put_profiles", lambda _profiles: None)
    monkeypatch.setattr(session.store, "profiles", lambda: found.profiles)

    def stop(_event: Event) -> None:
        raise Cancelled

    begun = time.monotonic()
    with pytest.raises(Cancelled):
        run_survey(session, found, Nobody(), Job(stop))
    assert time.monotonic() - begun < 1.0


def test_a_server_that_is_removed_during_a_survey_is_a_row_with_that_reason(session: Session) -> None:
    session.store.add_profile(Profile("gone", "127.0.0.1", port=1))

    def listen(event: Event) -> None:
        if isinstance(event, ServerState) and (event.server, event.state) == ("gone", "waiting"):
            session.store.remove_profile("gone")

    made = run_survey(session, None, Nobody(), Job(listen))
    assert [each.server for each in made.servers] == ["gone", "new", "old"]
    assert "'gone'" in made.servers[0].failure


def test_a_list_is_loaded_and_nothing_is_imported(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = session.store.profiles()
    path = tmp_path / "fleet.csv"
    path.write_text("name,address,new,cluster\ndb1,192.0.2.1,new1,/srv/pg\n,$(x),,\n")
    found = load_list(path)
    assert [each.profile.name for each in found.listed] == ["db1"]
    assert [each.place for each in found.refused] == ["line 3"]
    config = tmp_path / "config"
    config.write_text("Host one two *.lan\n  User dba\n")
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))
    assert [each.name for each in load_list(None).profiles] == ["one", "two"]
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", "none")
    with pytest.raises(InputError):
        load_list(None)
    assert session.store.profiles() == known


def test_a_valid_move_that_was_never_checked_is_possible_and_names_the_checks_to_run_first(session: Session) -> None:
    made = surveyed(session, old(), new(trials=(), trial_start=None))
    (move,) = made.moves
    assert (move.state, move.stops) == (MoveState.READY, ())
    assert move.pending
    assert made.clean
    (reported,) = make_fleet_report(session, (), datetime.now(UTC)).moves
    assert (reported.state, reported.stops, reported.pending) == (move.state, move.stops, move.pending)
    recorded = session.store.checks("spring") or ()
    assert {each.title for each in recorded if each.pending} == set(move.pending)
    (checked,) = surveyed(session, old(), new()).moves
    assert (checked.state, checked.pending) == (MoveState.READY, ())


@pytest.mark.parametrize("error", [RuntimeError("unforeseen"), HistoryError("the facts 1 cannot be read", "repair it")])
def test_an_error_that_one_server_brings_about_is_its_row_and_ends_no_survey(
    session: Session, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    for facts in (old(), new()):
        session.store.save_facts(replace(facts, taken_at=datetime.now(UTC)))
    known, bugs = session.store.facts, list[threading.ExceptHookArgs]()

    def read(server: str) -> Facts | None:
        if server == "old" and (isinstance(error, HistoryError) or threading.current_thread() is not here):
            raise error
        return known(server)

    here = threading.current_thread()
    monkeypatch.setattr(session.store, "facts", read)
    monkeypatch.setattr(threading, "excepthook", bugs.append)
    made = run_survey(session, None, Nobody(), Job())
    failures = {each.server: each.failure for each in made.servers}
    assert failures["new"] == ""
    assert failures["old"] == (error.message if isinstance(error, HistoryError) else session.store.unread()["old"][1])
    assert [found.exc_value for found in bugs] == ([] if isinstance(error, HistoryError) else [error])
    assert [(move.state, move.unknown) for move in made.moves] == [(MoveState.UNKNOWN, failures["old"])]
    assert all(each.hint for each in made.servers if each.failure)
    if bugs:
        assert "RuntimeError" in failures["old"]
        with spoken("de"):
            assert is_known(failures["old"])


def test_a_cancel_during_a_bug_ends_the_survey(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job()

    def fail(_server: str) -> Facts | None:
        job.cancel()
        raise RuntimeError

    monkeypatch.setattr(session.store, "facts", fail)
    with pytest.raises(Cancelled):
        run_survey(session, None, Nobody(), job)
    assert session.store.unread() == {}


ONE_MACHINE = "name,address,port,new,cluster\ntwin,{address},1,new,/srv/pg\n"


def test_a_list_whose_new_server_is_known_under_another_name_is_refused(session: Session) -> None:
    address = session.store.profile("new").address
    taken = import_list(session, read_list("fleet", ONE_MACHINE.format(address=address)))
    assert [(each.place, each.name) for each in taken.refused] == [("line 2", "twin")]
    assert (taken.added, taken.moves) == (("twin",), ())


def test_a_move_between_two_addresses_of_one_machine_is_refused_once_it_was_read(session: Session) -> None:
    found = read_list("fleet", ONE_MACHINE.format(address="127.0.0.3"))
    assert import_list(session, found).moves == ("twin/srv/pg",)
    session.store.remove_move("twin/srv/pg")
    there = replace(new(), taken_at=datetime.now(UTC))
    assert there.system is not None
    there = replace(there, system=replace(there.system, boot_id="b"))
    for server in ("new", "twin"):
        session.store.save_facts(replace(there, server=server))
    (refused,) = import_list(session, found).refused
    assert "twin" in refused.reason
    assert {move.name for move in session.store.moves()} == {"spring"}
    with spoken("de"):
        assert is_known(refused.reason)
        assert is_known(refused.hint)


@pytest.fixture
def of_a_list(session: Session) -> ServerList:
    """A list whose move is in the history already, as `spring`."""
    move = session.store.move("spring")
    wanted = WantedMove(f"old{move.cluster}", move.new, move.cluster, move.target)
    return ServerList((Listed("line 2", session.store.profile("old"), wanted),), ())


def _called_as_before(session: Session) -> None:
    """Call the move as moves of lists were called by older versions."""
    name = "old:" + session.store.move("spring").cluster
    with sqlite3.connect(session.store.path) as connection:
        connection.execute("UPDATE moves SET name = ?", (name,))
    connection.close()
    assert [move.name for move in session.store.moves()] == [name]


@pytest.mark.parametrize("replacing", [False, True])
@pytest.mark.parametrize("former", [False, True])
def test_a_move_is_known_by_what_it_is(
    session: Session, of_a_list: ServerList, *, former: bool, replacing: bool
) -> None:
    """Whatever it is called: as older versions called it, or as a person has renamed it."""
    if former:
        _called_as_before(session)
    before = session.store.moves()
    taken = import_list(session, of_a_list, replacing=replacing)
    assert (taken.refused, taken.moves) == ((), tuple(move.name for move in before))
    assert session.store.moves() == before
    session.store.update_profile(replace(session.store.profile("old"), name="renamed"), "old")
    (entry,) = of_a_list.listed
    assert entry.move is not None
    profile = session.store.profile("renamed")
    of_renamed = replace(entry.move, name=f"renamed{entry.move.cluster}")
    again = ServerList((replace(entry, profile=profile, move=of_renamed),), ())
    assert import_list(session, again, replacing=replacing).moves == tuple(move.name for move in before)
    assert len(session.store.moves()) == 1


def test_another_target_of_a_move_that_was_called_as_before_is_refused_unless_it_is_replaced(
    session: Session, of_a_list: ServerList
) -> None:
    _called_as_before(session)
    (before,) = session.store.moves()
    (entry,) = of_a_list.listed
    assert entry.move is not None
    other = ServerList((replace(entry, move=replace(entry.move, target="/srv/other")),), ())
    (refused,) = import_list(session, other).refused
    assert before.name in refused.reason
    assert session.store.moves() == (before,)
    assert [each.move for each in run_survey(session, other, Nobody(), Job()).moves] == [before]
    assert import_list(session, other, replacing=True).moves == (entry.move.name,)
    (moved,) = session.store.moves()
    assert (moved.name, moved.target) == (entry.move.name, "/srv/other")


def test_a_list_with_a_name_or_with_another_target_means_another_move(session: Session, of_a_list: ServerList) -> None:
    (entry,) = of_a_list.listed
    assert entry.move is not None
    for other in (replace(entry.move, name="autumn"), replace(entry.move, target="/srv/other")):
        assert import_list(session, ServerList((replace(entry, move=other),), ())).moves == (other.name,)
    assert {move.name for move in session.store.moves()} == {"spring", "autumn", entry.move.name}
