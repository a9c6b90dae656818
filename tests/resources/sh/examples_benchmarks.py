"""Examples of the benchmarks' folder, of a phase, of the tools, and of what pgbench runs against."""

import secrets

from tests.resources.sh.examples import Example

_ANSWERS = dict.fromkeys(("timeout", "grep"), "how it ends is its answer: bench_keep says it")
_ENDS_AS_IT = "it ends as the command does, which says why"


def _name() -> str:
    """A folder's, for one example: processes are looked for on the whole machine, where others run these too."""
    return f"pghaul-bench-{secrets.token_hex(6)}"


def _made(name: str) -> str:
    return f"mkdir {name} && echo me >{name}/.pghaul-bench"


def _lives(name: str) -> str:
    return f"{_made(name)}; (cd {name} && exec /bin/sleep 60) >/dev/null 2>&1 & became sleep $!"


def _waiting(name: str, *ahead: str) -> str:
    """Processes that wait for beats, one for each word that stands ahead of what tells whose they are; else one."""
    # what is searched for on command lines must not stand whole on that of the shell that runs an example
    words = f"pghaul-bench-hol''der {name} by me since today UTC"
    begun = "(exec timeout 60 grep -q -e '{}' fifo) >/dev/null 2>&1 & became timeout $!"
    return "; ".join(["mkfifo fifo", *(begun.format(f"{one}{words}") for one in ahead or ("",))])


def _end_waiting(name: str) -> str:
    return f"for one in $(bench_list_waiting {name}); do kill -9 $one 2>/dev/null; done; :"


_MADE, _HELD, _WAITED, _ENDED, _REMOVED, _LIVED, _STUBBORN, _LOOKED, _LEFT = (_name() for _ in range(9))
_HURRY = "exec /bin/sleep 0.05"

FOLDER = [
    Example(
        "bench_keep",
        ("@folder@", _MADE, "me", "5", "me@here"),
        stdin=".\n",
        programs={"flock": ":"},
        prints="pghaul-ready\n",
        after=f"[ ! -e {_MADE} ]",
    ),
    Example(
        "bench_keep",
        ("@folder@", _MADE, "me", "1", "me@here"),
        arrange=f"mkdir {_MADE}",
        programs={"flock": ":"},
        status=1,
        complains="no folder can be created",
        after=f"[ -e {_MADE} ]",
        name="what lies there stays",
    ),
    Example("bench_wait", ("5", _MADE), stdin=".\n", tolerates=_ANSWERS),
    Example("bench_lock", after="command -v flock"),
    Example(
        "bench_print_holder",
        arrange=_waiting(_HELD, "x ", "", "x "),
        matches="by .* since .*\n",
        after=_end_waiting(_HELD),
        name="beside processes that do not say it",
    ),
    Example(
        "bench_list_waiting", (_WAITED,), arrange=_waiting(_WAITED), matches=r"(\d+\n)+", after=_end_waiting(_WAITED)
    ),
    Example("bench_list_waiting", (_name(),), prints="", name="none"),
    Example(
        "bench_end_keeper",
        ("@folder@", _ENDED),
        arrange=f"{_waiting(_ENDED)}; {_made(_ENDED)}; {{ sleep 0.3; rm -r {_ENDED}; }} >/dev/null 2>&1 &",
        after=f'[ ! -e {_ENDED} ] && [ -z "$(bench_list_waiting {_ENDED})" ]',
    ),
    Example("bench_make", ("@folder@", _MADE, "me"), after=f'[ "$(cat {_MADE}/.pghaul-bench)" = me ]'),
    Example("bench_make", ("/nowhere", _MADE, "me"), status=1, complains="/nowhere cannot be entered", name="nowhere"),
    Example(
        "bench_remove",
        ("@folder@", _REMOVED),
        arrange=f"{_lives(_REMOVED)}; touch {_REMOVED}/file",
        after=f'[ ! -e {_REMOVED} ] && [ -z "$(bench_list_processes {_REMOVED})" ]',
    ),
    Example(
        "bench_remove",
        ("@folder@", _REMOVED),
        arrange=f"{_made(_REMOVED)}; mkdir {_REMOVED}/sub; (cd {_REMOVED}/sub && seq 5000 | xargs touch); "
        f"(bench_remove . {_REMOVED}) >/dev/null 2>&1 &",
        after=f"[ ! -e {_REMOVED} ]",
        name="removed beside",
    ),
    Example(
        "bench_remove",
        ("@folder@", _REMOVED),
        arrange=f"{_made(_REMOVED)}; touch {_REMOVED}/file",
        programs={"rm": "exit 1"},
        status=1,
        complains="cannot be removed",
        after=f"[ -e {_REMOVED}/.pghaul-bench ]",
        name="its marker goes last",
    ),
    Example(
        "bench_remove",
        ("@folder@", _REMOVED),
        arrange=f"mkdir {_REMOVED}",
        after=f"[ ! -e {_REMOVED} ]",
        tolerates={"rmdir behind": "the folder no longer exists by then, which is what counts"},
        name="cut off",
    ),
    Example(
        "bench_remove",
        ("@folder@", _REMOVED),
        arrange=f"mkdir {_REMOVED} && touch {_REMOVED}/theirs",
        status=1,
        complains="is not the folder of a benchmark",
        after=f"[ -e {_REMOVED}/theirs ]",
        name="no marker",
    ),
    Example(
        "bench_remove",
        ("@folder@", _REMOVED),
        arrange=f"ln -s /tmp {_REMOVED}",
        after=f"[ -L {_REMOVED} ]",
        name="a link",
    ),
    Example("bench_end_inside", (_LIVED,), arrange=_lives(_LIVED), after=f'[ -z "$(bench_list_processes {_LIVED})" ]'),
    Example(
        "bench_end_inside",
        (_STUBBORN,),
        arrange=f"{_made(_STUBBORN)}; (cd {_STUBBORN} && trap '' TERM && : >../deaf && /bin/sleep 60) >/dev/null 2>&1 "
        "& until [ -e deaf ]; do /bin/sleep 0.01; done",
        programs={"sleep": _HURRY},
        after=f'[ -z "$(bench_list_processes {_STUBBORN})" ]',
        name="one that will not",
    ),
    Example(
        "bench_list_processes",
        (_LOOKED,),
        arrange=_lives(_LOOKED),
        matches=r"(\d+\n)+",
        after=f"bench_end_inside {_LOOKED}",
    ),
    Example("bench_list_processes", (_name(),), prints="", name="none"),
    Example("bench_empty", arrange="mkdir sub && touch sub/file file .kept", after="[ ! -e sub ] && [ -e .kept ]"),
    Example(
        "bench_note_undo",
        ("x", "bench_database_drop", "a b"),
        after='[ "$(cat .pghaul-undo-x)" = "bench_database_drop\na b" ]',
    ),
    Example(
        "bench_undo_all",
        arrange="bench_note_undo x temporary_cluster_remove_segment x root /bin"
        " && ln -s /etc/passwd .pghaul-undo-theirs",
    ),
    Example(
        "bench_undo",
        (".pghaul-undo-x",),
        arrange="bench_note_undo x rm -rf kept && mkdir kept",
        status=1,
        complains="names rm, which is not a function that undoes anything",
        after="[ -e kept ]",
        name="anything else",
    ),
    Example(
        "bench_undo", (".pghaul-undo-x",), arrange="bench_note_undo x temporary_cluster_remove_segment x root /bin"
    ),
    Example(
        "bench_leftovers",
        ("@folder@",),
        arrange=f"{_lives(_LEFT)}; mkdir pghaul-bench-other pghaul-bench-000000000000; cd pghaul-bench-000000000000; "
        "echo you >.pghaul-bench; touch -d '3 minutes ago' .pghaul-bench",
        prints=f"pghaul-bench-000000000000   you\n{_LEFT} yes yes me\n# 2 folders\n",
        after=f"bench_end_inside {_LEFT}",
    ),
    Example("bench_leftovers", ("/nowhere",), prints="# 0 folders\n", name="nowhere"),
    Example(
        "bench_inspect",
        ("@folder@/pg/base", "@folder@/bin", "sh", "own", "no-such-program"),
        arrange="mkdir -p pg/base bin && echo 15 >pg/PG_VERSION && echo : >bin/own && chmod +x bin/own",
        matches="path @folder@/pg/base\nwritable\ndf .* [0-9]+%.*\ncluster @folder@/pg\n"
        "(engine (libaio|io_uring)\n)?program sh\nprogram own\n# whole\n",
        tolerates={"fio": "an engine that does not work is none", "fio behind": "as above"},
    ),
    Example(
        "bench_inspect",
        ("@folder@", "@folder@/bin", "fio", "@folder@/bin/fio", "@folder@/others/pg_test_fsync"),
        arrange="mkdir -m 755 bin && mkdir -m 777 others; chmod 777 others; touch bin/fio others/pg_test_fsync; "
        "printf '#!/bin/sh\ntouch @folder@/was-run\n' | tee bin/fio >others/pg_test_fsync; "
        "chmod 755 bin/fio others/pg_test_fsync",
        matches="(?s).*program fio\nprogram @folder@/bin/fio\n# whole\n",
        after="! test -e was-run",
        tolerates={
            "fio": "an engine that does not work is none",
            "fio behind": "as above",
            "readlink": "a program that cannot be examined is none",
        },
        name="what others can change",
    ),
    Example("bench_inspect", ("/nowhere", ""), prints="missing\n", name="nowhere"),
    Example(
        "bench_clusters_above",
        ("@folder@/pg/base",),
        arrange="mkdir -p pg/base pg/archive_status",
        prints="cluster @folder@/pg\n",
    ),
    Example(
        "bench_fio_engine",
        programs={"fio": 'case "$*" in *libaio*) exit 1 ;; esac'},
        prints="engine io_uring\n",
        tolerates={"fio": "an engine that does not work is none", "fio behind": "as above"},
    ),
]

_TICKS = {
    "sleep": "ticks are for the progress alone",
    "sleep behind": "ticks are for the progress alone",
}
_DEVICES = "mkdir -p sda/sda1/slaves sdb sda/slaves; touch sda/sda1/partition; ln -s @folder@/sdb sda/slaves/sdb"
_COUNTERS = "echo '1 2 3 4 5 6 7 8 9 10 11' >stat"
_LOOK = r"==m==\n1 2 3 4 5 6 7 8 9 10 11\n[0-9.]+ [0-9.]+\n(?:.*\n)+?==m==\n"
_PHASE_WORDS = ("==m==", "true", "stat", "*/nowhere/*", "*/nowhere/*")
PHASE = [
    Example("bench_run_in", ("there", "pwd"), arrange="mkdir there", prints="@folder@/there\n"),
    Example(
        "bench_drop_caches",
        programs={"sync": ":"},
        tolerates={"full disk": "what is written there is no file of a disk"},
        as_root=True,
    ),
    Example("bench_run_with_ticks", ("", "printf", "a\nb\n"), prints="a\nb\n", tolerates=_TICKS),
    Example(
        "bench_run_with_ticks",
        ("stat", "sleep", "0.8"),
        arrange=_COUNTERS,
        matches=r"(\. 1 3 5 7\n){1,3}\n",
        tolerates=_TICKS,
        name="with ticks",
    ),
    Example("bench_run_with_ticks", ("", "sleep", "0.4"), matches=r"\.\n\n", tolerates=_TICKS, name="without counters"),
    Example(
        "bench_run_with_ticks",
        ("", "bench_run_live", "eval", "printf 'now\\r'; sleep 0.4; echo result >&5"),
        matches=r"now\r\.\nresult\n",
        tolerates=_TICKS,
        name="with a tool that says how far it is",
    ),
    Example("bench_run_live", ("eval", "echo now; echo result >&5"), prints="now\nresult\n"),
    Example(
        "bench_run_with_ticks",
        ("", "bench_run_telling", "[ ", "eval", "echo head; echo '[ 1s ] r' >&2; sleep 0.4; printf 'result\nend'"),
        matches=r"\[ 1s \] r\n\.\nhead\nresult\nend\n",
        tolerates=_TICKS,
        name="with a tool whose lines tell how far it is",
    ),
    Example("bench_run_telling", ("- ", "eval", "echo '- now'; echo '-'; echo said >&2"), prints="- now\n-\nsaid\n"),
    Example(
        "bench_run_telling",
        ("- ", "eval", "echo said; exit 0; echo not"),
        prints="said\n",
        name="whose command ends the shell",
    ),
    Example("bench_tell", ("- ",), stdin="- now\n - not\nthe end", prints="- now\n - not\nthe end\n"),
    Example(
        "bench_tell",
        ("- ",),
        stdin="- now\n" + "notice\n" * 3000 + "- rest",
        prints="- now\n" + "notice\n" * 3000 + "- rest",
        name="with more than a shell should read",
    ),
    Example(
        "bench_run_watched",
        (*_PHASE_WORDS, "echo", "said"),
        arrange=_COUNTERS,
        matches=rf"said\n\n{_LOOK}{_LOOK}\d+\n",
    ),
    Example("bench_print_activity", ("==m==", "stat", "*/nowhere/*", "*/nowhere/*"), arrange=_COUNTERS, matches=_LOOK),
    Example(
        "bench_sessions",
        ("@folder@/*", "*/own-*"),
        arrange="for one in open own-file; do sleep 60 >$one 2>/dev/null & became sleep $!; done",
        matches=r"\d+\n# 1 sessions\n",
        after="for one in /proc/[0-9]*/fd/1; do case $(readlink $one) in @folder@/*) one=${one#/proc/}; "
        'kill "${one%%/*}" ;; esac; done; :',
    ),
    Example("bench_sessions", ("/nowhere/*", "*/own-*"), prints="# 0 sessions\n", name="none"),
    Example(
        "bench_device",
        ("/", "0.1"),
        matches=r"((below .*\n)+device /sys/.*\nbefore .*\nafter .*\n)?(mdstat\n(.*\n)*)?",
        tolerates={"full disk": "it writes nothing"},
    ),
    Example(
        "bench_print_devices_below",
        ("@folder@/sda/sda1",),
        arrange=_DEVICES,
        prints="below sda1\nbelow sda\nbelow sdb\n",
    ),
    Example(
        "bench_whole_device",
        settings={"device": "@folder@/sda/sda1"},
        arrange=_DEVICES,
    ),
]

_BONNIE = """for word in "$@"; do [ "$word" != -q ] || exit 0; done
printf '1:'; echo; read -r answer; echo "went on"; echo report"""
TOOLS = [
    Example(
        "bench_run_timed",
        ("dd", "if=/dev/zero", "of=data", "bs=8192", "count=2", "conv=fsync"),
        matches=r"\d+m.* \d+m.*\n\d+m.* \d+m.*\n",
        after='[ "$(stat -c %s data)" = 16384 ]',
    ),
    Example(
        "bench_run_and_remove", ("data", "dd", "if=data", "of=/dev/null"), arrange="echo a >data", after="[ ! -e data ]"
    ),
    Example(
        "bench_run_and_remove",
        ("data", "dd", "if=data", "of=/dev/full"),
        arrange="echo a >data",
        status=1,
        complains="dd ended with 1",
        after="[ -e data ]",
        name="a command that fails",
    ),
    Example(
        "run_bonnie_uncached",
        ("-d", "."),
        programs={"bonnie++": _BONNIE},
        prints="",
        after="[ ! -e answers ] && [ ! -e status ]",
    ),
    Example(
        "run_bonnie_uncached",
        ("-d", "."),
        programs={"bonnie++": "echo no space >&2; exit 5"},
        status=5,
        complains="bonnie++ ended with 5",
        name="one that fails",
    ),
    Example("bench_run_inside", ("sub", "pwd"), prints="@folder@/sub\n"),
    Example("bench_with_input", ("2", "a b", "c", "cat"), prints="a b\nc\n", tolerates={"cat": _ENDS_AS_IT}),
    Example(
        "fio_job",
        ("--section=a",),
        stdin="[a]\nrw=write\n",
        programs={"fio": 'echo "$@"; cat "$1"'},
        prints="job.fio --section=a\n[a]\nrw=write\n",
    ),
    Example("missing_programs", ("sh", "no-such-program"), matches=r".*\nno-such-program\n# whole\n"),
]

_OWN = {
    "runuser": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    "initdb": """while [ $# -gt 0 ]; do case $1 in -D) data=$2; shift ;; esac; shift; done
mkdir -p "$data" && echo 15 >"$data/PG_VERSION" && : >"$data/postgresql.conf" """,
    "pg_ctl": """for word in "$@"; do mode=$word; done
case $mode in start) : >running ;; status) [ -e running ] ;; stop) rm running ;; esac""",
    "psql": """case "$*" in
  *select*) [ -e running ] || exit 2 ;;
  *server_version_num*) echo 150018 ;;
  *) echo "$* $PGOPTIONS" >>asked ;;
esac""",
    "pgbench": "[ -e running ] && echo filled",
}
_AT = ("c", "root", "@path@", "5432")
_AS_ITS_COMMAND = dict.fromkeys(("runuser", "env", "pgbench"), _ENDS_AS_IT)
_SETTINGS = {
    "temporary": "c",
    "owner": "root",
    "owner_path": "@path@",
    "owner_port": "5432",
    "owner_host": "@folder@/c",
    "owner_role": "pghaul",
    "owner_database": "postgres",
    "owner_measures": "0",
}
_CLUSTER = "mkdir -p c/data"
CLUSTER = [
    Example("temporary_cluster_at", _AT),
    Example(
        "owner_run",
        ("sh", "-c", 'echo "$PGHOST $PGUSER"'),
        settings=_SETTINGS,
        programs=_OWN,
        prints="@folder@/c pghaul\n",
        tolerates=_AS_ITS_COMMAND,
    ),
    Example(
        "temporary_cluster_make",
        (*_AT, "15", "-N", "10", "shared_buffers = '16'"),
        programs=_OWN,
        prints="filled\n",
        after='[ "$(cat c/data/postgresql.conf)" = "shared_buffers = \'16\'" ] && [ ! -e running ] && '
        '[ "$(head -n 1 .pghaul-undo-c)" = temporary_cluster_remove_segment ]',
        tolerates={"rm behind": "the cluster was stopped by then"},
    ),
    Example(
        "temporary_cluster_make",
        (*_AT, "16", "", "10"),
        programs=_OWN,
        status=1,
        complains=" PostgreSQL 15, ",
        name="another series",
    ),
    Example(
        "temporary_cluster_folder", settings=_SETTINGS, programs=_OWN, after='[ "$(stat -c %a c)" = 700 ]', as_root=True
    ),
    Example(
        "temporary_cluster_init",
        ("-N",),
        settings=_SETTINGS,
        arrange="mkdir c",
        programs=_OWN,
        after="[ ! -e c/password ]",
    ),
    Example(
        "temporary_cluster_configure",
        ("a = '1'", "b = '2'"),
        settings={**_SETTINGS, "PGPASSWORD": "x"},
        arrange=f"{_CLUSTER}; echo '# own' >c/data/postgresql.conf",
        programs=_OWN,
        after='[ "$(wc -l <c/data/pg_hba.conf)" -eq 3 ] && [ "$(wc -l <c/data/postgresql.conf)" -eq 3 ]',
    ),
    Example("temporary_cluster_start", settings=_SETTINGS, arrange=_CLUSTER, programs=_OWN, after="[ -e running ]"),
    Example(
        "temporary_cluster_start",
        settings=_SETTINGS,
        arrange=f"{_CLUSTER}; echo 'FATAL: no memory' >c/log",
        programs={**_OWN, "pg_ctl": 'case "$*" in *start) exit 0 ;; esac; exit 3', "sleep": _HURRY},
        status=1,
        complains=": FATAL: no memory",
        name="one that ends at once",
    ),
    Example(
        "temporary_cluster_start",
        settings=_SETTINGS,
        arrange=f"{_CLUSTER}; echo 'LOG: the start before' >c/log",
        programs={
            **_OWN,
            "pg_ctl": 'case "$*" in *start) (/bin/sleep 0.3; : >running) >/dev/null & ;; *) [ -e running ] ;; esac',
            "sleep": _HURRY,
        },
        after="[ -e running ]",
        name="one that has no lock file yet",
    ),
    Example(
        "temporary_cluster_stop",
        ("fast",),
        settings=_SETTINGS,
        arrange=": >running",
        programs=_OWN,
        after="[ ! -e running ]",
    ),
    Example(
        "temporary_cluster_serve",
        (*_AT, "5"),
        arrange=_CLUSTER,
        programs=_OWN,
        prints="pghaul-ready\n",
        after="[ ! -e running ]",
    ),
    Example(
        "temporary_cluster_run",
        (*_AT, "pgbench", "-c", "1"),
        arrange=": >running",
        programs=_OWN,
        prints="filled\n",
        tolerates=_AS_ITS_COMMAND,
    ),
    Example(
        "temporary_cluster_remove_segment",
        _AT[:3],
        arrange=f"{_CLUSTER}; printf '4194300\\n\\n\\n\\n\\n\\n  1    4194300\\n' >c/data/postmaster.pid",
        programs=_OWN,
    ),
    Example("temporary_cluster_remove_segment", _AT[:3], programs=_OWN, name="it was stopped"),
    Example("bench_database_at", ("x", "root", "@path@", "/tmp", "5432")),
    Example(
        "bench_database_make",
        ("x", "root", "@path@", "/tmp", "5432", "@folder@", "10"),
        arrange=": >running",
        programs={**_OWN, "sleep": _HURRY},
        prints="filled\n",
        after="[ \"$(grep -c 'DATABASE' asked)\" -eq 2 ] && [ -e .pghaul-undo-database-x ]",
        seconds=60,
    ),
    Example(
        "bench_database_make",
        ("x", "root", "@path@", "/tmp", "5432", "/proc", "10"),
        programs=_OWN,
        status=1,
        complains=" /proc ",
        name="on another volume",
    ),
    Example(
        "bench_database_run",
        ("x", "root", "@path@", "/tmp", "5432", "sh", "-c", 'echo "$PGDATABASE$PGUSER"'),
        programs=_OWN,
        matches=r"pghaul_bench_\w+_x\n",
        tolerates=_AS_ITS_COMMAND,
    ),
    Example(
        "bench_database_drop",
        ("x", "root", "@path@", "/tmp", "5432"),
        programs={**_OWN, "sleep": _HURRY},
        after="grep -q 'DROP DATABASE IF EXISTS.* -c synchronous_commit=local -c statement_timeout=600000$' asked",
    ),
    Example(
        "bench_database_options",
        settings={"owner_path": "@path@", "owner_host": "/tmp", "owner_measures": "1"},
        programs=_OWN,
        after="(owner_path=$PATH owner_host=/tmp owner_measures=1; bench_database_options; "
        '[ "$database_options" = "-c synchronous_commit=local" ])',
    ),
    Example(
        "bench_database_ask",
        ("DROP DATABASE x",),
        settings={"owner_path": "@path@", "owner_host": "/tmp", "owner_measures": "1", "database_options": "-c a=b"},
        programs=_OWN,
        after="grep -q 'DROP DATABASE x -c a=b -c statement_timeout=600000$' asked",
        tolerates=_AS_ITS_COMMAND | {"psql": _ENDS_AS_IT, "full disk": "the stand-in's own file"},
    ),
]
EXAMPLES = [*FOLDER, *PHASE, *TOOLS, *CLUSTER]
