"""What pgbench runs against: a temporary cluster, or a database of its own in a running cluster that the DBA names.

A temporary cluster is made by the server's own programs of the move's series, in a folder of its own inside the
benchmark's, as the database user where root measures. Its socket lies in that folder of mode 0700; it listens on an
address only where the other server drives it, and then takes a random password. It is a background process
(core/benchmarks/background.py) and ends as one; cut off, with the folder, whose processes are all ended. Its shared
memory lies in its own folder too, but for the one segment of System V that every cluster has: where the server was
killed, that is removed with the folder.

A database of its own is called `pghaul_bench_`, the folder's random digits and the workload's scale; it is made at
first use and dropped with the folder, whatever ended the run. The cluster keeps its settings and its shared buffers;
its data directory must lie on the measured volume.

What happens on the server stands in `resources/sh/benchmark_cluster.sh`.
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
"""To start, or to write the last checkpoint and stop: pg_ctl waits two minutes for either."""
_ROLE = "pghaul"
_PORT = 5432
"""Of the socket in the cluster's own folder, where nobody else's can be."""


@dataclass(frozen=True, slots=True)
class Listening:
    """How a temporary cluster is reached from the other server."""

    address: str
    port: int
    password: Secret


@dataclass(frozen=True, slots=True)
class Target:
    """A database that pgbench runs against.

    Attributes:
        name: of its folder inside the benchmark's, or of what stands for it.
        make: makes and fills it, anew if it is there; runs inside the benchmark's folder.
        background: what serves it; None: it is there anyway.
        client: a pgbench command, connected to it.
        secrets: environment of `make` and of the client.
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
    """A temporary cluster in the folder `name`.

    Args:
        scale: of the tables that it is filled with.
        settings: of postgresql.conf.
        serve_seconds: after which the server ends it by itself.
        listening: where the other server drives it; None: by its socket alone.
    """
    port = listening.port if listening else _PORT
    where = (name, machine.database_user, machine.programs, port)
    # it is thrown away: nothing needs to survive a crash; older initdbs never synced
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
    """Whether a series is that one or later; one that is not known counts as new."""
    return series is None or tuple(int(part) for part in series.split(".") if part.isdigit()) >= first


def random_password() -> Secret:
    """A password for one run."""
    return Secret(secrets.token_urlsafe(24))


def _own_settings(machine: Machine, listening: Listening | None) -> dict[str, str]:
    own = {"listen_addresses": listening.address if listening else "", "ssl": "off"}
    if listening:
        # its socket is named after the port: a local client finds it by PGPORT
        own["port"] = str(listening.port)
    if since(machine.series, (9, 4)):
        # what production has set aside stays its own; shared memory in the folder goes with the folder
        own |= {"huge_pages": "off", "dynamic_shared_memory_type": "mmap"}
    return own


def _line(name: str, value: str) -> str:
    """A line of postgresql.conf; its strings know backslashes and doubled quotes."""
    quoted = value.replace("\\", "\\\\").replace("'", "''")
    return f"{name} = '{quoted}'"


def _across(machine: Machine, listening: Listening) -> Callable[[Words], Words]:
    """The client on the other server; its password stays in its environment, which no other user there can read."""
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
    """A database in the running cluster of that data directory.

    Args:
        name: letters, digits and `_`; part of the database's.
        scale: of the tables that it is filled with.

    Raises:
        InputError: there is no such cluster, or it does not run.
    """
    cluster = _running(machine, data_directory)
    owner = cluster.owner or machine.database_user
    # what other accounts say of their programs is not for this owner to run
    others = {each.bin_directory for each in machine.clusters or () if not can_run(each, owner)}
    places = [cluster.bin_directory, *(place for place in machine.programs.split(":") if place not in others)]
    path = ":".join(place for place in places if place)
    # by its socket: peer authentication as its owner needs no password
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
    what = "there is no cluster" if cluster is None else "no server runs on"
    known = ", ".join(each.data_directory for each in machine.clusters if each.running)
    raise InputError(f"{what} {data_directory} there", f"those that run: {known}" if known else "none runs there")
