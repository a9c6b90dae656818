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
_HERE = ("@path@", "/tmp", "5433")
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
    Example("database_names", programs=_names("2 a b", "2 c"), prints="a b\nc\n"),
    *(
        Example(
            "database_names",
            programs=_names(*lines),
            status=1,
            complains="the list of the databases broke off",
            prints="",
            name=name,
        )
        for name, lines in (("it breaks off", ("3 a", "3 b")), ("empty", ()), ("no count", ("a", "b")))
    ),
    Example("connect_to", ("@path@", "-", "5433")),
    Example(
        "ask_sql",
        ("shop", "select 1;"),
        programs={"psql": _READ + 'echo "$PGDATABASE$asked"'},
        prints="shop select 1;\n",
    ),
    Example(
        "ask_sql",
        ("shop", "select 1;"),
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
