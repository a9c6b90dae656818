"""Examples of a trial start, as a whole in namespaces of its own, with stand-ins for PostgreSQL's programs."""

import base64
import getpass
import io
import tarfile

from core.servers.functions import library
from tests.resources.sh.examples import Example
from tests.resources.sh.examples_reachability import BY_LOCK_FILE, SERVED, SERVES

_ME = getpass.getuser()
_DATA = "/srv/old/data"
_PROGRAM = {"program": library(["trial_inside", "trial_prepare", "trial_run"]) + '\n"$@"\n'}
_ASKS = """case "$*" in
  *' -C data_directory') echo "$2" ;;
  *' -C ssl_passphrase_command') echo ;;
  *' -C unix_socket_directories') echo "${2%/new/*}/sockets, /none, @abstract" ;;
  *' -C port') echo 5432 ;;
  *' -C logging_collector') echo on ;;
  *' -C log_directory') echo "${2%/new/*}/logs/log" ;;
  *) while read -r statement; do :; done ;;
esac"""
_PG_CTL = """{
    /bin/touch "${2%/new/*}/sockets/made" "${2%/new/*}/logs/made"
    /bin/touch "${2%/new/*}/made" "/pghaul-example" 2>/dev/null && exit 0
    /bin/ls -l /proc/$$/fd | /bin/grep '/room$' && exit 0
    /bin/cat "$2/postgresql.conf" /etc/pghaul-example/a.conf
    echo "FATAL:  no, with$9"
} >"$7"
exit 1"""
_ASKED = """case "$*" in *' -C port') echo 9 ;; *' -C unix_socket_directories') echo "$HOME/data" ;; esac"""
_NONE = {"postgres": "echo /none"}
_TOLD_LATER = {
    "postgres": "why it does not read its files the start says",
    "postgres behind": "likewise",
    "timeout": "likewise",
    "timeout behind": "likewise",
}
_LACKS = """case $9 in *listen_addresses=localhost) exit 0 ;; esac
echo 'LOG:  could not bind IPv4 address "192.0.2.7": Cannot assign requested address' >"$7"
echo 'WARNING:  could not create listen socket for "db-vip"' >>"$7"
echo 'FATAL:  could not create any TCP/IP sockets' >>"$7"
exit 1"""
_INITDB = {
    "initdb": 'while [ "$1" != -D ]; do shift; done; /bin/mkdir -p "$2" && : >"$2/PG_VERSION"',
}
_POSTGRES = _INITDB | {"postgres": _ASKS, "pg_ctl": _PG_CTL}
_WORDS = (
    "@folder@/lock",
    "-",
    "@path@",
    _ME,
    _DATA,
    "@folder@/new/target",
    "64",
    "-c a=b",
    "-c ssl_passphrase_command=",
)
_MOUNTS = """1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
2 1 0:5 / /proc rw,nosuid - proc proc rw
3 2 0:6 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw
4 1 8:2 / /srv/a\\040b rw,nodev,noatime - xfs /dev/sdb rw
5 4 8:3 / /srv/a\\040b/sub rw - xfs /dev/sdc rw
6 1 8:4 / /hid/sub rw - xfs /dev/sdd rw
7 1 8:5 / /hid rw - xfs /dev/sde rw
8 2 0:7 / /proc rw - proc proc rw
9 1 0:9 / /opt rw - tmpfs pghaul-trial rw
10 1 0:8 / /dev/shm rw - tmpfs shm rw
11 10 0:9 /farms/x /dev/shm rw - tmpfs pghaul-trial rw
"""
_TOO_OLD = {"unshare": "echo 'unrecognized option --kill-child'; exit 1"}
_ROOM = {"trial_room": "@folder@/room", "trial_target": "@folder@/room/data", "trial_files": "-c a=b"}


def _packed(*names: str, link: str = "") -> str:
    """What the old server sends: these files, each of one line, and a link where it lies."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in names:
            file, text = tarfile.TarInfo(name), f"# {name.rpartition('/')[2]}\n".encode()
            file.size, file.mode = len(text), 0o600
            archive.addfile(file, io.BytesIO(text))
        if link:
            other = tarfile.TarInfo(link)
            other.type, other.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(other)
    return base64.encodebytes(made.getvalue()).decode() + "# whole\n"


_CONFIGURATION = ("srv/old/data/postgresql.conf", "etc/pghaul-example/a.conf")

_BUS = r"""case $1 in
  call) echo 'o "/org/freedesktop/systemd1/unit/own"' ;;
  *)
    [ "$3" = /org/freedesktop/systemd1/unit/own ] || exit
    echo 'a(sbbsi) 4 "ConditionPathExists" false false "/none" -1 "ConditionHost" false true "a \\"b" 0' \
      '"ConditionPathExists" true true "/none" 0 "ConditionHost" true false "true x" 0'
    echo 'a(sbbsi) 1 "AssertPathExists" false false "/srv/data/PG_VERSION" 1'
    ;;
esac"""
_OLDER = "echo 'Unknown operation condition.' >&2; exit 1"


def _judged(systemd: str, *lines: str, prints: str) -> list[Example]:
    """What is told of each line, with a target that lies in the folder `there`, which is there already."""
    brought = ("@folder@/there/data/PG_VERSION", "@folder@/there/data", "/etc/shop/postgresql.conf")
    return [
        Example(
            "judge_condition",
            (line, *brought),
            arrange="mkdir there && ln -s there link",
            programs={"systemd-analyze": {"met": "exit 0", "unmet": "echo Conditions failed. >&2; exit 1"}[systemd]},
            prints=f"{prints}\n",
            tolerates={
                "systemd-analyze": "it is told as not judged",
                "systemd-analyze behind": "it ends with 1 where one is not met",
            },
            name=f"{line} is {systemd} now",
        )
        for line in lines
    ]


EXAMPLES = [
    Example(
        "pack_for_trial",
        ("@folder@", "@folder@/a.conf", "@folder@/none"),
        arrange='echo 1 >a.conf && echo 2 >postmaster.opts && (pack_for_trial "$PWD" "$PWD/a.conf") >packed',
        matches=r"[A-Za-z0-9+/=\n]+\n# whole\n",
        after="head -n -1 packed | base64 -d | tar -tf - >names && "
        "[ \"$(sed 's/.*\\///' names)\" = 'a.conf\npostmaster.opts' ]",
    ),
    Example("pack_for_trial", ("@folder@",), status=1, complains="no configuration file was found", name="nothing"),
    Example(
        "trial_start",
        (*_WORDS, "etc/pghaul-example/a.conf", "etc/none.conf"),
        arrange="mkdir new sockets logs",
        settings=_PROGRAM,
        stdin=_packed(*_CONFIGURATION),
        programs=_POSTGRES,
        prints="refused # postgresql.conf | # a.conf | FATAL:  no, with -c a=b -c ssl_passphrase_command=\n",
        tolerates={"pg_ctl behind": "it always ends badly here"},
        after="[ ! -e /etc/pghaul-example ] && [ ! -e made ] && [ ! -e /pghaul-example ] && rmdir new sockets logs",
        as_root=True,
        read_only=True,
    ),
    Example(
        "trial_start",
        (*_WORDS, "etc/pghaul-example/a.conf"),
        arrange="mkdir -p new/target sockets logs && touch new/target/own",
        settings=_PROGRAM,
        stdin=_packed(*_CONFIGURATION),
        programs=_POSTGRES,
        prints="refused # postgresql.conf | # a.conf | FATAL:  no, with -c a=b -c ssl_passphrase_command=\n",
        tolerates={"pg_ctl behind": "it always ends badly here"},
        after='[ "$(ls -A new/target)" = own ]',
        as_root=True,
        read_only=True,
        name="the target is there",
    ),
    *(
        Example(
            "trial_start",
            _WORDS,
            arrange="mkdir new",
            settings=_PROGRAM,
            stdin=stdin,
            programs=programs,
            status=75,
            complains=complains,
            as_root=True,
            read_only=True,
            name=name,
        )
        for name, stdin, programs, complains in (
            ("a link", _packed(*_CONFIGURATION, link="srv/old/data/x"), _POSTGRES, "neither a file nor a folder"),
            ("cut off", _packed(*_CONFIGURATION)[:200], _POSTGRES, "the input is incomplete"),
            ("a signal", _packed("srv/old/data/standby.signal"), _POSTGRES, "./standby.signal as a file of settings"),
            ("its own", _packed("srv/old/data/PG_VERSION"), _POSTGRES, "./PG_VERSION as a file of settings"),
            ("no initdb", _packed(*_CONFIGURATION), {"initdb": "echo 'x: a' >&2; exit 1"}, "initdb failed: x: a"),
            (
                "a passphrase",
                _packed(*_CONFIGURATION),
                _POSTGRES | {"postgres": _ASKS.replace("_command') echo", "_command') echo pass")},
                "a trial does not run this command",
            ),
            (
                "elsewhere",
                _packed(*_CONFIGURATION),
                _POSTGRES | {"postgres": _ASKS.replace('echo "$2"', "echo /srv")},
                "leads to another data directory, /srv",
            ),
        )
    ),
    Example(
        "trial_start",
        _WORDS,
        programs=_TOO_OLD,
        settings=_PROGRAM,
        status=75,
        complains="util-linux 2.32 or later: unrecognized option --kill-child",
        name="an old unshare",
    ),
    Example(
        "trial_start",
        _WORDS,
        arrange="ln -s 'token me of db1' lock-1",
        settings=_PROGRAM,
        status=75,
        complains="a cluster is being moved on this server by me of db1",
        name="a move",
    ),
    Example(
        "print_unit_obstacles",
        ("own.service", "postgres", "/home/pg/data"),
        arrange="touch there",
        programs={
            "systemctl": "printf '%s\\n' LoadState=loaded NeedDaemonReload=yes User=other ProtectHome=read-only "
            "'EnvironmentFiles=/none/a (ignore_errors=no)' 'EnvironmentFiles=/none/b (ignore_errors=yes)' "
            "'EnvironmentFiles=/none/* (ignore_errors=no)' \"EnvironmentFiles=$HOME/there (ignore_errors=no)\""
        },
        prints="NeedDaemonReload=yes, which systemctl daemon-reload ends,\nUser=other\nProtectHome=read-only\n"
        "EnvironmentFile=/none/a, which is missing\n",
    ),
    Example(
        "print_unit_obstacles",
        ("own.service", "postgres", "/srv/data"),
        programs={"systemctl": "printf '%s\\n' LoadState=loaded NeedDaemonReload=no User=postgres ProtectHome=yes"},
        prints="",
        name="nothing does",
    ),
    Example(
        "print_unmet_conditions",
        ("own.service", "/srv/data/PG_VERSION", "/srv/data"),
        programs={"busctl": _BUS, "systemd-analyze": "echo 'Conditions failed.' >&2; exit 1"},
        prints='unmet ConditionPathExists=/none\nunjudged ConditionHost=!a \\"b\n'
        "unmet ConditionPathExists=|!/none\nunmet ConditionHost=|true x\n",
        tolerates={
            "systemd-analyze": "all are told as not judged",
            "systemd-analyze behind": "it ends with 1 where one is not met",
        },
    ),
    Example(
        "print_unmet_conditions",
        ("own.service",),
        programs={"busctl": "echo 'a(sbbsi) 0'"},
        prints="",
        name="no conditions",
    ),
    Example(
        "filter_unmet",
        stdin="unmet AssertHost=|a\nunmet AssertHost=|b\nunmet ConditionHost=|a\nmet ConditionHost=|b\n"
        "unmet ConditionPathExists=!/c d\nmet ConditionUser=root\nunjudged AssertUser=x\n",
        prints="unmet ConditionPathExists=!/c d\nunjudged AssertUser=x\nunmet AssertHost=|a\nunmet AssertHost=|b\n",
    ),
    Example(
        "filter_unmet",
        stdin="unmet AssertHost=|a\nunjudged AssertHost=|b\nunmet ConditionHost=|a\n",
        prints="unjudged AssertHost=|a\nunjudged AssertHost=|b\nunmet ConditionHost=|a\n",
        name="of several one is not judged",
    ),
    *_judged(
        "unmet",
        "ConditionPathExists=/none",
        "ConditionPathExists=!@folder@/there",
        "ConditionPathIsMountPoint=@folder@/there/data",
        "ConditionPathIsReadWrite=@folder@/there",
        "ConditionHost=there",
        prints="unmet",
    ),
    *_judged(
        "unmet",
        "ConditionPathExists=@folder@/there/data/PG_VERSION",
        "ConditionPathExists=|@folder@/link/data",
        "ConditionPathExists=/etc/shop/postgresql.conf",
        "AssertPathIsDirectory=@folder@/there/data",
        "ConditionDirectoryNotEmpty=@folder@/there",
        "ConditionFileNotEmpty=@folder@/there/data/PG_VERSION",
        "ConditionPathIsReadWrite=@folder@/there/data",
        prints="met",
    ),
    *_judged(
        "unmet",
        "ConditionPathExists=@folder@/there/data/failover.allowed",
        "ConditionPathExists=@folder@/link/data/failover.allowed",
        "ConditionPathExistsGlob=/*/there/data/PG_VERSION",
        "ConditionPathIsSymbolicLink=@folder@/there/data/PG_VERSION",
        "ConditionPathIsEncrypted=@folder@/there/data",
        "ConditionFileNotEmpty=@folder@/there/data",
        "ConditionEnvironment=x",
        prints="unjudged",
    ),
    *_judged(
        "met",
        "AssertPathExists=!@folder@/there/data/standby.signal",
        "ConditionDirectoryNotEmpty=!@folder@/there",
        prints="unjudged",
    ),
    *_judged(
        "met",
        "ConditionPathExists=!/none",
        "ConditionPathExists=@folder@/there/data/server.key",
        "ConditionHost=!there",
        prints="met",
    ),
    Example(
        "judge_condition",
        ("ConditionPathExists=/50%i", "/srv/data"),
        programs={"systemd-analyze": """[ "$2" = ConditionPathExists=/50%%i ]"""},
        prints="met\n",
        tolerates={"systemd-analyze": "it is told as not judged", "systemd-analyze behind": "the same"},
        name="a character that systemd would take for another",
    ),
    Example(
        "judge_condition",
        ("ConditionPathExists=/none", "/srv/data"),
        programs={"systemd-analyze": _OLDER},
        prints="unjudged\n",
        tolerates={"systemd-analyze": "it fails anyway", "systemd-analyze behind": "the same"},
        name="an older systemd",
    ),
    *(
        Example(
            "compare_place",
            (f"@folder@/{path}", "@folder@/there/data", "@folder@/a/b"),
            arrange="mkdir there && ln -s there link",
            prints=prints,
            name=f"{path} lies {prints or 'elsewhere'}",
        )
        for path, prints in (
            ("link/data", "at\n"),
            ("there//data/x", "below\n"),
            ("link", "above, there\n"),
            ("a", "above\n"),
            ("there/data2", ""),
        )
    ),
    Example("trial_check_free", ("@folder@/lock", "-", "@folder@"), prints=""),
    Example(
        "trial_check_free",
        ("@folder@/lock", "token", "@folder@"),
        arrange="ln -s 'token me of db1' lock-1",
        prints="",
        name="the move's own lock",
    ),
    Example(
        "trial_check_free",
        ("@folder@/lock", "token", "@folder@"),
        arrange="ln -s 'token me of db1' lock-1 && ln -s 'token2 you of db2' lock-2",
        status=1,
        complains="a cluster is being moved on this server by you of db2",
        name="another move's lock beside it",
    ),
    Example("find_empty_folder", ("srv/x", "/opt/y"), matches="/(media|mnt)\n", as_root=True),
    Example(
        "trial_make_cluster",
        ("64",),
        settings=_ROOM,
        arrange="mkdir room",
        programs=_POSTGRES,
        prints="",
        after="[ -e room/data/PG_VERSION ]",
    ),
    Example(
        "trial_make_cluster",
        ("-",),
        settings=_ROOM,
        arrange="mkdir room",
        programs=_INITDB | {"postgres": "echo 'ERROR:  no role'"},
        status=1,
        complains="the login of its role could not be disabled: ERROR:  no role",
        name="its role stays open",
    ),
    Example(
        "trial_copy_configuration",
        ("/old",),
        settings=_ROOM,
        arrange="mkdir -p room/data room/files/old/sub && touch room/files/old/sub/a.conf room/files/old/pg_hba.conf",
        prints="",
        after="[ -e room/data/sub/a.conf ] && [ -e room/data/pg_hba.conf ]",
    ),
    Example(
        "trial_print_setting",
        ("port", "-c c=d"),
        settings=_ROOM,
        arrange="mkdir -p room/data",
        programs={"postgres": 'echo "WARNING:  x $*" >&2; echo 5433'},
        prints="5433\n",
        tolerates=_TOLD_LATER,
    ),
    Example(
        "trial_print_setting",
        ("port", ""),
        settings=_ROOM,
        arrange="mkdir -p room/data",
        programs={"postgres": "echo 'FATAL:  x' >&2; exit 1"},
        prints="\n",
        tolerates=_TOLD_LATER,
        name="the files cannot be read",
    ),
    Example(
        "trial_socket_folders",
        ("",),
        settings=_ROOM,
        arrange="mkdir -p room/data",
        programs={"postgres": """echo '/tmp ,  "/a ""b"", c" ,@d,../e f,g'"""},
        prints='/tmp\n/a "b", c\n@folder@/room/data/../e f\n@folder@/room/data/g\n',
        tolerates=_TOLD_LATER,
    ),
    Example(
        "trial_list_taken_sockets",
        ("",),
        settings=_ROOM | {"trial_alive": " 17 4711 "},
        arrange="mkdir data && echo 4711 >data/.s.PGSQL.9.lock",
        programs={"postgres": _ASKED},
        prints="@folder@/data/.s.PGSQL.9.lock\n",
        tolerates=_TOLD_LATER,
    ),
    Example(
        "trial_list_taken_sockets",
        ("",),
        settings=_ROOM | {"trial_alive": " 17 47110 "},
        arrange="mkdir data && echo 4711 >data/.s.PGSQL.9.lock",
        programs={"postgres": _ASKED},
        prints="",
        tolerates=_TOLD_LATER,
        name="its process has ended",
    ),
    Example(
        "trial_run",
        ("@folder@/room", "@folder@/data", "-c a=b", "-c c=d"),
        arrange=f"mkdir -p room/data && {SERVES}",
        programs=_NONE | {"pg_ctl": 'echo "LOG:  x" >"$7"'},
        matches=r"started\ntcp 127.0.0.1 \d+\nunix @folder@/data/.s.PGSQL.9\n",
        after=SERVED,
        tolerates=BY_LOCK_FILE | _TOLD_LATER,
    ),
    Example(
        "trial_run",
        ("@folder@/room", "@folder@/room/data", "", ""),
        arrange="mkdir -p room/data",
        programs=_NONE | {"pg_ctl": 'echo \'LOG:  could not bind IPv6 address "::": Address already in use\' >"$7"'},
        prints='refused LOG:  could not bind IPv6 address "::": Address already in use\n',
        tolerates=_TOLD_LATER,
        name="one of its addresses is taken",
    ),
    Example(
        "trial_run",
        ("@folder@/room", "@folder@/room/data", "", ""),
        arrange="mkdir -p room/data",
        programs=_NONE | {"pg_ctl": "echo 'FATAL:  could not extend: No space left on device' >\"$7\"; exit 1"},
        status=1,
        complains="is not sufficient: FATAL",
        name="the memory is too small",
    ),
    Example(
        "trial_run",
        ("@folder@/room", "@folder@/room/data", "", ""),
        arrange="mkdir -p room/data",
        programs=_NONE
        | {"pg_ctl": 'echo \'FATAL:  could not open log file "x": Read-only file system\' >"$7"; exit 1'},
        status=1,
        complains="is not sufficient: FATAL",
        name="what only the trial lacks",
    ),
    Example(
        "trial_run",
        ("@folder@/room", "@folder@/data", "", ""),
        arrange=f"mkdir -p room/data && {SERVES}",
        programs=_NONE | {"pg_ctl": _LACKS},
        matches=r"started\ntcp 127.0.0.1 \d+\nunix @folder@/data/.s.PGSQL.9\nlacks db-vip\n",
        after=SERVED,
        tolerates=BY_LOCK_FILE | _TOLD_LATER,
        name="none of its addresses is there",
    ),
    Example(
        "trial_start",
        _WORDS,
        arrange="mkdir new",
        settings=_PROGRAM,
        stdin=_packed(*_CONFIGURATION),
        programs=_POSTGRES | {"ls": 'case $1 in -ld) echo "drwxrwxr-x+ 2 root root" ;; *) exec /bin/ls "$@" ;; esac'},
        status=75,
        complains="access control list",
        as_root=True,
        read_only=True,
        name="an access control list",
    ),
    Example(
        "list_visible_mounts",
        settings={"trial_room": "/opt"},
        stdin=_MOUNTS,
        prints="ext4 remount,bind,ro,relatime /\n"
        "xfs remount,bind,ro,nodev,noatime /srv/a\\0040b\n"
        "xfs remount,bind,ro /srv/a\\0040b/sub\n"
        "xfs remount,bind,ro /hid\n"
        "proc remount,bind,ro /proc\n",
    ),
    Example("mount_has_vanished", ("/no\\0040where", "it is there"), settings={"trial_room": "/opt"}, prints=""),
    Example(
        "mount_has_vanished",
        ("/proc", "/proc cannot be covered"),
        settings={"trial_room": "/opt"},
        status=1,
        complains="pghaul: /proc cannot be covered",
        name="it is there",
    ),
    Example(
        "list_program_folders",
        settings={"trial_path": "/none/bin:@folder@/own/bin:@folder@/loose/bin:/usr/bin"},
        arrange="mkdir -p own/bin loose/bin && chmod go+w loose",
        matches=r"(/\w+\n)*@folder@/own\n/usr\n",
        tolerates={"stat": "from a folder that cannot be examined nothing is run", "stat behind": "likewise"},
        as_root=True,
    ),
]
