"""Which worker runs what: a file each, or a part of a long one, and those that take longest first.

A lab belongs to a worker, and fixtures to a file; so the tests of a file stay together. The longest file would then be
what all wait for in the end, so it comes early, and one that is longer than a worker's share comes in parts, of which
each makes the file's fixtures for itself. A test whose worker ended has failed: another worker goes on behind it.
"""

from collections import Counter

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from tests.run import FILLING

LONG: dict[str, tuple[int, int]] = {
    "tests/live/test_execution.py": (130, 2),
    "tests/live/test_interruptions.py": (85, 1),
    "tests/live/test_bad_input.py": (80, 1),
    "tests/live/test_checks_database.py": (80, 1),
    "tests/live/test_facts.py": (77, 1),
    "tests/live/test_fence.py": (60, 1),
    "tests/live/test_transports.py": (55, 1),
    "tests/live/test_servers_run.py": (51, 1),
    "tests/live/test_script.py": (50, 1),
    "tests/live/test_start_options.py": (50, 1),
    "tests/live/test_migration.py": (48, 1),
    "tests/live/test_checks_host.py": (45, 1),
    "tests/live/test_proof.py": (40, 1),
    "tests/live/test_pgbench.py": (35, 1),
    "tests/live/test_benchmark_tools.py": (34, 1),
    "tests/live/test_servers_jobs.py": (32, 1),
    "tests/test_docs.py": (30, 1),
    "tests/live/test_first_comparison.py": (28, 1),
    "tests/live/test_start_files.py": (26, 1),
    "tests/live/test_benchmark_ends.py": (22, 1),
    "tests/live/test_servers_connect.py": (22, 1),
    "tests/live/test_actions.py": (20, 1),
    "tests/live/test_data_roots.py": (20, 1),
    "tests/live/test_survey.py": (15, 1),
    "tests/live/test_lab.py": (15, 1),
    "tests/live/test_after_the_copy.py": (15, 1),
    "tests/live/test_trial.py": (13, 1),
    "tests/live/test_benchmarks.py": (12, 1),
    "tests/live/test_watching.py": (12, 1),
    "tests/live/test_failures_in_window.py": (11, 1),
    "tests/live/test_light_on_old.py": (10, 1),
    "tests/live/test_diagnosis.py": (9, 1),
    "tests/live/test_window.py": (7, 1),
    "tests/live/test_local_start.py": (4, 1),
    "tests/live/test_disturbance.py": (4, 1),
    "tests/live/test_lost_writes.py": (3, 1),
    FILLING: (190, 40),
}
"""Seconds that a file takes beside others, and in how many parts it is run; a file that is not here takes few."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> "FilesInParts":
    return FilesInParts(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, those that fill the time of others last; the order of those of a file stays."""
    items.sort(key=lambda item: (_file(item.nodeid) == FILLING, -_seconds(_file(item.nodeid))))


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _seconds(file: str) -> float:
    """Of each part."""
    seconds, parts = LONG.get(file, (0, 1))
    return seconds / parts


class FilesInParts(LoadFileScheduling):  # type: ignore[misc]  # xdist tells no types
    """Gives a worker the next file, or part of one, when it is at its last test."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        self._unit: dict[str, str] = {}

    def schedule(self) -> None:
        if self.collection is None:
            self._arrange(next(iter(self.registered_collections.values())))
        super().schedule()

    def _arrange(self, nodeids: list[str]) -> None:
        tests = Counter(map(_file, nodeids))
        seen: Counter[str] = Counter()
        for nodeid in nodeids:
            file = _file(nodeid)
            _, parts = LONG.get(file, (0, 1))
            self._unit[nodeid] = f"{file}:{seen[file] * parts // tests[file]}"
            seen[file] += 1

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
