"""The table of servers."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.api.model import ServerRow
from core.facts.model import Cluster, Facts, FileSystem
from core.language import marked, tr
from core.migration.model.move import Move
from core.servers.profiles import Profile, Rights
from core.sides import Side
from core.tones import Tone
from gui.models.explained import Explained, Paragraph, told
from gui.models.table import Column, Width
from gui.models.words import minute, moment

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


AS_IN_CONFIG = marked("as in ~/.ssh/config")
_SIDES = {Side.OLD: marked("Old"), Side.NEW: marked("New")}
_OF_MOVE = {Side.OLD: marked("Old server of {move}"), Side.NEW: marked("New server of {move}")}
_SIDE_TONES = {Side.OLD: Tone.OLD, Side.NEW: Tone.NEW}


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A server, and which side of the selected move it is."""

    server: ServerRow
    side: Side | None = None

    @property
    def profile(self) -> Profile:
        return self.server.profile

    @property
    def facts(self) -> Facts | None:
        return self.server.facts


def server_lines(servers: Sequence[ServerRow], move: Move | None) -> tuple[ServerLine, ...]:
    """Return the servers with their sides: those of the move first, the old one before the new one."""
    sides = {} if move is None else {move.new: Side.NEW, move.old: Side.OLD}
    lines = [ServerLine(row, sides.get(row.profile.name)) for row in servers]
    return tuple(sorted(lines, key=lambda line: [*Side, None].index(line.side)))


def second_line(line: ServerLine) -> str:
    """Return where a server is and what it runs."""
    return ", ".join(part for part in (_login(line.profile), _system(line)) if part)


def explain_server(line: ServerLine, move: Move | None) -> Explained:
    """Return a server in full: how to connect to it, what runs there, and which moves use it."""
    profile, facts = line.profile, line.facts
    side = None if line.side is None or move is None else tr(_OF_MOVE[line.side]).format(move=move.name)
    clusters = () if facts is None else facts.clusters
    running = "\n".join(f"{one.data_directory}: {describe_cluster(one)}" for one in clusters)
    port = tr("default ({source})").format(source=tr(AS_IN_CONFIG)) if profile.port is None else str(profile.port)
    return Explained(
        title=profile.name,
        status=side or tr("Server"),
        tone=Tone.MUTED if line.side is None else _SIDE_TONES[line.side],
        paragraphs=told(
            Paragraph(tr("Address"), _login(profile)),
            Paragraph(tr("Port"), port),
            Paragraph(tr("Rights"), tr(RIGHTS[profile.rights])),
            Paragraph(tr("Database user"), profile.database_user),
            Paragraph(tr("System"), _system(line)),
            Paragraph(tr("PostgreSQL"), running),
            Paragraph(tr("Facts read"), tr("not yet") if facts is None else moment(facts.taken_at)),
            Paragraph(tr("Moves"), ", ".join(line.server.moves)),
        ),
    )


def _login(profile: Profile) -> str:
    return f"{profile.user}@{profile.address}" if profile.user else profile.address


def _system(line: ServerLine) -> str:
    return "" if line.facts is None or line.facts.system is None else line.facts.system.name


def _versions(line: ServerLine) -> str:
    clusters = () if line.facts is None else line.facts.clusters
    return ", ".join(dict.fromkeys(one.version or one.series for one in clusters if one.version or one.series))


def _read(line: ServerLine) -> str:
    if line.facts is None:
        return tr("not yet")
    return minute(line.facts.taken_at)


COLUMNS: tuple[Column[ServerLine], ...] = (
    Column("Server", lambda row: row.profile.name, width=Width.REST, tip=second_line),
    Column(
        "Side",
        lambda row: "" if row.side is None else tr(_SIDES[row.side]),
        tone=lambda row: None if row.side is None else _SIDE_TONES[row.side],
    ),
    Column("PostgreSQL", _versions),
    Column(
        "Facts read",
        _read,
        tone=lambda row: Tone.MUTED if row.facts is None else None,
        tip=lambda row: tr("not yet") if row.facts is None else moment(row.facts.taken_at),
        value=lambda row: None if row.facts is None else row.facts.taken_at.timestamp(),
        width=Width.WHOLE,
    ),
    Column("Address", lambda row: row.profile.address),
    Column("User", lambda row: row.profile.user or tr(AS_IN_CONFIG)),
    Column(
        "Port",
        lambda row: tr("default") if row.profile.port is None else str(row.profile.port),
        tone=lambda row: Tone.MUTED if row.profile.port is None else None,
        tip=lambda row: tr(AS_IN_CONFIG) if row.profile.port is None else str(row.profile.port),
        value=lambda row: row.profile.port,
    ),
    Column("Rights", lambda row: tr(SHORT_RIGHTS[row.profile.rights])),
    Column("Database user", lambda row: row.profile.database_user),
    Column("System", _system),
    Column("Moves", lambda row: ", ".join(row.server.moves)),
)
SHOWN = 4
"""How many of the columns the list shows. The others stand beside it, and are saved as CSV."""


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
