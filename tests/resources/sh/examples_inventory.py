"""Examples of what SQL tells of a cluster. psql is played; what the statements say to a server, tests/live shows."""

from tests.resources.sh.examples import Example

_READ = 'asked=; while read -r line; do asked="$asked $line"; done\n'
_PSQL = {
    "psql": _READ
    + r"""case "$asked" in
  *pg_settings*) printf 'setting %s\n' 'work_mem = 4096' 'b = 1' 'a_b = 2' ;;
  *"|| ' ' || datname"*) printf '2 %s\n' 'it'\''s  "x"' postgres ;;
  *relkind*) printf '%s\n' 'relations r 12' 'relations i 20' "invalid index $PGDATABASE" ;;
  *'version()'*) printf '%s\n' "PostgreSQL 15.5|f|3 $PGHOST $PGPORT" ;;
  *) exit 1 ;;
esac"""
}
_INVENTORY = """setting a_b = 2
setting b = 1
setting work_mem = 4096
database it's  "x"
invalid index it's  "x"
relations i 20
relations r 12
database postgres
invalid index postgres
relations i 20
relations r 12
# whole
"""
_HERE = ("@path@", "/tmp", "5433", "15", "60")
_PLAIN = "-c search_path=pg_catalog -c role=none -c statement_timeout="
_NO_WAITS = " -c synchronous_commit=local -c lock_timeout=60000"
_CHANGING = "-c default_transaction_read_only=off -c session_replication_role=replica -c client_min_messages=warning"
_IN_TIME = {"connect_end": "9999999999"}
_REFUSED = {"psql": "echo 'psql: error: no server' >&2; exit 2"}


def _names(*lines: str) -> dict[str, str]:
    return {"psql": _READ + f"printf '%s\\n' {' '.join(repr(line) for line in lines)}"}


EXAMPLES = [
    Example("take_inventory", _HERE, programs=_PSQL, prints=_INVENTORY),
    Example(
        "take_inventory",
        _HERE,
        programs=_REFUSED,
        status=1,
        complains="the database postgres could not",
        name="no server",
    ),
    Example(
        "take_inventory",
        _HERE,
        programs={"psql": _PSQL["psql"].replace("*relkind*)", '*relkind*) [ "$PGDATABASE" != postgres ] || exit 1;')},
        status=1,
        complains="the database postgres could not be asked",
        name="it breaks off at the last database",
    ),
    *(
        Example(
            "connected_clients",
            (*_HERE[:3], series, "60"),
            programs={"psql": f"{_READ}case $asked in *{asked}*) echo '2 of app, local' ;; *) exit 1 ;; esac"},
            prints="2 of app, local\n",
            name=series,
        )
        for series, asked in (
            ("8.4", "\"''::text = ''\""),
            ("9.1", "'where procpid <> pg_backend_pid()'"),
            ("9.6", "'where pid <> pg_backend_pid()'"),
            ("15", "\"backend_type in ('client backend', 'walsender')\""),
        )
    ),
    Example("database_names", programs=_names("2 a b", "2 c"), settings=_IN_TIME, prints="a b\nc\n"),
    *(
        Example(
            "database_names",
            programs=_names(*lines),
            settings=_IN_TIME,
            status=1,
            complains="the list of the databases broke off",
            prints="",
            name=name,
        )
        for name, lines in (("it breaks off", ("3 a", "3 b")), ("empty", ()), ("no count", ("a", "b")))
    ),
    *(
        Example(
            "connect_to",
            ("@path@", "-", "5433", series, "60"),
            after=f'(connect_to "$PATH" - 5433 {series} 60; [ "$PGOPTIONS" = "{_PLAIN}60000{options}" ])',
            name=series,
        )
        for series, options in (
            ("9.0", ""),
            ("9.2", " -c synchronous_commit=local"),
            ("13", _NO_WAITS),
            ("18", f"{_NO_WAITS} -c client_connection_check_interval=10000"),
        )
    ),
    Example(
        "in_database",
        ("shop", "psql"),
        settings=_IN_TIME,
        programs={"psql": 'echo "$PGDATABASE"'},
        prints="shop\n",
        tolerates={"psql": "it ends as psql does", "timeout": "it ends as psql does"},
    ),
    Example(
        "in_database",
        ("shop", "sleep", "60"),
        settings={"connect_end": "1"},
        status=1,
        complains="no time is left for sleep in the database shop",
        name="too late",
    ),
    Example(
        "take_inventory",
        (*_HERE[:4], "1"),
        programs={"psql": "exec sleep 60"},
        status=1,
        complains="psql was ended: its time was over",
        prints="",
        seconds=15,
        name="no answer",
    ),
    Example(
        "changing",
        ("eval", 'echo "$PGOPTIONS"'),
        settings={"PGOPTIONS": "-c a=b"},
        prints=f"-c a=b {_CHANGING}\n",
    ),
    Example(
        "by_its_path",
        ("eval", 'echo "$PGOPTIONS"'),
        settings={"PGOPTIONS": "-c search_path=pg_catalog -c a=b"},
        prints=" -c a=b\n",
    ),
    Example(
        "ask_sql",
        ("shop", "select 1;"),
        settings=_IN_TIME,
        programs={"psql": _READ + 'echo "$PGDATABASE$asked"'},
        prints="shop select 1;\n",
    ),
    Example(
        "ask_sql",
        ("shop", "select 1;"),
        settings=_IN_TIME,
        programs=_REFUSED,
        status=1,
        complains="the database shop could not be asked",
        name="no server",
    ),
    Example("ask_new", _HERE, programs=_PSQL, prints="PostgreSQL 15.5|f|3 /tmp 5433\n"),
    Example(
        "collation_versions",
        _HERE,
        programs=_names("warning: the collation of database a"),
        prints="warning: the collation of database a\n",
    ),
    Example("collation_versions", _HERE, programs=_REFUSED, status=1, complains="could not be asked", name="no server"),
]
