"""Examples of the lock."""

from tests.resources.sh.examples import Example

_OURS = "token dba@here since 2026-11-22 08:00 UTC"
_THEIRS = "other ada@there since 2026-11-22 07:00 UTC"

EXAMPLES = [
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        after=f'[ "$(readlink lock-token)" = "{_OURS}" ]',
        tolerates={"ln behind": "the lock is made by then, and one's own"},
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange="ln -s 'token dba@here since yesterday' lock-token",
        name="one's own, of a workstation that died",
        tolerates={"ln": "it is to fail: the lock is there"},
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange=f"ln -s '{_THEIRS}' lock-other",
        status=75,
        prints=f"@folder@/lock-other {_THEIRS}\n",
        complains=f"lock-other is held: {_THEIRS}",
        after="[ -L lock-other ] && [ ! -L lock-token ]",
        name="another's",
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange=f"ln -s '{_OURS}' lock-token && ln -s '{_THEIRS}' lock-other",
        status=75,
        complains="lock-other is held",
        prints=f"@folder@/lock-other {_THEIRS}\n",
        after="[ -L lock-other ] && [ -L lock-token ]",
        name="one's own, and another's, who looks yet",
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange=f"ln -s '{_THEIRS}' lock && ln -s '{_THEIRS}' lock-other && chown -h nobody lock lock-other",
        after=f'[ "$(readlink lock-token)" = "{_OURS}" ]',
        as_root=True,
        tolerates={"ln behind": "the lock is made by then, and one's own"},
        name="what another user has made is no lock",
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange=f"ln -s '{_OURS}' lock-token && chown -h nobody lock-token",
        status=1,
        complains="lock-token cannot be made",
        as_root=True,
        name="another user knew the token",
    ),
    Example(
        "take_lock",
        ("@folder@/none/lock", _OURS),
        status=1,
        complains="No such file or directory",
        name="no folder",
    ),
    Example("locks_of", ("@folder@/lock",), arrange=f"ln -s '{_OURS}' lock-1", prints=f"@folder@/lock-1 {_OURS}\n"),
    Example("release_lock", ("lock", "token"), arrange=f"ln -s '{_OURS}' lock-token", after="[ ! -L lock-token ]"),
    Example(
        "release_lock", ("lock", "token"), arrange="ln -s other lock-other", after="[ -L lock-other ]", name="none"
    ),
    Example(
        "list_locks",
        ("@folder@", "pghaul-lock-"),
        arrange=f"ln -s '{_OURS}' pghaul-lock-1; : >pghaul-lock-2; ln -s '{_THEIRS}' other; "
        "ln -s 'token nobody\n/etc/x' pghaul-lock-3",
        prints=f"@folder@/pghaul-lock-1 {_OURS}\n# 1 locks\n",
    ),
    Example("list_locks", ("@folder@", "pghaul-lock-"), prints="# 0 locks\n", name="none"),
    Example("list_locks", ("none", "lock"), status=1, complains="none cannot be read", name="no folder"),
]
