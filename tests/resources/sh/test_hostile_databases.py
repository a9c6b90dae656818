"""Who owns a database decides what its names mean to a session there: nothing of theirs runs as the cluster's owner."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from core.facts.collect import collect
from core.facts.model import Cluster
from core.jobs import Job
from core.migration.model.table_sample import parse_copied_tables, parse_locked_tables
from core.servers.connection import Server
from core.servers.shell import call
from tests.core.facts.here import Here

PORT = 5433
SECONDS = 60
ASKED = ("take_inventory", "list_clients", "warn_of_collation_versions", "query_new_cluster")
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: float(each.parent.name))[-1:]
OWNER = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
KNOWN = OWNER in {each.pw_name for each in pwd.getpwall()}
pytestmark = [
    pytest.mark.filling,
    pytest.mark.slow,
    pytest.mark.skipif(not (INSTALLED and KNOWN), reason="there is no PostgreSQL with an account for it"),
]

HERS = """
create role mallory login;
create database shop owner mallory;
\\connect shop
revoke select on pg_catalog.pg_namespace from public;
"""
SHADOWED = r"""
create function evil.note() returns void language plpgsql as $note$ begin
  if (select rolsuper from pg_catalog.pg_roles where rolname operator(pg_catalog.=) current_user) then
    execute 'copy (select 1) to ''@noted@''';
  end if;
end $note$;
do $all$ declare made record; many int := 0; begin
  for made in select proname, oidvectortypes(proargtypes) as takes, format_type(prorettype, null) as gives, proretset,
    oid, pronargs from pg_proc p where pronamespace = 11 and prokind = 'f' and provariadic = 0
    and not exists (select 1 from unnest(proargtypes || array[prorettype]) t where t <> all(
    '{bool,"\"char\"",name,text,oid,int4,int8,float8,numeric,bytea,regclass,inet,pg_lsn}'::regtype[]))
  loop
    execute format('create function evil.%I(%s) returns %s %s language plpgsql as %L', made.proname, made.takes,
      case when made.proretset then 'setof' else '' end, made.gives,
      case when made.proretset then 'begin perform evil.note(); return; end'
      else 'begin perform evil.note(); return null; end' end);
    many := many + 1;
  end loop;
  assert many > 500;
  for made in select oprname, oprleft::regtype as l, oprright::regtype as r, p.proname from pg_operator o
    join pg_proc p on p.oid = o.oprcode where oprnamespace = 11 and oprkind = 'b' and exists (select 1 from pg_proc e
    where e.proname = p.proname and e.proargtypes = p.proargtypes and e.pronamespace = 'evil'::regnamespace)
  loop
    execute format('create operator evil.%s (leftarg = %s, rightarg = %s, procedure = evil.%I)', made.oprname, made.l,
      made.r, made.proname);
  end loop;
end $all$;
-- nearer to what is asked than what the system has
create function evil.joined(text, name) returns text language plpgsql as 'begin perform evil.note(); return 1; end';
create operator evil.|| (leftarg = text, rightarg = name, procedure = evil.joined);
"""
STOCK = """
create table stock (item int primary key, words text, counted timestamp);
insert into stock select n, repeat(md5(n::text), 20), '2026-01-31' from generate_series(1, 4000) n;
create index stock_upper on stock (upper(substr(words, 1, 10)));
"""

RULES = """
create schema rules;
alter database shop set search_path = public, rules;
set search_path = public, rules;
create table rules.known (word text, means text);
create function rules.meaning(text) returns text language sql immutable as
  'select coalesce((select means from known where word = $1), $1)';
create index stock_words on stock (rules.meaning(substr(words, 1, 10)));
"""


@dataclass(frozen=True)
class Stage:
    """A running cluster in `folder`, its programs in `programs`."""

    folder: Path
    programs: Path

    @property
    def noted(self) -> Path:
        """Written by what mallory made, as soon as a superuser runs it."""
        return self.folder / "noted"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def runs(self, *command: str | Path, given: str = "") -> "subprocess.CompletedProcess[str]":
        """As the cluster's owner."""
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=self.folder,
            env={"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.folder), "PGHOST": str(self.folder)},
            user=OWNER if os.geteuid() == 0 else None,
        )
        assert done.returncode == 0, done.stderr
        return done

    def sql(self, database: str, statements: str, role: str = OWNER) -> str:
        made = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-p", str(PORT), "-U", role, "-d", database]
        return self.runs(*made, given=statements).stdout

    def calls(self, function: str, *words: str | int) -> str:
        """What a function of the remote half prints there."""
        made = call(function, *words)
        return self.runs("sh", "-c", f"{made.functions}\n{made.text}").stdout

    def asks(self, function: str, *words: str | int) -> str:
        """The same, of one that is told where the server is."""
        where = (f"{self.programs}:/usr/bin:/bin", str(self.folder), PORT, self.series)
        return self.calls(function, *where, SECONDS, *(words or (str(self.data),)))

    @property
    def series(self) -> str:
        return self.programs.parent.name

    @property
    def cluster(self) -> Cluster:
        facts = collect(cast("Server", Here()), Job(), folders=[str(self.data)])
        (found,) = (each for each in facts.clusters if each.data_directory == str(self.data))
        assert not [gap for gap in facts.gaps if str(self.data) in gap.subject]
        return found


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    folder = Path(tempfile.mkdtemp(prefix="hostile-", dir="/tmp"))  # a socket's name is short
    found = Stage(folder, INSTALLED[0])
    if os.geteuid() == 0:
        shutil.chown(folder, OWNER)
    try:
        found.runs("initdb", "-N", "-D", found.data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c port={PORT} -c fsync=off"
        found.runs("pg_ctl", "-D", found.data, "-w", "-s", "-l", folder / "log", "-o", settings, "start")
        try:
            found.sql("postgres", HERS)
            found.sql("shop", STOCK, "mallory")
            yield found
        finally:
            found.runs("pg_ctl", "-D", found.data, "-s", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class Said:
    """What a calm cluster says to each function, and its facts."""

    asked: dict[str, str]
    facts: Cluster


@pytest.fixture(scope="module")
def calm(stage: Stage) -> Said:
    return Said({function: stage.asks(function) for function in ASKED}, stage.cluster)


@pytest.fixture(scope="module")
def hers(stage: Stage, calm: Said) -> Stage:  # noqa: ARG001  # what is calm is asked before
    """By now mallory's database means by each name what she likes, and so does the one that everybody may write to."""
    for name in ("postgres", "shop"):
        stage.sql(name, "create schema evil authorization mallory;")
        stage.sql(name, SHADOWED.replace("@noted@", str(stage.noted)), "mallory")
        stage.sql(name, f"alter database {name} set search_path = evil, pg_catalog, public;")
    stage.sql("shop", "select 'a'::text || 'b'::text;")
    assert stage.noted.exists(), "a superuser who names no schema runs hers"
    for setting in ("role = mallory", "datestyle = 'SQL, DMY'"):
        stage.sql("shop", f"alter database shop set {setting};", "mallory")
    return stage


@pytest.fixture
def unseen(hers: Stage) -> Iterator[Stage]:
    """And nothing of it runs as a superuser meanwhile."""
    hers.noted.unlink(missing_ok=True)
    yield hers
    assert not hers.noted.exists()


def test_indexes_are_built_anew_where_their_functions_find_what_they_name(stage: Stage, calm: Said) -> None:  # noqa: ARG001
    if float(stage.series) >= 17:
        pytest.skip("from 17 on PostgreSQL itself lets an index name nothing without its schema")
    stage.sql("shop", RULES, "mallory")
    try:
        assert "reindex index public.stock_words;" in stage.asks("rebuild_indexes", "shop", 1, "default")
    finally:
        stage.sql("shop", "drop schema rules cascade; alter database shop reset search_path;", "mallory")


@pytest.mark.parametrize("function", ASKED)
def test_what_is_asked_is_answered_alike(function: str, calm: Said, unseen: Stage) -> None:
    assert unseen.asks(function) == calm.asked[function]


def test_facts_are_the_same(calm: Said, unseen: Stage) -> None:
    found = unseen.cluster
    assert found.wide is not None
    assert calm.facts.wide is not None
    assert found.wide.settings == calm.facts.wide.settings
    shop, before = (next(each for each in of.databases if each.name == "shop") for of in (found, calm.facts))
    assert before.largest_table_bytes
    assert shop.largest_table_bytes == before.largest_table_bytes
    assert shop.catalogs is not None


def test_a_sample_of_tables_is_taken(unseen: Stage) -> None:
    where = (f"{unseen.programs}:/usr/bin:/bin", str(unseen.folder), PORT, unseen.series)
    said = unseen.calls("copy_probe", str(unseen.folder), 1000000, 10, "shop", *where)
    assert "columns 1 1:int4 2:text 3:timestamp" in said
    row = unseen.runs("head", "-n", "1", unseen.folder / "rows" / "1").stdout
    assert row.endswith("\t2026-01-31 00:00:00\n")


def test_a_table_that_is_locked_costs_no_other_its_sample(unseen: Stage) -> None:
    """Mallory keeps one to herself: who asks for its size would wait until the statement's time is up."""
    unseen.sql("shop", "create table public.held as select * from public.stock; analyze public.held;", "mallory")
    psql = ["psql", "-XAtq", "-h", str(unseen.folder), "-p", str(PORT), "-U", OWNER, "-d", "shop"]
    with subprocess.Popen(
        psql,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": f"{unseen.programs}:/usr/bin:/bin"},
        user=OWNER if os.geteuid() == 0 else None,
        cwd=unseen.folder,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            holder.stdin.write("begin; lock table public.held in access exclusive mode;\n\\echo locked\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == "locked\n"
            where = (f"{unseen.programs}:/usr/bin:/bin", str(unseen.folder), PORT, unseen.series)
            said = unseen.calls("copy_probe", str(unseen.folder), 1000000, 10, "shop", *where)
        finally:
            holder.stdin.close()
            holder.wait(timeout=20)
            unseen.sql("shop", "drop table public.held;", "mallory")
    assert parse_locked_tables(said) == ("public.held",)
    assert set(parse_copied_tables(said)) == {1}
    assert "columns 1 1:int4 2:text 3:timestamp" in said


def test_tables_are_looked_through(unseen: Stage) -> None:
    assert "database shop" in unseen.asks("check_relations", 1)


def test_her_indexes_are_built_anew(unseen: Stage) -> None:
    assert "reindex index public.stock_upper;" in unseen.asks("rebuild_indexes", "shop", 1, "default")
