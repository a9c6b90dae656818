"""The table of servers."""

from collections.abc import Sequence

from core import units
from core.api.model import ServerRow
from core.facts.model import Cluster, Facts, FileSystem
from core.language import marked, tr
from core.servers.profiles import Rights
from core.tones import Tone
from gui.models.table import Column, Width
from gui.models.words import minute

RIGHTS = {
    Rights.SUDO: marked("sudo without a password"),
    Rights.SUDO_PASSWORD: marked("sudo with a password"),
    Rights.SUDO_POSTGRES: marked("sudo to the database user only"),
    Rights.NONE: marked("only those of the login user"),
}
SHORT_RIGHTS = {
    Rights.SUDO: "sudo",
    Rights.SUDO_PASSWORD: marked("sudo, password"),
    Rights.SUDO_POSTGRES: marked("sudo, database user"),
    Rights.NONE: marked("none"),
}


def _system(row: ServerRow) -> str:
    return units.ABSENT if row.facts is None or row.facts.system is None else row.facts.system.name


COLUMNS: tuple[Column[ServerRow], ...] = (
    Column("Name", lambda row: row.profile.name),
    Column("Address", lambda row: row.profile.address),
    Column("User", lambda row: row.profile.user or tr("as in ~/.ssh/config")),
    Column(
        "Port",
        lambda row: tr("as in ~/.ssh/config") if row.profile.port is None else str(row.profile.port),
        value=lambda row: row.profile.port,
    ),
    Column(
        "Rights",
        lambda row: tr(SHORT_RIGHTS[row.profile.rights]),
        tip=lambda row: tr(RIGHTS[row.profile.rights]),
    ),
    Column("Database user", lambda row: row.profile.database_user),
    Column("System", _system, width=Width.REST, tip=_system),
    Column(
        "Facts read",
        lambda row: tr("not yet") if row.facts is None else minute(row.facts.taken_at),
        tone=lambda row: Tone.MUTED if row.facts is None else None,
        value=lambda row: None if row.facts is None else row.facts.taken_at.timestamp(),
    ),
    Column("Moves", lambda row: ", ".join(row.moves)),
)


_NO_PLACE = ("/dev", "/proc", "/sys", "/run", "/boot")
_NO_DISK = {"tmpfs", "devtmpfs", "proc", "sysfs", "cgroup", "cgroup2", "squashfs", "efivarfs", "ramfs"}


def volumes(facts: Facts | None) -> list[FileSystem]:
    """Return the file systems that can contain a cluster: neither virtual ones nor those in memory."""
    found = () if facts is None else facts.file_systems
    return [one for one in found if one.kind not in _NO_DISK and not _below(one.mount_point, _NO_PLACE)]


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def describe_cluster(cluster: Cluster | None) -> str:
    """Return a cluster as `15/main, PostgreSQL 15.5, 1.1 TiB, running on port 5432`."""
    if cluster is None:
        return tr("The facts of the server do not list this cluster.")
    runs = tr("running on port {port}").format(port=cluster.port) if cluster.running else tr("stopped")
    version = (
        tr("PostgreSQL {version}").format(version=cluster.version or cluster.series)
        if cluster.version or cluster.series
        else None
    )
    size = None if cluster.size_bytes is None else units.size(cluster.size_bytes)
    return ", ".join(part for part in (cluster.name, version, size, runs) if part)


def describe_volume(facts: Facts | None, path: str) -> str:
    """Return a volume as `1.0 TiB free of 2.0 TiB, xfs on /dev/sdb1`."""
    system = None if facts is None or not path.startswith("/") else facts.file_system_of(path)
    if system is None:
        return "" if facts is not None else tr("The facts of the server have not been read yet.")
    free = tr("{available_bytes} free of {size_bytes}").format(
        available_bytes=units.size(system.available_bytes), size_bytes=units.size(system.size_bytes)
    )
    return tr("{free}, {kind} on {device}").format(free=free, kind=system.kind, device=system.device)


def direction(servers: Sequence[ServerRow]) -> tuple[str, str]:
    """Return the old and the new server if exactly one of two servers has a running cluster; else empty names."""
    running = [row.profile.name for row in servers if row.facts is not None and _runs(row.facts)]
    others = [row.profile.name for row in servers if row.profile.name not in running]
    return (running[0], others[0]) if len(running) == len(others) == 1 else ("", "")


def _runs(facts: Facts) -> bool:
    return any(cluster.running for cluster in facts.clusters)
