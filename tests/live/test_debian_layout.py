"""A move of a cluster of Debian's own layout, and back: the host with Debian's binaries is old here, the other new."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import BlockedError, CommandError
from core.facts.collect import collect
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.rollback import roll_back
from core.migration.model import step_ids
from core.migration.model.execution import State
from core.migration.model.move import Move
from core.migration.model.plan import Step
from core.migration.probing.trial_start import with_trial_start
from core.servers.connection import Server
from core.servers.profiles import Profile
from tests.lab.clusters import PREFIX
from tests.lab.footprint import differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live.moving import Moving, Person

pytestmark = pytest.mark.lab

BIN = f"{PREFIX}/bin"

DATA, CONFIGURATION = "/srv/pg/15/fenced", "/etc/postgresql/15/fenced"
MOVE = Move("debian", "old", "new", DATA, DATA, "/srv/pg", "/srv/pg")
_CREATE = f"""
set -e
cd /
pg_createcluster 15 fenced --datadir={DATA} --port=5478 --start-conf=auto -- --locale=C.UTF-8 >/dev/null
echo '# ours too' >>{CONFIGURATION}/start.conf
pg_conftool 15 fenced set ssl off
pg_conftool 15 fenced set unix_socket_directories /tmp
pg_ctlcluster 15 fenced start
"""
_EMPTY = "rmdir -p --ignore-fail-on-non-empty /srv/pg/15 /etc/postgresql/15 2>/dev/null; true"


class Undecided(Person):
    """Does everything but the last thing."""

    def confirm_manual_step(self, step: Step) -> bool:
        return step.id != step_ids.DECIDE


@pytest.fixture
def cluster(lab: Lab) -> Iterator[Lab]:
    looks = [(host, footprint(host)) for host in (lab.old, lab.new)]
    lab.new.exec("sh", "-c", _CREATE)
    yield lab
    lab.new.exec("pg_dropcluster", "--stop", "15", "fenced")
    lab.old.exec("sh", "-c", f"cd / && PGDATA={DATA} {BIN}/pg_ctl -m immediate stop", user="postgres", check=False)
    for host in (lab.old, lab.new):
        host.exec("sh", "-c", f"rm -rf /var/lib/pghaul {DATA} {CONFIGURATION}; {_EMPTY}")
    for host, before in looks:
        assert [line for line in differences(before, footprint(host)) if "/var/log/postgresql" not in line] == [], (
            host.name
        )


@pytest.mark.long
def test_debians_cluster_is_fenced_taken_back_and_as_it_was(
    cluster: Lab,
    old_profile: Profile,
    new_profile: Profile,
    old_server: Server,
    new_server: Server,
    tmp_path: Path,
) -> None:
    start_conf = state(cluster)
    cluster.old.exec("install", "-D", "/etc/hostname", f"{CONFIGURATION}/theirs")
    facts = collect(new_server, Job(), folders=[DATA]), collect(old_server, Job(), folders=[DATA])
    with Store.open(tmp_path) as store:
        store.add_profile(replace(new_profile, name="old"))
        store.add_profile(replace(old_profile, name="new"))
        store.add_move(MOVE)
        servers = {"old": new_server, "new": old_server}
        move = Moving(store, servers.__getitem__, facts, move=MOVE)
        number = move.begin()
        with pytest.raises(CommandError, match="cannot write to /etc/postgresql/15 on the new server"):
            move.runner(number, Undecided(name="15/fenced")).carry_out()
        assert state(cluster) == start_conf  # it runs
        cluster.old.exec("chown", "-R", "postgres:", "/etc/postgresql/15")  # as pg_createcluster does
        with pytest.raises(BlockedError, match=move.about(number, step_ids.DECIDE)):
            move.runner(number, Undecided(name="15/fenced")).carry_out()
        assert cluster.new.exec("pg_lsclusters", "-h", "15", "fenced").stdout.split()[3] == "down"
        refused = cluster.new.exec("pg_ctlcluster", "15", "fenced", "start", check=False)
        assert refused.returncode != 0
        assert cluster.old.exec("test", "-e", f"{DATA}/postmaster.pid").returncode == 0
        roll_back(move.runner(number))
        assert store.execution(number).state is State.ROLLED_BACK
        assert state(cluster) == start_conf
        assert cluster.new.exec("pg_lsclusters", "-h", "15", "fenced").stdout.split()[3] == "online"
        assert cluster.old.exec("test", "-e", f"{DATA}/postmaster.pid", check=False).returncode == 1
        assert configured(cluster) == ["fenced", "theirs", ""]
        assert move.execute(Person(name="15/fenced")).state is State.DONE
    *names, aside = configured(cluster)
    assert names == ["fenced", *cluster.new.exec("ls", CONFIGURATION).stdout.split()]
    assert aside.startswith("pghaul-copy-")
    assert state(cluster, cluster.old).split()[0] == start_conf.split()[0]  # as it was before anything was fenced


def configured(lab: Lab) -> list[str]:
    """What lies where new's service manager looks for clusters, in ours, and what was put aside."""
    look = "ls /etc/postgresql/15 /etc/postgresql/15/fenced | grep -v '^/' | grep ."
    return [
        *lab.old.exec("sh", "-c", look).stdout.split(),
        lab.old.exec("sh", "-c", "ls /var/lib/pghaul; true").stdout.strip(),
    ]


def state(lab: Lab, host: Host | None = None) -> str:
    """Of the file that says who may start the cluster: every byte, owner, mode and time; and what lies beside it."""
    look = f"cd {CONFIGURATION} && sha256sum start.conf && stat -c '%U:%G %a %y' start.conf && ls -A"
    return (host or lab.new).exec("sh", "-c", look).stdout


def test_a_trial_start_takes_the_configuration_of_debian_along(
    cluster: Lab, old_server: Server, new_server: Server
) -> None:
    """Its folder in /etc is there for the trial alone."""
    facts = collect(new_server, Job(), folders=[DATA]), collect(old_server, Job(), folders=[DATA])
    before = footprint(cluster.old)
    made = with_trial_start(new_server, old_server, *facts, MOVE, Job()).trial_start
    assert made is not None
    assert "unix /tmp/.s.PGSQL.5478" in made.listened, made
    assert differences(before, footprint(cluster.old)) == []
