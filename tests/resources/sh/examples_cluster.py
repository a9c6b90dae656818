"""Examples of stopping, fencing, proving and starting a cluster. What controls one is played by stand-ins."""

from collections.abc import Mapping

from tests.resources.sh.examples import Example

_RUNS = "mkdir -p data/global && echo 1 >data/postmaster.pid && echo control >data/global/pg_control"
_STOPPED = "mkdir -p data/global && echo control >data/global/pg_control"
_DATA = "@folder@/data"
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
esac
echo "$last $PGDATA $options" """,
}
_STATE = "Database cluster state:               shut down\n"


def _said(state: str) -> Mapping[str, str]:
    """pg_controldata with that state."""
    lines = (
        "'pg_control version number:            1300' "
        "'Database system identifier:           7290123456789012345' "
        f"'Database cluster state:               {state}'"
    )
    return {"pg_controldata": f"printf '%s\\n' {lines}"}


_STOPPING = [
    Example(
        "stop_cluster",
        ("debian", "15/main", _DATA),
        arrange=_RUNS,
        programs=_PLAYED,
        prints="15 main stop -m fast\n",
        name="debian",
    ),
    Example(
        "stop_cluster",
        ("unit", "postgresql-15.service", _DATA),
        arrange=_STOPPED,
        programs=_PLAYED,
        prints="stop postgresql-15.service\n",
        name="unit",
    ),
    Example(
        "stop_cluster",
        ("folder", "pg_ctl", _DATA),
        arrange=_RUNS,
        programs=_PLAYED,
        prints=f"stop {_DATA} \n",
        name="folder",
    ),
    Example("stop_cluster", ("folder", "pg_ctl", _DATA), arrange=_STOPPED, programs=_PLAYED, prints="", name="stopped"),
    Example(
        "stop_cluster",
        ("folder", "pg_ctl", _DATA),
        arrange=_RUNS,
        programs={"pg_ctl": "exit 1"},
        status=1,
        complains="/data did not stop",
        name="it goes on",
    ),
    Example("stop_locally", ("@path@", _DATA), arrange=_RUNS, programs=_PLAYED, prints=f"stop {_DATA} \n", name="runs"),
    Example("stop_locally", ("@path@", _DATA), arrange=_STOPPED, programs=_PLAYED, prints="", name="stopped"),
    Example(
        "stop_locally",
        ("@path@", _DATA),
        arrange=_RUNS,
        programs={"pg_ctl": "exit 1"},
        status=1,
        complains="/data did not stop",
        name="it goes on",
    ),
]

_STARTING = [
    Example(
        "start_cluster",
        ("debian", "15/main", _DATA),
        arrange=_STOPPED,
        programs=_PLAYED,
        prints="15 main start\n",
        name="debian",
    ),
    Example(
        "start_cluster",
        ("unit", "postgresql-15.service", _DATA),
        arrange=_STOPPED,
        programs=_PLAYED,
        prints="start postgresql-15.service\n",
        name="unit",
    ),
    Example(
        "start_cluster",
        ("folder", "pg_ctl", _DATA),
        arrange=_STOPPED,
        programs=_PLAYED,
        prints="",
        after=f'[ "$(cat data/pghaul-start.log)" = "start {_DATA} " ]',
        name="folder",
    ),
    Example("start_cluster", ("folder", "pg_ctl", _DATA), arrange=_RUNS, programs=_PLAYED, prints="", name="runs"),
    Example(
        "start_cluster",
        ("folder", "pg_ctl", _DATA),
        arrange=_STOPPED,
        programs={"pg_ctl": "exit 1"},
        status=1,
        complains="/data did not start: read its log",
        name="it does not",
    ),
    Example(
        "start_locally",
        ("@path@", _ODD, "5433", f"{_ODD}.conf", _HELD),
        arrange=f'mkdir "{_QUOTED}"',
        programs=_PLAYED,
        prints="",
        after=f'[ "$(cat */pghaul-start.log)" = "start {_QUOTED} {_LOCAL}'
        f'<-c><config_file={_QUOTED}.conf><-c><data_directory={_QUOTED}>" ] && [ ! -e x ]',
        name="configuration outside",
    ),
    Example(
        "start_locally",
        ("@path@", _DATA, "5432", "-", _HELD),
        arrange=_STOPPED,
        programs=_PLAYED,
        prints="",
        after="! grep config_file data/pghaul-start.log",
        name="configuration inside",
    ),
    Example(
        "start_locally", ("@path@", _DATA, "5432", "-", _HELD), arrange=_RUNS, programs=_PLAYED, prints="", name="runs"
    ),
    Example(
        "start_locally",
        ("@path@", _DATA, "5432", "-", _HELD),
        arrange=_STOPPED,
        programs={"pg_ctl": "case $1 in status) exit 3 ;; esac; exit 1"},
        status=1,
        complains="/data did not start: read ",
        name="it does not",
    ),
    Example(
        "start_locally",
        ("@path@", _DATA, "5432", "-", _HELD),
        programs={"pg_ctl": "exit 4"},
        status=1,
        complains="cannot tell whether a server runs",
        name="no folder",
    ),
    Example(
        "start_by_pg_ctl",
        (_DATA, "-", ""),
        arrange=_STOPPED,
        programs=_PLAYED,
        after=f'grep "start {_DATA}" data/*.log',
    ),
    Example(
        "open_for_clients",
        ("@path@", _DATA, "-"),
        arrange=_RUNS,
        programs=_PLAYED,
        prints=f"stop {_DATA} \n",
        after=f'[ "$(cat data/pghaul-start.log)" = "start {_DATA} <>" ]',
    ),
    Example(
        "open_for_clients",
        ("@path@", _DATA, "-"),
        arrange=_RUNS,
        programs={"pg_ctl": "exit 1"},
        status=1,
        complains="did not stop",
        after="[ ! -e data/pghaul-start.log ]",
        name="it goes on",
    ),
    Example(
        "open_for_clients",
        ("@path@", _DATA, "-"),
        arrange=_STOPPED,
        programs={"pg_ctl": "exit 1"},
        status=69,
        complains="new did not open, and nobody has written to it",
        name="it does not start",
    ),
    Example(
        "open_for_clients",
        ("@path@", _DATA, "-"),
        arrange=_STOPPED,
        programs={"pg_ctl": 'echo in production >"$PGDATA/global/pg_control"; exit 1'},
        status=1,
        complains="they may have written to it",
        name="it starts and ends",
    ),
]

_ANOTHERS = {"stat": "echo owner", "runuser": 'ln -sfn -- "$*" ../ran; shift 3; exec "$@"'}
_FENCES = "mkdir main && echo auto >main/start.conf && touch -d '2001-01-01 UTC' main/start.conf"
_DROP_IN = "@folder@/system/postgresql-15.service.d/pghaul-fence.conf"
_FENCING = [
    Example(
        "fence_cluster",
        ("debian", "main/start.conf"),
        arrange=_FENCES,
        after='[ "$(cat main/start.conf main/start.conf.before-pghaul)" = "disabled\nauto" ]',
        name="debian",
    ),
    Example(
        "fence_cluster",
        ("debian", "main/start.conf"),
        arrange=f"{_FENCES} && (fence_cluster debian main/start.conf)",
        after='[ "$(cat main/start.conf main/start.conf.before-pghaul)" = "disabled\nauto" ]',
        name="debian again",
    ),
    Example(
        "fence_cluster",
        ("debian", "main/start.conf"),
        arrange=f"{_FENCES} && echo theirs >crontab && ln -s ../crontab main/start.conf.part",
        after='[ "$(cat crontab main/start.conf)" = "theirs\ndisabled" ]',
        name="debian, a link in the way",
    ),
    Example(
        "fence_cluster",
        ("debian", "main/start.conf"),
        arrange=f"{_FENCES} && (fence_cluster debian main/start.conf) && rm main/start.conf",
        programs=_ANOTHERS,
        tolerates={"ln": "of the stand-in alone"},
        after='[ "$(readlink ran)" = "-u owner -- tee start.conf" ]',
        name="debian, another's folder",
    ),
    Example(
        "unfence_cluster",
        ("debian", "main/start.conf"),
        arrange=f"{_FENCES} && (fence_cluster debian main/start.conf) && ln -sfn .. main/start.conf",
        programs=_ANOTHERS,
        tolerates={"ln": "of the stand-in alone"},
        after='[ "$(readlink ran; cat main/*)" = "-u owner -- mv -T start.conf.before-pghaul start.conf\nauto" ]',
        name="debian, another's folder",
    ),
    Example("conf_folder", ("main/start.conf",), arrange="mkdir main"),
    Example("conf_run", ("echo", "ran"), settings={"conf_owner": "me", "conf_user": "me"}, prints="ran\n"),
    Example(
        "fence_cluster",
        ("debian", "main/start.conf"),
        arrange="mkdir main",
        status=1,
        complains="main/start.conf cannot be kept beside",
        name="no start.conf",
    ),
    Example(
        "fence_cluster",
        ("unit", _DROP_IN),
        programs=_PLAYED,
        prints="daemon-reload\n",
        after=f'[ "$(cat {_DROP_IN})" = "[Unit]\nAssertPathExists=!{_DROP_IN}" ]',
        name="unit",
    ),
    Example(
        "fence_cluster",
        ("folder", _DATA),
        arrange="mkdir data",
        after='[ "$(stat -c %A data)" = dr-xr-xr-x ]',
        name="folder",
    ),
    Example("fence_cluster", ("folder", _DATA), status=1, complains="cannot be closed", name="no folder"),
    Example(
        "unfence_cluster",
        ("debian", "main/start.conf"),
        arrange=f"{_FENCES} && (fence_cluster debian main/start.conf)",
        after='[ "$(cat main/*; stat -c %y main/*)" = "auto\n2001-01-01 00:00:00.000000000 +0000" ]',
        name="debian",
    ),
    Example(
        "unfence_cluster",
        ("debian", "main/start.conf"),
        arrange=_FENCES,
        after='[ "$(cat main/*)" = auto ]',
        name="debian unfenced",
    ),
    Example(
        "unfence_cluster",
        ("unit", _DROP_IN),
        arrange=f"mkdir -p {_DROP_IN.rpartition('/')[0]} && touch {_DROP_IN}",
        programs=_PLAYED,
        prints="daemon-reload\n",
        after='[ -z "$(ls system)" ]',
        name="unit",
    ),
    Example("unfence_cluster", ("unit", _DROP_IN), programs=_PLAYED, prints="", name="unit unfenced"),
    Example(
        "unfence_cluster",
        ("folder", _DATA),
        arrange="mkdir -m 500 data",
        after='[ "$(stat -c %a data)" = 700 ]',
        name="folder",
    ),
]

_PROVING = [
    Example(
        "control_data",
        ("@path@", _DATA),
        programs=_said("in production"),
        matches="(?s)pg_control version.*\nDatabase cluster state: +in production\n",
    ),
    Example(
        "control_data",
        ("@path@", _DATA),
        programs={"pg_controldata": ":"},
        status=1,
        complains="says nothing of ",
        name="an empty answer",
    ),
    Example(
        "prove_stopped",
        ("@path@", _DATA),
        arrange=_STOPPED,
        programs=_said("shut down"),
        prints=f"{_STATE}2e7f1f7a9dd3f82765d297d667234b91f8a68fa534bc7e6a6a04c77ffee12376  -\n",
    ),
    *(
        Example(
            "prove_stopped",
            ("@path@", _DATA),
            arrange=_STOPPED,
            programs=_said(state),
            status=1,
            complains="it was not shut down cleanly",
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
        complains="postmaster.pid is there",
        prints="",
        name="a lock file",
    ),
    Example("prove_running", ("@path@", _DATA), arrange=_RUNS, programs=_PLAYED, prints=f"status {_DATA} \n"),
    Example(
        "prove_running",
        ("@path@", _DATA),
        arrange=_STOPPED,
        programs=_PLAYED,
        status=1,
        complains="no server runs in ",
        name="it does not",
    ),
]

EXAMPLES = [*_STOPPING, *_STARTING, *_FENCING, *_PROVING]
