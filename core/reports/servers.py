"""The section on the servers: side by side as their facts have them, their clusters, file systems and devices."""

from collections.abc import Callable, Container

from core import units
from core.facts.model import Cluster, Facts, FileSystem
from core.reports.report import Report
from core.reports.words import Plain, counted, instant, table
from core.servers.shell import command

_SHOWN_DEVICES = ("disk", "raid", "lvm", "crypt")


def servers(report: Report) -> Plain:
    """Tables, each with a title, and sentences for what is missing."""
    sides = ((report.old.name, report.old_facts), (report.new.name, report.new_facts))
    return {
        "machines": table(("", "Old", "New"), _machines(report)),
        "missing": [
            f"No facts of {name} were read yet. Run {command('pghaul', 'facts', name)}, or open Facts in the window."
            for name, facts in sides
            if facts is None
        ],
        "cluster": _cluster(report),
        "clusters": table(
            ("Server", "Data directory", "Version", "State", "Size", "Files"),
            [_cluster_row(name, cluster) for name, facts in sides if facts for cluster in facts.clusters],
        ),
        "file_systems": table(
            ("Server", "Mount point", "Device", "Type", "Size", "Available"),
            [_file_system_row(name, one) for name, facts in sides if facts for one in _file_systems(report, facts)],
        ),
        "devices": table(
            ("Server", "Device", "Kind", "Size", "Medium", "Scheduler"),
            [
                row
                for name, facts in sides
                if facts
                for row in _devices(name, facts, {one.device for one in _file_systems(report, facts)})
            ],
        ),
        "gaps": [
            f"{name}: {gap.subject} could not be read: {gap.reason}"
            for name, facts in sides
            if facts
            for gap in facts.gaps_besides(report.move.target if facts is report.new_facts else "")
        ],
    }


def _machines(report: Report) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, Callable[[Facts], str | None]]] = [
        ("Operating system", lambda facts: facts.system.name if facts.system else None),
        ("Kernel", lambda facts: facts.system.kernel if facts.system else None),
        ("Architecture", lambda facts: facts.system.architecture if facts.system else None),
        ("C library", lambda facts: facts.system.libc if facts.system else None),
        ("Processor", _processor),
        ("Memory", lambda facts: units.size(facts.memory.total_bytes) if facts.memory else None),
        ("Network", _network),
        ("Facts read", lambda facts: instant(facts.taken_at)),
    ]
    named = [
        ("Server", report.old.name, report.new.name),
        ("Address", report.old.address, report.new.address),
        ("Folder measured", report.move.old_volume, report.move.new_volume),
    ]
    old, new = report.old_facts, report.new_facts
    return [*named, *((title, _cell(read, old), _cell(read, new)) for title, read in rows)]


def _cell(read: Callable[[Facts], str | None], facts: Facts | None) -> str:
    return (None if facts is None else read(facts)) or units.ABSENT


def _processor(facts: Facts) -> str | None:
    found = facts.processor
    if found is None:
        return None
    cores = f"{found.cores} cores, " if found.cores is not None else ""
    return f"{found.model or 'unnamed'}: {cores}{found.threads} threads"


def _network(facts: Facts) -> str | None:
    links = [link for link in facts.network_links if link.name != "lo"]
    known = [f"{link.name} {units.bits(link.bits_per_second)}" for link in links if link.bits_per_second is not None]
    return ", ".join(known or [f"{link.name} (speed not told)" for link in links]) or None


def _cluster(report: Report) -> Plain | None:
    """The one that moves: where from, where to."""
    cluster, move = report.cluster, report.move
    rows = [("Data directory", move.cluster, move.target)]
    rows += [("Tablespace", old, new) for old, new in sorted(move.tablespace_targets.items())]
    if cluster is None:
        return {"places": table(("", "From", "To"), rows), "sentence": ""}
    mapped = set(move.tablespace_targets)
    rows += [("Tablespace", one.location, one.location) for one in cluster.tablespaces if one.location not in mapped]
    return {"places": table(("", "From", "To"), rows), "sentence": _described(cluster)}


def _described(cluster: Cluster) -> str:
    parts = [f"PostgreSQL {cluster.version or cluster.series}", "running" if cluster.running else "stopped"]
    if cluster.size_bytes is not None:
        parts.append(units.size(cluster.size_bytes))
    if cluster.files is not None:
        parts.append(f"{units.count(cluster.files)} files")
    if cluster.databases:
        parts.append(counted(len(cluster.databases), "database"))
    return f"{', '.join(parts)}."


def _cluster_row(server: str, cluster: Cluster) -> tuple[str, ...]:
    return (
        server,
        cluster.data_directory,
        cluster.version or cluster.series,
        "running" if cluster.running else "stopped",
        units.size(cluster.size_bytes),
        units.count(cluster.files),
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


def _file_system_row(server: str, one: FileSystem) -> tuple[str, ...]:
    return (server, one.mount_point, one.device, one.kind, units.size(one.size_bytes), units.size(one.available_bytes))


def _devices(server: str, facts: Facts, mounted: Container[str]) -> list[tuple[str, ...]]:
    media = {True: "spinning", False: "solid state", None: units.ABSENT}
    return [
        (server, one.name, one.kind, units.size(one.size_bytes), media[one.rotational], one.scheduler or units.ABSENT)
        for one in facts.block_devices
        if one.size_bytes > 0 and (one.kind.startswith(_SHOWN_DEVICES) or f"/dev/{one.name}" in mounted)
    ]
