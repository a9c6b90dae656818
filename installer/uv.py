"""uv, which makes .venv out of uv.lock and knows for whom wheels exist."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def uv() -> str:
    """Its program: that of .venv-tools, else the one on PATH; ends the program where there is none."""
    here = TOP / ".venv-tools"
    found = shutil.which("uv", path=os.pathsep.join((str(here / "bin"), str(here / "Scripts")))) or shutil.which("uv")
    if found is None:
        sys.exit("pghaul: uv is missing from .venv-tools; run: make setup")
    return found


def locked_requirements() -> str:
    """What the program runs with, each version with its hashes, as `uv pip install --require-hashes -r` reads it."""
    words = [uv(), "export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-header", "--no-annotate"]
    return subprocess.run(words, cwd=TOP, check=True, capture_output=True, text=True).stdout
