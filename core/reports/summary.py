"""The answers on a move for whoever decides: its storage, whether it can be moved, how long that takes, and if asked
whether it fits into a window or a downtime."""

from core import units
from core.comparison.model import Comparison, Row, Verdict
from core.language import marked, tr
from core.migration.estimate.night import SURE
from core.migration.execution.timeline import account, downtime
from core.migration.model import step_ids
from core.migration.model.asked import NOTHING
from core.migration.model.plan import Plan
from core.reports.model import Answer, Tone
from core.reports.parts.durations import fit_words, likelihood, planned_fit, planned_method, window_words
from core.reports.parts.storage_tables import headlines
from core.reports.report import Report
from core.reports.words import about, counted, instant, listed, method, missing, reach, span
from core.text import capital


def answers(report: Report) -> tuple[Answer, ...]:
    """One on storage, one on the checks, one on the time."""
    return _storage(report), _movable(report), _time(report)


def fits(report: Report) -> tuple[Answer, ...]:
    """Whether the planned method fits into the window and the downtime; empty if nobody has asked, or it is over."""
    fit, asked = planned_fit(report), NOTHING if report.estimate is None else report.estimate.asked
    if fit is None or report.moved_by is not None:
        return ()
    limits = [] if asked.window is None else [window_words(asked.window)]
    if asked.downtime_seconds is not None:
        limits.append(tr("at most {time}").format(time=about(asked.downtime_seconds)))
    line = tr("{limits}: likelihood {part}").format(limits=", ".join(limits), part=likelihood(fit.likelihood))
    details = fit_words(fit, asked, report.old.name)
    tone, words = next((tone, words) for least, tone, words in _LIKELY if fit.likelihood >= least)
    question = tr("Is the downtime short enough?") if asked.window is None else tr("Does the move fit into the window?")
    return (_answer(question, tone, tr(words), *details, figure=tr(words), line=line),)


_LIKELY = (
    (SURE, Tone.GOOD, marked("Yes")),
    (0.5, Tone.MIXED, marked("Probably")),
    (0.1, Tone.BAD, marked("Probably not")),
    (0.0, Tone.BAD, marked("No")),
)
"""From which likelihood on, its tone, and the answer."""


def _answer(question: str, tone: Tone, words: str, *details: str, figure: str = units.ABSENT, line: str = "") -> Answer:
    return Answer(question, words, tuple(detail for detail in details if detail), tone, figure, line or words)


def _storage(report: Report) -> Answer:
    if not _comparable(headlines(report.comparison)):
        hint = missing(tr("No workload was measured on both servers."), report.move, "bench", "Benchmarks")
        return _answer(tr("Is the new storage faster?"), Tone.MUTED, tr("Not known"), hint, line=hint)
    return faster(tr("Is the new storage faster?"), report.comparison)


def _comparable(rows: tuple[Row, ...]) -> list[Row]:
    return [row for row in rows if row.verdict not in {Verdict.ONE_SIDED, Verdict.UNLIKE}]


def faster(question: str, compared: Comparison | None) -> Answer:
    """How the second set stands to the first."""
    found = headlines(compared)
    rows = _comparable(found)
    ahead = [row for row in rows if row.verdict is Verdict.NEW]
    slower = [row for row in rows if row.verdict is Verdict.OLD]
    if not rows:
        return _answer(
            question, Tone.MUTED, tr("Not known"), tr("No workload was measured in both sets."), _unlike(found)
        )
    number = counted(len(rows), "{number} workload", "{number} workloads")
    if len(ahead) == len(rows):
        tone, words = Tone.GOOD, tr("Yes, in all {workloads}").format(workloads=number) if len(rows) > 1 else tr("Yes")
    elif ahead:
        tone = Tone.MIXED if slower else Tone.GOOD
        words = tr("In {number} of {workloads}").format(number=len(ahead), workloads=number)
    else:
        tone, words = (Tone.BAD, tr("No")) if slower else (Tone.MIXED, tr("No difference"))
    details = (_ratios(rows), _slower(slower), _even(rows), _unlike(found), _slowest(compared))
    return _answer(question, tone, words, *details, figure=_range(rows))


def _range(rows: list[Row]) -> str:
    """The lowest and the highest ratio, as `2.08 – 3.33 ×`."""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    if not ratios:
        return units.ABSENT
    least, most = units.ratio(min(ratios)), units.ratio(max(ratios))
    return most if least == most else f"{least.removesuffix(' ×')} – {most}"


def _ratios(rows: list[Row]) -> str:
    ratios = sorted((row.ratio, tr(row.workload.title)) for row in rows if row.ratio is not None)
    if not ratios:
        return ""
    (least, low), (most, high) = ratios[0], ratios[-1]
    if len(ratios) == 1:
        return tr("{ratio} in {workload}.").format(ratio=units.ratio(most), workload=high)
    said = tr("From {least} ({low}) to {most} ({high}).")
    return said.format(least=units.ratio(least), low=low, most=units.ratio(most), high=high)


_P99 = "_latency_p99_seconds"
_HARDLY = 1.2
"""Ratios of p99 latencies nearer to 1 than this make no difference that users notice."""


def _slowest(compared: Comparison | None) -> str:
    """The ratios of p99 latencies: a storage may be faster on average, and its slowest requests as slow as before."""
    if compared is None:
        return ""
    rows = _comparable(compared.rows)
    ratios = [row.ratio for row in rows if row.metric.endswith(_P99) and row.ratio is not None]
    if not ratios:
        return ""
    least, most = (units.count(each) for each in (min(ratios), max(ratios)))
    if min(ratios) > 1 / _HARDLY and max(ratios) < _HARDLY:
        said = tr(
            "The slowest 1 % of the requests take about as long on both: {least} to {most} times as fast (p99 latency)."
        )
        return said.format(least=least, most=most)
    if least == most:
        said = tr("The slowest 1 % of the requests (p99 latency) are {times} times as fast on {new} as on {old}.")
        return said.format(times=least, old=compared.names[0], new=compared.names[1])
    said = tr("The slowest 1 % of the requests (p99 latency) are {least} to {most} times as fast on {new} as on {old}.")
    return said.format(least=least, most=most, old=compared.names[0], new=compared.names[1])


def _slower(rows: list[Row]) -> str:
    said = tr("Slower in {workloads}.")
    return said.format(workloads=listed(tr(row.workload.title) for row in rows)) if rows else ""


def _even(rows: list[Row]) -> str:
    even = [row for row in rows if row.verdict is Verdict.NONE]
    said = tr("No difference beyond noise in {workloads}.")
    return said.format(workloads=listed(tr(row.workload.title) for row in even)) if even else ""


def _unlike(found: tuple[Row, ...]) -> str:
    rows = [row for row in found if row.verdict is Verdict.UNLIKE]
    said = tr("Not compared, because cached on one side only: {workloads}.")
    return said.format(workloads=listed(tr(row.workload.title) for row in rows)) if rows else ""


def _movable(report: Report) -> Answer:
    moved = report.moved_by
    if moved is not None:
        when = "" if moved.ended_at is None else f"{instant(moved.ended_at)}."
        yes = tr("Yes, to {server}").format(server=report.move.new)
        line = tr("to {server}, {when}").format(server=report.move.new, when=when.rstrip(".") or units.ABSENT)
        return _answer(tr("Was the cluster moved?"), Tone.GOOD, yes, when, figure=tr("Yes"), line=line)
    question = tr("Can the cluster be moved?")
    if not report.checks:
        hint = missing(tr("Nothing was checked yet."), report.move, "check", "Checks")
        return _answer(question, Tone.MUTED, tr("Not known"), hint, line=hint)
    found = report.tally
    without = found.unanswered + found.unknown
    to_run = counted(found.pending, "{number} check to run first", "{number} checks to run first")
    rest = [counted(found.warnings, "{number} warning", "{number} warnings")] if found.warnings else []
    rest += [tr("{number} waived").format(number=found.waived)] if found.waived else []
    rest += [counted(without, "{number} without a result", "{number} without a result")] if without else []
    rest += [to_run] if found.pending else []
    passed = tr("{passed} of {all} checks passed").format(passed=found.passed, all=len(report.checks))
    others = f"{passed}; {listed(rest, len(rest))}." if rest else f"{passed}."
    if not found.stopping:
        line = listed([tr("no blockers"), *rest])
        if found.pending:
            said = tr(
                "The checks to run first need a temporary cluster on the new server, which only the checks of the move "
                "create."
            )
            hint, words = missing(said, report.move, "check", "Checks"), tr("Possible: {checks}").format(checks=to_run)
            return _answer(question, Tone.MIXED, words, others, hint, figure=tr("Possible"), line=line)
        return _answer(question, Tone.GOOD, tr("Yes, no blockers"), others, figure=tr("Yes"), line=line)
    blockers, unknown = found.blockers, found.unanswered
    parts = [counted(blockers, "{number} blocker", "{number} blockers")] if blockers else []
    parts += [tr("{number} unknown").format(number=unknown)] if unknown else []
    why = tr("What is unknown could block, so it counts as a blocker.") if unknown else ""
    words = tr("Not yet: {reasons}").format(reasons=listed(parts))
    return _answer(question, Tone.BAD, words, others, why, figure=tr("Not yet"), line=listed(parts))


def _time(report: Report) -> Answer:
    took = _measured_downtime(report)
    question = tr("How long is the downtime?") if took is None else tr("How long was the downtime?")
    found = report.estimate.methods if report.estimate is not None else ()
    methods = {each.method: each for each in found if not each.ruled_out}
    first = planned_method(report)
    if first is None:
        hint = missing(tr("Nothing was estimated yet."), report.move, "estimate", "Estimate")
        return _answer(question, Tone.MUTED, tr("Not known"), hint, line=hint)
    dump = methods.get("dump-restore")
    if took is not None:
        words = tr("The downtime was {time}").format(time=units.duration(took))
        manual = tr(
            "It does not include the time before it in which the applications were stopped, nor the time after it in "
            "which they were repointed."
        )
        said = tr("For comparison, the downtime of dump & restore was estimated at {span}.")
        against = "" if dump is None or dump is first else said.format(span=span(dump.downtime_seconds))
        down = downtime(report.executions[0], report.made_at)
        planned = None if down is None else down.expected_seconds
        line = "" if planned is None else tr("The plan expected {time}.").format(time=about(planned))
        figure = units.duration(took)
        return _answer(question, Tone.GOOD, words, _expected(report), manual, against, figure=figure, line=line)
    manual = tr("The time for these manual steps, and for the decision on the cutover, is not estimated.")
    manual = f"{_cut_off(report.plan)} {manual}"
    low_high = tr("{low_to_high} with a probability of 80 %. The method of the move: {method}.").format(
        low_to_high=capital(reach(first.downtime_seconds)), method=method(first.method)
    )
    likely = about(first.downtime_seconds.likely)
    line = capital(reach(first.downtime_seconds))
    return _answer(question, Tone.PLAIN, likely, low_high, manual, figure=likely, line=line)


def _cut_off(plan: Plan | None) -> str:
    """From which step of the plan to which users have no database."""
    by_id = {} if plan is None else {step.id: step.number for step in plan.steps}
    first, last = by_id.get(step_ids.STOP_APPLICATIONS), by_id.get(step_ids.REPOINT_APPLICATIONS)
    if first is None or last is None:
        return tr("Users cannot work for longer: from the stop of the applications until they are repointed.")
    return tr(
        "Users cannot work for longer: from the stop of the applications (step {first}) until they are repointed (step "
        "{last})."
    ).format(first=first, last=last)


_NOTEWORTHY = 0.1
"""Seconds of manual steps: what is less is no step that a person took."""


def _expected(report: Report) -> str:
    """What the executed plan said."""
    down = downtime(report.executions[0], report.made_at)
    if down is None:
        return ""
    by_hand = down.people_seconds >= _NOTEWORTHY
    said = (
        tr("The commands took {commands} of it, manual steps {people}, and {idle} passed while no step ran.")
        if by_hand
        else tr("The commands took {commands} of it, and {idle} passed while no step ran.")
    ).format(
        commands=units.duration(down.command_seconds),
        people=units.duration(down.people_seconds),
        idle=units.duration(down.idle_seconds if by_hand else down.seconds - down.command_seconds),
    )
    if down.expected_seconds is None:
        return said
    return f"{said} " + tr("The plan expected {time} for the commands.").format(time=about(down.expected_seconds))


def _measured_downtime(report: Report) -> float | None:
    """The time without the cluster, once it was moved."""
    moved = report.moved_by
    return None if moved is None else account(moved).downtime_seconds
