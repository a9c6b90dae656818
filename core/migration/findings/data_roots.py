"""The data roots of a cluster: the folders that it consists of, and the target of each on the new server."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core.facts.model import Cluster
from core.migration.findings.idle_wal import idle_wal
from core.migration.model.move import Move

_WAL_NAMES = (
    r"[0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history|archive_status|summaries|xlogtemp\.[0-9]+"
)
"""Source: xlog_internal.h, XLogFileName and its kin; `summaries` since 17."""


@dataclass(frozen=True, slots=True)
class DataRoot:
    """One folder that is copied by itself: the data directory, or what a link of it leads to outside of it.

    Attributes:
        label: `data`, a tablespace's oid, or the link's path with `-` for `/`: it names the root in commands.
        link: the link below the data directory that leads here; empty for the data directory itself.
        source, target: absolute folders on the old and on the new server.
        size_bytes, files: what lies in it; None where the facts do not say.
        inside: it lies inside the data directory or another root and travels with it; only its link is set.
        wal: the folder of the WAL below it: `pg_wal`, or nothing where it is that folder itself; None where the WAL
            lies elsewhere, or its names have gaps, as before 9.3.
        parts: of a tablespace's folder the names in it that are this cluster's: first `PG_15_202209061`, then those to
            which, or below which, other links of the cluster lead. Others may have theirs beside them. Empty: all is.
        written: what the link itself says; None where that is not known.
        idle_bytes: of its bytes, WAL that no pass brings, see `idle_wal`.
    """

    label: str
    link: str
    source: str
    target: str
    size_bytes: int | None
    files: int | None
    inside: bool = False
    wal: str | None = None
    parts: tuple[str, ...] = ()
    written: str | None = None
    idle_bytes: int = 0

    @property
    def contents(self) -> tuple[str, ...]:
        """The copied paths of the old server; `/./` stands ahead of each of the `parts`."""
        return tuple(f"{self.source}/./{part}" for part in self.parts) or (self.source,)

    def holds(self, path: str) -> bool:
        """Whether a path of the old server lies below the root, and in what is copied of it."""
        within = PurePosixPath(path)
        if self.parts:
            return any(within.is_relative_to(f"{self.source}/{part}") for part in self.parts)
        return within != PurePosixPath(self.source) and within.is_relative_to(self.source)

    @property
    def copied_bytes(self) -> int | None:
        """What a copy brings of it; None where the facts do not say."""
        return None if self.size_bytes is None else max(0, self.size_bytes - self.idle_bytes)


def data_roots(move: Move, cluster: Cluster) -> tuple[DataRoot, ...]:
    """The folders to copy, the data directory first; what lies inside it, or inside another, is not counted twice."""
    data, *outside = roots_of(cluster)
    return (replace(data, target=move.target), *(_placed(root, move, cluster) for root in outside))


def private_key(cluster: Cluster) -> str | None:
    """The private key of the server, where it is in use and lies in the data directory, and so travels with it."""
    named = cluster.settings.get("ssl_key_file", "")
    path = posixpath.normpath(posixpath.join(cluster.data_directory, named))
    inside = named and path.startswith(cluster.data_directory.rstrip("/") + "/")
    return path if inside and cluster.settings.get("ssl") == "on" else None


def roots_of(cluster: Cluster) -> tuple[DataRoot, ...]:
    """The folders of a cluster where it stands: `target` is `source`."""
    outside = [root for root in _linked(cluster) if not root.inside]
    data = DataRoot(
        label="data",
        link="",
        source=cluster.data_directory,
        target=cluster.data_directory,
        size_bytes=_rest(cluster.size_bytes, [root.size_bytes for root in outside]),
        files=_rest(cluster.files, [root.files for root in outside]),
    )
    return tuple(_with_parts(_with_wal(root, cluster), cluster) for root in (data, *outside))


def _with_wal(root: DataRoot, cluster: Cluster) -> DataRoot:
    wal = _wal(root, cluster)
    return root if wal is None else replace(root, wal=wal, idle_bytes=min(idle_wal(cluster), root.size_bytes or 0))


def _with_parts(root: DataRoot, cluster: Cluster) -> DataRoot:
    version = version_folder(cluster)
    if not root.link.startswith("pg_tblspc/") or version == "." or "*" in version:
        return root
    # what the data directory leads to in it, another root or a file, is the cluster's, too
    led = [each.source for each in _linked(cluster)] + [link.target for link in cluster.links if link.to_file]
    inside = [PurePosixPath(each) for each in led if PurePosixPath(each).is_relative_to(root.source)]
    names = [each.relative_to(root.source).parts[0] for each in inside if each != PurePosixPath(root.source)]
    return replace(root, parts=tuple(dict.fromkeys((version, *names))))


def _wal(root: DataRoot, cluster: Cluster) -> str | None:
    major_version = tuple(int(number) for number in cluster.series.split(".") if number.isdecimal())
    if major_version < (9, 3):
        return None
    folder = "pg_wal" if major_version >= (10,) else "pg_xlog"
    if root.link == folder:
        return ""
    linked = any(link.path == folder for link in cluster.links)
    return folder if root.label == "data" and not linked else None


def led_to(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Every link below the data directory that leads to a folder, and that folder."""
    return tuple((root.link, root.source) for root in _linked(cluster))


def link_targets(move: Move, cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Return every link below the data directory to a folder, with the folder that it leads to on the new server."""
    return tuple((root.link, _placed(root, move, cluster).target) for root in _linked(cluster))


def relinked(move: Move, cluster: Cluster) -> tuple[DataRoot, ...]:
    """Return the roots whose link must be set again on the new server, because the copied one leads elsewhere.

    So does one from its folder on (`../wal`) where that lies elsewhere, or one to another link, which is not copied.
    """
    moved = (_placed(root, move, cluster) for root in _linked(cluster))
    return tuple(root for root in moved if resolved(move.target, root.link, root.written or root.source) != root.target)


def resolved(folder: str, link: str, written: str) -> str:
    """Where a link below a folder leads that says `written`: an absolute path."""
    return posixpath.normpath(posixpath.join(folder, posixpath.dirname(link), written))


def _target_of_holder(root: DataRoot, move: Move, cluster: Cluster) -> str | None:
    holder = _holder(root.source, _folders(cluster, _linked(cluster)))
    if holder is None:
        return None
    target = move.target if holder == cluster.data_directory else move.tablespace_targets.get(holder, holder)
    return str(PurePosixPath(target) / PurePosixPath(root.source).relative_to(holder))


def _linked(cluster: Cluster) -> list[DataRoot]:
    """Return tablespaces and links, each with `target` still as on the old server. Links to single files stay links."""
    spaces = [
        DataRoot(
            str(space.oid),
            space.link,
            space.location,
            space.location,
            space.size_bytes,
            space.files,
            written=space.written,
        )
        for space in cluster.tablespaces
    ]
    links = [
        DataRoot(
            link.path.replace("/", "-") if not link.path.isdecimal() else f"link-{link.path}",
            link.path,
            link.target,
            link.target,
            link.size_bytes,
            link.files,
            written=link.written,
        )
        for link in cluster.links
        if not link.dangling and not link.to_file
    ]
    known = {root.link for root in spaces}
    found = spaces + [root for root in links if root.link not in known]
    folders = _folders(cluster, found)
    return [replace(root, inside=_holder(root.source, folders) is not None) for root in found]


def _folders(cluster: Cluster, linked: Iterable[DataRoot]) -> dict[PurePosixPath, str]:
    """Every folder of the cluster by its path."""
    return {PurePosixPath(each): each for each in (cluster.data_directory, *(root.source for root in linked))}


def _holder(folder: str, folders: Mapping[PurePosixPath, str]) -> str | None:
    """The folder that `folder` lies in, the outermost of them."""
    return next((folders[each] for each in reversed(PurePosixPath(folder).parents) if each in folders), None)


def _placed(root: DataRoot, move: Move, cluster: Cluster) -> DataRoot:
    target = move.tablespace_targets.get(root.source)
    if root.inside:
        target = _target_of_holder(root, move, cluster)
    return replace(root, target=target or root.source)


def _rest(total: int | None, parts: list[int | None]) -> int | None:
    if total is None:
        return None
    return max(0, total - sum(part for part in parts if part is not None))


def version_folder(cluster: Cluster) -> str:
    """The folder that each of its tablespaces holds, as a pattern of the shell; `.` before 9.0, which had none."""
    if cluster.series.startswith("8."):
        return "."
    return f"PG_{cluster.series}_{cluster.control.catalog_version if cluster.control is not None else '*'}"


def names_of(root: DataRoot, major_version: str) -> str:
    """An extended regular expression: what the names in a copy of that root are like, where it has no `parts`."""
    if root.wal is not None:
        return _WAL_NAMES
    if not root.link.startswith("pg_tblspc/"):
        return ".*"
    return f"PG_{major_version.replace('.', '[.]')}_[0-9]+"
