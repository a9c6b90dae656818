"""A real server that is still in recovery is waited for, by whatever it was started, and never stopped."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.servers.shell import call
from tests.resources.sh.test_hostile_databases import INSTALLED, KNOWN, OWNER, PORT, Stage

pytestmark = [
    pytest.mark.filling,
    pytest.mark.slow,
    pytest.mark.skipif(not (INSTALLED and KNOWN), reason="there is no PostgreSQL with an account for it"),
]

_LOOKS = 700
"""After so many looks the recovery may end: a wait for a minute would have been over."""
_PROGRAMS = {
    "sleep": "looks=0; [ ! -e @folder@/looks ] || read -r looks <@folder@/looks; "
    'looks=$((looks + 1)); echo "$looks" >@folder@/looks; '
    '[ "$looks" -ne @looks@ ] || : >@folder@/go',
    # what is started has only a second, as a service has its time limit
    "pg_ctl": 'for each; do shift; [ "$each" != 600 ] || each=1; set -- "$@" "$each"; done; '
    'exec @programs@/pg_ctl "$@"',
    "systemctl": 'case "$*" in *start*) pg_ctl -D @data@ -w -t 600 -s -l @folder@/log start ;; *stop*) '
    "exec pg_ctl -D @data@ -s -m immediate stop ;; *) ;; esac",
    "pg_ctlcluster": "exec systemctl start",
}


@contextmanager
def owned() -> Iterator[Stage]:
    """A folder of the owner's."""
    folder = Path(tempfile.mkdtemp(prefix="slow-", dir="/tmp"))  # a socket's name is short
    if os.geteuid() == 0:
        shutil.chown(folder, OWNER)
    try:
        yield Stage(folder, INSTALLED[0])
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """The data directory of a cluster that has never run."""
    with owned() as found:
        found.runs("initdb", "-N", "-D", found.data, "-A", "trust", "--locale=C")
        yield found.data


@pytest.fixture
def stage(made: Path) -> Iterator[Stage]:
    """A server that would recover, and waits in it for WAL that it is not given."""
    with owned() as found:
        folder = found.folder
        subprocess.run(["cp", "-a", made, found.data], check=True)
        try:
            (found.data / "recovery.signal").touch()
            with (found.data / "postgresql.conf").open("a") as conf:
                conf.write(f"listen_addresses = ''\nunix_socket_directories = '{folder}'\nport = {PORT}\nfsync = off\n")
                conf.write(f"restore_command = 'until [ -e {folder}/go ]; do /bin/sleep 0.05; done; false'\n")
            (folder / "played").mkdir()
            for name, body in _PROGRAMS.items():
                text = body.replace("@folder@", str(folder)).replace("@programs@", str(found.programs))
                text = text.replace("@data@", str(found.data)).replace("@looks@", str(_LOOKS))
                (folder / "played" / name).write_text(f"#!/bin/sh\n{text}\n")
                (folder / "played" / name).chmod(0o755)
            yield found
        finally:
            with_server = ["pg_ctl", "-D", str(found.data), "-s", "-m", "immediate", "stop"]
            subprocess.run(
                with_server,
                check=False,
                capture_output=True,
                env={"PATH": f"{found.programs}:/usr/bin:/bin"},
                user=OWNER if os.geteuid() == 0 else None,
            )


@pytest.mark.parametrize("function", ["start_folder", "start_unit", "start_user_unit", "start_debian", "prove_running"])
def test_a_recovery_gets_the_time_that_it_needs(stage: Stage, function: str) -> None:
    path = f"{stage.folder}/played:{stage.programs}:/usr/bin:/bin"
    words: tuple[str | int, ...] = {
        "start_folder": (path, str(stage.data), "-"),
        "start_unit": ("own.service", str(stage.data)),
        "start_user_unit": ("own.service", str(stage.data)),
        "start_debian": ("15", "main", str(stage.data)),
        "prove_running": (path, str(stage.data), "-", "-"),
    }[function]
    if function == "prove_running":
        stage.runs("sh", "-c", f"pg_ctl -D {stage.data} -w -t 1 -s -l {stage.folder}/log start || exit 0")
    made = call(function, *words)
    said = stage.runs("env", f"PATH={path}", "sh", "-c", f"{made.functions}\n{made.text}").stdout
    assert f"The server in {stage.data} is still starting" in said
    assert stage.sql("postgres", "select 1") == "1\n"
    logs = [each for each in (stage.folder / "log", stage.data / "pghaul-start.log") if each.exists()]
    text = "".join(log.read_text() for log in logs)
    assert (text.count("starting PostgreSQL"), text.count("shutdown request")) == (1, 0)
