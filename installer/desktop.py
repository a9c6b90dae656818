"""The program for Windows and macOS, made on each: `python -m installer.desktop` leaves it in dist/.

pghaul-VERSION-windows-MACHINE.exe, an installer by NSIS (installer/windows.nsi)
pghaul-VERSION-macos-MACHINE.zip, with pghaul.app, signed for this machine alone: notarisation takes a key
pghaul_VERSION_SYSTEM.cdx.json, the bill of materials; SHA256SUMS-SYSTEM of both
"""

import json
import platform
import struct
import subprocess
import sys
from pathlib import Path

from installer.bill import bill_of_materials, checksums
from installer.frozen import BUILD, DIST, TOP, last_change, pyinstaller, stated

PICTURE = TOP / "resources" / "icons" / "pghaul-256.png"
ICONS = {"win32": str(BUILD / "pghaul.ico"), "darwin": str(BUILD / "pghaul.icns")}
"""Where the recipe finds the program's icon, by `sys.platform`."""
SYSTEMS = {"win32": "windows", "darwin": "macos"}
INFO = {
    "LSApplicationCategoryType": "public.app-category.developer-tools",
    "LSMinimumSystemVersion": "13.0",  # Qt 6.11's
    "NSHighResolutionCapable": True,
    "NSRequiresAquaSystemAppearance": False,  # dark where the system is
}
"""Of the bundle's Info.plist what PyInstaller cannot know."""


def main() -> int:
    """Freeze, wrap, and say where it lies."""
    if sys.platform not in SYSTEMS:
        sys.exit("pghaul: this builds for Windows and macOS, each on its own; for Linux: make package")
    project, system, moment = stated(), SYSTEMS[sys.platform], last_change()
    version = str(project["version"])
    write_icons(PICTURE.read_bytes())
    pyinstaller(DIST, moment)
    made = DIST / file_name(version, sys.platform, platform.machine())
    subprocess.run(wrapping(version, sys.platform, made), check=True, cwd=TOP)
    bill = DIST / f"pghaul_{version}_{system}.cdx.json"
    parts = bill_of_materials(TOP, DIST / "pghaul", project, moment)
    bill.write_text(json.dumps(parts, indent=2) + "\n", encoding="utf-8")
    (DIST / f"SHA256SUMS-{system}").write_text(checksums([made, bill]), encoding="utf-8", newline="\n")
    print(made.relative_to(TOP))  # noqa: T201  a program, run by the workflow
    return 0


def file_name(version: str, system: str, machine: str) -> str:
    """Of what is handed out; `system` as `sys.platform`, `machine` as `platform.machine()` says it."""
    return f"pghaul-{version}-{SYSTEMS[system]}-{machine.lower()}.{'exe' if system == 'win32' else 'zip'}"


def wrapping(version: str, system: str, made: Path) -> list[str]:
    """The command that makes one file of what was frozen."""
    if system == "darwin":  # the archiver that keeps a bundle's links, rights and signature
        return ["ditto", "-c", "-k", "--keepParent", str(DIST / "pghaul.app"), str(made)]
    return installer_command(version, DIST / "pghaul", Path(ICONS["win32"]), made)


def installer_command(version: str, frozen: Path, icon: Path, made: Path) -> list[str]:
    """makensis on the script."""
    values = {"VERSION": version, "FROZEN": frozen, "ICON": icon, "LICENCE": TOP / "LICENSE", "OUTPUT": made}
    script = str(TOP / "installer" / "windows.nsi")
    return [
        "makensis",
        "-WX",
        "-INPUTCHARSET",
        "UTF8",
        *(f"-D{name}={value}" for name, value in values.items()),
        script,
    ]


def write_icons(picture: bytes) -> None:
    """The icon as both systems read it, of a square picture (PNG) with 256 pixels a side."""
    BUILD.mkdir(parents=True, exist_ok=True)
    Path(ICONS["win32"]).write_bytes(ico(picture))
    Path(ICONS["darwin"]).write_bytes(icns(picture))


def ico(picture: bytes) -> bytes:
    """An icon of Windows' with that one picture; a side of 256 is written as 0.

    https://learn.microsoft.com/en-us/previous-versions/ms997538(v=msdn.10)
    """
    head = struct.pack("<HHH", 0, 1, 1)
    entry = struct.pack("<BBBBHHII", 0, 0, 0, 0, 1, 32, len(picture), 22)
    return head + entry + picture


def icns(picture: bytes) -> bytes:
    """An icon of macOS's with that one picture, as type `ic08`: 256 pixels a side."""
    return struct.pack(">4sI4sI", b"icns", len(picture) + 16, b"ic08", len(picture) + 8) + picture


if __name__ == "__main__":
    sys.exit(main())
