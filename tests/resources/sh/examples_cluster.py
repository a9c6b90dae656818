"""Examples of stopping, proving and starting a cluster. What controls one is played by stand-ins."""

from collections.abc import Mapping

from tests.resources.sh.examples import Example

_RUNS = "mkdir -p data/global && echo 1 >data/postmaster.pid && echo control >data/global/pg_control"
_STOPPED = "mkdir -p data/global && echo control >data/global/pg_control"
_DATA = "@folder@/data"
_SOCKET = "@folder@/socket"
_ODD = "@folder@/it's $(touch x)"
_QUOTED = _ODD.replace("$", "\\$")
_HELD = "-c listen_addresses=localhost -c session_preload_libraries="
_LOCAL = "<-c><listen_addresses=localhost><-c><session_preload_libraries=><-c><port=5433>"
_PLAYED = {
    "pg_ctlcluster": 'echo "$*"',
    "systemctl": 'echo "$*"',
    # as pg_ctl does it, the options go through another shell
    "pg_ctl": """for word do
  case $last in -o) options=$(eval "printf '<%s>' $word") || exit ;; esac
  last=$word
done
case $last in
  status) [ -e "$PGDATA/postmaster.pid" ] || exit 3 ;;
  start) printf '%s\\n' 1 "$PGDATA" 1700000000 5432 >"$PGDATA/postmaster.pid" || { echo pghaul: full >&2 && exit 1; } ;;
esac
echo "$last $PGDATA $options" """,
}
_WAITS_UNTIL_HIDDEN = """(cd "$PGDATA" && exec ../postgres 60 >/dev/null 2>&1) &
printf '%s\\n' $! "$PGDATA" 1700000000 5432 >"$PGDATA/postmaster.pid" || { echo pghaul: full >&2 && exit 1; }
looks=0
while [ -e "$PGDATA/PG_VERSION" ]; do
  looks=$((looks + 1))
  [ "$looks" -lt 500 ] || exit 1
  /bin/sleep 0.01
done"""
_FENCED = (
    "mkdir -p data/global data/pghaul-fence/global && echo 15 >data/PG_VERSION && touch data/pghaul-fence/mark && "
    "echo control >data/pghaul-fence/global/pg_control"
)
_RUNS_FENCED = (
    "[ -e data/global/pg_control ] && [ ! -e data/PG_VERSION ] && "
    "head -n 3 data/postmaster.pid | cmp - data/pghaul-fence/server"
)
_LIVES = (
    "cp /bin/sleep postgres && { (cd data && exec ../postgres 60 >/dev/null 2>&1) & } && "
    "printf '%s\\n' $! data 1700000000 >data/postmaster.pid && became postgres $!"
)
_TAKES = (
    f"{_STOPPED} && echo 9.6 >data/PG_VERSION && {{ (cd data && exec /bin/sleep 20 >/dev/null 2>&1) & }} && "
    "printf '%s\\n' $! data 1700000000 5433 /tmp >data/postmaster.pid && became sleep $!"
)
_END = 'kill "$(head -n 1 data/postmaster.pid)"'
_READY = "printf '%s\\n' 5432 /tmp '' '  0 0' 'ready   ' >>data/postmaster.pid"
_STATE = "Database cluster state:               shut down\n"
_STARTED_WITH = """echo '/opt/bin/postgres "-D" "x" "-c" "port=5433" "-c" "a=b c"' >data/postmaster.opts"""
_WARNS = dict.fromkeys(("awk", "tr", "tr behind"), "a warning says that the options cannot be read")
_BY_PGHAUL = " # by pghaul: in force on the old server"


def _said(state: str) -> Mapping[str, str]:
    """pg_controldata with that state."""
    lines = (
        "'pg_control version number:            1300' "
        "'Database system identifier:           7290123456789012345' "
        f"'Database cluster state:               {state}'"
    )
    return {"pg_controldata": f"printf '%s\\n' {lines}"}


_STARTING = [
    Example(
        "start_local_only",
        ("@path@", _ODD, "5433", f"{_ODD}.conf", _HELD, _SOCKET),
        arrange=f'mkdir "{_QUOTED}" "{_QUOTED}/global" "{_QUOTED}/pghaul-fence"',
        programs=_PLAYED,
        prints="",
        after=f'[ "$(cat */pghaul-start.log)" = "start {_QUOTED} {_LOCAL}'
        f'<-c><config_file={_QUOTED}.conf><-c><data_directory={_QUOTED}>" ] && [ ! -e x ]',
        name="configuration outside",
    ),
    Example(
        "start_local_only",
        ("@path@", _DATA, "5432", "-", _HELD, _SOCKET),
        arrange=_FENCED,
        programs=_PLAYED,
        prints="",
        after=f"! grep config_file data/pghaul-start.log && {_RUNS_FENCED} && "
        '[ "$(stat -c %a socket)" = 700 ] && [ "$(cat data/pghaul-fence/socket)" = "$PWD/socket" ]',
        name="configuration inside",
    ),
    Example(
        "start_local_only",
        ("@path@", _DATA, "5432", "-", _HELD, _SOCKET),
        arrange=f"{_FENCED} && mv data/pghaul-fence/global/pg_control data/global && "
        "mv data/PG_VERSION data/pghaul-fence && echo 1 >data/postmaster.pid && : >data/pghaul-fence/server",
        programs=_PLAYED,
        prints="",
        after=_RUNS_FENCED,
        name="ours crashed",
    ),
    Example(
        "start_local_only",
        ("@path@", _DATA, "5432", "-", _HELD, _SOCKET),
        arrange=f"{_FENCED} && {_LIVES}",
        programs=_PLAYED,
        status=1,
        complains="that this copy has not started",
        after='kill "$(head -n 1 data/postmaster.pid)" && [ ! -e data/global/pg_control ]',
        name="another's runs",
    ),
    Example(
        "start_local_only",
        ("@path@", _DATA, "5432", "-", _HELD, _SOCKET),
        arrange=f"{_FENCED} && {_LIVES} && head -n 3 data/postmaster.pid >data/pghaul-fence/server && {_READY}",
        programs=_PLAYED,
        prints="",
        after=f"[ ! -e data/pghaul-start.log ] && [ ! -e data/PG_VERSION ] && {_END}",
        name="ours runs",
    ),
    Example(
        "start_local_only",
        ("@path@", _DATA, "5432", "-", "60", _SOCKET),
        arrange=f"{_FENCED} && {_LIVES} && printf '%s\\n' 'started with' 60 >data/pghaul-fence/server && {_READY}",
        programs=_PLAYED,
        prints="",
        after="[ ! -e data/pghaul-start.log ] && "
        f"head -n 3 data/postmaster.pid | cmp - data/pghaul-fence/server && {_END}",
        name="ours runs, and nobody has recorded it",
    ),
    Example(
        "start_local_only",
        ("@path@", _DATA, "5432", "-", _HELD, _SOCKET),
        arrange=_FENCED,
        programs={"pg_ctl": "exit 1"},
        status=1,
        complains="/data did not start: read ",
        after="[ ! -e data/PG_VERSION ] && [ -e data/global/pg_control ]",
        name="it does not",
    ),
    Example(
        "start_local_only",
        ("@path@", _DATA, "5432", "-", _HELD, _SOCKET),
        arrange=f"{_FENCED} && cp /bin/sleep postgres",
        programs={"pg_ctl": _WAITS_UNTIL_HIDDEN},
        prints="",
        after=f"{_RUNS_FENCED} && {_END}",
        name="nothing could start it at a boot while pg_ctl waits",
    ),
    Example(
        "hide_version",
        (_DATA, "1"),
        arrange=f"{_FENCED} && {_LIVES}",
        prints="",
        after=f"[ ! -e data/PG_VERSION ] && [ -e data/pghaul-fence/PG_VERSION ] && {_END}",
        name="a server works there",
    ),
    Example(
        "hide_version",
        (_DATA, "999999999"),
        arrange=_FENCED,
        prints="",
        after="[ -e data/PG_VERSION ]",
        name="what starts it has ended",
    ),
    Example(
        "make_socket_folder",
        (_DATA, _SOCKET),
        arrange=_FENCED,
        prints="",
        after='[ "$(stat -c %a socket)" = 700 ] && [ "$(cat data/pghaul-fence/socket)" = "$PWD/socket" ]',
    ),
    Example(
        "make_socket_folder",
        (_DATA, _SOCKET),
        arrange=f"{_FENCED} && mkdir socket",
        status=1,
        complains="room/socket cannot be created",
        name="somebody else has it",
    ),
    Example(
        "start_by_pg_ctl",
        (_DATA, "-", ""),
        arrange=_STOPPED,
        programs=_PLAYED,
        after=f'grep "start {_DATA}" data/*.log',
    ),
    Example(
        "lift_fence",
        (_DATA,),
        arrange=_FENCED,
        prints="",
        after="[ -e data/global/pg_control ] && [ -e data/pghaul-fence/opened ]",
    ),
    Example(
        "lift_fence",
        (_DATA,),
        arrange=f"{_FENCED} && {_LIVES}",
        status=1,
        complains="that this copy has not started",
        after='kill "$(head -n 1 data/postmaster.pid)" && [ -e data/pghaul-fence/mark ]',
        name="another's runs",
    ),
    Example("lift_fence", (_DATA,), arrange=_RUNS, prints="", name="was done"),
    Example("refuse_changed_copy", (_DATA,), arrange=f"{_FENCED} && (lift_fence data)", prints=""),
    Example("refuse_changed_copy", (_DATA,), arrange=_FENCED, prints="", name="fenced"),
    Example(
        "refuse_changed_copy",
        (_DATA,),
        arrange=f"{_FENCED} && (lift_fence data) && echo in production >data/global/pg_control",
        status=1,
        complains="they may have written to it",
        name="it has run",
    ),
    Example(
        "fail_client_start",
        (_DATA, "read its log"),
        arrange=f"{_FENCED} && (lift_fence data)",
        status=69,
        complains="no client could connect to it. Fix what its log says",
    ),
    Example("fail_client_start", (_DATA, "read it"), arrange=_STOPPED, status=1, complains="read it", name="another"),
]

_SUM = "2e7f1f7a9dd3f82765d297d667234b91f8a68fa534bc7e6a6a04c77ffee12376  -\n"
_PROVING = [
    Example("check_stays_stopped", (_DATA,), arrange=_STOPPED, stdin=f"{_STATE}{_SUM}", prints=""),
    Example("check_stays_stopped", (_DATA,), arrange=_FENCED, stdin=_SUM, prints="", name="fenced"),
    Example(
        "check_stays_stopped",
        (_DATA,),
        arrange=f"{_STOPPED} && {_LIVES}",
        stdin=_SUM,
        status=67,
        complains="room/data: process ",
        after=_END,
        name="it runs",
    ),
    Example(
        "check_stays_stopped",
        (_DATA,),
        arrange=f"{_STOPPED} && echo later >data/global/pg_control",
        stdin=_SUM,
        matches="warning: The old server was started again after its stop, and has ended since. .*\n",
        name="it has run",
    ),
    Example(
        "check_stays_stopped",
        (_DATA,),
        stdin=_SUM,
        matches="warning: The data directory of the old server, @folder@/data, no longer exists.\n",
        name="it is gone",
    ),
    Example(
        "check_stays_stopped",
        (_DATA,),
        arrange=_STOPPED,
        stdin="",
        status=1,
        complains="the record of the stop is incomplete",
        name="cut off",
    ),
    Example(
        "prove_stopped",
        ("@path@", _DATA),
        arrange=_STOPPED,
        programs=_said("shut down"),
        prints=f"{_STATE}{_SUM}",
    ),
    *(
        Example(
            "prove_stopped",
            ("@path@", _DATA),
            arrange=_STOPPED,
            programs=_said(state),
            status=1,
            complains="was not shut down cleanly",
            prints="",
            name=state or "no state",
        )
        for state in ("in production", "shut down in recovery", "")
    ),
    Example(
        "prove_stopped",
        ("@path@", _DATA),
        arrange=_STOPPED,
        programs={"pg_controldata": ":"},
        status=1,
        complains="says nothing",
        name="an empty answer",
    ),
    Example(
        "prove_stopped",
        ("@path@", _DATA),
        arrange=_RUNS,
        programs=_said("shut down"),
        status=1,
        complains="postmaster.pid exists",
        prints="",
        name="a lock file",
    ),
    Example(
        "prove_running",
        ("@path@", _DATA, "5433", "-"),
        arrange=_TAKES,
        programs=_PLAYED,
        prints=f"status {_DATA} \n",
        after=_END,
    ),
    Example(
        "prove_running",
        ("@path@", _DATA, "5432,15433,54331", "-"),
        arrange=_TAKES,
        programs=_PLAYED,
        status=1,
        complains=" on port 5433 instead of port 5432,15433,54331. ",
        after=_END,
        name="another port",
    ),
    Example(
        "prove_running",
        ("@path@", _DATA, "5432,5433", "-"),
        arrange=_TAKES,
        programs=_PLAYED,
        prints=f"status {_DATA} \n",
        after=_END,
        name="one of two ports",
    ),
    Example(
        "prove_running",
        ("@path@", _DATA, "-", "-"),
        arrange=_STOPPED,
        programs=_PLAYED,
        status=1,
        complains="no PostgreSQL server is running in ",
        name="it does not",
    ),
    Example(
        "prove_running",
        ("@path@", _DATA, "5433", "-", "port=5433", "a=b c", "d=1"),
        arrange=f"{_TAKES} && {_STARTED_WITH}",
        programs=_PLAYED,
        matches=r"status \S+ \nwarning: The old server was started with port=5433, a=b c on its command line, .*\n",
        after=_END,
        tolerates=_WARNS,
        name="with what was in force",
    ),
    Example(
        "warn_of_start_options",
        ("-", _DATA, "-", "-", "search_path=it's"),
        arrange=f"""{_STOPPED} && echo '/opt/bin/postgres "-c" "search_path=it'"'"'s"' >data/postmaster.opts""",
        matches=r"warning: The old server was started with search_path=it's on its command line, .*\n",
        tolerates=_WARNS,
        name="an apostrophe",
    ),
    Example(
        "warn_of_start_options", ("-", _DATA, "-", "-", "port=5433"), arrange=_STOPPED, prints="", name="not started so"
    ),
    Example(
        "warn_of_start_options",
        ("-", _DATA, "-", "-", "port=5433"),
        arrange=f"""{_STOPPED} && echo '/opt/bin/postgres "-c" "a="b""' >data/postmaster.opts""",
        matches="warning: The options with which the old server was started cannot be read from .*\n",
        tolerates=_WARNS,
        name="it does not tell them",
    ),
    Example(
        "append_settings",
        (_DATA, "port=5433", "a=it's \\b", "listen_addresses="),
        arrange=f"mkdir data && printf '%s\\n' 'x = 1' \"y = '2'{_BY_PGHAUL}\" >data/postgresql.auto.conf &&"
        "chmod 640 data/postgresql.auto.conf",
        prints="",
        after=f"""printf '%s\\n' 'x = 1' "y = '2'{_BY_PGHAUL}" "port = '5433'{_BY_PGHAUL}" \
  "a = 'it''s "'\\\\'"b'{_BY_PGHAUL}" "listen_addresses = ''{_BY_PGHAUL}" | cmp - data/postgresql.auto.conf &&
[ "$(stat -c %a data/postgresql.auto.conf)" = 640 ]""",
    ),
    Example(
        "append_settings",
        (_DATA, "port=5433"),
        arrange="mkdir data",
        prints="",
        after=f"""printf '%s\\n' '' "port = '5433'{_BY_PGHAUL}" | cmp - data/postgresql.auto.conf &&
[ "$(stat -c %a data/postgresql.auto.conf)" = 600 ]""",
        name="no file",
    ),
    Example(
        "warn_of_other_unit",
        (_DATA, "none.service"),
        arrange=_TAKES,
        matches="warning: The old cluster is running outside of none.service, where it ran before. .*\n",
        after=_END,
    ),
    Example(
        "warn_of_other_unit",
        (_DATA, "pg@a.service"),
        arrange='mkdir data fake && echo "../$PWD/fake" >data/postmaster.pid && '
        "printf '1:name=systemd:/system.slice/system-pg.slice/pg@a.service\\n0::/\\n' >fake/cgroup",
        prints="",
        name="two hierarchies",
    ),
]

EXAMPLES = [*_STARTING, *_PROVING]
