"""pgbench: what a workload runs, in which database, and how a storage ages under updates.

It uses a temporary cluster of the move's major version on the measured volume. If the workload names a running cluster,
it uses a new database in that cluster (core/benchmarks/pgbench/tool.py). For `select`, `tpcb`, `simple-update` and a
script of the DBA, each repetition starts the cluster with cold caches. `warm_ups` runs do not count; the run after them
does. All repetitions with the same scale share one cluster. `drift` creates a new cluster for each repetition: see
core/benchmarks/pgbench/tool.py.

The settings of the temporary cluster are those of the workload, not those of production, because two volumes can be
compared only with the same settings.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from core.benchmarks.model import Metrics, Result, Workload
from core.benchmarks.pgbench.output import parse_pgbench
from core.benchmarks.statistics import mean
from core.benchmarks.tool import (
    ASSUMED_BYTES_PER_SECOND,
    STRICT,
    Background,
    LiveOutput,
    Machine,
    ParameterError,
    Phase,
    Procedure,
    Reading,
    Tool,
    Words,
    deadline,
    strictly,
)
from core.errors import InputError, ParseError
from core.facts.model import Cluster
from core.facts.programs import can_run
from core.servers.shell import Secret

# The databases that pgbench uses: a temporary cluster, or a new database in a running cluster that the DBA names.
#
# The server's own programs of the move's major version create a temporary cluster, in a folder of its own inside the
# benchmark's. If root runs the benchmark, they run as the database user. The socket is in that folder, which has mode
# 0700. The server listens on an address only if the other server runs the client, and then it has a random password. It
# is a background process (core/benchmarks/runs.py) and ends like one. If the connection is lost, it ends together with
# the folder. Its shared memory is also in its folder, except for the one System V segment that every cluster has. If
# the server was killed, that segment is removed together with the folder.
#
# The name of a new database is `pghaul_bench_`, the folder's random digits and the workload's scale. It is created at
# its first use, and dropped together with the folder in any case. The cluster keeps its settings and its shared
# buffers. Its data directory must be on the measured volume.
#
# The code that runs on the server is in `resources/sh/benchmark_cluster.sh`.

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


# The ageing of a storage under updates: random reads of a new database, updates, and the same reads again.
#
# The protocol is that of Lentfer, "HAMMER and PostgreSQL Performance" (2010). A database larger than the memory is
# created on a fresh file system. Select-only runs fill the caches, and the run after them gives the initial rate. Three
# TPC-B runs are averaged. One more select-only run gives the final rate. The decrease is (initial - final) / initial:
# at 0.53 about half of the reads are lost, below 0 the rate has grown. All this is one repetition with a cluster of its
# own, because a second one on the same database would start with its aged files. Nothing is restarted within a
# repetition, and no cache is dropped.
#
# The metrics are each rate and latency with the prefixes `initial_`, `tpcb_` and `final_`, and `decrease_fraction`.

RATE = "transactions_per_second"
HEADLINES = tuple(f"{phase}_{RATE}" for phase in ("final", "initial", "tpcb"))
_OF_RUNS = ("clients", "threads")
_OF_ALL = ("transactions", "failed_transactions")


def decrease(initial: float, final: float) -> float:
    """Return the fraction by which the initial rate has decreased; below 0 if it has grown.

    Raises:
        ParseError: the initial rate is not above zero.
    """
    # a fraction of nothing is no figure
    if initial <= 0:
        raise ParseError(
            f"the initial run of pgbench reached {initial:g} transactions/s, so the decrease cannot be computed",
            "run the benchmark again",
        )
    return (initial - final) / initial


def drift(initial: Metrics, updates: Sequence[Metrics], final: Metrics) -> Metrics:
    """Return the metrics of a repetition: the initial run, the mean of the updates, the final run, and the decrease."""
    averaged = {
        # a mean over some of the runs would be one of something else
        name: mean([run[name] for run in updates])
        for name in updates[0]
        if all(name in run for run in updates)
    }
    metrics = {name: initial[name] for name in _OF_RUNS if name in initial}
    # all that the pass did, and all that failed in it
    for name in _OF_ALL:
        done = [run[name] for run in (initial, *updates, final) if name in run]
        metrics |= {name: sum(done)} if done else {}
    for phase, figures in (("initial", initial), ("tpcb", averaged), ("final", final)):
        metrics |= {f"{phase}_{name}": value for name, value in figures.items() if name == RATE or "latency" in name}
    metrics["decrease_fraction"] = decrease(initial[RATE], final[RATE])
    return metrics


# pgbench: what a workload runs.

ROWS_BYTES = 15_500_000
"""The size of one unit of scale: 100,000 accounts with their index, as pgbench -i creates them since 8.3."""
EMPTY_CLUSTER_BYTES = 64 * 2**20
MOST_WAL_BYTES = 2**30
"""The most WAL: max_wal_size, which is 1 GB by default, and what checkpoints leave above it."""
INITDB_SECONDS = 5.0
ASSUMED_PER_SECOND = 200.0
LEAST_PER_SECOND = 2.0
"""Transactions per second of all clients: the first for the forecast, the second for the deadline."""
LARGEST_SCRIPT = 100_000
_SETTING = re.compile(r"\s*(?P<name>[a-z_][a-z0-9_.]*)\s*=\s*(?P<value>[^;]*?)\s*")
_OURS = {
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "port",
    "ssl",
    "unix_socket_directories",
    "unix_socket_directory",
}
"""Settings that keep the temporary cluster in its folder."""
_FAILED = re.compile(r"^.*(?:\baborted\b|\berror: ).*$", re.IGNORECASE | re.MULTILINE)
_OPTIONS: Mapping[str, tuple[str, ...]] = {"select": ("-n", "-S"), "simple-update": ("-N",), "script": ("-f", "-")}

Test = Literal["select", "tpcb", "simple-update", "script", "drift"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """A workload's parameters.

    Attributes:
        scale: the scale of the tables: 100,000 accounts each, about 15.5 MB.
        transactions: the number of transactions of each client; `runtime_seconds` is the alternative.
        script: the text of the script, for the test `script`; a suite names a file on the workstation as `script_file`.
        warm_ups: the number of runs before the one that counts, or before the first run of `drift`.
        updates: the number of TPC-B runs of `drift`.
        from_other_server: pgbench runs on the other server of the move, and connects across the network.
        port: the port of the cluster in this case; None: a random one.
        settings: settings of postgresql.conf: `autovacuum = off; max_wal_size = 4GB`.
        cluster: the data directory of a running cluster, in which pgbench uses a new database.
    """

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    scale: int
    test: Test = "tpcb"
    clients: int = 10
    threads: int = 1
    transactions: int | None = None
    runtime_seconds: int | None = None
    script: str | None = None
    query_mode: Literal["simple", "extended", "prepared"] = "simple"
    warm_ups: int = 0
    updates: int = 3
    from_other_server: bool = False
    port: int | None = None
    shared_buffers_bytes: int = 128 * 2**20
    settings: str = ""
    cluster: str | None = None

    def __post_init__(self) -> None:
        for name, least, most in (
            ("scale", 1, 100_000),
            ("clients", 1, 10_000),
            ("threads", 1, self.clients),
            ("transactions", 1, 2_000_000_000),
            ("runtime_seconds", 1, 1_000_000),
            ("warm_ups", 0, 1000),
            ("updates", 1, 1000),
            ("port", 1024, 65535),
            ("shared_buffers_bytes", 2**20, 2**44),
        ):
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ParameterError(
                    [name], f"the parameter {name} is {value}", f"set {name} to a number from {least} to {most}"
                )
        if (self.transactions is None) == (self.runtime_seconds is None):
            raise ParameterError(
                ["transactions", "runtime_seconds"],
                "exactly one of transactions and runtime_seconds must be set",
                "set transactions or runtime_seconds, and remove the other",
            )
        if (self.test == "script") != (self.script is not None):
            raise ParameterError(
                ["test", "script_file"],
                'test = "script" and script_file must be set together',
                'set test = "script" and script_file = the path of the script, or neither',
            )
        # what belongs to the DBA is not set up for a benchmark
        of_ours = [name for name in ("settings", "from_other_server", "port") if getattr(self, name)]
        if self.cluster is not None and of_ours:
            raise ParameterError(
                [*of_ours, "cluster"],
                f"{' and '.join(of_ours)} cannot be combined with cluster: pghaul does not change an existing cluster",
                f"remove {' and '.join(of_ours)}, or remove cluster to measure a temporary cluster",
            )
        if self.script is not None and (not self.script.strip() or len(self.script) > LARGEST_SCRIPT):
            raise ParameterError(
                ["script"],
                f"the script is empty or has more than {LARGEST_SCRIPT} characters",
                f"use a script of 1 to {LARGEST_SCRIPT} characters",
            )
        if self.script is not None and "\0" in self.script:
            raise ParameterError(
                ["script"], "the script contains a NUL character, so it is not a text file", "use a text file"
            )

    @property
    def seconds(self) -> float:
        """The expected duration of one run."""
        if self.runtime_seconds is not None:
            return self.runtime_seconds + 2.0
        return (self.transactions or 0) * self.clients / ASSUMED_PER_SECOND

    @property
    def deadline(self) -> float:
        """The time limit of one run, including pgbench's vacuum before it."""
        # a number of transactions takes as long as the storage takes for it
        slowest = 0.0 if self.transactions is None else self.transactions * self.clients / LEAST_PER_SECOND
        return deadline(self.seconds + slowest, self.cluster_bytes)

    @property
    def cluster_bytes(self) -> int:
        """The largest size of the cluster, including WAL and the growth by updates."""
        rows = self.scale * ROWS_BYTES
        # updates leave dead rows behind: a quarter more for what vacuum has not come to
        return EMPTY_CLUSTER_BYTES + rows + min(rows, MOST_WAL_BYTES) + rows // 4


def procedure(workload: Workload, machine: Machine) -> Procedure:
    """Return what runs for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong kind or out of bounds; the other server is needed and takes no
            part.
    """
    parameters = strictly(Parameters, workload.parameters)
    drifts = parameters.test == "drift"
    tests = _tests(parameters)
    target = _target(workload.name, parameters, machine, len(tests))
    if parameters.cluster is not None:  # its programs come first, and may be older or newer than those of the move
        machine = replace(machine, series=_running(machine, parameters.cluster).series or None)
    filling = INITDB_SECONDS + 2 * parameters.scale * ROWS_BYTES / ASSUMED_BYTES_PER_SECOND
    make = Phase(target.make, filling, deadline(filling, parameters.cluster_bytes), secrets=target.secrets)
    runs = tuple(
        Phase(
            _fed(parameters.script, target.client(_pgbench(parameters, machine, test))),
            parameters.seconds,
            parameters.deadline,
            # the first run finds cold caches, the others what the one before has warmed
            warm=number > 0,
            background=target.background,
            from_other=parameters.from_other_server,
            secrets=target.secrets,
            # pgbench says its progress since 9.4
            live=_LIVE if machine.series is not None and since(machine.series, (9, 4)) else None,
            served_from=parameters.cluster,
        )
        for number, test in enumerate(tests)
    )
    return Procedure(
        # it stands for PostgreSQL's server package: without it no cluster can be made
        program="initdb",
        headlines=HEADLINES if drifts else ("transactions_per_second",),
        phases=(make, *runs) if drifts else runs,
        # the first output of a drift is the filling's
        read=lambda outputs: _read(outputs[1:] if drifts else outputs, parameters),
        fresh_bytes=parameters.cluster_bytes if drifts else 0,
        prepare=None if drifts else make,
        laid_out={} if drifts else {target.name: parameters.cluster_bytes},
    )


def _tests(parameters: Parameters) -> tuple[str, ...]:
    """Return the runs of one repetition, in their order."""
    if parameters.test != "drift":
        return (parameters.test,) * (parameters.warm_ups + 1)
    # reads of the fresh database, what wears it out, and the same reads again
    return ("select",) * (parameters.warm_ups + 1) + ("tpcb",) * parameters.updates + ("select",)


def _target(name: str, parameters: Parameters, machine: Machine, runs: int) -> Target:
    kind = "drift" if parameters.test == "drift" else "cluster"
    if parameters.cluster is not None:
        return own_database(machine, parameters.cluster, f"{kind}_{parameters.scale}", parameters.scale)
    listening = None
    if parameters.from_other_server:
        if machine.other_programs is None or machine.address is None:
            raise InputError(
                f"{name} runs pgbench on the other server of a move, and this benchmark belongs to no move",
                "name a move instead of volumes, or remove from_other_server",
            )
        port = parameters.port or 20_000 + secrets.randbelow(10_000)  # below where clients' own ports begin
        listening = Listening(machine.address, port, random_password())
    settings = {
        # in blocks: units came with 8.2, and every series takes a plain number
        "shared_buffers": str(parameters.shared_buffers_bytes // 8192),
        "max_connections": str(max(100, parameters.clients + 10)),
        **_settings(parameters.settings),
    }
    # workloads that want the same cluster share it; with settings of its own it is another
    other = f"-{name}" if parameters.settings or listening else ""
    return temporary_cluster(
        machine,
        f"{kind}-{parameters.scale}-{parameters.shared_buffers_bytes}{other}",
        parameters.scale,
        settings,
        serve_seconds=120 + runs * parameters.deadline,
        listening=listening,
    )


def _settings(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split(";"):
        setting = _SETTING.fullmatch(part)
        # they would let it out of its folder
        if setting is not None and setting["name"] in _OURS:
            raise ParameterError(
                ["settings"],
                f"{setting['name']} may not be set by a workload, because pghaul sets it for the temporary cluster",
                f"remove {setting['name']} from settings",
            )
        if setting is not None:
            found[setting["name"]] = setting["value"].strip("'")
        elif part.strip():
            raise ParameterError(
                ["settings"],
                f"{part.strip()!r} is not a setting",
                "write settings as name = value, separated by semicolons",
            )
    return found


_SAID = re.compile(
    r"progress: \d{1,12}\.\d{1,3} s, (?P<tps>\d{1,12}\.\d) tps,"
    r"(?: (?:lat|ms|stddev|skipped|failed|retried|retries|-?nan|\d{1,12}(?:\.\d{1,3})?),?)*"
)
"""What pgbench says every second (pgbench.c, printProgressReport)."""
_LIVE = LiveOutput("pgbench", ("-P", 1), _SAID, lambda line: {RATE: float(line["tps"])}, "progress: ")


def _pgbench(parameters: Parameters, machine: Machine, test: str) -> Words:
    """Return the command of one run. All its options exist from 8.3 to 18."""
    words: list[str | int] = ["pgbench", "-c", parameters.clients, "-M", parameters.query_mode]
    if since(machine.series, (9, 0)):
        words += ["-j", parameters.threads]
    if parameters.runtime_seconds is not None:
        words += ["-T", parameters.runtime_seconds]
    else:
        words += ["-t", parameters.transactions or 0]
    words += _OPTIONS.get(test, ())
    words += ["-s", parameters.scale] if test == "script" else []  # the built-in ones read it from the tables
    return tuple(words)


def _fed(script: str | None, client: Words) -> Words:
    """Return the client with the script on its standard input, so that the script is not stored on a server."""
    if script is None:
        return client
    lines = script.replace("\r\n", "\n").removesuffix("\n").split("\n")
    return ("bench_with_input", len(lines), *lines, *client)


def _read(outputs: Sequence[str], parameters: Parameters) -> Reading:
    """Return the metrics. Warm-ups do not count, but the repetition fails if one of them has failed."""
    parsed = [parse_pgbench(output) for output in outputs]
    results = [output.results[0] for output in parsed]
    version = next((output.version for output in parsed if output.version), None)
    # in spite of an error pgbench prints a report, of what was done until then
    for output, result in zip(outputs, results, strict=True):
        failure = _failure(output, result)
        if failure:
            return Reading({}, version, failure)
    counted = [result.metrics for result in results[parameters.warm_ups :]]
    metrics: Metrics = {"scale": float(parameters.scale)}
    metrics |= drift(counted[0], counted[1:-1], counted[-1]) if parameters.test == "drift" else counted[-1]
    return Reading(metrics, version)


def _failure(output: str, result: Result) -> str:
    if not result.aborted and "transactions_per_second" in result.metrics:
        return ""
    said = _FAILED.search(output)
    return f"pgbench was aborted: {said[0].strip()}" if said else "pgbench was aborted"


PGBENCH = Tool(
    name="pgbench",
    program="initdb",
    package=None,
    procedure=procedure,
    parse=parse_pgbench,
    repeats=True,
    files={"script_file": "script"},
    parameters="`scale`, `transactions` of each client or `runtime_seconds`; `test` tpcb, or `select`, "
    "`simple-update`, `script`, `drift`; `clients` 10, `threads` 1, `query_mode` simple, `warm_ups` 0, `updates` 3 (of "
    "`drift`: TPC-B runs), `shared_buffers_bytes` 134217728, `settings` such as "
    '`"autovacuum = off; max_wal_size = 4GB"`, `script` (its text, or `script_file`), `from_other_server` false, '
    "`port`, `cluster`",
    headlines="`transactions_per_second`; of `drift` `initial_`, `tpcb_` and `final_` ahead of it",
)
