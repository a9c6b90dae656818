"""Examples of the rsync daemon of a copy: a real one, on a free port, which ends by itself soon after."""

import socket

from core.servers.functions import library
from tests.resources.sh.examples import Example

with socket.create_server(("127.0.0.1", 0)) as _one, socket.create_server(("127.0.0.1", 0)) as _other:
    _PORT, _TAKEN = (str(each.getsockname()[1]) for each in (_one, _other))
_PORTS = (str(int(_PORT) + 1), str(int(_PORT) + 30))  # not 8730 and on: who else runs these examples takes those

_FUNCTIONS = f"cat >functions <<'FUNCTIONS'\n{library(['keep_daemon'])}\n\"$@\"\nFUNCTIONS\nmkdir 'a b'"
_DAEMON, _MARKER = "@folder@/daemon", "@folder@"
_FIRST_WORDS = (_DAEMON, _MARKER, "@folder@/functions")
_LAST_WORDS = ("127.0.0.1 ::1", "data", "@folder@/a b", "16400", "@folder@/space")
_GIVEN = f"password {_MARKER}\n"
_START = f"start_daemon {' '.join(_FIRST_WORDS)} {' '.join(_PORTS)} - 2 127.0.0.1 data @folder@"
_STARTED = f"{_FUNCTIONS}\nprintf '{_GIVEN}' | {_START} >started"
_GONE = f'[ -z "$(list_copy_processes {_MARKER})" ] && [ ! -e daemon ]'
_MADE = f"make_daemon_folder {_DAEMON} 127.0.0.1"
_LIVES = {
    "setsid behind": "it lives as long as the daemon",
    "rsync behind": "it lives as long as the daemon",
    "sleep": "where the daemon is quick it does not sleep",
}
_TAKE = f"""printf 'use chroot = no\\n' >conf; tries=0
timeout 5 rsync --daemon --no-detach --config=conf --port={_TAKEN} >/dev/null 2>&1 &
until port_is_taken {_TAKEN} || [ "$tries" -ge 50 ]; do tries=$((tries + 1)); sleep 0.05; done"""
_ASKED = 'printf "%s\\n" "$*" >asked'


_QUICK = {"sleep": "what ends at once is not waited for"}

EXAMPLES = [
    Example(
        "make_password",
        ("@folder@", "marker"),
        matches="[0-9a-f]{48} marker\n",
        after='[ "$(stat -c "%s %a" password)" = "48 600" ]',
    ),
    Example(
        "start_daemon",
        (*_FIRST_WORDS, *_PORTS, "127.0.0.1", "2", *_LAST_WORDS),
        arrange=_FUNCTIONS,
        stdin=_GIVEN,
        matches=rf"\d+ {_MARKER}\n",
        after=f'[ "$(stat -c %a daemon/secrets)" = 600 ] && end_daemon {_DAEMON} {_MARKER} && {_GONE}',
        tolerates=_LIVES,
    ),
    Example(
        "start_daemon",
        (*_FIRST_WORDS, *_PORTS, "-", "2", *_LAST_WORDS),
        arrange=_FUNCTIONS,
        stdin="password another\n",
        status=1,
        complains="the password is incomplete: nothing was started",
        after=_GONE,
        name="cut off",
    ),
    Example(
        "start_daemon",
        (*_FIRST_WORDS, *_PORTS, "-", "2", *_LAST_WORDS),
        stdin=_GIVEN,
        status=1,
        complains="functions is missing",
        after=_GONE,
        name="no functions",
    ),
    Example(
        "start_daemon",
        (*_FIRST_WORDS, _TAKEN, _TAKEN, "-", "2", *_LAST_WORDS),
        arrange=f"{_FUNCTIONS}\n{_TAKE}",
        stdin=_GIVEN,
        status=1,
        complains=f" {_TAKEN} to {_TAKEN}",
        name="every port is taken",
    ),
    Example(
        "make_daemon_folder",
        (_DAEMON, *_LAST_WORDS),
        arrange="mkdir 'a b' space",
        after=f"""[ daemon/places/data -ef 'a b' ] && [ daemon/places/16400 -ef space ] &&
[ "$(stat -c %a daemon daemon/rsyncd.conf | tr '\\n' ' ')" = '700 600 ' ] &&
grep -A1 -Fx '[16400]' daemon/rsyncd.conf | grep -Fx 'path = {_DAEMON}/places/16400'""",
    ),
    Example(
        "make_daemon_folder",
        (_DAEMON, *_LAST_WORDS),
        arrange="ln -s /tmp daemon",
        status=1,
        complains="something else exists at that path",
        name="a link",
    ),
    Example(
        "print_daemon_settings",
        ("/f", "10.0.0.1 fd00::1"),
        matches=r"(?s)use chroot = no\n.*secrets file = /f/secrets\nhosts allow = 10\.0\.0\.1 fd00::1\n.*",
    ),
    Example(
        "keep_daemon",
        (_DAEMON, _PORT, "127.0.0.1", "1"),
        arrange=_MADE,
        after=_GONE,
        tolerates={"rsync behind": "it lives as long as the daemon"},
        name="nothing comes",
    ),
    Example(
        "keep_daemon",
        (_DAEMON, _TAKEN, "127.0.0.1", "9"),
        arrange=f"{_MADE}\n{_TAKE}",
        status=1,
        complains="the rsync daemon ended by itself",
        after="grep -q 'Address already in use' daemon/log",
        name="a port that is taken",
    ),
    # process 0: this very process group, which lives
    Example("watch_daemon", (_DAEMON, "0", "1"), arrange=_MADE),
    Example("watch_daemon", (_DAEMON, "0", "9"), name="its folder is gone", seconds=3),
    Example(
        "watch_daemon",
        (_DAEMON, "4194300", "9"),
        arrange=_MADE,
        status=1,
        complains="the rsync daemon ended by itself",
        name="it ended",
    ),
    Example("end_daemon", (_DAEMON, _MARKER), arrange=_STARTED, after=_GONE, tolerates=_QUICK),
    Example(
        "close_daemon",
        (_DAEMON, _MARKER, "@folder@/kept"),
        arrange=f"{_STARTED}; mkdir kept",
        after=f"{_GONE} && [ ! -e kept ]",
        tolerates=_QUICK,
    ),
    Example("end_daemon", (_DAEMON, _MARKER), arrange="mkdir daemon", after=_GONE, name="it has ended"),
    Example("end_copy_processes", (_MARKER,), arrange=f"PGHAUL_COPY={_MARKER} sleep 9 >/dev/null 2>&1 &", after=_GONE),
    Example(
        "list_copy_processes",
        (_MARKER,),
        arrange=f"PGHAUL_COPY={_MARKER} sleep 9 >/dev/null 2>&1 & PGHAUL_COPY={_MARKER}2 sleep 1 >/dev/null 2>&1 &",
        matches=r"\d+\n",
        after=f"end_copy_processes {_MARKER}",
    ),
    Example("list_copy_processes", (_MARKER,), prints="", name="none"),
    Example("port_is_taken", (_TAKEN,), arrange=_TAKE),
    Example(
        "test_daemon",
        ("@folder@", "marker", "10.0.0.2", "/", "pghaul@10.0.0.2::data/"),
        stdin="8730 marker\n",
        programs={"rsync": _ASKED},
        after=r"""[ "$(cat port)" = 8730 ] && [ "$(cat asked)" = \
'--port=8730 --contimeout=10 --password-file=@folder@/password -r --files-from=/dev/null / pghaul@10.0.0.2::data/' ]""",
    ),
    Example(
        "test_daemon",
        ("@folder@", "marker", "127.0.0.1", "/", "pghaul@127.0.0.1::data/"),
        stdin=f"{_PORT} marker\n",
        status=10,
        complains=f"port {_PORT} of 127.0.0.1: ",
        name="nobody answers",
    ),
    Example(
        "test_daemon",
        ("@folder@", "marker", "10.0.0.2"),
        stdin="8730 marker\n",
        programs={"rsync": "exit 5"},
        status=5,
        complains=" port 8730 of 10.0.0.2 ",
        name="refused",
    ),
    Example(
        "test_daemon",
        ("@folder@", "marker", "10.0.0.2"),
        stdin="87",
        status=1,
        complains="the port is incomplete: nothing was tried",
        after="[ ! -e port ]",
        name="cut off",
    ),
    Example("read_daemon_port", ("@folder@",), arrange="echo 8730 >port", prints="8730\n"),
    Example(
        "read_daemon_port", ("@folder@",), arrange="echo '# whole' >port", status=1, complains="was the daemon started"
    ),
    Example("read_daemon_port", ("@folder@",), status=1, complains="was the daemon started", name="none"),
]
