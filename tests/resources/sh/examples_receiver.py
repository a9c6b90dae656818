"""Examples of what the key of a copy may do on new."""

from tests.resources.sh.examples import Example

_TARGET = "mkdir target"
_REFUSED = "this key allows one copy only"
_SENDER = {
    "rsync": "the sender on old says so by its own status",
    "sleep": "it only flushes less often",
    "sync": "it only flushes",
    "unshare": "a kernel may not let a user make namespaces",
    "unshare behind": "as much",
}
_SAID = (
    "-lHtprIRe.iLsfxCIvu --timeout=600 --stats --existing --inplace",
    "-lHtpre.iLsfxCIvu --compress-level=1 --timeout=600 --compress-choice=zstd --stats --partial --ignore-existing",
    "-nlHtpre.LsfxC --log-format=%i --timeout=600 --max-delete=7 --delete --stats",
    "-lHtprRz --compress-level=1 --timeout=600 --existing --append",
    "-lHtpre.iLsfxCIvu --bwlimit=48828 --timeout=600 --stats --partial --ignore-existing",
)
"""What rsync asks new's rsync for in passes; what each version says stands in tests/data/rsync-server."""


def _refused(words: str, name: str) -> Example:
    return Example(
        "receive_copy", (words, "data", "@folder@/target"), arrange=_TARGET, status=126, complains=_REFUSED, name=name
    )


EXAMPLES = [
    Example(
        "receive_copy", ("pghaul-receive discard",), stdin="bytes", prints="", tolerates={"cat": "the sender sees it"}
    ),
    Example(
        "receive_copy",
        ("pghaul-receive data flush_file_system", "data", "@folder@/target"),
        arrange=_TARGET,
        prints="",
    ),
    Example(
        "receive_copy",
        ("pghaul-receive data target_is_empty", "data", "@folder@/target"),
        arrange=_TARGET,
        prints="",
        name="whether nothing is there",
    ),
    Example(
        "receive_copy",
        ("pghaul-receive data --server -lHtpre.iLsfxCIvu . .", "data", "@folder@/target"),
        arrange=_TARGET,
        programs={"rsync": 'echo "$PWD $*"'},
        prints="@folder@/target --server -lHtpre.iLsfxCIvu . .\n",
        tolerates=_SENDER,
        name="rsync's server",
    ),
    Example(
        "receive_copy",
        ("pghaul-receive space flush_file_system", "data", "@folder@/target", "space", "@folder@/target"),
        arrange=f"{_TARGET} && touch target/postmaster.pid",
        status=1,
        complains="a PostgreSQL server is running in ",
        name="a server lives in the target",
    ),
    _refused("rm -rf /", "no receiver"),
    _refused("pghaul-receive other --server . .", "another label"),
    _refused("pghaul-receive data --server --sender . .", "a sender"),
    _refused("pghaul-receive data --server . /etc", "a path"),
    _refused("pghaul-receive data sh", "another program"),
    _refused("pghaul-receive data --server -e.LsfxCIvu . ..", "the folder above"),
    _refused("pghaul-receive data --server -e.LsfxCIvu . link", "a name, which may be a link"),
    _refused("pghaul-receive data --server --daemon --config=sent.conf .", "a daemon, which runs what a file says"),
    _refused("pghaul-receive data --server -se.LsfxCIvu", "words that come behind"),
    _refused("pghaul-receive data --server -lKe.LsfxCIvu . .", "links followed"),
    _refused("pghaul-receive data --server -lRe.LsfxCIvu --no-implied-dirs . .", "links followed on the way"),
    _refused("pghaul-receive data --server -e.LsfxCIvu --write-devices . .", "what no copy needs"),
    *(
        Example(
            "receive_copy",
            (f"pghaul-receive data --server {words} . .", "data", "@folder@/target"),
            arrange=_TARGET,
            programs={"rsync": 'echo "$*"'},
            prints=f"--server {words} . .\n",
            tolerates=_SENDER,
            name=f"what copies say {number}",
        )
        for number, words in enumerate(_SAID)
    ),
    Example("is_copy_command", (f"--server {_SAID[0]} . .",), tolerates={"grep": "nothing is taken then"}),
]
