"""The probes of a dump & restore: COPY on the old server, and a load and an index build on the new server.

A sample of the pages of the largest tables of the largest database goes through COPY on the old server, as pg_dump
reads them. The rows are stored in the folder of the probes there, and sent to the scratch folder on the new server.
There they are loaded into a temporary cluster, which the programs of the new server create, and an index like the one
on the old server is built. No connection to that cluster is possible, and it is removed at once. No text from the old
server becomes SQL on the new server: the names of types come from a list, and all other types are treated as text.
"""

import re
from collections.abc import Mapping
from functools import partial

from core import units
from core.errors import ParseError
from core.facts.model import Cluster, Database
from core.facts.programs import major_version_of, major_versions, program_path, programs_of
from core.jobs import Note
from core.migration.findings.cluster import find_cluster
from core.migration.model.probe import Quantity
from core.migration.model.table_sample import (
    LoadableRows,
    SampledTable,
    parse_built_indexes,
    parse_copied_tables,
    parse_loadable_rows,
    parse_loaded_tables,
    parse_locked_tables,
)
from core.migration.probing import sampling
from core.migration.probing.proportion import Budget
from core.migration.probing.taking import Measured, ProbeContext, ProbeRecorder
from core.migration.probing.timing import Timing
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.connection import Completed
from core.servers.shell import Shell, call
from core.text import complaint

LEAST_BYTES = 2 * 1024**2
_SEND_SECONDS = 4.0
"""The longest time for sending the rows over the network. They are not a sample of the copy."""

_WRITTEN_TIMES = 3.0
"""The new server's disk takes the rows as text, as a table, in the WAL and as an index: so many times their size."""

_LEAST_SECONDS = 1
"""The shortest time for COPY that tells a rate."""

_TYPES = frozenset(
    {
        *(
            "bool",
            "bytea",
            "char",
            "cidr",
            "date",
            "inet",
            "interval",
            "json",
            "jsonb",
            "macaddr",
            "name",
            "oid",
            "uuid",
        ),
        *("int2", "int4", "int8", "float4", "float8", "numeric", "bpchar", "text", "varchar", "varbit", "tsvector"),
        *("time", "timetz", "timestamp", "timestamptz", "_int4", "_int8", "_float8", "_numeric", "_text", "_varchar"),
    }
)
"""Types that have the same names and meanings in all major versions since 9.4."""

_TEXTS = frozenset({"bpchar", "text", "varchar"})
_LOCALE = re.compile(r"[A-Za-z0-9_.@-]{1,60}")
_MEMORY = re.compile(r"\d{1,12}")
_BUILT_IN_KB = 64 * 1024
_LEAST_KB = 1024
"""maintenance_work_mem in kB: the default since 9.4, 64 MB, and the smallest value that a server accepts, 1 MB."""


def probe(site: ProbeContext, channel: CopyChannel, scratch: str, recorder: ProbeRecorder, budget: Budget) -> None:
    """Measure COPY of sampled tables on the old server, then a load and index builds on the new server.

    Each result is recorded. What cannot be measured is reported and left out. Nothing is measured if the cluster is not
    running or its databases are not known, or if no time is left. The old server gets half of the time that is left.

    Args:
        site: both servers and the move.
        channel: the channel by which the rows are sent.
        scratch: the scratch folder on the new server.
        recorder: takes and records each probe.
        budget: the limits in bytes and seconds, and the time that is left.
    """
    cluster = find_cluster(site.old_facts, site.move.cluster)
    largest = max(
        (each for each in cluster.databases if not each.template), key=lambda each: each.size_bytes, default=None
    )
    if not cluster.running or largest is None:
        why = "no database of it is known" if cluster.running else "it does not run"
        site.job.report(Note(f"dump, load and index build of {cluster.data_directory} are not measured: {why}"))
        return
    seconds = round(min(budget.bounds.dump_seconds, budget.left / 2))
    if seconds < _LEAST_SECONDS:
        text = f"dump, load and index build of {largest.name} are not measured: the time for the probes is over"
        site.job.report(Note(text))
        return
    send_seconds = min(_SEND_SECONDS, budget.left / 4)
    most = _bytes(recorder, budget.bounds.dump_bytes * seconds / budget.bounds.dump_seconds, send_seconds)
    site.job.report(
        Note(
            f"Up to {units.size(most)} of the largest tables of {largest.name} are read by COPY on "
            f"{site.old.name} for about {units.duration(seconds)}. The rows are loaded and "
            f"indexed in a temporary cluster on {site.new.name}, then removed."
        )
    )
    taken = recorder.take(Quantity.DUMP, partial(_copy, site, channel, cluster, largest, most, seconds))
    tables = parse_loadable_rows(taken.raw) if taken is not None else {}
    if not tables:
        return
    if not budget.left:
        text = f"load and index build of {largest.name} are not measured: the time for the probes is over"
        site.job.report(Note(text))
        return
    ended: list[Completed] = []
    recorder.take(
        Quantity.LOAD, lambda: _load(site, channel, scratch, statements(cluster, largest, tables, most), ended)
    )
    if ended:
        recorder.take(Quantity.INDEX, lambda: _index(ended[0]))


def statements(cluster: Cluster, database: Database, tables: Mapping[int, LoadableRows], size: int) -> tuple[str, ...]:
    """Return maintenance_work_mem, then the statements that load the rows and build the indexes on the new server.

    Each statement is one line, because single-user mode reads them so.

    Args:
        cluster: the old cluster, for its maintenance_work_mem and the size of its largest table.
        database: the database of the rows, for its collation.
        tables: the columns and the index of each table by its number.
        size: the size of the sample in bytes.
    """
    collation = _collation(database)
    made = [f"create collation pghaul ({collation})"] if collation else []
    for number, table in sorted(tables.items()):
        columns = ", ".join(f'c{place} pg_catalog."{_type(kind)}"' for place, kind in table.columns)
        made += [
            f"create table t{number} ({columns})",
            _mark("start", number),
            f"copy t{number} from '../../{number}'",  # relative to the data directory
            _mark("loaded", number, f"pg_total_relation_size('t{number}')"),
            f"select '{_MARK} whole {number} ' || count(*)::text from (select 1 from t{number} limit 1) one",
        ]
        if table.key:
            kinds = dict(table.columns)
            words = [_key(place, kinds[place], collated=bool(collation)) for place in table.key]
            made += [
                _mark("indexing", number),
                f"create index i{number} on t{number} ({', '.join(words)})",
                _mark("indexed", number, f"pg_relation_size('i{number}')"),
            ]
    return f"{_memory(cluster, size)}kB", *made


def _bytes(recorder: ProbeRecorder, most: float, seconds: float) -> int:
    """Return the bytes of tables to read: at most what the network transfers, or the new disk takes, in so many
    seconds."""
    network = recorder.rates.get(Quantity.WIRE, float("inf"))
    disk = recorder.rates.get(Quantity.WRITE, float("inf")) / _WRITTEN_TIMES
    return round(max(LEAST_BYTES, min(most, min(network, disk) * seconds)))


def _copy(
    site: ProbeContext, channel: CopyChannel, cluster: Cluster, database: Database, most: int, seconds: int
) -> Measured:
    owner = site.reader
    where = (
        programs_of(site.old_facts, cluster, owner),
        cluster.socket_directory or "-",
        cluster.port or 5432,
        cluster.series,
    )
    shell = call("copy_probe", channel.folder, most, seconds, database.name, *where)
    completed = site.on_old("probe: dump", shell)
    tables = parse_copied_tables(completed.stdout)
    locked = parse_locked_tables(completed.stdout)
    if locked:
        site.job.report(
            Note(f"not sampled, because others hold it locked in ACCESS EXCLUSIVE mode: {', '.join(locked)}")
        )
    how = f"COPY of a sample of {units.counted(len(tables), 'table')}, cached"
    why = complaint(completed.stderr)
    return _timing(tables, f"no table could be sampled: {why}" if why else "no table could be sampled"), how, completed


def _load(
    site: ProbeContext, channel: CopyChannel, scratch: str, load: tuple[str, ...], ended: list[Completed]
) -> Measured:
    """Send and load the rows, and return the measurement of the load.

    Args:
        site: both servers and the move.
        channel: the channel by which the rows are sent.
        scratch: the scratch folder on the new server.
        load: the result of `statements`.
        ended: receives the output of the new server, which also contains the index builds.
    """
    memory, *lines = load
    site.on_new("probe: make room", sampling.make_room(scratch), "# whole\n")
    site.on_old("probe: send rows", _sending(channel, scratch))
    path = program_path(site.new_facts, _series(site), site.writer)
    completed = site.on_new("probe: load", call("load_probe", scratch, path, memory, *lines))
    ended.append(completed)
    tables = parse_loaded_tables(completed.stdout)
    how = f"COPY into a temporary cluster on the new server, {units.counted(len(tables), 'table')}"
    return _timing(tables, "the temporary cluster took no table completely"), how, completed


def _index(completed: Completed) -> Measured:
    indexes = parse_built_indexes(completed.stdout)
    how = f"CREATE INDEX in a temporary cluster on the new server, over {units.counted(len(indexes), 'table')}"
    return _timing(indexes, "the sampled tables have no B-tree index on columns"), how, completed


def _timing(tables: Mapping[int, SampledTable], otherwise: str) -> Timing:
    if not tables:
        raise ParseError(otherwise, "see its command in the log and run it by hand")
    return Timing(sum(each.bytes for each in tables.values()), sum(each.seconds for each in tables.values()))


def _sending(channel: CopyChannel, scratch: str) -> Shell:
    return passes.prepare_call(channel, call("send_rows", scratch, round(3 * _SEND_SECONDS)))


def _series(site: ProbeContext) -> str:
    """Return the major version of the cluster if the new server has its programs, else the latest one that it has."""
    wanted = find_cluster(site.old_facts, site.move.cluster).series
    tool = site.new_facts.tool("postgres")
    version = tool.version if tool is not None and tool.path is not None else None
    if version is None or wanted in major_versions(site.new_facts):
        return wanted
    return major_version_of(version) or wanted


_MARK = "pghaul"


def _mark(name: str, number: int, *more: str) -> str:
    values = "".join(f" || ' ' || {each}::text" for each in more)
    return f"select '{_MARK} {name} {number} ' || extract(epoch from clock_timestamp())::text{values}"


def _type(kind: str) -> str:
    return kind if kind in _TYPES else "text"


def _key(place: int, kind: str, *, collated: bool) -> str:
    return f"c{place} collate pghaul" if collated and _type(kind) in _TEXTS else f"c{place}"


def _collation(database: Database) -> str:
    """Return the options of CREATE COLLATION for the order of the database; empty if it sorts by bytes."""
    icu = database.provider == "icu"
    name = (database.locale if icu else database.collate) or "C"
    if name in {"C", "POSIX"} or database.provider == "builtin" or not _LOCALE.fullmatch(name):
        return ""
    return f"{'provider = icu, ' if icu else ''}locale = '{name}'"


def _memory(cluster: Cluster, size: int) -> int:
    """Return the memory for the index build of the sample, in kB.

    It is to the sample what maintenance_work_mem is to the largest table. So the sample is sorted on disk if an index
    over the whole table would be.
    """
    known = [
        each.value or "" for each in (cluster.wide.settings if cluster.wide is not None else ()) if each.name == _NAME
    ]
    whole = int(known[0]) if known and _MEMORY.fullmatch(known[0]) else _BUILT_IN_KB
    largest = max((each.largest_table_bytes or 0 for each in cluster.databases), default=0)
    return max(_LEAST_KB, min(whole, round(whole * size / largest))) if largest else whole


_NAME = "maintenance_work_mem"
