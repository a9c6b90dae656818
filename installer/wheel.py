"""The wheel and the source distribution: `python -m installer.wheel` leaves both in dist/, the same bytes each time."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def build(folder: Path, environment: Mapping[str, str] = os.environ, top: Path = TOP) -> tuple[Path, Path]:
    """Make both in `folder` from the tree at `top`, by the build backend that pyproject.toml names; wheel and sdist."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in (*folder.glob("pghaul-*.whl"), *folder.glob("pghaul-*.tar.gz")):
        each.unlink()
    words = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=top, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (wheel,), (source,) = folder.glob("pghaul-*.whl"), folder.glob("pghaul-*.tar.gz")
    return wheel, source


def main() -> int:
    """Make them, and say where they lie."""
    for path in build(TOP / "dist"):
        print(f"{path.relative_to(TOP)}: {path.stat().st_size / 1e6:.1f} MB")  # noqa: T201  a program, run by make
    return 0


if __name__ == "__main__":
    sys.exit(main())
