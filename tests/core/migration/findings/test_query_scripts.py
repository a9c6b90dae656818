"""Scripts of the operator's: which are measured, which are refused before anything runs, and where."""

from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.facts.catalog import Catalogs
from core.facts.model import Cluster, Database
from core.migration.findings.query_scripts import LARGEST, check_queries, decode_script, query_database, read_script
from core.migration.model.dress import Queries, Script
from tests.core.migration.builders import cluster


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "\\set a random(1, 10)\nselect * from t where a = :a;\n",
        "\\set a 1 + \\\n  2\nselect case when :a then 1\nend;",
        "with a as (select 1) select * from a;;",
        "(select 1) union (values (2));\ntable t",
        "select $$; vacuum; $$, $q$ ; copy $q$, e'\\'; do', \"odd; name\" /* ; vacuum */;",
        "select 1 -- ; vacuum\n;\n-- \\sleep\n/* ahead */ select 2",
        "select a ~ '\\d+;' from t where b = E'\\\\; set'",
        "with a as (insert into t values (1) returning 1) select 1",  # the server refuses it, and says so
        "select '12:30:00'::time, a::text, '::cast' from t -- at:once",
        "select a$b$ from t; select $1, b$b$ from t;",
        "select to_char(now(), 'HH24:MI'), '{\"a\":true}'::jsonb /* at:once */",
    ],
)
def test_what_reads_is_measured(text: str) -> None:
    assert decode_script("it.sql", text.encode()) == text


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        # by which pgbench runs a program, wherever a text seems to be
        ("select 1;\n\\shell ls", 2, "pgbench would run a program"),
        ("\\SetShell a ls\nselect :a", 1, "pgbench would run a program"),
        ("select 1;\n\\ shell ls", 2, "pgbench would run a program"),
        ("select 1;\n\\ \\\n\t\\\r\nshell ls", 2, "pgbench would run a program"),
        ("select e'a'\n'\\', '\n\\shell ls\n--';", 3, "pgbench would run a program"),
        ("select $\U0001f600$'$\U0001f600$\n\\shell ls\n';", 2, "pgbench would run a program"),
        ("-- '\n\\shell ls\nselect 1 -- '", 2, "pgbench would run a program"),
        # other commands of pgbench's
        ("select 'f' as f \\gset\nselect :f(1)", 1, "\\gset is not allowed here"),
        ("select 1 \\aset", 1, "\\aset is not allowed here"),
        ("select 1 \\; reindex table t", 1, "\\ is not allowed here"),
        ("\\startpipeline\nselect 1;\n\\endpipeline", 1, "\\startpipeline is not allowed here"),
        ("select 1;\n\\sleep 3600 s", 2, "\\sleep is not allowed here"),
        ("select 1;\n\\! ls", 2, "is not allowed here"),
        # what is no query
        ("set standard_conforming_strings = off; select 1", 1, "set does not begin a query"),
        ("select 1;\nSET work_mem = '8GB'", 2, "SET does not begin a query"),
        ("begin;\nselect 1;\nend", 1, "begin does not begin a query"),
        ("select 1; prepare transaction 'x'", 1, "prepare does not begin a query"),
        ("declare c cursor with hold for select 1", 1, "declare does not begin a query"),
        ("copy t to program 'sh'", 1, "copy does not begin a query"),
        ("select 1;\n/* now */ vacuum", 2, "vacuum does not begin a query"),
        ("do $$ begin end $$; select 1", 1, "do does not begin a query"),
        ("\\set a 1\ninsert into t values (:a)", 2, "insert does not begin a query"),
        (":a; select 1", 1, ":a does not begin a query"),
        ("select 1;\n\0", 2, "NUL"),
    ],
)
def test_what_does_more_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(InputError) as caught:
        decode_script("it.sql", text.encode())
    assert caught.value.message.startswith(f"it.sql, line {line}: ")
    assert said in caught.value.message


@pytest.mark.parametrize("text", ["\\ " * 50_000, "/*" * 50_000, "$a$ $b" * 16_000, "\\\n" * 50_000])
@pytest.mark.timeout(20)
def test_no_script_takes_long_to_look_at(text: str) -> None:
    with pytest.raises(InputError):
        decode_script("it.sql", text.encode())


@pytest.mark.parametrize("text", ["", "\n \n", "-- nothing", "\\set a 1\n", ";"])
def test_a_script_without_a_query_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"it\.sql contains no query"):
        decode_script("it.sql", text.encode())


def test_text_comes_in_utf8_from_any_workstation() -> None:
    assert decode_script("it.sql", b"\xef\xbb\xbfselect 1;\r\nselect 'b'\r\n") == "select 1;\nselect 'b'\n"
    with pytest.raises(InputError, match="line 2: the text is not UTF-8"):
        decode_script("it.sql", b"select 1;\nselect '\xe4'")


def test_a_weight_stands_behind_the_file_as_for_pgbench(tmp_path: Path) -> None:
    one, odd = tmp_path / "one.sql", tmp_path / "a@b c\n.sql"
    one.write_text("select 1")
    odd.write_text("select 2")
    assert read_script(str(one)) == Script("one.sql", 1, "select 1")
    assert read_script(f"{one}@30").weight == 30
    assert read_script(str(odd)) == Script("a@b c\\n.sql", 1, "select 2")
    assert read_script(f"{odd}@2").weight == 2
    for wrong in ("0", "1000001", "99999999999999999999"):
        with pytest.raises(InputError, match="weight"):
            read_script(f"{one}@{wrong}")


def test_what_is_no_script_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.sql"
    large.write_text(f"select '{'x' * LARGEST}'")
    with pytest.raises(InputError, match="is longer than"):
        read_script(str(large))
    for name in (str(tmp_path), str(tmp_path / "none.sql"), "/dev/zero", "", "a\0b"):
        with pytest.raises(InputError):
            read_script(name)


@pytest.mark.parametrize(
    "queries",
    [
        Queries((Script("a", 1, "x"),), "r", clients=0),
        Queries((Script("a", 1, "x"),), "r", clients=33),
        Queries((Script("a", 1, "x"),), "r", seconds=0),
        Queries((Script("a", 1, "x"),), "r", seconds=601),
        Queries((Script("a", 1, "x"),) * 21, "r"),
        Queries((Script("a", 1, "x" * (LARGEST // 2 + 1)),) * 2, "r"),
        *(Queries((Script("a", 1, "x"),), role) for role in ("", "a'b", 'a"b', "a\\b", "a\nb", "/a", "a" * 64)),
    ],
)
def test_the_measurement_is_bounded(queries: Queries) -> None:
    with pytest.raises(InputError):
        check_queries(queries)


def database(name: str, tables: int | None, **changes: Any) -> Database:
    return Database(name, 1, catalogs=Catalogs(tables=tables), **changes)


def of(*databases: Database) -> Cluster:
    return cluster(databases=databases)


def test_the_queries_run_where_the_operator_says_or_in_the_only_database_with_tables() -> None:
    asked, own = Queries((), "r", database="b"), Queries((), "r")
    two = of(database("postgres", 0), database("a", 3), database("template9", 3, template=True))
    assert query_database(own, two) == "a"
    assert query_database(own, of(database("postgres", 0))) == "postgres"
    assert query_database(asked, of(database("a", 3), database("b", 0))) == "b"
    with pytest.raises(InputError) as caught:
        query_database(own, of(database("a", 3), database("b", 1)))
    assert caught.value.hint == "Name one with --queries-in: a, b."
    with pytest.raises(InputError, match="no database b"):
        query_database(asked, two)
    for name in ("a\nb", "a'b", 'a"b', "a\\b"):
        with pytest.raises(InputError, match="cannot measure queries in the database"):
            query_database(own, of(database(name, 3)))
