"""Examples of measuring queries. pgbench is played; tests/live/test_dress.py runs it against two servers."""

from tests.resources.sh.examples import Example

_REPORT = r"""for each; do case $each in --log-prefix=*) log=${each#*=} ;; *) ;; esac; done
printf '%s\n' '0 1 1500 0 1700000000 1' '0 2 1500 0 1700000000 2' '1 1 90000 1 1700000000 3' >"$log.77"
printf '%s\n' "$PGUSER $PGOPTIONS" "$@" >"${log%/*}/../asked"
echo 'progress: 1.0 s, 3.0 tps, lat 1 ms stddev 1' >&2; echo 'NOTICE:  tps = 9.0' >&2
echo 'number of transactions actually processed: 3'; echo 'tps = 1.5 (without initial connection time)'"""
_SAID = ": number of transactions actually processed: 3\n: tps = 1.5 (without initial connection time)\n"
_PSQL = r"""asked="$* $(/bin/cat)"
case $asked in
  *reached*) echo asked ;;
  *log_directory*) echo log ;;
  *rolconnlimit*) ;;
  *pg_terminate_backend*) echo "$asked" >ends ;;
  *) echo 0 ;;
esac"""
_SET = {
    "queries_folder": "@folder@/own",
    "queries_database": "shop",
    "queries_role": "reader",
    "queries_password": "",
    "queries_lacks": "",
    "queries_clients": "9",
    "queries_seconds": "5",
    "queries_weights": " 3 1",
    "queries_line": "",
    "queries_side": "new",
    "queries_run": "1",
    "queries_path": "@path@",
    "queries_socket": "/tmp",
    "queries_port": "5432",
    "queries_series": "15",
    "queries_data": "@folder@",
    "connect_end": "9999999999",
    "slots_all": "",
    "PGOPTIONS": "-c role=none",
}
_OF_OLD = ("old", "@path@", "/tmp", "5432", "15", "@folder@")
_TIMES = r"(took 0 1\d{3}:2\ntook 1 [89]\d{4}:1|took 1 [89]\d{4}:1\ntook 0 1\d{3}:2)\n"
_ASKED = {"connect_end": "9999999999", "slots_all": ""}
_WARNS = dict.fromkeys(
    ("awk", "cat", "date", "dd", "pgbench", "psql", "rm", "sed", "stat", "timeout", "tr", "full disk", "find", "id"),
    "it says why, and goes on",
) | {"sleep": "it looks again sooner"}


def _measured(pgbench: str, complains: str, name: str, after: str = "") -> Example:
    return Example(
        "measure_queries",
        arrange="mkdir own; touch own/1.sql own/2.sql",
        settings=_SET,
        programs={"pgbench": pgbench, "psql": _PSQL},
        status=1,
        complains=complains,
        after=after,
        name=name,
    )


EXAMPLES = [
    Example("refuse_admin_role", ("shop", "it"), settings=_ASKED, programs={"psql": _PSQL}, prints=""),
    Example(
        "refuse_admin_role",
        ("shop", "it"),
        settings=_ASKED,
        programs={"psql": "/bin/cat >/dev/null; echo 'asked: it is a superuser; it owns the database'"},
        status=1,
        complains="the role it: it is a superuser; it owns the database",
        name="an administrator",
    ),
    Example(
        "refuse_admin_role",
        ("shop", "it"),
        settings=_ASKED,
        programs={"psql": "/bin/cat >/dev/null"},
        status=1,
        complains="did not report the rights of the role it",
        name="no answer",
    ),
    Example("check_role", ("shop", "it", "@path@", "/tmp", "5432", "15", "60"), programs={"psql": _PSQL}, prints=""),
    Example(
        "run_with_queries",
        ("it", "r", "4", "10", "2", "3", "2", "select 1;", "  select 'a b';", "1", "1", "select 2;", "cat_all"),
        settings={"pghaul_job": "@folder@"},
        programs={"cat_all": '/bin/cat -- "$PWD"/pghaul-queries.*/*.sql'},
        prints="select 1;\n  select 'a b';\nselect 2;\n",
        tolerates={
            "cat_all": "it is what they are for",
            "mktemp": "it is found where they are measured",
            "full disk": "it is found where they are measured",
        },
        after="! ls -d pghaul-queries.* 2>/dev/null",
    ),
    Example(
        "run_with_queries",
        ("it", "r", "4", "10", "1", "1", "1", "select 1;", "fail", "so it is"),
        settings={"pghaul_job": "@folder@"},
        status=1,
        complains="so it is",
        after="! ls -d pghaul-queries.* 2>/dev/null",
        name="what they are for fails",
    ),
    Example(
        "run_with_queries",
        ("it", "r", "4", "10", "1", "1", "1", "select 1;", "measure_twice", *_OF_OLD),
        settings={"pghaul_job": "@folder@/none"},
        matches=r"(queries old [12] not measured: no folder for the scripts can be created\nwarning: .*\n){2}",
        tolerates={"mktemp": "it is said"} | _WARNS,
        name="no room",
    ),
    Example(
        "run_with_queries",
        ("it", "r", "4", "10", "1", "1", "1", "select 1;", "run_while_followed", "measure_twice", *_OF_OLD),
        settings={"pghaul_job": "@folder@"},
        programs={"pgbench": "exec sleep 30", "psql": _PSQL},
        matches=r"(queries old [12] not measured: the connection to pghaul was lost\nwarning: .*\n){2}",
        after="! ls -d pghaul-queries.* 2>/dev/null",
        tolerates=_WARNS
        | dict.fromkeys(("renice", "ionice"), "it is no reason not to work")
        | dict.fromkeys(("grep", "mktemp"), "it is said"),
        name="nobody follows",
    ),
    Example(
        "temporary_file_size",
        ("@folder@/data",),
        arrange="for each in base/pgsql_tmp pg_tblspc/1/PG_15_2/pgsql_tmp; do mkdir -p data/$each && "
        "head -c 8192 /dev/zero >data/$each/it; done",
        prints="16\n",
        tolerates={"find": "what goes meanwhile is no matter"},
    ),
    Example("temporary_file_size", ("@folder@",), prints="0\n", name="none"),
    Example("check_connection_limits", settings=_SET, programs={"psql": "/bin/cat >/dev/null; echo 18"}, prints=""),
    Example("check_connection_limits", settings=_SET, programs={"psql": _PSQL}, prints="", name="no limit"),
    Example(
        "check_connection_limits",
        settings=_SET,
        programs={"psql": "/bin/cat >/dev/null; echo 17"},
        status=1,
        complains="the role reader and its database are limited to, 17 are free. That is too few for 9 more",
        name="too few",
    ),
    Example("available_memory", matches=r"[1-9][0-9]*\n"),
    Example(
        "end_sessions",
        settings=_SET,
        programs={"psql": _PSQL},
        prints="",
        after="grep -q \"application_name = 'own'\" ends",
    ),
    Example(
        "measure_queries",
        arrange="mkdir own; touch own/log.1 own/1.sql own/2.sql",
        settings=_SET,
        programs={"pgbench": _REPORT, "psql": _PSQL},
        matches=f"queries new 1\n{_SAID.replace('(', '[(]').replace(')', '[)]')}{_TIMES}",
        after="[ ! -e own/log.1 ] && grep -q '^reader -c default_transaction_read_only=on .* statement_timeout=5000 ' "
        'asked && grep -qx "$PWD/own/2.run@1" asked && grep -qx 9 asked',
        tolerates={"renice": "it is no reason not to work", "ionice": "it is no reason not to work"},
    ),
    _measured(
        "echo 'pgbench: error: client 0 aborted: ERROR:  no INSERT here' >&2; exit 2",
        "pgbench ended with exit status 2: pgbench: error: client 0 aborted: ERROR:  no INSERT here",
        "a query fails",
    ),
    _measured(
        "echo 'client 0 aborted in state 6; ERROR:  no' >&2; echo 'Run was aborted; see above' >&2",
        "client 0 aborted in state 6; ERROR:  no",
        "a query fails before 12",
    ),
    _measured(
        f"{_REPORT}\necho 'number of failed transactions: 2 (40.0%)'; echo 'client 1 got an error; ERROR:  no' >&2",
        "2 transactions failed: client 1 got an error; ERROR:  no",
        "a transaction fails",
    ),
    _measured(
        "yes 'NOTICE:  it' >&2; exit", "the server printed more than 128 kB of messages", "a server that says too much"
    ),
    _measured(f"{_REPORT}\n: >$log.77", "the log of pgbench holds 0 of 3 transactions", "its log is cut off"),
    _measured(
        "dd if=/dev/zero of=own/log.1 bs=1M seek=300 count=1 2>/dev/null; kill -s XFSZ $$",
        "the log of pgbench got too large",
        "its log grows on",
        after="[ ! -s own/log.1 ]",
    ),
    _measured("echo 'number of transactions actually processed: 0'", "no transaction was completed", "nothing ended"),
    Example(
        "measure_twice",
        _OF_OLD,
        arrange="mkdir own; touch own/1.sql own/2.sql",
        settings=_SET,
        programs={"pgbench": _REPORT, "psql": _PSQL},
        matches=rf"(queries old [12]\n(: .*\n)*{_TIMES}){{2}}",
        tolerates=_WARNS | dict.fromkeys(("renice", "ionice"), "it is no reason not to work"),
    ),
    Example(
        "measure_twice",
        _OF_OLD,
        arrange="mkdir own; touch own/1.sql own/2.sql",
        settings=_SET,
        programs={"pgbench": "echo 'ERROR:  division by zero' >&2; exit 2", "psql": _PSQL},
        prints="".join(
            f"queries old {run} not measured: pgbench ended with exit status 2: ERROR:  division by zero\n"
            f"warning: run {run} of the queries on the old server was not measured: pgbench ended with exit status 2: "
            "ERROR:  division by zero\n"
            for run in (1, 2)
        ),
        tolerates=_WARNS | dict.fromkeys(("renice", "ionice"), "it is no reason not to work"),
        name="a query fails",
    ),
    Example(
        "measure_twice",
        _OF_OLD,
        arrange="mkdir -p own base/pgsql_tmp; touch own/1.sql own/2.sql",
        settings=_SET,
        programs={
            "pgbench": "exec sleep 5",
            "psql": _PSQL,
            "find": '[ -e looked ] && echo 2000000 || echo 5; : >"looked"',
        },
        matches=r"queries old 1 not measured: the temporary files of the server grew by .*\n(.*\n)+",
        tolerates=_WARNS | dict.fromkeys(("renice", "ionice"), "it is no reason not to work"),
        name="they take too much",
    ),
    Example(
        "drop_cache_for_queries",
        matches=r"page cache (dropped|kept: .+)\n",
        tolerates={"sync": "it says that, and goes on", "full disk": "what is not on a disk is no matter here"},
    ),
]
