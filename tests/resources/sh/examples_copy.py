"""Examples of a copy: its lists, its passes by a real rsync from folder to folder, idle WAL, and the proof."""

import shlex
from dataclasses import replace

from tests.resources.sh.examples import Example

SETTINGS = {
    "copy_route": "local",
    "copy_folder": "@folder@/lists",
    "copy_marker": "m",
    "copy_send": "send_locally",
    "copy_stream": "send_listed",
    "copy_streams": "1",
    "copy_listed": "send_listed 1",
    "copy_share": "use_one_stream",
    "copy_warm": "precopy_listed",
    "copy_cold": "full_single_stream",
    "copy_options": "-rlptH --timeout=600 --stats",
    "copy_progress": "--info=progress2",
    "copy_vanish": "--ignore-missing-args",
    "copy_ssh": "ssh -F @folder@/lists/ssh_config",
    "copy_daemon": "pghaul@192.0.2.12",
    "copy_path": "/usr/bin:/bin",
    "copy_data": "-",
    "copy_target": "-",
    "copy_limit_pass": "",
    "copy_limit_stream": "",
}
_TWO = {
    **SETTINGS,
    "copy_streams": "2",
    "copy_listed": "send_streams",
    "copy_share": "balance_streams",
    "copy_warm": "precopy_streams",
    "copy_cold": "full_streams",
}
_CONTROL = """pg_control version number:            1300
Database cluster state:               shut down
Latest checkpoint location:           0/5000060
Latest checkpoint's TimeLineID:       1
Bytes per WAL segment:                16777216
"""
_SAYS = {"pg_controldata": f"cat <<'END'\n{_CONTROL}END"}
_RUNS = {"pg_controldata": "echo 'Database cluster state:               in production'"}
_DATA = (
    "umask 022; mkdir lists old new old/base && echo one >old/base/1 && echo two >old/base/2 && "
    "echo pid >old/postmaster.pid && mkdir old/global && echo control >old/global/pg_control && "
    "touch -d '1 hour ago' old/base/* old/global/*"
)
_FENCE = "mkdir -p old/pghaul-fence/global && mv old/global/pg_control old/pghaul-fence/global/"
_MARKED = "mkdir -p new/pghaul-fence && echo ours >new/pghaul-fence/mark"
_GONE = f"{_DATA} && mkdir new/base && echo gone >new/base/9"
_ROOT = ("data", "@folder@/old", "@folder@/new", "-")
_SAME = "diff -r -x postmaster.pid -x pg_control -x mark old new"
_ASKED = {"rsync": 'echo "${RSYNC_PROTECT_ARGS-0} $*" || { echo pghaul: full >&2; exit 1; }'}
_HERE = {"copy_folder": "@folder@"}
_SHORTER = """cat >&2 <<'END'

file has vanished: "/o/7"
directory has vanished: "/o/8"
rsync: [sender] read errors mapping "/o/b c": No data available (61)
rsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1394) [sender=3.5.0]
END
exit 23"""
"""What rsync 3.5.0 said where a file was truncated while it sent it."""
_PASSED = dict.fromkeys(("rsync", "rsync behind", "full disk"), "run_tolerating says so")
_WATCHED = {
    "tail": "it only shows how far the streams are",
    "sleep": "it only shows how far the streams are",
}
_LATER = {"sleep": "exit 0", "date": 'echo $(($(/bin/date "$1") + 5000))'}
"""The clock goes on without a wait."""
_LOOKED = {"ls": "whoever cannot tell makes the whole pass"}
_LISTED = dict.fromkeys(("awk", "awk behind", "rsync", "rsync behind"), "list_deletions says so")
_AHEAD = dict.fromkeys(("sha256sum", "openssl"), "what could not be read is read later")


def _pass(function: str, arrange: str = _DATA, after: str = _SAME, **more: object) -> Example:
    made = Example(function, _ROOT, arrange, after, settings=SETTINGS, matches=r"(?s).*")
    made = replace(made, **more)  # type: ignore[arg-type]  # fields of an example, by name
    return replace(made, tolerates={**_LOOKED, **made.tolerates})


def _sum(function: str, program: str, forget: str, **more: object) -> Example:
    words = ("@folder@/compared", "root", "2", program, forget, "/usr/bin:/bin", "@folder@/old", "base/3")
    made = Example(
        function,
        (*words, "data", "-", "@folder@/old", "-"),
        arrange=f"{_DATA} && rm old/postmaster.pid && ln -s /tmp old/base/link && "
        "for n in $(seq 10 30); do echo $n >old/base/$n; done && "
        "head -c 3000000 /dev/zero >old/base/large && : >old/base/empty",
        matches=r"data: 25 files, 3000071 bytes, [0-9a-f]{64}\ncontrol\n[0-9a-f]{64}  -\n# whole\n",
        after="tr '\\002' '|' <compared/list-data | grep -qE '^base/1.owner f 644 4 [0-9]+.[0-9. ]+.[0-9a-f]{64}$' && "
        "tr '\\002' '|' <compared/list-data | grep -qE '^base/empty.owner.*.e3b0c442[0-9a-f]{56}$' && "
        "[ $(ls compared | wc -l) = 1 ]",
        as_root=True,
    )
    return replace(made, **more)  # type: ignore[arg-type]  # fields of an example, by name


_LEFT_IDLE = "mkdir lists && printf 'H /lists/*\\nH /c\\n' >lists/idle-data"
_SEEN = (
    f"{_LEFT_IDLE} && echo a >a && echo b >b && find . -type f ! -path './lists/*' "
    "-printf '%s %T@ %C@ %i ./%P\\n' | sort >lists/seen-data"
)
"""A pass has vouched for two files."""

EXAMPLES = [
    Example(
        "list_files",
        ("@folder@/list",),
        arrange="mkdir d && printf 12345 >d/a",
        after="grep -qE '^5 [0-9.]+ [0-9.]+ [0-9]+ \\./d/a$' list && [ $(ls | wc -l) = 2 ]",
    ),
    Example(
        "list_changed_files",
        ("data",),
        arrange=f"{_DATA} && cd old",
        settings=SETTINGS,
        matches=r"\d+ bytes in \d+ files to send\n",
        after="[ -e lists/next-data ] && tr '\\0' '\\n' <lists/files-data-1.names | grep -qx ./old/base/1",
    ),
    Example(
        "list_changed_files",
        ("data",),
        arrange=f"{_SEEN} && echo more >>b",
        settings=_TWO,
        prints="7 bytes in 1 files to send\n",
        after="[ \"$(cat lists/files-data-?.names | tr '\\0' '\\n')\" = ./b ]",
        name="what a pass has vouched for is left out",
    ),
    Example(
        "list_root_files",
        ("data", "now", "!", "-name", "b"),
        arrange=f"{_LEFT_IDLE} && touch a b c",
        settings=SETTINGS,
        after="[ \"$(cut -d ' ' -f 5- <lists/now-data)\" = ./a ]",
    ),
    Example(
        "list_changed",
        ("data",),
        arrange=f"{_LEFT_IDLE} && echo a >a && echo c >c && : >lists/seen-data",
        settings=SETTINGS,
        after="[ \"$(cut -d ' ' -f 5- <lists/changed-data)\" = ./a ]",
    ),
    Example(
        "print_changed",
        ("data",),
        arrange=f"{_SEEN} && echo more >>b",
        settings=SETTINGS,
        prints="7 bytes in 1 files changed meanwhile\n",
    ),
    Example(
        "balance_streams",
        ("@folder@/list", "x"),
        arrange="mkdir lists && printf '9 1 1 1 ./a b\\n1 1 1 1 ./c\\001d\\n2 1 1 1 ./e\\n' >list",
        settings=_TWO,
        prints="12 bytes in 3 files to send\n",
        after="[ \"$(tr '\\0' '|' <lists/files-x-1.names)\" = './a b|' ]",
    ),
    Example(
        "use_one_stream",
        ("@folder@/list", "x"),
        arrange="mkdir lists && printf '9 1 1 1 ./a b\\n1 1 1 1 ./c\\001d\\n' >list",
        settings=SETTINGS,
        prints="10 bytes in 2 files to send\n",
        after="[ \"$(tr '\\0\\n' '|%' <lists/files-x-1.names)\" = './a b|./c%d|' ]",
    ),
    Example(
        "write_name_lists",
        ("list", "names"),
        arrange="echo a >names && printf 'a\\nb\\n' >list",
        status=1,
        complains="1 of the files to send are missing from the lists of the streams",
        name="too few",
    ),
    Example("write_name_lists", ("list", "list"), arrange="printf 'a b\\nc\\001d\\n' >list", after="[ -s list.names ]"),
    Example(
        "mark_synced",
        ("data",),
        arrange="mkdir lists && echo a >lists/next-data",
        settings=SETTINGS,
        after="cat lists/seen-data",
    ),
    Example("control_field", (_CONTROL, "Bytes per WAL segment"), prints="16777216\n"),
    Example("control_field", ("", "Bytes per WAL segment"), status=1, complains=" Bytes per WAL segment", name="none"),
    Example("shutdown_segment", (_CONTROL,), prints="000000010000000000000005\n"),
    Example(
        "shutdown_segment",
        (_CONTROL.replace("16777216", "0"),),
        status=1,
        complains=" 0 bytes",
        name="no size",
    ),
    Example("last_segment", (_CONTROL, "/nonexistent"), prints="000000010000000000000005\n"),
    Example(
        "last_segment",
        ("Database cluster state:               in production", "wal"),
        arrange='mkdir wal && for n in 3 1 2; do touch -d "200$n-01-01" wal/00000001000000000000000$n; done',
        prints="000000010000000000000003\n",
        name="while it runs",
    ),
    Example(
        "last_segment",
        ("Database cluster state:               in archive recovery", "wal"),
        prints="",
        name="a standby",
    ),
    Example(
        "idle_wal",
        ("/", "data", "wal", "./"),
        settings={},
        status=1,
        complains="cannot read the control file",
        name="no program",
    ),
    Example(
        "idle_wal",
        ("@folder@/../programs:/usr/bin:/bin", "data", "wal", "H /pg_wal/"),
        programs=_SAYS,
        matches=r"H /pg_wal/00000001\[123456789ABCDEF\]\?{15}\n(H /pg_wal/.*\n)+",
    ),
    Example(
        "send_locally",
        ("data", "@folder@/old/", "@folder@/new"),
        arrange=_DATA,
        settings=SETTINGS,
        matches="(?s).*",
        after="[ -e new/base/1 ]",
        tolerates=_PASSED,
    ),
    Example(
        "send_by_nfs",
        ("data", "@folder@/old/", "", "--existing"),
        settings=SETTINGS,
        programs=_ASKED,
        tolerates=_PASSED,
        matches=r"0 -rlptH .* --existing @folder@/old/ /run/m/data/\n",
    ),
    Example(
        "send_by_ssh",
        ("data", "@folder@/old/", "", "--existing"),
        settings=SETTINGS,
        programs=_ASKED,
        tolerates=_PASSED,
        matches=r"0 -rlptH .* -e ssh -F \S+ --rsync-path=pghaul-receive data @folder@/old/ new:\.\n",
    ),
    Example(
        "send_to_daemon",
        ("2", "data", "", "--existing"),
        arrange="mkdir lists && echo 8730 >lists/port",
        settings=SETTINGS,
        programs=_ASKED,
        tolerates=_PASSED,
        matches=r".* --port=8730 --from0 --files-from=\S+/files-data-2\.names \./ pghaul@192\.0\.2\.12::data/\n",
    ),
    Example(
        "send_listed",
        ("1", "data", "@folder@/new", "--no-i-r"),
        arrange=f"{_DATA} && printf './old/base/1\\0' >lists/files-data-1.names",
        settings=SETTINGS,
        matches="(?s).*",
        after="[ -e new/old/base/1 ] && [ ! -e new/old/base/2 ]",
        tolerates=_PASSED,
    ),
    Example("run_tolerating", ("24", "true"), settings=_HERE),
    Example("run_tolerating", ("24", "sh", "-c", "exit 24"), settings=_HERE, name="tolerated"),
    Example("run_tolerating", ("24", "sh", "-c", _SHORTER), settings=_HERE, name="a file got shorter"),
    Example(
        "run_tolerating",
        ("24", "sh", "-c", f"echo 'ERROR: b failed verification -- update retained.' >&2; {_SHORTER}"),
        settings=_HERE,
        status=23,
        complains="failed verification",
        name="a file got shorter, and was not sent again",
    ),
    Example(
        "run_tolerating",
        ("24", "sh", "-c", "exit 23"),
        settings=_HERE,
        status=23,
        complains="rsync ended with exit status 23",
        name="nobody says why",
    ),
    Example(
        "run_tolerating",
        ("0", "sh", "-c", _SHORTER),
        settings={"copy_data": "@folder@"},
        status=23,
        complains="rsync ended with exit status 23",
        name="a file of a stopped cluster got shorter",
    ),
    Example(
        "only_shrunk_files",
        ("said",),
        arrange=f"sh -c {shlex.quote(_SHORTER)} 2>said; true",
        prints="",
        tolerates={"awk": "then the pass fails"},
    ),
    Example(
        "run_tolerating",
        ("0", "sh", "-c", "exit 23"),
        settings={"copy_data": "-"},
        status=23,
        complains="rsync ended with exit status 23",
        name="not",
    ),
    Example(
        "run_tolerating",
        ("0", "sh", "-c", "exit 25"),
        arrange="touch postmaster.pid",
        settings={"copy_data": "@folder@"},
        status=1,
        complains="or has crashed: its lock file postmaster.pid exists",
        name="somebody has started the cluster",
    ),
    Example("begin_pass", ("data", "@folder@/old", "-"), arrange=_DATA, settings=SETTINGS, after=""),
    _pass(
        "send_streams",
        words=("data", "@folder@/new"),
        arrange=f'{_DATA} && for n in 1 2; do printf "./old/base/$n\\0" >lists/files-data-$n.names; done',
        settings=_TWO,
        after="[ -e new/old/base/1 ] && [ -e new/old/base/2 ]",
        tolerates={**_WATCHED, **_PASSED},
    ),
    _pass(
        "send_root",
        words=_ROOT[:3],
        after="[ -e new/base/2 ]",
        tolerates=_PASSED,
        settings={**SETTINGS, "copy_left_out": ""},
    ),
    Example(
        "detect_new_folder",
        ("data", "@folder@/new"),
        arrange="mkdir new",
        settings={**SETTINGS, "copy_parts": "PG_15_7"},
        after='copy_route=local copy_parts=PG_15_7; detect_new_folder data new && [ -n "$copy_new_folder" ] && '
        'mkdir new/PG_12 && detect_new_folder data new && [ -z "$copy_new_folder" ]',
        tolerates=_LOOKED,
    ),
    *(
        _pass(
            function,
            words=(*_ROOT[:3], "PG_15_7/wal[[:space:]]x"),
            arrange=f"{_DATA} && mkdir old/PG_15_7 'old/wal x' old/PG_13 && touch old/PG_15_7/1 'old/wal x/2' && "
            f"chmod 710 old && chmod 750 new && {more}",
            settings=settings,
            after=f'[ "$(stat -c %a new; ls new)" = "{mode}\n{names}" ] && '
            '[ -e new/PG_15_7/1 ] && [ -e "new/wal x/2" ]',
            tolerates=_WATCHED,
            name=f"of a tablespace, {name}",
        )
        for function, settings in (("precopy_pass", _TWO), ("full_pass", SETTINGS))
        for name, more, mode, names in (
            ("into a new folder", ":", 710, "PG_15_7\nwal x"),
            ("beside another version", "mkdir new/PG_12", 750, "PG_12\nPG_15_7\nwal x"),
        )
    ),
    _pass(
        "precopy_pass",
        matches=r"(?s).* bytes in \d+ files changed meanwhile\n",
        after=f"{_SAME} && [ -e lists/seen-data ]",
    ),
    _pass("precopy_pass", settings=_TWO, tolerates=_WATCHED, name="two streams"),
    _pass("precopy_pass", settings={**SETTINGS, "copy_warm": "precopy_everything"}, name="an old rsync"),
    _pass(
        "precopy_pass",
        words=("data", "@folder@/none", "@folder@/new", "-"),
        status=1,
        complains="cannot be entered",
        after="",
        name="no folder",
    ),
    _pass("full_pass", arrange=_GONE),
    _pass("full_pass", arrange=_GONE, settings=_TWO, tolerates=_WATCHED, name="two streams"),
    _pass("changed_pass", after="[ -e new/base/1 ] && [ ! -e new/global/pg_control ]"),
    _pass(
        "changed_pass",
        arrange=f"{_DATA} && {_FENCE} && {_MARKED}",
        after="cmp old/pghaul-fence/global/pg_control new/pghaul-fence/global/pg_control",
        name="of a fenced cluster",
    ),
    _pass(
        "rest_pass",
        arrange=f"{_GONE} && {_MARKED} && mkdir new/pghaul-fence/global",
        after=f"{_SAME.replace('-x mark', '-x pghaul-fence')} && ls new/pghaul-fence/mark new/pghaul-fence/global",
        name="old is not fenced",
    ),
    _pass(
        "rest_pass",
        arrange=f"{_GONE} && {_FENCE} && {_MARKED}",
        after=f"{_SAME.replace('-x pg_control ', '')} && ls new/pghaul-fence/mark",
        name="of a fenced cluster",
    ),
    _pass(
        "rest_pass",
        arrange=f"{_GONE} && touch new/postmaster.pid",
        settings={**SETTINGS, "copy_target": "@folder@/new"},
        status=1,
        complains="a PostgreSQL server is running in ",
        after="[ -e new/base/9 ]",
        name="a server lives in the target",
    ),
    _pass("rest_pass", arrange=_GONE),
    _pass(
        "rest_pass",
        words=(*_ROOT[:3], "pg_wal"),
        arrange=f"{_DATA} && mkdir old/pg_wal && cd old/pg_wal && touch 00000001000000000000000{{5,6}}".replace(
            "{5,6}", "5 000000010000000000000006"
        ),
        settings={**SETTINGS, "copy_data": "@folder@/old", "copy_path": "@folder@/../programs:/usr/bin:/bin"},
        programs=_SAYS,
        after="[ -e new/pg_wal/000000010000000000000005 ] && [ ! -e new/pg_wal/000000010000000000000006 ]",
        name="idle WAL stays",
    ),
    _pass("list_deletions", arrange=_GONE, matches=r"base/9\n# 1 entries\n", after="[ -e new/base/9 ]"),
    _pass(
        "rest_pass",
        arrange=f"{_GONE} && mkdir old/lost+found new/lost+found old/base/lost+found && "
        "touch old/lost+found/a new/lost+found/b old/base/lost+found/c",
        after="[ -e new/lost+found/b ] && [ ! -e new/lost+found/a ] && [ ! -e new/base/9 ] && "
        "[ ! -e new/base/lost+found ]",
        name="roots of file systems",
    ),
    *(
        _pass(
            function,
            words=("7", "@folder@/space", "@folder@/there", "PG_15_7/[*]it[[:space:]]s"),
            arrange='mkdir -p lists space/PG_15_7/5 space/PG_13_7 "space/*it s" there/PG_15_7/5 there/PG_16_7 && '
            "touch -d '1 hour ago' \"space/*it s/wal\" && "
            "echo rows >space/PG_15_7/5/1 && touch -d '1 hour ago' space/PG_15_7/5/1 && "
            "touch space/PG_13_7/2 space/own && touch there/PG_15_7/5/gone there/PG_16_7/3",
            settings=settings,
            tolerates=_WATCHED,
            after='cd there && [ -e PG_15_7/5/1 ] && [ -e "*it s/wal" ] && [ ! -e PG_13_7 ] && [ ! -e own ] && '
            f"[ -e PG_16_7/3 ]{after}",
            name=name,
        )
        for function, settings, after, name in (
            ("precopy_pass", SETTINGS, "", "a tablespace with another version's folder"),
            ("precopy_pass", _TWO, "", "a tablespace with another version's folder, two streams"),
            ("full_pass", SETTINGS, " && [ ! -e PG_15_7/5/gone ]", "a tablespace with another version's folder"),
        )
    ),
    _pass(
        "rest_pass",
        arrange=f"{_GONE} && echo 0 >lists/removed-data",
        status=25,
        complains="rsync ended with exit status 25",
        after="[ -e new/base/9 ]",
        name="more than was listed",
    ),
    _pass("limit_deletions", arrange=_GONE, matches="--max-delete=1\n", after="[ -e new/base/9 ]"),
    _pass("list_deletions", matches=r"# 0 entries\n", after="", name="none"),
    _pass(
        "list_deletions",
        words=("data", "@folder@/old", "@folder@/new", "pg_wal"),
        arrange=f"{_GONE} && mkdir old/pg_wal && echo theirs >lists/idle-data",
        settings={**SETTINGS, "copy_path": "@path@", "copy_data": "@folder@/old"},
        programs=_SAYS,
        matches=r"base/9\n# 1 entries\n",
        after='[ "$(cat lists/idle-data)" = theirs ]',
        name="beside a pass",
    ),
    _pass(
        "print_deletions",
        arrange=_GONE,
        words=_ROOT[:3],
        settings={**SETTINGS, "copy_left_out": ""},
        tolerates=_LISTED,
        matches=r"(?s).*# \d entries\n",
        after="[ -e new/base/9 ]",
    ),
    _pass("flush_target", words=("data", "@folder@/new"), after=""),
    _pass("target_root_is_empty", words=("data", "@folder@/new"), after=""),
    _pass("ask_target", words=("target_is_empty", "data", "@folder@/new"), after=""),
    _pass(
        "ask_target",
        words=("target_is_empty", "data", ""),
        settings={**SETTINGS, "copy_route": "ssh"},
        tolerates={"ssh": "flush_target says so", "ssh behind": "flush_target says so"},
        programs={"ssh": 'echo "$*"'},
        matches=r"-F \S+ new pghaul-receive data target_is_empty\n",
        after="",
        name="by ssh",
    ),
    Example("print_settled_time", (".",), matches=r"\d{9,}\n"),
    Example("print_settled_time", ("/nowhere",), status=1, complains="cannot be read", name="not there"),
    Example("checksum_control_file", ("old",), arrange=_DATA, matches=r"[0-9a-f]{64}  -\n"),
    Example(
        "checksum_control_file",
        ("old",),
        arrange=f"{_DATA} && mkdir old/pghaul-fence && mv old/global old/pghaul-fence/",
        matches=r"[0-9a-f]{64}  -\n",
        name="behind the fence",
    ),
    Example(
        "checksum_control_file", (".",), status=1, complains="the control file of . cannot be read", name="not there"
    ),
    _sum("checksum_all", "sha256sum", "true"),
    _sum("checksum_all", "openssl", "forget_cached", name="large files by openssl, from the disk"),
    _sum(
        "checksum_all",
        "sha256sum",
        "true",
        arrange=f"{_DATA} && find old -type f ! -path '*/global/*' -delete",
        status=1,
        complains="at least 20. Check",
        after="",
        matches=None,
        name="too few",
    ),
    _sum(
        "checksum_all",
        "sha256sum",
        "true",
        words=(
            *("@folder@/compared", "root", "2", "sha256sum", "true", "/usr/bin:/bin", "@folder@/old", "base/3"),
            *("7", "pg_tblspc/7", "@folder@/space", "PG_15_7/own"),
        ),
        arrange=f"{_DATA} && rm old/postmaster.pid && mkdir -p space/PG_15_7 space/PG_13_7 && "
        "touch space/own space/other && "
        "for n in $(seq 10 30); do echo $n >space/PG_15_7/$n; done; echo $$ >space/PG_13_7/1",
        matches=r"7: 22 files, 63 bytes, [0-9a-f]{64}\ncontrol\n[0-9a-f]{64}  -\n# whole\n",
        after="! grep -aE '^(other|PG_13)' compared/list-7",
        name="a tablespace with another version's folder",
    ),
    _sum("checksum_in_advance", "openssl", "forget_cached", prints="", matches=None, tolerates=_AHEAD, programs=_LATER),
    Example(
        "forget_cached",
        ("@folder@/names",),
        arrange="echo a >a; printf './a\\0' >names",
        settings={"sum_processes": "2"},
    ),
    Example(
        "print_lists",
        ("@folder@", "99", "data", "-"),
        arrange="printf 'a\\002owner d 700\\002\\002\\n' >list-data",
        matches="[A-Za-z0-9+/=]+\n",
        after="[ $(ls | wc -l) = 1 ]",
    ),
    Example(
        "mark_rest_synced",
        ("data", "@folder@/old", "pg_wal"),
        arrange=_DATA,
        settings=SETTINGS,
        stdin="data\2base/1\n16401\2base/2\n# whole",
        after="! grep -q ' ./base/1$' lists/seen-data && grep -q ' ./base/2$' lists/seen-data",
    ),
    Example(
        "mark_rest_synced",
        ("7", "@folder@/space", "PG_15_7/own"),
        arrange="mkdir -p lists space/PG_15_7/5 space/PG_13_7 && touch space/PG_15_7/5/1 space/own space/PG_13_7/2",
        settings=SETTINGS,
        stdin="# whole",
        after="grep -q ' ./PG_15_7/5/1$' lists/seen-7 && grep -q ' ./own$' lists/seen-7 && ! grep PG_13 lists/seen-7",
        name="a tablespace with another version's folder",
    ),
    Example(
        "mark_rest_synced",
        ("data", "@folder@/old", "pg_wal"),
        arrange=_DATA,
        settings=SETTINGS,
        stdin="data\2base/1\n",
        status=1,
        complains="the input is incomplete",
        name="cut off",
    ),
    Example(
        "send_sample",
        ("@folder@/old", "@folder@/new", "5"),
        arrange=f"{_DATA} && printf '4 0 0 0 ./base/1\\n4 0 0 0 ./base/2\\n' >lists/sample",
        settings=SETTINGS,
        matches=r"(?s).*nanoseconds -?\d+\nconnect \d+\nflush \d+\n",
        after="[ -e new/base/1 ] && [ -e new/base/2 ]",
    ),
    Example(
        "send_sample",
        ("@folder@/old", "@folder@/new", "5"),
        arrange=f"{_DATA} && printf '4 0 0 0 ./base/1\\n4 0 0 0 ./base/2\\n' >lists/sample",
        settings=_TWO,
        matches=r"(?s).*nanoseconds -?\d+\nconnect \d+\nflush \d+\n",
        after="[ -e new/base/1 ] && [ -e new/base/2 ]",
        name="two streams",
    ),
    Example(
        "send_sample",
        ("@folder@/old", "@folder@/new", "5", "7", "8"),
        arrange=f"{_DATA} && printf '4 0 0 0 ./base/1\\n4 0 0 0 ./base/2\\n' >lists/sample",
        settings=SETTINGS,
        matches=r"(?s).*nanoseconds \d+\nconnect 7\nflush 8\n",
        after="[ -e new/base/1 ] && [ -e new/base/2 ] && [ ! -e lists/files-sample-0.names ]",
        name="after another one",
    ),
]
