"""pgbench's log (`-l`): a line a transaction, or with `--aggregate-interval` a line an interval, of 9.3 to 18.

The fields are those of the manual, `Per-Transaction Logging` and `Aggregated Logging`. Times are microseconds. Each
thread writes its own file. If the text contains the files of several threads, their intervals are added. Only complete
intervals count for the rate, because the end of the run may have cut off the last one.
"""

import math
import re
from collections import defaultdict

from core.benchmarks.latencies import latencies
from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import first_line, lines, unreadable

_AGGREGATED = re.compile(r"\d{10}(?: \d{1,24}){5}(?: \d{1,24}){0,12}")
_TOOK = r"(?:\d{1,15}|skipped|failed|serialization|deadlock|other)"
_TRANSACTION = re.compile(rf"\d{{1,9}} \d{{1,12}} {_TOOK} \d{{1,6}} \d{{10}} \d{{1,6}}(?: \d{{1,15}}){{0,2}}")


def parse_pgbench_log(text: str) -> Output:
    """Return the rate, and the latencies as far as the log contains them.

    Raises:
        ParseError: a line that is neither, lines of both, or none.
    """
    aggregated: list[list[int]] = []
    transactions: list[list[str]] = []
    for raw in lines(text):
        line = raw.strip()
        # the last line may have been cut off
        if raw.endswith(line):
            continue
        if _AGGREGATED.fullmatch(line):
            aggregated.append([int(field) for field in line.split()])
        elif _TRANSACTION.fullmatch(line):
            transactions.append(line.split())
        elif line:
            raise unreadable("pgbench", "a log with a line a transaction or an interval", line)
    if bool(aggregated) == bool(transactions):
        raise unreadable("pgbench", "a log with a line a transaction or an interval", first_line(text))
    metrics = _of_intervals(aggregated) if aggregated else _of_transactions(transactions)
    return Output("pgbench", None, (Result("log", metrics),))


def _of_intervals(rows: list[list[int]]) -> Metrics:
    done: dict[int, int] = defaultdict(int)
    for row in rows:
        done[row[0]] += row[1]
    count, total, squares = (sum(row[field] for row in rows) for field in (1, 2, 3))
    metrics: Metrics = {"transactions": float(count)}
    if count:
        mean = total / count
        deviation = math.sqrt(max(0.0, squares / count - mean**2))
        values = {"mean": mean, "stddev": deviation, "max": float(max(row[5] for row in rows))}
        metrics |= {f"latency_{name}_seconds": value / 1e6 for name, value in values.items()}
    # since 15 each line counts what failed, behind what was retried
    if all(len(row) >= 15 for row in rows):
        metrics["failed_transactions"] = float(sum(sum(row[13:]) for row in rows))
    first, last = min(done), max(done)
    if last > first:
        metrics["duration_seconds"] = float(last - first)
        metrics["transactions_per_second"] = (count - done[last]) / (last - first)
    return metrics


def _of_transactions(rows: list[list[str]]) -> Metrics:
    taken = [int(row[2]) for row in rows if row[2].isdigit()]
    failed = sum(not row[2].isdigit() and row[2] != "skipped" for row in rows)
    ends = [int(row[4]) + int(row[5]) / 1e6 for row in rows]
    metrics: Metrics = {"transactions": float(len(taken)), "failed_transactions": float(failed)}
    metrics |= {"clients": float(len({row[0] for row in rows}))} | latencies(taken, 1e-6)
    span = max(ends) - min(ends)
    if span > 0:
        metrics |= {"duration_seconds": span, "transactions_per_second": len(taken) / span}
    return metrics
