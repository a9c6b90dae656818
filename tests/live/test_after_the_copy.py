"""What looks for corruption on new and builds its indexes anew, on a real cluster: found, mended, and nothing left."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.errors import CommandError
from core.facts.catalog import Binaries
from core.facts.collect import collect
from core.jobs import Job
from core.migration.model.move import Move, Verify
from core.migration.model.plan import Step, alone
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.corruption import amcheck_steps, page_checksum_steps
from core.migration.plan.steps.reindex import reindex_steps
from core.migration.transports.copy_channel import CopyChannel
from core.servers.connection import Server
from tests.lab.extra import Extra, extra, make_locale
from tests.lab.lab import Lab
from tests.lab.machine import wait_until

pytestmark = pytest.mark.lab

DATABASE = 'it\'s $(touch x) "db"'
LOCALE = "de_AT.UTF-8"
WAY = CopyChannel("key", "/tmp/key", "10.0.0.2", 22, "dba", "postgres", (), ("10.0.0.1",), ())
_TABLES = """
CREATE SCHEMA "odd schema";
CREATE TABLE "odd schema".t (n int PRIMARY KEY, name text UNIQUE, code text COLLATE "C" UNIQUE, other text);
INSERT INTO "odd schema".t SELECT n, 'name ' || n, n, 'other ' || n FROM generate_series(1, 500) n;
CREATE INDEX "by it's" ON "odd schema".t (other COLLATE "de-AT-x-icu");
CREATE TABLE seen (tag text);
CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (tg_tag); END $$;
CREATE EVENT TRIGGER notes ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA', 'CREATE EXTENSION') EXECUTE FUNCTION note();
UPDATE pg_database SET datcollversion = '0.1' WHERE datname = current_database();
UPDATE pg_collation SET collversion = '0.1' WHERE collname = 'de-AT-x-icu';
"""
_INDEXES = """
SELECT relname, relfilenode FROM pg_class WHERE relkind = 'i' AND relnamespace = '"odd schema"'::regnamespace ORDER BY 1
"""
_VERSIONS = """
SELECT datcollversion = pg_database_collation_actual_version(oid) FROM pg_database WHERE datname = current_database();
SELECT collversion = pg_collation_actual_version(oid) FROM pg_collation WHERE collname = 'de-AT-x-icu';
"""
_LEFT = (
    "SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'; SELECT count(*) FROM pg_namespace WHERE oid > 16383"
)


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Iterator[Extra]:
    make_locale(lab.new)
    try:
        with extra(lab.new, "after", 5471, locale=LOCALE) as made:
            made.sql(f'CREATE DATABASE "{DATABASE.replace(chr(34), chr(34) * 2)}"')
            inside(made, _TABLES)
            yield made
    finally:
        lab.new.exec("localedef", "--delete-from-archive", "de_AT.utf8", check=False)


@pytest.fixture(scope="module")
def site(cluster: Extra, new_server: Server) -> PlanContext:
    """As if the cluster had come from a host whose C library and ICU sort otherwise."""
    here = collect(new_server, Job(), folders=[cluster.folder], locales=[LOCALE])
    found = here.cluster(cluster.folder)
    assert found is not None
    there = replace(here, clusters=(), collation_order={LOCALE: "0" * 64})
    move = Move("m", "old", "new", cluster.folder, cluster.folder, "/srv/pg", "/srv/pg")
    return PlanContext(move, new_server.profile, new_server.profile, here, there, found, WAY, (), Verify.ALL)


def inside(cluster: Extra, text: str) -> str:
    """SQL in the database with the odd name."""
    words = ["env", f"PGDATABASE={DATABASE}", "/usr/lib/postgresql/15/bin/psql", "-XqAt", "-v", "ON_ERROR_STOP=1"]
    words += ["-h", "/tmp", "-p", str(cluster.port)]
    return cluster.host.exec(*words, user="postgres", input=text).stdout.strip()


def run(server: Server, steps: list[Step]) -> str:
    (step,) = steps
    text = alone(step)
    return server.run(text, Job(), user="postgres", deadline=60).stdout


def test_what_lies_in_the_order_of_another_collation_is_built_anew_and_nothing_else(
    cluster: Extra, site: PlanContext, new_server: Server
) -> None:
    before = dict(line.split("|") for line in inside(cluster, _INDEXES).splitlines())
    assert inside(cluster, _VERSIONS).split() == ["f", "f"]
    said = run(new_server, reindex_steps(site, "/tmp"))
    after = dict(line.split("|") for line in inside(cluster, _INDEXES).splitlines())
    assert {name for name in after if after[name] != before[name]} == {"t_name_key"}
    assert inside(cluster, _VERSIONS).split() == ["t", "f"]  # ICU's own has no other version on new
    assert 'reindex index "odd schema".t_name_key' in said
    alike = replace(site.new_facts, collation_order=site.old_facts.collation_order)
    assert reindex_steps(replace(site, new_facts=alike), "/tmp") == []


def test_of_the_collations_that_differ_each_is_built_anew(
    cluster: Extra, site: PlanContext, new_server: Server
) -> None:
    trial = replace(site.cluster, data_directory="a trial", binaries=Binaries(icu=(("de-AT", "0.9"),)))
    there = replace(site.new_facts, trials=(trial,))
    said = run(new_server, reindex_steps(replace(site, new_facts=there), "/tmp"))
    assert 'reindex index "odd schema"."by it\'s"' in said
    assert inside(cluster, _VERSIONS).split() == ["t", "t"]


def test_no_step_waits_for_a_standby_nor_does_what_a_role_has_set(
    cluster: Extra, site: PlanContext, new_server: Server
) -> None:
    """A commit would wait for ever, a session could write nothing, a statement would be over at once."""
    inside(cluster, "UPDATE pg_database SET datcollversion = '0.1' WHERE datname = current_database()")
    cluster.sql("ALTER ROLE postgres SET default_transaction_read_only = on")
    cluster.append("postgresql.conf", "synchronous_standby_names = 'nobody'\nstatement_timeout = '50ms'\n")
    cluster.control("reload")
    wait_until(lambda: cluster.sql("SHOW synchronous_standby_names") == "nobody", "the configuration to be read")
    try:
        said = run(new_server, reindex_steps(site, "/tmp"))
        assert f"database {DATABASE}" in run(new_server, amcheck_steps(site, "/tmp"))
    finally:
        cluster.append("postgresql.conf", "synchronous_standby_names = ''\nstatement_timeout = 0\n")
        cluster.control("reload")
        wait_until(lambda: cluster.sql("SHOW synchronous_standby_names") == "", "the configuration to be read")
        cluster.sql("SET default_transaction_read_only = off; ALTER ROLE postgres RESET ALL")
    assert "refresh collation version" in said
    assert inside(cluster, _VERSIONS).splitlines()[0] == "t"


def test_corruption_is_found_and_the_extension_does_not_stay(
    cluster: Extra, site: PlanContext, new_server: Server
) -> None:
    left = inside(cluster, _LEFT)
    said = run(new_server, amcheck_steps(site, "/tmp"))
    assert said.splitlines() == [f"database {DATABASE}", "database postgres"]
    assert inside(cluster, f"{_LEFT}; SELECT count(*) FROM seen") == f"{left}\n0"
    file = inside(cluster, "SELECT pg_relation_filepath('\"odd schema\".t')")
    cluster.control("-m", "fast", "stop")
    spoil(cluster, file)
    cluster.control("start")
    with pytest.raises(CommandError) as caught:
        run(new_server, amcheck_steps(site, "/tmp"))
    assert caught.value.exit_status == 2
    assert inside(cluster, f"{_LEFT}; SELECT count(*) FROM seen") == f"{left}\n0"


def test_a_page_whose_checksum_is_wrong_is_found(cluster: Extra, site: PlanContext, new_server: Server) -> None:
    file = inside(cluster, "SELECT pg_relation_filepath('\"odd schema\".t_code_key')")
    assert page_checksum_steps(site) == []
    cluster.control("-m", "fast", "stop")
    cluster.run("pg_checksums", "--enable", "-D", cluster.folder)
    control = site.cluster.control
    assert control is not None
    summed = page_checksum_steps(
        replace(site, cluster=replace(site.cluster, control=replace(control, data_checksums=1)))
    )
    assert "Bad checksums:  0" in run(new_server, summed)
    spoil(cluster, file)
    with pytest.raises(CommandError) as caught:
        run(new_server, summed)
    assert f'checksum verification failed in file "{cluster.folder}/{file}"' in caught.value.stderr
    cluster.control("start")


def spoil(cluster: Extra, file: str) -> None:
    """Bytes of a page are overwritten, behind the server's back."""
    dd = f"head -c 60 /dev/zero | tr '\\0' '\\377' | dd of={cluster.folder}/{file} bs=1 seek=8100 conv=notrunc"
    cluster.host.exec("sh", "-c", f"{dd} 2>/dev/null", user="postgres")
