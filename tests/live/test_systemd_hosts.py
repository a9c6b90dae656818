"""The lab's hosts with systemd: real units, sessions and restarts, a power cut, and nothing left behind."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.facts.collect import collect
from core.jobs import Job
from core.migration.model.move import Move
from core.migration.probing.trial_start import with_trial_start
from core.servers import connection
from core.servers.shell import call
from tests.lab import lab as labs
from tests.lab.fixtures import LabAsker, profile
from tests.lab.hosts import Host, Kind
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable, wait_until
from tests.lab.systemd import systemd_unavailable
from tests.lab.traces import traces

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(600)]

PROJECT = Path(__file__).resolve().parents[2]
HOLD_A_LAB = """
import sys
from tests.lab.hosts import Kind
from tests.lab.lab import lab
with lab(sys.argv[1], kind=Kind.SYSTEMD, size="1G") as made:
    print(made.name, flush=True)
    sys.stdin.read()
"""
UNIT = "postgresql@15-main.service"
DATA = "/srv/pg/15/main"


@pytest.fixture(scope="module")
def hosts() -> Iterator[Lab]:
    """Two hosts with systemd, a cluster of Debian's on old."""
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("systemd", kind=Kind.SYSTEMD, size="1G") as made:
        made.old.exec("pg_createcluster", "15", "main", "--datadir", DATA, "--start")
        yield made


def boot_id(host: Host) -> str:
    """systemd's own, of this boot: the kernel's is this machine's."""
    return host.exec("systemctl", "show", "-P", "UserspaceTimestamp").stdout


def active(host: Host) -> str:
    return host.exec("systemctl", "is-active", UNIT, check=False).stdout.strip()


def rows(host: Host) -> str:
    return host.exec("psql", "-XAtq", "-c", "select count(*) from kept", user="postgres").stdout.strip()


def test_systemd_is_process_1_and_runs_units(hosts: Lab) -> None:
    for host in (hosts.old, hosts.new):
        assert host.exec("cat", "/proc/1/comm").stdout == "systemd\n"
        assert host.exec("systemctl", "is-system-running", check=False).stdout == "running\n", host.exec(
            "systemctl", "--failed"
        ).stdout
        assert host.exec("hostname").stdout == f"{host.name}\n"
    assert active(hosts.old) == "active"
    assert (
        f"/system.slice/system-postgresql.slice/{UNIT}"
        in hosts.old.exec("sh", "-c", f"cat /proc/$(head -1 {DATA}/postmaster.pid)/cgroup").stdout
    )


def test_what_may_keep_a_unit_from_starting_a_cluster_is_read(hosts: Lab) -> None:
    unit = "/etc/systemd/system/own.service"
    lines = "User=daemon\nProtectHome=yes\nEnvironmentFile=/none/a\nEnvironmentFile=-/none/b\n"
    lines += "EnvironmentFile=/etc/hostname"
    hosts.new.exec("sh", "-c", f"cat >{unit}", input=f"[Service]\nExecStart=/bin/true\n{lines}\n")
    hosts.new.exec("systemctl", "daemon-reload")
    asked = call("print_unit_obstacles", "own.service", "postgres", "/home/pg/data")
    with connection.connect(profile(hosts, hosts.new), LabAsker(hosts.known_hosts), Job()) as server:
        told = server.run(asked, Job(), user="root").stdout.splitlines()
        plain = server.run(call("print_unit_obstacles", UNIT, "postgres", DATA), Job(), user="root").stdout
    hosts.new.exec("rm", unit)
    hosts.new.exec("systemctl", "daemon-reload")
    assert sorted(told) == ["EnvironmentFile=/none/a, which is missing", "ProtectHome=yes", "User=daemon"]
    assert plain == ""


def test_a_trial_start_is_made_where_the_unit_of_the_new_cluster_is_not_tried(hosts: Lab) -> None:
    """Among the mounts that systemd makes, and those that it would make at the first look."""
    asker, move = LabAsker(hosts.known_hosts), Move("trial", "old", "new", DATA, DATA, "/srv/pg", "/srv/pg")
    with (
        connection.connect(profile(hosts, hosts.old), asker, Job()) as old,
        connection.connect(profile(hosts, hosts.new), asker, Job()) as new,
    ):
        facts = collect(old, Job(), folders=[DATA]), collect(new, Job())
        made = with_trial_start(old, new, *facts, move, Job()).trial_start
    assert made is not None
    assert "unix /var/run/postgresql/.s.PGSQL.5432" in made.listened, made


def test_a_session_over_ssh_is_logged_in_and_facts_see_the_service(hosts: Lab) -> None:
    with connection.connect(profile(hosts, hosts.old), LabAsker(hosts.known_hosts), Job()) as server:
        facts = collect(server, Job())
    assert facts.system is not None
    assert facts.system.init == "systemd"
    (cluster,) = facts.clusters
    assert (cluster.name, cluster.unit, cluster.running) == ("15/main", UNIT, True)
    assert cluster.process is not None
    assert cluster.process.unit == UNIT


def test_power_is_cut_and_comes_back(hosts: Lab) -> None:
    hosts.old.exec(
        "psql", "-XAtq", "-c", "create table kept as select 1 from generate_series(1, 1000)", user="postgres"
    )
    before = boot_id(hosts.old)
    hosts.cut_power("old")
    assert hosts.new.exec("ping", "-c", "1", "-W", "1", hosts.old.address, check=False).returncode != 0
    hosts.boot("old")
    assert boot_id(hosts.old) != before
    assert active(hosts.old) == "active"
    assert rows(hosts.old) == "1000"
    assert "not properly shut down" in hosts.old.exec("cat", "/var/log/postgresql/postgresql-15-main.log").stdout


def test_an_orderly_restart_stops_units_and_starts_those_that_are_enabled(hosts: Lab) -> None:
    hosts.old.exec("sh", "-c", ": >/var/log/postgresql/postgresql-15-main.log")
    hosts.restart("old")
    assert active(hosts.old) == "active"
    assert rows(hosts.old) == "1000"
    assert "database system is shut down" in hosts.old.exec("cat", "/var/log/postgresql/postgresql-15-main.log").stdout


def test_another_lab_and_the_end_of_its_owner(hosts: Lab) -> None:
    words = [sys.executable, "-c", HOLD_A_LAB, "killed"]
    owner = subprocess.Popen(
        words, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert owner.stdout is not None
        name = owner.stdout.readline().strip()
        second = labs.find(name)
        assert second.subnet != hosts.subnet
        second.old.exec("systemctl", "stop", "ssh.service")
        assert hosts.old.exec("systemctl", "is-active", "ssh.service").stdout == "active\n"
        assert traces(name) != []
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    wait_until(lambda: traces(name) == [], f"every trace of {name} to go: {traces(name)}", seconds=30)
