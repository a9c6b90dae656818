"""The tar of a laid tree, for whoever may install nothing: unpacked anywhere it runs, and goes on when it is moved."""

import lzma
import tarfile
from pathlib import Path

from installer.tree import Package

_FILTERS = {
    "x86_64": [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9}],
    "aarch64": [{"id": lzma.FILTER_LZMA2, "preset": 9}],
}
"""Of xz: what jumps in machine code is packed better once its targets are absolute."""


def pack(root: Path, package: Package, folder: Path) -> Path:
    """Pack the tree at `root` into `folder`; the same tree makes the same bytes.

    The program and its libraries lie at the top of the one folder in it, manual pages, completion and desktop entry
    below `share`.
    """
    name = f"pghaul-{package.version}-linux-{package.machine}"
    target = folder / f"{name}.tar.xz"
    places = {"usr/lib/pghaul": name, "usr/share": f"{name}/share"}
    with (
        lzma.open(target, "wb", filters=_FILTERS[package.machine]) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        for source, place in places.items():
            for path in (root / source, *sorted((root / source).rglob("*"))):
                entry = tar.gettarinfo(path, str(Path(place) / path.relative_to(root / source)))
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = "root"
                entry.mtime = package.moment
                if entry.isfile():
                    with path.open("rb") as file:
                        tar.addfile(entry, file)
                else:
                    tar.addfile(entry)
    return target
