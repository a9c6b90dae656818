"""Examples of the look that a copy can bring everything that lies in the data roots."""

from tests.resources.sh.examples import Example

_DATA = "mkdir -p data/base space/lost+found && : >data/PG_VERSION && : >'data/base/a b' && ln -s /nowhere data/link"
_WORDS = ("@folder@/data", "@folder@/space")
_LOOKED_AT = dict.fromkeys(("find", "nice", "ionice"), "its caller looks at the exit status")
_WHOLE = {"tr behind": "the last record is there"}

EXAMPLES = [
    Example(
        "check_copyable",
        ("-", *_WORDS),
        arrange=_DATA,
        matches=r"note: Folders lost\+found .*: 1 \(.*/space/lost\+found\)\. .*\n",
        tolerates=_WHOLE,
    ),
    Example(
        "check_copyable",
        ("@folder@/data/server.key", *_WORDS),
        arrange=f"{_DATA} && : >data/server.key && mkfifo data/pipe && chown 65534 data/base 'data/base/a b'",
        matches=r"note: Files .*: 2 \(.*/data/base, .*/data/base/a b\)\. .*\nnote: Folders .*\n"
        r"note: FIFOs .*: 1 \(.*/data/pipe\)\. .*\n",
        tolerates=_WHOLE,
        as_root=True,
        name="notes",
    ),
    Example(
        "check_copyable",
        ("@folder@/data/server.key", *_WORDS),
        arrange=f"{_DATA} && : >data/server.key && chown 65534 data/server.key",
        status=1,
        complains="/data/server.key belongs to another user",
        as_root=True,
        name="a key of somebody else",
    ),
    Example(
        "check_copyable",
        ("@folder@/data/server.key", *_WORDS),
        arrange=f"{_DATA} && mkdir data/keys && : >data/keys/real && chown 65534 data/keys/real && "
        "ln -s keys/real data/server.key",
        status=1,
        complains="/data/keys/real belongs to another user",
        as_root=True,
        name="a key of somebody else behind a link",
    ),
    Example(
        "find_key_below",
        ("@folder@/data/server.key", *_WORDS),
        arrange=f"{_DATA} && : >key && ln -s ../key data/server.key",
        prints="-\n",
        name="outside",
    ),
    Example(
        "report_uncopyable",
        ("-",),
        arrange=": >'a '",
        stdin="closed a \nwhole\n",
        status=1,
        complains="cannot be read by the owner of the cluster, so they cannot be copied: a . Correct",
        name="a name that ends in a blank",
    ),
    Example(
        "check_copyable",
        ("-", *_WORDS),
        arrange=f"{_DATA} && rm -r space/lost+found && : >space/lost+found && mkdir -m 0 data/lost+found",
        matches=r"note: Folders lost\+found .*: 1 \(.*/data/lost\+found\)\. .*\n",
        tolerates=_WHOLE,
        name="a file of that name",
    ),
    Example(
        "check_copyable", ("-", "@folder@/no"), status=1, complains="not all files of the data roots", name="not there"
    ),
    Example(
        "check_copyable",
        ("-", "@folder@/data", "@folder@/space/./PG_15_7"),
        arrange=f"{_DATA} && mkdir space/PG_15_7 space/PG_13_7 && : >space/PG_13_7/1 && chmod 0 space/PG_13_7/1 && "
        "mkfifo space/PG_13_7/2",
        matches=r"note: Folders of tablespaces .* \(.*/space: PG_13_7\)\. These are not copied\.\n",
        tolerates=_WHOLE,
        name="another major version beside it",
    ),
    Example(
        "check_copyable",
        ("-", "@folder@/space/./PG_15_7"),
        arrange="mkdir space",
        status=1,
        complains="/space does not contain PG_15_7: is its disk mounted?",
        name="another disk",
    ),
    Example(
        "note_entries_beside",
        ("@folder@/a/./b", "@folder@/a/./it's", "@folder@/c"),
        arrange='mkdir -p a/b "a/it\'s" a/lost+found c/d',
        prints="",
        after='mkdir a/e; (note_entries_beside "$PWD/a/./b" "$PWD/a/./it\'s" "$PWD/c/./d") '
        '| grep -q "cluster (.*/a: e). These are"',
    ),
    Example("exclude_named", ("/a", "/a/./b", "/c/./d"), stdin="b\nd\n\nbb\n", prints="d\nbb\n"),
    Example(
        "list_uncopyable",
        ("0", "@folder@/data"),
        arrange=f"{_DATA}; mkfifo data/pipe",
        matches=r"special [^\0]+/pipe\0",
        as_root=True,
        tolerates=_LOOKED_AT,
    ),
]
