"""Examples of the look at what listens on a host; the sockets are real."""

from tests.resources.sh.examples import Example
from tests.resources.sh.examples_reachability import SERVED, SERVES

_END = 'kill "$(cat data/postmaster.pid)"'
_UNSEEN = dict.fromkeys(("find", "find behind"), "then no process is named")
_ODD = r"""mkdir -p 'data/a  b' && cat >listen.py <<'P'
import os, socket, time
os.chdir("data")
all = [socket.socket(socket.AF_UNIX) for _ in range(3)]
for one, name in zip(all, ("a  b/.s.PGSQL.9", ".s.PGSQL.8 x", ".s.PGSQL.123456")):
    one.bind(os.path.join(os.path.realpath("."), name))
    one.listen()
open("/proc/self/comm", "w").write(" ")
open("postmaster.pid", "w").write(f"{os.getpid()}\n")
time.sleep(60)
P
{ /usr/bin/env python3 listen.py >/dev/null 2>&1 & }
while [ ! -s data/postmaster.pid ]; do sleep 0.02; done"""
"""For `arrange`: a process whose name is a space, on a socket in a folder with spaces, and on two others."""
_NAMELESS = SERVES.replace('os.chdir("data")', 'os.chdir("data"); open("/proc/self/comm", "w").write(" ")')

EXAMPLES = [
    Example(
        "listening_sockets",
        arrange=_ODD,
        matches=r"(?!(.*\n)*.*@folder@/data/.s)listed\n(.*\n)*unix \d+ [?] @folder@/data/a  b/.s.PGSQL.9\n(.*\n)*",
        after=SERVED,
        tolerates=_UNSEEN,
        as_root=True,
        name="odd names",
    ),
    Example(
        "print_holders",
        ("unix @folder@/link/.s.PGSQL.9", ""),
        arrange=f"{_NAMELESS}; ln -s data link",
        matches=r"@folder@/data/.s.PGSQL.9 \([^\n]*\)\n",
        after=SERVED,
        tolerates=_UNSEEN,
        as_root=True,
        name="a process without a name",
    ),
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
        stdin="tcp 1 00000000000000000000000000000000:1538\ntcp 0 00000000000000000000000001000000:1538\n"
        "tcp none 0100007F:1538\nunix none /tmp/.s.PGSQL.5432\n",
        matches=r"tcp :: 5432 1 \S+\ntcp 0:0:0:0:0:0:0:1 5432 0 -\n"
        r"tcp 127.0.0.1 5432 0 -\nunix 0 - /tmp/.s.PGSQL.5432\n",
    ),
]
