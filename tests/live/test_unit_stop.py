"""The stop of a unit is a fast and clean shutdown, whatever signal and time limit the unit has."""

import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.jobs import Job
from core.servers import connection
from core.servers.shell import call
from tests.lab import lab as labs
from tests.lab import layouts
from tests.lab.fixtures import LabAsker, profile
from tests.lab.hosts import Kind
from tests.lab.lab import Lab
from tests.lab.layouts import FORKING, NOTIFY, USER, Layout
from tests.lab.machine import lab_unavailable, wait_until
from tests.lab.systemd import systemd_unavailable

pytestmark = [pytest.mark.systemd, pytest.mark.timeout(600)]

_BIN = "/usr/lib/postgresql/15/bin"


def unit(of: Layout, **changes: str) -> Layout:
    """That layout with other lines in its unit, or without those that are empty."""
    install = of.install
    for name, value in changes.items():
        kept = [line for line in install.split("\n") if not line.startswith(f"{name}=")]
        at = kept.index("[Service]")
        install = "\n".join([*kept[: at + 1], *([f"{name}={value}"] if value else []), *kept[at + 1 :]])
    return replace(of, install=install)


_SMART = unit(NOTIFY, KillSignal="", TimeoutStopSec="60")
_UNITS = {
    "a smart shutdown by SIGTERM": (_SMART, "stop_unit", 0),
    "one that is always started again": (unit(_SMART, Restart="always", RestartSec="0"), "stop_unit", 0),
    "a smart shutdown by its own command": (
        unit(FORKING, ExecStop=f"{_BIN}/pg_ctl -s -m smart stop", Restart="on-failure", RestartSec="0"),
        "stop_unit",
        0,
    ),
    "the same, always started again": (
        unit(NOTIFY, TimeoutStopSec="3", Restart="always", RestartSec="0"),
        "stop_unit",
        8,
    ),
    "a checkpoint that takes longer than its time limit": (unit(NOTIFY, TimeoutStopSec="3"), "stop_unit", 8),
    "the same with a command": (unit(FORKING, TimeoutStopSec="3", Restart="no"), "stop_unit", 8),
    "of a user": (unit(USER, KillSignal="", TimeoutStopSec="60"), "stop_user_unit", 0),
}


@pytest.fixture(scope="module")
def hosts() -> Iterator[Lab]:
    reason = lab_unavailable() or systemd_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("stop", kind=Kind.SYSTEMD, size="1G") as made:
        yield made


@pytest.mark.parametrize("kind", _UNITS)
def test_a_unit_is_stopped_by_a_fast_and_clean_shutdown(hosts: Lab, kind: str) -> None:
    layout, function, seconds = _UNITS[kind]
    old = hosts.old
    layouts.create(old, layout)
    with connection.connect(profile(hosts, hosts.old), LabAsker(hosts.known_hosts), Job()) as server:
        words = ["psql", "-h", "/tmp", "-U", "postgres", "-d", "postgres", "-c", "select pg_sleep(100)"]
        with subprocess.Popen(old.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            find = ("pgrep", "-f", "postgres: postgres postgres .*SELECT")
            wait_until(lambda: old.exec(*find, check=False).stdout != "", "a client that stays")
            if seconds:  # the checkpointer does nothing for that long
                hold = f"p=$(pgrep -f '[p]ostgres: checkpointer'); kill -STOP $p; (sleep {seconds}; kill -CONT $p) &"
                old.exec("sh", "-c", f"({hold}) >/dev/null 2>&1")
            user = "postgres" if function == "stop_user_unit" else "root"
            began = time.monotonic()
            server.run(call(function, layout.unit, layout.data), Job(), user=user, deadline=100)
            assert time.monotonic() - began < 30
            client.wait(20)
    state = old.exec(f"{_BIN}/pg_controldata", layout.data).stdout
    assert "Database cluster state:               shut down\n" in state
    assert not layouts.active(old, layout)
    assert old.exec("pgrep", "-x", "postgres", check=False).stdout == ""
    old.exec("rm", "-rf", layout.data)
