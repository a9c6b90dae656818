"""The facts of both lab hosts against what the hosts say by themselves, past ssh."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.errors import Cancelled
from core.facts.collect import collect
from core.facts.model import Cluster, Facts
from core.jobs import CommandStarted, Event, Job
from core.servers.connection import Server, connect
from core.servers.profiles import Profile, Rights
from tests.lab import clusters
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import wait_until

pytestmark = pytest.mark.lab

HORRIBLE = '/srv/pg/it\'s $(touch x) "ö"'
UNTEXT = "/srv/pg/two\nlines\udcff "
PROGRAMS = "/usr/lib/postgresql/15/bin"


@pytest.fixture(scope="module")
def old_facts(old_server: Server) -> Facts:
    return collect(old_server, Job())


def only(facts: Facts) -> Cluster:
    (cluster,) = facts.clusters
    return cluster


def identifier(facts: Facts) -> str:
    control = only(facts).control
    assert control is not None
    return control.system_identifier


def facts_as(profile: Profile, asker: LabAsker, *folders: str) -> Facts:
    with connect(profile, asker, Job()) as server:
        return collect(server, Job(), folders=folders)


def disk_use(host: Host, *folders: str) -> int:
    said = host.exec("du", "-s", "-B1", "--", *folders).stdout
    return sum(int(line.split()[0]) for line in said.splitlines())


def test_at_most_three_round_trips_and_no_gap(old_facts: Facts) -> None:
    assert old_facts.round_trips <= 3
    assert old_facts.gaps == ()


def test_system_and_processor(old_facts: Facts, lab: Lab) -> None:
    system, processor, memory = old_facts.system, old_facts.processor, old_facts.memory
    assert system is not None
    assert processor is not None
    assert memory is not None
    assert system.hostname == "old"
    assert system.kernel == lab.old.exec("uname", "-r").stdout.strip()
    assert system.libc == lab.old.exec("getconf", "GNU_LIBC_VERSION").stdout.strip()
    assert system.clock is not None
    assert abs((system.clock - old_facts.taken_at).total_seconds()) < 60
    assert processor.threads == int(lab.old.exec("nproc", "--all").stdout)
    first = lab.old.exec("head", "-n1", "/proc/meminfo").stdout.split()
    assert memory.total_bytes == int(first[1]) * 1024


@pytest.mark.parametrize(("name", "kind"), [("old", "ext4"), ("new", "xfs")])
def test_data_disk_and_network(lab: Lab, old_server: Server, new_server: Server, name: str, kind: str) -> None:
    host = lab.host(name)
    facts = collect(old_server if name == "old" else new_server, Job())
    system = facts.file_system_of("/srv/pg/data/base")
    assert system is not None
    assert (system.mount_point, system.kind, system.device) == ("/srv/pg", kind, host.device)
    assert system.options == tuple(host.exec("findmnt", "-n", "-o", "OPTIONS", "/srv/pg").stdout.strip().split(","))
    said = host.exec("df", "-B1", "--output=size,itotal", "/srv/pg").stdout.split()
    assert (system.size_bytes, system.inodes) == (int(said[-2]), int(said[-1]))
    device = next(one for one in facts.block_devices if f"/dev/{one.name}" == host.device)
    assert device.size_bytes == int(host.exec("blockdev", "--getsize64", host.device).stdout)
    assert device.read_ahead_bytes == int(host.exec("blockdev", "--getra", host.device).stdout) * 512
    assert device.kind == "loop"
    (cable,) = [link for link in facts.network_links if f"{host.address}/24" in link.addresses]
    assert (cable.name, cable.state, cable.bits_per_second) == ("eth0", "up", None)


def test_tools_are_those_of_the_host(old_facts: Facts, lab: Lab) -> None:
    fio, nothing = old_facts.tool("fio"), old_facts.tool("mdadm")
    assert fio is not None
    assert nothing is not None
    assert f"fio-{fio.version}" == lab.old.exec("fio", "--version").stdout.strip()
    assert fio.path == "/usr/bin/fio"
    assert (nothing.path is None) == (lab.old.exec("which", "mdadm", check=False).returncode != 0)


def test_the_running_cluster_of_old(old_facts: Facts, lab: Lab) -> None:
    cluster = only(old_facts)
    assert (cluster.data_directory, cluster.series, cluster.version) == (clusters.DATA, "15", clusters.VERSION)
    assert (cluster.running, cluster.owner, cluster.port) == (True, "postgres", 5432)
    assert cluster.bin_directory == f"{clusters.PREFIX}/bin"
    assert "postmaster" in cluster.found_by
    assert cluster.control is not None
    said = lab.old.exec(f"{clusters.PREFIX}/bin/pg_controldata", clusters.DATA, user="postgres").stdout
    assert f"Database system identifier:           {cluster.control.system_identifier}\n" in said
    assert cluster.control.state == "in production"
    (tablespace,) = cluster.tablespaces
    assert tablespace.location == clusters.SPACE
    assert cluster.control is not None
    own = f"{clusters.SPACE}/PG_15_{cluster.control.catalog_version}"
    assert tablespace.size_bytes == disk_use(lab.old, own)
    assert cluster.size_bytes == pytest.approx(disk_use(lab.old, clusters.DATA, clusters.SPACE), rel=0.02)
    files = lab.old.exec("find", clusters.DATA, clusters.SPACE, "!", "-type", "d").stdout
    assert cluster.files == pytest.approx(files.count("\n"), abs=30)
    assert cluster.settings["unix_socket_directories"] == "/tmp"
    assert cluster.settings["data_checksums"] == "on"


def test_the_databases_of_old(old_facts: Facts, lab: Lab) -> None:
    shop = next(database for database in only(old_facts).databases if database.name == "shop")
    query = (
        "select pg_database_size('shop'), max(pg_table_size(oid)) from pg_class where relkind = 'r' "
        "and relname = 'pgbench_accounts'"
    )
    words = ["-X", "-A", "-t", "-F", " ", "-h", "/tmp", "-d", "shop", "-c", query]
    size, largest = lab.old.exec(f"{clusters.PREFIX}/bin/psql", *words, user="postgres").stdout.split()
    assert shop.size_bytes == pytest.approx(int(size), rel=0.02)
    assert shop.largest_table_bytes == pytest.approx(int(largest), rel=0.02)
    assert shop.index_bytes
    assert shop.relations


@pytest.fixture
def more_clusters(lab: Lab) -> Iterator[None]:
    """On new: Debian's stopped `15/facts`, and two folders of dreadful names, one with a link to it."""
    make = f"""set -e
cd /
exec >/dev/null
pg_createcluster 15 facts --datadir=/srv/pg/15/facts --port=5444
install -d -m 700 -o postgres -g postgres "$1" "$2" /srv/pg/wal
cp -a /srv/pg/15/facts/. "$1"
cp -a /srv/pg/15/facts/. "$2"
for file in postgresql.conf pg_hba.conf pg_ident.conf; do
  runuser -u postgres -- cp {PROGRAMS}/../../../../share/postgresql/15/$file.sample "$1/$file"
done
echo "port = 5455" >>"$1/postgresql.conf"
mv "$1/pg_wal" /srv/pg/wal/real
ln -s /srv/pg/wal/real "$1/pg_wal"
ln -s /nowhere "$1/gone"
runuser -u postgres -- touch "$1/backup_label"
ln -s "$1" /srv/pg/linked"""
    undo = 'pg_dropcluster 15 facts; rm -rf -- "$1" "$2" /srv/pg/wal /srv/pg/linked'
    names = [HORRIBLE, "/srv/pg/two\nlines"]
    try:
        lab.new.exec("sh", "-c", make, "sh", *names)
        yield
    finally:
        lab.new.exec("sh", "-c", undo, "sh", *names)


@pytest.mark.usefixtures("more_clusters", "clean_hosts")
def test_stopped_clusters_of_any_layout_and_name(new_server: Server, lab: Lab) -> None:
    used = [disk_use(lab.new, "/srv/pg/15/facts"), disk_use(lab.new, HORRIBLE, "/srv/pg/wal/real")]
    facts = collect(new_server, Job(), folders=["/srv/pg/linked", HORRIBLE, "/srv/pg/two\nlines", "/srv/absent"])
    assert facts.round_trips <= 3
    found = {cluster.data_directory: cluster for cluster in facts.clusters}
    assert set(found) == {"/srv/pg/15/facts", HORRIBLE, "/srv/pg/two\nlines"}

    debian = found["/srv/pg/15/facts"]
    assert (debian.name, debian.unit, debian.port) == ("15/facts", "postgresql@15-facts.service", 5444)
    assert (debian.running, debian.config_file) == (False, "/etc/postgresql/15/facts/postgresql.conf")
    assert debian.bin_directory == PROGRAMS
    assert f"postgres (PostgreSQL) {debian.version} " in lab.new.exec(f"{PROGRAMS}/postgres", "--version").stdout
    # XFS may take back what it allocated ahead at any time
    assert disk_use(lab.new, "/srv/pg/15/facts") <= (debian.size_bytes or 0) <= used[0]
    assert debian.control is not None
    assert debian.control.state == "shut down"

    horrible = found[HORRIBLE]
    assert set(horrible.found_by) == {"named", "folder"}
    assert horrible.port == 5455
    assert [(link.path, link.target, link.dangling) for link in horrible.links] == [
        ("gone", "/nowhere", True),
        ("pg_wal", "/srv/pg/wal/real", False),
    ]
    assert horrible.leftovers == ("backup_label",)
    assert disk_use(lab.new, HORRIBLE, "/srv/pg/wal/real") <= (horrible.size_bytes or 0) <= used[1]

    assert found["/srv/pg/two\nlines"].control == debian.control
    reasons = {gap.subject: gap.reason for gap in facts.gaps}
    assert reasons["data directory /srv/absent"] == "there is no such folder"
    # Its configuration stayed in /etc, and nobody says where: that is a gap, not a guess.
    assert "postgresql.conf" in reasons["settings of /srv/pg/two\nlines"]
    assert lab.new.exec("find", "/srv/pg", "/root", "/home", "/tmp", "-name", "x").stdout == ""


def test_a_stopped_cluster_of_old(lab: Lab, old_server: Server) -> None:
    clusters.control(lab.old, "stop")
    try:
        cluster = only(collect(old_server, Job()))
    finally:
        clusters.control(lab.old, "start")
    assert cluster.control is not None
    assert (cluster.running, cluster.control.state, cluster.leftovers) == (False, "shut down", ())
    assert (cluster.version, cluster.port, cluster.databases) == (clusters.VERSION, 5432, ())
    assert cluster.settings["shared_buffers"] == "16384"


def test_sudo_with_a_password_reads_the_same(plain_profile: Profile, asker: LabAsker, old_facts: Facts) -> None:
    facts = facts_as(plain_profile, asker)
    assert facts.gaps == ()
    assert identifier(facts) == identifier(old_facts)


def test_sudo_to_postgres_alone_reads_the_cluster(pgonly_profile: Profile, asker: LabAsker, old_facts: Facts) -> None:
    facts = facts_as(pgonly_profile, asker)
    assert facts.round_trips == 2
    assert identifier(facts) == identifier(old_facts)
    assert only(facts).running
    assert {one.name for one in only(facts).databases} == {one.name for one in only(old_facts).databases}


def test_a_user_without_sudo_gets_gaps(nosudo_profile: Profile, asker: LabAsker) -> None:
    facts = facts_as(nosudo_profile, asker, clusters.DATA)
    assert facts.clusters == ()
    assert facts.system is not None
    reasons = {gap.subject: gap.reason for gap in facts.gaps}
    assert reasons[f"data directory {clusters.DATA}"] == "nosudo may not enter it. That needs root or its owner"


def test_sudo_that_is_refused_costs_one_trip_and_is_said(nosudo_profile: Profile, asker: LabAsker) -> None:
    facts = facts_as(replace(nosudo_profile, rights=Rights.SUDO), asker, clusters.DATA)
    assert facts.round_trips == 3
    assert facts.processor is not None
    assert facts.gaps[0].subject == "rights of root"
    assert "sudo" in facts.gaps[0].reason


@pytest.mark.usefixtures("clean_hosts")
def test_what_lies_where_a_copy_is_to_go(lab: Lab, new_server: Server) -> None:
    lab.new.exec("install", "-d", "-m", "0700", "-o", "postgres", "--", "/srv/pg/it's held/PG_15_202209061")
    try:
        facts = collect(new_server, Job(), targets=["/srv/pg/it's held", "/srv/absent", "/srv/two\nlines"])
    finally:
        lab.new.exec("rm", "-rf", "--", "/srv/pg/it's held")
    assert facts.target_entries == {"/srv/pg/it's held": ("PG_15_202209061",), "/srv/absent": ()}


def test_no_postgresql_at_all(lab: Lab, new_server: Server) -> None:
    lab.new.exec("mv", "/etc/postgresql", "/etc/hidden")
    try:
        facts = collect(new_server, Job())
    finally:
        lab.new.exec("mv", "/etc/hidden", "/etc/postgresql")
    assert facts.clusters == ()
    assert [gap.subject for gap in facts.gaps] == ["clusters"]
    assert "show no PostgreSQL cluster" in facts.gaps[0].reason
    assert facts.round_trips == 1


@pytest.mark.usefixtures("clean_hosts")
def test_a_prepared_empty_folder_is_said_to_be_empty(new_server: Server) -> None:
    facts = collect(new_server, Job())
    assert facts.clusters == ()
    assert [(gap.subject, gap.reason) for gap in facts.gaps] == [("version of /srv/pg/15/main", "it is empty")]


@pytest.mark.usefixtures("clean_hosts")
def test_programs_that_hang_lie_or_fail_cost_their_own_facts_alone(lab: Lab, new_server: Server) -> None:
    broken = {"lscpu": "sleep 600", "df": "echo moo; exit 0", "lsblk": "exit 1", "pg_lsclusters": "kill -SEGV $$"}
    had = lab.new.exec("test", "-d", "/usr/local/sbin", check=False).returncode == 0
    for name, body in broken.items():
        put = 'mkdir -p /usr/local/sbin; cd /usr/local/sbin; printf "#!/bin/sh\\n%s\\n" "$2" >"$1"; chmod 755 "$1"'
        lab.new.exec("sh", "-c", put, "sh", name, body)
    try:
        facts = collect(new_server, Job())
    finally:
        lab.new.exec("rm", *(f"/usr/local/sbin/{name}" for name in broken))
        if not had:
            lab.new.exec("rmdir", "/usr/local/sbin")
    reasons = {gap.subject: gap.reason for gap in facts.gaps}
    assert reasons["processor"] == "it took too long"
    assert "moo" in reasons["file system space"]
    assert "pg_lsclusters" in reasons
    assert facts.processor is None
    assert facts.file_systems == ()
    assert facts.memory is not None
    assert facts.tools
    # Without lsblk the kernel's own tables are read.
    device = next(one for one in facts.block_devices if f"/dev/{one.name}" == lab.new.device)
    assert device.size_bytes == int(lab.new.exec("blockdev", "--getsize64", lab.new.device).stdout)


@pytest.mark.usefixtures("clean_hosts")
def test_a_cancelled_pass_leaves_nothing(old_profile: Profile, asker: LabAsker, lab: Lab) -> None:
    def cancel_once_begun(event: Event) -> None:
        if isinstance(event, CommandStarted):
            job.cancel()

    job = Job(cancel_once_begun)
    with connect(old_profile, asker, Job()) as server, pytest.raises(Cancelled):
        collect(server, job)
    # The server's own watch over the command kills what does not end within its grace, and then ends itself.
    wait_until(lambda: not lab.old.exec("pgrep", "-f", "pghaul-", check=False).stdout, "the watch to end", seconds=10)


@pytest.mark.usefixtures("clean_hosts")
def test_a_pass_writes_nothing_into_a_stopped_cluster(old_server: Server, lab: Lab) -> None:
    """Neither bytes nor time stamps, of files or of folders: no lock file came and went."""

    def state() -> str:
        look = r"find /srv/pg -printf '%p %i %T@ %C@\n' | sort; find /srv/pg -type f -exec sha256sum {} + | sort"
        return lab.old.exec("sh", "-c", look).stdout

    clusters.control(lab.old, "stop")
    try:
        before = state()
        facts = collect(old_server, Job())
        assert state() == before
    finally:
        clusters.control(lab.old, "start")
    assert not only(facts).running


def test_a_server_in_a_container_is_seen_to_run(lab: Lab, old_server: Server) -> None:
    """Its folder is the host's, under another name; its postmaster.pid holds a number of its own process space."""
    clusters.control(lab.old, "stop")
    inside = (
        f"mkdir -p /mnt/inside; mount --bind {clusters.DATA} /mnt/inside; mount -t proc proc /proc; "
        f"runuser -u postgres -- {clusters.PREFIX}/bin/pg_ctl -D /mnt/inside -w -s -l /dev/null start; "
        "echo ready; read -r line; "
        f"runuser -u postgres -- {clusters.PREFIX}/bin/pg_ctl -D /mnt/inside -m fast -w -s stop"
    )
    words = lab.old.command("unshare", "--mount", "--pid", "--fork", "sh", "-c", inside)
    try:
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as container:
            assert container.stdin is not None
            assert container.stdout is not None
            assert container.stdout.readline() == "ready\n"
            try:
                facts = collect(old_server, Job(), folders=[clusters.DATA])
            finally:
                container.communicate("end\n", timeout=60)
    finally:
        lab.old.exec("rmdir", "/mnt/inside", check=False)
        clusters.control(lab.old, "start")
    assert only(facts).data_directory == clusters.DATA
    assert only(facts).running
    assert any("container" in gap.reason for gap in facts.gaps)
