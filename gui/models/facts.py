"""Facts of two servers side by side, as rows; their clusters and gaps."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from core import units
from core.facts.model import Array, BlockDevice, Cluster, Facts, FileSystem, NetworkLink, Tool
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import yes_no

Thing = TypeVar("Thing")
Text = str | int | None


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact on both sides. `differs` is said only where it matters that both are the same."""

    subject: str
    name: str
    old: str
    new: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster with the server that it is on."""

    server: str
    cluster: Cluster


@dataclass(frozen=True, slots=True)
class Detail:
    """A name and a value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class GapRow:
    """Something that could not be read on a server, and why."""

    server: str
    subject: str
    reason: str


def side_by_side(old: Facts | None, new: Facts | None) -> tuple[FactRow, ...]:
    """Every fact of both servers, by subject."""
    return (
        *(
            _single(subject, name, [_value(side, part, attribute) for side in (old, new)], matters)
            for subject, name, part, attribute, matters in SINGLE
        ),
        *_several("File system", old, new, lambda facts: facts.file_systems, lambda one: one.mount_point, _file_system),
        *_several("Block device", old, new, lambda facts: facts.block_devices, lambda one: one.name, _block_device),
        *_several("RAID", old, new, lambda facts: facts.arrays, lambda one: one.name, _array),
        *_several("Network", old, new, lambda facts: facts.network_links, lambda one: one.name, _network_link),
        *_several("Cluster", old, new, lambda facts: facts.clusters, lambda one: one.data_directory, _cluster),
        *_further(old, new),
        *_several("Tool", old, new, lambda facts: facts.tools, lambda one: one.name, _tool),
    )


def clusters(*sides: Facts | None) -> tuple[ClusterRow, ...]:
    """The clusters of these servers."""
    return tuple(ClusterRow(facts.server, cluster) for facts in sides if facts for cluster in facts.clusters)


def gaps(*sides: Facts | None, target: str = "") -> tuple[GapRow, ...]:
    """What could not be read on these servers; that the target of a move holds nothing yet is no gap."""
    return tuple(
        GapRow(facts.server, gap.subject, gap.reason) for facts in sides if facts for gap in facts.gaps_besides(target)
    )


def cluster_details(cluster: Cluster) -> tuple[Detail, ...]:
    """Everything known of a cluster."""
    control = cluster.control
    pairs: list[tuple[str, Text]] = [
        ("Data directory", cluster.data_directory),
        ("Found by", ", ".join(cluster.found_by)),
        ("Owner", cluster.owner),
        ("Unit", cluster.unit),
        ("Binaries", cluster.bin_directory),
        ("Configuration file", cluster.config_file),
        ("HBA file", cluster.hba_file),
        ("Socket directory", cluster.socket_directory),
    ]
    if control is not None:
        pairs += [
            ("State", control.state),
            ("System identifier", control.system_identifier),
            ("Control / catalog version", f"{control.pg_control_version} / {control.catalog_version}"),
            ("Block / WAL block / WAL segment", " / ".join(map(units.size, _blocks(cluster)))),
            ("Data checksums", {None: None, 0: "off"}.get(control.data_checksums, "on")),
        ]
    pairs += [(f"Tablespace {one.oid}", f"{one.location}, {units.size(one.size_bytes)}") for one in cluster.tablespaces]
    pairs += [(f"Link {one.path}", one.target + (" (dangling)" if one.dangling else "")) for one in cluster.links]
    pairs += [(f"Database {one.name}", units.size(one.size_bytes)) for one in cluster.databases]
    if cluster.fenced:
        what = "a copy that is not opened" if cluster.copy_of is not None else "moved away, or about to be"
        pairs.append(("Kept from starting", f"by pghaul: {what}"))
    pairs += [("Left over", name) for name in cluster.leftovers]
    pairs += [(name, value) for name, value in sorted(cluster.settings.items())]
    return tuple(Detail(name, str(value)) for name, value in pairs if value not in (None, ""))


def _blocks(cluster: Cluster) -> Sequence[int]:
    control = cluster.control
    return () if control is None else (control.block_size, control.wal_block_size, control.wal_segment_size)


def _single(subject: str, name: str, values: Sequence[Text], matters: bool) -> FactRow:
    texts = [units.ABSENT if value in (None, "") else str(value) for value in values]
    return FactRow(subject, name, texts[0], texts[1], matters and None not in values and values[0] != values[1])


def _value(facts: Facts | None, part: str, attribute: str) -> Text:
    value: Text = getattr(getattr(facts, part, None), attribute, None)
    return units.size(value) if attribute.endswith("_bytes") and isinstance(value, int) else value


def _several(
    subject: str,
    old: Facts | None,
    new: Facts | None,
    things: Callable[[Facts], Iterable[Thing]],
    name: Callable[[Thing], str],
    text: Callable[[Thing], str],
) -> list[FactRow]:
    """A row for each thing that either side has, by its name."""
    sides = [{} if facts is None else {name(one): text(one) for one in things(facts)} for facts in (old, new)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    return [FactRow(subject, one, sides[0].get(one, units.ABSENT), sides[1].get(one, units.ABSENT)) for one in names]


def _further(old: Facts | None, new: Facts | None) -> list[FactRow]:
    """A row for each value of the sections that are there for people alone; all of them are there to be compared."""
    sides = [{} if facts is None else facts.further for facts in (old, new)]
    return [
        _single(title[:1].upper() + title[1:], name, [side.get(title, {}).get(name) for side in sides], matters=True)
        for title in dict.fromkeys([*sides[0], *sides[1]])
        for name in dict.fromkeys(name for side in sides for name in side.get(title, {}))
    ]


def _file_system(one: FileSystem) -> str:
    return (
        f"{units.size(one.available_bytes)} free of {units.size(one.size_bytes)}, {one.kind} on {one.device}, "
        f"{','.join(one.options)}{_stripes(one)}"
    )


def _stripes(one: FileSystem) -> str:
    """The geometry that it was made with, where that is known and there is one."""
    if not one.stripe_unit_bytes or not one.stripe_width_bytes:
        return ""
    return f", stripe unit {units.size(one.stripe_unit_bytes)}, width {units.size(one.stripe_width_bytes)}"


def _block_device(one: BlockDevice) -> str:
    spins = {None: None, True: "rotational", False: "not rotational"}[one.rotational]
    reads = None if one.read_ahead_bytes is None else f"read-ahead {units.size(one.read_ahead_bytes)}"
    cache = None if one.write_cache is None else f"cache {one.write_cache}"
    upon = f"on {', '.join(one.parents)}" if one.parents else None
    return _joined(units.size(one.size_bytes), one.kind, one.model, spins, one.scheduler, reads, cache, upon)


def _array(one: Array) -> str:
    action = None if one.action is None else f"{one.action} {units.percent(one.progress)}"
    chunk = None if one.chunk_bytes is None else f"chunk {units.size(one.chunk_bytes)}"
    degraded = "degraded" if one.degraded else None
    return _joined(one.level, one.state, degraded, chunk, one.layout, " ".join(one.devices), action)


def _network_link(one: NetworkLink) -> str:
    speed = None if one.bits_per_second is None else units.bits(one.bits_per_second)
    return _joined(one.state, speed, f"MTU {one.mtu}", " ".join(one.addresses))


def _cluster(one: Cluster) -> str:
    state = f"running on port {one.port}" if one.running else "stopped"
    size = None if one.size_bytes is None else units.size(one.size_bytes)
    return _joined(one.name, one.version or one.series, state, size)


def _tool(one: Tool) -> str:
    return "not installed" if one.path is None else one.version or one.path


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


SINGLE: tuple[tuple[str, str, str, str, bool], ...] = (
    # subject, fact, part of Facts, attribute of that part, whether a difference matters
    ("System", "Host name", "system", "hostname", False),
    ("System", "Operating system", "system", "name", True),
    ("System", "Kernel", "system", "kernel", True),
    ("System", "Architecture", "system", "architecture", True),
    ("System", "C library", "system", "libc", True),
    ("System", "Init", "system", "init", True),
    ("System", "Time zone", "system", "time_zone", True),
    ("Processor", "Model", "processor", "model", False),
    ("Processor", "Sockets", "processor", "sockets", False),
    ("Processor", "Cores", "processor", "cores", False),
    ("Processor", "Threads", "processor", "threads", True),
    ("Memory", "Total", "memory", "total_bytes", True),
    ("Memory", "Available", "memory", "available_bytes", False),
    ("Memory", "Swap", "memory", "swap_bytes", True),
    ("Memory", "Huge pages", "memory", "huge_pages_total", True),
)

FACT_COLUMNS: tuple[Column[FactRow], ...] = (
    Column("Subject", lambda row: row.subject, tone=lambda _row: Tone.MUTED),
    Column("Fact", lambda row: row.name),
    Column("Old", lambda row: row.old, width=Width.REST),
    Column("New", lambda row: row.new, width=Width.REST),
    Column("Differs", lambda row: "≠ differs" if row.differs else "", tone=lambda _row: Tone.WARNING),
)
CLUSTER_COLUMNS: tuple[Column[ClusterRow], ...] = (
    Column("Server", lambda row: row.server),
    Column("Data directory", lambda row: row.cluster.data_directory, width=Width.REST),
    Column("Name", lambda row: row.cluster.name or units.ABSENT),
    Column("Version", lambda row: row.cluster.version or row.cluster.series),
    Column("Running", lambda row: yes_no(row.cluster.running)),
    Column("Port", lambda row: units.ABSENT if row.cluster.port is None else str(row.cluster.port), right=True),
    Column("Size", lambda row: units.size(row.cluster.size_bytes), right=True),
    Column("Files", lambda row: units.count(row.cluster.files), right=True),
    Column("Tablespaces", lambda row: str(len(row.cluster.tablespaces)), right=True),
)
DETAIL_COLUMNS: tuple[Column[Detail], ...] = (
    Column("What", lambda row: row.name, tone=lambda _row: Tone.MUTED),
    Column("Value", lambda row: row.value, width=Width.REST),
)
GAP_COLUMNS: tuple[Column[GapRow], ...] = (
    Column("Server", lambda row: row.server),
    Column("Subject", lambda row: row.subject),
    Column("Why it could not be read", lambda row: row.reason, width=Width.REST, tone=lambda _row: Tone.WARNING),
)
