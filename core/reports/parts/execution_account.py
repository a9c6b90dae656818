"""What was carried out: one sentence for whoever decides, then the times, passes, proofs, breaks and every step."""

import re
from collections.abc import Sequence
from datetime import datetime

from core import units
from core.language import marked, tr
from core.migration.execution.entry import old_cluster_may_be_stopped
from core.migration.execution.outcome import Agreement, PassName, agreements, breaks, passes, proven, stages
from core.migration.execution.queries import (
    AS_ROLE,
    METRICS,
    SHOWN,
    UNEQUAL,
    Line,
    QueryResults,
    Run,
    lines,
    query_results,
)
from core.migration.execution.queries import missing as why_missing
from core.migration.execution.timeline import NOTEWORTHY_SECONDS, Downtime, account, downtime
from core.migration.model import step_ids
from core.migration.model.estimate import Estimate, Method, stage_heading
from core.migration.model.execution import CANCELLED_STEP, Execution, Kind, State, StepRun
from core.migration.model.plan import OPERATOR, Phase, Step
from core.migration.model.schedule import Schedule
from core.reports.charts.duration_plots import Bar, gantt
from core.reports.model import Block, Cell, Row, Section, Table, Text, Tone
from core.reports.parts.plan_table import MANY_STEPS
from core.reports.recorded import compared, recorded
from core.reports.report import Report
from core.reports.words import (
    about,
    counted,
    day_of_month,
    expected,
    instant,
    listed,
    missing,
    second,
    side_name,
    span,
    stage_name,
    time_words,
)
from core.text import capital

_RUN = {
    Run.OLD_FIRST: marked("Old server, first run"),
    Run.OLD_WARM: marked("Old server, warm"),
    Run.NEW_COLD: marked("New server, cold"),
    Run.NEW_WARM: marked("New server, warm"),
}
_COLD = {
    True: marked("Cold: the page cache was dropped. The shared buffers contained what the recovery had read."),
    False: marked("Cold: the shared buffers contained what the recovery had read. The page cache was kept."),
}
_ENDED = {
    State.RUNNING: marked("running"),
    State.INTERRUPTED: marked("interrupted"),
    State.STOPPED: marked("failed"),
    State.CANCELLED: marked("cancelled"),
    State.PAUSED: marked("paused by the operator"),
    State.DONE: marked("done"),
    State.ROLLED_BACK: marked("rolled back"),
}


def record(report: Report, latest: Execution) -> Section:
    """What is known of an execution as a whole."""
    head = (tr("Item"), tr("Value"))
    return Section(tr("Execution"), (Table("execution", head, tuple(_facts(report, latest)), (0.35, 1)),))


def verification(latest: Execution) -> Section:
    """What was held against what, and what each pass sent."""
    days = _days(latest)
    compared = Table(
        "verification",
        (tr("Comparison"), tr("Contents"), tr("Result")),
        tuple(_agreements(latest)),
        (1.2, 1.6, 0.8),
    )
    made = _passes_table(_passes(latest, days))
    parts = (Section(tr("Verification"), (compared,)), Section(tr("Passes"), (made,)))
    blocks = tuple(part for part, table in zip(parts, (compared, made), strict=True) if table.rows)
    return Section(tr("Is the copy complete?"), blocks)


def queries(latest: Execution) -> Section:
    """What the operator's own queries took on each server, of a dress rehearsal that measured some."""
    title, found = tr("Your own queries"), query_results(latest)
    if found is None:
        return Section(title, ())
    everything = tr("all scripts") if len(found.scripts) > 1 else found.scripts[0][0]
    rows: list[Row] = []
    for line in lines(found):
        values = tuple(_value(found, line, place) for place in range(len(SHOWN)))
        ratio = "" if line.ratio is None else units.ratio(line.ratio.ratio)
        rows.append((line.script or everything, tr(METRICS[line.metric]), *values, ratio))
    head = (tr("Script"), tr("Metric"), *(tr(_RUN[run]) for run in SHOWN), tr("New server / old server"))
    how = tr(
        "The queries ran as {role} in the database {database}, with {clients} for {time} in each run. The "
        "ratio is that of the warm runs."
    ).format(
        role=found.role,
        database=found.database,
        clients=counted(found.clients, "{number} client", "{number} clients"),
        time=units.duration(found.seconds),
    )
    said = [how, tr(_COLD[found.page_cache_dropped])]
    said += [
        tr("{run} was not measured: {why}").format(run=tr(_RUN[each.run]), why=each.why)
        for each in found.runs
        if each.why
    ]
    said += [tr(each) for each in (*UNEQUAL, AS_ROLE)]
    table = Table("queries", head, tuple(rows), (1.2, 1, 0, 0, 0, 0), frozenset({2, 3, 4, 5}))
    return Section(title, (table, *(Text(sentence, small=True) for sentence in said)))


def _value(found: QueryResults, line: Line, place: int) -> Cell | str:
    """A figure of the queries, or why there is none."""
    value = line.values[place]
    why = why_missing(found, line, place) if value is None else ""
    return tr(why) if why else Cell(units.metric(line.metric, value), value)


def interruptions(latest: Execution) -> Section:
    """Where it ended on its way."""
    head = (tr("Time (UTC)"), tr("Step"), tr("Reason"), tr("Continued"))
    rows = tuple(_breaks(latest))
    blocks: list[Block] = [Table("breaks", head, rows, (0, 1, 1.6, 0))] if rows else []
    if latest.schedule.failed_tries:
        blocks.append(_failed_tries(latest.schedule))
    return Section(tr("Interruptions and failures"), tuple(blocks))


def _failed_tries(schedule: Schedule) -> Section:
    """After which failures it has waited and gone on by itself; equal ones in a row are one line."""
    times = [(each.first_at or each.at, each.at) for each in schedule.failed_tries]
    days = len({at.date() for both in times for at in both}) > 1
    rows = tuple(
        (_clock(first, days), _clock(last, days), units.count(each.repeated + 1), recorded(each.why))
        for (first, last), each in zip(times, schedule.failed_tries, strict=True)
    )
    head = (tr("First (UTC)"), tr("Last (UTC)"), tr("Failures"), tr("Reason"))
    blocks: list[Block] = [Table("failed-tries", head, rows, (0, 0, 0, 1), frozenset({2}))]
    if schedule.left_out_tries:
        said = counted(
            schedule.left_out_tries,
            "{number} failure between these was counted but not kept.",
            "{number} failures between these were counted but not kept.",
        )
        blocks.append(Text(said, small=True))
    return Section(tr("Failures after which pghaul tried again by itself"), tuple(blocks))


def people(latest: Execution) -> Section:
    """Who confirmed what, and when."""
    steps = {step.number: step for step in latest.plan.steps}
    confirmed: list[tuple[StepRun, datetime, str]] = []
    for run in latest.steps:
        step = steps.get(run.number)
        if step is None or run.back:
            continue
        # of other steps, a message says why pghaul has left them out
        accepted = step.verification.only_checks and run.exit_status == 0 and run.message
        if not (step.by_person or accepted):
            continue
        said = recorded(run.message) or (tr("confirmed") if run.done else tr("not confirmed"))
        confirmed.append((run, run.ended_at or run.started_at, said))
    words = time_words(when for _, when, _ in confirmed)
    rows = [(str(run.number), recorded(run.title), latest.owner, words(when), said) for run, when, said in confirmed]
    head = (tr("No."), tr("Step"), tr("Person"), tr("Time"), tr("Confirmation"))
    table = Table("confirmations", head, tuple(rows), (0, 1.4, 1, 0, 1), frozenset({0}))
    return Section(tr("Confirmations"), (table,) if rows else ())


def steps(latest: Execution) -> Section:
    """Every step, planned against real: on one time axis, and as a table."""
    drawing = gantt((*_bars(latest), *_rollback_bars(latest)))
    blocks: list[Block] = [] if drawing is None else [drawing]
    blocks.append(_steps_table("steps", _grouped(latest), latest, back=False))
    if any(run.void for run in latest.steps):
        said = tr("void: the step was done, but a later event made it invalid.")
        blocks.append(Text(said, small=True))
    way_back = [run for run in latest.steps if run.back]
    if way_back:
        table = _steps_table("way-back", [(stage_heading(Phase.ROLLBACK), way_back)], latest, back=True)
        blocks.append(Section(tr("Rollback"), (table,)))
    return Section(tr("All steps, planned and measured"), tuple(blocks))


def phases_chart(latest: Execution) -> tuple[Block, ...]:
    """The plot of page one: the parts of the night, planned and real."""
    drawing = gantt(_phase_bars(latest), "phases")
    return () if drawing is None else (drawing,)


def earlier(found: Sequence[Execution]) -> Section:
    """A line for each execution before the latest."""
    head = (tr("Type"), tr("Start"), tr("Duration"), tr("Downtime"), tr("Result"))
    rows = tuple(_earlier(one) for one in found)
    table = Table("earlier", head, rows, (0.8, 1.2, 0, 0, 1.2), frozenset({2, 3}))
    return Section(tr("Earlier executions"), (table,) if rows else ())


def _bars(latest: Execution) -> tuple[Bar, ...]:
    """Each step that was tried: as planned, one after the other from the first start, and as it was."""
    planned: dict[int, tuple[float, float]] = {}
    at = 0.0
    for step in latest.steps_taken:
        seconds = step.expected_seconds or 0.0
        planned[step.number] = (at, at + seconds)
        at += seconds
    bars = []
    down = latest.plan.downtime_steps
    for step in latest.steps_taken:
        runs = [run for run in latest.steps if run.number == step.number and not run.back]
        real = _covered(latest, runs)
        point = (real or planned[step.number])[0] if step.point_of_no_return else None
        title = f"{step.number}. {recorded(step.title)}"
        bars.append(Bar(title, planned[step.number], real, step in down, point))
    return tuple(bars)


def _rollback_bars(latest: Execution) -> list[Bar]:
    """Each step of the rollback as it was. No plan says when it would begin, or how long it takes."""
    runs: dict[int, list[StepRun]] = {}
    for run in latest.steps:
        if run.back:
            runs.setdefault(run.number, []).append(run)
    return [
        Bar(f"{number}. {recorded(of[0].title)}", None, _covered(latest, of), any(_is_down(latest, run) for run in of))
        for number, of in runs.items()
    ]


def _is_down(latest: Execution, run: StepRun) -> bool:
    """Return whether clients had no cluster when a step of the rollback began."""
    down = downtime(latest, run.started_at)
    return down is not None and (down.ended_at is None or run.started_at < down.ended_at)


def _covered(latest: Execution, runs: Sequence[StepRun]) -> tuple[float, float] | None:
    """From the first start to the last end, in seconds since the execution began."""
    ends = [run.ended_at or run.started_at for run in runs]
    if not ends:
        return None
    first, last = (
        units.seconds_between(latest.started_at, at) or 0.0 for at in (min(run.started_at for run in runs), max(ends))
    )
    return first, max(first, last)


def _phase_bars(latest: Execution) -> tuple[Bar, ...]:
    bars: dict[str, Bar] = {}
    for step, bar in zip(latest.steps_taken, _bars(latest), strict=True):
        name = stage_name(step.phase.value)
        known = bars.get(name)
        joined = known or Bar(name, None)
        bars[name] = Bar(
            name,
            _joined(joined.planned, bar.planned),
            _joined(joined.real, bar.real),
            joined.down or bar.down,
            bar.point if joined.point is None else joined.point,
        )
    back = [run for run in latest.steps if run.back]
    if back:
        name = stage_name(Phase.ROLLBACK)
        bars[name] = Bar(name, None, _covered(latest, back), any(_is_down(latest, run) for run in back))
    return tuple(bars.values())


def _joined(one: tuple[float, float] | None, other: tuple[float, float] | None) -> tuple[float, float] | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def sentence(report: Report, latest: Execution) -> tuple[Tone, str]:
    """A tone and one plain sentence."""
    if latest.kind is Kind.REHEARSAL:
        return _of_rehearsal(report, latest)
    down = downtime(latest, report.made_at)
    old, new = report.old.name, report.new.name
    if latest.state is State.DONE:
        after = _without(down) or tr("{old} had already been stopped before.").format(old=old)
        said = tr("The cluster was moved to {new} and has served clients there since {at}. {after}{proof}")
        proof = tr(" Both sides were proven to be equal.") if proven(latest) else ""
        return Tone.GOOD, said.format(new=new, at=_served(latest), after=after, proof=proof)
    if latest.state is State.ROLLED_BACK:
        if down is None:
            said = tr("The move was rolled back before {old} was stopped. {old} still serves clients.")
            return Tone.MIXED, said.format(old=old)
        said = tr("The move was rolled back. {old} has served clients again since {at}. {after}")
        return Tone.MIXED, said.format(old=old, at=_at(down.ended_at), after=_without(down))
    if latest.state is State.RUNNING:
        return Tone.PLAIN, tr("The move was running when this report was created: {at}.").format(at=_reached(latest))
    return _of_broken(latest, old, new, down)


def _of_broken(latest: Execution, old: str, new: str, down: Downtime | None) -> tuple[Tone, str]:
    words = {"how": tr(_broken(latest)), "old": old, "new": new}
    if account(latest).opened_at is not None:
        said = tr("The move was {how} after the cutover. {new} has served clients since {at}. {after}")
        return Tone.MIXED, said.format(**words, at=_served(latest), after=_without(down)).rstrip()
    if latest.past_return:
        said = tr("The move was {how} during the cutover. Check whether the cluster on {new} is running.")
        return Tone.BAD, said.format(**words)
    if old_cluster_may_be_stopped(latest):
        since = tr(" since {at}").format(at=instant(down.began_at)) if down is not None else ""
        said = tr(
            "The move was {how}. {old} has been stopped{since}, and there was no cutover to {new}. Continue "
            "the move, or roll it back to {old}."
        )
        return Tone.BAD, said.format(**words, since=since)
    return Tone.MIXED, tr("The move was {how} before {old} was stopped. {old} still serves clients.").format(**words)


def _of_rehearsal(report: Report, latest: Execution) -> tuple[Tone, str]:
    old = report.old.name
    if latest.state is not State.DONE:
        running = latest.state is State.RUNNING
        stood = tr("running ({at})").format(at=_reached(latest)) if running else tr(_broken(latest))
        said = tr("The copy rehearsal was {how}. Nothing was stopped, and {old} still serves clients.")
        if latest.dressed:
            said = tr("The dress rehearsal was {how}. Nothing was stopped, and {old} still serves clients.")
        return Tone.MIXED, said.format(how=stood, old=old)
    found = account(latest)
    rate = tr(" at {rate}").format(rate=units.rate(found.copy_rate)) if found.copy_rate is not None else ""
    copied = tr("copied {size}{rate}").format(size=units.size(found.sent), rate=rate)
    done = copied if found.sent else tr("found nothing to copy")
    night = _night(report, latest)
    cost = (
        tr(" At its rates, the downtime of the move is {time}.").format(time=about(night.downtime_seconds.likely))
        if night
        else ""
    )
    said = tr("The copy rehearsal {done} and stopped nothing. {old} still serves clients.")
    if latest.dressed:
        said = tr(
            "The dress rehearsal {done} and started the copy on {new}. Nothing was stopped, and {old} "
            "still serves clients."
        )
    return Tone.GOOD, said.format(done=done, old=old, new=report.new.name) + cost


def _night(report: Report, latest: Execution) -> Method | None:
    """What the move will take by the rates of a rehearsal; None where the estimate does not know them yet."""
    made: Estimate | None = report.estimate
    if made is None or made.made_at is None or latest.ended_at is None or made.made_at < latest.ended_at:
        return None
    return made.method("warm-copy" if any(step.precopy_pass for step in latest.plan.steps) else "cold-copy")


def _broken(latest: Execution) -> str:
    return marked("stopped by a failed step") if latest.state is State.STOPPED else _ENDED[latest.state]


def _reached(latest: Execution) -> str:
    """`step 11 of 39, warm pass 1 of 2`."""
    runs = [run for run in latest.steps if not run.back]
    of = counted(len(latest.plan.steps), "{number} step", "{number} steps")
    if not runs:
        return tr("none of {steps} has started").format(steps=of)
    return tr("step {number} of {all}, {title}").format(
        number=runs[-1].number, all=len(latest.plan.steps), title=recorded(runs[-1].title)
    )


def _served(latest: Execution) -> str:
    found = account(latest)
    return _at(found.reached_at or found.opened_at)


def _at(at: datetime | None) -> str:
    return units.ABSENT if at is None else instant(at)


def _without(down: Downtime | None) -> str:
    return "" if down is None else tr("The downtime was {time}.").format(time=units.duration(down.seconds))


def _facts(report: Report, latest: Execution) -> list[tuple[str, str]]:
    seconds = units.seconds_between(latest.started_at, latest.ended_at)
    took = "" if seconds is None else tr(", {time} in total").format(time=units.duration(seconds))
    by = tr("{what}, by {person}").format(what=capital(tr(latest.name)), person=latest.owner)
    rows = [
        (tr("Type and operator"), by),
        (tr("Start"), instant(latest.started_at)),
        (tr("End"), f"{_at(latest.ended_at)}{took}"),
        (tr("State"), tr(_ENDED[latest.state]) + (f": {recorded(latest.message)}" if latest.message else "")),
        (tr("Downtime"), without_cluster(report, latest)),
        (tr("Transport"), compared(latest.plan.transport)),
        (tr("Rollback"), tr(_rollback_result(latest))),
    ]
    if latest.kind is Kind.REHEARSAL:
        rows.append((tr("Estimate of the move"), _cost(report, latest)))
    return rows


def without_cluster(report: Report, latest: Execution) -> str:
    """How long clients waited, from when until when, and for what."""
    if latest.kind is Kind.REHEARSAL:
        return tr("none: a rehearsal stops nothing")
    down = downtime(latest, report.made_at)
    if down is None:
        said = (
            tr("none: this execution did not stop {old}")
            if old_cluster_may_be_stopped(latest)
            else tr("none: {old} was not stopped")
        )
        return said.format(old=report.old.name)
    began, time = second(down.began_at), units.duration(down.seconds)
    if down.ended_at is None:
        said = tr("{time} so far, since {began}").format(time=time, began=began)
    else:
        said = tr("{time}, from {began} to {ended}").format(time=time, began=began, ended=second(down.ended_at))
    parts = tr("The commands took {time}").format(time=units.duration(down.command_seconds))
    if down.expected_seconds is not None and down.ended_at is not None:
        parts += tr(" ({time} expected)").format(time=about(down.expected_seconds))
    parts += tr(", manual steps {time}").format(time=units.duration(down.people_seconds))
    if down.idle_seconds >= NOTEWORTHY_SECONDS:
        parts += tr(", idle time {time}").format(time=units.duration(down.idle_seconds))
    elif down.ended_at is not None:
        parts += tr(", between the steps {time}").format(time=units.measured(down.idle_seconds))
    return f"{said}. {parts}."


def _cost(report: Report, latest: Execution) -> str:
    night = _night(report, latest)
    if night is None:
        said = tr("There is no estimate with the rates of this rehearsal yet.")
        return missing(said, report.move, "estimate", "Estimate")
    said = tr("Downtime {down}, total time {whole}, at the rates of this rehearsal. Manual steps are not included.")
    return said.format(down=span(night.downtime_seconds), whole=span(night.duration_seconds))


def _rollback_result(latest: Execution) -> str:
    if latest.kind is Kind.REHEARSAL or (
        latest.state is not State.ROLLED_BACK and not old_cluster_may_be_stopped(latest)
    ):
        return marked("not needed: nothing was stopped")
    if latest.state is State.ROLLED_BACK:
        return marked("done")
    if any(run.back for run in latest.steps):
        return marked("started, but not finished")
    if latest.past_return:
        return marked("not done; after the cutover it would lose what clients have written to the new cluster")
    return marked("not done, but still possible")


def _passes_table(rows: Sequence[Row]) -> Table:
    """With a column for remarks where there is one."""
    head = (tr("Pass"), tr("Start (UTC)"), tr("Duration"), tr("Sent"), tr("Rate"), "")
    columns = len(head) if any(row[-1] for row in rows) else len(head) - 1
    cut = tuple(row[:columns] for row in rows)
    return Table("passes", head[:columns], cut, (1.5, 0, 0, 0, 0, 1)[:columns], frozenset({2, 3, 4}))


def _passes(latest: Execution, days: bool) -> list[Row]:
    rows: list[Row] = []
    for made in passes(latest):
        began = (f"{pass_title(made.name)}{_again(made.attempt)}", _clock(made.started_at, days))
        if made.left_out:
            rows.append((*began, "", "", "", tr("skipped: {why}").format(why=recorded(made.left_out))))
            continue
        rate = Cell(units.rate(made.bytes_per_second), made.bytes_per_second)
        sent = Cell(units.size(made.bytes), made.bytes)
        rows.append((*began, Cell(units.duration(made.seconds), made.seconds), sent, rate, ""))
    return rows


_PASSES = {
    step_ids.FINAL_SYNC_CHANGED: marked("Final sync, changed files"),
    step_ids.FINAL_SYNC_REST: marked("Final sync, new and deleted files"),
    step_ids.COPY: marked("Copy of the stopped cluster"),
}


def pass_title(name: PassName) -> str:
    """Return the title of a pass."""
    if name.number:
        return tr("Pre-copy pass {number} of {all}").format(number=name.number, all=name.all)
    return tr(_PASSES.get(name.part, name.phase.heading))


def _agreements(latest: Execution) -> list[Row]:
    """Of a rehearsal only what it came to: the rest was not in question."""
    found = [each for each in agreements(latest) if each.agreed is not None or latest.kind is Kind.REAL]
    return [
        (f"{recorded(each.other.title)}; {recorded(each.step.title)}", _compared(each), _comparison_result(each))
        for each in found
    ]


def _compared(each: Agreement) -> str:
    if each.other.id != step_ids.TAKE_INVENTORY or not each.agreed:
        return recorded(each.other.reason if each.other.id == step_ids.CHECKSUMS_OLD else each.step.reason)
    databases = re.findall(r"(?m)^database ", each.output)
    relations = sum(map(int, re.findall(r"(?m)^relations \S+ (\d{1,12})$", each.output)))
    settings, invalid = (re.findall(rf"(?m)^{word} ", each.output) for word in ("setting", "invalid index"))
    counts = (
        counted(len(databases), "{number} database", "{number} databases"),
        counted(relations, "{number} relation", "{number} relations"),
        counted(len(settings), "{number} setting", "{number} settings"),
        counted(len(invalid), "{number} invalid index", "{number} invalid indexes"),
    )
    return listed(counts, most=len(counts))


def _comparison_result(each: Agreement) -> Cell:
    if each.agreed is None:
        return Cell(tr("not compared"), tone=Tone.MIXED)
    if each.agreed:
        return Cell(tr("equal") if each.step.verification.equals else tr("nothing is missing"), tone=Tone.GOOD)
    return Cell(tr("different: {why}").format(why=recorded(each.message)), tone=Tone.BAD)


def _breaks(latest: Execution) -> list[tuple[str, ...]]:
    days = _days(latest)
    return [
        (
            _clock(each.at, days),
            recorded(each.title),
            recorded(each.why),
            _clock(each.resumed_at, days) if each.resumed_at else tr("not yet"),
        )
        for each in breaks(latest)
    ]


def _grouped(latest: Execution) -> list[tuple[str, list[StepRun]]]:
    """The tries at the plan's steps in the order of time, under their stages; a stage comes again after a resume."""
    of = stages(latest)
    found: list[tuple[str, list[StepRun]]] = []
    for run in latest.steps:
        if run.back:
            continue
        stage = of.get(run.number, "")
        if not found or found[-1][0] != stage:
            found.append((stage, []))
        found[-1][1].append(run)
    return found


def _steps_table(name: str, groups: Sequence[tuple[str, list[StepRun]]], latest: Execution, *, back: bool) -> Table:
    of = {step.number: step for step in (latest.plan.way_back if back else latest.plan.steps)}
    days = _days(latest)
    head = (
        tr("No."),
        tr("Step"),
        tr("Server"),
        tr("Start (UTC)"),
        tr("Duration"),
        tr("Expected"),
        tr("Sent"),
        tr("Exit code"),
    )
    rows: list[Row] = []
    for stage, runs in groups:
        if stage:
            rows.append((f"{tr(stage)}, {_elapsed(runs)}",))
        rows += [_step(run, of.get(run.number), days) for run in runs]
    dense = len(rows) > MANY_STEPS
    return Table(name, head, tuple(rows), (0, 1, 0, 0, 0, 0, 0, 0), frozenset({0, 4, 5, 6, 7}), dense=dense)


def _elapsed(runs: Sequence[StepRun]) -> str:
    ends = [run.ended_at for run in runs if run.ended_at is not None]
    if not ends:
        return tr("not ended")
    return units.duration(units.seconds_between(min(run.started_at for run in runs), max(ends)))


def _step(run: StepRun, step: Step | None, days: bool) -> Row:
    left_out = tr(", skipped: {why}").format(why=recorded(run.message)) if run.done and run.message else ""
    planned = step.expected_seconds if step is not None and run.attempt == 1 else None
    took = units.seconds_between(run.started_at, run.ended_at)
    return (
        str(run.number),
        f"{recorded(run.title)}{_again(run.attempt)}{left_out}",
        "" if step is None else side_name(step.side or OPERATOR),
        _clock(run.started_at, days),
        "" if run.ended_at is None else Cell(units.duration(took), took),
        "" if planned is None else Cell(expected(planned), planned),
        "" if run.bytes is None else Cell(units.size(run.bytes), run.bytes),
        _exit(run),
    )


def _again(attempt: int) -> str:
    return tr(" (attempt {number})").format(number=attempt) if attempt > 1 else ""


def _exit(run: StepRun) -> str:
    if run.exit_status is None:
        return tr("not known")
    if run.exit_status == CANCELLED_STEP:
        return tr("cancelled")
    return f"{run.exit_status}, {tr('void')}" if run.void else str(run.exit_status)


def _earlier(one: Execution) -> Row:
    down = downtime(one, one.ended_at or one.started_at)
    took = "" if one.ended_at is None else units.duration(units.seconds_between(one.started_at, one.ended_at))
    rate = account(one).copy_rate
    copied = tr(", copied at {rate}").format(rate=units.rate(rate)) if rate is not None else ""
    without = units.ABSENT if down is None else Cell(units.duration(down.seconds), down.seconds)
    return capital(tr(one.name)), instant(one.started_at), took, without, tr(_ENDED[one.state]) + copied


def _days(latest: Execution) -> bool:
    """Whether it went over midnight, or over more."""
    return len({run.started_at.date() for run in latest.steps} | {latest.started_at.date()}) > 1


def _clock(at: datetime, days: bool) -> str:
    return f"{day_of_month(at)} {at:%H:%M:%S}" if days else f"{at:%H:%M:%S}"
