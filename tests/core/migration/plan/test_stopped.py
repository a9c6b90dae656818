"""The proof of the stop, its fence and the way back from it, on folders of this machine."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.migration.plan.cluster_control import Control, fence, native_start_locally, prove_stopped, stop, unfence
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
    assert "it was not shut down cleanly" in done.stderr


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
    assert f"a server runs in it: process {server.pid}" in done.stderr
    with subprocess.Popen(["sleep", "60"], cwd=data) as shell_of_somebody:
        try:
            assert prove(data).returncode == 0
        finally:
            shell_of_somebody.kill()


def test_a_folder_is_closed_to_its_owner_and_opened_again(data: Path) -> None:
    data.chmod(0o700)
    found = cluster(data_directory=str(data))
    for _ in range(2):
        subprocess.run(["dash", "-c", runnable(fence(found, "postgres").command)], check=True)
        assert data.stat().st_mode & 0o777 == 0o500
    for _ in range(2):
        subprocess.run(["dash", "-c", runnable(unfence(found, "postgres").command)], check=True)
        assert data.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in data.iterdir()] == ["global"]


@pytest.mark.parametrize(
    ("changes", "typed", "closed", "opened"),
    [
        (
            {"name": "15/main", "found_by": ("pg_lsclusters",)},
            ("pg_ctlcluster 15 main stop -m fast", "as root: pg_ctlcluster 15 main start"),
            "echo disabled >/etc/postgresql/15/main/start.conf",
            "as root: mv -- /etc/postgresql/15/main/start.conf.before-pghaul /etc/postgresql/15/main/start.conf",
        ),
        (
            {"unit": "pg.service"},
            ("systemctl stop pg.service", "as root: systemctl start pg.service"),
            "systemctl daemon-reload",
            (
                "as root: rm -f -- /etc/systemd/system/pg.service.d/pghaul-fence.conf; systemctl daemon-reload; "
                "rmdir --ignore-fail-on-non-empty -- /etc/systemd/system/pg.service.d"
            ),
        ),
        (
            {"bin_directory": None},
            (
                "env PGDATA=/srv/pg/data pg_ctl -m fast -w -t 3600 stop",
                "as dba: env PGDATA=/srv/pg/data pg_ctl -w start </dev/null >/srv/pg/data/pghaul-start.log 2>&1",
            ),
            "chmod u-w -- /srv/pg/data",
            "as dba: chmod u+w -- /srv/pg/data",
        ),
    ],
)
def test_what_a_person_types_is_the_layouts_own(
    changes: dict[str, Any], typed: tuple[str, str], closed: str, opened: str
) -> None:
    found = cluster(**changes)
    stopped, fenced = stop(found, "dba"), fence(found, "dba")
    assert (*stopped.native, stopped.undo) == typed
    assert (fenced.native[-1], fenced.undo) == (closed, opened)


def test_a_person_starts_new_as_the_call_does() -> None:
    held = ("listen_addresses=localhost", "archive_mode=off")
    words = "/srv/it's", 5433, "/pg/bin:/bin", "/etc/it's.conf", held
    (typed,) = native_start_locally(*words)
    inner = shlex.split(typed)
    assert inner[:6] == ["env", "PGDATA=/srv/it's", "/pg/bin/pg_ctl", "-w", "-t", "600"]
    assert shlex.split(inner[7])[1::2] == [
        "listen_addresses=localhost",
        "archive_mode=off",
        "port=5433",
        "config_file=/etc/it's.conf",
        "data_directory=/srv/it's",
    ]


def test_systemd_itself_refuses_a_fenced_unit_and_takes_it_again(tmp_path: Path) -> None:
    """Where units lie is told to systemd's own reader of them; a reload is of no use to it."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze")
    units, unit = tmp_path / "system", "postgresql@15-main.service"
    units.mkdir()
    (units / unit).write_text("[Unit]\nDescription=one of the DBA's own\n[Service]\nExecStart=/bin/true\n")
    found = cluster(unit=unit)

    def carried_out(control: Control) -> None:
        here = runnable(control.command).replace("/etc/systemd/system", str(units))
        assert here != runnable(control.command)
        subprocess.run(["bash", "-c", f'systemctl() {{ [ "$*" = daemon-reload ]; }}; {here}'], check=True)

    def starts() -> bool:
        words = [analyze, "condition", f"--unit={unit}"]
        known = {**os.environ, "SYSTEMD_UNIT_PATH": str(units)}
        return subprocess.run(words, env=known, capture_output=True, check=False, timeout=20).returncode == 0

    assert starts()
    for control, free in ((fence, False), (fence, False), (unfence, True), (unfence, True)):
        carried_out(control(found, "postgres"))
        assert starts() is free
    assert [path.name for path in units.iterdir()] == [unit]
