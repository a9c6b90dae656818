"""Servers as their facts have them: side by side, the cluster that moves, file systems and devices."""

from collections.abc import Callable, Container

from core import units
from core.facts.model import Cluster, Facts, FileSystem
from core.language import tr
from core.reports.model import Block, Cell, Item, Items, Section, Table, Text, Tone
from core.reports.recorded import compared
from core.reports.report import Report
from core.reports.words import counted, instant
from core.servers.shell import command

_SHOWN_DEVICES = ("disk", "raid", "lvm", "crypt")


def servers(report: Report, title: str = "") -> Section:
    """Both servers, side by side and one below the other, under this title or "Servers"."""
    sides = ((report.old.name, report.old_facts), (report.new.name, report.new_facts))
    hint = tr("The facts of {server} have not been read yet. Run {command}, or open the page Facts in the window.")
    unread = [
        Text(hint.format(server=name, command=command("pghaul", "facts", name)), Tone.MUTED)
        for name, facts in sides
        if facts is None
    ]
    machines = Table("servers", ("", tr("Old server"), tr("New server")), tuple(_machines(report)), (0.5, 1, 1))
    return Section(title or tr("Servers"), (*unread, machines, _cluster(report), *_details(report)))


def _details(report: Report) -> list[Section]:
    sides = [(name, facts) for name, facts in _sides(report) if facts is not None]
    systems = [(name, one) for name, facts in sides for one in _file_systems(report, facts)]
    devices = [
        row
        for name, facts in sides
        for row in _devices(name, facts, {one.device for one in _file_systems(report, facts)})
    ]
    gaps = [
        tr("{server}: {subject} could not be read: {reason}").format(
            server=name, subject=compared(gap.subject), reason=compared(gap.reason)
        )
        for name, facts in sides
        for gap in facts.gaps_besides(report.move.target if facts is report.new_facts else "")
    ]
    size, server = tr("Size"), tr("Server")
    system_head = (server, tr("Mount point"), tr("Device"), tr("Type"), size, tr("Available"))
    found = (
        (tr("Other clusters"), _clusters(report)),
        (
            tr("File systems of the data directory, the WAL and the tablespaces"),
            Table(
                "file-systems",
                system_head,
                tuple(_file_system_row(name, one) for name, one in systems),
                (0.8, 1, 1, 0, 0, 0),
                frozenset({4, 5}),
            ),
        ),
        (
            tr("Devices"),
            Table(
                "devices",
                (server, tr("Device"), tr("Kind"), size, tr("Medium"), tr("Scheduler")),
                tuple(devices),
                (0.8, 1, 0, 0, 0, 0),
                frozenset({3}),
            ),
        ),
    )
    shown = [Section(title, (table,)) for title, table in found if table.rows]
    unread: tuple[Block, ...] = (Items(tuple(Item(gap) for gap in gaps)),)
    return [*shown, *([Section(tr("Facts that could not be read"), unread)] if gaps else [])]


def _sides(report: Report) -> tuple[tuple[str, Facts | None], ...]:
    return (report.old.name, report.old_facts), (report.new.name, report.new_facts)


def _clusters(report: Report) -> Table:
    """Those beside the one that moves and its copy: its own figures stand above."""
    rows = [
        _cluster_row(name, cluster)
        for name, facts in _sides(report)
        if facts
        for cluster in facts.clusters
        if cluster is not report.cluster and not _is_target(report, facts, cluster)
    ]
    head = (tr("Server"), tr("Data directory"), tr("Version"), tr("State"), tr("Size"), tr("Files"))
    return Table("clusters", head, tuple(rows), (0.8, 1.4, 0, 0, 0, 0), frozenset({4, 5}))


def _is_target(report: Report, facts: Facts, cluster: Cluster) -> bool:
    return facts is report.new_facts and cluster.data_directory == report.move.target


def _size(number: float | None) -> Cell:
    return Cell(units.size(number), number)


def _machines(report: Report) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, Callable[[Facts], str | None]]] = [
        (tr("Operating system"), lambda facts: facts.system.name if facts.system else None),
        (tr("Kernel"), lambda facts: facts.system.kernel if facts.system else None),
        (tr("Architecture"), lambda facts: facts.system.architecture if facts.system else None),
        (tr("C library"), lambda facts: facts.system.libc if facts.system else None),
        (tr("Processor"), _processor),
        (tr("Memory"), _memory),
        (tr("Network"), _network),
        (tr("Facts read"), lambda facts: instant(facts.taken_at)),
    ]
    named = [
        (tr("Server"), report.old.name, report.new.name),
        (tr("Address"), report.old.address, report.new.address),
        (tr("Measured directory"), report.move.old_volume, report.move.new_volume),
    ]
    old, new = report.old_facts, report.new_facts
    return [*named, *((title, _cell(read, old), _cell(read, new)) for title, read in rows)]


def _cell(read: Callable[[Facts], str | None], facts: Facts | None) -> str:
    return (None if facts is None else read(facts)) or units.ABSENT


def _memory(facts: Facts) -> str | None:
    found = facts.memory
    if found is None:
        return None
    if found.limit_bytes is None:
        return units.size(found.total_bytes)
    return tr("{limit} of {total}, limited by its control group").format(
        limit=units.size(found.limit_bytes), total=units.size(found.total_bytes)
    )


def _processor(facts: Facts) -> str | None:
    found = facts.processor
    if found is None:
        return None
    cores = tr("{number} cores, ").format(number=found.cores) if found.cores is not None else ""
    return tr("{model}: {cores}{threads} threads").format(model=found.model or "?", cores=cores, threads=found.threads)


def _network(facts: Facts) -> str | None:
    links = [link for link in facts.network_links if link.name != "lo"]
    known = [f"{link.name} {units.bits(link.bits_per_second)}" for link in links if link.bits_per_second is not None]
    return ", ".join(known or [tr("{link} (speed not known)").format(link=link.name) for link in links]) or None


def _cluster(report: Report) -> Section:
    """The one that moves: what it is, where from, where to."""
    cluster, move = report.cluster, report.move
    rows = [(tr("Data directory"), move.cluster, move.target)]
    rows += [(tr("Tablespace"), old, new) for old, new in sorted(move.tablespace_targets.items())]
    said = Text(tr("Its facts have not been read, or there is no cluster at the path that the move names."), Tone.MUTED)
    if cluster is not None:
        mapped = set(move.tablespace_targets)
        rows += [
            (tr("Tablespace"), one.location, one.location) for one in cluster.tablespaces if one.location not in mapped
        ]
        said = Text(_described(report, cluster))
    places = Table("cluster", ("", tr("From"), tr("To")), tuple(rows), (0.5, 1, 1))
    return Section(tr("Cluster to be moved"), (said, places))


def _described(report: Report, cluster: Cluster) -> str:
    parts = [f"PostgreSQL {cluster.version or cluster.series}", tr("running") if cluster.running else tr("stopped")]
    if cluster.size_bytes is not None:
        parts.append(units.size(cluster.size_bytes))
    if cluster.files is not None:
        parts.append(counted(cluster.files, "{number} file", "{number} files"))
    if cluster.databases:
        parts.append(counted(len(cluster.databases), "{number} database", "{number} databases"))
    said = f"{', '.join(parts)}."
    if idle := report.idle_wal_bytes:
        said += " " + tr("This includes unused WAL segments of {size}, which are not copied.").format(
            size=units.size(idle)
        )
    return said


def _cluster_row(server: str, cluster: Cluster) -> tuple[str | Cell, ...]:
    return (
        server,
        cluster.data_directory,
        cluster.version or cluster.series,
        tr("running") if cluster.running else tr("stopped"),
        _size(cluster.size_bytes),
        Cell(units.count(cluster.files), cluster.files),
    )


def _file_systems(report: Report, facts: Facts) -> list[FileSystem]:
    """Those that the move reads or writes."""
    move = report.move
    if facts is report.old_facts:
        places = [move.cluster, move.old_volume, *move.tablespace_targets]
        places += [one.location for one in report.cluster.tablespaces] if report.cluster else []
    else:
        places = [move.target, move.new_volume, *move.tablespace_targets.values()]
    found = {one.mount_point: one for one in map(facts.file_system_of, places) if one is not None}
    return [found[mount_point] for mount_point in sorted(found)]


def _file_system_row(server: str, one: FileSystem) -> tuple[str | Cell, ...]:
    return (server, one.mount_point, one.device, one.kind, _size(one.size_bytes), _size(one.available_bytes))


def _devices(server: str, facts: Facts, mounted: Container[str]) -> list[tuple[str | Cell, ...]]:
    media = {True: tr("spinning"), False: tr("solid state"), None: units.ABSENT}
    return [
        (
            server,
            one.name,
            one.kind,
            _size(one.size_bytes),
            media[None if one.kind == "loop" else one.rotational],
            one.scheduler or units.ABSENT,
        )
        for one in facts.block_devices
        if one.size_bytes > 0 and (one.kind.startswith(_SHOWN_DEVICES) or f"/dev/{one.name}" in mounted)
    ]
