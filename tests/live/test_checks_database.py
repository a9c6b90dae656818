"""The checks of a cluster's inside on real clusters: one that is sick in every way, one that is sound, one stopped."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from core.facts.collation_order import libc_locales
from core.facts.collect import collect, merge_previous
from core.facts.model import Facts
from core.jobs import Job
from core.migration.checks import run_checks
from core.migration.estimate import estimate, spec_of
from core.migration.model.checks import CheckResult, Status
from core.migration.model.move import Move
from core.migration.probing.trial_cluster import with_trial_cluster
from core.servers.connection import Server
from tests.lab.extra import Extra, extra, make_locale
from tests.lab.lab import Lab
from tests.lab.machine import wait_until

pytestmark = pytest.mark.lab

B, U, W, P = Status.BLOCKER, Status.UNKNOWN, Status.WARNING, Status.PASS
LOCALE = "de_AT.UTF-8"
_SICK = """
shared_preload_libraries = 'pg_stat_statements'
wal_level = logical
wal_compression = lz4
archive_mode = on
archive_command = 'SECRET=x wal-push %p && "/usr/bin/pgbackrest" --stanza=sick --log-path="/SECRET" archive-push %p'
log_directory = '/var/log/sick'
max_prepared_transactions = 5
ssl = on
"""
_CERTIFICATE = (
    "openssl req -x509 -newkey rsa:2048 -nodes -days 5 -subj /CN=db.example.org "
    '-keyout "$1/server.key" -out "$1/server.crt" 2>/dev/null && chmod 600 "$1/server.key"'
)
# pg_cron by its name and place in the catalog alone: its library comes from a package of its own.
_CRON = """
cd /usr/share/postgresql/15/extension
printf "comment = 'Job scheduler for PostgreSQL'\ndefault_version = '1.4'\nrelocatable = false\n" >pg_cron.control
echo "CREATE TABLE cron_job (jobid bigint PRIMARY KEY, schedule text NOT NULL, command text);" >pg_cron--1.4.sql
"""
_TABLES = """
CREATE EXTENSION pg_trgm;
CREATE EXTENSION pg_cron;
CREATE TABLE t (id int PRIMARY KEY, name text CHECK (name > ''), code text COLLATE "C" UNIQUE);
INSERT INTO t SELECT n, 'name ' || n, n FROM generate_series(1, 5000) n;
CREATE INDEX by_name ON t (lower(name));
CREATE INDEX by_pattern ON t (name text_pattern_ops);
CREATE INDEX by_trigram ON t USING gin (name gin_trgm_ops);
CREATE INDEX by_icu ON t (name COLLATE "und-x-icu");
CREATE TABLE p (name text) PARTITION BY RANGE (name);
CREATE TABLE p_a PARTITION OF p FOR VALUES FROM ('a') TO ('n');
CREATE UNLOGGED TABLE u (n int);
CREATE PUBLICATION pub FOR TABLE t;
CREATE SUBSCRIPTION sub CONNECTION 'host=/nowhere password=s3cret' PUBLICATION x WITH (connect = false);
SELECT pg_create_physical_replication_slot('waits');
BEGIN; INSERT INTO t VALUES (-1); PREPARE TRANSACTION 'half done';
ALTER SYSTEM SET max_connections = 77;
CREATE ROLE loads;
ALTER ROLE loads SET session_preload_libraries = 'pg_prewarm';
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A cluster, both facts of a move of it, and how its checks came out."""

    facts: tuple[Facts, Facts]
    move: Move
    results: dict[str, CheckResult]


def look(old: Server, new: Server, cluster: Extra, *, earlier: Facts | None = None) -> Seen:
    """Fresh facts of both, a trial of new's binaries, and the checks; as the action does it."""
    move = Move("m", old.name, new.name, cluster.folder, "/srv/pg/target", "/srv/pg", "/srv/pg")
    here = merge_previous(collect(old, Job(), folders=[move.cluster]), earlier)
    found = here.cluster(cluster.folder)
    assert found is not None
    there = collect(new, Job(), folders=[move.target], locales=libc_locales(found))
    there = with_trial_cluster(new, there, found.series, Job(), of=found)
    return Seen((here, there), move, {result.id: result for result in run_checks(move, here, there)})


@pytest.fixture(scope="module")
def sick(lab: Lab) -> Iterator[Extra]:
    """On the host with Debian's binaries, all of which it uses; its move goes to the host with the poor ones."""
    make_locale(lab.new)
    addresses = f"listen_addresses = '127.0.0.1, {lab.new.address}'\n"
    lab.new.exec("tee", "/etc/sick.conf", input=addresses)
    lab.new.exec("sh", "-c", _CRON)
    try:
        with extra(lab.new, "sick", 5466, locale=LOCALE) as cluster:
            lab.new.exec("sh", "-c", _CERTIFICATE, "sh", cluster.folder, user="postgres")
            cluster.append("postgresql.conf", f"{_SICK}include '/etc/sick.conf'\n")
            cluster.append("pg_hba.conf", f"host all all {lab.new.address}/32 scram-sha-256\n")
            cluster.control("restart")
            cluster.sql(_TABLES)
            cluster.sql("SELECT pg_reload_conf()")
            wait_until(lambda: cluster.sql("SELECT count(*) FROM pg_settings WHERE pending_restart") == "1", "reload")
            with receiver(cluster):
                yield cluster
    finally:
        lab.new.exec("sh", "-c", "rm -f /etc/sick.conf /usr/share/postgresql/15/extension/pg_cron[.-]*")
        lab.new.exec("localedef", "--delete-from-archive", "de_AT.utf8", check=False)


@contextmanager
def receiver(cluster: Extra) -> Iterator[None]:
    """Somebody who receives the cluster's WAL: a standby, as far as old can tell."""
    folder = "/tmp/received"
    cluster.host.exec("install", "-d", "-o", "postgres", folder)
    program = "/usr/lib/postgresql/15/bin/pg_receivewal"
    words = ["-D", folder, "-h", "/tmp", "-p", str(cluster.port), "-S", "waits"]
    with subprocess.Popen(cluster.host.command(program, *words, user="postgres"), stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: cluster.sql("SELECT count(*) FROM pg_stat_replication") == "1", "pg_receivewal")
            yield
        finally:
            receiving = "[p]g_receivewal.*waits"  # no pattern that its own command line matches
            cluster.host.exec("pkill", "-f", receiving, check=False)
            process.wait(timeout=20)
            # runuser gives what it ran two seconds more
            wait_until(lambda: cluster.host.exec("pgrep", "-f", receiving, check=False).returncode == 1, "its end")
            cluster.host.exec("rm", "-rf", folder)


@pytest.fixture(scope="module")
def of_sick(sick: Extra, new_server: Server, old_server: Server) -> Seen:
    return look(new_server, old_server, sick)


@pytest.fixture(scope="module")
def of_sound(lab: Lab, old_server: Server, new_server: Server) -> Iterator[Seen]:
    """A plain cluster of the lab's old, moved to the lab's new."""
    with extra(lab.old, "sound", 5467) as cluster:
        cluster.sql("CREATE TABLE t (name text PRIMARY KEY)")
        yield look(old_server, new_server, cluster)


FAILS = {
    "locales": (B, LOCALE),
    "extension-libraries": (B, "$libdir/pg_trgm (postgres: "),
    "preload-libraries": (B, "pg_stat_statements"),
    "settings": (B, "wal_compression=lz4"),
    "collation": (W, "index public.by_name"),
    "extension-versions": (W, "pg_trgm 1.6 (postgres)"),
    "setting-paths": (W, "wal-push"),
    "listen-addresses": (W, "127.0.0.1, "),
    "access-rules": (W, "/255.255.255.255"),
    "configuration-elsewhere": (W, "/etc/sick.conf"),
    "certificate": (W, "db.example.org"),
    "pending-settings": (W, "max_connections"),
    "archiving": (W, "archive_mode on: "),
    "pgbackrest": (W, "pgBackRest --stanza=sick"),
    "slots": (W, "waits (physical, active)"),
    "subscriptions": (W, "sub in postgres"),
    "publications": (W, "postgres: 1"),
    "standbys": (W, "pg_receivewal"),
    "prepared-transactions": (W, "postgres: half done"),
    "schedulers": (W, "pg_cron in postgres"),
    "unlogged": (P, "postgres: 1"),
    "local-start": (B, "library pg_prewarm"),
}


@pytest.mark.parametrize("identifier", FAILS)
def test_each_check_fails_for_real(identifier: str, of_sick: Seen) -> None:
    result, (status, evidence) = of_sick.results[identifier], FAILS[identifier]
    assert (result.status, evidence in result.old) == (status, True), result
    assert result.status is P or result.hint
    assert "s3cret" not in repr(of_sick.facts)
    assert "SECRET" not in repr(of_sick.facts)


@pytest.mark.parametrize("identifier", FAILS)
def test_each_check_passes_for_real(identifier: str, of_sound: Seen) -> None:
    result = of_sound.results[identifier]
    assert result.status is P, result


def test_the_reasons_are_the_servers_own(of_sick: Seen) -> None:
    results = of_sick.results
    assert 'could not access file "$libdir/pg_trgm": No such file or directory' in results["extension-libraries"].new
    assert 'could not access file "pg_stat_statements"' in results["preload-libraries"].new
    assert 'invalid value for parameter "wal_compression": "lz4"' in results["settings"].new
    assert "SSL is not supported by this build" in results["settings"].new
    assert "ICU is not supported in this build" in results["collation"].new


def test_what_sorts_by_bytes_is_not_affected(of_sick: Seen) -> None:
    text = of_sick.results["collation"].old
    for name in (
        "public.by_name",
        "public.by_icu",
        "range partitions public.p",
        "check constraint public.t_name_check",
    ):
        assert name in text
    for name in ("t_code_key", "by_pattern", "by_trigram", "t_pkey"):
        assert name not in text


@pytest.mark.long
def test_on_its_own_host_the_sick_cluster_has_all_that_it_needs(sick: Extra, new_server: Server) -> None:
    """The same libraries, settings and locales pass where the binaries have them: the checks see both ways."""
    results = look(new_server, new_server, sick).results
    needed = ("locales", "extension-libraries", "preload-libraries", "settings", "extension-versions", "collation")
    assert {name: results[name].status for name in needed} == dict.fromkeys(needed, P)
    assert "pg_trgm" in results["extension-libraries"].old


@pytest.mark.long
def test_another_order_of_the_same_locale_is_found_and_priced(
    lab: Lab, sick: Extra, new_server: Server, old_server: Server
) -> None:
    """Both hosts have the locale and the same C library, yet one puts ä after z: only sorting shows that."""
    make_locale(lab.old, order="sv_SE")
    try:
        seen = look(new_server, old_server, sick)
    finally:
        lab.old.exec("localedef", "--delete-from-archive", "de_AT.utf8")
    assert (seen.results["locales"].status, seen.results["collation"].status) == (B, W)  # ICU is missing still
    assert "sorts differently" in seen.results["collation"].message
    cold = estimate(spec_of(seen.move, seen.facts[0], [], new=seen.facts[1])).method("cold-copy")
    assert cold is not None
    assert [stage.name for stage in cold.stages if stage.name == "reindex"] == ["reindex"]
    affected = ("by_name", "by_icu")
    sizes = [int(sick.sql(f"SELECT pg_relation_size('{name}')")) for name in affected]
    priced = spec_of(seen.move, seen.facts[0], [], new=seen.facts[1]).cluster.reindex_bytes
    assert priced == pytest.approx(sum(sizes), rel=0.01)


def test_a_table_that_is_locked_holds_nothing_up(sick: Extra, new_server: Server) -> None:
    """A session has emptied a table and not committed: its indexes and its TOAST table are locked exclusively too."""
    hold = "BEGIN; TRUNCATE t; SELECT 'locked'; SELECT pg_sleep(60);"
    program = "/usr/lib/postgresql/15/bin/psql"
    words = ["-X", "-q", "-A", "-t", "-h", "/tmp", "-p", str(sick.port), "-d", "postgres", "-c", "SELECT 1", "-f", "-"]
    with subprocess.Popen(
        sick.host.command(program, *words, user="postgres"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as holder:
        assert holder.stdin is not None
        try:
            holder.stdin.write(hold)
            holder.stdin.close()
            locks = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 't'::regclass"
            wait_until(lambda: sick.sql(locks) == "1", "the table to be locked")
            facts = collect(new_server, Job(), folders=[sick.folder])
            assert sick.sql(locks) == "1", "it was locked all the time"
        finally:
            sick.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'AccessExclusiveLock'")
            holder.wait(timeout=20)
    cluster = facts.cluster(sick.folder)
    assert cluster is not None
    assert [each.name for each in cluster.databases if each.catalogs is None] == ["template1"]
    assert not [gap for gap in facts.gaps if "catalogs" in gap.subject]


def test_nothing_is_locked_but_by_reading(sick: Extra, new_server: Server) -> None:
    """Whoever watches pg_locks while the facts are read sees ACCESS SHARE alone, and at most one session at a time."""
    sick.sql("CREATE TABLE watched (mode text, sessions bigint)")
    watch = (
        "SET synchronous_commit = off;\n"
        "INSERT INTO watched SELECT mode, count(DISTINCT l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
        "WHERE a.application_name = 'pghaul' AND locktype = 'relation' GROUP BY mode \\watch 0.002\n"
    )
    program = "/usr/lib/postgresql/15/bin/psql"
    words = ["-X", "-q", "-h", "/tmp", "-p", str(sick.port), "-d", "postgres", "-f", "-"]
    with subprocess.Popen(
        sick.host.command(program, *words, user="postgres"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as watcher:
        assert watcher.stdin is not None
        try:
            watcher.stdin.write(watch)
            watcher.stdin.close()
            seen = "SELECT count(*) FROM watched"
            for _ in range(20):
                collect(new_server, Job(), folders=[sick.folder])
                if int(sick.sql(seen)) > 5:
                    break
        finally:
            sick.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO watched%' "
                "AND pid <> pg_backend_pid()"
            )
            watcher.wait(timeout=20)
    try:
        assert sick.sql("SELECT DISTINCT mode FROM watched") == "AccessShareLock"
        assert sick.sql("SELECT max(sessions) FROM watched") == "1"
    finally:
        sick.sql("DROP TABLE watched")


@pytest.mark.long
def test_a_stopped_cluster_keeps_what_was_read_while_it_ran(lab: Lab, new_server: Server, old_server: Server) -> None:
    with extra(lab.new, "stopped", 5468, locale="C.UTF-8") as cluster:
        cluster.sql("CREATE EXTENSION pg_trgm; CREATE TABLE t (name text PRIMARY KEY)")
        running = collect(new_server, Job(), folders=[cluster.folder])
        cluster.control("-m", "fast", "stop")
        cluster.append("postgresql.conf", "shared_buffers = '900GB'\n")
        never = look(new_server, old_server, cluster)
        known = look(new_server, old_server, cluster, earlier=running)
    result = never.results["extension-libraries"]
    assert result.status is U
    assert never.results["preload-libraries"].status is P, "the file tells it"
    assert "pg_trgm" not in f"{result.old} {result.message}"
    result = known.results["extension-libraries"]
    assert result.status is B
    assert "pg_trgm" in f"{result.old} {result.message}"
    assert known.results["slots"].status is P
    assert known.results["collation"].status is P
    for seen in (never, known):
        assert seen.results["memory"].status is W
        assert "shared_buffers" in seen.results["memory"].message


def test_a_cluster_that_lets_nobody_in_is_unknown_with_the_reason(
    lab: Lab, old_server: Server, new_server: Server
) -> None:
    with extra(lab.old, "closed", 5469) as cluster:
        cluster.host.exec("sh", "-c", f"echo 'local all all reject' >{cluster.folder}/pg_hba.conf")
        cluster.control("reload")
        wait_until(lambda: "reject" in refused(cluster), "pg_hba.conf to be in force")
        seen = look(old_server, new_server, cluster)
    for identifier in ("extension-libraries", "collation", "locales", "slots"):
        result = seen.results[identifier]
        assert (result.status, "pg_hba.conf rejects" in result.message) == (U, True), result


def refused(cluster: Extra) -> str:
    words = [
        "/usr/local/pgsql/bin/psql",
        "-X",
        "-h",
        "/tmp",
        "-p",
        str(cluster.port),
        "-d",
        "postgres",
        "-c",
        "SELECT 1",
    ]
    return cluster.host.exec(*words, user="postgres", check=False).stderr


def test_a_file_that_is_no_library_does_not_pass_for_one(lab: Lab, of_sick: Seen, old_server: Server) -> None:
    """It is there by its name; only loading it tells."""
    here, there = of_sick.facts
    cluster = here.cluster(of_sick.move.cluster)
    assert cluster is not None
    lab.old.exec("sh", "-c", "echo no library >/usr/local/pgsql/lib/postgresql/pg_stat_statements.so")
    try:
        there = with_trial_cluster(old_server, there, "15", Job(), of=cluster)
    finally:
        lab.old.exec("rm", "/usr/local/pgsql/lib/postgresql/pg_stat_statements.so")
    results = {result.id: result for result in run_checks(of_sick.move, here, there)}
    assert results["preload-libraries"].status is B
    assert "pg_stat_statements" in results["preload-libraries"].new
    assert results["extension-libraries"].status is B


def test_pgbackrest_of_new_is_asked_for_its_data_directory(lab: Lab, of_sick: Seen, old_server: Server) -> None:
    """Its file is read there as the owner, without the lines that hold keys."""
    here, _ = of_sick.facts
    cluster = here.cluster(of_sick.move.cluster)
    assert cluster is not None
    lab.old.exec("install", "-d", "/etc/pgbackrest/conf.d")
    lines = "[global]\nrepo1-s3-key=KEY\n[sick]\npg1-path={}\n"
    found = []

    def configure(path: str) -> None:
        lab.old.exec("tee", "/etc/pgbackrest/conf.d/sick.conf", input=lines.format(path))

    try:
        configure("/srv/elsewhere")
        there = collect(old_server, Job(), folders=[of_sick.move.target], locales=libc_locales(cluster))
        for path in ("/srv/elsewhere", of_sick.move.target):
            configure(path)
            there = with_trial_cluster(old_server, there, "15", Job(), of=cluster)
            assert "KEY" not in repr(there)
            found += [each for each in run_checks(of_sick.move, here, there) if each.id == "pgbackrest"]
    finally:
        lab.old.exec("rm", "-rf", "/etc/pgbackrest")
    assert [each.status for each in found] == [W, P]
    assert found[0].new == "pg1-path=/srv/elsewhere, [sick] in /etc/pgbackrest/conf.d/sick.conf"
