"""Examples of the bridge to a PostgreSQL server's socket; `test_sql_bridge.py` sends more through it."""

from tests.resources.sh.examples import Example

_SERVER = """cat >server <<'PROGRAM'
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind(".s.PGSQL.5433")
listener.listen()
listener.settimeout(20)
near, _ = listener.accept()
while data := near.recv(65536):
    near.sendall(data)
PROGRAM
/usr/bin/python3 server >/dev/null 2>&1 &
while [ ! -S .s.PGSQL.5433 ]; do sleep 0.02; done"""
_OTHERS = dict.fromkeys(("perl", "perl behind"), "python bridges then")

EXAMPLES = [
    Example(
        "sql_bridge",
        ("5433", "/nowhere", "@folder@"),
        arrange=_SERVER,
        stdin="there and back",
        prints="there and back",
        tolerates=_OTHERS,
    ),
    Example("sql_bridge", ("5433", "@folder@"), status=1, complains=".s.PGSQL.5433 does not exist", name="none"),
    Example("sql_bridge_by_perl", (".s.PGSQL.5433",), arrange=_SERVER, stdin="and back", prints="and back"),
    Example("sql_bridge_by_python", (".s.PGSQL.5433",), arrange=_SERVER, stdin="and back", prints="and back"),
]
