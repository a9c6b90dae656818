"""The forecast of a suite on a volume: its duration, its space, and what prevents it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core import units
from core.benchmarks.folders import Location, inspect, user_for
from core.benchmarks.model import Forecast, Suite, Volume, Workload
from core.benchmarks.tool import Machine, Procedure, bytes_needed, expected_seconds
from core.benchmarks.tools import how_to_install, procedure_of, programs_of
from core.benchmarks.volume_device import Situation, situation
from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.facts.programs import can_run, program_path
from core.jobs import Job
from core.servers.connection import Server

MARGIN_FRACTION = 0.05
MARGIN_BYTES = 5 * 2**30
"""The space of a volume that stays free, so that a cluster on it has enough space; the smaller value counts."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A suite on one volume: the forecast, and the workloads that can run there."""

    forecast: Forecast
    procedures: tuple[tuple[Workload, Procedure], ...]
    situation: Situation


@dataclass(frozen=True, slots=True)
class MoveContext:
    """The parts of a move that a suite on one volume may need.

    Attributes:
        series: the major version of the move's cluster.
        other: the other server, from which a workload may be run; None: no other server takes part.
        other_facts: its facts.
    """

    series: str | None = None
    other: Server | None = None
    other_facts: Facts | None = None


ALONE = MoveContext()


def forecast(
    server: Server, volume: Volume, suite: Suite, facts: Facts, job: Job, context: MoveContext = ALONE
) -> Forecast:
    """Return how long the suite takes and how much it writes, what prevents it, and what is left out.

    The durations of steps without a fixed run time (creating files, dd, flushes) assume ASSUMED_BYTES_PER_SECOND.

    Args:
        server: the server of the volume.
        volume: the volume.
        suite: the suite.
        facts: the facts of the server.
        job: receives progress, and can be cancelled.
        context: the move's part in the benchmark; ALONE: no move takes part.

    Raises:
        InputError: the volume or folder does not exist.
    """
    return prepare(server, volume, suite, facts, job, context).forecast


def prepare(
    server: Server, volume: Volume, suite: Suite, facts: Facts, job: Job, context: MoveContext = ALONE
) -> Prepared:
    """Return the forecast with the workloads that can run. A workload whose tool is missing is left out.

    Raises:
        InputError: the volume or folder does not exist.
    """
    user = user_for(server, job)
    database_user = server.profile.database_user
    machine = _with_postgresql(replace(machine_of(facts, database_user), user=user), server, facts, context)
    location = inspect(server, volume, user, facts, job, programs_of(machine), machine.programs)
    # If fio is missing, the message must say that, and not that it has no engine.
    engine = location.fio_engine if "fio" in location.programs else "libaio"
    machine = replace(machine, fio_engine=engine)
    procedures, left_out = _possible(server.name, location, suite, machine, facts)
    made = [procedure for _, procedure in procedures]
    needed = bytes_needed(made)
    problems = _problems(server.name, volume, location, facts, needed)
    if not procedures:
        problems += [f"no workload of the suite {suite.name} can run on {server.name}", *left_out]
    # This takes a second, so it is not done if the suite cannot start anyway.
    seen = Situation() if problems else situation(server, volume.folder, user, facts, job)
    found = Forecast(
        volume=volume,
        seconds=expected_seconds(made, suite.repetitions),
        bytes_needed=needed,
        bytes_available=location.available_bytes,
        problems=tuple(problems),
        left_out=tuple(left_out),
        warnings=tuple(_warnings(server.name, volume, made, facts, seen)),
        resync=seen.resync(server.name),
        seconds_at_most=expected_seconds(made, suite.limit) if suite.limit > suite.repetitions else None,
    )
    return Prepared(found, tuple(procedures), seen)


def machine_of(facts: Facts, database_user: str) -> Machine:
    """Return the properties of the server on which the commands of a workload depend."""
    return Machine(
        memory_bytes=facts.memory.usable_bytes if facts.memory else None,
        threads=facts.processor.threads if facts.processor else None,
        bin_directories=_bin_directories(facts, database_user),
        # Old versions of sysbench have other options.
        versions={tool.name: tool.version for tool in facts.tools if tool.version is not None},
        clusters=facts.clusters,
    )


def _with_postgresql(machine: Machine, server: Server, facts: Facts, context: MoveContext) -> Machine:
    """Return the machine with the programs for a workload that runs its own PostgreSQL."""
    series = major_version(facts, context)
    return replace(
        machine,
        series=series or None,
        programs=program_path(facts, series, server.profile.database_user),
        database_user=server.profile.database_user,
        # The other server may reach this one at another address than the workstation does.
        address=server.profile.copy_address or server.address,
        other_programs=_path_there(context),
    )


def major_version(facts: Facts, context: MoveContext = ALONE) -> str:
    """Return the major version of the move, or without a move one that the server has; empty if none is known."""
    if context.series is not None:
        return context.series
    tool = facts.tool("postgres")
    # 9.6 is a series, and so is 10
    version = tool.version.split(".") if tool is not None and tool.version is not None else [""]
    return ".".join(version[:1] if version[0].isdigit() and int(version[0]) >= 10 else version[:2])


def _path_there(context: MoveContext) -> str | None:
    """Return the PATH of PostgreSQL's programs on the other server, for the login user, who runs the client there."""
    there = context.other_facts
    if there is None or context.other is None:
        return None
    return program_path(there, major_version(there, context), context.other.login)


def _bin_directories(facts: Facts, database_user: str) -> tuple[str, ...]:
    """Return the folders of PostgreSQL programs, those of the clusters first."""
    of_clusters = [cluster.bin_directory for cluster in facts.clusters if can_run(cluster, database_user)]
    besides = facts.tool("pg_test_fsync")
    found = [*of_clusters, str(PurePosixPath(besides.path).parent) if besides and besides.path else None]
    return tuple(dict.fromkeys(folder for folder in found if folder))


def _warnings(server: str, volume: Volume, procedures: Sequence[Procedure], facts: Facts, seen: Situation) -> list[str]:
    """Return sentences about what does not prevent the start, but affects the results."""
    resync = seen.resync(server)
    found = [*([resync] if resync else []), *seen.warnings(server, volume.folder)]
    system = facts.file_system_of(volume.folder)
    if system is None:
        return found
    found += [
        (
            f"the cluster {cluster.data_directory} runs on the same volume of {server}, so the cluster and the "
            "benchmark slow each other down"
        )
        for cluster in facts.clusters
        if cluster.running and any(facts.file_system_of(path) == system for path in _directories(cluster))
    ]
    # zfs compresses by default since 2.2. Its mount options do not show it.
    compresses = system.kind == "zfs" or any("compress" in option for option in system.options)
    if compresses:
        zeros = dict.fromkeys(procedure.program for procedure in procedures if procedure.writes_zeros)
        where = f"{volume.folder} on {server}"
        found += [
            f"{where} is compressed, and {program} writes only zeros, so its rates are higher than with real data"
            for program in zeros
        ]
    return found


def _problems(server: str, volume: Volume, location: Location, facts: Facts, needed: int) -> list[str]:
    # By the facts and by the files there, because the facts may not contain a cluster that is not running.
    directories = {path for cluster in facts.clusters for path in _directories(cluster)}
    within = [path for path in directories if location.path == path or location.path.startswith(path.rstrip("/") + "/")]
    problems = [
        f"{volume.folder} on {server} lies inside the data directory {path}: choose another folder"
        for path in sorted({*within, *location.clusters})
    ]
    if not location.writable:
        problems.append(
            f"the user of the benchmarks cannot write to {volume.folder} on {server}: choose another folder"
        )
    # Five gigabytes would be most of a small disk.
    margin = min(MARGIN_BYTES, int(location.size_bytes * MARGIN_FRACTION))
    if needed + margin > location.available_bytes:
        problems.append(
            f"{volume.folder} on {server} has {units.size(location.available_bytes)} free. The suite needs "
            f"{units.size(needed)}, and {units.size(margin)} must stay free: choose a smaller suite or set a"
            " size"
        )
    return problems


def _directories(cluster: Cluster) -> list[str]:
    places = [tablespace.location for tablespace in cluster.tablespaces]
    return [cluster.data_directory, *places, *(link.target for link in cluster.links)]


def _possible(
    server: str, location: Location, suite: Suite, machine: Machine, facts: Facts
) -> tuple[list[tuple[Workload, Procedure]], list[str]]:
    """Return the workloads that can run, and a sentence for each reason why one cannot."""
    distribution = facts.system.distribution if facts.system else None
    procedures: list[tuple[Workload, Procedure]] = []
    reasons: dict[str, list[str]] = {}
    for workload in suite.workloads:
        try:
            procedure = procedure_of(workload, machine)
        except InputError as error:
            # The sentence already names the workload.
            reasons.setdefault(f"{error.message}{error.hint and ': '}{error.hint}", [])
            continue
        if procedure.program in location.programs:
            procedures.append((workload, procedure))
        else:
            program = procedure.program
            missing = f"{program} is not installed on {server}: {how_to_install(program, distribution)}"
            reasons.setdefault(missing, []).append(workload.name)
    return procedures, [f"{why} (workloads: {', '.join(names)})" if names else why for why, names in reasons.items()]
