"""What the Debian package is: nfpm's configuration as data. https://nfpm.goreleaser.com/configuration/"""

import platform
from collections.abc import Mapping
from pathlib import Path

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MODE = {"mode": 0o644}


def configuration(project: Mapping[str, object], top: Path, build: Path, dist: Path) -> dict[str, object]:
    """The package of `project` (pyproject.toml's table): the frozen folder in /usr/lib/pghaul, and its desktop's files.

    `build` holds the compressed manual page, `dist` the frozen folder.
    """
    return {
        "name": "pghaul",
        "version": project["version"],
        "arch": ARCHITECTURES[platform.machine()],
        "platform": "linux",
        "section": "database",
        "priority": "optional",
        "maintainer": "The pghaul founders <pghaul@localhost>",
        "description": f"{project['description']}\n{LONG_DESCRIPTION}",
        "license": project["license"],
        "depends": ["libc6 (>= 2.36)", *packages(top / "installer" / "packages-qt.txt")],
        "recommends": ["openssh-client"],
        "suggests": ["gnome-keyring | kwalletmanager"],
        "deb": {"compression": "zstd"},
        "contents": contents(top, build, dist, project["version"]),
    }


LONG_DESCRIPTION = """\
pghaul connects over SSH to the old and the new server, measures what both
storages really do, shows them side by side, says what would break and how
long each way of moving takes, and plans the move command by command.
A window, a command line, and a PDF for whoever decides."""


def packages(path: Path) -> list[str]:
    """The package names of a list, one a line; '#' starts a comment."""
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def contents(top: Path, build: Path, dist: Path, version: object) -> list[dict[str, object]]:
    """Every file of the package: where it comes from, where it goes."""
    icons = top / "resources" / "icons"
    files = {
        "/usr/share/applications/pghaul.desktop": top / "installer" / "pghaul.desktop",
        "/usr/share/icons/hicolor/scalable/apps/pghaul.svg": icons / "pghaul.svg",
        "/usr/share/man/man1/pghaul.1.gz": build / "pghaul.1.gz",
        "/usr/share/doc/pghaul/copyright": top / "LICENSE",
        "/usr/share/doc/pghaul/SECURITY.md": top / "SECURITY.md",
    }
    made: list[dict[str, object]] = [
        {"src": str(dist / "pghaul"), "dst": "/usr/lib/pghaul", "type": "tree"},
        {"src": "/usr/lib/pghaul/pghaul", "dst": "/usr/bin/pghaul", "type": "symlink"},
    ]
    files["/usr/share/doc/pghaul/bill-of-materials.cdx.json"] = dist / f"pghaul_{version}.cdx.json"
    made += [{"src": str(source), "dst": target, "file_info": MODE} for target, source in files.items()]
    return made
