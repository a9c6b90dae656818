"""A survey of many servers: what came of each, nothing left on them, and how it goes on where it was broken off."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.api import survey as actions
from core.api.reports import make_fleet_report
from core.api.session import Session
from core.api.survey import SurveyedServer
from core.cli.main import main
from core.errors import Cancelled
from core.history.store import Store
from core.jobs import Event, Job, Note
from core.language import spoken
from core.reports.recorded import is_known
from core.servers.lists.formats import read_list
from core.servers.lists.model import ServerList
from core.servers.profiles import Nobody
from tests.figures import figures
from tests.lab.clusters import PREFIX
from tests.lab.fleet import addresses
from tests.lab.lab import Lab

pytestmark = pytest.mark.lab

COUNT = 8
CLUSTERS = [f"/srv/pg/five/{number}" for number in range(1, 5)]
SHELL = "$(touch /tmp/surveyed) ;'"
HEAD = "name,address,user,port,rights,new,cluster,target"


@pytest.fixture(scope="module")
def fleet(lab: Lab) -> Iterator[tuple[str, ...]]:
    with addresses(lab.old, COUNT) as made:
        yield made


@pytest.fixture(autouse=True)
def _configured(lab: Lab, fleet: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address shows old's key, but for the last two: of one another is known, of the other none."""
    changed, unknown = fleet[-2:]
    config = tmp_path / "config"
    config.write_text(
        f"Host {changed}\n  HostKeyAlias new\nHost {unknown}\n  HostKeyAlias stranger\n"
        f"Host {fleet[0].rpartition('.')[0]}.1??\n  HostKeyAlias old\n"
        f"Match user keyless\n  IdentityFile /nonexistent\n"
        f"Match !user keyless\n  IdentityFile {lab.key}\n"
        f"Host *\n  User {lab.old.user}\n  IdentitiesOnly yes\n  UserKnownHostsFile {lab.known_hosts}\n"
        "  GlobalKnownHostsFile /dev/null\n"
    )
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Store.open(tmp_path / "history") as store, Session(store, Nobody()) as made:
        yield made


def listed(*rows: str) -> ServerList:
    return read_list("fleet.csv", "\n".join([HEAD, *rows]))


def by_name(made: actions.Survey) -> dict[str, SurveyedServer]:
    return {each.server: each for each in made.servers}


@pytest.mark.usefixtures("clean_hosts")
def test_each_server_is_a_row_of_its_own_whatever_becomes_of_it(
    lab: Lab, fleet: tuple[str, ...], session: Session
) -> None:
    lab.old.exec("rm", "-f", "/tmp/surveyed")
    rows = [
        f"good,{fleet[0]},,,,new,/srv/pg/data,/srv/pg/15/good",
        f'"{SHELL}",{fleet[1]},,,,new,/srv/pg/data,/srv/pg/15/shell',
        f"closed,{fleet[2]},,9,,new,/srv/pg/data,",
        f"keyless,{fleet[3]},keyless,,,new,/srv/pg/data,",
        f"asking,{fleet[4]},plain,,sudo-password,,,",
        f"gone,{fleet[5]},,,,new,/srv/nowhere,",
        f"changed,{fleet[6]},,,,new,/srv/pg/data,",
        f"unknown,{fleet[7]},,,,,,",
        "nameless,no-such-host.invalid,,,,,,",
        f"new,{lab.new.address},,,,,,",
    ]
    made = actions.run_survey(session, listed(*rows), Nobody(), Job())
    found = by_name(made)
    failures = {name: each.failure for name, each in found.items() if each.failure}
    assert sorted(failures) == ["changed", "closed", "keyless", "nameless", "unknown"]
    assert "has changed" in failures["changed"]
    assert "is not known" in failures["unknown"]
    assert "refused the login of keyless" in failures["keyless"]
    assert all(found[name].hint for name in failures)
    assert [each.data_directory for each in found["good"].clusters] == ["/srv/pg/data"]
    assert found[SHELL].clusters == found["good"].clusters
    assert found["asking"].taken_at is not None  # what needs no password is known
    assert found["new"].clusters == ()  # a server without a cluster is none that failed
    moves = {each.move.old: each for each in made.moves}
    assert not moves["good"].unknown
    assert moves["good"].method
    assert moves["good"].size_bytes
    assert moves["closed"].unknown == failures["closed"]
    assert "/srv/nowhere" in moves["gone"].unknown
    assert [each.move.old for each in made.moves[:2]] == [SHELL, "good"]
    assert session.store.checks("good/srv/pg/data") is not None
    assert session.store.estimate("good/srv/pg/data") is not None
    assert session.store.unread().keys() == failures.keys()
    report = make_fleet_report(session, (), datetime.now(UTC))
    assert [one.move.name for one in report.moves] == [one.move.name for one in made.moves]
    assert {each.profile.name for each in report.unread} == failures.keys()
    with spoken("de"):
        assert [one.unknown for one in report.moves if not is_known(one.unknown)] == []
    assert lab.old.exec("ls", "/tmp/surveyed", check=False).returncode != 0


@pytest.mark.long
def test_five_clusters_of_one_server_are_five_moves(lab: Lab, fleet: tuple[str, ...], session: Session) -> None:
    try:
        for folder in CLUSTERS:
            lab.old.exec("install", "-d", "-o", "postgres", "-m", "700", folder)
            lab.old.exec(f"{PREFIX}/bin/initdb", "-N", "-D", folder, user="postgres")
        rows = [f"one,{fleet[0]},,,,new,{folder}," for folder in ["/srv/pg/data", *CLUSTERS]]
        made = actions.run_survey(session, listed(*rows, f"new,{lab.new.address},,,,,,"), Nobody(), Job())
    finally:
        lab.old.exec("rm", "-rf", "/srv/pg/five")
    assert [len(each.clusters) for each in made.servers] == [5, 0]
    assert {each.move.cluster for each in made.moves} == {"/srv/pg/data", *CLUSTERS}
    assert [each.unknown for each in made.moves] == [""] * 5


@pytest.mark.long
def test_a_survey_that_was_broken_off_goes_on_where_it_was(fleet: tuple[str, ...], session: Session) -> None:
    found = listed(*(f"db{number},{address},,,,,," for number, address in enumerate(fleet[:6])))
    read: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Note):
            read.append(event.text)
            if len(read) == 2:
                job.cancel()

    job = Job(listen)
    with pytest.raises(Cancelled):
        actions.run_survey(session, found, Nobody(), job, at_once=1)
    kept = [name for name in (f"db{number}" for number in range(6)) if session.store.facts(name) is not None]
    assert 2 <= len(kept) < 6
    assert session.store.unread() == {}  # to be cancelled is no failure
    again = actions.run_survey(session, found, Nobody(), Job())
    assert [each.server for each in again.servers if not each.asked] == kept
    assert not any(each.failure for each in again.servers)
    anew = actions.run_survey(session, found, Nobody(), Job(), refresh=True)
    assert all(each.asked for each in anew.servers)


def test_the_command_asks_nobody_and_takes_a_key_that_is_named(
    fleet: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text(f"name,address\nstranger,{fleet[7]}\n")
    assert main(["survey", str(path), "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["servers"]
    key = row["hint"].rpartition("--host-key ")[2]
    assert main(["survey", "--host-key", key]) == 0
    said = capsys.readouterr().out
    assert any(figures(line)[:2] == ["1", "0"] for line in said.splitlines())  # servers, and of them not read
    assert "/srv/pg/data" in said
