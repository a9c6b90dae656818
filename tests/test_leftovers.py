"""What is swept at the start of a session: what is dead, and nothing else."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.lab.machine import killed_at_the_end
from tests.leftovers import sweep


def lay(path: Path, *, age: float = 120.0) -> Path:
    """A folder that was changed so many seconds ago."""
    path.mkdir(parents=True)
    (path / "data").mkdir()
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_only_what_is_old_and_used_by_nobody_is_removed(tmp_path: Path) -> None:
    dead, young = lay(tmp_path / "tmp" / "pghaul-trial.dead"), lay(tmp_path / "tmp" / "pghaul-trial.young", age=0)
    lives, other = lay(tmp_path / "tmp" / "pghaul-trial.lives"), lay(tmp_path / "tmp" / "other-trial.x")
    zeros = tmp_path / "dev" / "shm" / "pghaul-sums.x"
    zeros.parent.mkdir(parents=True)
    zeros.touch()
    os.utime(zeros, (0, 0))
    with killed_at_the_end(subprocess.Popen(["sleep", "infinity"], cwd=lives / "data")):
        sweep(tmp_path)
        assert [each.exists() for each in (dead, zeros, young, lives, other)] == [False, False, True, True, True]
    sweep(tmp_path)
    assert [each.exists() for each in (young, lives, other)] == [True, False, True]


def test_no_link_is_followed(tmp_path: Path) -> None:
    own = lay(tmp_path / "own")
    link = tmp_path / "tmp" / "pghaul-trial.link"
    link.parent.mkdir()
    link.symlink_to(own)
    os.utime(link, (0, 0), follow_symlinks=False)
    sweep(tmp_path)
    assert own.exists()
    assert link.is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_stays(tmp_path: Path) -> None:
    theirs = lay(tmp_path / "tmp" / "pghaul-trial.theirs")
    os.chown(theirs, 12345, -1)
    sweep(tmp_path)
    assert theirs.exists()


def test_without_these_folders_nothing_is_swept(tmp_path: Path) -> None:
    sweep(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
