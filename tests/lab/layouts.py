"""How PostgreSQL may be installed on a host with systemd: Debian's cluster, PGDG's RPMs rebuilt, units of one's own…

The data directory lies on the data disk; `install` makes a host ready for it, as a DBA does before a move, and starts
and enables nothing. PGDG's unit is written after https://git.postgresql.org/gitweb/?p=pgrpms.git.
"""

from dataclasses import dataclass, replace

from tests.lab.hosts import Host

_BIN = "/usr/lib/postgresql/15/bin"
_DEBIAN_TOOLS = "/usr/bin/pg_*cluster* /usr/bin/pg_conftool /lib/systemd/system/postgresql*.service"
_USER = "XDG_RUNTIME_DIR=/run/user/$(id -u postgres) runuser -u postgres -- systemctl --user"
PORT = 5432


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to install a cluster.

    Attributes:
        data: its data directory.
        install: sh for both hosts, the data directory being there and empty.
        create: sh for old: `initdb` and what belongs to it.
        start, enable: sh, by its service manager; empty where nothing enables it.
        active: sh that succeeds where its service manager has it at work.
        binaries: where its programs lie.
        named: what a person types to confirm the stop.
        unit: the unit in whose control group its server is; empty where it is nobody's.
    """

    name: str
    data: str
    install: str
    create: str
    start: str
    active: str
    named: str
    unit: str = ""
    enable: str = ""
    binaries: str = _BIN


def _initdb(data: str, binaries: str = _BIN) -> str:
    """A cluster whose socket is where every series looks, open to the network as one that clients use."""
    return f"""
runuser -u postgres -- {binaries}/initdb -D {data} --locale=C.UTF-8 --auth=trust >/dev/null
echo "unix_socket_directories = '/tmp'" >>{data}/postgresql.conf
"""


def _file(path: str, text: str) -> str:
    return f"mkdir -p {path.rpartition('/')[0]}\ncat >{path} <<'S'\n{text.strip()}\nS\n"


def _unit(name: str, user: str = "", **service: str) -> str:
    """A unit with those lines in its [Service], in the host's folder or in a user's."""
    folder = f"{user}/.config/systemd/user" if user else "/etc/systemd/system"
    lines = "\n".join(f"{key}={value}" for key, value in service.items())
    wanted = "default.target" if user else "multi-user.target"
    return _file(f"{folder}/{name}", f"[Service]\n{lines}\n[Install]\nWantedBy={wanted}")


_RELOAD = "systemctl daemon-reload\n"

DEBIAN = Layout(
    "debian",
    "/srv/pg/15/main",
    "pg_createcluster 15 main --datadir=/srv/pg/15/main --start-conf=manual >/dev/null\n"
    "find /srv/pg/15/main -mindepth 1 -delete\n",
    "rm -r /etc/postgresql/15/main\n"
    "pg_createcluster 15 main --datadir=/srv/pg/15/main -- --locale=C.UTF-8 >/dev/null\n"
    "pg_conftool 15 main set unix_socket_directories /tmp\n"
    "sed -i 's/^local.*/local all all trust/' /etc/postgresql/15/main/pg_hba.conf\n",
    "pg_ctlcluster 15 main start",
    "pg_lsclusters -h 15 main | grep -w online && systemctl is-active postgresql@15-main",
    "15/main",
    unit="postgresql@15-main.service",
    enable="echo auto >/etc/postgresql/15/main/start.conf\n" + _RELOAD,
)

_CHECK = '#!/bin/sh\n# as PGDG\'s own: no start without a cluster of this series\n[ "$(cat "$1/PG_VERSION")" = 15 ]\n'
RPM = Layout(
    "rpm",
    "/var/lib/pgsql/15/data",
    "install -d -o postgres -g postgres /var/lib/pgsql /srv/pg/pgsql /srv/pg/pgsql/15\n"
    "echo '/srv/pg/pgsql /var/lib/pgsql none bind 0 0' >>/etc/fstab\nmount /var/lib/pgsql\n"
    f"rm -rf {_DEBIAN_TOOLS} /lib/systemd/system-generators/postgresql-generator\n"
    f"install -d /usr/pgsql-15/bin\nln -s {_BIN}/* /usr/pgsql-15/bin/\n"
    + _file("/usr/pgsql-15/bin/postgresql-15-check-db-dir", _CHECK)
    + "chmod 755 /usr/pgsql-15/bin/postgresql-15-check-db-dir\n"
    + _file(
        "/usr/lib/systemd/system/postgresql-15.service",
        """
[Unit]
Description=PostgreSQL 15 database server
After=network-online.target
[Service]
Type=notify
User=postgres
Group=postgres
Environment=PGDATA=/var/lib/pgsql/other/
OOMScoreAdjust=-900
Environment=PG_OOM_ADJUST_FILE=/proc/self/oom_score_adj
Environment=PG_OOM_ADJUST_VALUE=0
ExecStartPre=/usr/pgsql-15/bin/postgresql-15-check-db-dir ${PGDATA}
ExecStart=/usr/pgsql-15/bin/postmaster -D ${PGDATA}
ExecReload=/bin/kill -HUP $MAINPID
KillMode=mixed
KillSignal=SIGINT
TimeoutStartSec=0
TimeoutStopSec=1h
[Install]
WantedBy=multi-user.target
""",
    )
    + _file(
        "/etc/systemd/system/postgresql-15.service.d/own.conf",
        "[Service]\nEnvironment=PGDATA=/var/lib/pgsql/15/data/\nLimitNOFILE=12345",
    )
    + _RELOAD,
    _initdb("/var/lib/pgsql/15/data", "/usr/pgsql-15/bin"),
    "systemctl start postgresql-15",
    "systemctl is-active postgresql-15 && "
    "grep -q 'open files  *12345' /proc/$(head -1 /var/lib/pgsql/15/data/postmaster.pid)/limits",
    "postgresql-15",
    unit="postgresql-15.service",
    enable="systemctl enable -q postgresql-15",
    binaries="/usr/pgsql-15/bin",
)

NOTIFY = Layout(
    "notify",
    "/srv/pg/shop",
    _unit(
        "shop.service", Type="notify", User="postgres", ExecStart=f"{_BIN}/postgres -D /srv/pg/shop",
        KillMode="mixed", KillSignal="SIGINT", Restart="on-failure",
    )
    + _RELOAD,
    _initdb("/srv/pg/shop"),
    "systemctl start shop",
    "systemctl is-active shop",
    "shop",
    unit="shop.service",
    enable="systemctl enable -q shop",
)  # fmt: skip

TEMPLATE = Layout(
    "template",
    "/srv/pg/data",
    _unit(
        "pg@.service", Type="notify", User="postgres", ExecStart=f"{_BIN}/postgres -D /srv/pg/%i",
        KillMode="mixed", KillSignal="SIGINT", Restart="always",
    )
    + _RELOAD
    + "systemctl enable -q pg@data\n",
    _initdb("/srv/pg/data"),
    "systemctl start pg@data",
    "systemctl is-active pg@data",
    "pg@data",
    unit="pg@data.service",
    enable="systemctl enable -q pg@data",
)  # fmt: skip
"""An instance of a template, which systemd starts again whenever anything but systemd stops it."""

FORKING = Layout(
    "forking",
    "/srv/pg/ledger",
    _file("/etc/default/ledger", "PGDATA=/srv/pg/ledger")
    + _unit(
        "ledger.service", Type="forking", User="postgres", EnvironmentFile="-/etc/default/ledger",
        ExecStart=f"{_BIN}/pg_ctl -s -w -l /srv/pg/ledger.log start", ExecStop=f"{_BIN}/pg_ctl -s -m fast stop",
        PIDFile="/srv/pg/ledger/postmaster.pid",
    )
    + "install -o postgres /dev/null /srv/pg/ledger.log\n"
    + _RELOAD,
    _initdb("/srv/pg/ledger"),
    "systemctl start ledger",
    "systemctl is-active ledger",
    "ledger",
    unit="ledger.service",
    enable="systemctl enable -q ledger",
)  # fmt: skip

BUILT = replace(
    FORKING,
    name="built",
    install="echo /opt/pgsql/lib >/etc/ld.so.conf.d/pgsql.conf\nldconfig\n"
    + FORKING.install.replace(_BIN, "/opt/pgsql/bin"),
    create=_initdb(FORKING.data, "/opt/pgsql/bin"),
    binaries="/opt/pgsql/bin",
)
"""The same by programs that lie in no package, as where the release has none of the series (`extra.put_tree`)."""

USER = Layout(
    "user",
    "/srv/pg/mine",
    _unit(
        "mine.service", "/var/lib/postgresql", Type="notify", ExecStart=f"{_BIN}/postgres -D /srv/pg/mine",
        KillMode="mixed", KillSignal="SIGINT",
    )
    + "chown -R postgres: /var/lib/postgresql/.config\n",
    _initdb("/srv/pg/mine"),
    f"{_USER} start mine",
    f"{_USER} is-active mine",
    "mine",
    unit="mine.service",
    enable="loginctl enable-linger postgres\n"
    "until [ -S /run/user/$(id -u postgres)/systemd/private ]; do sleep 0.1; done\n"
    f"{_USER} enable -q mine",
)  # fmt: skip

PLAIN = Layout(
    "plain",
    "/srv/pg/plain",
    "",
    _initdb("/srv/pg/plain"),
    f"runuser -u postgres -- {_BIN}/pg_ctl -D /srv/pg/plain -s -w -l /srv/pg/plain/log start",
    f"runuser -u postgres -- {_BIN}/pg_ctl -D /srv/pg/plain status",
    "/srv/pg/plain",
)

LAYOUTS = (DEBIAN, RPM, NOTIFY, TEMPLATE, FORKING, USER, PLAIN)


def prepare(host: Host, layout: Layout) -> None:
    """The host as a DBA leaves it for a cluster to come: programs and units, an empty data directory."""
    _run(host, layout.install)
    host.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", layout.data)


def create(old: Host, layout: Layout) -> None:
    """A cluster that its service manager has started, and starts again with the host."""
    prepare(old, layout)
    for script in (layout.create, layout.enable, layout.start):
        _run(old, script)


def sql(host: Host, layout: Layout, statement: str) -> str:
    """What psql prints, as the superuser on that host."""
    words = [
        f"{layout.binaries}/psql",
        "-XAtq",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        "/tmp",
        "-p",
        str(PORT),
        "-c",
        statement,
    ]
    return host.exec(*words, "postgres", user="postgres").stdout.strip()


def active(host: Host, layout: Layout) -> bool:
    """Whether its service manager has the cluster at work, and it is the one that runs it."""
    if host.exec("sh", "-c", layout.active, check=False).returncode != 0:
        return False
    groups = host.exec("sh", "-c", f"cat /proc/$(head -1 {layout.data}/postmaster.pid)/cgroup").stdout
    return f"/{layout.unit}" in groups if layout.unit else True


def _run(host: Host, script: str) -> None:
    host.exec("sh", "-c", f"set -eu\n{script}")
