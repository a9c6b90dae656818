"""What tests of shell functions leave behind where these make a scratch of their own: swept at the next start.

A test that was killed leaves it, and so does one that breaks the program which would remove it. Whatever is younger
than a minute, or has a process that works in it, may belong to another run on this machine.
"""

import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PLACES = ((Path("/tmp"), "pghaul-trial.*"), (Path("/dev/shm"), "pghaul-sums.*"))
"""Of resources/sh/trial_cluster.sh, where the server works in its folder, and of resources/sh/probes.sh, where a file
loses its name before it is used."""
_YOUNG_SECONDS = 60.0


def sweep(root: Path = Path("/")) -> None:
    """Remove what is left; `root` stands for / in tests of this function."""
    old = [path for path in _found(root) if _is_old_and_own(path)]
    used = set(_folders_of_processes()) if old else set()
    # without /proc, which names this process at least, nobody knows
    for path in old if used else []:
        if not any(each == path or path in each.parents for each in used):
            with suppress(OSError):  # another run sweeps too
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _found(root: Path) -> Iterator[Path]:
    for folder, pattern in _PLACES:
        yield from (root / folder.relative_to("/")).glob(pattern)


def _is_old_and_own(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    is_ours = found.st_uid == os.geteuid() and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode))
    return is_ours and time.time() - found.st_mtime > _YOUNG_SECONDS


def _folders_of_processes() -> Iterator[Path]:
    """Of those that this user may look at: all own ones are among them."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield (process / "cwd").readlink()
