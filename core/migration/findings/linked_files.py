"""Links below the data directory that lead to single files, as `server.crt`: copied as links, as they stand."""

from pathlib import PurePosixPath

from core.facts.model import Cluster, Link
from core.migration.findings.data_roots import data_roots, resolved, roots_of
from core.migration.model.move import Move


def wanted_files(cluster: Cluster) -> dict[str, str]:
    """The files that no data root brings, by the path that the link names, each with the link."""
    folders = [root.source for root in roots_of(cluster)]
    return {
        _named(link): link.path
        for link in cluster.links
        if link.to_file and not any(_within(link.target, folder) for folder in folders)
    }


def astray(move: Move, cluster: Cluster) -> dict[str, str]:
    """Return the links that would lead elsewhere on the new server, each with where it would lead."""
    wanted = wanted_files(cluster)
    found = {}
    for link in cluster.links:
        if not link.to_file:
            continue
        there = resolved(move.target, link.path, link.written or link.target)
        if there not in _right(link, move, cluster, wanted):
            found[link.path] = there
    return found


def _right(link: Link, move: Move, cluster: Cluster, wanted: dict[str, str]) -> set[str]:
    """Return where it may lead on the new server: to the same path, or to the copy of its file."""
    if _named(link) in wanted:
        return {_named(link)}
    return {
        str(PurePosixPath(root.target) / PurePosixPath(link.target).relative_to(root.source))
        for root in data_roots(move, cluster)
        if _within(link.target, root.source)
    }


def _named(link: Link) -> str:
    """As it is written where that is a whole path, which may be that of another link; else where it leads."""
    return link.written if link.written is not None and link.written.startswith("/") else link.target


def _within(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)
