"""Which worker runs what: a file each, or a part of a long one, and those that take longest first.

A lab belongs to a worker, and fixtures to a file; so the tests of a file stay together. The longest file would then be
what all wait for in the end, so it comes early, and one that is longer than a worker's share comes in parts, of which
each makes the file's fixtures for itself. Of those that fill the time of others, some wait all the while: each of
these is a unit of its own, early enough for others to compute meanwhile. Some workers take the rest of them from the
beginning on, and a file of the lab only when nothing of that rest is left: they compute while the others wait for their
hosts. Files whose tests take turns on this machine are one unit, so that no worker waits for the turn of another. A
test whose worker ended has failed: another worker goes on behind it.
"""

from collections import Counter

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from tests.run import FILLERS, FILLING, FUNCTIONS

TURNS = (
    "tests/core/cli/test_bench_servers.py",
    "tests/core/servers/test_proxy_command.py",
    "tests/gui/dialogs/test_storage.py",
    "tests/gui/pages/test_survey.py",
)
"""Files whose tests take turns (`tests/sshd.py`), as only one benchmark at a time can measure a machine."""

LONG: dict[str, tuple[int, int]] = {
    "tests/live/test_dress.py": (124, 2),
    "tests/live/test_trial_start.py": (110, 3),
    "tests/live/test_checks_database.py": (105, 1),
    "tests/live/test_execution.py": (103, 2),
    "tests/live/test_interruptions.py": (85, 1),
    "tests/live/test_facts.py": (80, 1),
    "tests/live/test_checks_host.py": (74, 1),
    "tests/live/test_bad_input.py": (70, 1),
    "tests/live/test_fence.py": (64, 2),
    "tests/live/test_local_start.py": (57, 2),
    "tests/live/test_start_files_named.py": (57, 2),
    "tests/live/test_start_options.py": (50, 1),
    "tests/live/test_transports.py": (48, 1),
    "tests/live/test_script.py": (46, 1),
    "tests/live/test_servers_run.py": (45, 1),
    "tests/live/test_start_files.py": (45, 1),
    "tests/live/test_pgbench.py": (43, 1),
    "tests/live/test_proof.py": (40, 1),
    "tests/live/test_migration.py": (39, 1),
    "tests/live/test_actions.py": (36, 1),
    "tests/live/test_port_taken.py": (36, 1),
    "tests/live/test_benchmark_tools.py": (33, 1),
    "tests/live/test_benchmarks.py": (33, 1),
    "tests/core/migration/plan/test_script.py": (34, 1),
    "tests/gui/test_execution_page.py": (32, 1),
    "tests/test_docs.py": (30, 1),
    "tests/live/test_first_comparison.py": (28, 1),
    "tests/gui/pages/test_survey.py": (28, 1),
    "tests/gui/test_accessibility.py": (26, 1),
    "tests/resources/sh/test_recovering_server.py": (25, 1),
    "tests/live/test_trial.py": (25, 1),
    "tests/core/migration/execution/test_tries.py": (24, 1),
    "tests/test_documented_commands.py": (24, 1),
    "tests/test_ending.py": (24, 1),
    "tests/gui/dialogs/test_storage.py": (23, 1),
    "tests/live/test_servers_jobs.py": (23, 1),
    "tests/core/cli/test_bench_servers.py": (22, 1),
    "tests/core/test_this_workstation.py": (20, 1),
    "tests/core/history/test_paging.py": (20, 1),
    "tests/core/benchmarks/test_live.py": (20, 1),
    "tests/core/benchmarks/fio/test_live.py": (20, 1),
    "tests/live/test_data_roots.py": (20, 1),
    "tests/live/test_survey.py": (20, 1),
    "tests/live/test_diagnosis.py": (19, 1),
    "tests/live/test_after_the_copy.py": (17, 1),
    "tests/live/test_debian_layout.py": (17, 1),
    "tests/live/test_benchmark_ends.py": (14, 1),
    "tests/live/test_servers_connect.py": (12, 1),
    "tests/live/test_watching.py": (12, 1),
    "tests/live/test_lab.py": (10, 1),
    "tests/core/servers/test_proxy_command.py": (10, 1),
    "tests/live/test_light_on_old.py": (9, 1),
    "tests/live/test_queries.py": (9, 1),
    "tests/live/test_failures_in_window.py": (4, 1),
    "tests/live/test_window.py": (4, 1),
    FUNCTIONS: (220, 40),
}
"""Seconds that a file takes beside others, and in how many parts it is run; a file that is not here takes few."""
WAITING: dict[str, int] = {
    f"{FUNCTIONS}::test_whatever_fails_it_says_so[{function}]": seconds
    for function, seconds in (
        ("dress_pass", 11),
        ("dress_run_copy", 9),
        ("check_reachability", 9),
        ("watch_changes", 8),
        ("measure_twice", 7),
        ("keep_daemon", 7),
        ("start_daemon", 7),
        ("unmount_target", 6),
    )
}
"""Seconds that a test takes of those that fill the time of others, but computes in a tenth of them."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> "FilesInParts":
    return FilesInParts(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, those that fill the time of others last; the order of those of a file stays."""
    items.sort(key=lambda item: (_fills(item.nodeid), -_seconds(item.nodeid)))


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _fills(nodeid: str) -> bool:
    return _file(nodeid) in FILLING and nodeid not in WAITING


def _seconds(nodeid: str) -> float:
    """Of its unit."""
    if _file(nodeid) in TURNS:
        return sum(LONG[file][0] for file in TURNS)
    seconds, parts = LONG.get(_file(nodeid), (0, 1))
    return WAITING.get(nodeid, seconds / parts)


class FilesInParts(LoadFileScheduling):  # type: ignore[misc]  # xdist tells no types
    """Gives a worker the next file, or part of one, when it is at its last test."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        self._unit: dict[str, str] = {}
        self._fillers: list[WorkerController] = []

    def schedule(self) -> None:
        if self.collection is None:
            self._arrange(next(iter(self.registered_collections.values())))
            self._fillers = self.nodes[1:][-FILLERS:]
        super().schedule()

    def _arrange(self, nodeids: list[str]) -> None:
        tests = Counter(_file(nodeid) for nodeid in nodeids if nodeid not in WAITING)
        seen: Counter[str] = Counter()
        for nodeid in nodeids:
            file = _file(nodeid)
            if nodeid in WAITING or file in TURNS:
                self._unit[nodeid] = nodeid if nodeid in WAITING else TURNS[0]
                continue
            _, parts = LONG.get(file, (0, 1))
            self._unit[nodeid] = f"{file}:{seen[file] * parts // tests[file]}"
            seen[file] += 1

    def _assign_work_unit(self, node: WorkerController) -> None:
        if node in self._fillers:
            filling = (unit for unit, tests in self.workqueue.items() if _fills(next(iter(tests))))
            if (unit := next(filling, None)) is not None:
                self.workqueue.move_to_end(unit, last=False)
        super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        return self._unit[nodeid]

    def remove_node(self, node: WorkerController) -> str | None:
        """What the worker ran when it ended, if it ran anything; xdist would have the next worker run that again."""
        work = self.assigned_work[node]
        crashed: str | None = next(
            (nodeid for tests in work.values() for nodeid, over in tests.items() if not over), None
        )
        if crashed is None:
            super().remove_node(node)
            return None
        del self.assigned_work[node]
        work[self._unit[crashed]][crashed] = True
        self.workqueue.update({unit: tests for unit, tests in work.items() if not all(tests.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        if self._pending_of(self.assigned_work[node]) <= 1:
            super()._reschedule(node)
