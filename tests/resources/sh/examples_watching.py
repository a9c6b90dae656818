"""Examples of the watch on old. psql is played by a stand-in."""

from tests.resources.sh.examples import Example

_ASKED = ("@path@", "/tmp", "5433", "15")
_FILES = (
    "mkdir -p data/base data/pg_wal tablespace data/pg_tblspc && head -c 1000 /dev/zero >data/base/now"
    " && head -c 500 /dev/zero >tablespace/hour && touch -d '50 minutes ago' tablespace/hour"
    " && head -c 70 /dev/zero >data/base/half && touch -d '13 hours ago' data/base/half"
    " && head -c 9 /dev/zero >data/base/old && touch -d '3 days ago' data/base/old"
    " && head -c 5000 /dev/zero >data/pg_wal/000000010000000000000001 && ln -s ../../tablespace data/pg_tblspc/16400"
)
_TOUCHED = "1000 1000 1000 1500 1500 1500 1500 1570"
_SAYS_NOTHING = dict.fromkeys(("psql", "timeout"), "the look goes without the position")

EXAMPLES = [
    Example("touched_bytes", ("data",), arrange=_FILES, prints=f"{_TOUCHED}\n"),
    Example("touched_bytes", ("data",), arrange="mkdir data", prints="0 0 0 0 0 0 0 0\n", name="empty"),
    Example("touched_bytes", ("data",), status=1, complains="not all files in data can be read", name="no folder"),
    Example(
        "touched_bytes",
        ("data",),
        arrange=_FILES,
        programs={"find": '/usr/bin/find "$@"; echo "find: \'data/base/9\': No such file or directory" >&2; exit 1'},
        tolerates={"find behind": "it fails with just this message"},
        prints=f"{_TOUCHED}\n",
        name="a folder that goes meanwhile",
    ),
    Example("wal_position", _ASKED, programs={"psql": "echo 1/A0000028"}, prints="1/A0000028\n"),
    Example(
        "wal_position",
        (*_ASKED[:3], "9.6"),
        programs={"psql": "grep -q pg_last_xlog_replay_location && echo 0/28"},
        prints="0/28\n",
        name="before 10",
    ),
    Example(
        "wal_position",
        (*_ASKED[:3], "8.4"),
        programs={"psql": "grep -qx 'select pg_current_xlog_location();' && echo 0/28"},
        prints="0/28\n",
        name="before standbys",
    ),
    Example(
        "wal_position",
        _ASKED,
        programs={"psql": "echo oops"},
        status=1,
        complains="invalid WAL position: oops",
        name="no position",
    ),
    Example(
        "watch_changes",
        ("@folder@/data", "2", "1", *_ASKED),
        arrange=_FILES,
        programs={"psql": "echo 1/A0000028"},
        matches=rf"begin \d+ [+-]\d{{4}}\n(look \d+ 1/A0000028 \d+ {_TOUCHED}\n){{2,4}}# whole\n",
        tolerates=_SAYS_NOTHING,
    ),
    Example(
        "watch_changes",
        ("@folder@/data", "0", "1", *_ASKED),
        arrange=_FILES,
        programs={"psql": "exit 2"},
        matches=rf"begin \d+ [+-]\d{{4}}\n(look \d+ - \d+ {_TOUCHED}\n){{1,2}}# whole\n",
        complains="the database postgres could not be queried",
        tolerates=_SAYS_NOTHING,
        name="a server that does not answer",
    ),
    Example(
        "watch_changes",
        ("@folder@/data", "9", "1", *_ASKED),
        programs={"psql": "echo 1/A0000028"},
        status=1,
        complains="can be read",
        name="no folder",
    ),
]
