"""The end of a run says what matters: what failed, where the time went, where the record lies, and what is unstable.

It does so where a record is asked for (`--junitxml`), as `tests/run.py` does. Two kinds of tests run in a process of
their own, with nothing beside them, and count as tests of the same run:

- those of each `--then`, after all others, one after another;
- with `--repeat`, each test marked `lab` that failed, once more in a new lab; with all of its file where it failed in
  its teardown, for what is torn down is often what the tests before it used. If it passes, it is unstable and the run
  stays green; else its failure stands. A test whose worker ended is not repeated.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

MOST_REPEATED = 10  # where more fail, the product is broken
MOST_SHOWN = 20
LAST_LINES, CAPTURED_LINES = 25, 10
SLOWEST = 15
_PHASES = {"setup": " in its setup", "teardown": " in its teardown", "collect": " to load"}
_PASSED = [(phase, "passed") for phase in ("setup", "call", "teardown")]
_USUAL = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ending", "the end of a run (with --junitxml)")
    group.addoption("--then", action="append", default=[], metavar="WORDS", help="then run pytest with these words")
    group.addoption("--whole", action="store_true", help="a step that selects no test is a failure")
    group.addoption("--repeat", action="store_true", help="run each test marked lab that failed once more, alone")
    group.addoption("--reports-to", type=int, metavar="FD", help="only report to the run that began this process")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # xdist's own: reports to its controller
        return
    if config.option.reports_to is not None:
        config.pluginmanager.register(Messenger(config))
    elif config.option.xmlpath and not config.option.collectonly:
        config.pluginmanager.register(Ending(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the mark: a report's keywords would also hold a folder of that name."""
    report = yield
    vars(report)["lab"] = item.get_closest_marker("lab") is not None
    return report


class Messenger:
    """In the process of tests that run by themselves: tells the run about each of them, a line of JSON an event."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        os.set_inheritable(config.option.reports_to, False)  # what a test starts must not hold it open
        self.pipe = os.fdopen(config.option.reports_to, "w", encoding="utf-8")
        self.counted = False

    def _tell(self, **event: object) -> None:
        print(json.dumps(event, default=str), file=self.pipe, flush=True)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._tell(collected=len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Each worker has collected the same."""
        if not self.counted:
            self.counted = True
            self._tell(collected=len(ids))

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._tell(began=nodeid, location=location)

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._tell(ended=nodeid, location=location)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        told.pop("node", None)  # the worker, which only this process knows
        self._tell(report=told)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if error:
            self._tell(down=node.gateway.id, error=error)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        report.longrepr = _crashed(crashitem, report)
        self._tell(crashed=report.node.gateway.id, item=crashitem)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._tell(uncollected=self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_unconfigure(self) -> None:
        self.pipe.close()


class Ending:
    """In the process that began the run.

    Attributes:
        record: the JUnit file.
        kept: the folder beside it with outputs of tests that ran by themselves; made anew by each run.
        seconds: how long each test took, with its setup and teardown.
        running: what has begun and not ended.
        failed_in_lab: the failed reports of each test marked `lab`.
        outputs: the folder with both outputs of each test that was repeated; `unstable` of those that then passed.
        lost: what is to be said of each worker that ended while it ran no test.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.record = Path(config.option.xmlpath).absolute()
        self.kept = self.record.with_name(f"{self.record.stem}-outputs")
        self.seconds: dict[str, float] = defaultdict(float)
        self.running: dict[str, None] = {}
        self.failed_in_lab: dict[str, list[pytest.TestReport]] = {}
        self.outputs: dict[str, Path] = {}
        self.unstable: dict[str, Path] = {}
        self.lost: dict[str, str] = {}
        shutil.rmtree(self.kept, ignore_errors=True)

    # What happens in the run

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running[nodeid] = None

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.running.pop(nodeid, None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed and getattr(report, "lab", False):
            self.failed_in_lab.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if error:
            self.lost[node.gateway.id] = f"worker {node.gateway.id} ended: {error}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        """The report is shown with the other failures."""
        report.longrepr = _crashed(crashitem, report)
        self.lost.pop(report.node.gateway.id, None)
        self.running.pop(crashitem, None)

    # What runs by itself, behind all others: workers and their labs are gone, nothing is written or summed up yet

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        if self.config.option.whole and session.testscollected == 0:
            self.lost["first"] = "the first step selects no test: see tests/run.py"
        for words in self.config.option.then:
            self._run_the_rest(session, words)
        if self.config.option.repeat and len(self.failed_in_lab) <= MOST_REPEATED:
            for nodeid, failed in self.failed_in_lab.items():
                self._run_once_more(session, nodeid, failed)
        session.testsfailed += len(self.lost)  # what ended them was none of the tests that they ran, but is no less
        return result

    def _run_the_rest(self, session: pytest.Session, words: str) -> None:
        hook, output = self.config.hook, self.kept / f"then-{self.config.option.then.index(words) + 1}.txt"
        failed_before, lost_before = session.testsfailed, len(self.lost)
        collected: int | None = None
        unloaded = False
        over: set[str] = set()
        for event in self._by_itself(shlex.split(words), output):
            match event:
                case {"collected": number}:
                    collected = number + (collected or 0)
                    session.testscollected += number
                case {"began": nodeid, "location": location}:
                    hook.pytest_runtest_logstart(nodeid=nodeid, location=tuple(location))
                case {"ended": nodeid, "location": location}:
                    over.add(nodeid)
                    hook.pytest_runtest_logfinish(nodeid=nodeid, location=tuple(location))
                case {"report": report}:
                    hook.pytest_runtest_logreport(report=self._read(report))
                case {"uncollected": report}:
                    unloaded = True
                    hook.pytest_collectreport(report=self._read(report))
                case {"down": worker, "error": error}:
                    self.lost[f"{worker} {output}"] = f"worker {worker} ended: {error}, see {_shown(output)}"
                case {"crashed": worker, "item": nodeid}:
                    over.add(nodeid)
                    self.lost.pop(f"{worker} {output}", None)
                case {"status": pytest.ExitCode.INTERRUPTED} if unloaded:
                    pass  # what it could not load has been told
                case {"status": status}:
                    told = session.testsfailed > failed_before or len(self.lost) > lost_before
                    nothing = collected is None or (self.config.option.whole and collected == 0)
                    whole = not nothing and (len(over) >= (collected or 0) or len(self.lost) > lost_before)
                    if status in _USUAL and whole and (told or status != pytest.ExitCode.TESTS_FAILED):
                        continue
                    nodeid = next(reversed(self.running), "the tests by themselves")
                    if collected is None:
                        said = f"pytest {words} ended with status {status} before it had collected its tests"
                    elif nothing:
                        said = f"no test is selected by pytest {words}"
                    else:
                        ran = "" if whole else f", when {len(over)} of {collected} tests had run"
                        said = f"the process ended with status {status} while running {nodeid}{ran}"
                    said += f", see {_shown(output)}"
                    place = (nodeid.partition("::")[0], None, nodeid)
                    hook.pytest_runtest_logreport(report=pytest.TestReport(nodeid, place, {}, "failed", said, "call"))

    def _run_once_more(self, session: pytest.Session, nodeid: str, failed: list[pytest.TestReport]) -> None:
        self.terminal.write_line(f"\nonce more, alone: {nodeid}")
        name = re.sub(r"[^\w.-]+", "-", nodeid)[-100:]
        self.outputs[nodeid] = folder = self.kept / f"{len(self.outputs) + 1}-{name}"
        folder.mkdir(parents=True)
        (folder / "first.txt").write_text("\n".join(map(_whole, failed)), "utf-8", "backslashreplace")
        given = [word for word in self.config.invocation_params.args if word not in self.config.option.file_or_dir]
        without_workers = ["-n0"] if self.config.pluginmanager.hasplugin("xdist") else []
        in_teardown = any(report.when == "teardown" for report in failed)
        which = [nodeid.partition("::")[0]] if in_teardown else ["-m", "", nodeid]
        words = [*given, *without_workers, "-rA", "--junitxml=", *which]
        *events, ended = self._by_itself(words, folder / "again.txt")
        reports = [self._read(event["report"]) for event in events if "report" in event]
        reports = [report for report in reports if report.nodeid == nodeid]
        if ended["status"] != pytest.ExitCode.OK or [(each.when, each.outcome) for each in reports] != _PASSED:
            return
        self.unstable[nodeid] = folder
        session.testsfailed -= len(failed)
        for category in ("failed", "error"):
            left = [each for each in self.terminal.stats.pop(category, []) if each not in failed]
            self.terminal.stats |= {category: left} if left else {}
        for report in reports:
            report.user_properties.append(("unstable", _shown(folder)))
            self.config.hook.pytest_runtest_logreport(report=report)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count what passed when it ran once more as nothing but unstable."""
        return ("unstable", "U", "UNSTABLE") if report.when == "call" and report.nodeid in self.unstable else None

    def _by_itself(self, words: list[str], output: Path) -> Iterator[dict[str, Any]]:
        """What a pytest in a new process tells of its tests, as they run; at last its exit status."""
        output.parent.mkdir(parents=True, exist_ok=True)
        reading, writing = os.pipe()
        with output.open("w", encoding="utf-8") as said, os.fdopen(reading, encoding="utf-8") as pipe:
            child = subprocess.Popen(
                [sys.executable, "-m", "pytest", *words, f"--reports-to={writing}"],
                cwd=self.config.rootpath,
                pass_fds=[writing],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            os.close(writing)
            try:
                yield from map(json.loads, pipe)
            finally:  # also where somebody interrupts: it takes its lab down
                pipe.close()
                status = child.wait()
        yield {"status": status}

    def _read(self, report: dict[str, Any]) -> Any:
        read = self.config.hook.pytest_report_from_serializable(config=self.config, data=report)
        if isinstance(read.longrepr, list):  # where and why it was skipped
            read.longrepr = tuple(read.longrepr)
        return read

    # What is said at the end

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, exitstatus: int) -> Generator[None, None, None]:
        yield
        if self.unstable:
            _settle(self.record)
        self._say_what_failed(interrupted=exitstatus == pytest.ExitCode.INTERRUPTED)
        self._say_where_the_time_went()
        self.terminal.write_line(f"\nJUnit file: {_shown(self.record)}")
        if self.unstable:
            self.terminal.section("unstable: failed, and passed when run once more alone", yellow=True, bold=True)
            for nodeid, folder in self.unstable.items():
                self.terminal.write_line(f"unstable: {nodeid} (both outputs: {_shown(folder)})", yellow=True, bold=True)
                for line in (line for report in self.failed_in_lab[nodeid] for line in _last_lines(report)):
                    self.terminal.write_line(f"    {line}")

    def _say_what_failed(self, *, interrupted: bool) -> None:
        reports = [each for some in self.terminal.stats.values() for each in some if getattr(each, "failed", False)]
        notes = list(self.lost.values())
        if interrupted:
            notes += [f"interrupted while running {nodeid}" for nodeid in self.running]
        if self.config.option.repeat and (failed := len(self.failed_in_lab)) > MOST_REPEATED:
            notes.append(f"{failed} tests of the lab failed: more than {MOST_REPEATED} are not repeated")
        if reports or notes:
            self.terminal.section("what failed", red=True, bold=True)
        for place, report in enumerate(reports):
            self.terminal.write_line(f"FAILED{_PHASES.get(report.when, '')}: {report.nodeid}", red=True, bold=True)
            for line in _last_lines(report) if place < MOST_SHOWN else ():
                self.terminal.write_line(f"    {line}")
            if report.nodeid in self.outputs:
                folder = _shown(self.outputs[report.nodeid])
                self.terminal.write_line(f"    It failed again when it ran once more, alone: {folder}")
        for note in notes:
            self.terminal.write_line(note, red=True, bold=True)

    def _say_where_the_time_went(self) -> None:
        folders: dict[str, list[float]] = defaultdict(list)
        for nodeid, seconds in self.seconds.items():
            folders[PurePosixPath(nodeid.partition("::")[0]).parent.as_posix()].append(seconds)
        self.terminal.section("time by folder")
        for folder, each in sorted(folders.items(), key=lambda entry: (-sum(entry[1]), entry[0])):
            self.terminal.write_line(f"{sum(each):8.1f} s {len(each):6} cases  {folder}")
        self.terminal.section(f"the {SLOWEST} slowest tests")
        for nodeid, seconds in sorted(self.seconds.items(), key=lambda entry: (-entry[1], entry[0]))[:SLOWEST]:
            self.terminal.write_line(f"{seconds:8.1f} s  {nodeid}")

    @property
    def terminal(self) -> pytest.TerminalReporter:
        found = self.config.pluginmanager.getplugin("terminalreporter")
        assert isinstance(found, pytest.TerminalReporter)
        return found


def _crashed(nodeid: str, report: Any) -> str:
    return f"worker {report.node.gateway.id} ended while running {nodeid}"


def _shown(path: Path) -> str:
    return os.path.relpath(path)


def _captured(report: pytest.TestReport | pytest.CollectReport) -> list[str]:
    return [line for title, text in report.sections for line in (f"-- {title} --", *text.splitlines())]


def _whole(report: pytest.TestReport) -> str:
    return "\n".join([f"{report.when} of {report.nodeid}", report.longreprtext, *_captured(report), ""])


def _last_lines(report: pytest.TestReport | pytest.CollectReport) -> list[str]:
    captured = _captured(report)
    if len(captured) > CAPTURED_LINES:
        captured = ["-- the last lines captured --", *captured[1 - CAPTURED_LINES :]]
    return [*report.longreprtext.splitlines()[len(captured) - LAST_LINES :], *captured]


def _settle(record: Path) -> None:
    """Have each unstable test in the record once, as passed: its failures become what Surefire calls flaky ones."""
    tree = ET.parse(record)  # noqa: S314  pytest has written it
    for suite in tree.iter("testsuite"):
        for passed in suite.findall("testcase"):
            if passed.find("properties/property[@name='unstable']") is None:
                continue
            for case in suite.findall("testcase"):
                if case is not passed and all(case.get(key) == passed.get(key) for key in ("classname", "name")):
                    for wrong in (*case.iter("failure"), *case.iter("error")):
                        wrong.tag = f"flaky{wrong.tag.title()}"
                        passed.append(wrong)
                    suite.remove(case)
        suite.set("tests", str(len(suite.findall("testcase"))))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("errors", str(len(suite.findall("testcase/error"))))
    tree.write(record, encoding="utf-8", xml_declaration=True)
