"""Page one: the three answers for whoever decides, and what they rest on."""

from core import units
from core.comparison.model import Row, Verdict
from core.migration.execution.account import account
from core.migration.model.checks import Status
from core.migration.model.estimate import Method
from core.migration.model.execution import Execution, Kind, State
from core.reports.report import Report
from core.reports.words import Plain, about, counted, fraction, listed, method, missing, reach, span, time_axis

BEFORE_START = 6


def summary(report: Report) -> Plain:
    """The answers and the chart below them."""
    blockers = () if _moved(report) is not None else report.blockers
    return {
        "answers": [_storage(report), _movable(report), _time(report)],
        "durations": durations(report),
        "stops": [
            {"title": check.title, "message": check.message, "hint": check.hint} for check in blockers[:BEFORE_START]
        ],
        "stops_left": max(0, len(blockers) - BEFORE_START),
    }


def headlines(report: Report) -> tuple[Row, ...]:
    """The rows that stand for their workloads."""
    return () if report.comparison is None else tuple(row for row in report.comparison.rows if row.headline)


def _answer(question: str, tone: str, answer: str, *details: str) -> Plain:
    return {"question": question, "tone": tone, "answer": answer, "details": [detail for detail in details if detail]}


def _storage(report: Report) -> Plain:
    question = "Is the new storage faster?"
    rows = [row for row in headlines(report) if row.verdict not in {Verdict.ONE_SIDED, Verdict.UNLIKE}]
    if not rows:
        hint = missing("Nothing was measured alike on both sides.", report.move, "bench", "Measure")
        return _answer(question, "unknown", "Not known", hint)
    faster = [row for row in rows if row.verdict is Verdict.NEW]
    slower = [row for row in rows if row.verdict is Verdict.OLD]
    if len(faster) == len(rows):
        tone, answer = "good", f"Yes, in all {counted(len(rows), 'workload')}" if len(rows) > 1 else "Yes"
    elif faster:
        tone, answer = "mixed" if slower else "good", f"In {len(faster)} of {counted(len(rows), 'workload')}"
    else:
        tone, answer = ("bad", "No") if slower else ("mixed", "No difference")
    return _answer(question, tone, answer, _ratios(rows), _slower(slower), _even(rows), _unlike(report))


def _ratios(rows: list[Row]) -> str:
    ratios = sorted((row.ratio, row.workload.title) for row in rows if row.ratio is not None)
    if not ratios:
        return ""
    (least, low), (most, high) = ratios[0], ratios[-1]
    if len(ratios) == 1:
        return f"{units.ratio(most)} in {high}."
    return f"From {units.ratio(least)} ({low}) to {units.ratio(most)} ({high}) of the old."


def _slower(rows: list[Row]) -> str:
    return f"Slower in {listed(row.workload.title for row in rows)}." if rows else ""


def _even(rows: list[Row]) -> str:
    even = [row for row in rows if row.verdict is Verdict.NONE]
    return f"No difference beyond noise in {listed(row.workload.title for row in even)}." if even else ""


def _unlike(report: Report) -> str:
    rows = [row for row in headlines(report) if row.verdict is Verdict.UNLIKE]
    return (
        f"Not compared, because cached on one side only: {listed(row.workload.title for row in rows)}." if rows else ""
    )


def _movable(report: Report) -> Plain:
    question = "Can the cluster be moved?"
    moved = _moved(report)
    if moved is not None:
        when = "" if moved.ended_at is None else f"{moved.ended_at:%Y-%m-%d %H:%M} UTC."
        return _answer(question, "good", "It was moved", when, "What checks said before no longer matters.")
    if not report.checks:
        hint = missing("Nothing was checked yet.", report.move, "check", "Check")
        return _answer(question, "unknown", "Not known", hint)
    statuses = [check.status for check in report.checks]
    blockers = statuses.count(Status.BLOCKER)
    unknown = sum(check.status is Status.UNKNOWN for check in report.blockers)
    others = (
        f"{counted(statuses.count(Status.WARNING), 'warning')}, "
        f"{counted(statuses.count(Status.PASS), 'check')} passed of {len(statuses)}."
    ).capitalize()
    if not report.blockers:
        return _answer(question, "good", "Yes, no blockers", others)
    parts = [counted(blockers, "blocker")] if blockers else []
    parts += [f"{unknown} unknown"] if unknown else []
    why = "What is unknown could block, so it counts as a blocker." if unknown else ""
    return _answer(question, "bad", f"Not yet: {listed(parts)}", others, why)


def _time(report: Report) -> Plain:
    question = "How long without the cluster?"
    found = report.estimate.methods if report.estimate is not None else ()
    methods = {each.method: each for each in found if not each.ruled_out}
    if not methods:
        hint = missing("Nothing was estimated yet.", report.move, "estimate", "Estimate")
        return _answer(question, "unknown", "Not known", hint)
    copy, dump = methods.get("cold-copy"), methods.get("dump-restore")
    first = methods.get(_planned(report)) or copy or next(iter(methods.values()))
    likely = about(first.downtime_seconds.likely)
    against = _against(first, dump)
    warm = _cold(copy) if first.method == "warm-copy" else _warm(methods.get("warm-copy"))
    took = _took(report)
    if took is not None:
        return _answer(question, "good", f"It took {units.duration(took)}", _expected(report), against)
    low_high = f"{method(first.method)}: {reach(first.downtime_seconds)}."
    return _answer(question, "plain", likely, low_high, against, warm)


def _planned(report: Report) -> str:
    """The method that the plan follows."""
    steps = report.plan.steps if report.plan is not None else ()
    return "warm-copy" if any(step.warm_pass for step in steps) else "cold-copy"


def _expected(report: Report) -> str:
    """What the executed plan said."""
    expected = account(report.executions[0]).expected_seconds
    return "" if expected is None else f"The plan expected {about(expected)} of commands; people come on top."


def _took(report: Report) -> float | None:
    """The time without the cluster, once it was moved."""
    moved = _moved(report)
    return None if moved is None else account(moved).downtime_seconds


def _moved(report: Report) -> Execution | None:
    """The execution that has moved the cluster; None: it was not moved yet."""
    latest = next(iter(report.executions), None)
    if latest is None or latest.kind is not Kind.REAL or latest.state is not State.DONE:
        return None
    return latest


def _against(copy: Method, dump: Method | None) -> str:
    if dump is None or dump is copy:
        return ""
    return f"Dump & restore: {span(dump.downtime_seconds)}."


def _warm(warm: Method | None) -> str:
    return f"With warm passes before the stop: {span(warm.downtime_seconds)}." if warm is not None else ""


def _cold(cold: Method | None) -> str:
    return f"Without warm passes before the stop: {span(cold.downtime_seconds)}." if cold is not None else ""


def durations(report: Report) -> Plain | None:
    """All methods on one time axis: low to high with the likely marked, in all and without the cluster."""
    if report.estimate is None or not report.estimate.methods:
        return None
    found = report.estimate.methods
    most = max(one.duration_seconds.high for one in found)
    rows = [
        {
            "name": method(one.method),
            "lines": [
                {
                    "kind": kind,
                    "low": fraction(seconds.low, most),
                    "likely": fraction(seconds.likely, most),
                    "high": fraction(seconds.high, most),
                    "text": span(seconds),
                }
                for kind, seconds in (("downtime", one.downtime_seconds), ("duration", one.duration_seconds))
            ],
        }
        for one in found
    ]
    alt = "Time without the cluster and in all, by method. " + " ".join(
        f"{method(one.method)}: {span(one.downtime_seconds)} without the cluster, {span(one.duration_seconds)} in all."
        for one in found
    )
    return {"axis": time_axis(most), "rows": rows, "alt": alt}
