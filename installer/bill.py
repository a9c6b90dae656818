"""What is in the package: a software bill of materials as CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/).

Python's packages as uv.lock has them, with their hashes; the libraries of Debian that PyInstaller put beside them; the
fonts and the icons. The same commit makes the same bill.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from installer.uv import uv

FONTS = {"DejaVuSans.ttf": "Bitstream-Vera", "DroidSansFallback.ttf": "Apache-2.0", "IBMPlex": "OFL-1.1"}
"""Each font by how its files begin, and its licence (SPDX)."""
ICONS: dict[str, Any] = {
    "type": "data",
    "bom-ref": "icons/lucide",
    "name": "lucide",
    "licenses": [{"license": {"id": "ISC"}}, {"license": {"id": "MIT"}}],
}
"""The line icons of the window; their licence is in `resources/icons/lucide`."""


def bill_of_materials(top: Path, frozen: Path, project: Mapping[str, object], moment: int) -> dict[str, Any]:
    """The bill of the program frozen in `frozen`; `moment`: of the commit, in seconds since 1970."""
    bill = _of_python(top)
    del bill["serialNumber"]
    bill["metadata"]["timestamp"] = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    licence = {"license": {"id": project["license"]}}
    bill["metadata"]["component"] |= {"type": "application", "version": project["version"], "licenses": [licence]}
    bill["components"] += [_interpreter(), *fonts(top / "resources" / "fonts"), ICONS, *system_libraries(frozen)]
    return bill


def _of_python(top: Path) -> dict[str, Any]:
    """The packages that the program runs with, none of those that only build or test it."""
    words = [uv(), "export", "--frozen", "--no-dev", "--format", "cyclonedx1.5", "--preview-features", "sbom-export"]
    answer = subprocess.run(words, cwd=top, check=True, capture_output=True, text=True)
    made: dict[str, Any] = json.loads(answer.stdout)
    return made


def _interpreter() -> dict[str, Any]:
    version = ".".join(map(str, sys.version_info[:3]))
    return {
        "type": "library",
        "bom-ref": f"cpython@{version}",
        "name": "cpython",
        "version": version,
        "purl": f"pkg:generic/cpython@{version}",
    }


def fonts(folder: Path) -> list[dict[str, Any]]:
    """The fonts that ship with the program; one without a licence here is a mistake."""
    return [
        {
            "type": "data",
            "bom-ref": f"font/{path.name}",
            "name": path.name,
            "licenses": [
                {"license": {"name": next(each for begin, each in FONTS.items() if path.name.startswith(begin))}}
            ],
        }
        for path in sorted(folder.glob("*.ttf"))
    ]


def system_libraries(frozen: Path) -> list[dict[str, Any]]:
    """The Debian packages that the libraries of the frozen folder come from: those that no wheel has brought."""
    names = sorted({path.name for path in frozen.rglob("lib*.so*") if path.parent.name == "_internal"})
    if not names or shutil.which("dpkg-query") is None:
        return []
    # exit status 1: some are of no package, as those that a wheel has brought
    asked = subprocess.run(
        ["dpkg-query", "-S", *(f"*/{name}" for name in names)], capture_output=True, text=True, check=False
    )
    packages = {line.partition(": ")[0].partition(",")[0] for line in asked.stdout.splitlines() if ": /" in line}
    return [_debian(package) for package in sorted(packages)]


def _debian(package: str) -> dict[str, Any]:
    form = "${Package} ${Version} ${Architecture}"
    answer = subprocess.run(["dpkg-query", "-W", "-f", form, package], check=True, capture_output=True, text=True)
    name, version, architecture = answer.stdout.split()
    purl = f"pkg:deb/debian/{name}@{version.replace(':', '%3A')}?arch={architecture}"
    return {"type": "library", "bom-ref": f"deb/{name}", "name": name, "version": version, "purl": purl}


def checksums(files: Iterable[Path]) -> str:
    """The lines that `sha256sum -c` reads, in the folder of the files."""
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
