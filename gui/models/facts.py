"""The facts, clusters and gaps of two servers as rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from core import api, units
from core.facts.model import Array, BlockDevice, Cluster, Facts, FileSystem, Memory, NetworkLink, Tool
from core.language import marked, tr
from core.tones import Tone
from gui.models.sentences import compared, recorded
from gui.models.servers import volumes
from gui.models.table import Column, Width
from gui.models.words import yes_no

Thing = TypeVar("Thing")
Text = str | int | None


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact of both servers. `differs` is set only if a difference matters."""

    subject: str
    name: str
    old: str
    new: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster and its server."""

    server: str
    cluster: Cluster


@dataclass(frozen=True, slots=True)
class Detail:
    """A name and a value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class GapRow:
    """A fact that could not be read on a server, and the reason."""

    server: str
    subject: str
    reason: str


def side_by_side(old: Facts | None, new: Facts | None) -> tuple[FactRow, ...]:
    """Return every fact of both servers by subject, those first that the move uses."""
    real = {one.mount_point for facts in (old, new) for one in volumes(facts)}
    mounted = _several(
        tr("File system"), old, new, lambda facts: facts.file_systems, lambda one: one.mount_point, _file_system
    )
    return (
        *_several(tr("Cluster"), old, new, lambda facts: facts.clusters, lambda one: one.data_directory, _cluster),
        *(row for row in mounted if row.name in real),
        *(
            _single(tr(subject), tr(name), [_value(side, part, attribute) for side in (old, new)], matters)
            for subject, name, part, attribute, matters in SINGLE
        ),
        *_several(tr("Network"), old, new, lambda facts: facts.network_links, lambda one: one.name, _network_link),
        *_several(tr("Block device"), old, new, lambda facts: facts.block_devices, lambda one: one.name, _block_device),
        *_several("RAID", old, new, lambda facts: facts.arrays, lambda one: one.name, _array),
        *_further(old, new),
        *_several(tr("Tool"), old, new, lambda facts: facts.tools, lambda one: one.name, _tool),
        *(replace(row, subject=tr("Other file systems")) for row in mounted if row.name not in real),
    )


def with_heads(rows: Sequence[FactRow]) -> tuple[FactRow, ...]:
    """Return the rows below a head for each subject."""
    made: list[FactRow] = []
    for row in rows:
        if not made or made[-1].subject != row.subject:
            made.append(FactRow(row.subject, "", "", ""))
        made.append(row)
    return tuple(made)


def is_head(row: FactRow) -> bool:
    """Return whether it is the head of a subject."""
    return not row.name


def clusters(*sides: Facts | None) -> tuple[ClusterRow, ...]:
    """Return the clusters of these servers."""
    return tuple(ClusterRow(facts.server, cluster) for facts in sides if facts for cluster in facts.clusters)


def gaps(*sides: Facts | None, target: str = "") -> tuple[GapRow, ...]:
    """Return the facts that could not be read. An empty target of a move is no gap."""
    return tuple(
        GapRow(facts.server, compared(gap.subject), compared(gap.reason))
        for facts in sides
        if facts
        for gap in facts.gaps_besides(target)
    )


_FOUND_BY = {
    "systemd": marked("a systemd unit"),
    "postmaster": marked("a running server"),
    "folder": marked("a usual folder"),
    "named": marked("a given path"),
}
"""How a cluster was found, by the words of the facts (core/facts/discovery.py). The name of a program stays."""


def cluster_details(cluster: Cluster) -> tuple[Detail, ...]:
    """Return the details of a cluster."""
    control = cluster.control
    pairs: list[tuple[str, Text]] = [
        (tr("Data directory"), cluster.data_directory),
        (tr("Found by"), ", ".join(tr(_FOUND_BY.get(one, one)) for one in cluster.found_by)),
        (tr("Owner"), cluster.owner),
        (tr("systemd unit"), cluster.unit),
        (tr("Program directory"), cluster.bin_directory),
        (tr("Configuration file"), cluster.config_file),
        (tr("HBA file"), cluster.hba_file),
        (tr("Named at the last start (postmaster.opts)"), ", ".join(cluster.start_files.values()) or None),
        (tr("Socket directory"), cluster.socket_directory),
    ]
    if control is not None:
        pairs += [
            (tr("State"), compared(control.state)),
            (tr("System identifier"), control.system_identifier),
            (tr("Control file / catalog version"), f"{control.pg_control_version} / {control.catalog_version}"),
            (tr("Block / WAL block / WAL segment"), " / ".join(map(units.block, _blocks(cluster)))),
            (tr("Data checksums"), {None: None, 0: tr("off")}.get(control.data_checksums, tr("on"))),
        ]
    if cluster.process is not None and cluster.process.memory_limit_bytes is not None:
        pairs.append((tr("Memory limit of its control group"), units.size(cluster.process.memory_limit_bytes)))
    pairs += [
        (tr("Tablespace {oid}").format(oid=one.oid), f"{one.location}, {units.size(one.size_bytes)}")
        for one in cluster.tablespaces
    ]
    pairs += [
        (tr("Link {path}").format(path=one.path), one.target + (tr(" (target missing)") if one.dangling else ""))
        for one in cluster.links
    ]
    pairs += [(tr("Database {name}").format(name=one.name), units.size(one.size_bytes)) for one in cluster.databases]
    if cluster.fenced:
        pairs.append(
            (
                tr("Fence"),
                tr("pghaul keeps the cluster from starting. {kept_from_starting}").format(
                    kept_from_starting=recorded(api.facts.explain_fence(cluster))
                ),
            )
        )
    pairs += [(tr("Leftover file"), name) for name in cluster.leftovers]
    pairs += [(name, value) for name, value in sorted(cluster.settings.items())]
    return tuple(Detail(name, str(value)) for name, value in pairs if value not in (None, ""))


def _blocks(cluster: Cluster) -> Sequence[int]:
    control = cluster.control
    return () if control is None else (control.block_size, control.wal_block_size, control.wal_segment_size)


def _single(subject: str, name: str, values: Sequence[Text], matters: bool) -> FactRow:
    texts = [units.ABSENT if value in (None, "") else str(value) for value in values]
    return FactRow(subject, name, texts[0], texts[1], matters and None not in values and values[0] != values[1])


def _value(facts: Facts | None, part: str, attribute: str) -> Text:
    found = getattr(facts, part, None)
    if isinstance(found, Memory) and attribute == "total_bytes":
        return _memory(found)
    value: Text = getattr(found, attribute, None)
    return units.size(value) if attribute.endswith("_bytes") and isinstance(value, int) else value


def _memory(one: Memory) -> str:
    if one.limit_bytes is None:
        return units.size(one.total_bytes)
    return tr("{limit} of {total}, limited by its control group").format(
        limit=units.size(one.limit_bytes), total=units.size(one.total_bytes)
    )


def _several(
    subject: str,
    old: Facts | None,
    new: Facts | None,
    things: Callable[[Facts], Iterable[Thing]],
    name: Callable[[Thing], str],
    text: Callable[[Thing], str],
) -> list[FactRow]:
    """Return a row for each item of either server, by its name."""
    sides = [{} if facts is None else {name(one): text(one) for one in things(facts)} for facts in (old, new)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    return [FactRow(subject, one, sides[0].get(one, units.ABSENT), sides[1].get(one, units.ABSENT)) for one in names]


def _further(old: Facts | None, new: Facts | None) -> list[FactRow]:
    """Return a row for each value of the sections that are only shown and compared."""
    sides = [{} if facts is None else facts.further for facts in (old, new)]
    return [
        _single(title[:1].upper() + title[1:], name, [side.get(title, {}).get(name) for side in sides], matters=True)
        for title in dict.fromkeys([*sides[0], *sides[1]])
        for name in dict.fromkeys(name for side in sides for name in side.get(title, {}))
    ]


def _file_system(one: FileSystem) -> str:
    return tr("{available_bytes} free of {size_bytes}, {kind} on {device}, {options}{stripes}").format(
        available_bytes=units.size(one.available_bytes),
        size_bytes=units.size(one.size_bytes),
        kind=one.kind,
        device=one.device,
        options=",".join(one.options),
        stripes=_stripes(one),
    )


def _stripes(one: FileSystem) -> str:
    """Return the stripe geometry of a file system; empty if there is none."""
    if not one.stripe_unit_bytes or not one.stripe_width_bytes:
        return ""
    return tr(", stripe unit {stripe_unit_bytes}, width {stripe_width_bytes}").format(
        stripe_unit_bytes=units.size(one.stripe_unit_bytes), stripe_width_bytes=units.size(one.stripe_width_bytes)
    )


def _block_device(one: BlockDevice) -> str:
    spins = {None: None, True: tr("rotational"), False: tr("not rotational")}[one.rotational]
    reads = (
        None
        if one.read_ahead_bytes is None
        else tr("read-ahead {read_ahead_bytes}").format(read_ahead_bytes=units.size(one.read_ahead_bytes))
    )
    cache = None if one.write_cache is None else tr("cache {write_cache}").format(write_cache=one.write_cache)
    upon = tr("on {parents}").format(parents=", ".join(one.parents)) if one.parents else None
    return _joined(units.size(one.size_bytes), one.kind, one.model, spins, one.scheduler, reads, cache, upon)


def _array(one: Array) -> str:
    action = None if one.action is None else f"{one.action} {units.percent(one.progress)}"
    chunk = (
        None if one.chunk_bytes is None else tr("chunk {chunk_bytes}").format(chunk_bytes=units.size(one.chunk_bytes))
    )
    degraded = tr("degraded") if one.degraded else None
    return _joined(one.level, one.state, degraded, chunk, one.layout, " ".join(one.devices), action)


def _network_link(one: NetworkLink) -> str:
    speed = None if one.bits_per_second is None else units.bits(one.bits_per_second)
    return _joined(one.state, speed, f"MTU {one.mtu}", " ".join(one.addresses))


def _cluster(one: Cluster) -> str:
    state = tr("running on port {port}").format(port=one.port) if one.running else tr("stopped")
    fenced = tr("fenced by pghaul") if one.fenced else None
    size = None if one.size_bytes is None else units.size(one.size_bytes)
    return _joined(one.name, one.version or one.series, state, fenced, size)


def _tool(one: Tool) -> str:
    return tr("not installed") if one.path is None else one.version or one.path


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


def _tone(row: FactRow) -> Tone | None:
    """Return the tone of a value: what is equal recedes, and what differs and matters is marked."""
    return Tone.WARNING if row.differs else None if row.old != row.new else Tone.MUTED


SINGLE: tuple[tuple[str, str, str, str, bool], ...] = (
    # subject, fact, part of Facts, attribute of that part, whether a difference matters
    (marked("Memory"), marked("Total"), "memory", "total_bytes", True),
    (marked("Memory"), marked("Available"), "memory", "available_bytes", False),
    (marked("Memory"), marked("Swap"), "memory", "swap_bytes", True),
    (marked("Memory"), marked("Huge pages"), "memory", "huge_pages_total", True),
    (marked("Processor"), marked("Model"), "processor", "model", False),
    (marked("Processor"), marked("Sockets"), "processor", "sockets", False),
    (marked("Processor"), marked("Cores"), "processor", "cores", False),
    (marked("Processor"), marked("Threads"), "processor", "threads", True),
    (marked("System"), marked("Host name"), "system", "hostname", False),
    (marked("System"), marked("Operating system"), "system", "name", True),
    (marked("System"), marked("Kernel"), "system", "kernel", True),
    (marked("System"), marked("Architecture"), "system", "architecture", True),
    (marked("System"), marked("C library"), "system", "libc", True),
    (marked("System"), marked("Init system"), "system", "init", True),
    (marked("System"), marked("Time zone"), "system", "time_zone", True),
)

SUBJECT_COLUMN = 0
"""The column that stands for the heads while a filter is set."""
OLD_COLUMN, NEW_COLUMN = 2, 3
"""The numbers of the columns that have the name of a server as their head."""
FACT_COLUMNS: tuple[Column[FactRow], ...] = (
    Column("Subject", lambda row: row.subject, tone=lambda _row: Tone.MUTED),
    Column("Fact", lambda row: row.name or row.subject),
    Column("Old server", lambda row: row.old, width=Width.REST, tone=_tone),
    Column("New server", lambda row: row.new, width=Width.REST, tone=_tone),
    Column("Differs", lambda row: "≠" if row.old != row.new else "", tone=_tone),
)


CLUSTER_COLUMNS: tuple[Column[ClusterRow], ...] = (
    Column("Server", lambda row: row.server),
    Column("Data directory", lambda row: row.cluster.data_directory, width=Width.REST),
    Column("Name", lambda row: row.cluster.name or units.ABSENT),
    Column("Version", lambda row: row.cluster.version or row.cluster.series),
    Column("Running", lambda row: _joined(yes_no(row.cluster.running), tr("fenced") if row.cluster.fenced else None)),
    Column(
        "Port",
        lambda row: units.ABSENT if row.cluster.port is None else str(row.cluster.port),
        right=True,
        value=lambda row: row.cluster.port,
    ),
    Column(
        "Size", lambda row: units.size(row.cluster.size_bytes), right=True, value=lambda row: row.cluster.size_bytes
    ),
    Column("Files", lambda row: units.count(row.cluster.files), right=True, value=lambda row: row.cluster.files),
    Column(
        "Tablespaces",
        lambda row: str(len(row.cluster.tablespaces)),
        right=True,
        value=lambda row: len(row.cluster.tablespaces),
    ),
)
DETAIL_COLUMNS: tuple[Column[Detail], ...] = (
    Column("Property", lambda row: row.name, tone=lambda _row: Tone.MUTED),
    Column("Value", lambda row: row.value, width=Width.REST),
)
GAP_COLUMNS: tuple[Column[GapRow], ...] = (
    Column("Server", lambda row: row.server),
    Column("Subject", lambda row: row.subject),
    Column("Reason", lambda row: row.reason, width=Width.REST, tone=lambda _row: Tone.WARNING),
)
