"""The spec of a move from what was measured of it: facts, probes, and benchmarks where there is no probe.

Probes of dump & restore tell the rates of one process by a sample of the largest tables (`of_a_dump`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log, sqrt

from core.benchmarks.model import Outcome, Run
from core.errors import InputError
from core.facts.catalog import Bloated
from core.facts.model import Cluster, Facts, FileSystem
from core.facts.programs import major_versions
from core.migration.estimate.evidence import Evidence, Measured, surest
from core.migration.estimate.lanes import Lanes, lanes_of, of_all, times
from core.migration.estimate.spec import ClusterSpec, CopySpec, DumpSpec, History, LinkSpec, NewSpec, OldSpec, Spec
from core.migration.findings.collations import reindex_bytes
from core.migration.findings.data_roots import DataRoot, data_roots
from core.migration.findings.finding import CheckContext
from core.migration.model.move import Move
from core.migration.model.probe import OF_A_DUMP, Probe, Quantity
from core.migration.model.table_sample import (
    SampledTable,
    copied_rows,
    parse_built_indexes,
    parse_copied_tables,
    parse_loaded_tables,
    parse_seconds_per_index,
    parse_seconds_per_table,
    parse_size_of_others,
    rate_of_all,
)
from core.migration.model.transport import Route
from core.migration.transports.choice import WIRE_EFFICIENCY, Choice, choose_transport, tried_routes
from core.servers.shell import quoted
from core.sides import Side

_NOTHING = History()
_LOST = 0.25
"""A sample is timed less what a pass takes by itself: what is no more than this part of it is lost in how that varies
(passes over nothing between the same two hosts: 0.36 to 0.40 s)."""

_SHORT_SECONDS = 0.5
_SHORT = log(1.3)
"""A shorter sample, or one that was ended before all of it was sent, is off by so much in one case of ten: what varies
in a login is a good part of it, and its small files came last."""


def spec_of(
    move: Move,
    old: Facts,
    probes: Sequence[Probe],
    runs: Sequence[Run] = (),
    new: Facts | None = None,
    copied: Measured | None = None,
    changed: Measured | None = None,
    history: History = _NOTHING,
    command_seconds: float | None = None,
) -> Spec:
    """What is known of a move, as a spec. The latest probe of each link counts, the transport that a plan
    would take, and a benchmark where a disk was not probed, or long ago. The facts of `new` tell what must be indexed
    anew. `copied`: bytes a second of an earlier copy or rehearsal, which no sample can tell better unless the copy is
    old or went another way; `changed`: bytes an hour that changed meanwhile; `history`: what else earlier executions
    tell, and when it is now; `command_seconds`: of a short command on these servers.

    Raises:
        InputError: the facts of the old server do not know the cluster or its size.
    """
    cluster = _cluster_of(move, old)
    known = _Known(
        cluster=cluster,
        old=old,
        probes=probes,
        runs=runs,
        choice=choose_transport(probes, tried_routes(probes)),
        case=CheckContext(move, old, new) if new is not None else None,
        lanes=lanes_of(move, cluster, old, new),
        roots=data_roots(move, cluster),
        history=history,
    )
    measured = _measured(known, copied, changed)
    figures = {path: each.value for path, each in measured.items()}
    return Spec(
        cluster=_contents(known, figures),
        old=_old(known, figures),
        new=_new(known, figures),
        link=_link(known, figures, command_seconds),
        copy=_copy(known.choice, figures, move.precopy_limit),
        dump=_dump(figures),
        history=_told(known, measured, copied),
    )


def _cluster_of(move: Move, old: Facts) -> Cluster:
    cluster = old.cluster(move.cluster)
    if cluster is None or not cluster.size_bytes:
        raise InputError(
            f"the size of the cluster in {move.cluster} on {old.server} is not known",
            f"read the facts again: pghaul facts {quoted(old.server)}; see its gaps for what could not be read",
        )
    return cluster


@dataclass(frozen=True, slots=True)
class _Known:
    """What was read and measured of a move, and the transport that a plan would take."""

    cluster: Cluster
    old: Facts
    probes: Sequence[Probe]
    runs: Sequence[Run]
    choice: Choice
    case: CheckContext | None
    lanes: Lanes
    roots: Sequence[DataRoot]
    history: History

    @property
    def idle(self) -> int:
        """Bytes of WAL that no pass brings."""
        return sum(root.idle_bytes for root in self.roots)

    @property
    def moved(self) -> float:
        """Bytes that a copy brings."""
        return float((self.cluster.size_bytes or 0) - self.idle)


def _measured(known: _Known, copied: Measured | None, changed: Measured | None) -> dict[str, Measured]:
    """The surest figure of each field that anything tells, by the field's path."""
    chosen = {path: surest(each, known.history.now) for path, each in _candidates(known, copied, changed).items()}
    return {path: each for path, each in chosen.items() if each is not None}


def _candidates(
    known: _Known, copied: Measured | None, changed: Measured | None
) -> dict[str, tuple[Measured | None, ...]]:
    """Of each field what tells it, first what tells more by its kind."""
    choice, lasting = known.choice, _lasting(known.probes, known.lanes.on_new or known.moved)
    return {
        "old.read_bytes_per_second": (_probed(choice, Quantity.READ), _of_old(known)),
        "new.write_bytes_per_second": (lasting, _probed(choice, Quantity.WRITE), _of_new(known)),
        "new.read_bytes_per_second": (_read_back(choice),),
        "link.bits_per_second": (_probed(choice, Quantity.WIRE, times=8),),
        "copy.ssh_bytes_per_second": (_probed(choice, Quantity.SSH),),
        "copy.sum_bytes_per_second": (_probed(choice, Quantity.SUMS),),
        "copy.observed_bytes_per_second": (_of_this_way(copied, choice), _sampled(known, lasting)),
        "cluster.change_bytes_per_hour": (changed, _watched(known.history)),
        **{f"dump.{name}": (each,) for name, each in of_a_dump(known.probes).items()},
    }


def _contents(known: _Known, figures: Mapping[str, float]) -> ClusterSpec:
    reindex = reindex_bytes(known.case) if known.case is not None else None
    return replace(
        cluster_spec(known.cluster, reindex, known.idle),
        change_bytes_per_hour=figures.get("cluster.change_bytes_per_hour"),
        data_roots=len(known.roots),
        largest_folder_bytes=known.lanes.folder,
        old_disk_bytes=known.lanes.on_old,
        new_disk_bytes=known.lanes.on_new,
    )


def _link(known: _Known, figures: Mapping[str, float], command_seconds: float | None) -> LinkSpec:
    return LinkSpec(
        figures.get("link.bits_per_second"),
        command_seconds=command_seconds,
        streams=known.choice.transport.streams,
    )


def _told(known: _Known, measured: Mapping[str, Measured], copied: Measured | None) -> History:
    """What earlier executions tell, with where each figure comes from."""
    observed = measured.get("copy.observed_bytes_per_second")
    sources = {path: each.evidence for path, each in measured.items()}
    history = known.history if _lies_there(known) else replace(known.history, copied_at=None)
    return replace(
        history,
        sources={**sources, **known.history.sources},
        bloated=tuple(each.table for each in bloated(known.cluster)),
        whole_copy=copied is not None and observed is not None and observed.value == copied.value,
        stopped=not known.cluster.running,
    )


def _lies_there(known: _Known) -> bool:
    """Whether the copy that the history knows of lies on the new server, as far as the facts tell: those that were read
    before the copy ended do not."""
    case, ended = known.case, known.history.copy_ended_at
    if case is None or ended is None:
        return False
    target, control = case.new.cluster(case.move.target), known.cluster.control
    if case.new.taken_at < ended:
        return True
    if target is None or target.fenced:
        return target is not None  # behind the fence of this move nobody can tell whose it is
    if target.control is None or control is None:
        return False
    return target.control.system_identifier == control.system_identifier


def _old(known: _Known, figures: Mapping[str, float]) -> OldSpec:
    disk = known.old.file_system_of(known.cluster.data_directory)
    return OldSpec(
        read_bytes_per_second=figures.get("old.read_bytes_per_second"),
        cores=_threads(known.old),
        version=_series(known.cluster.series),
        capacity_bytes=disk.size_bytes if disk is not None else None,
        used_bytes=disk.size_bytes - disk.available_bytes if disk is not None else None,
        memory_bytes=float(known.old.memory.usable_bytes) if known.old.memory is not None else None,
    )


def _new(known: _Known, figures: Mapping[str, float]) -> NewSpec:
    case = known.case
    rates = NewSpec(
        write_bytes_per_second=figures.get("new.write_bytes_per_second"),
        read_bytes_per_second=figures.get("new.read_bytes_per_second"),
    )
    if case is None:
        return rates
    memory = case.new.memory
    return replace(
        rates,
        cores=_threads(case.new),
        version=_version_of_new(case, _series(known.cluster.series)),
        memory_bytes=float(memory.usable_bytes) if memory is not None else None,
    )


def _copy(choice: Choice, figures: Mapping[str, float], precopy_limit: float | None) -> CopySpec:
    sample = choice.sample
    ssh = figures.get("copy.ssh_bytes_per_second")
    return CopySpec(
        observed_bytes_per_second=figures.get("copy.observed_bytes_per_second"),
        compression_ratio=max(1.0, sample.ratio) if sample is not None and sample.ratio is not None else None,
        ssh_bytes_per_second=ssh if choice.transport.route is Route.SSH else inf,
        pass_seconds=sample.connect_seconds if sample is not None else None,
        sum_bytes_per_second=figures.get("copy.sum_bytes_per_second"),
        precopy_limit_bytes_per_second=precopy_limit,
    )


def _dump(figures: Mapping[str, float]) -> DumpSpec:
    return DumpSpec(
        copy_bytes_per_second=figures.get("dump.copy_bytes_per_second"),
        load_bytes_per_second=figures.get("dump.load_bytes_per_second"),
        index_bytes_per_second=figures.get("dump.index_bytes_per_second"),
        text_ratio=figures.get("dump.text_ratio"),
        table_seconds=figures.get("dump.table_seconds"),
        index_seconds=figures.get("dump.index_seconds"),
    )


def _probed(choice: Choice, quantity: Quantity, times: float = 1.0) -> Measured | None:
    probe = choice.links.get(quantity)
    return Measured(times * probe.bytes_per_second, _evidence(probe)) if probe is not None else None


def _read_back(choice: Choice) -> Measured | None:
    """What the new server's disk gave back of what was written to it."""
    probe = choice.links.get(Quantity.WRITE)
    rate = probe.read_back_bytes_per_second if probe is not None else None
    return Measured(rate, _evidence(probe)) if probe is not None and rate is not None else None


def _evidence(probe: Probe) -> Evidence:
    return Evidence(f"probe of {probe.taken_at:%Y-%m-%d %H:%M}: {probe.method}", probe.taken_at)


def _of_this_way(copied: Measured | None, choice: Choice) -> Measured | None:
    """An earlier copy, which may have gone by another transport than what has been sampled since."""
    if copied is None or choice.sample is None:
        return copied
    other = copied.evidence.transport != choice.transport.name
    return replace(copied, evidence=replace(copied.evidence, other_transport=other))


def _lasting(probes: Sequence[Probe], size: float) -> Measured | None:
    """What the new server's disk takes over so many bytes: those of the longer write as they went, the rest as its end
    did."""
    longer = [each for each in probes if each.quantity is Quantity.SUSTAINED]
    if not longer:
        return None
    seen = max(longer, key=lambda each: each.taken_at)
    rest = max(0.0, size - seen.bytes) / seen.bytes_per_second
    return Measured(size / (seen.seconds * min(1.0, size / seen.bytes) + rest), _evidence(seen))


def _sampled(known: _Known, lasting: Measured | None) -> Measured | None:
    """The sample, which is of the largest folder alone, as all folders are copied, and as long as they take."""
    choice, lanes, size = known.choice, known.lanes, known.moved
    sample = choice.sample
    if sample is None or sample.seconds < _LOST * (sample.connect_seconds or 0.0):
        return None
    ratio, transport = max(1.0, sample.ratio or 1.0), choice.transport
    carried = {
        Quantity.READ: (1.0, times(size, lanes.on_old)),
        Quantity.WIRE: (WIRE_EFFICIENCY * ratio, 1.0),
        Quantity.SSH: (transport.streams * ratio, times(size, lanes.folder)),
        Quantity.WRITE: (1.0, times(size, lanes.on_new)),
    }
    links = [
        (choice.links[quantity].bytes_per_second * share, factor)
        for quantity, (share, factor) in carried.items()
        if quantity in choice.links and (quantity is not Quantity.SSH or transport.route is Route.SSH)
    ]
    crossed = transport.route is Route.LOCAL or Quantity.WIRE in choice.links
    rate = of_all(sample.bytes_per_second, links) if crossed else sample.bytes_per_second
    short = sample.cut_off or sample.seconds < _SHORT_SECONDS
    evidence = replace(_evidence(sample), transport=transport.name, apart=_SHORT if short else 0.0)
    most = lasting.value * times(size, lanes.on_new) if lasting is not None else inf
    if rate <= most:
        return Measured(rate, evidence)
    return Measured(most, replace(evidence, words=f"{evidence.words}; the new disk sustains no more"))


def _threads(facts: Facts) -> int | None:
    return facts.processor.threads if facts.processor is not None else None


def _series(text: str) -> float | None:
    """`9.6` and `15` as numbers; None for what is none."""
    try:
        return float(text)
    except ValueError:
        return None


def _version_of_new(case: CheckContext, wanted: float | None) -> float | None:
    """The cluster's own where the new server has binaries of it, else the newest that it has."""
    installed = {each for each in map(_series, major_versions(case.new)) if each}
    return wanted if case.siblings or wanted in installed else max(installed, default=None)


def _watched(history: History) -> Measured | None:
    """What a watch saw change in an hour."""
    seen = history.watched
    if seen is None or seen.bytes_per_hour is None:
        return None
    return Measured(seen.bytes_per_hour, Evidence(f"watch of {seen.taken_at:%Y-%m-%d %H:%M}", seen.taken_at))


def _of_old(known: _Known) -> Measured | None:
    volume = known.old.file_system_of(known.cluster.data_directory)
    return _benchmark(known.runs, Side.OLD, "read_bytes_per_second", volume)


def _of_new(known: _Known) -> Measured | None:
    volume = known.case.new.file_system_of(known.case.move.target) if known.case is not None else None
    return _benchmark(known.runs, Side.NEW, "write_bytes_per_second", volume)


def _benchmark(runs: Sequence[Run], side: Side, metric: str, volume: FileSystem | None) -> Measured | None:
    """The median of the best finished workload: a copy reads and writes large files one after the other. On the
    cluster's volume, else on another one."""
    found = []
    for run in runs:
        if run.volume.side is not side or run.outcome is not Outcome.DONE:
            continue
        done = [each for each in run.repetitions if each.outcome is Outcome.DONE and not each.cached]
        values = sorted(each.metrics[metric] for each in done if metric in each.metrics)
        if values:
            other = volume is not None and run.volume.mount_point != volume.mount_point
            words = f"benchmark of {run.started_at:%Y-%m-%d %H:%M}: {run.workload.title}"
            found.append(Measured(values[len(values) // 2], Evidence(words, run.started_at, other_hardware=other)))
    return max(found, key=lambda each: (not each.evidence.other_hardware, each.value), default=None)


def cluster_spec(cluster: Cluster, reindex: int | None = None, idle: int = 0) -> ClusterSpec:
    """The cluster's part of a spec; `reindex`: bytes of indexes that must be built anew on the new server; `idle`: of
    WAL that no pass of a copy brings."""
    # templates are left alone by who reads facts; what indexes they have is small
    indexes = [database.index_bytes for database in cluster.databases if not database.template]
    tables = [
        database.largest_table_bytes for database in cluster.databases if database.largest_table_bytes is not None
    ]
    size = float(cluster.size_bytes or 0)
    own = [max(0, each.size_bytes - _CATALOG_BYTES) for each in cluster.databases if not each.template]
    known = [bytes_ for bytes_ in indexes if bytes_ is not None]
    kept = cluster.wide.kept_wal_bytes if cluster.wide is not None else None
    pages = cluster.control.data_checksums if cluster.control is not None else None
    relations = min(size, float(sum(each.size_bytes for each in cluster.databases))) or size
    return ClusterSpec(
        size_bytes=size,
        files=cluster.files,
        empty_files=_empty(cluster),
        index_bytes=min(size, float(sum(known))) if known and len(known) == len(indexes) else None,
        largest_table_bytes=min(size, float(max(tables))) if tables else None,
        reindex_bytes=min(size, float(reindex)) if reindex is not None else None,
        written_bytes=min(size, float(cluster.written_bytes)) if cluster.written_bytes is not None else None,
        checksummed_bytes=None if pages is None else relations if pages else 0.0,
        **_counted(cluster),
        databases=len(cluster.databases) or None,
        database_bytes=min(size, float(sum(own))) if own else None,
        wasted_bytes=min(size, float(sum(each.wasted_bytes for each in bloated(cluster)))) or None,
        kept_wal_bytes=min(size, float(kept)) if kept else None,
        idle_wal_bytes=float(idle),
    )


def _empty(cluster: Cluster) -> int | None:
    found = cluster.irregular_files.empty if cluster.irregular_files is not None else None
    return None if found is None or cluster.files is None else min(found, cluster.files)


def _counted(cluster: Cluster) -> dict[str, int | None]:
    """How many there are of each; None, or guessed, where one database did not tell."""
    catalogs = [database.catalogs for database in cluster.databases if not database.template]
    relations = [max(0, database.relations - _CATALOG) for database in cluster.databases if database.relations]
    guessed = sum(relations) // 3 if relations else None
    counts: dict[str, int | None] = {"tables": guessed, "indexes": guessed, "toast_tables": None, "large_objects": None}
    for name in counts:
        found: list[int | None] = [getattr(each, name, None) for each in catalogs]
        known = [each for each in found if each is not None]
        if known and len(known) == len(found):
            counts[name] = sum(known)
    return counts


def bloated(cluster: Cluster) -> list[Bloated]:
    """Large tables of which much is no row, the most wasted first."""
    catalogs = [database.catalogs for database in cluster.databases if database.catalogs is not None]
    found = [table for each in catalogs for table in each.bloated]
    return sorted(found, key=lambda each: -each.wasted_bytes)


_CATALOG_BYTES = 7_500_000
"""Of an empty database, in 12 to 17: pg_dump reads them, and dumps none."""

_CATALOG = 300
"""So many relations has an empty database; of the others about a third are tables, a third indexes, a third TOAST."""


_NINETIETH = 1.28
"""So many standard deviations from the middle lies what is met in one case of ten."""


def of_a_dump(probes: Sequence[Probe]) -> dict[str, Measured]:
    """The figures of the latest ones, by their names in a spec; what was not measured is left out.

    What COPY puts out counts in bytes of table as they come out on the new server, where the same rows were
    loaded: tables on the old server hold dead rows too.
    """
    ordered = sorted((each for each in probes if each.quantity in OF_A_DUMP), key=lambda each: each.taken_at)
    latest = {each.quantity: each for each in ordered}
    found: dict[str, Measured] = {}
    dump, load, index = (latest.get(each) for each in (Quantity.DUMP, Quantity.LOAD, Quantity.INDEX))
    tables: dict[int, SampledTable] = {}
    loaded: dict[int, SampledTable] = {}
    others = 0
    if dump is not None:
        tables, others = parse_copied_tables(dump.raw), parse_size_of_others(dump.raw)
        same = load is not None and load.began_at == dump.began_at
        loaded = parse_loaded_tables(load.raw) if load is not None and same else {}
        copied = copied_rows(tables, loaded, others)
        if copied is not None:
            text = [SampledTable(each.text, each.seconds) for each in tables.values()]
            found["copy_bytes_per_second"] = Measured(copied.per_second, _evidence_of_sample(dump, text))
            found["text_ratio"] = Measured(copied.per_text_byte, _evidence_of_sample(dump, ()))
    if load is not None:
        found["load_bytes_per_second"] = Measured(
            rate_of_all(loaded, loaded, tables, others) or load.bytes_per_second,
            _evidence_of_sample(load, parse_loaded_tables(load.raw).values()),
        )
        each = {"table_seconds": parse_seconds_per_table(load.raw), "index_seconds": parse_seconds_per_index(load.raw)}
        found |= {
            name: Measured(taken, _evidence_of_sample(load, ())) for name, taken in each.items() if taken is not None
        }
    if index is not None:
        built = parse_built_indexes(index.raw)
        weighed = built if load is not None and index.began_at == load.began_at else {}
        found["index_bytes_per_second"] = Measured(
            rate_of_all(weighed, loaded, tables, others) or index.bytes_per_second,
            _evidence_of_sample(index, built.values()),
        )
    return found


def _evidence_of_sample(probe: Probe, parts: Iterable[SampledTable]) -> Evidence:
    words = f"probe of {probe.taken_at:%Y-%m-%d %H:%M}: {probe.method}"
    return Evidence(words, probe.taken_at, apart=_apart(tuple(parts)))


def _apart(parts: Sequence[SampledTable]) -> float:
    """How far the mean of the tables is off by how they differ, in one case of ten; nothing of a single one.

    By the standard error of the logarithm of their rates, each with the weight of its bytes.
    """
    whole = sum(each.bytes for each in parts)
    if len(parts) < 2 or not whole:
        return 0.0
    mean = whole / sum(each.seconds for each in parts)
    shares = [each.bytes / whole for each in parts]
    spread = sum(share * log(each.bytes / each.seconds / mean) ** 2 for share, each in zip(shares, parts, strict=True))
    return _NINETIETH * sqrt(spread * sum(share**2 for share in shares))
