"""Examples of the look at what listens on a host; the sockets are real."""

from tests.resources.sh.examples import Example
from tests.resources.sh.examples_reachability import SERVED, SERVES

_END = 'kill "$(cat data/postmaster.pid)"'
_UNSEEN = dict.fromkeys(("find", "find behind"), "then no process is named")

EXAMPLES = [
    Example(
        "listening_sockets",
        arrange=SERVES,
        matches=r"listed\n(tcp [0-9a-f.:]+ \d+ \d+ \S+\n)*tcp 127.0.0.1 \d+ \d+ python3[0-9.]*\n(.*\n)*"
        r"unix \d+ python3[0-9.]* @folder@/data/.s.PGSQL.9\n(.*\n)*",
        after=SERVED,
        tolerates=_UNSEEN,
        as_root=True,
    ),
    Example(
        "check_port_free",
        ("9", "127.0.0.1", "-", "@folder@/none"),
        arrange=SERVES,
        prints="",
        after=SERVED,
        tolerates=_UNSEEN,
        as_root=True,
    ),
    Example(
        "check_port_free",
        ("9", "127.0.0.1", "root", "@folder@/link"),
        arrange=f"{SERVES}; ln -s data link",
        status=1,
        complains="room/data/.s.PGSQL.9 (by python3",
        after=_END,
        as_root=True,
        name="a socket, by another path",
    ),
    Example(
        "check_port_free",
        ("9", "127.0.0.1", "root", "@folder@/none"),
        status=1,
        complains="root cannot create a file in the folder",
        as_root=True,
        name="no folder for its socket",
    ),
    Example(
        "check_port_free",
        ("9", "127.0.0.1", "nobody", "@folder@/data"),
        arrange="mkdir data",
        status=1,
        complains="nobody cannot create a file in the folder",
        as_root=True,
        name="a folder of another account",
    ),
    Example(
        "print_holders",
        ("tcp 0.0.0.0 9\nunix @folder@/data/.s.PGSQL.9\nunix @folder@/.s.PGSQL.9", ""),
        arrange=SERVES,
        matches=r"@folder@/data/.s.PGSQL.9 \(by python3[0-9.]*, process \d+\)\n",
        after=SERVED,
        tolerates=_UNSEEN,
        as_root=True,
    ),
    Example(
        "print_holders",
        ("unix @folder@/data/.s.PGSQL.9", "unix @folder@/data/.s.PGSQL.9"),
        arrange=SERVES,
        prints="",
        after=SERVED,
        tolerates=_UNSEEN,
        name="its own",
    ),
    Example(
        "print_holders",
        ("unix @folder@/data/.s.PGSQL.9", ""),
        arrange=SERVES,
        programs={"find": ":"},
        prints="@folder@/data/.s.PGSQL.9 (by a process that is not visible here: ss -lntxp shows it to root)\n",
        after=SERVED,
        tolerates=_UNSEEN,
        name="of another user",
    ),
    *(
        Example("is_in_the_way", (f"tcp {each}",), stdin="tcp 10.0.0.2 5432\n", prints="", name=each)
        for each in ("10.0.0.2 5432", "0.0.0.0 5432", ":: 5432")
    ),
    *(
        Example(
            "is_in_the_way", (f"tcp {each}",), stdin="tcp 0.0.0.0 5432\ntcp :: 5432\n", prints="", name=f"all {each}"
        )
        for each in ("10.0.0.2 5432", "0:0:0:0:0:0:0:1 5432")
    ),
    Example(
        "is_in_the_way",
        ("tcp 10.0.0.2 5432",),
        stdin="tcp 10.0.0.2 5432\n",
        after="".join(
            f"! printf 'tcp %s\\n' '{wanted}' | is_in_the_way 'tcp {there}' || exit 1; "
            for wanted, there in (
                ("10.0.0.2 5432", "10.0.0.2 5433"),
                ("10.0.0.2 5432", "10.0.0.3 5432"),
                (":: 5432", "10.0.0.2 5432"),
                ("0:0:0:0:0:0:0:1 5432", "0.0.0.0 5432"),
                ("0.0.0.0 5432", "0:0:0:0:0:0:0:1 5432"),
            )
        ),
        name="not in the way",
    ),
    Example(
        "print_listening_sockets",
        ("tcp6",),
        settings={"listening_held": "socket:[77] /proc/1/fd\nsocket:[78] /proc/none/fd"},
        stdin="77 00000000000000000000000000000000:1538\n9 00000000000000000000000001000000:1538\n",
        matches=r"tcp :: 5432 1 \S+\ntcp 0:0:0:0:0:0:0:1 5432 0 -\n",
    ),
]
