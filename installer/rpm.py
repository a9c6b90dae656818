"""The .rpm of a laid tree, by rpmbuild. https://rpm-software-management.github.io/rpm/manual/spec.html"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from installer.tree import MAINTAINER, TEXT, Package, copied

_SETTINGS = {
    "_binary_payload": "w9.xzdio",
    "_build_id_links": "none",
    "_buildhost": "localhost",
    "use_source_date_epoch_as_buildtime": "1",
    "clamp_mtime_to_source_date_epoch": "1",
    "source_date_epoch_from_changelog": "0",
    # the tree is packed as it lies: no stripping, no compiling, no compressing of manual pages a second time
    "__os_install_post": "%{nil}",
    "debug_package": "%{nil}",
}

_THE_SYSTEM_S = {
    *("usr", "usr/bin", "usr/lib", "usr/share"),
    *("usr/share/applications", "usr/share/doc", "usr/share/man", "usr/share/man/man1"),
}
"""Folders that are there on every Linux, the smallest too."""


def recipe(package: Package, requires: Iterable[str], entries: Iterable[str]) -> str:
    """The spec file.

    Args:
        requires: shared libraries as `installer.tree.needed` names them.
        entries: the lines of `%files`.
    """
    lines = [
        "Name: pghaul",
        f"Version: {package.version}",
        "Release: 1",
        f"Summary: {package.summary}",
        f"License: {package.licence}",
        f"Packager: {MAINTAINER}",
        "Group: Applications/Databases",
        "AutoReqProv: no",
        *(f"Requires: {_capability(name)}" for name in sorted(requires)),
        "Recommends: openssh-clients",
        "",
        "%description",
        TEXT,
        "",
        "%files",
        "%defattr(-, root, root, -)",
        *entries,
    ]
    return "\n".join(lines) + "\n"


def _capability(name: str) -> str:
    """As packages of libraries provide it: `libEGL.so.1()(64bit)`, `libc.so.6(GLIBC_2.36)(64bit)`."""
    return f"{name if name.endswith(')') else f'{name}()'}(64bit)"


def entries(root: Path) -> list[str]:
    """Every file of the tree, and every folder that may be there for it alone; several packages may own a folder."""
    found = [str(path.relative_to(root)) for path in sorted(root.rglob("*"))]
    folders = [name for name in found if (root / name).is_dir() and not (root / name).is_symlink()]
    files = [name for name in found if name not in folders]
    return [f'%dir "/{name}"' for name in folders if name not in _THE_SYSTEM_S] + [f'"/{name}"' for name in files]


def pack(root: Path, package: Package, requires: Iterable[str], folder: Path) -> Path:
    """Pack the tree at `root` into `folder`; the same tree makes the same bytes."""
    with copied(root) as laid:
        work = laid.parent
        (work / "pghaul.spec").write_text(recipe(package, requires, entries(root)), encoding="utf-8")
        settings = _SETTINGS | {"_topdir": str(work), "_rpmdir": str(work / "made")}
        words = [word for key, value in settings.items() for word in ("--define", f"{key} {value}")]
        command = ["rpmbuild", "-bb", "--quiet", "--noclean", "--target", package.machine, "--buildroot", str(laid)]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(package.moment), "LC_ALL": "C", "TZ": "UTC"}
        subprocess.run(
            [*command, *words, str(work / "pghaul.spec")], env=environment, check=True, stdout=subprocess.DEVNULL
        )
        (made,) = (work / "made").rglob("*.rpm")
        return Path(shutil.copy(made, folder / f"pghaul-{package.version}-1.{package.machine}.rpm"))
