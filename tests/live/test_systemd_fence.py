"""The fence against a service manager: units started by hand, hosts restarted or without power, on both sides."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import BlockedError
from core.facts.collect import collect
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.rollback import roll_back
from core.migration.model import step_ids
from core.migration.model.move import Hook, Move
from core.migration.model.plan import Step
from core.servers.connection import Server, connect
from tests.lab import lab as labs
from tests.lab.fixtures import LabAsker, profile
from tests.lab.hosts import Host, Kind
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable
from tests.lab.systemd import systemd_unavailable
from tests.live.moving import Moving, Person

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(900)]

UNIT = "postgresql@15-main.service"
DATA = "/srv/pg/15/main"
MOVE = Move("units", "old", "new", DATA, DATA, "/srv/pg", "/srv/pg")


@pytest.fixture(scope="module")
def hosts() -> Iterator[Lab]:
    """Two hosts with systemd, with a cluster of Debian's on old; new knows one of that name, whose folder is empty."""
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("fenced", kind=Kind.SYSTEMD, size="1G") as made:
        made.old.exec("pg_createcluster", "15", "main", "--datadir", DATA, "--start")
        made.old.exec("psql", "-Xq", "-c", "create table kept as select generate_series(1, 1000)", user="postgres")
        made.new.exec("pg_createcluster", "15", "main", "--datadir", DATA)
        made.new.exec("sh", "-c", f"rm -rf {DATA}")
        yield made


@pytest.fixture
def move(hosts: Lab, tmp_path: Path) -> Iterator[Moving]:
    asker, lines = LabAsker(hosts.known_hosts), dict[str, Server]()
    profiles = {"old": profile(hosts, hosts.old), "new": profile(hosts, hosts.new)}

    def reach(side: str) -> Server:
        """A connection that lived through a restart is none."""
        if side not in lines or not lines[side].connected:
            lines[side] = connect(profiles[side], asker, Job())
        return lines[side]

    facts = collect(reach("old"), Job(), folders=[DATA]), collect(reach("new"), Job())
    with Store.open(tmp_path) as store:
        for each in profiles.values():
            store.add_profile(each)
        store.add_move(MOVE)
        yield Moving(store, reach, facts, move=MOVE)
    for line in lines.values():
        line.close()


class Undecided(Person):
    """Declines a step."""

    until: str = step_ids.DECIDE

    def confirm_manual_step(self, step: Step) -> bool:
        return step.id != self.until


def stopped_at(move: Moving, number: int, name: str) -> None:
    person = Undecided(name="15/main")
    person.until = name
    with pytest.raises(BlockedError, match=move.about(number, name)):
        move.runner(number, person).carry_out()


def stays_down(host: Host, again: Callable[[str], None]) -> None:
    """Whatever starts the cluster on that host, also with the host."""
    for words in (("systemctl", "start", UNIT), ("pg_ctlcluster", "15", "main", "start")):
        assert host.exec(*words, check=False).returncode != 0, words
        host.exec("systemctl", "reset-failed", UNIT, check=False)
    again(host.name)


def active(host: Host) -> bool:
    running = host.exec("sh", "-c", f"test -e {DATA}/postmaster.pid && pgrep -x postgres", check=False)
    return running.returncode == 0


def rows(host: Host) -> str:
    return host.exec("psql", "-XAtq", "-c", "select count(*) from kept", user="postgres").stdout.strip()


def test_no_unit_and_no_boot_starts_what_is_fenced(hosts: Lab, move: Moving) -> None:
    number = move.begin()
    stopped_at(move, number, Hook.STOP_APPLICATIONS)  # behind the warm passes: a half copy lies on new
    stays_down(hosts.new, hosts.restart)
    assert not active(hosts.new)
    stopped_at(move, number, step_ids.DECIDE)
    stays_down(hosts.old, hosts.restart)
    assert not active(hosts.old)
    assert active(hosts.new)
    hosts.cut_power("new")  # nobody has decided
    hosts.boot("new")
    assert not active(hosts.new)
    stays_down(hosts.new, hosts.restart)
    roll_back(move.runner(number))
    assert (rows(hosts.old), active(hosts.new)) == ("1000", False)
    stays_down(hosts.new, hosts.restart)
    hosts.restart("old")
    assert rows(hosts.old) == "1000"
    assert not active(hosts.new)
