"""What was carried out: one sentence for whoever decides, then the times, passes, proofs, breaks and every step."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from core import units
from core.migration.execution.account import NOTEWORTHY_SECONDS, Downtime, account, downtime
from core.migration.execution.entry import old_may_be_stopped
from core.migration.execution.summary import Agreement, agreements, breaks, passes, proven, stages
from core.migration.model.estimate import Estimate, Method
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import Step
from core.migration.plan.steps.inventory import INVENTORY
from core.migration.plan.steps.verify import SUMS
from core.reports.report import Report
from core.reports.words import Plain, about, counted, instant, listed, missing, span, table

_WHAT = {Kind.REAL: "the move", Kind.REHEARSAL: "a rehearsal"}
_ENDED = {
    State.RUNNING: "under way",
    State.INTERRUPTED: "interrupted",
    State.STOPPED: "ended at a step that failed",
    State.CANCELLED: "cancelled",
    State.DONE: "done",
    State.ROLLED_BACK: "taken back",
}
_VOID = "void: it was done, and what happened later made it count as not done."


def execution(report: Report) -> Plain | None:
    """The latest execution whole, earlier ones a line each; None where nothing was carried out."""
    if not report.executions:
        return None
    latest, *earlier = report.executions
    tone, text = _sentence(report, latest)
    return {
        "tone": tone,
        "sentence": text,
        "facts": table(("What", "How it came out"), _facts(report, latest)),
        "passes": table(("Pass", "Began (UTC)", "Took", "Sent", "Rate", ""), _passes(latest)),
        "agreements": table(("Held against each other", "What", "Came to"), _agreements(latest)),
        "breaks": table(("When (UTC)", "Where", "Why", "Gone on with"), _breaks(latest)),
        "steps_head": ["No.", "Step", "On", "Began (UTC)", "Took", "Expected", "Sent", "Exit"],
        "stages": _stages(latest),
        "void": _VOID if any(run.void for run in latest.steps) else "",
        "way_back": [_step(run, _back(latest), _days(latest)) for run in latest.steps if run.back],
        "earlier": table(("No.", "What", "Began", "Took", "Without the cluster", "Came to"), map(_earlier, earlier)),
    }


def _sentence(report: Report, latest: Execution) -> tuple[str, str]:
    """A tone and one plain sentence."""
    if latest.kind is Kind.REHEARSAL:
        return _of_rehearsal(report, latest)
    down = downtime(latest, report.made_at)
    old, new = report.old.name, report.new.name
    if latest.state is State.DONE:
        after = _without(down) or f"{old} had been stopped before"
        proof = ", and both sides were proven to hold the same" if proven(latest) else ""
        return "good", f"The cluster was moved to {new}: it serves there since {_served(latest)}; {after}{proof}."
    if latest.state is State.ROLLED_BACK:
        if down is None:
            return "mixed", f"The move was taken back before {old} was stopped: {old} serves as before."
        return "mixed", f"The move was taken back: {old} serves again since {_at(down.ended_at)}; {_without(down)}."
    if latest.state is State.RUNNING:
        return "plain", f"The move was under way when this was written: {_reached(latest)}."
    ended = f"The move was {_broken(latest)}"
    if account(latest).opened_at is not None:
        return "mixed", f"{ended} after {new} was opened: it serves since {_served(latest)}; {_without(down)}."
    if latest.past_return:
        return "bad", f"{ended} while {new} was being opened: look whether it runs."
    if old_may_be_stopped(latest):
        since = f" since {instant(down.began_at)}" if down is not None else ""
        return "bad", f"{ended}: {old} is stopped{since}, {new} was not opened; go on, or back to {old}."
    return "mixed", f"{ended} before {old} was stopped: {old} serves as before."


def _of_rehearsal(report: Report, latest: Execution) -> tuple[str, str]:
    if latest.state is not State.DONE:
        stood = f"under way: {_reached(latest)}" if latest.state is State.RUNNING else _broken(latest)
        return "mixed", f"A rehearsal was {stood}; nothing was stopped, {report.old.name} serves as before."
    found = account(latest)
    rate = f" at {units.rate(found.copy_rate)}" if found.copy_rate is not None else ""
    copied = f"copied {units.size(found.sent)}{rate}" if found.sent else "found nothing left to copy"
    night = _night(report, latest)
    cost = f" By its rates the night costs {about(night.downtime_seconds.likely)} without the cluster." if night else ""
    return "good", f"A rehearsal {copied} and stopped nothing: {report.old.name} serves as before.{cost}"


def _night(report: Report, latest: Execution) -> Method | None:
    """What the move will take by the rates of a rehearsal; None where the estimate does not know them yet."""
    made: Estimate | None = report.estimate
    if made is None or made.made_at is None or latest.ended_at is None or made.made_at < latest.ended_at:
        return None
    return made.method("warm-copy" if any(step.warm_pass for step in latest.plan.steps) else "cold-copy")


def _broken(latest: Execution) -> str:
    return "broken off at a step that failed" if latest.state is State.STOPPED else _ENDED[latest.state]


def _reached(latest: Execution) -> str:
    """`step 11 of 39, warm pass 1 of 2`."""
    runs = [run for run in latest.steps if not run.back]
    steps = counted(len(latest.plan.steps), "step")
    return f"step {runs[-1].number} of {steps}, {runs[-1].title}" if runs else f"none of its {steps} has begun"


def _served(latest: Execution) -> str:
    return _at(account(latest).opened_at)


def _at(at: datetime | None) -> str:
    return units.ABSENT if at is None else instant(at)


def _without(down: Downtime | None) -> str:
    return "" if down is None else f"the time without it was {units.duration(down.seconds)}"


def _facts(report: Report, latest: Execution) -> list[tuple[str, str]]:
    took = "" if latest.ended_at is None else f", {units.duration(_seconds(latest.started_at, latest.ended_at))} in all"
    rows = [
        ("Carried out", f"{_WHAT[latest.kind]}, number {latest.id}, by {latest.owner}"),
        ("Began", instant(latest.started_at)),
        ("Ended", f"{_at(latest.ended_at)}{took}"),
        ("State", _ENDED[latest.state] + (f": {latest.message}" if latest.message else "")),
        ("Without the cluster", _down(report, latest)),
        ("Transport", latest.plan.transport),
        ("Way back", _way_back(latest)),
    ]
    if latest.kind is Kind.REHEARSAL:
        rows.append(("The night to come", _cost(report, latest)))
    return rows


def _down(report: Report, latest: Execution) -> str:
    if latest.kind is Kind.REHEARSAL:
        return "not at all: a rehearsal stops nothing"
    down = downtime(latest, report.made_at)
    if down is None:
        return f"{report.old.name} was not stopped" + (" by it" if old_may_be_stopped(latest) else "")
    until = f"to {_second(down.ended_at)}" if down.ended_at is not None else "on, and not over when this was written"
    said = [f"{units.duration(down.seconds)}, from {_second(down.began_at)} {until}"]
    parts = f"Commands took {units.duration(down.command_seconds)}"
    if down.expected_seconds is not None and down.ended_at is not None:
        parts += f" ({about(down.expected_seconds)} expected)"
    parts += f", people {units.duration(down.people_seconds)}"
    if down.idle_seconds >= NOTEWORTHY_SECONDS:
        parts += f"; for {units.duration(down.idle_seconds)} nothing was under way"
    return ". ".join([*said, parts])


def _cost(report: Report, latest: Execution) -> str:
    night = _night(report, latest)
    if night is None:
        return missing("It was not estimated with the rates of this rehearsal.", report.move, "estimate", "Estimate")
    down, whole = night.downtime_seconds, night.duration_seconds
    return f"{span(down)} without the cluster, {span(whole)} in all, by the rates of this rehearsal; people come on top"


def _way_back(latest: Execution) -> str:
    if latest.kind is Kind.REHEARSAL or (latest.state is not State.ROLLED_BACK and not old_may_be_stopped(latest)):
        return "not needed: nothing was stopped"
    if latest.state is State.ROLLED_BACK:
        return "taken"
    if any(run.back for run in latest.steps):
        return "begun, and not at its end"
    if latest.past_return:
        return "not taken; since the opening it loses what clients wrote to new"
    return "not taken, and still open"


def _passes(latest: Execution) -> list[tuple[str, ...]]:
    return [
        (made.title, _clock(made.started_at, _days(latest)), "", "", "", f"left out: {made.left_out}")
        if made.left_out
        else (
            made.title,
            _clock(made.started_at, _days(latest)),
            units.duration(made.seconds),
            units.size(made.bytes),
            units.rate(made.bytes_per_second),
            "",
        )
        for made in passes(latest)
    ]


def _agreements(latest: Execution) -> list[tuple[str, ...]]:
    """Of a rehearsal only what it came to: the rest was not in question."""
    found = [each for each in agreements(latest) if each.agreed is not None or latest.kind is Kind.REAL]
    return [(f"{each.other.title}; {each.step.title}", _compared(each), _came_to(each)) for each in found]


def _compared(each: Agreement) -> str:
    if each.other.name != INVENTORY or not each.agreed:
        return each.other.reason if each.other.name == SUMS else each.step.reason
    databases = re.findall(r"(?m)^database ", each.output)
    relations = sum(map(int, re.findall(r"(?m)^relations \S+ (\d{1,12})$", each.output)))
    settings, invalid = (re.findall(rf"(?m)^{word} ", each.output) for word in ("setting", "invalid index"))
    counts = (
        counted(len(databases), "database"),
        counted(relations, "relation"),
        counted(len(settings), "setting"),
        counted(len(invalid), "invalid index", "invalid indexes"),
    )
    return listed(counts, most=len(counts))


def _came_to(each: Agreement) -> str:
    if each.agreed is None:
        return "not compared"
    return "the same" if each.agreed else f"not the same: {each.message}"


def _breaks(latest: Execution) -> list[tuple[str, ...]]:
    days = _days(latest)
    return [
        (_clock(each.at, days), each.title, each.why, _clock(each.resumed_at, days) if each.resumed_at else "not yet")
        for each in breaks(latest)
    ]


def _stages(latest: Execution) -> list[Plain]:
    """The tries at the plan's steps in the order of time, under their stages; a stage comes again after a resume."""
    steps = {step.number: step for step in latest.plan.steps}
    of = stages(latest)
    found: list[tuple[str, list[StepRun]]] = []
    for run in latest.steps:
        if run.back:
            continue
        stage = of.get(run.number, "")
        if not found or found[-1][0] != stage:
            found.append((stage, []))
        found[-1][1].append(run)
    days = _days(latest)
    return [
        {"title": f"{stage}, {_took(runs)}", "rows": [_step(run, steps, days) for run in runs]} for stage, runs in found
    ]


def _took(runs: Sequence[StepRun]) -> str:
    ends = [run.ended_at for run in runs if run.ended_at is not None]
    return units.duration(_seconds(min(run.started_at for run in runs), max(ends))) if ends else "not ended"


def _step(run: StepRun, steps: dict[int, Step], days: bool) -> list[str]:
    step = steps.get(run.number)
    again = f" (try {run.attempt})" if run.attempt > 1 else ""
    expected = step.expected_seconds if step is not None and run.attempt == 1 else None
    return [
        str(run.number),
        f"{run.title}{again}" + (f", left out: {run.message}" if run.done and run.message else ""),
        "" if step is None else step.side,
        _clock(run.started_at, days),
        "" if run.ended_at is None else units.duration(_seconds(run.started_at, run.ended_at)),
        "" if expected is None else about(expected),
        "" if run.bytes is None else units.size(run.bytes),
        _exit(run),
    ]


def _exit(run: StepRun) -> str:
    if run.exit_status is None:
        return "not seen"
    return f"{run.exit_status}, void" if run.void else str(run.exit_status)


def _back(latest: Execution) -> dict[int, Step]:
    return {step.number: step for step in latest.plan.way_back}


def _earlier(one: Execution) -> tuple[str, ...]:
    down = downtime(one, one.ended_at or one.started_at)
    took = "" if one.ended_at is None else units.duration(_seconds(one.started_at, one.ended_at))
    rate = account(one).copy_rate
    came_to = _ENDED[one.state] + (f", copied at {units.rate(rate)}" if rate is not None else "")
    without = units.ABSENT if down is None else units.duration(down.seconds)
    return (str(one.id), _WHAT[one.kind], instant(one.started_at), took, without, came_to)


def _days(latest: Execution) -> bool:
    """Whether it went over midnight, or over more."""
    return len({run.started_at.date() for run in latest.steps} | {latest.started_at.date()}) > 1


def _clock(at: datetime, days: bool) -> str:
    return f"{at.day} {at:%b %H:%M:%S}" if days else f"{at:%H:%M:%S}"


def _second(at: datetime) -> str:
    return f"{at.day} {at:%B, %H:%M:%S} {at.tzname() or ''}".rstrip()


def _seconds(began: datetime, ended: datetime) -> float:
    return max(timedelta(0), ended - began).total_seconds()
