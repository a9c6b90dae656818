"""The record of an execution: what was planned against what was, who confirmed what, what is left to do."""

from core import units
from core.language import current, tr
from core.migration.execution.outcome import PassName, agreements, breaks, made_again, open_follow_up_tasks
from core.migration.execution.timeline import downtime
from core.migration.model.execution import Execution, State
from core.reports.model import Answer, Block, Document, Item, Items, Section, Text, Tone
from core.reports.options import Options
from core.reports.parts.durations import assumed_about_others, durations
from core.reports.parts.execution_account import (
    earlier,
    interruptions,
    pass_title,
    people,
    phases_chart,
    queries,
    record,
    sentence,
    steps,
    verification,
    without_cluster,
)
from core.reports.parts.method import method
from core.reports.parts.plan_table import commands
from core.reports.parts.server_tables import servers
from core.reports.recorded import recorded
from core.reports.report import Report
from core.reports.words import about, counted, instant, listed
from core.text import capital

_FIRST_TODO = 2
"""So much of what is left to do has room on page one."""


def execution_report(report: Report, options: Options) -> Document:
    """The latest execution whole, earlier ones a line each."""
    latest = next(iter(report.executions), None)
    return Document(
        kind="execution",
        title=report.move.name,
        subtitle=tr("from {old} to {new}").format(old=report.old.name, new=report.new.name),
        label=tr("Execution report"),
        language=current(),
        made_at=report.made_at,
        program=f"pghaul {report.program_version}",
        answers=_nothing() if latest is None else _answers(report, latest),
        charts=() if latest is None else _charts(latest),
        sections=tuple(section for section in _sections(report, latest, options) if section),
    )


def _nothing() -> tuple[Answer, ...]:
    return (Answer(tr("What is the result?"), tr("The move has not been executed yet"), (), Tone.MUTED),)


def _answers(report: Report, latest: Execution) -> tuple[Answer, ...]:
    tone, said = sentence(report, latest)
    return (
        Answer(tr("What is the result?"), said, (), tone),
        _down(report, latest),
        _proof(latest),
        _way(latest),
        _left(latest),
    )


def _down(report: Report, latest: Execution) -> Answer:
    down = downtime(latest, report.made_at)
    over = down is not None and down.ended_at is not None
    question = tr("How long was the downtime?") if over else tr("How long is the downtime?")
    if down is None:
        return Answer(question, capital(without_cluster(report, latest)))
    late = down.expected_seconds is not None and down.command_seconds > 1.25 * down.expected_seconds
    words = units.duration(down.seconds)
    if down.expected_seconds is not None:
        words = tr("{time}; the plan expected {expected} for the commands").format(
            time=words, expected=about(down.expected_seconds)
        )
    return Answer(question, words, (without_cluster(report, latest),), Tone.MIXED if late else Tone.PLAIN)


def _proof(latest: Execution) -> Answer:
    question = tr("Is the copy complete?")
    found = agreements(latest)
    compared = [each for each in found if each.agreed is not None]
    wrong = [each for each in compared if not each.agreed]
    if wrong:
        why = tuple(f"{recorded(each.step.title)}: {each.message}." for each in wrong[:2])
        return Answer(question, tr("No: there are differences"), why, Tone.BAD)
    if not compared:
        return Answer(question, tr("Not compared"), (), Tone.MUTED)
    words = tr("Yes: {number} of {all} comparisons agree").format(number=len(compared), all=len(found))
    return Answer(question, words, (), Tone.GOOD if len(compared) == len(found) else Tone.MIXED)


def _way(latest: Execution) -> Answer:
    question = tr("Were there interruptions?")
    found = breaks(latest)
    if not found and latest.state is State.DONE:
        return _ended_well(question, latest)
    if not found:
        said = (f"{recorded(latest.message)}.",) if latest.message else ()
        taken_back = latest.state is State.ROLLED_BACK
        words = tr("The move was rolled back") if taken_back else tr("The execution has not ended")
        return Answer(question, words, said, Tone.MIXED)
    last = found[-1]
    words = counted(len(found), "{number} interruption", "{number} interruptions")
    return Answer(question, words, (f"{recorded(last.title)}: {recorded(last.why)}.",), Tone.MIXED)


def _repeated(what: PassName | str) -> str:
    return recorded(what) if isinstance(what, str) else pass_title(what)


def _ended_well(question: str, latest: Execution) -> Answer:
    again = made_again(latest)
    if not again:
        return Answer(question, tr("No: every step succeeded at the first attempt"), (), Tone.GOOD)
    words = tr("No: every step succeeded, and some were repeated")
    return Answer(question, words, (tr("Repeated: {steps}.").format(steps=listed(map(_repeated, again))),), Tone.GOOD)


def _left(latest: Execution) -> Answer:
    question = tr("What remains to be done?")
    todo = to_do(latest)
    if not todo:
        return Answer(question, tr("Nothing"), (), Tone.GOOD)
    more = len(todo) - _FIRST_TODO
    rest = (tr("{number} more in the section Follow-up.").format(number=more),) if more > 0 else ()
    first = tuple(f"{capital(each).rstrip('.')}." for each in todo[:_FIRST_TODO])
    return Answer(question, counted(len(todo), "{number} task", "{number} tasks"), (*first, *rest), Tone.MIXED)


def to_do(latest: Execution) -> tuple[str, ...]:
    """What stays to be done, in sentences: first what is to be done now, then what may go later."""
    if latest.state is State.DONE:
        later = {step.id: step for step in latest.plan.later}
        tasks = sorted(open_follow_up_tasks(latest), key=lambda each: each.id in later)
        return tuple(
            f"{recorded(each.text)}. {recorded(later[each.id].reason)}" if each.id in later else recorded(each.text)
            for each in tasks
        )
    if latest.state is State.ROLLED_BACK:
        return ()
    return (tr("Continue the execution or roll it back. pghaul execute shows how."),)


def _charts(latest: Execution) -> tuple[Section, ...]:
    chart = Section(tr("Plan and execution"), phases_chart(latest))
    return (chart,) if chart else ()


def _sections(report: Report, latest: Execution | None, options: Options) -> tuple[Section, ...]:
    if latest is None:
        said = tr("The move has not been executed yet. The plan is a separate report.")
        return (Section(tr("Execution"), (Text(said, Tone.MUTED),)), servers(report))
    todo: tuple[Block, ...] = (Items(tuple(Item(text) for text in to_do(latest))),) if to_do(latest) else ()
    kept = Item(
        tr("All times and exit codes were recorded during the execution. The execution began on {instant}.").format(
            instant=instant(latest.started_at)
        ),
        title=tr("Record"),
    )
    return (
        record(report, latest),
        interruptions(latest),
        verification(latest),
        queries(latest),
        Section(tr("Follow-up"), todo),
        people(latest),
        steps(latest),
        earlier(report.executions[1:]),
        durations(report),
        servers(report),
        method(kept, masked=options.masked),
        *(commands(latest.plan) if options.functions else ()),
        *((assumed_about_others(report),) if options.raw else ()),
    )
