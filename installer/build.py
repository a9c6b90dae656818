"""Build pghaul's package for this machine: `python -m installer.build` leaves dist/pghaul_VERSION_ARCHITECTURE.deb.

Beside it lie its bill of materials, which it holds too, and SHA256SUMS of both.

PyInstaller freezes the program into a folder, nfpm wraps that folder. The version comes from pyproject.toml. The same
folder makes an .rpm (nfpm) and a tar; on Windows and macOS the same recipe freezes, and NSIS or a bundle wraps it.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from installer.bill import bill_of_materials, checksums
from installer.debian import configuration

TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "installer" / "build"
DIST = TOP / "dist"


def main() -> int:
    """Freeze, wrap, and say where the package lies."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": last_change()}
    freeze(environment)
    manual_page(project["version"])
    bill = DIST / f"pghaul_{project['version']}.cdx.json"
    made = bill_of_materials(TOP, DIST / "pghaul", project, int(environment["SOURCE_DATE_EPOCH"]))
    bill.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    package = wrap(configuration(project, TOP, BUILD, DIST), environment)
    (DIST / "SHA256SUMS").write_text(checksums((package, bill)), encoding="utf-8")
    print(f"{package.relative_to(TOP)}: {package.stat().st_size / 1e6:.0f} MB")  # noqa: T201
    return 0


def last_change() -> str:
    """When the last commit was made, in seconds since 1970: the time stamp of all that is packed."""
    answer = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=TOP, check=True, capture_output=True, text=True)
    return answer.stdout.strip()


def freeze(environment: dict[str, str]) -> None:
    """Make dist/pghaul, the folder with the program and its libraries."""
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    folders = ["--distpath", str(DIST), "--workpath", str(BUILD / "pyinstaller")]
    subprocess.run([*command, *folders, "installer/pghaul.spec"], cwd=TOP, env=environment, check=True)


def manual_page(version: str) -> None:
    """Compress the manual page, its version filled in, to installer/build/pghaul.1.gz."""
    text = (TOP / "installer" / "pghaul.1").read_text(encoding="utf-8").replace("@VERSION@", version)
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "pghaul.1.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def wrap(made: dict[str, object], environment: dict[str, str]) -> Path:
    """Let nfpm pack what `made`, its configuration, names; the package's path."""
    settings = BUILD / "nfpm.yaml"
    settings.write_text(json.dumps(made, indent=2), encoding="utf-8")  # JSON is YAML
    nfpm = shutil.which("nfpm", path=str(Path(sys.executable).parent))
    if nfpm is None:
        sys.exit("pghaul: nfpm is missing from .venv; run: make setup")
    package = DIST / f"{made['name']}_{made['version']}_{made['arch']}.deb"
    command = [nfpm, "package", "--config", str(settings), "--packager", "deb", "--target", str(package)]
    subprocess.run(command, cwd=TOP, env=environment, check=True, stdout=subprocess.DEVNULL)
    return package


if __name__ == "__main__":
    sys.exit(main())
