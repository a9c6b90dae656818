"""Which worker runs what, on real runs with two workers: `tests/workers.py`."""

import re
from pathlib import Path

import pytest

from core.servers.functions import functions
from tests.run import FUNCTIONS
from tests.workers import LONG, TURNS, WAITING

pytest_plugins = "pytester"

TOP = Path(__file__).parents[1]
CONFTEST = """
import os, time
from pathlib import Path
import pytest
from tests import workers

workers.LONG.clear()
workers.LONG.update({"test_parts.py": (20, 2), "test_last.py": (5, 1)})
workers.LONG.update({"test_turn_1.py": (3, 1), "test_turn_2.py": (4, 1)})
workers.TURNS = ("test_turn_1.py", "test_turn_2.py")
workers.FILLING = ("test_fills.py",)
workers.WAITING.clear()
workers.WAITING.update({"test_early.py::test_a[4]": 30})

@pytest.fixture(scope="module", autouse=True)
def by(request):
    name = f"{Path(request.node.name).stem} by {os.environ['PYTEST_XDIST_WORKER']}"
    Path(name).touch()
    with Path("began").open("a") as file:
        file.write(f"{Path(request.node.name).stem}\\n")
"""
MEETS = """
import time
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_parts(number):
    "The first and the third wait for each other: they run side by side."
    Path(f"at {number}").touch()
    until = time.monotonic() + 60
    while not Path(f"at {(number + 1) % 4 + 1}").exists() and number % 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert number % 2 == 0 or time.monotonic() < until
"""


def spread(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> pytest.RunResult:
    """Run these files with two workers, as the parts of the tests are."""
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    for name, text in {"conftest.py": CONFTEST, **files}.items():
        (pytester.path / name).write_text(text)
    words = ("-p", "xdist", "-p", "tests.workers", "-n2", "--dist", "loadfile", "--no-loadscope-reorder")
    return pytester.runpytest_subprocess(*words)


SEVERAL = "import pytest\n@pytest.mark.parametrize('number', range(5))\ndef test_a(number): ...\n"


@pytest.mark.slow
def test_a_long_file_comes_first_and_in_parts(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"test_early.py": SEVERAL, "test_last.py": SEVERAL, "test_parts.py": MEETS}
    result = spread(pytester, monkeypatch, files)
    assert (result.ret, result.parseoutcomes()) == (0, {"passed": 14})
    began = (pytester.path / "began").read_text().split()
    # the one that waits is before all others, and apart from the rest of its file
    first = ["test_early", "test_parts", "test_parts"]
    assert (sorted(began[:3]), sorted(began[3:])) == (first, ["test_early", "test_last"])
    assert sorted(path.name for path in pytester.path.glob("test_parts by *")) == [
        *("test_parts by gw0", "test_parts by gw1")
    ]


WAITS = """
import time
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_waits(number):
    until = time.monotonic() + 20
    while not any(Path().glob("test_fills by gw*")) and time.monotonic() < until:
        time.sleep(0.01)
    assert time.monotonic() < until
"""


@pytest.mark.slow
def test_one_worker_fills_the_time_of_the_others_from_the_beginning_on(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two parts of the other file would take both workers, and wait for it in vain."""
    result = spread(pytester, monkeypatch, {"test_fills.py": SEVERAL, "test_parts.py": WAITS})
    assert (result.ret, result.parseoutcomes()) == (0, {"passed": 7})


@pytest.mark.slow
def test_files_that_take_turns_run_one_after_the_other(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one worker: each of two would take one of them."""
    result = spread(pytester, monkeypatch, {"test_turn_1.py": SEVERAL, "test_turn_2.py": SEVERAL})
    assert (result.ret, result.parseoutcomes()) == (0, {"passed": 10})
    by = {path.name.partition(" by ")[2] for path in pytester.path.glob("test_turn_* by *")}
    assert len(by) == 1


def test_each_long_file_is_there() -> None:
    assert [name for name in LONG if not (TOP / name).is_file()] == []


def test_those_that_take_turns_are_together() -> None:
    """A worker would wait for the turn of another one."""
    takes = re.compile(r"^from tests\.sshd import .*\b(this_machine|turn)\b", re.MULTILINE)
    texts = {path: path.read_text("utf-8") for path in (TOP / "tests").rglob("test_*.py")}
    found = [str(path.relative_to(TOP)) for path, text in texts.items() if takes.search(text)]
    assert sorted(found) == sorted([*TURNS, FUNCTIONS])


def test_each_test_that_waits_is_there() -> None:
    named = [re.fullmatch(r"(.*)::(.*)\[(.*)\]", nodeid) for nodeid in WAITING]
    assert None not in named
    for file, test, function in (found.groups() for found in named if found is not None):
        assert f"def {test}(" in (TOP / file).read_text(encoding="utf-8")
        assert function in functions()
