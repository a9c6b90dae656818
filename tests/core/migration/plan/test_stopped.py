"""The proof of the stop, its fence and the way back from it, on folders of this machine."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from core.migration.plan.cluster_control import fence_cluster, native_start_local_only, prove_stopped, unfence_cluster
from tests.core.migration.builders import cluster, runnable

pytestmark = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs Linux's /proc")

STATE = "Database cluster state:               "


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory whose control file a pg_controldata of ours reads."""
    folder = tmp_path / "it's $(touch x)"
    (folder / "global").mkdir(parents=True)
    (folder / "global/pg_control").write_text("one")
    said(tmp_path, "shut down")
    return folder


def said(tmp_path: Path, state: str) -> None:
    program = tmp_path / "pg_controldata"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' 'pg_control version number: 1300' '{STATE}{state}'\n")
    program.chmod(0o755)


def prove(data: Path) -> subprocess.CompletedProcess[str]:
    text = runnable(prove_stopped(f"{data.parent}:/usr/bin:/bin", str(data)))
    return subprocess.run(["dash", "-c", text], capture_output=True, text=True, check=False)


def test_a_clean_shutdown_is_proven_by_state_and_sum(data: Path) -> None:
    first = prove(data)
    assert (first.returncode, first.stdout.splitlines()[0]) == (0, f"{STATE}shut down")
    assert prove(data).stdout == first.stdout
    (data / "global/pg_control").write_text("another")
    assert prove(data).stdout != first.stdout


@pytest.mark.parametrize("state", ["in production", "in crash recovery", "shut down in recovery", "shutting down", ""])
def test_any_other_state_is_none(state: str, data: Path) -> None:
    said(data.parent, state)
    done = prove(data)
    assert done.returncode == 1
    assert "was not shut down cleanly" in done.stderr


def test_a_lock_file_is_a_server(data: Path) -> None:
    (data / "postmaster.pid").write_text("1\n")
    done = prove(data)
    assert (done.returncode, done.stdout) == (1, "")
    assert "postmaster.pid" in done.stderr


def test_a_server_without_its_lock_file_is_found_by_where_it_works(data: Path) -> None:
    program = data.parent / "postgres"
    shutil.copy(shutil.which("sleep") or "sleep", program)
    with subprocess.Popen([program, "60"], cwd=data) as server:
        try:
            done = prove(data)
        finally:
            server.kill()
    assert done.returncode == 1
    assert f"a PostgreSQL server is running in {data} (process {server.pid}" in done.stderr
    with subprocess.Popen(["sleep", "60"], cwd=data) as shell_of_somebody:
        try:
            assert prove(data).returncode == 0
        finally:
            shell_of_somebody.kill()


def test_the_fence_takes_the_control_file_and_gives_it_back(data: Path) -> None:
    found = cluster(data_directory=str(data))
    expected = prove(data).stdout
    for _ in range(2):
        subprocess.run(["dash", "-c", runnable(fence_cluster(found, "postgres").command)], check=True)
        assert not (data / "global/pg_control").exists()
        assert (data / "pghaul-fence/global/pg_control").read_text() == "one"
        assert prove(data).stdout == expected
    for _ in range(2):
        subprocess.run(["dash", "-c", runnable(unfence_cluster(found, "postgres").command)], check=True)
        assert (data / "global/pg_control").read_text() == "one"
    assert [path.name for path in data.iterdir()] == ["global"]


def test_what_a_person_types_for_the_fence() -> None:
    fenced = fence_cluster(cluster(), "dba")
    assert fenced.native[-1] == "mv -- /srv/pg/data/global/pg_control /srv/pg/data/pghaul-fence/global/"
    assert fenced.undo == (
        "To undo, run on the old server as dba: `mv -- /srv/pg/data/pghaul-fence/global/pg_control "
        "/srv/pg/data/global/ && rm -r -- /srv/pg/data/pghaul-fence`"
    )


def test_a_person_starts_new_as_the_call_does() -> None:
    held = ("listen_addresses=localhost", "archive_mode=off")
    words = "/srv/it's", 5433, "/pg/bin:/bin", "/etc/it's.conf", held
    made, _, typed, _ = native_start_local_only(*words, "/tmp/own")
    assert made == "install -d -m 0700 -- /tmp/own"
    inner = shlex.split(typed)
    assert inner[:6] == ["env", "PGDATA=/srv/it's", "/pg/bin/pg_ctl", "-w", "-t", "600"]
    assert shlex.split(inner[7])[1::2] == [
        "listen_addresses=localhost",
        "archive_mode=off",
        "port=5433",
        "config_file=/etc/it's.conf",
        "data_directory=/srv/it's",
    ]
