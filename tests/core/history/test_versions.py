"""A team's history on each supported major version of PostgreSQL: all tests of a server, run on it.

The newest one of this machine has them in every run of the tests; these are fetched by tests/lab/binaries.py.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.binaries import binaries, debian
from tests.lab.machine import LabError
from tests.postgresql import short_folder

FILES = ("tests/core/history", "tests/core/cli/test_history_place.py", "tests/test_postgresql.py")
OF_A_SERVER = "postgresql or test_server or test_address or test_transfer or test_pending or test_history_place"
VERSIONS = ("13.16", "14.23", "16.2", "17.11", "18.6")


@pytest.fixture(params=VERSIONS)
def programs(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The programs of that version, where the account of the server may run them."""
    version: str = request.param
    try:
        tree = debian(version) if version == "13.16" else binaries(version)
    except LabError as error:
        pytest.skip(str(error))
    with short_folder() as folder:
        folder.chmod(0o755)
        shutil.copytree(tree, folder / version, symlinks=True)
        yield next((folder / version).glob("**/bin/postgres")).parent


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_history_on_a_server_of_that_version_passes_all_its_tests(programs: Path) -> None:
    root = programs.parents[4] if "postgresql" in programs.parts else programs.parent
    libraries = ":".join(str(path) for path in (root / "usr" / "lib" / "x86_64-linux-gnu", root / "lib"))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    # in CI a test that finds no server fails, and is not left out
    environment = {**inherited, "PGHAUL_POSTGRESQL": str(programs), "LD_LIBRARY_PATH": libraries, "CI": "true"}
    words = ["-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", "-m", "not long", "-k", OF_A_SERVER]
    done = subprocess.run(
        [sys.executable, *words, *FILES],
        cwd=Path(__file__).resolve().parents[3],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 100
