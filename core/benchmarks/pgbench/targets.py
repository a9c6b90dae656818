"""The databases that pgbench uses: a temporary cluster, or a new database in a running cluster that the DBA names.

The server's own programs of the move's major version create a temporary cluster, in a folder of its own inside the
benchmark's. If root runs the benchmark, they run as the database user. The socket is in that folder, which has mode
0700. The server listens on an address only if the other server runs the client, and then it has a random password. It
is a background process (core/benchmarks/background.py) and ends like one. If the connection is lost, it ends together
with the folder. Its shared memory is also in its folder, except for the one System V segment that every cluster has. If
the server was killed, that segment is removed together with the folder.

The name of a new database is `pghaul_bench_`, the folder's random digits and the workload's scale. It is created at its
first use, and dropped together with the folder in any case. The cluster keeps its settings and its shared buffers. Its
data directory must be on the measured volume.

The code that runs on the server is in `resources/sh/benchmark_cluster.sh`.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.benchmarks.tool import Background, Machine, Words
from core.errors import InputError
from core.facts.model import Cluster
from core.facts.programs import can_run
from core.servers.shell import Secret

SERVE_SECONDS = 130.0
"""The time limit for the start, and for the last checkpoint and the stop. pg_ctl waits two minutes for each."""
_ROLE = "pghaul"
_PORT = 5432
"""The port in the name of the socket in the cluster's own folder, in which there is no other socket."""


@dataclass(frozen=True, slots=True)
class Listening:
    """The address at which the other server reaches a temporary cluster, with its port and password."""

    address: str
    port: int
    password: Secret


@dataclass(frozen=True, slots=True)
class Target:
    """A database that pgbench uses.

    Attributes:
        name: the name of its folder inside the benchmark's, or a name for the database.
        make: creates and fills it, and replaces an existing one; runs inside the benchmark's folder.
        background: the server process; None: the server is already running.
        client: returns a pgbench command with a connection to it.
        secrets: secret variables in the environment of `make` and of the client.
    """

    name: str
    make: Words
    background: Background | None
    client: Callable[[Words], Words]
    secrets: Mapping[str, Secret] = field(default_factory=dict)


def temporary_cluster(
    machine: Machine,
    name: str,
    scale: int,
    settings: Mapping[str, str],
    *,
    serve_seconds: float,
    listening: Listening | None = None,
) -> Target:
    """Return a temporary cluster in the folder `name`.

    Args:
        machine: the measured server.
        name: the name of the folder.
        scale: the scale of pgbench's tables.
        settings: the settings of postgresql.conf.
        serve_seconds: the time after which the cluster is stopped in any case.
        listening: the address for a client on the other server; None: there is only the socket.
    """
    port = listening.port if listening else _PORT
    where = (name, machine.database_user, machine.programs, port)
    # Nothing needs to survive a crash, because the cluster is temporary. Before 9.3 initdb never flushed its files.
    sync = "-N" if since(machine.series, (9, 3)) else ""
    lines = [_line(*setting) for setting in {**_own_settings(machine, listening), **settings}.items()]
    return Target(
        name=name,
        make=("temporary_cluster_make", *where, machine.series or "", sync, scale, *lines),
        background=Background(
            "the temporary cluster", ("temporary_cluster_serve", *where, int(serve_seconds)), SERVE_SECONDS
        ),
        client=_across(machine, listening)
        if listening
        else lambda pgbench: ("temporary_cluster_run", *where, *pgbench),
        secrets={} if listening is None else {"PGPASSWORD": listening.password},
    )


def since(series: str | None, first: tuple[int, ...]) -> bool:
    """Return whether a major version is `first` or later. An unknown one counts as later."""
    return series is None or tuple(int(part) for part in series.split(".") if part.isdigit()) >= first


def random_password() -> Secret:
    """Return a random password for one run."""
    return Secret(secrets.token_urlsafe(24))


def _own_settings(machine: Machine, listening: Listening | None) -> dict[str, str]:
    own = {"listen_addresses": listening.address if listening else "", "ssl": "off"}
    if listening:
        # The name of the socket contains the port. A local client finds it by PGPORT.
        own["port"] = str(listening.port)
    if since(machine.series, (9, 4)):
        # Huge pages of the production cluster are not used. Shared memory in the folder is removed with it.
        own |= {"huge_pages": "off", "dynamic_shared_memory_type": "mmap"}
    return own


def _line(name: str, value: str) -> str:
    """Return a line of postgresql.conf, in which backslashes are escaped and quotes are doubled."""
    quoted = value.replace("\\", "\\\\").replace("'", "''")
    return f"{name} = '{quoted}'"


def _across(machine: Machine, listening: Listening) -> Callable[[Words], Words]:
    """Return the client on the other server. Its password is in its environment, which no other user can read."""
    variables = {
        "PATH": machine.other_programs or "",
        "PGHOST": listening.address,
        "PGPORT": listening.port,
        "PGUSER": _ROLE,
        "PGDATABASE": "postgres",
        "PGCONNECT_TIMEOUT": 15,
    }
    return lambda pgbench: ("env", *(f"{name}={value}" for name, value in variables.items()), *pgbench)


def own_database(machine: Machine, data_directory: str, name: str, scale: int) -> Target:
    """Return a new database in the running cluster of that data directory.

    Args:
        machine: the measured server.
        data_directory: the data directory of the cluster.
        name: a part of the database's name, of letters, digits and `_`.
        scale: the scale of pgbench's tables.

    Raises:
        InputError: there is no such cluster, or it is not running.
    """
    cluster = _running(machine, data_directory)
    owner = cluster.owner or machine.database_user
    # Programs that other accounts have named must not be run by this owner.
    others = {each.bin_directory for each in machine.clusters or () if not can_run(each, owner)}
    places = [cluster.bin_directory, *(place for place in machine.programs.split(":") if place not in others)]
    path = ":".join(place for place in places if place)
    # Through the socket, because peer authentication as its owner needs no password.
    host = cluster.socket_directory or "/tmp"  # noqa: S108  PostgreSQL's own default
    where = (name, owner, path, host, cluster.port or 5432)
    return Target(
        name=f"database-{name}",
        make=("bench_database_make", *where, data_directory, scale),
        background=None,
        client=lambda pgbench: ("bench_database_run", *where, *pgbench),
    )


def _running(machine: Machine, data_directory: str) -> Cluster:
    if machine.clusters is None:  # while a suite is read, before any server is known
        return Cluster(data_directory, "", None, running=True, port=None, owner=None)
    cluster = next((each for each in machine.clusters if each.data_directory == data_directory), None)
    if cluster is not None and cluster.running and cluster.port is not None:
        return cluster
    what = (
        f"the server has no cluster {data_directory}" if cluster is None else f"the cluster {data_directory} is stopped"
    )
    known = ", ".join(each.data_directory for each in machine.clusters if each.running)
    raise InputError(what, f"choose a running cluster: {known}" if known else "start a cluster first")
