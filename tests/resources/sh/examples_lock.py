"""Examples of the lock."""

from tests.resources.sh.examples import Example

_OURS = "token dba@here since 2026-11-22 08:00 UTC"
_THEIRS = "other ada@there since 2026-11-22 07:00 UTC"

EXAMPLES = [
    Example("take_lock", ("@folder@/lock", _OURS), after=f'[ "$(readlink lock-??????????)" = "{_OURS}" ]'),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange="ln -s 'token dba@here since yesterday' lock-1",
        after="[ $(ls | grep -c lock) = 1 ]",
        name="one's own, of a workstation that died",
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange=f"ln -s '{_THEIRS}' lock-other",
        status=75,
        prints=f"@folder@/lock-other {_THEIRS}\n",
        complains=f"lock-other is held: {_THEIRS}",
        after="[ $(ls | grep lock) = lock-other ]",
        name="another's",
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange=f"ln -s '{_OURS}' lock-1 && ln -s '{_THEIRS}' lock-other",
        status=75,
        complains="lock-other is held",
        prints=f"@folder@/lock-other {_THEIRS}\n",
        after="[ -L lock-other ] && [ -L lock-1 ]",
        name="one's own, and another's, who looks yet",
    ),
    Example(
        "take_lock",
        ("@folder@/lock", _OURS),
        arrange=f"ln -s '{_THEIRS}' lock && ln -s '{_OURS}' lock-1 && chown -h nobody lock lock-1",
        after="[ $(ls | grep -c lock) = 3 ]",
        as_root=True,
        name="what another user has made is no lock",
    ),
    Example(
        "take_lock",
        ("@folder@/none/lock", _OURS),
        status=1,
        complains="none cannot be read",
        name="no folder",
    ),
    Example("find_locks", ("@folder@/lock",), arrange=f"ln -s '{_OURS}' lock-1", prints="@folder@/lock-1\n"),
    Example(
        "release_lock",
        ("@folder@/lock", "token"),
        arrange=f"ln -s '{_OURS}' lock-1 && ln -s '{_THEIRS}' lock-2",
        after="[ ! -L lock-1 ] && [ -L lock-2 ]",
    ),
    Example("release_lock", ("@folder@/lock", "token"), name="none"),
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
