"""Build pghaul's packages for this machine: `python -m installer.build` leaves them in dist/.

    pghaul_VERSION_ARCHITECTURE.deb, pghaul-VERSION-1.MACHINE.rpm, pghaul-VERSION-linux-MACHINE.tar.xz
    the wheel and the source distribution
    pghaul_VERSION.cdx.json, the bill of materials, which the packages hold too; SHA256SUMS of all

PyInstaller freezes the program into a folder (dist/pghaul); one tree is laid of it, which each packer packs. The same
commit makes the same bytes. `python -m installer.build again` freezes a second time and names what differs.
"""

import filecmp
import gzip
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from installer import debian, rpm, tarball, wheel
from installer.bill import bill_of_materials, checksums
from installer.blanked import blank
from installer.frozen import BUILD, DIST, TOP, last_change, pyinstaller, stated
from installer.manual import write
from installer.older_glibc import ask_for_older
from installer.tree import contents, lay, needed, package


def main() -> int:
    """Freeze, lay, pack, and say where the packages lie; or freeze again, and compare."""
    if sys.argv[1:] == ["again"]:
        return again()
    project = stated()
    about = package(project, last_change())
    DIST.mkdir(exist_ok=True)
    freeze(DIST, about.moment)
    manual_pages(about.version)
    bill = DIST / f"pghaul_{about.version}.cdx.json"
    made = bill_of_materials(TOP, DIST / "pghaul", project, about.moment)
    bill.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    root = BUILD / "root"
    lay(root, DIST / "pghaul", contents(TOP, BUILD, DIST, about.version), about.moment)
    depends = debian.names(TOP / "installer" / "packages-qt.txt")
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each compresses for minutes, on one processor
        packing = [
            pool.submit(debian.pack, root, about, depends, DIST),
            pool.submit(rpm.pack, root, about, needed(root), DIST),
            pool.submit(tarball.pack, root, about, DIST),
        ]
    packages = [
        *(each.result() for each in packing),
        *wheel.build(DIST, os.environ | {"SOURCE_DATE_EPOCH": str(about.moment)}),
        bill,
    ]
    (DIST / "SHA256SUMS").write_text(checksums(packages), encoding="utf-8")
    for path in packages:
        print(f"{path.relative_to(TOP)}: {path.stat().st_size / 1e6:.1f} MB")  # noqa: T201  a program, run by make
    return 0


def freeze(folder: Path, moment: int) -> None:
    """Make `folder`/pghaul: the program and its libraries, without what debuggers alone, or nobody, reads in these."""
    pyinstaller(folder, moment)
    # libraries that a wheel has brought in a folder NAME.libs were changed by patchelf: strip would break these
    libraries = [
        str(path)
        for path in sorted((folder / "pghaul").rglob("*.so*"))
        if not path.is_symlink() and not path.parent.name.endswith(".libs")
    ]
    subprocess.run(["strip", "--strip-unneeded", *libraries], check=True)
    for path in libraries:
        ask_for_older(Path(path))
    blank(folder / "pghaul")


def again() -> int:
    """Freeze a second time; 0 when all files are those of dist/pghaul, byte for byte."""
    folder = BUILD / "again"
    freeze(folder, last_change())
    first, second = files(DIST / "pghaul"), files(folder / "pghaul")
    _, differing, unreadable = filecmp.cmpfiles(DIST / "pghaul", folder / "pghaul", first & second, shallow=False)
    for name in sorted({*(first ^ second), *differing, *unreadable}):
        print(f"differs: {name}")  # noqa: T201  a program, run by make
    shutil.rmtree(folder)
    return 0 if first == second and not differing and not unreadable else 1


def files(folder: Path) -> set[str]:
    """Every file below the folder, relative to it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def manual_pages(version: str) -> None:
    """Make manual pages, compressed, and completion in installer/build/share, as they lie below /usr/share."""
    shutil.rmtree(BUILD / "share", ignore_errors=True)
    for path in write(BUILD / "share", version):
        if path.suffix == ".1":
            path.with_suffix(".1.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()


if __name__ == "__main__":
    sys.exit(main())
