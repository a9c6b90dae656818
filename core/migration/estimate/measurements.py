"""The spec of a move from what was measured of it: facts, probes, and benchmarks where there is no probe."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from core.benchmarks.model import Outcome, Run, Side
from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.migration.estimate.spec import ClusterSpec, CopySpec, History, LinkSpec, NewSpec, OldSpec, Spec
from core.migration.findings.collations import reindex_bytes
from core.migration.findings.finding import Case
from core.migration.model.move import Move
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route
from core.migration.transports.choice import Choice, choose, tried_routes

_NOTHING = History()


def spec_of(
    move: Move,
    old: Facts,
    probes: Sequence[Probe],
    runs: Sequence[Run] = (),
    new: Facts | None = None,
    copied: float | None = None,
    changed: float | None = None,
    history: History = _NOTHING,
) -> Spec:
    """What is known of a move, as a spec. The latest probe of each link counts, the transport that a plan
    would take, and a benchmark where a disk was not probed. The facts of `new` tell what must be indexed anew.
    `copied`: bytes a second of an earlier copy or rehearsal, which no sample can tell better; `changed`: bytes an hour
    that changed meanwhile; `history`: what else earlier executions tell.

    Raises:
        InputError: the facts of old do not know the cluster or its size.
    """
    cluster = old.cluster(move.cluster)
    if cluster is None or not cluster.size_bytes:
        raise InputError(
            f"the size of the cluster in {move.cluster} on {old.server} is not known",
            f"read the facts again: pghaul facts {old.server}; see its gaps for what could not be read",
        )
    choice = choose(probes, tried_routes(probes))
    case = Case(move, old, new) if new is not None else None
    return Spec(
        cluster=replace(
            _cluster(cluster, reindex_bytes(case) if case is not None else None), change_bytes_per_hour=changed
        ),
        old=_old(old, cluster, choice, runs),
        new=_new(case, _series(cluster.series), choice, runs),
        link=_link(choice),
        copy=_copy(choice, copied),
        history=replace(history, sources={**_sources(choice, copied=copied is not None), **history.sources}),
    )


def _rate(choice: Choice, quantity: Quantity) -> float | None:
    probe = choice.links.get(quantity)
    return probe.bytes_per_second if probe is not None else None


def _old(old: Facts, cluster: Cluster, choice: Choice, runs: Sequence[Run]) -> OldSpec:
    disk = old.file_system_of(cluster.data_directory)
    return OldSpec(
        read_bytes_per_second=_rate(choice, Quantity.READ) or _benchmark(runs, Side.OLD, "read_bytes_per_second"),
        cores=_threads(old),
        version=_series(cluster.series),
        capacity_bytes=disk.size_bytes if disk is not None else None,
        used_bytes=disk.size_bytes - disk.available_bytes if disk is not None else None,
    )


def _new(case: Case | None, series: float | None, choice: Choice, runs: Sequence[Run]) -> NewSpec:
    return NewSpec(
        _rate(choice, Quantity.WRITE) or _benchmark(runs, Side.NEW, "write_bytes_per_second"),
        cores=_threads(case.new) if case is not None else None,
        version=_version_of_new(case, series) if case is not None else None,
    )


def _link(choice: Choice) -> LinkSpec:
    wire = _rate(choice, Quantity.WIRE)
    return LinkSpec(bits_per_second=wire * 8 if wire is not None else None, streams=choice.transport.streams)


def _copy(choice: Choice, copied: float | None) -> CopySpec:
    sample = choice.sample
    return CopySpec(
        observed_bytes_per_second=copied or (sample.bytes_per_second if sample is not None else None),
        compression_ratio=max(1.0, sample.ratio) if sample is not None and sample.ratio is not None else None,
        ssh_bytes_per_second=_rate(choice, Quantity.SSH) if choice.transport.route is Route.SSH else inf,
    )


def _sources(choice: Choice, *, copied: bool) -> dict[str, str]:
    """Where each measured figure comes from, in words, by its path in the spec."""
    fields = {
        Quantity.READ: "old.read_bytes_per_second",
        Quantity.WRITE: "new.write_bytes_per_second",
        Quantity.WIRE: "link.bits_per_second",
        Quantity.SSH: "copy.ssh_bytes_per_second",
    }
    said = dict.fromkeys(fields.values(), "a benchmark")
    said |= {fields[quantity]: _probed(probe) for quantity, probe in choice.links.items() if quantity in fields}
    if copied:
        said["copy.observed_bytes_per_second"] = "timed: an earlier copy of this move"
    elif choice.sample is not None:
        said["copy.observed_bytes_per_second"] = _probed(choice.sample)
    return said


def _probed(probe: Probe) -> str:
    return f"probe of {probe.taken_at:%Y-%m-%d %H:%M}: {probe.method}"


def _threads(facts: Facts) -> int | None:
    return facts.processor.threads if facts.processor is not None else None


def _series(text: str) -> float | None:
    """`9.6` and `15` as numbers; None for what is none."""
    try:
        return float(text)
    except ValueError:
        return None


def _version_of_new(case: Case, wanted: float | None) -> float | None:
    """The cluster's own where new has binaries of it, else the newest that it has."""
    if case.siblings:
        return wanted
    return max((each for each in map(_series, {one.series for one in case.new.clusters}) if each), default=None)


def _cluster(cluster: Cluster, reindex: int | None) -> ClusterSpec:
    # templates are left alone by who reads facts; what indexes they have is small
    indexes = [database.index_bytes for database in cluster.databases if not database.template]
    tables = [
        database.largest_table_bytes for database in cluster.databases if database.largest_table_bytes is not None
    ]
    size = float(cluster.size_bytes or 0)
    known = [bytes_ for bytes_ in indexes if bytes_ is not None]
    relations = [max(0, database.relations - _CATALOG) for database in cluster.databases if database.relations]
    pages = cluster.control.data_checksums if cluster.control is not None else None
    return ClusterSpec(
        size_bytes=size,
        files=cluster.files,
        index_bytes=min(size, float(sum(known))) if known and len(known) == len(indexes) else None,
        largest_table_bytes=min(size, float(max(tables))) if tables else None,
        reindex_bytes=min(size, float(reindex)) if reindex is not None else None,
        written_bytes=min(size, float(cluster.written_bytes)) if cluster.written_bytes is not None else None,
        checksummed_bytes=None if pages is None else size if pages else 0.0,
        tables=sum(relations) // 3 if relations else None,
        indexes=sum(relations) // 3 if relations else None,
        databases=len(cluster.databases) or None,
    )


_CATALOG = 300
"""So many relations has an empty database; of the others about a third are tables, a third indexes, a third TOAST."""


def _benchmark(runs: Sequence[Run], side: Side, metric: str) -> float | None:
    """The median of the best finished workload: a copy reads and writes large files one after the other."""
    medians = []
    for run in runs:
        if run.volume.side is not side or run.outcome is not Outcome.DONE:
            continue
        done = [each for each in run.repetitions if each.outcome is Outcome.DONE and not each.cached]
        values = sorted(each.metrics[metric] for each in done if metric in each.metrics)
        if values:
            medians.append(values[len(values) // 2])
    return max(medians, default=None)
