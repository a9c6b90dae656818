"""pgbench: what a workload runs.

It uses a temporary cluster of the move's major version on the measured volume. If the workload names a running cluster,
it uses a new database in that cluster (core/benchmarks/pgbench/targets.py). For `select`, `tpcb`, `simple-update` and a
script of the DBA, each repetition starts the cluster with cold caches. `warm_ups` runs do not count; the run after them
does. All repetitions with the same scale share one cluster. `drift` creates a new cluster for each repetition: see
core/benchmarks/pgbench/drift.py.

The settings of the temporary cluster are those of the workload, not those of production, because two volumes can be
compared only with the same settings.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from core.benchmarks.model import Metrics, Result, Workload
from core.benchmarks.pgbench.drift import HEADLINES, drift
from core.benchmarks.pgbench.output import parse_pgbench
from core.benchmarks.pgbench.targets import Listening, Target, own_database, random_password, since, temporary_cluster
from core.benchmarks.tool import (
    ASSUMED_BYTES_PER_SECOND,
    STRICT,
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
from core.errors import InputError

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

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

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
                raise ParameterError([name], f"{name} is {value}", f"set {name} to a number from {least} to {most}")
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
                f"{name} runs pgbench on the other server of the move, which is not available here",
                "read the facts of the other server with pghaul facts, or remove from_other_server",
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
