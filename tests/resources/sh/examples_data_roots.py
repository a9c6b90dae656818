"""Examples of the proofs that every data root is known, is the folder that it was, and holds what it held."""

from tests.resources.sh.examples import Example

_DATA = (
    'mkdir -p data/pg_tblspc data/base/5 "space ö/PG_15_7/5" && ln -s "../../space ö" data/pg_tblspc/1 && '
    "ln -s gone data/gone && ln -s /etc/hostname data/file && "
    'echo 15 >data/PG_VERSION && echo rows >"space ö/PG_15_7/5/16400" && touch data/base/5/1 data/base/5/2'
)
_KNOWN = ("pg_tblspc/1", "@folder@/space ö")
_WORDS = ("data", "PG_15_*", *_KNOWN)
_SAYS = ". The plan does not contain this, because it was created later. Begin with a new plan (--start-over)"
_LINES = (
    r"boot [0-9a-f-]{36}\n"
    r"\d+ \d+ 2 0 \d{10}\.\d+ \.\n"
    r"\d+ \d+ 1 5 \d{10}\.\d+ pg_tblspc/1\n"
    r"# whole\n"
)
_BEFORE = "boot another\n# whole\n"
_OTHERS = "boot another\n7 0 900 7000000 1700000000.0000000000 pg_tblspc/1\n# whole\n"
_MOUNTED = "is its disk mounted?"
_STOPPED = {"pg_controldata": "echo 'Database cluster state:               shut down'"}

EXAMPLES = [
    Example("list_data_roots", _WORDS, arrange=_DATA, matches=_LINES),
    Example(
        "list_data_roots",
        ("data", "PG_15_7"),
        arrange="mkdir data && echo 15 >data/PG_VERSION",
        matches=r"boot \S+\n\d+ \d+ 0 0 \S+ \.\n# whole\n",
        name="no links",
    ),
    Example("list_data_roots", ("data", "PG_15_7"), status=1, complains="data cannot be entered", name="no folder"),
    Example(
        "list_data_roots",
        (*_WORDS, "pg_wal", "@folder@/wal"),
        arrange=f"{_DATA} && mkdir wal && ln -s ../wal data/pg_wal",
        status=1,
        complains=f"/wal does not contain [0-9A-F]???????????????????????: {_MOUNTED}",
        name="no WAL",
    ),
    *(
        Example(
            "list_data_roots",
            _WORDS,
            arrange=f"{_DATA} && {change}",
            status=1,
            complains=f"{said}: {_MOUNTED}",
            name=name,
        )
        for name, change, said in (
            ("an empty mount point", "rm -r space*/*", "/space ö does not contain PG_15_*"),
            ("no mount point", "rm -r space*", "/space ö does not exist"),
            ("no cluster", "rm data/PG_VERSION", "/data does not contain PG_VERSION"),
            ("another catalog", "mv space*/PG_15_7 'space ö/PG_14_7'", "/space ö does not contain PG_15_*"),
            ("a link that is gone", "rm data/pg_tblspc/1", "/space ö any more"),
        )
    ),
    Example(
        "list_data_roots",
        _WORDS,
        arrange=f"{_DATA} && mkdir 'space ö/lost+found' away && ln -s ../../away 'space ö/PG_15_7/6'",
        status=1,
        complains="/space ö contains the link PG_15_7/6, which leads to /",
        name="a link in a tablespace",
    ),
    Example(
        "list_data_roots",
        _WORDS,
        arrange=f"{_DATA} && mkdir 'space ö/big' && mv 'space ö/PG_15_7/5/16400' 'space ö/big/1' && "
        "ln -s ../../big/1 'space ö/PG_15_7/5/16400'",
        status=1,
        complains="/space ö/big/1. The copy would contain the link but not its target. Replace the link",
        name="a relation elsewhere",
    ),
    Example(
        "list_data_roots",
        (*_WORDS, "certs", "@folder@/certs"),
        arrange=f"{_DATA} && mkdir certs && touch certs/new && ln -s new certs/server.crt && ln -s ../certs data",
        matches=_LINES.replace("# whole", r"\d+ \d+ 0 0 \S+ certs\n# whole"),
        name="a file of another link's",
    ),
    Example(
        "list_data_roots",
        _WORDS,
        arrange=f"{_DATA} && mkdir -p 'space ö/lost+found/7' data/log && touch 'space ö/lost+found/7/1'",
        matches=_LINES,
        name="the root of a file system",
    ),
    Example(
        "list_data_roots",
        ("data", "PG_15_7", *_KNOWN),
        arrange=f"{_DATA} && mkdir 'space ö/PG_13_7' away && echo more >'space ö/PG_13_7/7' && "
        "ln -s ../../away 'space ö/PG_13_7/6'",
        matches=_LINES,
        after='known="$PWD/space ö"; (list_data_roots data PG_15_7 pg_tblspc/1 "$known") >before && '
        "rm -r 'space ö/PG_13_7' && (list_data_roots data PG_15_7 pg_tblspc/1 \"$known\") | cmp - before",
        name="another major version beside it",
    ),
    Example("find_root_entries", ("a", "*", "-print"), arrange="mkdir -p a/pg_log a/lost+found", prints="a/.\n"),
    Example(
        "refuse_stray_link",
        ("pg_tblspc/1", "space", "PG_15_7"),
        arrange="mkdir -p space/PG_15_7 && ln -s gone space/PG_15_7/1 && ln -s . space/beside",
        prints="",
    ),
    Example(
        "refuse_stray_link",
        ("certs", "certs", "*"),
        arrange="mkdir certs && ln -s /etc/hostname certs/1 && ln -s .. certs/2",
        status=1,
        complains="certs contains the link 2, which leads to /",
        name="to a folder",
    ),
    Example("check_known_links", (f"data/{_KNOWN[0]}", _KNOWN[1]), arrange=_DATA, prints=""),
    Example(
        "list_data_roots",
        _WORDS,
        arrange=f"{_DATA} && mkdir wal && ln -s ../wal data/-e",
        status=66,
        complains=f"/wal{_SAYS}",
        name="a link made since",
    ),
    Example(
        "list_data_roots",
        _WORDS,
        arrange=f'{_DATA} && mkdir wal && ln -s ../wal "data/pg\nwal"',
        status=1,
        complains="is gone, or its name contains a line break",
        name="a line break in a name",
    ),
    Example(
        "list_data_roots",
        ("data", "PG_15_7", "pg_tblspc/1", "@folder@/elsewhere"),
        arrange=_DATA,
        status=66,
        complains=_SAYS,
        name="a link that leads elsewhere now",
    ),
    Example(
        "print_unknown_root",
        ("data/pg_tblspc/1",),
        arrange=_DATA,
        prints="data/pg_tblspc/1 leads to @folder@/space ö; ",
    ),
    Example("print_unknown_root", ("data/gone",), arrange=_DATA, prints="", name="to no folder"),
    Example(
        "print_unknown_root",
        ("data/no",),
        arrange=_DATA,
        status=1,
        complains="data/no ",
        name="no link",
    ),
    Example("print_data_root", (".", "@folder@"), arrange="echo 15 >PG_VERSION", matches=r"\d+ \d+ 0 0 \S+ \.\n"),
    Example("print_data_root", ("log", "@folder@"), prints="", name="logs"),
    Example("compare_data_roots", ("0.9", *_WORDS), arrange=_DATA, stdin=_BEFORE, matches=_LINES),
    Example(
        "compare_data_roots",
        ("0.9", *_WORDS),
        arrange=_DATA,
        stdin=_OTHERS,
        status=1,
        complains="the old cluster has changed: pg_tblspc/1 is another folder, or on another disk. Check that",
        name="another disk",
    ),
    Example(
        "compare_data_roots",
        ("0.9", *_WORDS),
        arrange=_DATA,
        stdin=_OTHERS[:-3],
        status=1,
        complains="the input is incomplete",
        name="cut off",
    ),
    Example(
        "check_roots_unchanged",
        ("@path@", *_WORDS),
        arrange=f"{_DATA} && mkdir data/global && echo control >data/global/pg_control",
        stdin=_BEFORE,
        programs=_STOPPED,
        matches=r"Database cluster state: *shut down\n[0-9a-f]{64}  -\n" + _LINES,
    ),
]
