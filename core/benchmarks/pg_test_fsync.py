"""pg_test_fsync: how often a second each wal_sync_method can sync one WAL block, 9.1 to 18.

Only the first comparison, of one block a sync, says what a commit costs; those of two blocks, of other write sizes and
of other descriptors are left out. Methods keep their names in every language, headings do not: where no heading is
English, the first comparison ends where a method comes again. `n/a` is a method that the platform does not have.
"""

import re

from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import first_line, lines, unreadable

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
    """The syncs a second of each method, one result a method.

    Raises:
        ParseError: no method with a rate in a comparison of one block.
    """
    results: list[Result] = []
    known: set[str] = set()
    wanted, headed = True, False
    for line in lines(text):
        if (heading := _HEADING.match(line)) is not None:
            wanted, headed = heading["count"] == "one", True
            known.clear()
        elif _OTHER.match(line):
            wanted = False
        elif (found := _METHOD.match(line)) is not None:
            wanted = wanted and (headed or found["method"] not in known)
            known.add(found["method"])
            if wanted and (metrics := _metrics(found)):
                results.append(Result(found["method"], metrics))
    if not results:
        expected = "a method such as 'fdatasync  1839.337 ops/sec' under 'using one 8kB write'"
        raise unreadable("pg_test_fsync", expected, first_line(text))
    return Output("pg_test_fsync", None, tuple(results))


def _metrics(found: re.Match[str]) -> Metrics:
    rate = float(found["rate"].replace(",", ".")) if found["rate"] else 0.0
    if rate == 0:
        return {}
    metrics = {"fsyncs_per_second": rate}
    if found["microseconds"] and int(found["microseconds"]) > 0:
        metrics["latency_mean_seconds"] = int(found["microseconds"]) * 1e-6
    return metrics
