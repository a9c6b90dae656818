"""Examples of the look at what listens on a host; the sockets are real."""

from tests.resources.sh.examples import Example
from tests.resources.sh.examples_reachability import SERVED, SERVES

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
        "print_listening_sockets",
        ("tcp6",),
        settings={"listening_held": "socket:[77] /proc/1/fd\nsocket:[78] /proc/none/fd"},
        stdin="77 00000000000000000000000000000000:1538\n9 00000000000000000000000001000000:1538\n",
        matches=r"tcp :: 5432 1 \S+\ntcp 0:0:0:0:0:0:0:1 5432 0 -\n",
    ),
]
