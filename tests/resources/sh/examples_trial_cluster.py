"""Examples of the trial cluster, with stand-ins for PostgreSQL's programs."""

import re

from tests.resources.sh.examples import Example

_POSTGRES = """case $1 in
  --version) echo 'postgres (PostgreSQL) 15.18' ;;
  -C) case $6 in bad=*) echo 'LOG:  one'; echo 'FATAL:  unrecognized parameter "bad"'; exit 1 ;; esac ;;
  --single)
    case $* in *=missing*) echo 'FATAL:  could not access file "missing"'; exit 1 ;; *=crash*) exit 139 ;; esac
    echo "$*"
    while read -r statement; do
      echo "$statement"
      case $statement in *missing*) echo 'ERROR:  could not access file "missing"' ;; esac
    done ;;
esac"""
_INITDB = 'pwd >"$HOME/where" && mkdir -p "$HOME/data"'
_PROGRAMS = {"postgres": _POSTGRES, "initdb": _INITDB, "pg_controldata": 'echo "pg_control version number: 1300"'}
_IN = {"trial_folder": "@folder@"}
_GONE = '[ ! -e "$(cat where)" ]'
_HEAD = "postgres (PostgreSQL) 15.18\npghaul-control-data\npg_control version number: 1300\npghaul-binaries\n"
_MAY_CRASH = {"postgres": "a library may bring it down: that nothing is answered says so"}


def _digits(text: str) -> str:
    return text.encode().hex()


_BAD = _digits("bad=1") + "|" + _digits('FATAL:  unrecognized parameter "bad"')
_MISSING = _digits("missing") + "|" + _digits('FATAL:  could not access file "missing"')
_NO_LIBRARY = _digits("missing") + "|" + _digits('ERROR:  could not access file "missing"')
_NONE = _digits('could not access file "/no/lib": there is none')
_OPEN = "mkdir -m 777 open && touch open/lib.so"

EXAMPLES = [
    Example(
        "trial_cluster",
        ("@path@", "preload", "good", "setting", "bad=1", "path", "/none", "sql", "select 'a b'", "select 2"),
        programs=_PROGRAMS,
        matches=re.escape(
            f"{_HEAD}preload|{_digits('good')}|\nsetting|{_BAD}\n"
            f"path|{_digits('/none')}|{_digits('no such file or folder')}\n"
            "--single -D /tmp/pghaul-trial.RANDOM/data -c shared_preload_libraries=good postgres\n"
            "select 'a b'\nselect 2\n"
        ).replace("RANDOM", r"\w+"),
        after=_GONE,
    ),
    Example(
        "trial_cluster",
        ("@path@", "sql"),
        programs={
            **_PROGRAMS,
            "initdb": "pwd >$HOME/where; echo 'initdb: warning: b'; echo 'initdb: error: a' >&2; exit 1",
        },
        status=1,
        complains="pghaul: initdb failed: initdb: error: a",
        after=_GONE,
        name="initdb fails",
    ),
    Example("trial_cluster", ("/none:/usr/bin:/bin",), status=1, complains="no server program", name="no binaries"),
    Example(
        "remove_old_trials",
        arrange="mkdir -p /tmp/pghaul-trial.example && touch -d '2 hours ago' /tmp/pghaul-trial.example",
        after="[ ! -e /tmp/pghaul-trial.example ]",
    ),
    Example("make_trial", settings=_IN, programs=_PROGRAMS, after="[ -d data ]"),
    Example(
        "make_trial",
        settings=_IN,
        programs={"initdb": f'[ "$1" != -N ] || {{ mkdir "$HOME/data"; exit 1; }}; [ ! -e "$HOME/data" ] && {_INITDB}'},
        after="[ -d data ]",
        name="an initdb without -N",
    ),
    Example(
        "ask_trial",
        ("preload", "missing", "sql", "select 1"),
        settings=_IN,
        programs=_PROGRAMS,
        prints=f"preload|{_MISSING}\n--single -D @folder@/data postgres\nselect 1\n",
        tolerates=_MAY_CRASH,
        name="a library that is missing",
    ),
    Example("ask_trial", ("path", "sh"), settings=_IN, prints=f"path|{_digits('sh')}|\n", name="no statements"),
    Example(
        "single_user",
        ("-c", "a=b"),
        settings=_IN,
        programs=_PROGRAMS,
        prints="--single -D @folder@/data -c a=b postgres\n",
        tolerates=_MAY_CRASH,
    ),
    Example(
        "try_preload",
        ("crash",),
        settings=_IN,
        programs=_PROGRAMS,
        prints=f"preload|{_digits('crash')}|{_digits('it ended with exit status 139')}\n",
        tolerates=_MAY_CRASH,
    ),
    Example(
        "try_preload",
        ("@folder@/open/lib.so",),
        arrange=_OPEN,
        settings=_IN,
        programs={"postgres": "touch loaded"},
        matches=r"unverified\|[0-9a-f]+\|[0-9a-f]+\n",
        after="[ ! -e loaded ]",
        name="one that anybody may write",
    ),
    Example(
        "try_library",
        ("missing",),
        settings=_IN,
        programs=_PROGRAMS,
        prints=f"library|{_NO_LIBRARY}\n",
        tolerates=_MAY_CRASH,
    ),
    Example(
        "try_library",
        ("$libdir/good",),
        settings=_IN | {"trial_loaded": "one"},
        programs=_PROGRAMS,
        prints=f"library|{_digits('$libdir/good')}|\n",
        tolerates=_MAY_CRASH,
        name="it loads",
    ),
    Example(
        "try_library",
        ("@folder@/open/lib",),
        arrange=_OPEN,
        settings=_IN,
        programs={"postgres": "touch loaded"},
        matches=r"unverified\|[0-9a-f]+\|[0-9a-f]+\n",
        after="[ ! -e loaded ]",
        name="one that anybody may write",
    ),
    Example(
        "try_library",
        ("/no/lib",),
        prints=f"library|{_digits('/no/lib')}|{_NONE}\n",
        name="none",
    ),
    Example("check_loadable", ("library", "lib"), prints=""),
    Example(
        "try_setting",
        ("bad=1",),
        settings=_IN,
        programs=_PROGRAMS,
        prints=f"setting|{_BAD}\n",
        tolerates=_MAY_CRASH,
    ),
    Example(
        "try_setting",
        ("good=1",),
        settings=_IN,
        programs=_PROGRAMS,
        prints=f"setting|{_digits('good=1')}|\n",
        name="taken",
        tolerates=_MAY_CRASH,
    ),
    Example(
        "try_path", ("no-such-program",), prints=f"path|{_digits('no-such-program')}|{_digits('no such program')}\n"
    ),
    Example("try_path", ("/tmp",), prints=f"path|{_digits('/tmp')}|\n", name="it is there"),
    Example(
        "try_pgbackrest",
        ("@folder@/conf",),
        arrange="""mkdir conf && printf '[global]\nrepo1-cipher-pass=secret\n[main]\npg1-path=/srv\n' >conf/a.conf""",
        matches=rf"pgbackrest\|[0-9a-f]*{_digits('/a.conf')}\|" + _digits("[global]\n[main]\npg1-path=/srv") + "\n",
    ),
    Example("try_pgbackrest", ("/no/file",), prints="", name="none"),
    Example("server_complaint", ("1", "LOG:  a\nERROR:  b\nERROR:  c\nHINT:  d"), prints="ERROR:  c\n"),
    Example("server_complaint", ("139", ""), prints="it ended with exit status 139\n", name="it said nothing"),
    Example("server_complaint", ("0", "ERROR:  b"), prints="", name="no failure"),
    Example("print_answer", ("path", "a|b", "ö"), prints="path|617c62|c3b6\n"),
]
