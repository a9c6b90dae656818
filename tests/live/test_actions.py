"""The session on real servers: which connection an action gets."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.api.benchmarks import forecast_benchmarks
from core.api.checks import run_checks
from core.api.facts import read_facts
from core.api.migration import make_estimate, plan_move
from core.api.session import Session
from core.errors import InputError
from core.facts.model import Tool
from core.history.store import Store
from core.jobs import Event, Job, Note
from core.migration.model.checks import Status
from core.migration.model.move import Move
from core.migration.model.plan import PlanWarning
from core.servers.profiles import Profile
from core.servers.shell import command
from core.sides import Side
from tests.lab import clusters
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.lab.machine import wait_until

pytestmark = pytest.mark.lab
MOVE = Move("m", "old", "new", clusters.DATA, clusters.NEW_DATA, "/srv/pg", "/srv/pg")


@pytest.fixture
def session(tmp_path: Path, asker: LabAsker, old_profile: Profile, new_profile: Profile) -> Iterator[Session]:
    with Store.open(tmp_path) as store, Session(store, asker) as made:
        store.add_profile(old_profile)
        store.add_profile(new_profile)
        store.add_move(MOVE)
        yield made


def test_a_connection_stays_open_for_the_next_action(session: Session) -> None:
    assert session.server("old", Job()) is session.server("old", Job())


def test_a_changed_profile_does_not_cut_off_who_still_works(session: Session, old_profile: Profile) -> None:
    working = session.server("old", Job())
    session.store.update_profile(replace(old_profile, database_user="somebody"))
    assert session.server("old", Job()).profile.database_user == "somebody"
    assert working.run(command("echo", "on"), Job()).stdout == "on\n"
    session.close()
    assert not working.connected


def test_a_lost_connection_is_made_anew(session: Session) -> None:
    lost = session.server("old", Job())
    lost.close()
    again = session.server("old", Job())
    assert again is not lost
    assert again.connected


def test_a_folder_that_the_move_will_make_is_measured_where_it_will_lie(session: Session) -> None:
    """A Debian cluster was dropped on new, and its folder with it; any other folder that is not there is a mistake."""
    session.store.update_move(replace(MOVE, target="/srv/pg/made/main", new_volume="/srv/pg/made"))
    told: list[Event] = []
    (found,) = forecast_benchmarks(session, "m", "quick", Job(told.append), [Side.NEW])
    assert (found.volume.mount_point, found.volume.folder, found.problems) == ("/srv/pg/made", "/srv/pg", ())
    assert any(isinstance(each, Note) and "/srv/pg/made does not exist on new yet" in each.text for each in told)
    with pytest.raises(InputError, match="/srv/pg/mode on new"):
        forecast_benchmarks(session, "m", "quick", Job(), [Side.NEW], ["new:/srv/pg/mode"])


def test_a_plan_is_made_of_the_facts_that_it_warns_of(session: Session) -> None:
    """Checks that were passed do not hide what later facts show; the trial cluster is not forgotten by a later pass."""
    results = {result.id: result.status for result in run_checks(session, "m", Job())}
    assert results["control-data"] is Status.PASS
    assert len(session.store.facts_history("new")) == 1
    later = read_facts(session, "new", Job())
    assert [trial.found_by for trial in later.trials] == [("initdb",)]
    assert not any("initdb" in each.found_by for each in later.clusters)
    assert not any("binaries" in str(warning) for warning in plan_move(session, "m", Job()).warnings)
    without = replace(later, taken_at=datetime.now(UTC), tools=tuple(t for t in later.tools if t.name != "rsync"))
    session.store.save_facts(replace(without, tools=(*without.tools, Tool("rsync", None, None))))
    found = [each for each in plan_move(session, "m", Job()).warnings if isinstance(each, PlanWarning)]
    assert [each.status for each in found if each.check == "rsync"] == [Status.BLOCKER]


@pytest.mark.long
def test_a_port_that_is_taken_on_new_is_named_with_who_has_it(session: Session, lab: Lab) -> None:
    found = read_facts(session, "old", Job()).cluster(MOVE.cluster)
    assert found is not None
    held = f"import socket,time; s = socket.create_server(('127.0.0.1', {found.port})); time.sleep(60)"
    program = lab.new.exec("sh", "-c", 'nohup python3 -c "$1" >/dev/null 2>&1 & echo $!', "sh", held).stdout.strip()
    listening = f"ss -ltn | grep -q ':{found.port} '"
    wait_until(lambda: lab.new.exec("sh", "-c", listening, check=False).returncode == 0, "it listens")
    (taken,) = (each for each in run_checks(session, "m", Job()) if each.id == "port-free")
    assert taken.status is Status.BLOCKER
    assert f"127.0.0.1 (python3, PID {program})" in taken.message
    lab.new.exec("kill", program)
    (free,) = (each for each in run_checks(session, "m", Job()) if each.id == "port-free")
    assert free.status is Status.PASS


def test_facts_without_the_cluster_are_read_again(session: Session) -> None:
    facts = read_facts(session, "old", Job())
    session.store.save_facts(replace(facts, taken_at=datetime.now(UTC), clusters=()))
    notes: list[Event] = []
    assert make_estimate(session, "m", Job(notes.append)).methods
    assert any(isinstance(each, Note) and f" {MOVE.cluster} on old" in each.text for each in notes)
    known = session.store.facts("old")
    assert known is not None
    assert known.cluster(MOVE.cluster) is not None


@pytest.mark.long
def test_two_profiles_of_one_host_are_told(session: Session, old_profile: Profile) -> None:
    """The lab's hosts share this machine's kernel and its ids: old and new are two hosts, old and twin are one."""
    session.store.add_profile(replace(old_profile, name="twin"))
    session.store.add_move(replace(MOVE, name="itself", new="twin", target=MOVE.cluster))
    results = {result.id: result for result in run_checks(session, "itself", Job())}
    for name in ("two-places", "target-identity"):
        assert (results[name].status, results[name].blocking) == (Status.BLOCKER, True)
        assert "the same host" in results[name].message
    apart = {result.id: result for result in run_checks(session, "m", Job())}["two-places"]
    assert apart.status is Status.PASS
    assert apart.old.partition("boot ")[2].split(",")[0] == apart.new.partition("boot ")[2].split(",")[0] != ""
