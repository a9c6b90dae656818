"""How PyInstaller freezes the program, the same on every system."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "installer" / "build"
DIST = TOP / "dist"


def stated() -> dict[str, Any]:
    """What pyproject.toml states of the project."""
    project: dict[str, Any] = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def last_change() -> int:
    """When the last commit was made, in seconds since 1970: the time stamp of all that is packed."""
    answer = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=TOP, check=True, capture_output=True, text=True)
    return int(answer.stdout)


def pyinstaller(folder: Path, moment: int) -> None:
    """Make `folder`/pghaul by the recipe; `moment`: its time stamps, in seconds since 1970."""
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    folders = ["--distpath", str(folder), "--workpath", str(BUILD / "pyinstaller")]
    # a set's order, which the hash seed decides, would be the order of what is packed
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(moment), "PYTHONHASHSEED": "0"}
    subprocess.run([*command, *folders, "installer/pghaul.spec"], cwd=TOP, env=environment, check=True)
