"""Examples of what SQL tells of a cluster. psql is played; what the statements say to a server, tests/live shows."""

from tests.resources.sh.examples import Example

_READ = 'asked=; while read -r line; do asked="$asked $line"; done\n'
_PSQL = {
    "psql": _READ
    + r"""case "$asked" in
  *"'value '"*) printf '%s\n' 'set work_mem = 8192' 'value b = 1' 'set c = 3' 'set d = 4'
    printf 'value %s\n' 'a_b # 7' 'port = 2' ;;
  *"'yes' from pg_roles"*) echo yes ;;
  *pg_settings*) printf 'setting %s\n' 'work_mem = 4096' 'b = 1' 'a_b = 2' ;;
  *relfilenode*) printf 'base/5/%s\n' 1 2 ;;
  *"|| ' ' || "*datname*) printf '2 %s\n' 'it'\''s  "x"' postgres ;;
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
lost 1 base/5/2
warning: In the database it's  "x" these relations have no file: 1 base/5/2. Check its disks.
database postgres
invalid index postgres
relations i 20
relations r 12
lost 1 base/5/2
warning: In the database postgres these relations have no file: 1 base/5/2. Check its disks.
# whole
"""
_HERE = ("@path@", "/tmp", "5433", "15", "60")
_DATA = "mkdir -p data/base/5 data/base/7 data/pg_tblspc/1/PG_15_7/8 && touch data/base/5/1"
_BEFORE = """identifier 1
option port = 1
setting work_mem = 4096 kB
setting a # 5
file work_mem = 4MB
file a # 5
file listen_addresses = *
database shop
oid 5
relations r 12
relations i 20
invalid index old
database gone away
oid 6
"""
_SERVES = (
    "mkdir data && cp /bin/sleep postgres && { (cd data && ulimit -n 64 && exec env -i PATH=/usr/bin:/none BUCKET=s3 "
    "HOME=/root ../postgres 60 >/dev/null 2>../messages) & } && echo $! >data/postmaster.pid && became postgres $!"
)
_END = 'kill "$(cat data/postmaster.pid)"'
_OTHER_PROCESS = """setting work_mem = 4096 kB
limit 5000 open files
log /var/log/pg
path /usr/bin
path /usr/games
path /opt/wal-g/bin
variable 0badbeef BUCKET
variable 12345678 TZ
database shop
variable 1 OTHER"""
_NOW = """identifier 1
setting work_mem = 8192 kB
setting a # 6
file work_mem = 4MB
file a # 5
file listen_addresses = *
database new
oid 9
database shop
oid 5
relations r 11
relations i 20
relations S 1
invalid index old
invalid index new one
"""
_NOTES = """note: The database shop had 12 tables and 11 now, 0 sequences and 1 now: \
clients created or dropped some after the inventory was taken.
gone 6 gone away
note: The database new was created after the inventory was taken.
warning: The index new one of the database shop is invalid: \
clients began to build it after the inventory was taken, and did not finish. Rebuild it with REINDEX, or drop it.
""".replace("\\\n", "")
_OLD = """option port = 1
setting b = 1
setting work_mem = 4096
setting a_b # 6
file d = 4
database shop
setting b = 9
# whole
"""
_WANTED = "on the old one{}. Check whether this is intended, and change it otherwise.\n"
_DIFFERS = "".join(
    f"warning: The setting {said}"
    for said in (
        "a_b is another value, which is not shown, on the new server, and was another value, which is not shown, "
        + _WANTED.format(""),
        'c is "3" on the new server, and was at its default ' + _WANTED.format(""),
        'd is "4" on the new server, and was at its default '
        + _WANTED.format(
            ": a file was edited, and the old server had not loaded it when its inventory was taken, before the stop"
        ),
        'port is "2" on the new server, and was "1" ' + _WANTED.format(", by an option on its command line"),
        'work_mem is "8192" on the new server, and was "4096" ' + _WANTED.format(""),
    )
)
_LOCK = "mkdir data && printf '%s\\n' 7 data 0 2 /sock >data/postmaster.pid"
_PLAIN = "-c search_path=pg_catalog -c role=none -c statement_timeout="
_NO_WAITS = " -c synchronous_commit=local -c lock_timeout=60000"
_CHANGING = "-c default_transaction_read_only=off -c session_replication_role=replica -c client_min_messages=warning"
_IN_TIME = {"connect_end": "9999999999"}
_REFUSED = {"psql": "echo 'psql: error: no server' >&2; exit 2"}


def _names(*lines: str) -> dict[str, str]:
    return {"psql": _READ + f"printf '%s\\n' {' '.join(repr(line) for line in lines)}"}


EXAMPLES = [
    Example("take_inventory", (*_HERE, "data"), arrange=_DATA, programs=_PSQL, prints=_INVENTORY),
    Example("setting_line_sql", ("value",), matches=r"name \|\| case when [\s\S]*hashtext\(value\)[\s\S]* end"),
    Example(
        "report_lost_relations",
        ("shop",),
        arrange=f"{_DATA} && mv data/* .",
        settings=_IN_TIME,
        programs=_PSQL,
        prints="lost 1 base/5/2\n"
        "warning: In the database shop these relations have no file: 1 base/5/2. Check its disks.\n",
    ),
    Example("report_lost_relations", ("shop",), settings=_IN_TIME, programs=_names("", ""), prints="", name="none"),
    Example(
        "list_absent_relations",
        ("shop",),
        arrange=f"{_DATA} && mv data/* .",
        settings=_IN_TIME,
        programs=_PSQL,
        prints="base/5/2\n",
    ),
    Example(
        "compare_inventory",
        (*_HERE, "data", "port"),
        arrange=_DATA,
        stdin=_INVENTORY.replace("relations r 12", "relations r 13"),
        programs=_PSQL,
        prints="".join(
            f"note: The database {name} had 13 tables and 12 now: clients created or dropped some after the inventory "
            "was taken.\n"
            for name in ('it\'s  "x"', "postgres")
        ),
    ),
    *(
        Example(
            "compare_inventory",
            (*_HERE, "data", "port"),
            arrange=_DATA,
            stdin=stdin,
            programs=_PSQL,
            status=1,
            complains=complains,
            name=name,
        )
        for name, stdin, complains in (
            ("lost", _INVENTORY.replace("lost 1 base/5/2\n", ""), "postgres 1 relations have no file, and 0 had none"),
            ("gone", f"database kept\noid 7\n{_INVENTORY}", "kept does not exist, but its files in base/7 do"),
            ("cut off", _INVENTORY[:-3], "the input is incomplete"),
        )
    ),
    Example("judge_missing_database", ("6", "a b"), arrange=_DATA, matches="note: The database a b was dropped .*\n"),
    Example(
        "judge_missing_database",
        ("8", "a b"),
        arrange=f"{_DATA} && mv data/* .",
        matches="wrong: The database a b .* its files in pg_tblspc/1/PG_15_7/8 do. .*\n",
        name="not dropped",
    ),
    Example("compare_inventories", (_BEFORE, _NOW, "port"), prints=_NOTES),
    *(
        Example(
            "compare_inventories",
            (_BEFORE, _BEFORE.replace(*change), "listen_addresses,port"),
            matches=f"wrong: .*{said}.*\n",
            name=name,
        )
        for name, change, said in (
            ("another cluster", ("identifier 1", "identifier 2"), "its system identifier is 2, not 1"),
            (
                "another file",
                ("4096 kB\nsetting a # 5\nfile work_mem = 4MB", "1 kB\nfile work_mem = 1kB\nsetting a # 5"),
                "was 4MB in the files of the old server, and is 1kB",
            ),
            ("lost", ("oid 5", "oid 5\nlost 7 base/5/7"), "shop 7 relations have no file, and 0 had none .*base/5/7"),
        )
    ),
    Example(
        "compare_inventories",
        (_BEFORE, _BEFORE.replace("4MB", "4096kB"), ""),
        prints="",
        name="the same in other words",
    ),
    Example(
        "compare_inventories",
        (_BEFORE.replace("oid 6", "oid 3000000001"), _BEFORE.partition("database gone")[0], ""),
        prints="gone 3000000001 gone away\n",
        name="an OID of more than 31 bits",
    ),
    Example(
        "compare_inventories",
        (_BEFORE, _BEFORE.replace("database gone away\noid 6", "exists 6"), ""),
        matches="note: The database gone away was renamed after .*, or it no longer allows connections.\n",
        name="renamed",
    ),
    *(
        Example(
            "print_differing_settings",
            (*_HERE, "data", after, "-"),
            arrange=_LOCK,
            stdin=_OLD,
            programs=_PSQL,
            prints=_DIFFERS.replace("on the new server", here).replace("on the old one", there),
            name=after,
        )
        for after, here, there in (
            ("cutover", "on the new server", "on the old one"),
            ("rollback", "on the old server now", "before the stop"),
        )
    ),
    *(
        Example(
            "print_differing_settings",
            (*_HERE, "data", after, "d,x"),
            arrange=_LOCK,
            stdin=_OLD,
            programs=_PSQL,
            matches=rf'(?s).*\n?{level}: The setting d is "4" [^\n]* is in force, as was chosen\.\n.*',
            name=f"as chosen, {after}",
        )
        for after, level in (("cutover", "note"), ("rollback", "warning"))
    ),
    Example(
        "compare_settings",
        (*_HERE, "data", "cutover", "-"),
        arrange=_LOCK,
        stdin=_OLD,
        programs=_PSQL,
        prints=_DIFFERS,
        tolerates=dict.fromkeys(("psql", "timeout", "awk", "sed", "sort", "date", "cat"), "it warns, and never fails"),
    ),
    *(
        Example(
            "warn_of_differing_file",
            (after, "hba_file", "@folder@/hba"),
            arrange="touch hba other; ln -s other link",
            settings=_IN_TIME,
            programs={"psql": _READ + "printf '%s\\n' \"$PWD/link\""},
            matches=rf'warning: The setting hba_file is "\S+/link" on the {said} "\S+/hba"[^\n]*\. Check [^\n]*\n',
            name=after,
        )
        for after, said in (
            ("cutover", "new server, where the file of the old one is"),
            ("rollback", "old server now, and was"),
        )
    ),
    Example("warn_of_differing_file", ("cutover", "hba_file", "-"), prints="", name="not known"),
    Example(
        "print_process",
        ("data",),
        arrange=_SERVES,
        matches=r"(limit \S+ [a-z ]+\n)+log \S+/messages\npath /usr/bin\nvariable 41242b9f BUCKET\n",
        after=_END,
        tolerates={"sed behind": "it has printed everything"},
    ),
    Example("print_process", ("data",), arrange="mkdir data", prints="", name="no lock file"),
    Example(
        "print_process", ("data",), arrange="mkdir data && echo $$ >data/postmaster.pid", prints="", name="another's"
    ),
    Example(
        "warn_of_other_process",
        ("data", _OTHER_PROCESS),
        arrange=_SERVES,
        prints="".join(
            f"warning: {each}. If the old server needs this, restart it in the way in which you usually start it.\n"
            for each in (
                "The limit of the old server for open files is 64 now, and was 5000 before the stop",
                "The old server wrote its messages to /var/log/pg before the stop, and does not any more",
                "The PATH of the old server lacks /opt/wal-g/bin now, which it had before the stop",
                "Variables in the environment of the old server had other values before the stop: BUCKET, TZ",
            )
        ),
        after=_END,
    ),
    Example(
        "warn_of_other_process",
        ("data", "limit 60 open files\npath /usr/bin\nvariable 41242b9f BUCKET\ndatabase a\nvariable 1 TZ"),
        arrange=_SERVES,
        prints="",
        after=_END,
        name="as before",
    ),
    Example("warn_of_other_process", ("data", _OTHER_PROCESS), arrange="mkdir data", prints="", name="not to be seen"),
    Example(
        "warn_of_differing_file",
        ("cutover", "hba_file", "@folder@/hba"),
        arrange="touch hba; ln -s hba link",
        settings=_IN_TIME,
        programs={"psql": _READ + "printf '%s\\n' \"$PWD/link\""},
        prints="",
        name="the same behind a link",
    ),
    Example(
        "print_differing_settings",
        (*_HERE, "data", "cutover", "-", "hba_file", "/hba"),
        arrange=_LOCK,
        stdin="# whole\n",
        programs={"psql": _READ + "case $asked in *boot_val*) ;; *) echo /other ;; esac"},
        matches='\n?warning: The setting hba_file is "/other" [^\n]*"/hba"[^\n]*\n',
        name="other rules",
    ),
    *(
        Example(
            "compare_settings",
            (*_HERE, "data", after, "-"),
            arrange=_LOCK,
            stdin=_OLD,
            programs=_REFUSED,
            matches=f"warning: The settings of the {of} server .* no server pghaul: .*could not be queried\n",
            tolerates=dict.fromkeys(("psql", "date", "timeout", "sed", "cat", "tr"), "it warns, and never fails"),
            name=f"no server, {after}",
        )
        for after, of in (("cutover", "new"), ("rollback", "old"))
    ),
    Example(
        "take_inventory",
        (*_HERE, "data"),
        arrange=_DATA,
        programs=_REFUSED,
        status=1,
        complains="the database postgres could not",
        name="no server",
    ),
    Example(
        "take_inventory",
        (*_HERE, "data"),
        arrange=_DATA,
        programs={"psql": _PSQL["psql"].replace("*relkind*)", '*relkind*) [ "$PGDATABASE" != postgres ] || exit 1;')},
        status=1,
        complains="the database postgres could not be queried",
        name="it breaks off at the last database",
    ),
    *(
        Example(
            "list_clients",
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
            complains="the list of the databases is incomplete",
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
            ("10", _NO_WAITS),
            ("13", f"{_NO_WAITS} -c jit=off"),
            ("18", f"{_NO_WAITS} -c jit=off -c client_connection_check_interval=10000"),
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
        complains="the time limit was reached before sleep could run in the database shop",
        name="too late",
    ),
    Example(
        "take_inventory",
        (*_HERE[:4], "2", "data"),
        arrange=_DATA,
        programs={"psql": "exec sleep 60"},
        status=1,
        complains="psql was ended, because the time limit was reached",
        prints="",
        seconds=15,
        name="no answer",
    ),
    Example(
        "run_writing",
        ("eval", 'echo "$PGOPTIONS"'),
        settings={"PGOPTIONS": "-c a=b"},
        prints=f"-c a=b {_CHANGING}\n",
    ),
    Example(
        "run_with_database_path",
        ("eval", 'echo "$PGOPTIONS"'),
        settings={"PGOPTIONS": "-c search_path=pg_catalog -c a=b"},
        prints=" -c a=b\n",
    ),
    Example(
        "query_database",
        ("shop", "select 1;"),
        settings=_IN_TIME,
        programs={"psql": _READ + 'echo "$PGDATABASE$asked"'},
        prints="shop select 1;\n",
    ),
    Example(
        "query_database",
        ("shop", "select 1;"),
        settings=_IN_TIME,
        programs=_REFUSED,
        status=1,
        complains="the database shop could not be queried",
        name="no server",
    ),
    Example(
        "query_cluster",
        ("select 1;",),
        settings=_IN_TIME,
        programs={"psql": _READ + 'echo "$PGDATABASE$asked"'},
        prints="postgres select 1;\n",
    ),
    Example(
        "query_cluster",
        ("select 1;",),
        settings=_IN_TIME,
        programs={"psql": _READ + '[ "$PGDATABASE" = template1 ] || exit 2; echo "$PGDATABASE$asked"'},
        prints="template1 select 1;\n",
        name="without a database postgres",
    ),
    Example(
        "query_cluster",
        ("select 1;",),
        settings=_IN_TIME,
        programs=_REFUSED,
        status=1,
        complains="the database postgres could not be queried",
        name="no server",
    ),
    Example(
        "query_cluster",
        ("select 1;",),
        settings=_IN_TIME,
        programs={"psql": _READ + "echo half; exit 2"},
        status=1,
        complains="the database postgres could not be queried",
        name="lost on its way",
    ),
    Example("setting_source_sql", ("15",), matches="(?s).*reset_val is distinct from boot_val.*pg_db_role_setting.*"),
    Example("setting_override_sql", matches="(?s)exists .*pg_db_role_setting.*"),
    Example("setting_value_sql", matches="case when .* then reset_val else setting end\n"),
    *(
        Example(
            "query_without_options",
            (series, "select 1;"),
            settings=_IN_TIME | {"PGOPTIONS": "-c jit=off"},
            programs={"psql": _READ + 'echo "$PGOPTIONS$asked"'},
            matches=rf" set search_path = pg_catalog; set role none; .* = 60000; {first}\s*select 1;\n",
            name=name,
        )
        for series, first, name in (("15", "set jit = off;", ""), ("10", "", "before jit"))
    ),
    Example("query_new_cluster", _HERE, programs=_PSQL, prints="PostgreSQL 15.5|f|3 /tmp 5433\n"),
    Example(
        "warn_of_collation_versions",
        _HERE,
        programs=_names("warning: the collation of database a"),
        prints="warning: the collation of database a\n",
    ),
    Example(
        "warn_of_collation_versions",
        _HERE,
        programs=_REFUSED,
        status=1,
        complains="could not be queried",
        name="no server",
    ),
]
