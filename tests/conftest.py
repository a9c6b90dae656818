"""For every test: a home, a data folder and an ssh configuration of its own, no screen, and no thread left behind."""

import gc
import os
import shutil
import tempfile
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import leftovers, run

pytest_plugins = [
    "tests.ending",
    "tests.workers",
    "tests.contracts",
    "tests.postgresql",
    "tests.wire",
    "tests.histories",
    "tests.lab.fixtures",
]

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

_MEMORY, _ENOUGH_BYTES = Path("/dev/shm"), 2**30


def _fits_in_memory() -> bool:
    """Whether there is room for what tests write, and what they write may be run."""
    if not _MEMORY.is_dir() or shutil.disk_usage(_MEMORY).free < _ENOUGH_BYTES:
        return False
    return not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC


if _fits_in_memory():  # to remove a folder from a disk that is busy otherwise takes longer than most tests
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# how long an example takes says how busy the machine is; and a run is to find what the one before found, no more and
# no less: what looks for faults that nobody has seen yet is `make fuzz`
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

_SECONDS_TO_END = 3.0
_ALIEN = {
    *("SSH_AUTH_SOCK", "SSH_ASKPASS", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
    *("COLUMNS", "LINES"),  # readline sets them for whatever is started after it, workers among it
}


def pytest_sessionstart() -> None:
    """Remove what earlier sessions have left in the folders that programs share."""
    leftovers.sweep()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of items and their modules stay to the end: no collection of garbage needs to look at them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a file with a test that `make test` would not run, as its mark is not where the steps look for it.

    As a failed report, which also workers hand on.
    """
    report = yield
    file = collector.nodeid.partition("::")[0]
    there = {
        "lab": file.startswith(f"{run.LIVE}/"),
        "filling": file in run.FILLING,
        "measures": file in run.files_that_measure(),
    }
    for item in report.result or ():
        for mark in item.iter_markers() if isinstance(item, pytest.Item) else ():
            if not there.get(mark.name, True):
                report.outcome, report.result = "failed", []
                report.longrepr = f"{item.nodeid} is marked {mark.name}: make test would not run it, see tests/run.py"
                return report
    return report


def _isolate(environment: pytest.MonkeyPatch, folder: Path) -> None:
    """Nothing of the developer's is read or written: home, history, keys, agent, known_hosts, the libpq variables."""
    ssh = folder / "home" / ".ssh"
    ssh.mkdir(parents=True, mode=0o700)
    (ssh / "config").write_text(
        f"UserKnownHostsFile {ssh / 'known_hosts'}\nGlobalKnownHostsFile /dev/null\nIdentityFile {ssh / 'id_ed25519'}\n"
    )
    environment.setenv("HOME", str(folder / "home"))
    environment.setenv("LANGUAGE", "C")  # argparse looks for a translation of each of its words
    environment.setenv("PGHAUL_DATA", str(folder / "data"))
    environment.setenv("PGHAUL_SSH_CONFIG", str(ssh / "config"))
    for name in os.environ:
        if name in _ALIEN or (name.startswith("PG") and not name.startswith("PGHAUL")):
            environment.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def _session_isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """For the fixtures that last longer than a test."""
    folder = tmp_path_factory.mktemp("session")
    with pytest.MonkeyPatch.context() as environment:
        _isolate(environment, folder)
        yield folder


@pytest.fixture(autouse=True)
def _isolated(_session_isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with tempfile.TemporaryDirectory(dir=_session_isolated) as folder:
        _isolate(monkeypatch, Path(folder))
        yield


@pytest.fixture(autouse=True)
def _no_thread_left() -> Iterator[None]:
    """Name the thread that a test started and did not end."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if isinstance(thread, threading._DummyThread):  # noqa: SLF001  Qt's own, which Python merely saw
            continue
        thread.join(_SECONDS_TO_END)
        if thread.is_alive():
            pytest.fail(f"the test left a thread running: {thread.name}")
