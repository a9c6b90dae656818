"""The parser for HammerDB: the result line of a timed run of TPROC-C, and its time profile, as text or JSON.

After the driver scripts of HammerDB 2 to 5: `TEST RESULT : System achieved 9720 NOPM from 22368 PostgreSQL TPM`, up to
3.3 `22368 PostgreSQL TPM at 9720 NOPM`. Both are whole numbers a minute. New orders compare databases, transactions a
minute only runs of one database and version (HammerDB, `Understanding the TPROC-C workload`). Of a time profile the
summary of all virtual users is read, or what the JSON holds: each procedure is a result of its own, with calls and
latencies. Where a virtual user ended as failed, the run counts as aborted. The log of the transaction counter counts
where there is no result line: its mean, from the first transaction on.
"""

import re
from collections.abc import Iterator

from core.benchmarks.model import Metrics, Output, Result
from core.benchmarks.reading import lines, no_result

_VERSION = re.compile(r"HammerDB(?: CLI)?[ -]v(?P<version>\d[\d.]{0,10}\d)")
_ACHIEVED = re.compile(
    r"System achieved (?:(?P<nopm>\d{1,12}) NOPM from (?P<tpm>\d{1,12}) (?P<database>[^\r\n\"]{1,40}?) TPM"
    r"|(?P<old_tpm>\d{1,12}) (?P<old_database>[^\r\n\"]{1,40}?) TPM at (?P<old_nopm>\d{1,12}) NOPM)"
)
_USERS = re.compile(r"(?P<users>\d{1,6}) (?:Active )?Virtual Users configured")
_MINUTES = re.compile(r"Timing test period of (?P<minutes>\d{1,6}) in minutes")
# A run begins with one of these lines, and ends when all of its users have ended.
_BEGINS = re.compile(r"Beginning rampup time|Virtual Users Created|Hammerdb Log @")
_FAILED = re.compile(r"Vuser \d+:FINISHED FAILED")
_SUMMARY = re.compile(r"SUMMARY OF (?P<users>\d{1,6}) ACTIVE VIRTUAL USERS")
_PROCEDURE = re.compile(r"PROC: (?P<name>[A-Z]{2,20})\b")
_JSON_PROCEDURE = re.compile(r"^\s*\"(?P<name>NEWORD|PAYMENT|DELIVERY|OSTAT|SLEV|GWTC)\": \{")
_FIGURE = re.compile(
    # where tabs were lost, a figure touches the one before it
    r"(?:\b|(?<=ms))(?P<name>CALLS|AVG|MAX|P99|P95|P50): (?P<value>\d{1,15}(?:\.\d{1,6})?)(?:ms|\s|(?=MIN:))"
    r"|\"(?P<key>calls|avg_ms|max_ms|p99_ms|p95_ms|p50_ms)\": \"?(?P<number>\d{1,15}(?:\.\d{1,6})?)[\",\s]"
)
_COUNTED = re.compile(r"^[ \t]*(?P<tpm>\d{1,12}) (?P<database>\S[^@\r\n]{0,40}?) tpm(?: @ |[ \t]*\r?$)", re.MULTILINE)
_LATENCIES = {"avg": "mean", "max": "max", "p99": "p99", "p95": "p95", "p50": "p50"}


def parse_hammerdb(text: str) -> Output:
    """Return one result per run, named by its database and users, and one per procedure of a time profile.

    Raises:
        ParseError: no line with a run's result, no whole time profile and no log of the transaction counter.
    """
    text = "".join(lines(text))
    results = (*_runs(text), *_procedures(text)) or tuple(_counted(text))
    if not results:
        raise no_result("hammerdb", "a line 'TEST RESULT : System achieved … NOPM' or a time profile", text)
    version = _VERSION.search(text)
    return Output("hammerdb", version["version"] if version else None, results)


def _runs(text: str) -> Iterator[Result]:
    found = list(_ACHIEVED.finditer(text))
    begins = [0, *(one.start() for one in _BEGINS.finditer(text)), len(text)]
    before = 0
    for result in found:
        # The text since the previous result belongs to this one, and so does the text up to the next beginning.
        ahead = text[before : result.start()]
        behind = text[result.end() : next(begin for begin in begins if begin >= result.end())]
        before = result.end()
        users, minutes = _last(_USERS, ahead), _last(_MINUTES, ahead)
        database = result["database"] or result["old_database"]
        name = f"{database} with {users['users']} virtual users" if users else database
        metrics: Metrics = {
            "new_orders_per_second": int(result["nopm"] or result["old_nopm"]) / 60,
            "transactions_per_second": int(result["tpm"] or result["old_tpm"]) / 60,
        }
        metrics |= {"clients": float(users["users"])} if users else {}
        metrics |= {"duration_seconds": float(minutes["minutes"]) * 60} if minutes else {}
        yield Result(name, metrics, aborted=bool(_FAILED.search(ahead) or _FAILED.search(behind)))


def _counted(text: str) -> Iterator[Result]:
    """Return the mean of the transaction counter's log. It begins at zero, before the first transaction."""
    counts: dict[str, list[int]] = {}
    for found in _COUNTED.finditer(text):
        rates = counts.setdefault(found["database"], [])
        if rates or int(found["tpm"]) > 0:
            rates.append(int(found["tpm"]))
    for database, rates in counts.items():
        if rates:
            yield Result(f"{database} transaction counter", {"transactions_per_second": sum(rates) / len(rates) / 60})


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(reversed(list(pattern.finditer(text))), None)


def _procedures(text: str) -> Iterator[Result]:
    """Return the procedures of the summary, or of a JSON document if there is no summary."""
    summary = _last(_SUMMARY, text)
    begins = _PROCEDURE if summary is not None else _JSON_PROCEDURE
    name: str | None = None
    metrics: Metrics = {}
    for line in (text[summary.end() :] if summary is not None else text).splitlines(keepends=True):
        if (found := begins.search(line)) is not None:
            if name is not None and metrics:
                yield Result(name, metrics)
            name, metrics = found["name"], {}
        elif name is not None:
            metrics |= _figures(line)
    if name is not None and metrics:
        yield Result(name, metrics)


def _figures(line: str) -> Metrics:
    metrics: Metrics = {}
    for found in _FIGURE.finditer(line):
        what = (found["name"] or found["key"].removesuffix("_ms")).lower()
        value = float(found["value"] or found["number"])
        metrics |= {"transactions": value} if what == "calls" else {f"latency_{_LATENCIES[what]}_seconds": value / 1000}
    return metrics
