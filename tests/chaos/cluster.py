"""The cluster that is moved again and again: Debian's, with a ledger of what its clients were told to be committed."""

from tests.lab.hosts import Host

DATA = "/srv/pg/15/main"
UNIT = "postgresql@15-main.service"
NAME = "15/main"
_KEPT = "/var/lib/chaos"
"""Outside the data disk, and by no name of the product's: the cluster as each round begins with it."""

_CREATE = f"""
set -eu
pg_createcluster 15 main --datadir={DATA} -- --locale=C.UTF-8 --data-checksums --wal-segsize=1 >/dev/null
pg_conftool 15 main set listen_addresses '*'
pg_conftool 15 main set max_wal_size 64MB
sed -i 's/^local.*/local all all trust/' /etc/postgresql/15/main/pg_hba.conf
echo 'host all all 10.77.0.0/16 trust' >>/etc/postgresql/15/main/pg_hba.conf
systemctl start {UNIT}
"""
_TABLES = """
create table filler as select n, 0::bigint as sum, repeat(md5(n::text), 40) as text from generate_series(1, 100000) n;
alter table filler add primary key (n);
create table ledger (n bigint primary key, delta bigint not null);
checkpoint;
"""
_EMPTY = f"""
set -eu
pg_createcluster 15 main --datadir={DATA} --start-conf=manual >/dev/null
find {DATA} -mindepth 1 -delete
"""
# a copy of its own, so that the fence and the control file of the real one stay as they are
_STOPPED_DUMP = f"""
set -eu
cp -a {DATA}/. /srv/pg/truth
cd /srv/pg/truth
[ ! -e pghaul-fence/global/pg_control ] || mv pghaul-fence/global/pg_control global/
PATH=/usr/lib/postgresql/15/bin:$PATH
pg_controldata . | grep -q 'state: *shut down$' || {{ echo 'old was not shut down' >&2; exit 1; }}
etc=/etc/postgresql/15/main
pg_ctl -D . -s -w -l log -o "-c config_file=$etc/postgresql.conf -c data_directory=$PWD -c port=5499 \
  -c listen_addresses= -c unix_socket_directories=$PWD -c external_pid_file=$PWD/external.pid" start
PGHOST=/srv/pg/truth PGPORT=5499
export PGHOST PGPORT
"""
_DUMP = "pg_dumpall | grep -vE '^.(un)?restrict ' | sha256sum\n"
_STOP_TRUTH = "pg_ctl -D . -s -m immediate stop\n"


def create(old: Host, new: Host) -> None:
    """The cluster on old and its place on new, kept so that `begin_anew` can have both again."""
    sh(old, _CREATE)
    sql(old, _TABLES)
    sh(old, f"systemctl stop {UNIT}")
    sh(new, _EMPTY)
    for host in (old, new):
        sh(host, f"mkdir -p {_KEPT} && tar -cf {_KEPT}/all.tar -C / srv/pg/15 etc/postgresql")


def begin_anew(old: Host, new: Host) -> None:
    """Both as they were made; old runs."""
    for host in (old, new):
        sh(
            host,
            f"systemctl stop {UNIT} || :\npkill -KILL -x postgres || :\n"
            "rm -rf /srv/pg/15 /srv/pg/truth /etc/postgresql/* /var/lib/pghaul\n"
            f"tar -xpf {_KEPT}/all.tar -C /\nsystemctl daemon-reload\nsystemctl reset-failed\n",
        )
    sh(old, f"systemctl start {UNIT}")


def active(host: Host) -> bool:
    """Whether the service manager runs it, and its server answers."""
    state = host.exec("systemctl", "is-active", UNIT, check=False).stdout.strip()
    return state == "active" and answers(host)


def answers(host: Host) -> bool:
    return host.exec("pg_isready", "-q", "-t", "2", user="postgres", check=False).returncode == 0


def lives(host: Host) -> bool:
    """Whether any server of PostgreSQL runs there."""
    return host.exec("pgrep", "-x", "postgres", check=False).returncode == 0


def start_by_root(host: Host) -> bool:
    """What root does who knows nothing of a move; whether a server runs then."""
    host.exec("systemctl", "start", UNIT, check=False)
    host.exec("systemctl", "reset-failed", check=False)
    return answers(host)


def ledger(host: Host) -> set[int]:
    """The rows that are there."""
    return {int(line) for line in sql(host, "select n from ledger").split()}


def balanced(host: Host) -> bool:
    """Whether both halves of every transaction are there."""
    return sql(host, "select coalesce((select sum(delta) from ledger), 0) = (select sum(sum) from filler)") == "t"


def held(host: Host) -> str:
    """How many slots keep WAL; or what psql says where it cannot be asked."""
    asked = "select count(*) from pg_replication_slots"
    done = host.exec("psql", "-XAtq", "-c", asked, user="postgres", check=False)
    return done.stdout.strip() or done.stderr.strip()


def sql(host: Host, statements: str) -> str:
    words = ("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statements)
    return host.exec(*words, user="postgres").stdout.strip()


def dump(host: Host) -> str:
    """The sum of a dump of all that runs there."""
    return sh(host, _DUMP, user="postgres").strip()


def dump_of_stopped(host: Host) -> str:
    """The sum of a dump of the stopped cluster, from a copy; LabError where it was not shut down."""
    try:
        host.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", "/srv/pg/truth")
        return sh(host, _STOPPED_DUMP + _DUMP + _STOP_TRUTH, user="postgres").strip()
    finally:
        host.exec("rm", "-rf", "/srv/pg/truth")


def sh(host: Host, script: str, user: str | None = None) -> str:
    return host.exec("sh", "-c", script, user=user).stdout
