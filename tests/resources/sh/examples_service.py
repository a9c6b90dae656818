"""Examples of starting, enabling and registering a cluster. What controls one is played by stand-ins."""

from tests.resources.sh.examples import Example

_DATA = "@folder@/data"
_LOCK = "read -r server <server; printf '%s\\n' $server /data 0 5432 /run '*' 12 'ready   ' >data/postmaster.pid"
_BEGUN = "mkdir data && { (cd data && exec /bin/sleep 5 >/dev/null 2>&1) & } && echo $! >server && became sleep $!"
_RUNS = f"{_BEGUN} && echo 15 >data/PG_VERSION && {_LOCK}"
_END = 'kill "$(cat server)"'
_STARTING = f"{_RUNS} && sed -i '8s/.*/starting/' data/postmaster.pid"
_PLAYED = {
    "systemctl": 'echo "$*"',
    "loginctl": 'echo "$*"',
    "pg_ctlcluster": 'echo "$*"',
    "pg_conftool": 'echo "$*"',
}

EXAMPLES = [
    Example("start_debian", ("15", "main", _DATA), arrange=_RUNS, programs=_PLAYED, matches="(?s).*15 main start\n"),
    Example(
        "start_debian",
        ("15", "main", _DATA),
        arrange=_RUNS,
        programs={**_PLAYED, "pg_ctlcluster": "exit 1"},
        status=1,
        complains="/data did not start: read its log",
        name="it does not",
    ),
    Example(
        "start_unit",
        ("postgresql-15.service", _DATA),
        arrange=_RUNS,
        programs=_PLAYED,
        prints="reset-failed postgresql-15.service\nstart postgresql-15.service\n",
    ),
    Example(
        "start_unit",
        ("postgresql-15.service", _DATA),
        arrange=_RUNS,
        programs={"systemctl": "[ $1 != start ]"},
        status=1,
        complains=": journalctl -u postgresql-15.service",
        name="it does not",
    ),
    Example(
        "start_user_unit",
        ("own.service", _DATA),
        arrange=_RUNS,
        programs=_PLAYED,
        prints="--user reset-failed own.service\n--user start own.service\n",
    ),
    Example(
        "start_folder",
        ("@path@", _DATA, "-"),
        arrange=_RUNS,
        programs={"pg_ctl": '[ "$1" != status ] && echo "$PGDATA $*"'},
        prints="",
        after="grep -q ' start$' data/pghaul-start.log",
    ),
    Example(
        "start_folder",
        ("@path@", _DATA, "-", "-c port=9"),
        arrange=_RUNS,
        programs={"pg_ctl": '[ "$1" != status ] && echo "$PGDATA $*"'},
        prints="",
        after="grep -q -e '-o  *-c port=9 start$' data/pghaul-start.log",
        name="with what was in force",
    ),
    Example(
        "start_folder",
        ("@path@", _DATA, "-", "-c port=9"),
        arrange=_RUNS,
        programs={"pg_ctl": 'case "$*" in status | *port=9*) exit 1 ;; *) echo "$PGDATA $*" ;; esac'},
        matches=r"(?s).* stop\nwarning: The server in .* did not start with the options -c port=9, .*\n",
        tolerates=dict.fromkeys(("tail", "sed", "awk", "pg_ctl"), "the second start is what counts"),
        after="grep -q -e '-o  *start$' data/pghaul-start.log",
        name="not with what was in force",
    ),
    Example("start_folder", ("@path@", _DATA, "-"), arrange=_RUNS, programs={"pg_ctl": "true"}, prints="", name="runs"),
    Example("stop_debian", ("15", "main", _DATA), arrange=_RUNS, programs=_PLAYED, prints="15 main stop -m fast\n"),
    Example("stop_debian", ("15", "main", _DATA), programs=_PLAYED, prints="", name="stopped"),
    Example("stop_unit", ("own.service", _DATA), programs=_PLAYED, prints="stop own.service\n"),
    Example("stop_user_unit", ("own.service", _DATA), programs=_PLAYED, prints="--user stop own.service\n"),
    Example(
        "stop_server_of_unit",
        (_DATA, "own.service", "", "systemctl"),
        arrange=_RUNS,
        programs=_PLAYED,
        prints="",
        after=_END,
        name="another than that of the unit",
    ),
    Example(
        "stop_server_of_unit", (_DATA, "own.service", "", "systemctl"), programs=_PLAYED, prints="", name="stopped"
    ),
    Example("refuse_shared_unit", ("own.service", _DATA), arrange=_RUNS, prints="", after=_END),
    *(
        Example(
            "process_is_in_unit",
            ("cgroup", "own.service", user),
            arrange=f"printf '%s\\n' 9:name=systemd:/ {line} >cgroup",
            prints="",
            after=f'! process_is_in_unit cgroup own.servic "{user}" && ! process_is_in_unit cgroup own.service 7 && '
            '! process_is_in_unit none own.service ""',
            name=name,
        )
        for name, user, line in (
            ("the host's", "", "0::/system.slice/own.service"),
            ("a part of it", "", "1:name=systemd:/system.slice/own.service/more"),
            ("a user's", "1000", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/own.service"),
        )
    ),
    Example(
        "stop_folder",
        ("@path@", _DATA),
        arrange=_RUNS,
        programs={"pg_ctl": 'echo "$PGDATA $*"'},
        prints=f"{_DATA} -m fast -w -t 3600 stop\n",
    ),
    Example("stop_folder", ("@path@", _DATA), prints="", name="stopped"),
    Example(
        "stop_folder",
        ("@path@", _DATA),
        arrange=_RUNS,
        programs={"pg_ctl": "exit 1"},
        status=1,
        complains="/data did not stop",
        name="it goes on",
    ),
    Example("write_start_conf", ("@folder@", "auto"), after='[ "$(cat start.conf)" = auto ]'),
    Example("run_user_systemctl", ("stop", "own.service"), programs=_PLAYED, prints="--user stop own.service\n"),
    Example(
        "enable_linger",
        ("postgres",),
        programs={**_PLAYED, "id": "echo 101"},
        prints="enable-linger postgres\nstart user@101.service\n",
    ),
    Example("wait_until_ready", (_DATA,), arrange=_RUNS, prints="", after=_END),
    Example(
        "wait_until_ready",
        (_DATA,),
        arrange=_STARTING,
        programs={"sleep": _LOCK},
        prints="",
        after=_END,
        name="not yet",
    ),
    Example(
        "wait_until_ready",
        (_DATA,),
        arrange=f"{_RUNS} && sed -i 1s/.*/4194300/ data/postmaster.pid",
        programs={"sleep": f": >slept; {_LOCK}"},
        prints="",
        after=f"[ -e slept ] && {_END}",
        name="of one that lost its power",
    ),
    Example("server_ready", (_DATA,), arrange=_RUNS, prints="", after=_END),
    Example("server_starting", (_DATA,), arrange=_STARTING, prints="", after=f"! server_starting . && {_END}"),
    Example(
        "server_ready",
        (_DATA,),
        arrange=f"{_BEGUN} && echo 9.6 >data/PG_VERSION && cat server >data/postmaster.pid",
        prints="",
        after=_END,
        name="an old one",
    ),
    Example(
        "register_debian",
        ("postgresql.conf", "/srv/it's", "15-main", "/srv/it's/own.conf"),
        arrange="echo theirs >postgresql.conf",
        after="""[ "$(cat postgresql.conf postgresql.conf.before-pghaul)" = "hba_file = '/srv/it''s/pg_hba.conf'
ident_file = '/srv/it''s/pg_ident.conf'
include '/srv/it''s/own.conf'
data_directory = '/srv/it''s'
external_pid_file = '/run/postgresql/15-main.pid'
theirs" ]""",
    ),
    Example(
        "unregister_debian",
        ("postgresql.conf",),
        arrange="echo ours >postgresql.conf; echo theirs >postgresql.conf.before-pghaul",
        after='[ "$(cat postgresql.conf*)" = theirs ]',
    ),
    Example("unregister_debian", ("postgresql.conf",), prints="", name="not changed"),
    Example(
        "set_debian_settings",
        ("@folder@/postgresql.conf", "data_directory", "/srv/pg", "hba_file", "/srv/hba"),
        arrange='printf "%s\\n" "data_directory = \'/old\'" "port = 1" >postgresql.conf',
        prints="",
        after="""[ "$(cat postgresql.conf)" = "data_directory = '/srv/pg'
port = 1
hba_file = '/srv/hba'" ]""",
    ),
    Example(
        "set_debian_settings",
        ("@folder@/postgresql.conf", "data_directory", "/srv/pg"),
        arrange="printf %s \"include_dir = 'conf.d'\" >postgresql.conf",
        prints="",
        after="""[ "$(cat postgresql.conf)" = "include_dir = 'conf.d'
data_directory = '/srv/pg'" ]""",
        name="a last line without an end",
    ),
    Example(
        "set_debian_setting",
        ("@folder@/postgresql.conf", "data_directory", "/srv/it's"),
        arrange='printf "%s\\n" "data_directory = \'/old\'" "include_dir = \'conf.d\'" >postgresql.conf; mkdir conf.d; '
        "echo \"data_directory = '/old'\" >conf.d/data.conf",
        prints="",
        after="""[ "$(cat postgresql.conf)" = "data_directory = '/srv/it''s'
include_dir = 'conf.d'
data_directory = '/srv/it''s'" ]""",
        name="a file that is included says otherwise",
    ),
]
