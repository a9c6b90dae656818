"""The report as the template reads it: plain JSON, every number formatted here, every text kept from being markup."""

import re
from collections.abc import Sequence
from typing import Any

from core import units
from core.benchmarks.model import Run, Side
from core.migration.execution.record import Held, bias
from core.migration.model.checks import CheckResult
from core.migration.model.estimate import Method
from core.migration.model.plan import Step
from core.reports import fonts
from core.reports.execution import execution
from core.reports.report import Report
from core.reports.servers import servers
from core.reports.storage import storage
from core.reports.summary import summary
from core.reports.words import Plain, about, counted, fraction, instant, method, missing, reach, span, table

LONGEST_COMMAND = 800
_LONG = re.compile(r"\S{16,}")
_PIECE = re.compile(r".{1,11}[/,;:=._\-&|]+|.{1,11}", re.DOTALL)


def document(report: Report, *, plain: bool = False) -> Plain:
    """All that the template shows. `plain`: as core.reports.fonts.printable."""
    found: Plain = _shown(
        {
            "title": f"{report.move.name}: move report",
            "description": f"From {report.old.name} to {report.new.name}, {instant(report.made_at)}",
            "name": report.move.name,
            "old": report.old.name,
            "new": report.new.name,
            "made_at": instant(report.made_at),
            "program": f"pghaul {report.program_version}",
            "summary": summary(report),
            "execution": execution(report),
            "servers": servers(report),
            "storage": storage(report),
            "checks": _checks(report),
            "durations": _durations(report),
            "plan": _plan(report),
            "functions": report.functions,
            "workloads": table(("Workload", "Parameters", "Old", "New"), _workloads(report.runs)),
            "outputs": [_benchmark_command(run) for run in report.runs if run.repetitions],
        },
        plain,
    )
    at = report.made_at
    found["date"] = {"year": at.year, "month": at.month, "day": at.day}
    return found


def _shown(value: Any, plain: bool) -> Any:
    """Every text printable, and where a word is long, in pieces between which a line may break."""
    if isinstance(value, str):
        return _breakable(fonts.printable(value, plain=plain))
    if isinstance(value, list):
        return [_shown(item, plain) for item in value]
    if isinstance(value, dict):
        return {key: _shown(item, plain) for key, item in value.items()}
    return value


def _breakable(text: str) -> str | Plain:
    if not _LONG.search(text):
        return text
    pieces: list[str] = []
    at = 0
    for word in _LONG.finditer(text):
        pieces += [text[at : word.start()], *_PIECE.findall(word[0])]
        at = word.end()
    return {"pieces": [piece for piece in (*pieces, text[at:]) if piece]}


def _checks(report: Report) -> Plain:
    if not report.checks:
        text = missing("Nothing was checked yet.", report.move, "check", "Check")
        return {"missing": text, "taken_at": "", "results": []}
    taken_at = instant(report.checks_taken_at) if report.checks_taken_at else ""
    return {"missing": "", "taken_at": taken_at, "results": [_check(check) for check in report.checks]}


def _check(check: CheckResult) -> Plain:
    return {
        "status": check.status.value,
        "title": check.title,
        "old": check.old or units.ABSENT,
        "new": check.new or units.ABSENT,
        "message": check.message,
        "hint": check.hint,
        "documentation": check.documentation,
        "waived": _waived(check),
    }


def _waived(check: CheckResult) -> str:
    waiver = check.waiver
    return "" if waiver is None else f"Waived by {waiver.by} on {instant(waiver.at)}: {waiver.reason}"


def _durations(report: Report) -> Plain:
    methods = () if report.estimate is None else report.estimate.methods
    made_at = report.estimate.made_at if report.estimate is not None else None
    return {
        "missing": "" if methods else missing("Nothing was estimated yet.", report.move, "estimate", "Estimate"),
        "made_at": instant(made_at) if made_at is not None else "",
        "methods": [_method(one) for one in methods],
        "probes_missing": ""
        if report.probes
        else missing("No link of the copy chain was measured: rates are assumed.", report.move, "probe", "Probe"),
        "probes": table(
            ("Link", "Rate", "Moved", "How", "When"),
            [
                (
                    probe.quantity.value,
                    units.rate(probe.bytes_per_second),
                    f"{units.size(probe.bytes)} in {units.duration(probe.seconds)}",
                    probe.method,
                    instant(probe.taken_at),
                )
                for probe in report.probes
            ],
        ),
        "record": table(
            ("Began", "Stage", "Estimated", "Took", "Took / likely"), [_held(row) for row in report.record]
        ),
        "record_sum": _record_sum(report.record),
    }


def _held(row: Held) -> tuple[str, ...]:
    inside = "" if row.inside else " (outside)"
    factor = f"{units.ratio(row.factor)}{inside}"
    return instant(row.began_at), f"{row.stage}, {row.kind}", span(row.estimated), units.duration(row.seconds), factor


def _record_sum(rows: Sequence[Held]) -> str:
    """How good the estimates were; empty where nothing was done yet."""
    off = bias(rows)
    if off is None:
        return ""
    inside = sum(row.inside for row in rows)
    return f"{inside} of {len(rows)} lie between low and high; they took {units.ratio(off)} what was likely."


def _method(one: Method) -> Plain:
    longest = max((stage.seconds.high for stage in one.stages), default=0.0)
    return {
        "name": method(one.method),
        "downtime": span(one.downtime_seconds),
        "duration": span(one.duration_seconds),
        "alt": f"Stages of {method(one.method)}. "
        + " ".join(f"{stage.name}: {span(stage.seconds)}, bound by {stage.bound_by}." for stage in one.stages),
        "stages": [
            {
                "name": stage.name,
                "low": fraction(stage.seconds.low, longest),
                "likely": fraction(stage.seconds.likely, longest),
                "high": fraction(stage.seconds.high, longest),
                "text": about(stage.seconds.likely),
                "reach": reach(stage.seconds),
                "bound_by": stage.bound_by,
            }
            for stage in one.stages
        ],
        "evidence": "; ".join(f"{stage.name}: {stage.evidence}" for stage in one.stages if stage.evidence),
        "ruled_out": one.ruled_out,
        "assumptions": list(one.assumptions),
        "warnings": list(one.warnings),
    }


def _plan(report: Report) -> Plain:
    if report.plan is None:
        text = missing("There is no plan yet.", report.move, "plan", "Plan")
        return {"missing": text, "transport": "", "why": "", "made_at": "", "warnings": [], "steps": [], "table": None}
    plan = report.plan
    head = ("Step", "What", "Where", "As", "Takes", "Downtime")
    return {
        "missing": "",
        "transport": plan.transport,
        "why": plan.why,
        "made_at": instant(plan.made_at),
        "warnings": list(plan.warnings),
        "table": table(head, [_row(step) for step in plan.steps]),
        "steps": [_step(step) for step in plan.steps],
    }


def _row(step: Step) -> tuple[str, ...]:
    where = ("you", "") if step.by_person else (step.server, step.user)
    downtime = "point of no return" if step.point_of_no_return else "yes" if step.stopped else ""
    return str(step.number), step.title, *where, _seconds(step), downtime


def _seconds(step: Step) -> str:
    return "" if step.expected_seconds is None else about(step.expected_seconds)


def _step(step: Step) -> Plain:
    whose = "you" if step.side == "you" else f"{step.side}: {step.server}" + (f" as {step.user}" if step.user else "")
    return {
        "number": step.number,
        "title": step.title,
        "whose": whose,
        "commands": "\n".join(step.native or (step.call,)),
        "call": step.call if step.native else "",
        "reason": step.reason,
        "undo": step.undo,
        "point_of_no_return": step.point_of_no_return,
    }


def _workloads(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """One row for what both sides ran alike."""
    found: dict[tuple[str, str], dict[Side, str]] = {}
    for run in runs:
        parameters = ", ".join(f"{name} {_parameter(name, value)}" for name, value in run.workload.parameters.items())
        how = f"{run.tool_version or run.workload.tool}, {counted(len(run.repetitions), 'repetition')}"
        found.setdefault((run.workload.title, parameters), {})[run.volume.side] = how
    return [
        (title, parameters, *(sides.get(side, units.ABSENT) for side in Side))
        for (title, parameters), sides in found.items()
    ]


def _parameter(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and name.endswith(("_bytes", "_seconds")):
        return units.metric(name, value)
    return str(value)


def _benchmark_command(run: Run) -> Plain:
    return {
        "title": f"{run.workload.title} on {run.volume.server}, {instant(run.started_at)}",
        "command": _cut(run.repetitions[0].command, f"pghaul history run {run.id}"),
    }


def _cut(command: str, whole: str) -> str:
    if len(command) <= LONGEST_COMMAND:
        return command
    return f"{command[:LONGEST_COMMAND]}… ({units.count(len(command))} characters in all: {whole})"
