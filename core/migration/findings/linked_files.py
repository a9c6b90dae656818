"""Links below the data directory to single files, such as `server.crt`: they are copied unchanged, as links."""

from pathlib import PurePosixPath

from core.facts.model import Cluster, Link
from core.migration.findings.data_roots import data_roots, resolve_link, source_data_roots
from core.migration.model.move import Move


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
