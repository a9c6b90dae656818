"""pgbench: the report of 8.3 to 18, among progress lines and warnings, the progress lines alone, and its log.

After src/bin/pgbench/pgbench.c. Up to 13 two lines tell transactions a second, with and without connecting; the one
without is meant. Since 14 it is `without initial connection time`, or, of a run that connects anew for each transaction
(-C), `including reconnection times`. `NaN` is what an empty run gives. A run aborted when a client gave up prints its
report all the same, or as much of it as it has figures for: it is marked, as is a report that was cut off behind its
number of transactions. Several scripts have a result each, after one of them all. Whoever shows a report often leaves
out its head: lines that come in another order than pgbench prints them belong to another report.

Progress lines (`-P`) without a report are a run that was cut off. It is marked as aborted, and its figures are the
means of what its lines tell.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from core.benchmarks.model import LONGEST_COURSE, Metrics, Output, Result, Series
from core.benchmarks.reading import first_line, lines, no_result, unreadable
from core.benchmarks.statistics import latencies
from core.errors import ParseError

# pgbench's log (`-l`): a line a transaction, or with `--aggregate-interval` a line an interval, of 9.3 to 18.
#
# The fields are those of the manual, `Per-Transaction Logging` and `Aggregated Logging`. Times are microseconds. Each
# thread writes its own file. If the text contains the files of several threads, their intervals are added. Only
# complete intervals count for the rate, because the end of the run may have cut off the last one.

_AGGREGATED = re.compile(r"\d{10}(?: \d{1,24}){5}(?: \d{1,24}){0,12}")
_TOOK = r"(?:\d{1,15}|skipped|failed|serialization|deadlock|other)"
_TRANSACTION = re.compile(rf"\d{{1,9}} \d{{1,12}} {_TOOK} \d{{1,6}} \d{{10}} \d{{1,6}}(?: \d{{1,15}}){{0,2}}")


def parse_pgbench_log(text: str) -> Output:
    """Return the rate, and the latencies as far as the log contains them.

    A prompt, a heading or a sentence may stand before the log and behind it, but not within.

    Raises:
        ParseError: another line stands within the log, lines of both kinds, or none.
    """
    aggregated, transactions = _lines_of_log(text)
    metrics = _of_intervals(aggregated) if aggregated else _of_transactions(transactions)
    return Output("pgbench", None, (Result("log", metrics),))


def pgbench_series(text: str) -> tuple[Series, ...]:
    """Return the rate in each interval of a log, in each second of a log of transactions, or by progress lines.

    Only whole intervals count.

    Raises:
        ParseError: it is neither a log nor has it progress lines.
    """
    runs = [run for run in _runs("".join(lines(text))) if all(line.seconds is not None for line in run[1:])]
    if runs:
        # of several runs in one text the first
        ends = [float(line.found["end"]) for line in runs[0]]
        begin = ends[0] - (runs[0][0].seconds or 0.0)
        points = [
            (end - begin, float(line.found["tps"]))
            for end, line in zip(ends, runs[0], strict=True)
            if line.seconds is not None  # the first line may tell of a time that is not known
        ]
        return (Series("transactions_per_second", tuple(points)),)
    aggregated, transactions = _lines_of_log(text)
    done: dict[int, int] = defaultdict(int)
    for row in aggregated:
        done[row[0]] += row[1]
    for words in transactions:
        done[int(words[4])] += words[2].isdigit()
    starts = sorted(done)
    step = 1 if transactions else min((later - start for start, later in pairwise(starts)), default=0)
    if not step or (transactions and starts[-1] - starts[0] > LONGEST_COURSE):
        return ()
    # the end of the run may have cut off the last interval; where no transaction ended, a log of them has no line
    whole = range(starts[0], starts[-1], step) if transactions else starts[:-1]
    points = [(float(start - starts[0] + step), done.get(start, 0) / step) for start in whole]
    return (Series("transactions_per_second", tuple(points)),)


def _lines_of_log(text: str) -> tuple[list[list[int]], list[list[str]]]:
    """Return the lines of a log that stand for an interval, or those that stand for a transaction."""
    aggregated: list[list[int]] = []
    transactions: list[list[str]] = []
    behind = False
    for raw in lines(text):
        line = raw.strip()
        # the last line may have been cut off
        if raw.endswith(line):
            continue
        is_interval, is_transaction = _AGGREGATED.fullmatch(line), _TRANSACTION.fullmatch(line)
        if behind and (is_interval or is_transaction):
            raise unreadable("pgbench", "a log with a line a transaction or an interval", line)
        if is_interval:
            aggregated.append([int(field) for field in line.split()])
        elif is_transaction:
            transactions.append(line.split())
        else:
            behind = bool(line and (aggregated or transactions)) or behind
    if bool(aggregated) == bool(transactions):
        raise unreadable("pgbench", "a log with a line a transaction or an interval", first_line(text))
    return aggregated, transactions


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
    # a short log would seem to be of a fast run if it began where its first transaction ended
    begins = [end - (int(row[2]) / 1e6 if row[2].isdigit() else 0) for row, end in zip(rows, ends, strict=True)]
    span = max(ends) - min(begins)
    if span > 0:
        metrics |= {"duration_seconds": span, "transactions_per_second": len(taken) / span}
    return metrics


# pgbench: the report of 8.3 to 18, among progress lines, warnings and whatever else was printed.

_LEAD = r"^[ \t>]*(?:[-*|] |-- )?"
_FLAGS = re.MULTILINE
_NUMBER = r"\d+(?:\.\d+)?"
_BEGIN = r"pgbench \((?:\d|PostgreSQL\) \d)|starting vacuum"
_BANNER = re.compile(rf"{_LEAD}pgbench \((?:PostgreSQL\) )?(?P<version>\d[\w.]*)", _FLAGS)
# a page may have taken the name's angle brackets for a tag, and broken the line there
_TYPE = re.compile(rf"{_LEAD}transaction type:(?P<name>\s*<\s*builtin: [^<>\r\n]*(?:\s*>)?|[^\r\n]*)\s*?[\r\n]", _FLAGS)
# The order of a report's lines, by which the next report is known; any of them may have been left out.
_HEAD = ("transaction type", "scaling factor", "query mode", "number of clients")
_ORDER = {
    name: place for place, name in enumerate((*_HEAD, "number of transactions actually", "latency average", "tps"))
}
_LINES = re.compile(
    rf"{_LEAD}(?:(?P<field>{'|'.join(_ORDER)})\b|(?P<script>SQL script \d+: )|(?P<run>{_BEGIN}))",
    _FLAGS,
)
_SCRIPT = re.compile(rf"{_LEAD}SQL script \d+: (?P<name>[^\r\n]*)[\r\n]", _FLAGS)
_COUNTS = {
    "scale": re.compile(rf"{_LEAD}scaling factor: (\d+)\s", _FLAGS),
    "clients": re.compile(rf"{_LEAD}number of clients: (\d+)\s", _FLAGS),
    "threads": re.compile(rf"{_LEAD}number of threads: (\d+)\s", _FLAGS),
    "duration_seconds": re.compile(rf"{_LEAD}duration: ({_NUMBER}) s\b", _FLAGS),
    "failed_transactions": re.compile(rf"{_LEAD}number of failed transactions: (\d+) \(", _FLAGS),
}
_LATENCIES = {
    "latency_mean_seconds": re.compile(rf"{_LEAD}latency average(?: =|:) ({_NUMBER}) ms", _FLAGS),
    "latency_stddev_seconds": re.compile(rf"{_LEAD}latency stddev(?: =|:) ({_NUMBER}) ms", _FLAGS),
}
_TRANSACTIONS = re.compile(
    rf"{_LEAD}number of transactions actually processed: (?P<done>\d+)(?:/(?P<asked>\d+))?(?=\s)", _FLAGS
)
_OF_SCRIPT = re.compile(rf"{_LEAD}(?P<done>\d+) transactions \(", _FLAGS)  # since 17 these count failed ones too
_SKIPPED = re.compile(rf"{_LEAD}number of transactions skipped: (\d+) \(", _FLAGS)
_RATE = re.compile(
    rf"{_LEAD}tps = (?P<tps>[^\s(]+) ?"
    r"\((?:excluding|without|including\s+reconnection)\b",  # a mail may have wrapped the rest
    _FLAGS,
)
_RATE_OF_SCRIPT = re.compile(r"\btps = (?P<tps>[^\s()]+)\)")
_ABORTED = re.compile(r"\bRun was aborted\b", re.IGNORECASE)
_STARTS = re.compile(rf"{_LEAD}(?:{_BEGIN})|[$#>] ?pgbench ", _FLAGS)
_CLIENT_ABORTED = re.compile(r"(?<![a-z])client \d+ (?:script \d+ )?aborted\b", re.IGNORECASE)


def parse_pgbench(text: str) -> Output:
    """Return one result per report, and one per script if there are several; otherwise the results of a log.

    Raises:
        ParseError: no report, or none with a number of transactions, as of a run that was cancelled before it had one.
    """
    # without lines that no pgbench prints, in which patterns would search for ever
    text = "".join(lines(text))
    results = [result for block, before, after in _reports(text) for result in _report(block, before, after)]
    results += [Result(PROGRESS, _of_progress(run), aborted=True) for run in _runs_without_report(text)]
    if not results:
        with suppress(ParseError):
            return parse_pgbench_log(text)
        expected = "a report with a line 'tps = …', or a log"
        aborted = next((line for line in text.splitlines() if _ABORTED.search(line)), None)
        raise no_result("pgbench", expected, text) if aborted is None else unreadable("pgbench", expected, aborted)
    banner = _BANNER.search(text)
    return Output("pgbench", banner["version"] if banner else None, tuple(results))


def _begins(text: str) -> list[int]:
    """Return where the reports begin: at each line that pgbench never prints behind the line before it."""
    begins: list[int] = []
    last, in_script, rated = len(_ORDER), False, False
    for found in _LINES.finditer(text):
        place = _ORDER.get(found["field"] or "")
        if place is None:
            # a script's lines have the names of a report's: what ends them is a line that no script has
            last, in_script = (last, True) if found["script"] else (len(_ORDER), False)
            continue
        rate = _RATE.match(text, found.start()) is not None
        if not in_script or place < len(_HEAD) or rate:
            # the rate with connecting and the one without are of one report
            another = place < last or (rated if found["field"] == "tps" else place == last)
            begins += [found.start()] if another else []
            last, in_script, rated = place, False, rate or (rated and not another)
    return begins


def _reports(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each report with the text before it and after its rate, up to the previous and the next report."""
    begins = _begins(text)
    before = text[: begins[0]] if begins else ""
    for begin, end in pairwise([*begins, len(text)]):
        # complaints stand ahead of a report (clients that gave up) or behind it (Run was aborted)
        block = text[begin:end]
        rate = _RATE.search(block)
        after = block[rate.end() :] if rate is not None else ""
        yield block, before if end < len(text) else before + after, after
        before = after


def _report(block: str, before: str, after: str) -> Iterator[Result]:
    rate, kind = _RATE.search(block), _TYPE.match(block)
    scripts = list(_SCRIPT.finditer(block))
    # a script's figures have the same names as those of all: they begin where the first one does
    whole = block[: scripts[0].start()] if scripts else block
    metrics = _metrics(whole) | _per_second(rate)
    if not _has_result(block):
        return
    gave_up = _ABORTED.search(after) or _CLIENT_ABORTED.search(before) or _fell_short(whole)
    aborted = rate is None or bool(gave_up)
    yield Result(_name(kind["name"]) if kind is not None else None, metrics, aborted=aborted)
    ends = [found.start() for found in scripts[1:]]
    # each ends where the next begins
    for script, end in zip(scripts, [*ends, len(block)], strict=False):
        part = block[script.end() : end]
        of_script = _metrics(part) | _per_second(_RATE_OF_SCRIPT.search(part))
        if of_script:
            # all scripts are run by the same clients
            of_all = {name: metrics[name] for name in ("scale", "clients", "threads") if name in metrics}
            yield Result(script["name"].strip(), of_all | of_script, aborted=aborted)


def _has_result(block: str) -> bool:
    """Return whether a report has a rate, or as much as it has counted: aborted before it had a rate, or cut off."""
    headed = any(re.match(rf"{_LEAD}{line}", block) for line in _HEAD)
    return _RATE.search(block) is not None or (headed and _TRANSACTIONS.search(block) is not None)


def _name(text: str) -> str | None:
    name = " ".join(text.split()).replace("< ", "<").removesuffix(">").rstrip()
    # a page that broke the name may also have lost its last bracket, as a mail's quote mark
    return f"{name}>" if name.startswith("<") else name or None


def _metrics(text: str) -> Metrics:
    metrics = {name: float(found[1]) for name, pattern in _COUNTS.items() if (found := pattern.search(text))}
    if (found := _TRANSACTIONS.search(text) or _OF_SCRIPT.search(text)) is not None:
        metrics["transactions"] = float(found["done"])
    for name, pattern in _LATENCIES.items():
        # 9.4 and 9.5 print 0.000 where they did not measure.
        if (found := pattern.search(text)) is not None and float(found[1]) > 0:
            metrics[name] = float(found[1]) / 1000
    return metrics


def _per_second(found: re.Match[str] | None) -> Metrics:
    """Return the rate; None if it is NaN, infinite or negative."""
    try:
        value = float(found["tps"]) if found is not None else math.nan
    except ValueError:
        value = math.nan
    return {"transactions_per_second": value} if 0 <= value < math.inf else {}


def _fell_short(text: str) -> bool:
    """Return whether clients gave up: fewer transactions were done, failed or skipped than requested."""
    found = _TRANSACTIONS.search(text)
    # a run for a time asked for no number
    if found is None or found["asked"] is None:
        return False
    lost = (pattern.search(text) for pattern in (_COUNTS["failed_transactions"], _SKIPPED))
    return int(found["done"]) + sum(int(count[1]) for count in lost if count) < int(found["asked"])


# Progress lines: `progress: 5.0 s, 1806.8 tps, lat 5.490 ms stddev 1.222, 0 failed`, since 9.4; what failed since 15.
#
# Each tells of the time since the line before it. Where lines were left out of a text, a line counts for the usual time
# between two of them, and what failed is not known. A text that does not show how the run began may have lost its first
# lines too. With `--progress-timestamp` the time is that of the clock.

PROGRESS = "progress"
"""The name of a result that comes from progress lines alone."""
_PROGRESS = re.compile(
    rf"{_LEAD}progress: (?P<end>\d{{1,12}}\.\d{{1,3}}) s, (?P<tps>\d{{1,12}}\.\d) tps, "
    r"lat (?P<mean>\d{1,12}\.\d{3}|-?nan) ms stddev (?P<stddev>\d{1,12}\.\d{3}|-?nan)"
    r"(?:, (?P<failed>\d{1,12}) failed)?",
    _FLAGS | re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"^[ \t]*(?:\.{2,}|…|\[[^\]\n]{0,20}(?:\.{3}|…|snip))", _FLAGS)
_REACHED = 0.9
"""The part of a run's time that its last progress line reaches at least."""
_CLOCK = 1e8
"""No run takes so many seconds: it is a time of the clock."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A progress line, and the seconds that it tells of; None if the line before it is missing."""

    found: re.Match[str]
    seconds: float | None


def _runs_without_report(text: str) -> Iterator[list[_Line]]:
    """Yield the progress lines of each run whose report is missing, or was cut off before it had a result.

    A report stands behind the lines of its run.
    """
    has_lines = True
    edges = [0, *_begins(text), len(text)]
    for begin, end, next_end in zip(edges, edges[1:], [*edges[2:], len(text)], strict=False):
        part = text[begin:end]
        is_reported = end < len(text) and _has_result(text[end:next_end])
        runs = list(_runs(part))
        # where the errors were appended to the output, the lines stand behind the report that the part begins with
        duration = _COUNTS["duration_seconds"].search(part) if runs and not has_lines else None
        appended = duration is not None and float(runs[0][-1].found["end"]) >= _REACHED * float(duration[1])
        yield from runs[appended : -1 if is_reported else None]
        has_lines = bool(runs)


def _runs(text: str) -> Iterator[list[_Line]]:
    run: list[_Line] = []
    begun, before = False, 0
    for found in _PROGRESS.finditer(text):
        between, end = text[before : found.start()], float(found["end"])
        before = found.end()
        starts = _STARTS.search(between) is not None
        if run and (starts or end <= float(run[-1].found["end"])):
            yield run
            run = []
        begun = starts if not run else begun
        last = float(run[-1].found["end"]) if run else 0.0
        known = not _LEFT_OUT.search(between) and (bool(run) or (begun and end < _CLOCK))
        run.append(_Line(found, end - last if known else None))
    if run:
        yield run


def _of_progress(run: list[_Line]) -> Metrics:
    """Return the means of the lines, each weighted by its time or by its transactions."""
    times = sorted(line.seconds for line in run if line.seconds is not None)
    usual = times[len(times) // 2] if times else 1.0
    seconds = [usual if line.seconds is None else line.seconds for line in run]
    done = [float(line.found["tps"]) * time for line, time in zip(run, seconds, strict=True)]
    metrics: Metrics = {"transactions_per_second": sum(done) / sum(seconds)}
    if times:
        metrics["duration_seconds"] = sum(seconds)
    measured = [
        (count, float(line.found["mean"]) / 1000, float(line.found["stddev"]) / 1000)
        for line, count in zip(run, done, strict=True)
        if count > 0 and line.found["mean"][-1].isdigit() and line.found["stddev"][-1].isdigit()
    ]
    if measured:
        total = sum(count for count, _, _ in measured)
        mean = sum(count * value for count, value, _ in measured) / total
        square = sum(count * (value**2 + deviation**2) for count, value, deviation in measured) / total
        metrics |= {"latency_mean_seconds": mean, "latency_stddev_seconds": math.sqrt(max(0.0, square - mean**2))}
    failed = [line.found["failed"] for line in run]
    if all(failed) and len(times) == len(run):
        metrics["failed_transactions"] = float(sum(map(int, filter(None, failed))))
    return metrics
