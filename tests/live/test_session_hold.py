"""A cluster of an ordinary account that can log in: the end of pghaul's session takes no server its shared memory."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab.demo import host_key_fingerprint
from tests.lab.hosts import Host, Kind
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable, wait_until
from tests.lab.systemd import systemd_unavailable

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(300)]

PROJECT = Path(__file__).resolve().parents[2]
_BIN = "/usr/lib/postgresql/15/bin"
_CREATE = f"""
set -eu
useradd -m -u 1500 -s /bin/bash app
install -d -m 700 -o app -g app /home/app/.ssh /srv/pg/data
install -m 600 -o app -g app /home/dba/.ssh/authorized_keys /home/app/.ssh/
runuser -u app -- {_BIN}/initdb -D /srv/pg/data --locale=C.UTF-8 --auth=trust >/dev/null
echo "unix_socket_directories = '/tmp'" >>/srv/pg/data/postgresql.conf
mkdir -p /etc/systemd/logind.conf.d
printf '[Login]\\nUserStopDelaySec=0\\n' >/etc/systemd/logind.conf.d/lab.conf
systemctl restart systemd-logind
unit=/etc/systemd/system/shop.service
printf '[Service]\\nType=notify\\nUser=app\\nExecStart={_BIN}/postgres -D /srv/pg/data\\n' >$unit
systemctl daemon-reload
systemctl start shop
"""


@pytest.fixture
def old() -> Iterator[Host]:
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("session", kind=Kind.SYSTEMD, size="1G") as made:
        made.old.exec("sh", "-c", _CREATE)
        _describe(made)
        yield made.old


def _describe(hosts: Lab) -> None:
    old = hosts.old
    words = ["server", "add", "old", old.address, "--user", "app", "--rights", "none", "--identity", str(old.key)]
    assert _ended(_begun(*words)) == ""


def _begun(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "gui.entry", *words],
        cwd=PROJECT, env=os.environ, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def _ended(process: "subprocess.Popen[str]") -> str:
    """Its complaints."""
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    return err


def _shared(old: Host) -> str:
    return old.exec("ls", "/dev/shm").stdout


def _state(old: Host) -> str:
    """Of the account, in systemd's words; empty: it has no session at all."""
    return old.exec("loginctl", "show-user", "app", "-p", "State", "--value", check=False).stdout.strip()


def _logged_out(old: Host) -> None:
    wait_until(lambda: _state(old) in ("", "closing", "lingering"), "the last session of app to end", seconds=60)


def _keepers(old: Host) -> str:
    return old.exec("pgrep", "-x", "pghaul-session", check=False).stdout


def _serves(old: Host) -> None:
    said = old.exec(f"{_BIN}/psql", "-h", "/tmp", "-XAtc", "select 1", "postgres", user="app").stdout
    assert said == "1\n"


def test_the_session_is_held_while_its_end_would_harm_the_server(old: Host) -> None:
    shared = _shared(old)
    said = _ended(_begun("server", "test", "old", "--host-key", host_key_fingerprint(old)))
    _logged_out(old)
    assert _shared(old) == shared
    _serves(old)
    assert "warning: old: a PostgreSQL server runs as app, an ordinary account" in said
    assert "loginctl enable-linger app" in said
    process = _begun("facts", "old")
    assert process.stderr is not None
    for line in process.stderr:
        if "facts of the host" in line:
            break
    process.send_signal(signal.SIGKILL)
    process.communicate()
    _logged_out(old)
    assert _shared(old) == shared
    _serves(old)
    wait_until(lambda: len(_keepers(old).split()) == 1, "one process to hold the sessions", seconds=60)
    old.exec("loginctl", "enable-linger", "app")
    wait_until(lambda: not _keepers(old), "the session to be let go", seconds=60)
    assert "warning" not in _ended(_begun("server", "test", "old"))
    _logged_out(old)
    assert _shared(old) == shared
    _serves(old)


def test_pghaul_waits_where_systemd_leaves_no_session_open(old: Host) -> None:
    old.exec("sh", "-c", "echo KillUserProcesses=yes >>/etc/systemd/logind.conf.d/lab.conf")
    old.exec("systemctl", "restart", "systemd-logind")
    shared = _shared(old)
    process = _begun("server", "test", "old", "--host-key", host_key_fingerprint(old))
    assert process.stderr is not None
    for line in process.stderr:
        if "pghaul waits" in line:
            break
    assert process.poll() is None
    old.exec("loginctl", "enable-linger", "app")
    _ended(process)
    _logged_out(old)
    assert _shared(old) == shared
    _serves(old)
