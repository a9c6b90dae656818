"""Examples of the look at the login's own session. systemd is played; root is no ordinary account."""

from core.servers.functions import library
from tests.resources.sh.examples import Example

_PROGRAM = {"program": library(["keep_session"]) + '\n"$@"\n'}
_APP = {"session_name": "app", "session_number": "5"}
_GROUPS = "printf '%s\\n' 8:pids:/ 0::/user.slice/user-1500.slice/session-5.scope >groups"
_PLAYED = {"id": "case $1 in -un) echo app ;; *) echo 1500 ;; esac", "busctl": "echo 'b false'"}


def _killing(*lines: str) -> dict[str, str]:
    return {"busctl": "printf '%s\\n' " + " ".join(f"'{line}'" for line in lines)}


EXAMPLES = [
    Example("hold_session", ("yes",), settings=_PROGRAM, programs=_PLAYED, prints="harmless app\n"),
    Example("keep_session", ("0 0",), programs={"id": _PLAYED["id"]}, prints=""),
    Example(
        "control_group",
        ("groups", "1500"),
        arrange=_GROUPS,
        prints="",
        after='control_group groups 1500; [ "$control_found" = session-5.scope ]',
    ),
    Example(
        "control_group",
        ("groups", "150"),
        arrange=_GROUPS,
        prints="",
        after='control_group groups 150; [ -z "$control_found" ]',
        name="of another account",
    ),
    Example("system_accounts", prints=""),
    Example("removal_facts", ("@folder@/no",), prints="", name="no systemd"),
    Example(
        "removal_facts",
        ("@folder@",),
        programs=_PLAYED,
        matches=r"removes=b false\nmost=[0-9]+\n(lingers=.*\n)*",
        tolerates={"busctl": "it is not known then"},
    ),
    Example(
        "login_manager",
        ("RemoveIPC",),
        programs=_PLAYED,
        prints="b false\n",
        tolerates={"busctl": "its caller takes the default for what is not known"},
    ),
    Example(
        "session_leader",
        settings=_APP,
        programs={"loginctl": "echo Leader=1"},
        matches=r"1 [0-9]+\n",
        tolerates={"loginctl": "the connection counts as ended: a server alone holds the session then"},
    ),
    *(
        Example(
            "systemd_kills",
            settings=_APP,
            programs=_killing(*lines),
            prints="",
            tolerates={"busctl": "the default is taken: it kills nothing"},
            name=name,
        )
        for name, lines in (
            ("all", ("b true", "as 0", "as 0")),
            ("this account's", ("b false", 'as 2 "other" "app"', 'as 1 "root"')),
        )
    ),
    *(
        Example(
            "login_manager",
            ("x",),
            settings=_APP,
            programs=_killing(*lines),
            after="session_name=app; ! systemd_kills",
            tolerates={"busctl": "its caller takes the default for what is not known"},
            name=name,
        )
        for name, lines in (
            ("nothing is killed", ("b false", "as 0", "as 0")),
            ("another account's are killed", ("b true", 'as 1 "other"', "as 0")),
            ("this account is excluded", ("b true", "as 0", 'as 2 "root" "app"')),
        )
    ),
]
