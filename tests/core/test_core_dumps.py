"""A crash leaves no copy of the program's memory."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from core.core_dumps import forbid

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="core dumps as Linux writes them")

CRASH = """
import os, resource, sys
from {module} import {function}
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
sys.argv = ["pghaul", "--version"]
{function}()
os.abort()
"""


def _dumped(module: str, function: str, folder: Path) -> bool:
    """Whether a program that may leave a core, and aborts after that call, left one."""
    project = Path(__file__).parents[2]
    crash = CRASH.format(module=module, function=function)
    environment = {**os.environ, "PYTHONPATH": str(project)}
    process = subprocess.Popen([sys.executable, "-c", crash], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == -6
    return os.WCOREDUMP(status)


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason="nothing may leave a core here")
def test_the_program_leaves_no_core(tmp_path: Path) -> None:
    if not _dumped("os", "getpid", tmp_path):
        pytest.skip("no program leaves a core here, whatever it asks for")
    assert not _dumped("gui.entry", "main", tmp_path)


def test_windows_has_no_such_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    with pytest.raises(ImportError):
        forbid()
    monkeypatch.setattr(sys, "platform", "win32")
    forbid()
