"""What the packages for Linux hold, once for .deb, .rpm and tar: their words, and the tree that all of them pack."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from installer.linked import libraries, symbol_versions

MAINTAINER = "The pghaul founders <pghaul@localhost>"
TEXT = """\
pghaul connects over SSH to the old and the new server, measures what both
storages really do, shows them side by side, says what would break and how
long each way of moving takes, plans the move command by command, carries it
out and proves it. A window, a command line, and a PDF for whoever decides."""


@dataclass(frozen=True, slots=True)
class Package:
    """One version for one kind of machine.

    Attributes:
        summary: one line.
        machine: as `uname -m` says it.
        moment: the time stamp of every file, in seconds since 1970.
    """

    version: str
    summary: str
    licence: str
    machine: str
    moment: int


def package(project: Mapping[str, object], moment: int) -> Package:
    """Of pyproject.toml's table, for this machine."""
    version, summary, licence = (str(project[name]) for name in ("version", "description", "license"))
    return Package(version, summary, licence, platform.machine(), moment)


def contents(top: Path, build: Path, dist: Path, version: str) -> dict[str, Path]:
    """Where each file beside the frozen program goes, and where it comes from.

    `build` holds the manual pages and the completion, as `installer.manual` makes them, `dist` the bill of materials.
    """
    icons, share = top / "resources" / "icons", build / "share"
    return {
        "/usr/share/applications/pghaul.desktop": top / "installer" / "pghaul.desktop",
        "/usr/share/icons/hicolor/scalable/apps/pghaul.svg": icons / "pghaul.svg",
        "/usr/share/icons/hicolor/256x256/apps/pghaul.png": icons / "pghaul-256.png",
        "/usr/share/doc/pghaul/copyright": top / "LICENSE",
        "/usr/share/doc/pghaul/SECURITY.md": top / "SECURITY.md",
        "/usr/share/doc/pghaul/bill-of-materials.cdx.json": dist / f"pghaul_{version}.cdx.json",
        **{f"/usr/share/{path.relative_to(share)}": path for path in sorted(share.rglob("*")) if path.is_file()},
    }


def lay(root: Path, frozen: Path, files: Mapping[str, Path], moment: int) -> None:
    """Make `root` anew, as the packages lay their files out: the frozen folder in /usr/lib/pghaul, and the others.

    Rights and time stamps are the same whoever makes it, and when.
    """
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(frozen, root / "usr/lib/pghaul", symlinks=True)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/pghaul").symlink_to("../lib/pghaul/pghaul")
    for target, source in files.items():
        path = root / target.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
    for path in sorted(root.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path == root / "usr/lib/pghaul/pghaul" else 0o644)
        os.utime(path, (moment, moment), follow_symlinks=False)
    root.chmod(0o755)
    os.utime(root, (moment, moment))


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """The tree once more, beside it, for a packer that writes into what it packs.

    Its files are copies: a further name of a file changes it for a tar that reads it at the same time, and fails.
    """
    with tempfile.TemporaryDirectory(prefix="packing-", dir=root.parent) as folder:
        yield Path(shutil.copytree(root, Path(folder) / "root", symlinks=True))


def regular(root: Path) -> list[str]:
    """The files of the tree that are no links, relative to it, sorted."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def needed(root: Path) -> set[str]:
    """The shared libraries that the tree's programs are linked to and that it does not hold, by the name they ask for.

    Of the libraries of C and C++ the newest version of its symbols that any of them asks for stands behind the name:
    `libc.so.6(GLIBC_2.34)`.
    """
    programs = [str(root / name) for name in regular(root) if ".so" in name or name == "usr/lib/pghaul/pghaul"]
    outside = libraries(programs) - {path.name for path in root.rglob("*.so*")}
    newest: dict[tuple[str, str], tuple[int, ...]] = {}
    for name, versions in symbol_versions(programs).items():
        for version in versions:
            kind, _, number = version.rpartition("_")
            if name in outside and kind in {"GLIBC", "GLIBCXX"}:
                newest[name, kind] = max(newest.get((name, kind), ()), tuple(map(int, number.split("."))))
    return outside | {f"{name}({kind}_{'.'.join(map(str, number))})" for (name, kind), number in newest.items()}
