"""The spec of a move from what was measured of it: facts, probes, and benchmarks where there is no probe."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from core.benchmarks.model import Outcome, Run, Side
from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec, NewSpec, OldSpec, Spec
from core.migration.findings.collations import reindex_bytes
from core.migration.findings.finding import Case
from core.migration.model.move import Move
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route
from core.migration.transports.choice import choose, tried_routes


def spec_of(
    move: Move,
    old: Facts,
    probes: Sequence[Probe],
    runs: Sequence[Run] = (),
    new: Facts | None = None,
    copied: float | None = None,
    changed: float | None = None,
) -> Spec:
    """What is known of a move, as a spec. The latest probe of each link counts, the transport that a plan
    would take, and a benchmark where a disk was not probed. The facts of `new` tell what must be indexed anew.
    `copied`: bytes a second of an earlier copy or rehearsal, which no sample can tell better; `changed`: bytes an hour
    that changed meanwhile.

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
    rates = {quantity: probe.bytes_per_second for quantity, probe in choice.links.items()}
    wire, sample = rates.get(Quantity.WIRE), choice.sample
    return Spec(
        cluster=replace(
            _cluster(cluster, reindex_bytes(Case(move, old, new)) if new is not None else None),
            change_bytes_per_hour=changed,
        ),
        old=OldSpec(
            read_bytes_per_second=rates.get(Quantity.READ) or _benchmark(runs, Side.OLD, "read_bytes_per_second"),
            cores=old.processor.threads if old.processor is not None else None,
        ),
        new=NewSpec(rates.get(Quantity.WRITE) or _benchmark(runs, Side.NEW, "write_bytes_per_second")),
        link=LinkSpec(bits_per_second=wire * 8 if wire is not None else None, streams=choice.transport.streams),
        copy=CopySpec(
            observed_bytes_per_second=copied or (sample.bytes_per_second if sample is not None else None),
            compression_ratio=max(1.0, sample.ratio) if sample is not None and sample.ratio is not None else None,
            ssh_bytes_per_second=rates.get(Quantity.SSH) if choice.transport.route is Route.SSH else inf,
        ),
    )


def _cluster(cluster: Cluster, reindex: int | None) -> ClusterSpec:
    # templates are left alone by who reads facts; what indexes they have is small
    indexes = [database.index_bytes for database in cluster.databases if not database.template]
    tables = [
        database.largest_table_bytes for database in cluster.databases if database.largest_table_bytes is not None
    ]
    size = float(cluster.size_bytes or 0)
    known = [bytes_ for bytes_ in indexes if bytes_ is not None]
    return ClusterSpec(
        size_bytes=size,
        files=cluster.files,
        index_bytes=min(size, float(sum(known))) if known and len(known) == len(indexes) else None,
        largest_table_bytes=min(size, float(max(tables))) if tables else None,
        reindex_bytes=min(size, float(reindex)) if reindex is not None else None,
        written_bytes=min(size, float(cluster.written_bytes)) if cluster.written_bytes is not None else None,
    )


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
