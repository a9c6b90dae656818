"""The plan as a table and on a time axis; its commands, step by step, where they are asked for."""

from itertools import takewhile

from core import units
from core.language import tr
from core.migration.model.plan import OPERATOR, Plan, PlanWarning, Step
from core.reports.charts.duration_plots import Bar, gantt
from core.reports.model import Block, Cell, Code, Item, Items, Row, Section, Table, Text, Tone
from core.reports.recorded import compared, recorded
from core.reports.report import Report
from core.reports.words import expected, instant, missing, side_name, stage_name
from core.text import sentence

MANY_STEPS = 40
"""A table of more is as low as it can be: else a plan takes a page more."""
_MOST_BARS = 12


def plan(report: Report) -> Section:
    """What will be done, by whom, where, and for how long."""
    found = report.plan
    if found is None:
        return Section(
            tr("Plan"), (Text(missing(tr("There is no plan yet."), report.move, "plan", "Plan"), Tone.MUTED),)
        )
    said = tr("Created on {instant}. Transport: {transport}. {why}")
    why = said.format(
        instant=instant(found.made_at), transport=compared(str(found.transport)), why=sentence(recorded(found.why))
    )
    blocks: list[Block] = [Text(why)]
    warnings = [
        recorded(each.message if isinstance(each, PlanWarning) else each)
        for each in found.warnings
        if not _is_reported(each, report)
    ]
    if warnings:
        blocks.append(Items(tuple(Item(text, tone=Tone.MIXED, title=tr("Warning")) for text in warnings)))
    drawing = gantt(phase_bars(found))
    blocks += [drawing] if drawing is not None else []
    blocks += _runs_together(found.steps)
    blocks.append(steps_table("plan", found))
    blocks += _rollback_and_follow_up(found, moved=report.moved_by is not None)
    return Section(tr("Plan"), tuple(blocks))


def _is_reported(warning: PlanWarning | str, report: Report) -> bool:
    """Return whether the checks of the same report say it already."""
    # what an earlier pghaul has recorded is the line alone
    return any(str(warning) == str(PlanWarning(one.message, one.status, one.id)) for one in report.checks or ())


def phase_bars(plan: Plan) -> tuple[Bar, ...]:
    """What follows what by its time: steps one by one where they are few, else by the parts of the night."""
    groups: list[tuple[str, list[Step]]] = []
    steps, down = plan.steps, plan.downtime_steps
    few = len(steps) <= _MOST_BARS
    for step in steps:
        name = f"{step.number}. {recorded(step.title)}" if few else stage_name(step.phase.value)
        if few or not groups or groups[-1][0] != name:
            groups.append((name, []))
        groups[-1][1].append(step)
    bars, at = [], 0.0
    for name, group in groups:
        start, point = at, None
        for step in group:
            point = at if step.point_of_no_return else point
            at += step.expected_seconds or 0.0
        bars.append(Bar(name, (start, at), down=any(step in down for step in group), point=point))
    return tuple(bars)


def steps_table(name: str, plan: Plan) -> Table:
    """A row a step, under the parts of the night."""
    head = (tr("No."), tr("Step"), tr("Server"), tr("User"), tr("Duration"), tr("Downtime"))
    rows: list[Row] = []
    steps, down = plan.steps, plan.downtime_steps
    phase = None
    for step in steps:
        if step.phase is not phase and len(steps) > _MOST_BARS:
            rows.append((stage_name(step.phase.value),))
        phase = step.phase
        rows.append(_row(step, down=step in down, beside=_runs_beside(step, steps)))
    return Table(name, head, tuple(rows), (0, 4.2, 0.7, 0.6, 0, 0.9), frozenset({0, 4}), dense=len(steps) > MANY_STEPS)


def _runs_together(steps: tuple[Step, ...]) -> list[Block]:
    """Which steps run at the same time: their numbers follow each other in the table."""
    groups: list[list[Step]] = []
    for step in steps:
        if step.parallel and groups:
            groups[-1].append(step)
        else:
            groups.append([step])
    together = [f"{group[0].number}–{group[-1].number}" for group in groups if len(group) > 1]
    return (
        [Text(tr("These steps run at the same time: {steps}.").format(steps=", ".join(together)))] if together else []
    )


def _runs_beside(step: Step, steps: tuple[Step, ...]) -> Step | None:
    """Return the step whose duration covers that of this one, because both run at the same time; None if none does."""
    if step.timing.share != 0:
        return None
    first = steps.index(step)
    while first > 0 and steps[first].parallel:
        first -= 1
    together = (steps[first], *takewhile(lambda each: each.parallel, steps[first + 1 :]))
    return max((each for each in together if each.timing.share > 0), key=lambda each: each.timing.share, default=None)


def _row(step: Step, *, down: bool, beside: Step | None) -> Row:
    where = (tr("operator"), "") if step.by_person else (step.server, step.user)
    point = Cell(tr("yes, point of no return"), tone=Tone.BAD)
    downtime: Cell | str = point if step.point_of_no_return else tr("yes") if down else ""
    if step.by_person:
        downtime = tr("yes, not counted") if down else ""
        takes = ""
    elif beside is not None:
        takes = tr("beside step {number}").format(number=beside.number)
    else:
        takes = expected(step.expected_seconds)
    return str(step.number), recorded(step.title), *where, Cell(takes, step.expected_seconds), downtime


def _rollback_and_follow_up(found: Plan, *, moved: bool) -> list[Block]:
    """The way back, and what stays to do."""
    point = next((step for step in found.steps if step.point_of_no_return), None)
    blocks: list[Block] = []
    if found.way_back and not moved:
        until = tr(
            "You can roll back at any time before step {number}. If that step fails, you can still roll back, provided "
            "that the new cluster has never run for clients. Start the applications after these steps:"
        ).format(number=units.ABSENT if point is None else point.number)
        rows = tuple((str(step.number), recorded(step.title), step.server, step.user) for step in found.way_back)
        head = (tr("No."), tr("Step"), tr("Server"), tr("User"))
        blocks += [Text(until), Table("rollback", head, rows, (0, 3.2, 0.8, 0.6), frozenset({0}), dense=True)]
    said = [
        *(Item(recorded(str(each)), title=tr("Remaining on the servers")) for each in found.remains),
        *(Item(recorded(str(each)), title=tr("Follow-up")) for each in found.advice),
    ]
    return [*blocks, Text(tr("After the move:")), Items(tuple(said))] if said else blocks


def commands(found: Plan) -> tuple[Section, ...]:
    """Of each step the commands, the call that guards them, and its undo; then the functions that they call."""
    steps = tuple(_commands(step) for step in found.steps)
    functions = Section(tr("Appendix: functions"), (Code(found.functions),) if found.functions else ())
    return Section(tr("Appendix: commands of each step"), steps), functions


def _commands(step: Step) -> Section:
    where = side_name(step.side or OPERATOR)
    whose = where if step.side is None else f"{where} {step.server}" + (f" ({step.user})" if step.user else "")
    blocks: list[Block] = [Text(f"{whose} · {sentence(recorded(step.reason))}" if step.reason else whose, small=True)]
    text = "\n".join(step.shown)
    blocks += [Code(text)] if text else []
    blocks += [Text(sentence(recorded(step.undo)), small=True)] if step.undo else []
    return Section(f"{step.number}. {recorded(step.title)}", tuple(blocks))
