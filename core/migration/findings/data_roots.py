"""The folders that a cluster is made of, and where each comes to lie on new."""

from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core.facts.model import Cluster
from core.migration.model.move import Move

_WAL_NAMES = (
    r"[0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history|archive_status|summaries|xlogtemp\.[0-9]+"
)
"""Source: xlog_internal.h, XLogFileName and its kin; `summaries` since 17."""


@dataclass(frozen=True, slots=True)
class DataRoot:
    """One folder that is copied by itself: the data directory, or what a link of it leads to outside of it.

    Attributes:
        label: `data`, a tablespace's oid, or the link's path with `-` for `/`: it names the place in commands.
        link: the link below the data directory that leads here; empty for the data directory itself.
        source, target: absolute folders on old and on new.
        size_bytes, files: what lies in it; None where the facts do not say.
        inside: it lies inside the data directory or another place and travels with it; only its link is set.
        wal: the folder of the WAL below it: `pg_wal`, or nothing where it is that folder itself; None where the WAL
            lies elsewhere, or its names have gaps, as before 9.3.
    """

    label: str
    link: str
    source: str
    target: str
    size_bytes: int | None
    files: int | None
    inside: bool = False
    wal: str | None = None


def data_roots(move: Move, cluster: Cluster) -> tuple[DataRoot, ...]:
    """The folders to copy, the data directory first; what lies inside it, or inside another, is not counted twice."""
    data, *outside = roots_of(cluster)
    return (replace(data, target=move.target), *(_placed(place, move, cluster) for place in outside))


def roots_of(cluster: Cluster) -> tuple[DataRoot, ...]:
    """The folders of a cluster where it stands: `target` is `source`."""
    outside = [place for place in _linked(cluster) if not place.inside]
    data = DataRoot(
        label="data",
        link="",
        source=cluster.data_directory,
        target=cluster.data_directory,
        size_bytes=_rest(cluster.size_bytes, [place.size_bytes for place in outside]),
        files=_rest(cluster.files, [place.files for place in outside]),
    )
    return tuple(replace(place, wal=_wal(place, cluster)) for place in (data, *outside))


def _wal(place: DataRoot, cluster: Cluster) -> str | None:
    series = tuple(int(number) for number in cluster.series.split(".") if number.isdecimal())
    if series < (9, 3):
        return None
    folder = "pg_wal" if series >= (10,) else "pg_xlog"
    if place.link == folder:
        return ""
    linked = any(link.path == folder for link in cluster.links)
    return folder if place.label == "data" and not linked else None


def led_to(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Every link below the data directory that leads to a folder, and that folder."""
    return tuple((place.link, place.source) for place in _linked(cluster))


def relinked(move: Move, cluster: Cluster) -> tuple[DataRoot, ...]:
    """The places whose link must be set anew on new, because they lie elsewhere there."""
    moved = (_placed(place, move, cluster) for place in _linked(cluster))
    return tuple(place for place in moved if place.target != place.source)


def _target_of_holder(place: DataRoot, move: Move, cluster: Cluster) -> str | None:
    folders = [cluster.data_directory, *(each.source for each in _linked(cluster))]
    holder = _holder(place.source, folders)
    if holder is None:
        return None
    target = move.target if holder == cluster.data_directory else move.tablespace_targets.get(holder, holder)
    return str(PurePosixPath(target) / PurePosixPath(place.source).relative_to(holder))


def _linked(cluster: Cluster) -> list[DataRoot]:
    """Tablespaces and links, each with `target` still as on old. Links to single files are copied as links."""
    spaces = [
        DataRoot(str(space.oid), space.link, space.location, space.location, space.size_bytes, space.files)
        for space in cluster.tablespaces
    ]
    links = [
        DataRoot(link.path.replace("/", "-"), link.path, link.target, link.target, link.size_bytes, link.files)
        for link in cluster.links
        if not link.dangling and link.files is not None
    ]
    known = {place.link for place in spaces}
    found = spaces + [place for place in links if place.link not in known]
    folders = [cluster.data_directory, *(place.source for place in found)]
    return [replace(place, inside=_holder(place.source, folders) is not None) for place in found]


def _holder(folder: str, folders: list[str]) -> str | None:
    """The folder that `folder` lies in, the outermost of them."""
    holding = [each for each in folders if each != folder and PurePosixPath(folder).is_relative_to(each)]
    return min(holding, key=len, default=None)


def _placed(place: DataRoot, move: Move, cluster: Cluster) -> DataRoot:
    target = move.tablespace_targets.get(place.source)
    if place.inside:
        target = _target_of_holder(place, move, cluster)
    return replace(place, target=target or place.source)


def _rest(whole: int | None, parts: list[int | None]) -> int | None:
    if whole is None:
        return None
    return max(0, whole - sum(part for part in parts if part is not None))


def names_of(place: DataRoot, series: str, catalog_version: int | None) -> str:
    """An extended regular expression: what the names in a copy of that place are like."""
    if place.wal is not None:
        return _WAL_NAMES
    if not place.link.startswith("pg_tblspc/"):
        return ".*"
    version = "[0-9]+" if catalog_version is None else str(catalog_version)
    return f"PG_{series.replace('.', '[.]')}_{version}"
