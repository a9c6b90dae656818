"""Examples of the lock."""

from tests.resources.sh.examples import Example

_OURS = "token dba@here since 2026-11-22 08:00 UTC"
_THEIRS = "other ada@there since 2026-11-22 07:00 UTC"

EXAMPLES = [
    Example(
        "take_lock",
        ("lock", _OURS),
        after=f'[ "$(readlink lock)" = "{_OURS}" ]',
        tolerates={"ln behind": "the lock is made by then, and one's own"},
    ),
    Example(
        "take_lock",
        ("lock", _OURS),
        arrange="ln -s 'token dba@here since yesterday' lock",
        name="one's own, of a workstation that died",
        tolerates={"ln": "it is to fail: the lock is there"},
    ),
    Example(
        "take_lock",
        ("lock", _OURS),
        arrange=f"ln -s '{_THEIRS}' lock",
        status=75,
        prints=f"{_THEIRS}\n",
        complains=f"the lock lock is held: {_THEIRS}",
        after=f'[ "$(readlink lock)" = "{_THEIRS}" ]',
        name="another's",
    ),
    Example(
        "take_lock",
        ("lock", _OURS),
        arrange=f"ln -s '{_OURS}' lock && chown -h nobody lock",
        status=1,
        complains="the lock lock is of user 65534, who is to have none: see who that is, and as root: rm lock",
        as_root=True,
        name="one that another user has made",
    ),
    Example("take_lock", ("none/lock", _OURS), status=1, complains="No such file or directory", name="no folder"),
    Example(
        "take_lock",
        ("lock", _OURS),
        arrange="mkdir lock",
        status=1,
        complains="the lock lock cannot be made",
        after='[ -z "$(ls lock)" ]',
        name="something else lies there",
    ),
    Example("release_lock", ("lock", "token"), arrange=f"ln -s '{_OURS}' lock", after="[ ! -L lock ]"),
    Example(
        "release_lock", ("lock", "token"), arrange=f"ln -s '{_THEIRS}' lock", after="[ -L lock ]", name="another's"
    ),
    Example("release_lock", ("lock", "token"), name="none"),
    Example(
        "list_locks",
        ("@folder@", "pghaul-lock-"),
        arrange=f"ln -s '{_OURS}' pghaul-lock-1; : >pghaul-lock-2; ln -s '{_THEIRS}' other",
        prints=f"@folder@/pghaul-lock-1 {_OURS}\n# 1 locks\n",
    ),
    Example("list_locks", ("@folder@", "pghaul-lock-"), prints="# 0 locks\n", name="none"),
    Example("list_locks", ("none", "lock"), status=1, complains="none cannot be read", name="no folder"),
]
