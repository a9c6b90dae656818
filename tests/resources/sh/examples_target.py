"""Examples of the proof that what a copy would remove is nobody else's."""

from tests.resources.sh.examples import Example

_IDENTIFIER = "7290123456789012345"
_RUNUSER = {"runuser": '[ "$1 $2 $3" = "-u postgres --" ] || exit 9\nshift 3\nexec "$@"'}
_SAYS = _RUNUSER | {
    "pg_controldata": f"printf '%s\\n' 'Database system identifier:           {_IDENTIFIER}' "
    "'Latest checkpoint location:           0/5000028'"
}
_ANOTHER = _RUNUSER | {"pg_controldata": "echo 'Database system identifier:           17290123456789012345'"}
_BROKEN_OFF = "mkdir -p data/pghaul-fence/global && touch data/pghaul-fence/mark.part"
_COPY = (
    "mkdir -p data/pghaul-fence data/pg_tblspc space/PG_15_202209061 wal other/pg_tblspc && "
    f"printf '%s\\n' 'identifier {_IDENTIFIER}' 'folder @folder@/space' 'folder @folder@/wal' >mark && "
    "mv mark data/pghaul-fence/ && "
    "ln -s /on/old data/pg_tblspc/1 && ln -s /on/old data/pg_wal && touch wal/000000010000000000000001"
)
_UNMARKED = f"{_COPY} && mkdir data/global && touch data/global/pg_control && rm data/pghaul-fence/mark"
_LINKED = "ln -sfn ../../space data/pg_tblspc/1"
_SPACE, _WAL = ("@folder@/space", "pg_tblspc/1", "PG_15_202209061"), ("@folder@/wal", "pg_wal", "[0-9A-F]{24}")
_PARTS = ("@folder@/space", "pg_tblspc/1", "/PG_15_202209061/wal")
_ALL = ("postgres", "@path@", _IDENTIFIER, "-", "@folder@/data", "2", *_SPACE, *_WAL, "@folder@/other")
_DATA = ("postgres", "@path@", _IDENTIFIER, "-", "@folder@/data")
_GIVEN_UP = ("postgres", "@path@", _IDENTIFIER, "0/5000028", "@folder@/data")
_LEADS = "ln -s ../../space other/pg_tblspc/2"
_SERVER = (
    "cp /bin/sleep postgres && { (cd other && exec ../postgres 60 >/dev/null 2>&1) & } && echo $! >server && "
    "became postgres $!"
)
_END = 'kill "$(cat server)"'

EXAMPLES = [
    Example("check_targets", _ALL, arrange=_COPY, programs=_SAYS, prints=""),
    Example("check_targets", _ALL, programs=_SAYS, prints="", name="nothing is there"),
    Example(
        "check_targets",
        _ALL,
        arrange=f"{_COPY} && touch wal/dump",
        programs=_SAYS,
        status=1,
        complains="/wal contains dump, ",
        name="a strange name in the last folder",
    ),
    Example(
        "check_targets",
        _ALL,
        arrange=f"{_COPY} && {_LEADS}",
        programs=_SAYS,
        status=1,
        complains="/space belongs to the cluster in ",
        name="a folder of another cluster",
    ),
    Example(
        "list_folder_names", ("here",), arrange="mkdir -p here/lost+found && touch here/.b here/a", prints=".b\na\n"
    ),
    Example("list_folder_names", ("here",), prints="", name="no folder"),
    Example("check_target_data", _DATA, arrange=_COPY, programs=_SAYS),
    Example("check_target_data", _DATA, arrange="mkdir data", name="empty"),
    Example("check_target_data", _DATA, arrange=_BROKEN_OFF, name="its fence was broken off"),
    Example("is_unfinished_fence", ("data/pghaul-fence",), arrange=_BROKEN_OFF),
    *(
        Example(
            "check_target_data", _DATA, arrange=arrange, programs=programs, status=1, complains=complains, name=name
        )
        for name, arrange, programs, complains in (
            ("another cluster", _UNMARKED, _ANOTHER, "/data contains another cluster. Empty it if"),
            (
                "a copy of another",
                f"{_COPY} && echo >data/pghaul-fence/mark",
                _SAYS,
                "contains a copy of another cluster",
            ),
            (
                "no mark",
                _UNMARKED,
                _SAYS,
                "/data contains a clone of this cluster, or a copy of it that was opened, and has no",
            ),
            (
                "a fence of another",
                f"{_BROKEN_OFF} && touch data/pghaul-fence/server",
                _SAYS,
                "/data is neither empty nor",
            ),
            ("no cluster", "mkdir data && touch data/notes", _SAYS, "/data is neither empty nor a copy"),
            ("a server runs", f"{_COPY} && touch data/postmaster.pid", _SAYS, "a PostgreSQL server is running in "),
            ("it says nothing", _UNMARKED, _RUNUSER | {"pg_controldata": ":"}, "says nothing of "),
        )
    ),
    Example("check_target_data", _GIVEN_UP, arrange=_UNMARKED, programs=_SAYS, name="given up"),
    Example("mark_has_line", ("data", "folder @folder@/wal"), arrange=_COPY),
    *(
        Example(
            "describe_cluster",
            ("data", control),
            arrange=f"mkdir -p data/global; {arrange}",
            prints=f"{said}\n",
            name=said,
        )
        for control, arrange, said in (
            ("", ": >data/global/pg_control", "a clone of this cluster, or a copy of it that was opened"),
            ("", "", "this cluster, fenced by an earlier move"),
            ("state: in archive recovery", ": >data/global/pg_control", "a standby of this cluster"),
            (
                "",
                ": >data/global/pg_control >data/backup_label",
                "a standby or a restored backup of this cluster (backup_label)",
            ),
        )
    ),
    Example("check_target_folder", ("data", *_SPACE), arrange=_COPY),
    Example("check_target_folder", ("data", *_SPACE), arrange=f"{_UNMARKED} && {_LINKED}", name="given up"),
    Example("check_target_folder", ("data", *_SPACE), arrange="mkdir space", name="empty"),
    Example(
        "check_target_folder",
        ("data", *_SPACE),
        arrange=f"{_COPY} && {_LINKED} && sed -i /space/d data/pghaul-fence/mark",
        status=1,
        complains="/space contains files, but no copy in data has a link to it. Empty it if",
        name="not in the mark",
    ),
    Example(
        "check_target_folder",
        ("data", *_SPACE),
        arrange=_UNMARKED,
        status=1,
        complains="/space contains files, but no copy in data has a link to it. Empty it if",
        name="no link",
    ),
    Example(
        "check_target_folder",
        ("data", *_SPACE),
        arrange=f"{_COPY} && touch 'space/PG_15_202209061\nPG_15_202209061'",
        status=1,
        complains="/space contains PG_15_202209061?PG_15_202209061, which does not belong",
        name="a line break in a name",
    ),
    *(
        Example(
            "check_target_folder", ("data", *_PARTS), arrange=arrange, status=status, complains=complains, name=name
        )
        for name, arrange, status, complains in (
            ("a part, marked", f"{_COPY} && mkdir space/PG_13_7", 0, ""),
            ("nothing of the parts", "mkdir -p space/PG_13_7 data", 0, ""),
            (
                "a part, and no mark",
                "mkdir -p space/wal data",
                1,
                "/space contains files, but no copy in data has a link to it",
            ),
        )
    ),
    Example(
        "list_parts",
        ("@folder@/space", "/PG_15_7/wal ö/gone/link"),
        arrange="mkdir -p space/PG_15_7 'space/wal ö' space/PG_13_7; ln -s nowhere space/link",
        prints="PG_15_7\nwal ö\nlink\n",
    ),
    *(
        Example(
            "refuse_others_folder",
            ("1", "data", *_PARTS, "other"),
            arrange=f"{_COPY} && {_LEADS} && echo {series} >other/PG_VERSION",
            status=status,
            complains="/space belongs to the cluster in " if status else "",
            name=f"a part beside the tablespace of {series}",
        )
        for series, status in (("13", 0), ("15", 1))
    ),
    Example(
        "is_other_version",
        ("other", "other/pg_tblspc/2", _PARTS[2]),
        arrange="mkdir other; echo 9.6 >other/PG_VERSION",
        after="echo 15 >other/PG_VERSION; ! is_other_version other other/pg_tblspc/2 /PG_15_202209061/wal && "
        "! is_other_version other other/pg_wal /PG_16_1 && ! is_other_version other other/pg_tblspc/2 PG_16_1 && "
        "rm other/PG_VERSION && ! is_other_version other other/pg_tblspc/2 /PG_16_1",
    ),
    Example("refuse_others_folder", ("1", "data", *_SPACE, "other"), arrange=_COPY),
    Example(
        "refuse_others_folder", ("1", "data", *_SPACE, "data"), arrange=f"{_COPY}; ln -s ../../space data/pg_tblspc/2"
    ),
    Example(
        "refuse_others_folder",
        ("1", "data", *_SPACE),
        arrange=f"{_COPY} && {_LEADS} && {_SERVER}",
        status=1,
        complains="/space belongs to the cluster in ",
        after=_END,
        name="of a cluster that runs",
    ),
    Example(
        "refuse_others_folder",
        ("1", "data", *_SPACE),
        arrange=f"{_COPY} && {_LEADS} && chown -R nobody other && {_SERVER}",
        after=_END,
        programs={"runuser": 'shift 3; [ "$1 $2 $3" = "test ! -w" ]'},
        as_root=True,
        name="a stranger's process leads there",
    ),
    Example(
        "refuse_others_folder",
        ("1", "data", *_SPACE, "other"),
        arrange=f"{_COPY} && {_LEADS} && chown -R nobody other",
        programs={"runuser": "exit 1"},
        status=1,
        complains="/space belongs to the cluster in ",
        as_root=True,
        name="of an ordinary user who can write there",
    ),
    Example(
        "owner_cannot_write",
        ("other", "space"),
        arrange=f"{_COPY} && chown nobody other",
        programs={"runuser": 'shift 3; [ "$*" = "test ! -w space" ]'},
        as_root=True,
        tolerates={"runuser": "what could not be determined belongs to the other", "runuser behind": "as above"},
    ),
]
