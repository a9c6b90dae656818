"""The migration plan with go or no-go: for whoever decides whether, when and how a cluster is moved."""

import re
from collections.abc import Sequence
from dataclasses import replace

from core import units
from core.comparison.model import Comparison
from core.language import current, tr
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Help
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.plan import Plan
from core.reports.cutting import before_cut
from core.reports.model import Answer, Block, Cell, Document, Item, Row, Section, Table, Text, Tone
from core.reports.options import Options
from core.reports.parts.durations import assumed_about_others, durations, helping, methods_chart, planned_method, saving
from core.reports.parts.method import method
from core.reports.parts.plan_table import commands, plan
from core.reports.parts.server_tables import servers
from core.reports.parts.storage_tables import (
    all_metrics,
    compared_table,
    diagnoses,
    figures,
    headlines,
    latencies,
    method_and_units,
    ratio_chart,
    raw_values,
    workloads,
)
from core.reports.recorded import compared, is_known, recorded
from core.reports.report import Report
from core.reports.summary import answers, fits
from core.reports.words import about, bottleneck, counted, instant, missing, stage_name
from core.text import capital

# The checks: what stands in the way with its evidence, the worst first; what passed in short rows.

_TONES = {Status.BLOCKER: Tone.BAD, Status.UNKNOWN: Tone.MIXED, Status.WARNING: Tone.MIXED, Status.PASS: Tone.GOOD}
_SIGNS = {Status.BLOCKER: "✕", Status.UNKNOWN: "?", Status.WARNING: "!", Status.PASS: "✓"}
_SHORT, _EVIDENCE = 200, 40
"""The most characters of a result that passed, and of the values that it rests on."""
_TRIAL_START, _MINOR_VERSION = "trial-start", "minor"
_VERSION = re.compile(r"\d+(\.\d+){1,2}")
_BLANKS = re.compile(r"[ \t\r\n]+")
"""No narrow space: that is inside a number."""


def checks(report: Report) -> Section:
    """All of them."""
    title = tr("Checks") if report.moved_by is None else tr("Checks before the move")
    if not report.checks:
        said = missing(tr("Nothing was checked yet."), report.move, "check", "Checks")
        return Section(title, (Text(said, Tone.MUTED),))
    order = list(Status)
    open_ones = sorted(
        (one for one in report.checks if one.status is not Status.PASS), key=lambda one: order.index(one.status)
    )
    passed = [one for one in report.checks if one.status is Status.PASS]
    blocks: list[Block] = []
    if report.checks_taken_at is not None:
        said = tr("Checked on {instant}.").format(instant=instant(report.checks_taken_at)) + " "
        said += (
            tr("Blockers come first, then checks without a result, and then warnings.")
            if report.blockers
            else tr("There are no blockers. Checks without a result come first, and then warnings.")
        )
        found = report.tally
        if found.unanswered or found.unknown:
            said += " " + (
                tr("A check without a result could be a blocker, so the move does not begin.")
                if found.unanswered
                else tr("At worst, a check without a result hides a warning, and no blocker.")
            )
        if found.pending:
            said += " " + tr(
                "The checks to run first need a temporary cluster on the new server, which only the checks of the move "
                "create."
            )
        if not all(is_known(text) for one in open_ones for text in (one.message, one.hint)):
            said += " " + tr("Some findings are shown in English, as they were recorded.")
        blocks.append(Text(said, small=True))
    if open_ones:
        blocks.append(_open(open_ones, report.moved_by))
    if passed:
        blocks.append(Section(tr("Passed"), (_passed(passed),)))
    return Section(title, tuple(blocks))


def _open(found: Sequence[CheckResult], moved: Execution | None) -> Table:
    head = (tr("Status"), tr("Check"), tr("Finding"), tr("Old server"), tr("New server"))
    return Table("checks", head, tuple(_row(one, moved) for one in found), (0, 0.9, 2.4, 0.8, 0.8))


def _row(check: CheckResult, moved: Execution | None) -> Row:
    said = [recorded(check.message)]
    said += [f"→ {recorded(check.hint)}"] if check.hint else []
    if moved is not None and check.id == _TRIAL_START and moved.cutover_at is not None:
        said.append(tr("The move has answered this: at the cutover, the host of the new cluster has started it."))
    if check.waiver is not None:
        waiver = check.waiver
        taken = tr("Waived by {person} on {instant}: {reason}")
        said.append(taken.format(person=waiver.by, instant=instant(waiver.at), reason=waiver.reason))
    word = tr(check.state if check.pending else check.status.value)
    status = Cell(f"{_SIGNS[check.status]} {word}", tone=_TONES[check.status])
    return (
        status,
        tr(check.title),
        Cell("\n".join(said), is_prose=True),
        *(compared(side) or units.ABSENT for side in (check.old, check.new)),
    )


def _passed(found: Sequence[CheckResult]) -> Table:
    rows = tuple(
        (
            tr(one.title),
            _short(recorded(one.message)),
            _short(compared(one.old), _EVIDENCE),
            _short(compared(one.new), _EVIDENCE),
        )
        for one in found
    )
    head = (tr("Check"), tr("Result"), tr("Old server"), tr("New server"))
    return Table("checks-passed", head, rows, (0.9, 1.9, 0.65, 0.65), dense=True)


def _short(text: str, most: int = _SHORT) -> str:
    line = _BLANKS.sub(" ", before_cut(text).strip())
    if len(line) > most:
        start = line[: most - 1]
        line = f"{start.rpartition(' ')[0] or start} …"
    return line or units.ABSENT


_MOST_STOPS, _STOP = 3, 300
"""How many findings page one tells, and the most characters of each: all of them stand under Checks."""


def plan_report(report: Report, options: Options) -> Document:
    """What the history holds of a move before it is carried out."""
    return Document(
        kind="plan",
        title=report.move.name,
        subtitle=_subtitle(report),
        label=tr("Migration plan and go/no-go decision")
        if report.moved_by is None
        else tr("Report on the finished move"),
        language=current(),
        made_at=report.made_at,
        program=f"pghaul {report.program_version}",
        answers=_answers(report),
        charts=_charts(report),
        sections=tuple(section for section in (*_evidence(report, options), *_appendices(report, options)) if section),
    )


def _subtitle(report: Report) -> str:
    """The cluster, as far as it is known, and its way."""
    cluster = report.cluster
    way = tr("from the server {old} to the server {new}").format(old=report.old.name, new=report.new.name)
    if cluster is None or not cluster.size_bytes or not cluster.version:
        return way
    version = next((check.new for check in report.checks or () if check.id == _MINOR_VERSION), "")
    if _VERSION.fullmatch(version) and version != cluster.version:
        way = tr("from the server {old} to the server {new} with version {version}").format(
            old=report.old.name, new=report.new.name, version=version
        )
    return tr("PostgreSQL {version} cluster (all databases), {size}, {way}").format(
        version=cluster.version, size=units.size(cluster.size_bytes), way=way
    )


def _answers(report: Report) -> tuple[Answer, ...]:
    storage, movable, time = answers(report)
    # what would have shortened a move that is over helps nobody
    bound = () if report.moved_by is not None else (_bound(report),)
    # a line, and no answer of its own: page one has room for both charts
    fit = tuple(f"{one.question} {one.words}. {one.line}." for one in fits(report))
    return _go(report, movable), replace(time, details=(*time.details, *fit)), *bound, storage, _waived(report)


def _go(report: Report, movable: Answer) -> Answer:
    """Go where nothing stands in the way and there is a plan."""
    question = tr("Go or no-go?")
    if report.moved_by is not None:  # what checks said before it no longer matters
        return Answer(tr("Was the cluster moved?"), tr("Yes"), movable.details, movable.tone)
    if report.blockers:
        stops = _listed_findings(report.blockers)
        return Answer(question, tr("No-go. {reason}").format(reason=movable.words), stops, Tone.BAD)
    if not report.checks:
        return Answer(question, movable.words, movable.details, Tone.MUTED)
    if report.tally.pending:
        return Answer(question, tr("Not yet"), (f"{movable.words}.", *movable.details), Tone.MIXED)
    if report.plan is None:
        said = tr("No check blocks the move, but there is no plan yet.")
        return Answer(question, tr("Not yet"), (said, *movable.details), Tone.MIXED)
    statuses, *rest = movable.details
    said = tr("No blockers: {statuses}").format(statuses=statuses)
    if report.checks_taken_at is not None:
        said += " " + tr("Checked on {instant}.").format(instant=instant(report.checks_taken_at))
    return Answer(question, tr("Go"), (said, *rest, _rehearsed(report), *_way_back(report.plan)), Tone.GOOD)


def _way_back(plan: Plan) -> tuple[str, ...]:
    """Until when a move can be rolled back; nothing of a plan without a point of no return."""
    point = next((step for step in plan.steps if step.point_of_no_return), None)
    if point is None:
        return ()
    said = tr(
        "The move can be rolled back up to step {before}. Step {number} opens the new cluster to clients: after that, "
        "a return would lose what they have written to it."
    )
    return (said.format(before=point.number - 1, number=point.number),)


def _rehearsed(report: Report) -> str:
    """The latest rehearsal of each kind that was carried out to its end."""
    done = [each for each in report.executions if each.kind is Kind.REHEARSAL and each.state is State.DONE]
    latest = {each.dressed: each for each in reversed(done)}
    copied, dressed = latest.get(False), latest.get(True)
    if copied is None and dressed is None:
        return tr("The move was not rehearsed yet.")
    said = []
    if copied is not None and dressed is None:
        only_copied = tr(
            "The copy was rehearsed on {instant}, but the copied cluster was not started on the new server (no dress "
            "rehearsal)."
        )
        said.append(only_copied.format(instant=instant(copied.started_at)))
    elif copied is not None:
        said.append(tr("The copy was rehearsed on {instant}.").format(instant=instant(copied.started_at)))
    if dressed is not None:
        made = tr(
            "A dress rehearsal, in which the copied cluster was started on the new server, was made on {instant}."
        )
        said.append(made.format(instant=instant(dressed.started_at)))
    return " ".join(said)


def _ended(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def _bound(report: Report) -> Answer:
    question = tr("What is the bottleneck, and what would help?")
    chosen = planned_method(report)
    if chosen is None or not chosen.stages:
        return Answer(question, tr("Not known"), (), Tone.MUTED)
    longest = max(chosen.stages, key=lambda stage: stage.seconds.likely)
    stopped = {step.phase for step in report.plan.downtime_steps} if report.plan is not None else set()
    within = [stage for stage in chosen.stages if stage.name in stopped]
    slowest = max(within, key=lambda stage: stage.seconds.likely, default=None)
    found = helping(report)
    none = tr("By calculation, no faster disk, network or processor would save a second.")
    limits = [(tr("The longest stage of the move: {stage}. Its bottleneck: {bound}."), longest)]
    if slowest is not None and slowest is not longest:
        limits.append((tr("The longest stage of the downtime: {stage}. Its bottleneck: {bound}."), slowest))
    said = [limit.format(stage=stage_name(stage.name), bound=bottleneck(stage.bound_by)) for limit, stage in limits]
    words = capital(bottleneck(longest.bound_by))
    return Answer(question, words, (*said, _would_save(max(found, key=saving)) if found else none))


def _would_save(help_: Help) -> str:
    change, whole = capital(recorded(help_.change)), about(max(0.0, help_.duration_seconds))
    if about(help_.downtime_seconds) == about(0.0) or help_.downtime_seconds < 0:
        return tr("{change} would shorten the whole move by {whole}, but not the downtime.").format(
            change=change, whole=whole
        )
    return tr("{change} would shorten the downtime by {downtime}, and the whole move by {whole}.").format(
        change=change, downtime=about(help_.downtime_seconds), whole=whole
    )


def _waived(report: Report) -> Answer:
    question = (
        tr("Which warnings are there?") if report.moved_by is None else tr("Which warnings were there before the move?")
    )
    warnings = [check for check in report.checks or () if check.status is Status.WARNING]
    waived = [check for check in warnings if check.waiver is not None]
    unknown = [check for check in report.checks or () if check.status is Status.UNKNOWN and not check.pending]
    without = tuple(tr("Without a result: {finding}").format(finding=each) for each in _listed_findings(unknown))
    if not warnings:
        tone = Tone.MIXED if unknown or report.tally.pending else Tone.GOOD if report.checks else Tone.MUTED
        return Answer(question, tr("No warnings"), without, tone)
    number = counted(len(warnings), "{number} warning", "{number} warnings")
    words = tr("{warnings}, {number} of them waived").format(warnings=number, number=len(waived)) if waived else number
    if unknown:
        checks = counted(len(unknown), "{number} check without a result", "{number} checks without a result")
        words = f"{words}; {checks}"
    return Answer(question, words, (*_listed_findings(warnings), *without), Tone.MIXED)


def _listed_findings(found: Sequence[CheckResult]) -> tuple[str, ...]:
    """What the first of them have found, and how many more there are."""
    said = tuple(
        f"{tr(check.title)}: {_ended(_short(recorded(check.message), _STOP))}" for check in found[:_MOST_STOPS]
    )
    more = len(found) - _MOST_STOPS
    return (*said, tr("{number} more under Checks.").format(number=more)) if more > 0 else said


def _charts(report: Report) -> tuple[Section, ...]:
    times = methods_chart(report)
    storage: tuple[Block, ...] = () if report.comparison is None else ratio_chart(report.comparison)
    charts = (
        Section(tr("Duration of each method"), times),
        Section(tr("Storage: new server compared with old server"), storage),
    )
    return tuple(chart for chart in charts if chart)


def _evidence(report: Report, options: Options) -> tuple[Section, ...]:
    compared = report.comparison
    volumes = () if report.volumes is None else (_volumes(report.volumes),)
    storage = Section(tr("Storage"), () if compared is None else (*figures(compared), *volumes))
    explained = diagnoses([one for one in report.diagnoses if one.findings])
    better = tr("A ratio above 1 means that the new server is faster, also for latencies: 2.00 × is twice as fast.")
    further = method_and_units(better) if compared is not None else ()
    spans = Item(
        tr(
            "The low, the likely and the high value of a duration are p10, p50 and p90 of many simulated moves: 10 %, "
            "50 % and 90 % of them are shorter. Where a value is not known, each simulated move takes a random one "
            "from its range. The likely values of the stages need not add up to that of the whole move."
        ),
        title=tr("Estimates"),
    )
    return (
        checks(report),
        durations(report),
        plan(report),
        storage,
        explained,
        servers(report, "" if report.moved_by is None else tr("Servers before the move")),
        method(spans, *further, masked=options.masked),
    )


def _appendices(report: Report, options: Options) -> tuple[Section, ...]:
    shown: list[Section] = []
    if options.functions and report.plan is not None:
        shown += commands(report.plan)
    if options.raw:
        shown.append(assumed_about_others(report))
        if report.comparison is not None:
            plots = replace(latencies(report.comparison), title=tr("Appendix: latencies by percentile"))
            shown += [plots, all_metrics(report.comparison)]
        shown += [workloads(report.runs), *raw_values(report.runs)]
    return tuple(shown)


def _volumes(compared: Comparison) -> Section:
    table = compared_table("volumes", compared, headlines(compared))
    return Section(tr("All measured volumes, compared with the first"), (table,))
