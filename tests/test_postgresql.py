"""The server of the tests: where it cannot be begun a test says why, and waits for nobody."""

import os
import signal
from pathlib import Path

import pytest

from tests.postgresql import NotBegunError, begun, newest, short_folder

pytestmark = pytest.mark.skipif(newest() is None, reason="no server of PostgreSQL's is installed here")


def _programs(folder: Path, **scripts: str) -> Path:
    for name, script in scripts.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return folder


def test_why_it_cannot_be_begun_is_said() -> None:
    with short_folder() as folder:
        programs = _programs(folder, initdb="true", pg_ctl="echo 'FATAL: no room for it' >log; exit 1")
        with pytest.raises(NotBegunError, match="no room for it"):
            begun(folder, programs)


@pytest.mark.timeout(60)
def test_nobody_waits_for_what_a_program_leaves_behind() -> None:
    with short_folder() as folder:
        programs = _programs(folder, initdb="true", pg_ctl="sleep 600 & echo $! >left")
        begun(folder, programs)
        os.kill(int((folder / "left").read_text()), signal.SIGKILL)
