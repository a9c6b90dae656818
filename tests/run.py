"""The parts of the tests as the Makefile runs them: python -m tests.run [-n WORKERS] PART [PYTEST'S WORDS...].

Each part ends with what `tests/ending.py` says and leaves build/tests/PART.xml. Tests of the lab that fail run once
more, alone; with STRICT=1 in the environment none does. `all` has make run each of TARGETS, also if an earlier one was
red, and says at the end which were.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
LIVE = "tests/live"
"""Where the tests of the lab are, all of them."""
FUNCTIONS = "tests/resources/sh/test_functions.py"
FILLING = (
    "tests/core/migration/execution/test_resume.py",
    "tests/core/migration/plan/test_script.py",
    "tests/core/test_this_workstation.py",
    "tests/resources/sh/test_dress_settings.py",
    "tests/resources/sh/test_fence.py",
    FUNCTIONS,
    "tests/resources/sh/test_hostile_databases.py",
    "tests/resources/sh/test_recovering_server.py",
    "tests/test_documented_commands.py",
)
"""Where those are that compute while the lab's wait for their hosts, all of them: none of them watches a clock."""
HOSTS_A_WORKER = 3
"""A test of the lab waits for its hosts most of the time: that many take their turns where one computes."""
FILLERS = 2
"""So many more workers than have hosts: `tests/workers.py` gives them what fills the time of the others."""
WAITING = 1
"""Of the others some wait, for programs that they run and for what is told a moment later: so many more workers."""
NONE_ASKED_FOR = "holds none of the tests asked for"
UNUSUAL = ("clean_debian", "long", "nfs", "systemd")
USUAL = " and ".join(f"not {mark}" for mark in UNUSUAL)
ELSEWHERE = (
    "Tests marked lab, slow or filling are run by make test, those marked long by make test-long, nfs by make "
    "test-nfs, systemd by make test-systemd, clean_debian by make package-test"
)
TARGETS = {
    "test": "core",
    "test-long": "long",
    "test-nfs": "nfs",
    "test-systemd": "systemd",
    "test-pdf": "pdf",
    "chaos": None,
}
"""What `all` has make run, and the part that each is."""
NEEDED = {"test-pdf": ("java", "javac", "mvn")}
"""What a target needs and make cannot install where there is no apt."""
PARTS = ("fast", "unhosted", "core", "long", "nfs", "systemd", "clean_debian", "pdf")
SPREAD = ("fast", "unhosted", "core", "long")
"""Those that run by several workers, of which each loads all files."""


def selection(part: str, workers: str, given: Sequence[str]) -> list[str]:
    """The words by which pytest runs a part, but for those given.

    The usual tests run in three steps: those of the lab, with some that fill the time in which these wait; the others;
    and what measures, which has no neighbour, for that would be measured too. So do the long ones, of which nearly all
    are of the lab, in two.
    """
    spread = ["--dist", "loadfile", "--no-loadscope-reorder"]
    on_hosts = ["-n", str(int(workers) * HOSTS_A_WORKER), *spread]
    without = ["-n", str(int(workers) + WAITING), *spread]
    match part:
        case "fast":
            return ["-n", workers, *spread, "-m", f"not lab and {USUAL} and not slow", "--ignore", "tests/live"]
        case "unhosted":
            alone = ["-m", f"not lab and {USUAL} and measures", *(given or files_that_measure())]
            return [*without, "-m", f"not lab and {USUAL} and not measures", f"--then={shlex.join(alone)}"]
        case "core":
            alone = ["-m", f"{USUAL} and measures", *(given or files_that_measure())]
            if without_hosts(given):
                return [*without, "-m", f"not lab and {USUAL} and not measures", f"--then={shlex.join(alone)}"]
            hosts = ["-n", str(int(workers) * HOSTS_A_WORKER + FILLERS), *spread]
            hosts += ["-m", f"(lab or filling) and {USUAL} and not measures"]
            rest = [*without, "-m", f"not lab and not filling and {USUAL} and not measures", *given]
            afterwards = (f"--then={shlex.join(words)}" for words in (rest, alone))
            return [*hosts, *afterwards, *([] if given else [LIVE, *FILLING])]
        case "long":
            alone = ["-m", "long and measures", *(given or files_that_measure())]
            return [*on_hosts, "-m", "long and not measures", f"--then={shlex.join(alone)}"]
        case "pdf":
            return ["tests/core/reports/shapes/test_standards.py"]
        case "clean_debian":
            return ["-m", part, *([] if given else ["tests/installer"])]
        case _:
            return ["-m", part]


def without_hosts(given: Sequence[str]) -> bool:
    """Whether places among the tests are named, and none of them is of the lab's."""
    if any(word.startswith(("--ignore", "--deselect")) for word in given):
        return False  # such places are those that are left out
    live, tests = TOP / LIVE, TOP / "tests"
    places = [(TOP / word.partition("::")[0]).resolve() for word in given]
    places = [place for place in places if place.exists() and (place == tests or tests in place.parents)]
    return bool(places) and not any(live == place or live in place.parents or place in live.parents for place in places)


@cache
def files_that_measure() -> list[str]:
    """To load all the others would take as long as some of these."""
    tests = (TOP / "tests").rglob("test_*.py")
    return sorted(str(path.relative_to(TOP)) for path in tests if "pytest.mark.measures" in path.read_text("utf-8"))


def load_once(workers: int, first: Sequence[str] = ("tests",)) -> list[subprocess.Popen[bytes]]:
    """Load every file of tests, each in one process, where most have never been loaded here.

    pytest rewrites and compiles a file when it is first loaded. In a new clone every worker would do so for all files.
    Those below `first` are loaded when this returns; the processes that it returns load the others beside what follows.
    """
    files = sorted((TOP / "tests").rglob("test_*.py"))
    new = [path for path in files if not any((path.parent / "__pycache__").glob(f"{path.stem}.*-pytest-*.pyc"))]
    if len(new) * 2 < len(files) or sys.dont_write_bytecode:
        return []
    print("loading all tests once, as they are new here", flush=True)
    early = [path for path in files if any(path.is_relative_to(TOP / each) for each in first)]
    for each in _loading(early, workers):
        each.wait()  # a file that cannot be loaded is told of by the run
    return _loading([path for path in files if path not in early], workers)


def _loading(files: Sequence[Path], workers: int) -> list[subprocess.Popen[bytes]]:
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0"]
    shares = (each for first in range(workers) if (each := [str(path) for path in files[first::workers]]))
    return [subprocess.Popen([*words, *share], cwd=TOP, stdout=subprocess.DEVNULL) for share in shares]


def run(part: str, workers: str, given: Sequence[str]) -> int:
    """Run one part; its exit status, which is not 0 either where it holds none of the tests that were asked for."""
    early = (LIVE, *FILLING) if part == "core" else ("tests",)
    loading = load_once(int(workers), early) if part in SPREAD and not given else []
    repeated = [] if os.environ.get("STRICT", "0") not in {"", "0"} else ["--repeat"]
    whole = [] if given else ["--whole"]
    words = [*selection(part, workers, given), *whole, *repeated, f"--junitxml={_record(part)}", *given]
    status = int(pytest.main(words))
    for each in loading:
        each.wait()
    _status(part).parent.mkdir(parents=True, exist_ok=True)
    _status(part).write_text(str(status))  # of a failed recipe make tells nothing but that it failed
    if given and status == pytest.ExitCode.NO_TESTS_COLLECTED:
        print(f"{shlex.join(given)}: no such test, or none that is run here. {ELSEWHERE}", file=sys.stderr)
    return status


def run_all() -> int:
    """Run each part that make knows, red ones before it or not; 1 where one was red, 130 where somebody interrupted."""
    verdicts: dict[str, str] = {}
    for target, part in TARGETS.items():
        print(f"\n== make {target}", flush=True)
        verdicts[target] = _verdict(target, part)
        if verdicts[target] == "interrupted":
            break
    print("\nmake test-all:")
    for target, verdict in verdicts.items():
        print(f"    {target:14} {verdict}")
    if "interrupted" in verdicts.values():
        return 130
    if NONE_ASKED_FOR in verdicts.values() and not any(each.startswith("green") for each in verdicts.values()):
        print(f"{os.environ.get('PYTEST')}: no part holds such a test")
        return 1
    return int(any(verdict.startswith("red") for verdict in verdicts.values()))


def _verdict(target: str, part: str | None) -> str:
    """How a target of make ended."""
    missing = [name for name in NEEDED.get(target, ()) if shutil.which(name) is None]
    if missing and shutil.which("apt-get") is None:
        return f"left out: there is no {' and no '.join(missing)}"
    record, without = _record(part or target), _record("unhosted")
    for each in (part or target, "unhosted"):
        _record(each).unlink(missing_ok=True)
        _status(each).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        unhosted = Path(folder) / "unhosted"
        environment = {**os.environ, "WITHOUT_LAB": f"touch {unhosted}"}
        child = subprocess.Popen(["make", "--no-print-directory", target], env=environment)
        try:
            status = child.wait()
        except KeyboardInterrupt:  # the part was interrupted too, and first takes its lab down
            child.wait()
            return "interrupted"
        if unhosted.exists() and not without.exists():
            return "left out: this machine cannot host the lab"
        if unhosted.exists():
            return _judged(status, "unhosted", " without the lab")
    if part is None:
        return "red" if status else "green"
    if not record.exists():
        return "red: it left no record of its tests"
    return _judged(status, part, "")


def _judged(status: int, part: str, where: str) -> str:
    """How a part that left a record ended; `status`: make's, `where` it ran."""
    told = _status(part).read_text() if _status(part).exists() else ""
    if os.environ.get("PYTEST") and told == str(int(pytest.ExitCode.NO_TESTS_COLLECTED)):
        return NONE_ASKED_FOR
    suite = ET.parse(_record(part)).find("testsuite")  # noqa: S314  pytest has written it
    counts = "" if suite is None else f": {suite.get('tests')} tests, {suite.get('skipped')} of them skipped"
    return f"{'red' if status else 'green'}{where}{counts}"


def _record(part: str) -> Path:
    return Path("build/tests") / f"{part}.xml"


def _status(part: str) -> Path:
    """The file with pytest's exit status of the last run of a part."""
    return Path("build/tests") / f"{part}.status"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.run", description=__doc__)
    parser.add_argument("-n", dest="workers", default="2", help="so many side by side, where a part allows it")
    parser.add_argument("part", choices=[*PARTS, "all"])
    parser.add_argument("given", nargs=argparse.REMAINDER, help="words for pytest")
    options = parser.parse_args(arguments)
    if any(word.startswith("-m") for word in options.given):
        parser.error("-m is how a part selects its tests; select among them by -k")
    for word in options.given:
        place = word.partition("::")[0]
        if (place == "tests" or place.startswith("tests/")) and not (TOP / place).exists():
            parser.error(f"{place}: no such file or folder")
    try:
        return run_all() if options.part == "all" else run(options.part, options.workers, options.given)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
