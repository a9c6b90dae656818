"""pg_test_fsync: how often per second each wal_sync_method can sync a WAL block, by the server's own PostgreSQL.

One run times every method. The one that the workload names, which should be the cluster's wal_sync_method, is
`fsyncs_per_second`. The others have the name of the method as a prefix: `open_sync_fsyncs_per_second`.

The parser reads the output of 9.1 to 18. Only the first comparison, of one block per sync, shows the cost of a commit.
Those of two blocks, of other write sizes and of other descriptors are left out. The names of the methods are the same
in every language, but the headings are not: if no heading is English, the first comparison ends where a method appears
again. `n/a` is a method that the platform does not have.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from core.benchmarks.model import Metrics, Output, Result, Workload
from core.benchmarks.reading import lines, no_result
from core.benchmarks.tool import STRICT, Machine, ParameterError, Phase, Procedure, Reading, Tool, deadline, strictly
from core.errors import InputError

TESTS = 18
"""The number of tests: five methods with one and two writes, five sizes of open_sync, two descriptors, one unsynced."""
FILE_BYTES = 16 << 20
"""The size of a WAL segment."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a workload."""

    __pydantic_config__: ClassVar[dict[str, object]] = STRICT

    method: Literal["open_datasync", "fdatasync", "fsync", "fsync_writethrough", "open_sync"] = "fdatasync"
    seconds_per_test: int = 2

    def __post_init__(self) -> None:
        # 18 tests of ten minutes are three hours
        if not 1 <= self.seconds_per_test <= 600:
            raise ParameterError(
                ["seconds_per_test"],
                f"seconds_per_test is {self.seconds_per_test}",
                "set seconds_per_test to a number from 1 to 600",
            )


def procedure(workload: Workload, machine: Machine) -> Procedure:
    """Return what runs for the workload.

    Raises:
        InputError: a parameter is unknown, of the wrong type or out of range, or the server has no PostgreSQL.
    """
    parameters = strictly(Parameters, workload.parameters)
    if not machine.bin_directories:
        raise InputError(
            f"{workload.name} needs pg_test_fsync, but PostgreSQL was not found on the server",
            "install the server or contrib package of PostgreSQL, which contains pg_test_fsync",
        )
    # The programs of the move's cluster come first, because the available methods are compiled in.
    program = f"{machine.bin_directories[0]}/pg_test_fsync"
    # -f: without it, the file could be created elsewhere than in the folder.
    words = (program, "-s", parameters.seconds_per_test, "-f", "pg_test_fsync.out")
    seconds = float(TESTS * parameters.seconds_per_test)
    return Procedure(
        program=program,
        headlines=("fsyncs_per_second",),
        phases=(Phase(words, seconds, deadline(seconds, FILE_BYTES)),),
        read=lambda outputs: _read(outputs, parameters.method, machine.versions.get("pg_test_fsync")),
        fresh_bytes=FILE_BYTES,
    )


def _read(outputs: Sequence[str], method: str, version: str | None) -> Reading:
    metrics: Metrics = {}
    for result in parse_pg_test_fsync("\n".join(outputs)).results:
        # The method that the workload names is its headline.
        own = result.name == method
        metrics |= {name if own else f"{result.name}_{name}": value for name, value in result.metrics.items()}
    failure = "" if "fsyncs_per_second" in metrics else f"the server does not have the sync method {method}"
    return Reading(metrics, version, failure)


_METHOD = re.compile(
    r"""
    \s*(?P<method>open_datasync|fdatasync|fsync|fsync_writethrough|open_sync)(?=\s)
    (?:\s+\(.*?\)\*?)?                                # 9.1: "(non-direct I/O)*"
    (?:\s+(?P<rate>\d+[.,]\d{3})\s+\S+/\S            # three decimals always; "ops/sec" in any language
    (?:\S*\s+(?P<microseconds>\d+)\s+\S+/\S)?)?       # since 9.4: "usecs/op"
    """,
    re.VERBOSE,
)
_HEADING = re.compile(r"\s*Compare .*\busing (?P<count>one|two) \d+kB")
_OTHER = re.compile(r"\s*(?:Compare open_sync|Test if fsync|Non-sync)")


def parse_pg_test_fsync(text: str) -> Output:
    """Return the syncs per second, one result for each method.

    Raises:
        ParseError: no method with a rate in a comparison of one block.
    """
    results: list[Result] = []
    known: set[str] = set()
    # An output with headings in another language begins with the comparison of one block.
    wanted, headed = True, False
    for line in lines(text):
        if (heading := _HEADING.match(line)) is not None:
            wanted, headed = heading["count"] == "one", True
            known.clear()
        elif _OTHER.match(line):
            wanted = False
        elif (found := _METHOD.match(line)) is not None:
            # A method that appears again begins the second comparison, whatever its heading is.
            wanted = wanted and (headed or found["method"] not in known)
            known.add(found["method"])
            if wanted and (metrics := _metrics(found)):
                results.append(Result(found["method"], metrics))
    if not results:
        expected = "a method such as 'fdatasync  1839.337 ops/sec' under 'using one 8kB write'"
        raise no_result("pg_test_fsync", expected, text)
    return Output("pg_test_fsync", None, tuple(results))


def _metrics(found: re.Match[str]) -> Metrics:
    rate = float(found["rate"].replace(",", ".")) if found["rate"] else 0.0
    # `n/a`: this platform does not have it
    if rate == 0:
        return {}
    metrics = {"fsyncs_per_second": rate}
    if found["microseconds"] and int(found["microseconds"]) > 0:
        metrics["latency_mean_seconds"] = int(found["microseconds"]) * 1e-6
    return metrics


PG_TEST_FSYNC = Tool(
    name="pg_test_fsync",
    program="pg_test_fsync",
    package=None,
    procedure=procedure,
    parse=parse_pg_test_fsync,
    parameters="`method` fdatasync, `seconds_per_test` 2; 18 tests",
    headlines="`fsyncs_per_second`; other methods are beside it",
)
