"""What a person types to signal a server: it may have ended meanwhile, and nothing else may keep the signal from it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.migration.plan.cluster_control import native_signal
from tests.core.migration.builders import DATA, TARGET
from tests.core.migration.plan.plans import plan

pytestmark = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs Linux's /proc")

SHELLS = [name for name in ("dash", "bash") if shutil.which(name)]
LASTING = "import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}); print(); sys.stdin.read()"
"""A server that is still shutting down."""
NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": ()} if os.geteuid() == 0 else {}
"""Somebody who may not signal the processes of root."""


@pytest.fixture
def data() -> Iterator[Path]:
    """A data directory that everybody can enter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "it's $(touch x)"
        path.mkdir()
        for each in (path, path.parent):
            each.chmod(0o755)
        yield path


def typed(shell: str, command: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([shell, "-c", command], capture_output=True, text=True, check=False, timeout=60, **more)


def lock(data: Path, process: int) -> None:
    (data / "postmaster.pid").write_text(f"{process}\n{data}\n")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("crashed", [False, True])
def test_a_server_that_has_ended_meanwhile_is_no_failure(data: Path, shell: str, *, wait: bool, crashed: bool) -> None:
    """Its shutdown has removed its lock file, or its crash has left it."""
    if crashed:
        with subprocess.Popen(["true"]) as ended:
            lock(data, ended.pid)
    assert typed(shell, f"{native_signal(str(data), 'INT', wait=wait)} && echo next").stdout == "next\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_running_server_gets_the_signal(data: Path, shell: str) -> None:
    with subprocess.Popen(["sleep", "60"]) as server:
        lock(data, server.pid)
        assert typed(shell, native_signal(str(data), "TERM")).returncode == 0
    assert server.returncode == -15


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("wait", [False, True])
def test_only_who_waits_waits_for_the_end(data: Path, shell: str, *, wait: bool) -> None:
    pause = data / "sleep"
    pause.write_text("#!/bin/sh\nrm postmaster.pid\n")  # the server ends during the first pause
    pause.chmod(0o755)
    words = [sys.executable, "-c", LASTING]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        lock(data, server.pid)
        signal = native_signal(str(data), "TERM", wait=wait)
        assert typed(shell, signal, env={"PATH": f"{data}:{os.environ['PATH']}"}).returncode == 0
        assert (data / "postmaster.pid").exists() is not wait
        server.communicate()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("fault", ["not permitted", "unreadable lock file", "closed folder"])
def test_a_running_server_that_cannot_be_signalled_is_a_failure(
    data: Path, shell: str, fault: str, *, wait: bool
) -> None:
    with subprocess.Popen(["sleep", "60"]) as own:
        lock(data, own.pid if NOBODY else 1)  # without root, the first process is somebody else's
        if fault == "unreadable lock file":
            (data / "postmaster.pid").chmod(0)
        if fault == "closed folder":
            data.chmod(0)
        done = typed(shell, f"{native_signal(str(data), 'TERM', wait=wait)} && echo next", cwd="/", **NOBODY)
        data.chmod(0o755)
        assert own.poll() is None
        own.kill()
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr


UNIT = {"unit": "postgresql-15.service"}


@pytest.mark.parametrize("changes", [{}, UNIT, {**UNIT, "unit_user": "ann"}])
def test_every_signal_that_a_plan_shows_is_sent_so(changes: dict[str, Any]) -> None:
    signals = {
        native_signal(DATA, "INT"),
        native_signal(TARGET, "INT"),
        native_signal(TARGET, "INT", wait=True),
        native_signal(TARGET, "QUIT"),
    }
    shown = set()
    for made in (plan({"running": True, **changes}), plan({"running": True, **changes}, dressed=True)):
        for step in (*made.steps, *made.way_back):
            rest = "\n".join((*step.native, step.reason, step.undo))
            shown |= {signal for signal in signals if signal in rest}
            for signal in signals:
                rest = rest.replace(signal, "")
            assert "kill -" not in rest, step.id
            assert "postmaster.pid" not in rest, step.id
    assert shown >= {native_signal(TARGET, "INT", wait=True), native_signal(TARGET, "QUIT")}
    assert (native_signal(DATA, "INT") in shown) is bool(changes)
