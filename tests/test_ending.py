"""What a run says at its end and what it repeats, on real runs of pytest: `tests/ending.py`."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import run as run_steps

pytest_plugins = "pytester"

TOP = Path(__file__).parents[1]
WITH_WORKER = ("-p", "xdist", "-n1", "--dist", "loadfile")
HELPERS = """
import os, signal, time
from pathlib import Path
import pytest

def runs(name):
    "How often that has run, this time included."
    with Path(name).open("a") as file:
        file.write("x")
    return len(Path(name).read_text())
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs files with these texts; no plugin but ours is loaded, and no conftest of this project."""
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)

    def run(files: dict[str, str], *words: str) -> pytest.RunResult:
        for name, text in files.items():
            path = pytester.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{HELPERS}\n{text}", encoding="utf-8")
        pytester.makeini(
            "[pytest]\naddopts = -p tests.ending -ra -m 'not long' --strict-markers\nfilterwarnings = error\n"
            "markers =\n    filling\n    lab\n    long\n    measures\n"
        )
        return pytester.runpytest_subprocess("--junitxml=build/tests.xml", *words)

    return run


def count(path: Path) -> int:
    return len(path.read_text())


def suite(folder: Path) -> ET.Element:
    found = ET.parse(folder / "build" / "tests.xml").find("testsuite")  # noqa: S314  made here
    assert found is not None
    return found


UNSTABLE = {
    "test_a.py": """
@pytest.mark.lab
def test_again():
    print("said in run", runs("ran"))
    assert runs("asked") > 1

def test_other():
    runs("other")
"""
}


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), WITH_WORKER], ids=["by itself", "with a worker"])
def test_lab_test_that_passes_when_repeated_is_unstable(
    run: Run, pytester: pytest.Pytester, words: tuple[str, ...]
) -> None:
    result = run(UNSTABLE, "--repeat", *words)
    assert result.ret == 0
    folder = pytester.path / "build" / "tests-outputs" / "1-test_a.py-test_again"
    *_, last = result.outlines
    assert re.fullmatch(r"=+ 1 passed, 1 unstable in .* =+", last)
    result.stdout.fnmatch_lines(
        [
            "unstable: test_a.py::test_again (both outputs: build/tests-outputs/1-test_a.py-test_again)",
            "    E *assert 1 > 1",
        ]
    )
    assert "what failed" not in result.stdout.str()
    assert "said in run 1" in (folder / "first.txt").read_text()
    assert "assert 1 > 1" in (folder / "first.txt").read_text()
    assert "said in run 2" in (folder / "again.txt").read_text()
    assert (count(pytester.path / "ran"), count(pytester.path / "other")) == (2, 1)


@pytest.mark.long
def test_record_holds_an_unstable_test_once_as_passed(run: Run, pytester: pytest.Pytester) -> None:
    run(UNSTABLE, "--repeat")
    record = suite(pytester.path)
    assert [record.get(name) for name in ("tests", "failures", "errors")] == ["2", "0", "0"]
    (case,) = [each for each in record.iter("testcase") if each.get("name") == "test_again"]
    (flaky,) = case.iter("flakyFailure")
    assert "assert 1 > 1" in (flaky.text or "")
    (place,) = case.iter("property")
    assert (place.get("name"), place.get("value")) == ("unstable", "build/tests-outputs/1-test_a.py-test_again")


@pytest.mark.long
def test_error_in_setup_and_in_teardown_is_repeated(run: Run, pytester: pytest.Pytester) -> None:
    text = """
@pytest.fixture
def host():
    assert runs("setup") > 1

@pytest.fixture
def left():
    yield
    assert runs("teardown") > 1

@pytest.mark.lab
def test_setup(host): ...

@pytest.mark.lab
def test_teardown(left): ...
"""
    result = run({"test_a.py": text}, "--repeat")
    assert result.ret == 0
    assert re.fullmatch(r"=+ 1 passed, 2 unstable in .* =+", result.outlines[-1])  # the call of the second had passed
    runs = {name: count(pytester.path / name) for name in ("setup", "teardown")}
    assert runs == {"setup": 3, "teardown": 2}  # what failed in its teardown is repeated with all of its file
    assert [len(list(suite(pytester.path).iter(tag))) for tag in ("testcase", "error", "flakyError")] == [2, 0, 2]


@pytest.mark.slow
def test_what_is_torn_down_behind_the_last_of_a_file_is_repeated_with_all_of_it(run: Run) -> None:
    text = """
left = []

@pytest.fixture(scope="module")
def hosts():
    yield
    assert runs("teardown") == 4 or not left

@pytest.mark.lab
def test_leaves(hosts):
    left.append("a file")

@pytest.mark.lab
def test_last(hosts): ...
"""
    result = run({"test_a.py": text}, "--repeat")
    assert (result.ret, result.parseoutcomes()) == (1, {"passed": 2, "errors": 1})
    result = run({}, "--repeat")
    assert (result.ret, result.parseoutcomes()) == (0, {"passed": 2, "unstable": 1})


@pytest.mark.slow
def test_lab_test_that_fails_again_stays_a_failure(run: Run, pytester: pytest.Pytester) -> None:
    text = """
@pytest.mark.lab
def test_red():
    assert runs("ran") > 2
"""
    result = run({"test_a.py": text}, "--repeat", *WITH_WORKER)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAILED: test_a.py::test_red", "*failed again*build/tests-outputs/1-test_a.py-test_red"]
    )
    assert re.fullmatch(r"=+ 1 failed in .* =+", result.outlines[-1])
    assert "unstable" not in result.stdout.str()
    assert count(pytester.path / "ran") == 2
    folder = pytester.path / "build" / "tests-outputs" / "1-test_a.py-test_red"
    assert "assert 1 > 2" in (folder / "first.txt").read_text()
    assert "assert 2 > 2" in (folder / "again.txt").read_text()
    assert suite(pytester.path).get("failures") == "1"


@pytest.mark.slow
def test_lab_test_that_does_not_pass_to_its_end_when_repeated_stays_a_failure(run: Run) -> None:
    text = """
@pytest.mark.lab
def test_is_skipped():
    if runs("skipped") > 1:
        pytest.skip("there are no hosts any more")
    assert False

@pytest.mark.lab
def test_ends_all(request):
    if runs("ended") > 1:
        request.addfinalizer(lambda: os._exit(0))
    else:
        assert False
"""
    result = run({"test_a.py": text}, "--repeat")
    assert (result.ret, result.parseoutcomes()) == (1, {"failed": 2})


@pytest.mark.slow
def test_what_is_not_marked_lab_or_not_to_be_repeated_runs_once(run: Run, pytester: pytest.Pytester) -> None:
    text = """
def test_plain():
    assert runs("plain") > 1
"""
    result = run({"lab/test_b.py": text}, "--repeat")  # a folder of that name is no mark
    assert (result.ret, result.parseoutcomes(), count(pytester.path / "plain")) == (1, {"failed": 1}, 1)
    result = run(UNSTABLE, "test_a.py")
    assert (result.ret, result.parseoutcomes(), count(pytester.path / "ran")) == (1, {"failed": 1, "passed": 1}, 1)


@pytest.mark.long
@pytest.mark.parametrize(("failing", "repeated"), [(10, 10), (11, 0)], ids=["ten", "eleven"])
def test_no_more_than_ten_are_repeated(run: Run, pytester: pytest.Pytester, failing: int, repeated: int) -> None:
    text = f"""
@pytest.mark.lab
@pytest.mark.parametrize("number", range({failing}))
def test_red(number):
    runs("ran")
    assert False
"""
    result = run({"test_a.py": text}, "--repeat")
    assert (result.ret, result.parseoutcomes()) == (1, {"failed": failing})
    assert count(pytester.path / "ran") == failing + repeated
    assert ("11 tests of the lab failed: more than 10 are not repeated" in result.outlines) == (repeated == 0)


@pytest.mark.long
def test_a_test_of_another_selection_is_repeated_by_its_id(run: Run) -> None:
    text = """
@pytest.mark.long
@pytest.mark.lab
@pytest.mark.parametrize("word", ["a b", "c[d]"])
def test_a(word):
    assert runs(word) > 1
"""
    result = run({"test_a.py": text}, "--repeat", "-m", "long", "-k", "test_a", "test_a.py")
    assert (result.ret, result.parseoutcomes()) == (0, {"unstable": 2})


@pytest.mark.slow
def test_the_end_says_failures_then_times_then_the_record(run: Run) -> None:
    text = """
@pytest.mark.parametrize("seconds", [3, 40])
def test_a(seconds): ...
"""
    files = {
        "conftest.py": """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.duration = float(item.callspec.params["seconds"]) if call.when == "call" else 0.5
    return report
""",
        "one/test_a.py": text,
        "one/deep/test_b.py": text.replace("...", "print('line\\n' * 100); assert seconds == 3"),
    }
    result = run(files, *WITH_WORKER)
    start = result.outlines.index(next(line for line in result.outlines if "= what failed =" in line))
    said = [re.sub(r"={3,}", "=", line) for line in result.outlines[start:]]
    assert said[:2] == ["= what failed =", "FAILED: one/deep/test_b.py::test_a[40]"]
    times = said.index("= time by folder =")
    assert any("assert 40 == 3" in line for line in said[2:times])
    assert said[times - 10 : times] == ["    -- the last lines captured --", *["    line"] * 8, "    "]
    assert times <= 2 + 25
    assert said[times + 1 : -1] == [
        "    45.0 s      2 cases  one",
        "    45.0 s      2 cases  one/deep",
        "= the 15 slowest tests =",
        "    41.0 s  one/deep/test_b.py::test_a[40]",
        "    41.0 s  one/test_a.py::test_a[40]",
        "     4.0 s  one/deep/test_b.py::test_a[3]",
        "     4.0 s  one/test_a.py::test_a[3]",
        "",
        "JUnit file: build/tests.xml",
    ]
    assert re.fullmatch(r"= 1 failed, 3 passed in .* =", said[-1])


@pytest.mark.slow
def test_what_runs_by_itself_belongs_to_the_run(run: Run, pytester: pytest.Pytester) -> None:
    text = """
@pytest.mark.measures
def test_alone():
    assert "PYTEST_XDIST_WORKER" not in os.environ

@pytest.mark.measures
@pytest.mark.lab
def test_again():
    assert runs("ran") > 1

@pytest.mark.measures
def test_red():
    assert False

def test_beside():
    assert "PYTEST_XDIST_WORKER" in os.environ
"""
    result = run({"test_a.py": text}, *WITH_WORKER, "-m", "not measures", "--then=-m measures", "--repeat")
    assert (result.ret, result.parseoutcomes()) == (1, {"failed": 1, "passed": 2, "unstable": 1})
    result.stdout.fnmatch_lines(["FAILED: test_a.py::test_red", "*4 cases  .", "unstable: test_a.py::test_again *"])
    assert sorted(str(case.get("name")) for case in suite(pytester.path).iter("testcase")) == [
        *("test_again", "test_alone", "test_beside", "test_red")
    ]


@pytest.mark.long
def test_each_of_several_runs_after_the_one_before(run: Run, pytester: pytest.Pytester) -> None:
    text = """
@pytest.mark.lab
def test_first():
    runs("order")

@pytest.mark.long
@pytest.mark.parametrize("number", [1, 2])
def test_with_a_worker(number):
    assert Path("order").read_text() == "x"
    assert "PYTEST_XDIST_WORKER" in os.environ
    Path(f"second{number}").touch()
    assert number == 1

@pytest.mark.measures
def test_last():
    assert Path("second2").exists()
    assert "PYTEST_XDIST_WORKER" not in os.environ

@pytest.mark.measures
def test_left_out():
    pytest.skip("there is no disk")
"""
    then = (f"--then={' '.join(WITH_WORKER)} -m long", "--then=-m measures")
    result = run({"test_a.py": text}, *WITH_WORKER, "-m", "lab", *then)
    assert (result.ret, result.parseoutcomes()) == (1, {"failed": 1, "passed": 3, "skipped": 1})
    assert len(list(suite(pytester.path).iter("testcase"))) == 5


@pytest.mark.slow
@pytest.mark.parametrize("words", [WITH_WORKER, ("-m", "long", f"--then={' '.join(WITH_WORKER)} -m 'not long'")])
def test_a_worker_that_ends_while_it_runs_no_test_fails_the_run(run: Run, words: tuple[str, ...]) -> None:
    files = {
        "test_a.py": "def test_a(): ...\n",
        "conftest.py": """
def pytest_sessionfinish():
    if "PYTEST_XDIST_WORKER" in os.environ and runs("ended") == 1:
        os._exit(9)
""",
    }
    result = run(files, *words)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["worker gw0 ended: *"])


UNFINISHED = """
@pytest.mark.measures
@pytest.mark.lab
def test_first():
    assert runs("first") > 1

@pytest.mark.measures
def test_last():
    {body}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "status", "ran"),
    [
        ("os._exit(0)", 0, 1),
        ("os._exit(1)", 1, 1),
        ("os._exit(5)", 5, 1),
        ("pytest.exit('enough')", 2, 1),
    ],
)
def test_what_ends_before_its_tests_are_over_fails_the_run(run: Run, body: str, status: int, ran: int) -> None:
    """Also where a test of the lab failed before, and passes when it is repeated."""
    result = run({"test_a.py": UNFINISHED.format(body=body)}, "--repeat", "-m", "not measures", "--then=-m measures")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            f"*status {status} while running test_a.py::test_last, when {ran} of 2 tests had run, *",
            "unstable: *test_first*",
        ]
    )


@pytest.mark.slow
def test_a_failed_end_without_a_failed_test_fails_the_run(run: Run) -> None:
    ends = """
def pytest_sessionfinish(session):
    if session.config.option.reports_to is not None:
        session.exitstatus = 1
"""
    files = {"conftest.py": ends, "test_a.py": "@pytest.mark.measures\ndef test_a(): ...\n"}
    result = run(files, "-m", "not measures", "--then=-m measures")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the process ended with status 1 while running the tests by themselves, see *"])


@pytest.mark.long
def test_either_part_may_select_nothing(run: Run) -> None:
    files = {"test_a.py": "@pytest.mark.measures\ndef test_alone(): ...\n"}
    result = run(files, *WITH_WORKER, "-m", "not measures", "--then=-m measures")
    assert (result.ret, result.parseoutcomes()["passed"]) == (0, 1)
    result = run(files, *WITH_WORKER, "-m", "measures", "--then=-m long")
    assert (result.ret, result.parseoutcomes()["passed"]) == (0, 1)
    assert run(files, "-m", "not measures", "--then=-m long").ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.slow
def test_what_ends_before_it_has_collected_fails_the_run(run: Run) -> None:
    files = {"test_a.py": "def test_beside(): ...\n", "test_b.py": "os._exit(0)\ndef test_broken(): assert False\n"}
    result = run(files, "test_a.py", "--then=test_b.py")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*pytest test_b.py ended with status 0 before it had collected its tests, see *"])


@pytest.mark.slow
def test_a_step_without_a_test_fails_a_whole_run(run: Run) -> None:
    files = {"test_a.py": "def test_beside(): ...\n"}
    assert run(files, "--then=-m measures").ret == 0
    result = run(files, "--whole", "--then=-m measures")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*no test is selected by pytest -m measures, see *"])
    result = run(files, "--whole", *WITH_WORKER, "-m", "measures", "--then=-m not\\ measures")
    assert (result.ret, result.parseoutcomes()["passed"]) == (1, 1)
    result.stdout.fnmatch_lines(["the first step selects no test: see *"])


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["lab", "filling", "measures"])
def test_a_mark_where_no_step_looks_for_it_is_refused(run: Run, mark: str) -> None:
    """However it is written: what counts is the mark of the test."""
    hooks = "from tests.conftest import pytest_make_collect_report\n"
    marked = f"MARK = pytest.mark\n@MARK.{mark}\ndef test_there(): ...\n"
    files = {"conftest.py": hooks, "tests/core/test_a.py": marked, "tests/core/test_b.py": "def test_b(): ...\n"}
    for workers in ((), WITH_WORKER):
        result = run(files, *workers, "-m", f"not {mark}")
        assert result.ret not in {0, pytest.ExitCode.NO_TESTS_COLLECTED}
        result.stdout.fnmatch_lines(
            [f"*tests/core/test_a.py::test_there is marked {mark}: make test would not run it*"]
        )
    there = {"lab": "tests/live/test_a.py", "filling": run_steps.FILLING[0]}.get(mark)
    if there is not None:
        assert run({"conftest.py": hooks, there: marked}, there).ret == 0


@pytest.mark.slow
def test_a_file_that_does_not_load_by_itself_is_an_error_told_once(run: Run) -> None:
    files = {"test_a.py": "def test_beside(): ...\n", "test_b.py": "import no_such_module\n"}
    result = run(files, "test_a.py", "--then=test_b.py")
    assert (result.ret, result.parseoutcomes()) == (1, {"passed": 1, "errors": 1})
    result.stdout.fnmatch_lines(["FAILED to load: test_b.py", "*ModuleNotFoundError*"])


@pytest.mark.slow
def test_a_process_that_ends_early_is_named_with_its_test(run: Run, pytester: pytest.Pytester) -> None:
    text = """
@pytest.mark.measures
def test_before():
    assert False

@pytest.mark.measures
def test_alone():
    os._exit(7)

@pytest.mark.lab
def test_beside():
    runs("ran")
    os._exit(8)

def test_behind(): ...
"""
    words = (*WITH_WORKER, "-p", "tests.workers", "-m", "not measures", "--then=-m measures")
    result = run({"test_a.py": text}, *words)
    assert (result.ret, result.parseoutcomes()) == (1, {"failed": 3, "passed": 1})
    assert count(pytester.path / "ran") == 1
    result.stdout.fnmatch_lines(
        [
            "    worker gw0 ended while running test_a.py::test_beside",
            "    the process ended with status 7 while running test_a.py::test_alone, when 1 of 2 *, see *then-1.txt",
        ]
    )


TELLING = """
def pytest_configure(config):
    if not hasattr(config, "workerinput") and config.option.reports_to is None:
        config.pluginmanager.register(Told())
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whose parent ignores it would ignore it too

class Told:
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logstart(self, nodeid):
        if nodeid.endswith("test_on_its_way"):
            Path("part").write_text(str(os.getpid()))
            Path("part").rename("pid")
"""
"""Says, in a file, which process runs the tests, as soon as that knows of the one on its way."""

ON_ITS_WAY = """
    while not Path("pid").exists():
        time.sleep(0.01)
    os.kill(int(Path("pid").read_text()), signal.SIGINT)
    time.sleep(1)
"""


@pytest.mark.long
@pytest.mark.parametrize("words", [(), WITH_WORKER], ids=["by itself", "with a worker"])
def test_an_interrupted_run_says_what_ran(run: Run, pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    text = """
@pytest.mark.lab
def test_red():
    runs("ran")
    assert False

def test_on_its_way():"""
    result = run({"conftest.py": TELLING, "test_a.py": text + ON_ITS_WAY}, "--repeat", *words)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["FAILED: test_a.py::test_red", "interrupted while running test_a.py::test_on_its_way", "JUnit file: *"]
    )
    assert count(pytester.path / "ran") == 1


@pytest.mark.long
def test_what_runs_by_itself_is_interrupted_with_the_run_and_clears_up(run: Run, pytester: pytest.Pytester) -> None:
    text = """
@pytest.fixture(scope="session")
def lab():
    yield
    Path("down").touch()

@pytest.mark.measures
def test_on_its_way(lab):"""
    files = {"conftest.py": TELLING, "test_a.py": text + ON_ITS_WAY}
    result = run(files, "-m", "not measures", "--then=-m measures")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["interrupted while running test_a.py::test_on_its_way"])
    assert (pytester.path / "down").exists()
