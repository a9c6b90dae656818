"""A cluster of many databases and relations on old, made within seconds: one template, copied as files."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.clusters import PREFIX
from tests.lab.hosts import Host

DATA = "/srv/pg/many"
PORT = 5477

# Half of the relations are tables, too narrow for TOAST, half their primary keys. Their order is that of C.UTF-8, which
# counts as a locale.
_TEMPLATE = """
CREATE DATABASE template_many;
\\connect template_many
SELECT format('CREATE TABLE t%s (name varchar(50) PRIMARY KEY)', n) FROM generate_series(1, :tables) n \\gexec
\\connect postgres
SELECT format('CREATE DATABASE d%s TEMPLATE template_many STRATEGY file_copy', n)
  FROM generate_series(2, :databases) n \\gexec
ALTER DATABASE template_many RENAME TO d1;
"""
_MAKE = f"""
set -eu
cd {PREFIX}/bin
./initdb -D {DATA} -N -U postgres --locale=C.UTF-8 --encoding=UTF8 --auth=peer >/dev/null
cat >>{DATA}/postgresql.conf <<S
port = {PORT}
unix_socket_directories = '/tmp'
listen_addresses = ''
fsync = off
autovacuum = off
max_locks_per_transaction = 1000
S
./pg_ctl -D {DATA} -l /dev/null -s -w start
"""


@contextmanager
def many(old: Host, databases: int, relations: int) -> Iterator[None]:
    """A running cluster of so many databases, each with so many relations of its own; gone afterwards."""
    try:
        old.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", DATA)
        old.exec("sh", "-c", _MAKE, user="postgres")
        sizes = ["-v", f"databases={databases}", "-v", f"tables={relations // 2}"]
        words = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *sizes, "-h", "/tmp", "-p", str(PORT)]
        old.exec(f"{PREFIX}/bin/psql", *words, "-d", "postgres", user="postgres", input=_TEMPLATE)
        yield
    finally:
        stop = [f"{PREFIX}/bin/pg_ctl", "-D", DATA, "-m", "immediate", "-s", "-w", "stop"]
        old.exec(*stop, user="postgres", check=False)
        old.exec("rm", "-rf", DATA)
