"""The data roots of a cluster: the folders of which it consists, and the target of each on the new server."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core.facts.model import Cluster, Link
from core.migration.model.move import Move

_WAL_NAMES = (
    r"[0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history|archive_status|summaries|xlogtemp\.[0-9]+"
)
"""Source: xlog_internal.h, XLogFileName and its kin; `summaries` since 17."""


@dataclass(frozen=True, slots=True)
class DataRoot:
    """A folder that is copied by itself: the data directory, or a folder outside it to which one of its links leads.

    Attributes:
        label: the name of the root in commands: `data`, a tablespace's OID, or the link's path with `-` for `/`.
        link: the link below the data directory that leads here; empty for the data directory itself.
        source: the absolute folder on the old server.
        target: the absolute folder on the new server.
        size_bytes: the size of its files in bytes; None if the facts do not say.
        files: the number of its files; None if the facts do not say.
        inside: whether it lies inside the data directory or another root and is copied with it; only its link is set.
        wal: the folder of the WAL below it, such as `pg_wal`; empty if it is that folder itself. None if the WAL lies
            elsewhere, or if the names of its segments have gaps, as before 9.3.
        parts: the names in a tablespace's folder that belong to this cluster: first `PG_15_202209061`, then those to
            which other links of the cluster lead. Other clusters may use the same folder. Empty: everything in it.
        written: the text of the link itself; None if it is not known.
        idle_bytes: how many of its bytes are idle WAL, which is not copied, see `idle_wal_bytes`.
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
        """Return the copied paths on the old server; `/./` precedes each of the `parts`."""
        return tuple(f"{self.source}/./{part}" for part in self.parts) or (self.source,)

    def holds(self, path: str) -> bool:
        """Return whether a path of the old server lies below the root and is copied with it."""
        inner = PurePosixPath(path)
        if self.parts:
            return any(inner.is_relative_to(f"{self.source}/{part}") for part in self.parts)
        return inner != PurePosixPath(self.source) and inner.is_relative_to(self.source)

    @property
    def copied_bytes(self) -> int | None:
        """Return how many bytes a copy transfers; None if the facts do not say."""
        return None if self.size_bytes is None else max(0, self.size_bytes - self.idle_bytes)


def data_roots(move: Move, cluster: Cluster) -> tuple[DataRoot, ...]:
    """Return the folders to copy, the data directory first. A folder inside another one is not counted twice."""
    data, *outside = source_data_roots(cluster)
    return (replace(data, target=move.target), *(_with_target(root, move, cluster) for root in outside))


def private_key_path(cluster: Cluster) -> str | None:
    """Return the private key of the server if it is in use and is copied with the data directory, else None."""
    setting = cluster.settings.get("ssl_key_file", "")
    path = posixpath.normpath(posixpath.join(cluster.data_directory, setting))
    in_data_directory = setting and path.startswith(cluster.data_directory.rstrip("/") + "/")
    return path if in_data_directory and cluster.settings.get("ssl") == "on" else None


def source_data_roots(cluster: Cluster) -> tuple[DataRoot, ...]:
    """Return the data roots of a cluster with the old server's folders as their targets."""
    outside = [root for root in _linked_roots(cluster) if not root.inside]
    data = DataRoot(
        label="data",
        link="",
        source=cluster.data_directory,
        target=cluster.data_directory,
        size_bytes=_remaining(cluster.size_bytes, [root.size_bytes for root in outside]),
        files=_remaining(cluster.files, [root.files for root in outside]),
    )
    return tuple(_with_parts(_with_wal(root, cluster), cluster) for root in (data, *outside))


def _with_wal(root: DataRoot, cluster: Cluster) -> DataRoot:
    wal = _wal_folder(root, cluster)
    return (
        root if wal is None else replace(root, wal=wal, idle_bytes=min(idle_wal_bytes(cluster), root.size_bytes or 0))
    )


def _with_parts(root: DataRoot, cluster: Cluster) -> DataRoot:
    version = version_folder(cluster)
    if not root.link.startswith("pg_tblspc/") or version == "." or "*" in version:
        return root
    # a root or file in it to which a link of the data directory leads belongs to the cluster, too
    linked = [each.source for each in _linked_roots(cluster)] + [link.target for link in cluster.links if link.to_file]
    inside = [PurePosixPath(each) for each in linked if PurePosixPath(each).is_relative_to(root.source)]
    names = [each.relative_to(root.source).parts[0] for each in inside if each != PurePosixPath(root.source)]
    return replace(root, parts=tuple(dict.fromkeys((version, *names))))


def _wal_folder(root: DataRoot, cluster: Cluster) -> str | None:
    major_version = tuple(int(number) for number in cluster.series.split(".") if number.isdecimal())
    if major_version < (9, 3):
        return None
    folder = "pg_wal" if major_version >= (10,) else "pg_xlog"
    if root.link == folder:
        return ""
    linked = any(link.path == folder for link in cluster.links)
    return folder if root.label == "data" and not linked else None


def linked_folders(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Return every link below the data directory that leads to a folder, with that folder."""
    return tuple((root.link, root.source) for root in _linked_roots(cluster))


def link_targets(move: Move, cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Return every link below the data directory to a folder, with the folder that it leads to on the new server."""
    return tuple((root.link, _with_target(root, move, cluster).target) for root in _linked_roots(cluster))


def relinked_roots(move: Move, cluster: Cluster) -> tuple[DataRoot, ...]:
    """Return the roots whose link must be set again on the new server, because the copied one leads elsewhere.

    That is so for a relative link (`../wal`) if its folder has another path, and for a link to another link, which is
    not copied.
    """
    moved = (_with_target(root, move, cluster) for root in _linked_roots(cluster))
    return tuple(
        root for root in moved if resolve_link(move.target, root.link, root.written or root.source) != root.target
    )


def resolve_link(folder: str, link: str, written: str) -> str:
    """Return the absolute path to which a link below `folder` leads if its text is `written`."""
    return posixpath.normpath(posixpath.join(folder, posixpath.dirname(link), written))


def _target_in_holder(root: DataRoot, move: Move, cluster: Cluster) -> str | None:
    holder = _outermost_folder(root.source, _folders(cluster, _linked_roots(cluster)))
    if holder is None:
        return None
    target = move.target if holder == cluster.data_directory else move.tablespace_targets.get(holder, holder)
    return str(PurePosixPath(target) / PurePosixPath(root.source).relative_to(holder))


def _linked_roots(cluster: Cluster) -> list[DataRoot]:
    """Return tablespaces and links, with the old server's folders as targets. Links to files are not roots."""
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
    roots = spaces + [root for root in links if root.link not in known]
    folders = _folders(cluster, roots)
    return [replace(root, inside=_outermost_folder(root.source, folders) is not None) for root in roots]


def _folders(cluster: Cluster, linked: Iterable[DataRoot]) -> dict[PurePosixPath, str]:
    """Return every folder of the cluster by its path."""
    return {PurePosixPath(each): each for each in (cluster.data_directory, *(root.source for root in linked))}


def _outermost_folder(folder: str, folders: Mapping[PurePosixPath, str]) -> str | None:
    """Return the outermost of the folders in which `folder` lies, or None."""
    return next((folders[each] for each in reversed(PurePosixPath(folder).parents) if each in folders), None)


def _with_target(root: DataRoot, move: Move, cluster: Cluster) -> DataRoot:
    target = move.tablespace_targets.get(root.source)
    if root.inside:
        target = _target_in_holder(root, move, cluster)
    return replace(root, target=target or root.source)


def _remaining(total: int | None, parts: list[int | None]) -> int | None:
    if total is None:
        return None
    return max(0, total - sum(part for part in parts if part is not None))


def version_folder(cluster: Cluster) -> str:
    """Return the folder that each tablespace contains, as a shell pattern; `.` before 9.0, which had none."""
    if cluster.series.startswith("8."):
        return "."
    return f"PG_{cluster.series}_{cluster.control.catalog_version if cluster.control is not None else '*'}"


def root_name_pattern(root: DataRoot, major_version: str) -> str:
    """Return an extended regular expression for the names in a copy of a root that has no `parts`."""
    if root.wal is not None:
        return _WAL_NAMES
    if not root.link.startswith("pg_tblspc/"):
        return ".*"
    return f"PG_{major_version.replace('.', '[.]')}_[0-9]+"


def idle_wal_bytes(cluster: Cluster) -> int:
    """Return the size in bytes of WAL segments after the current one (resources/sh/wal.sh); 0 if it is not known.

    The server itself was queried. WAL since its last checkpoint precedes the current segment and is copied. The WAL of
    a standby is copied completely.
    """
    wide = cluster.wide
    return 0 if wide is None or wide.in_recovery else wide.idle_wal_bytes or 0


def required_files(cluster: Cluster) -> dict[str, str]:
    """Return the linked files that no data root contains, by the path in the link, each with the link."""
    folders = [root.source for root in source_data_roots(cluster)]
    return {
        _named_path(link): link.path
        for link in cluster.links
        if link.to_file and not any(_is_within(link.target, folder) for folder in folders)
    }


def links_leading_elsewhere(move: Move, cluster: Cluster) -> dict[str, str]:
    """Return the links that would lead elsewhere on the new server, each with where it would lead."""
    required = required_files(cluster)
    found = {}
    for link in cluster.links:
        if not link.to_file:
            continue
        target = resolve_link(move.target, link.path, link.written or link.target)
        if target not in _correct_targets(link, move, cluster, required):
            found[link.path] = target
    return found


def _correct_targets(link: Link, move: Move, cluster: Cluster, required: dict[str, str]) -> set[str]:
    """Return where the link may lead on the new server: to the same path, or to the copy of its file."""
    if _named_path(link) in required:
        return {_named_path(link)}
    return {
        str(PurePosixPath(root.target) / PurePosixPath(link.target).relative_to(root.source))
        for root in data_roots(move, cluster)
        if _is_within(link.target, root.source)
    }


def _named_path(link: Link) -> str:
    """Return the link's text if it is an absolute path, even one of another link, else the link's target."""
    return link.written if link.written is not None and link.written.startswith("/") else link.target


def _is_within(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)
