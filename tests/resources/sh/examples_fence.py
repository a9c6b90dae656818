"""Examples of the fence: put up, taken away, and broken off on its way. A server is played by a sleep of that name."""

from tests.resources.sh.examples import Example

_DATA = "@folder@/it's"
_CLUSTER = (
    'mkdir -p "it\'s/global" && echo control >"it\'s/global/pg_control" && echo 15 >"it\'s/PG_VERSION" && '
    'touch -d 2001-01-01 "it\'s/global" "it\'s"'
)
_BEHIND = 'mkdir -p "it\'s/pghaul-fence/global" && mv "it\'s/global/pg_control" "it\'s/pghaul-fence/global/"'
_FENCED = f"{_CLUSTER} && {_BEHIND} && touch -d 2001-01-01 it*/global it*"
_NO_VERSION = "mv it*/PG_VERSION it*/pghaul-fence/"
_SOCKET = "pghaul-local-0123456789ab"
_MARKED = 'echo identifier >"it\'s/pghaul-fence/mark"'
_SAID = 'touch "it\'s/pghaul-fence/new-was-opened"'
_TIMES = '[ "$(stat -c %y it*/global it* | sort -u | cut -c 1-10)" = 2001-01-01 ]'
_NAMES = "cd it* && find . -type f | sort | tr '\\n' ' '"
_SERVER = (
    "cp /bin/sleep postgres && "
    "{ (cd it* && exec env --default-signal=INT ../postgres 60 >/dev/null 2>&1) & } && echo $! >server && "
    "became postgres $!"
)
_TOUCH = 'touch "it\'s/postmaster.pid"'
_LOCK = """(cat server && echo data && echo 1700000000 && echo 5432) >"it's/postmaster.pid" """
_OWN = 'head -n 3 it*/postmaster.pid >"it\'s/pghaul-fence/server"'
_END = 'kill "$(cat server)"'
_CRASHED = f"""{_CLUSTER} && {_BEHIND} && printf '1\\n2\\n3\\n' >"it's/postmaster.pid" """
_RUNS_OURS = (
    f"{_FENCED} && {_MARKED} && mv it*/pghaul-fence/global/pg_control it*/global/ && {_NO_VERSION} && {_SERVER} && "
    f"{_LOCK}"
)
_STOPS = {"sleep": "the stop goes on, and the next look sees it"}


def _holds(names: str, more: str = "true") -> str:
    return f'[ "$({_NAMES})" = "{names} " ] && {more}'


_CLOSED = _holds("./PG_VERSION ./pghaul-fence/global/pg_control", _TIMES)
_OPEN = _holds("./PG_VERSION ./global/pg_control")
_AS_BEFORE = _holds("./PG_VERSION ./global/pg_control", f"{_TIMES} && [ ! -e it*/pghaul-fence ]")
_NEW = "./PG_VERSION ./pghaul-fence/global/pg_control ./pghaul-fence/mark"

_OLD = [
    Example("refuse_running_server", (_DATA,), arrange=_CLUSTER, prints=""),
    Example("refuse_running_server", (_DATA,), prints="", name="no folder"),
    Example(
        "refuse_running_server",
        (_DATA,),
        arrange=f"{_CLUSTER} && {_SERVER}",
        after=_END,
        status=1,
        complains="/it's (process ",
        name="a server without its lock file",
    ),
    Example(
        "refuse_running_server",
        (_DATA,),
        arrange=f"{_CLUSTER} && {_TOUCH}",
        status=1,
        complains="its lock file postmaster.pid exists",
        name="a lock file",
    ),
    Example(
        "refuse_running_server",
        (_DATA,),
        arrange=f"{_CRASHED} && {_OWN}",
        prints="",
        name="the lock file of ours that crashed",
    ),
    Example(
        "run_keeping_time",
        ("f", "touch", "f/new"),
        arrange="mkdir -p f && touch -d 2001-01-01 f",
        after="[ -e f/new ] && [ f -ot /etc ]",
    ),
    Example(
        "run_keeping_time",
        ("f", "mkdir", "f/there/not"),
        arrange="mkdir f",
        status=1,
        complains="failed: mkdir: cannot create directory",  # so is a full disk
        name="it fails",
    ),
    Example("flush_fence", (_DATA,), arrange=_FENCED),
    Example("move_behind_fence", (_DATA, "global/pg_control"), arrange=_CLUSTER, after=_CLOSED),
    Example("move_behind_fence", (_DATA, "global/pg_control"), arrange=_FENCED, after=_CLOSED, name="it lies there"),
    Example(
        "move_behind_fence",
        (_DATA, "global/pg_control"),
        arrange='mkdir "it\'s"',
        after="[ -d it*/pghaul-fence/global ]",
        name="there is none",
    ),
    Example("move_out_of_fence", (_DATA, "global/pg_control"), arrange=_FENCED, after=_OPEN),
    Example("move_out_of_fence", (_DATA, "global/pg_control"), arrange=_CLUSTER, after=_OPEN, name="no fence"),
    Example(
        "move_out_of_fence",
        (_DATA, "global/pg_control"),
        arrange=f'{_FENCED} && echo another >"it\'s/global/pg_control"',
        status=1,
        complains="global/pg_control exists in ",
        name="two of them",
    ),
    Example("open_fence", (_DATA,), arrange=f"{_FENCED} && {_NO_VERSION}", after=_OPEN),
    Example(
        "fence_cluster", (_DATA,), arrange=_CLUSTER, after=f'{_CLOSED} && [ "$(stat -c %a it*/pghaul-fence)" = 700 ]'
    ),
    Example("fence_cluster", (_DATA,), arrange=_FENCED, after=_CLOSED, name="again"),
    Example(
        "fence_cluster",
        (_DATA,),
        arrange=f"{_CLUSTER} && {_SERVER}",
        after=f"{_END} && {_AS_BEFORE}",
        status=1,
        complains="a PostgreSQL server is running in ",
        name="a server runs",
    ),
    Example(
        "fence_cluster",
        (_DATA,),
        arrange=_CLUSTER,
        programs={"mv": '/bin/mv "$@" && case $* in *pg_control*fence*) touch "it\'s/postmaster.pid" ;; esac'},
        status=1,
        complains="a PostgreSQL server is running in ",
        after="[ -e it*/global/pg_control ] && [ ! -e it*/pghaul-fence/global/pg_control ]",
        name="somebody was faster",
    ),
    Example("unfence_cluster", (_DATA,), arrange=_FENCED, after=_AS_BEFORE),
    Example("unfence_cluster", (_DATA,), arrange=_CLUSTER, after=_AS_BEFORE, name="no fence"),
    Example(
        "unfence_cluster",
        (_DATA,),
        arrange=f'{_CLUSTER} && mkdir "it\'s/pghaul-fence" && touch -d 2001-01-01 it*',
        after=_AS_BEFORE,
        name="broken off",
    ),
    Example(
        "unfence_cluster",
        (_DATA,),
        arrange=f"{_FENCED} && {_SAID}",
        status=1,
        complains="the new cluster was opened for clients",
        after=_holds("./PG_VERSION ./pghaul-fence/global/pg_control ./pghaul-fence/new-was-opened"),
        name="new was opened",
    ),
    Example("record_cutover", (_DATA,), arrange=_FENCED, after="[ -s it*/pghaul-fence/new-was-opened ]"),
    Example("refuse_after_cutover", (_DATA,), arrange=_FENCED, prints=""),
    Example(
        "refuse_after_cutover",
        (_DATA,),
        arrange=f"{_FENCED} && {_SAID}",
        status=1,
        complains="/it's/pghaul-fence/new-was-opened",
        name="new was opened",
    ),
    Example("find_control", (_DATA,), arrange=_FENCED),
    Example(
        "print_control_data",
        ("@path@", _DATA),
        arrange=_FENCED,
        programs={"pg_controldata": 'echo "reads $1"'},
        prints="reads @folder@/it's/pghaul-fence\n",
    ),
    Example(
        "print_control_data",
        ("@path@", _DATA),
        arrange=_CLUSTER,
        programs={"pg_controldata": 'echo "reads $1"'},
        prints="reads @folder@/it's\n",
        name="unfenced",
    ),
    Example(
        "print_control_data",
        ("@path@", _DATA),
        programs={"pg_controldata": ":"},
        status=1,
        complains="says nothing of ",
        name="an empty answer",
    ),
    Example(
        "checksum_control_file",
        (_DATA,),
        arrange=_FENCED,
        prints="2e7f1f7a9dd3f82765d297d667234b91f8a68fa534bc7e6a6a04c77ffee12376  -\n",
    ),
]

_TARGET = [
    Example(
        "fence_target",
        (_DATA, "identifier 1", "folder a\nb"),
        arrange='mkdir "it\'s"',
        after='[ "$(sed 1d it*/pghaul-fence/mark)" = "identifier 1\nfolder a\nb" ]',
    ),
    Example(
        "fence_target",
        (_DATA, "identifier 1"),
        arrange=f"{_FENCED} && {_NO_VERSION}",
        after=_holds(_NEW),
        name="after a power cut",
    ),
    Example(
        "fence_target",
        (_DATA, "identifier 1"),
        arrange=f"{_CRASHED} && {_OWN}",
        after=_holds(_NEW),
        name="our server crashed",
    ),
    Example(
        "fence_target",
        (_DATA, "identifier 1"),
        arrange=_CRASHED,
        status=1,
        complains="its lock file postmaster.pid exists",
        name="another server crashed",
    ),
    Example(
        "close_target",
        (_DATA,),
        arrange=f"{_CLUSTER} && {_BEHIND} && {_NO_VERSION}",
        after=_holds("./PG_VERSION ./pghaul-fence/global/pg_control"),
    ),
    Example(
        "roll_back_target",
        (_DATA,),
        arrange=f"{_RUNS_OURS} && {_OWN}",
        after=f'{_holds(_NEW)} && [ -z "$(list_servers_in it*)" ]',
        tolerates=_STOPS,
        name="ours runs",
    ),
    Example("roll_back_target", (_DATA,), arrange=_CLUSTER, after=_AS_BEFORE, name="no mark"),
    Example(
        "remove_socket_folder",
        (_DATA,),
        arrange=f'{_CLUSTER} && mkdir "it\'s/pghaul-fence" {_SOCKET} && touch {_SOCKET}/.s.PGSQL.5432.lock && '
        f'echo "$PWD/{_SOCKET}" >"it\'s/pghaul-fence/socket"',
        prints="",
        after=f'[ ! -e {_SOCKET} ] && [ ! -e "it\'s/pghaul-fence/socket" ]',
    ),
    Example("remove_socket_folder", (_DATA,), arrange=_CLUSTER, after=_AS_BEFORE, name="there is none"),
    Example(
        "remove_socket_folder",
        (_DATA,),
        arrange=f'{_CLUSTER} && mkdir "it\'s/pghaul-fence" kept && echo "$PWD/kept" >"it\'s/pghaul-fence/socket"',
        after="[ -d kept ]",
        name="not by its name",
    ),
    Example(
        "roll_back_target",
        (_DATA,),
        arrange=f'{_CLUSTER} && mkdir "it\'s/pghaul-fence" && echo identifier >"it\'s/pghaul-fence/opened" && '
        '(checksum_control_file "it\'s") >"it\'s/pghaul-fence/control"',
        after=_holds(_NEW),
        name="the opening failed",
    ),
    Example(
        "roll_back_target",
        (_DATA,),
        arrange=f'{_CLUSTER} && mkdir "it\'s/pghaul-fence" && echo identifier >"it\'s/pghaul-fence/opened" && '
        '(checksum_control_file "it\'s") >"it\'s/pghaul-fence/control" && echo later >>"it\'s/global/pg_control"',
        status=1,
        complains="the new cluster was started for clients, and they may have written to it",
        after='[ -e "it\'s/pghaul-fence/opened" ] && [ -e "it\'s/global/pg_control" ]',
        name="it was opened",
    ),
    Example(
        "roll_back_target",
        (_DATA,),
        arrange=f"{_FENCED} && {_MARKED}",
        programs={"sync": "exit 1"},
        after=f"{_holds(_NEW)}",
        name="closed as it was, on a disk that is broken",
    ),
    Example(
        "roll_back_target",
        (_DATA,),
        arrange=_RUNS_OURS,
        status=1,
        complains="that this copy has not started",
        after=_END,
        name="another server runs",
    ),
    Example(
        "open_target",
        (_DATA,),
        arrange=f"{_FENCED} && {_MARKED} && {_NO_VERSION}",
        after=_holds("./PG_VERSION ./global/pg_control ./pghaul-fence/opened"),
    ),
    Example("check_own_server", (_DATA,), arrange=f"{_RUNS_OURS} && {_OWN}", after=_END),
    Example(
        "check_own_server",
        (_DATA,),
        arrange=f"{_RUNS_OURS} && sed 's/17/16/' it*/postmaster.pid >\"it's/pghaul-fence/server\"",
        status=1,
        complains="that this copy has not started",
        after=_END,
        name="of another time",
    ),
    *(
        Example(
            "check_own_server",
            (_DATA,),
            arrange=f"{_RUNS_OURS} && printf '%s\\n' 'started with' {known} >\"it's/pghaul-fence/server\"",
            status=status,
            complains="that this copy has not started" if status else "",
            after=_END,
            name=name,
        )
        for name, known, status in (
            ("nobody has recorded its lock file", "60", 0),
            ("of other options", "6", 1),
            ("no options are known", "", 1),
        )
    ),
    Example("stop_local_only", (_DATA,), arrange=_FENCED, prints="", name="none runs"),
    Example(
        "stop_local_only",
        (_DATA,),
        arrange=f"{_RUNS_OURS} && {_OWN}",
        prints="",
        after='[ -z "$(list_servers_in it*)" ]',
        tolerates=_STOPS,
    ),
]

EXAMPLES = [*_OLD, *_TARGET]
