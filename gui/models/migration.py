"""Checks, probes, estimates and plans as rows and texts."""

from dataclasses import dataclass

from core import units
from core.language import tr
from core.migration.model.checks import CheckResult
from core.migration.model.estimate import CARRIED_OUT, Estimate, Method, Span, Stage, stage_heading
from core.migration.model.move import Move
from core.migration.model.plan import Phase, Plan, Step
from core.migration.model.probe import Probe
from core.sides import Side
from core.text import capital, sentence
from core.tones import Tone
from gui.models.sentences import compared, recorded
from gui.models.table import Column, Width
from gui.models.words import (
    bound_name,
    in_sentence,
    method_name,
    moment,
    side_head,
    stated,
    status_tone,
)


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage of a method, or the totals of the method (`stage` None)."""

    method: Method
    stage: Stage | None


def ordered_methods(estimate: Estimate) -> tuple[Method, ...]:
    """Return the methods as they are shown: the planned one, the others that pghaul carries out, and the rest."""
    planned = estimate.planned or estimate.to_take
    return tuple(sorted(estimate.methods, key=lambda one: (one.method != planned, one.method not in CARRIED_OUT)))


def stage_rows(estimate: Estimate) -> tuple[StageRow, ...]:
    """Return each method, followed by its stages."""
    return tuple(StageRow(method, stage) for method in ordered_methods(estimate) for stage in (None, *method.stages))


def estimate_made(estimate: Estimate) -> str:
    """Return the method that a plan follows, and when the estimate was made."""
    made = tr("Estimated {made_at}").format(made_at=moment(estimate.made_at))
    method = estimate.method(estimate.planned)
    if method is None:
        return f"{made}."
    return tr("Planned method: {method}. {made}.").format(method=in_sentence(method_name(method.method)), made=made)


def estimate_summary(estimate: Estimate) -> str:
    """Return when the estimate was made, and the method, duration and downtime of the move."""
    made, method = tr("Estimated {made_at}").format(made_at=moment(estimate.made_at)), estimate.method(estimate.planned)
    if method is None:
        return made
    duration, downtime = (units.duration(each.likely) for each in (method.duration_seconds, method.downtime_seconds))
    return tr("{made}. Method: {method}. Duration: {duration}. Downtime: {downtime}.").format(
        made=made, method=in_sentence(method_name(method.method)), duration=duration, downtime=downtime
    )


def estimate_text(estimate: Estimate) -> str:
    """Return an estimate as text: each method and stage with its range, then the assumptions."""
    lines = [estimate_summary(estimate), ""]
    for row in stage_rows(estimate):
        seconds = row.method.duration_seconds if row.stage is None else row.stage.seconds
        lines.append(f"{_name(row)}: {stated(seconds)}")
    return "\n".join([*lines, "", notes(estimate)])


def notes(estimate: Estimate) -> str:
    """Return the warnings and assumptions of each method; shared ones once."""
    lines: dict[str, list[str]] = {}
    for method in estimate.methods:
        out = (method.ruled_out,) if method.ruled_out else ()
        for kind, texts in (
            (tr("not possible"), out),
            (tr("warning"), method.warnings),
            (tr("assumption"), method.assumptions),
        ):
            for text in texts:
                lines.setdefault(f"{kind}: {recorded(text)}", []).append(in_sentence(method_name(method.method)))
    everyone = len(estimate.methods)
    return "\n".join(
        line if len(methods) == everyone else f"{line} ({', '.join(methods)})" for line, methods in lines.items()
    )


def check_text(result: CheckResult, move: Move | None = None) -> str:
    """Return a check as text: evidence, meaning and hint; `move`: whose servers are named."""
    servers = ("", "") if move is None else (move.old, move.new)
    old, new = (side_head(side, server) for side, server in zip(Side, servers, strict=True))
    lines = [f"{tr(result.title)}: {tr(result.state)}", "", compared(result.message)]
    if result.hint:
        lines += ["", tr("What to do: {hint}").format(hint=recorded(result.hint))]
    if result.waiver is not None:
        lines += [
            "",
            tr("Waived by {by} on {at}: {reason}").format(
                by=result.waiver.by, at=moment(result.waiver.at), reason=result.waiver.reason
            ),
        ]
    lines += [
        "",
        f"{old}: {compared(result.old)}",
        f"{new}: {compared(result.new)}",
    ]
    if result.documentation:
        lines += ["", tr("See: {documentation}").format(documentation=result.documentation)]
    return "\n".join(lines)


def probe_text(probe: Probe) -> str:
    """Return the command and the raw output of a probe."""
    return f"$ {probe.command}\n\n{probe.raw}"


def step_text(step: Step) -> str:
    """Return a step as text, without its commands and its call."""
    lines = [
        f"{step.number}. {recorded(step.title)}",
        "",
        sentence(recorded(step.reason)),
        sentence(recorded(step.undo)),
    ]
    if step.table:
        lines += ["", step.table]
    if step.downtime and step.phase is not Phase.BEFORE_STOP:
        lines.append(tr("The cluster is stopped during this step. The step is part of the downtime."))
    if step.point_of_no_return:
        lines.append(
            tr("Point of no return: a return to the old server after this step loses what clients have written.")
        )
    return "\n".join(lines)


def commands(plan: Plan) -> str:
    """Return the commands of all steps, with comments that name the server, the user and the call."""
    return "\n\n".join("\n".join(_commented(step)) for step in plan.steps)


def step_commands(step: Step) -> str:
    """Return the commands of a step, and below them, as a comment, the call that runs them."""
    if not step.native:
        return step.call
    call = tr("This call runs them safely:")
    return "\n".join([*step.native, "", f"# {call}", *(f"# {line}" for line in step.call.splitlines())])


def _commented(step: Step) -> list[str]:
    title = tr("{number}. {title} (on {server} as {user})").format(
        number=step.number, title=recorded(step.title), server=step.server, user=step.user
    )
    called = tr("call: {call}").format(call=step.call)
    return [f"# {title}", *([f"# {called}", *step.native] if step.native else [step.call])]


def plan_summary(plan: Plan) -> str:
    """Return the summary of a plan with the reason for its transport."""
    return f"{plan_line(plan)} {plan_reason(plan)}"


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return the warnings of a plan."""
    return tuple(
        recorded(one)
        if isinstance(one, str)
        else f"{tr(one.status)}: {recorded(one.message)}" + (f" [{one.check}]" if one.check else "")
        for one in plan.warnings
    )


def plan_line(plan: Plan) -> str:
    """Return the summary of a plan in one line."""
    seconds = plan.downtime_seconds
    stop = "" if seconds is None else tr(", about {downtime} of downtime").format(downtime=units.duration(seconds))
    return tr("{steps} steps{stop}. Transport: {transport}.").format(
        steps=units.count(len(plan.steps)), transport=compared(plan.transport), stop=stop
    )


def plan_reason(plan: Plan) -> str:
    """Return why the plan has its transport."""
    return capital(recorded(plan.why))


def _status(result: CheckResult) -> str:
    return capital(tr(result.state))


def _bound(stage: Stage) -> str:
    return recorded(stage.evidence) or bound_name(stage.bound_by)


def _duration(row: StageRow) -> Span:
    return row.method.duration_seconds if row.stage is None else row.stage.seconds


def _name(row: StageRow) -> str:
    return method_name(row.method.method) if row.stage is None else f"    {tr(stage_heading(row.stage.name))}"


CHECK_COLUMN, OLD_COLUMN, NEW_COLUMN, MEANING_COLUMN, HINT_COLUMN = 1, 2, 3, 4, 5
"""The numbers of the columns of a check; the page shows all after the first two beside its list."""
CHECK_COLUMNS: tuple[Column[CheckResult], ...] = (
    Column("Status", _status, tone=status_tone),
    Column("Check", lambda row: tr(row.title), width=Width.REST, tip=check_text),
    Column("Old server", lambda row: compared(row.old)),
    Column("New server", lambda row: compared(row.new)),
    Column("Meaning", lambda row: compared(row.message), width=Width.REST, tip=check_text),
    Column("What to do", lambda row: recorded(row.hint), width=Width.REST, tip=check_text),
)
STAGE_COLUMNS: tuple[Column[StageRow], ...] = (
    Column("Method and stage", _name, width=Width.REST),
    Column(
        "Duration (low – high)",
        lambda row: stated(_duration(row)),
        right=True,
        value=lambda row: _duration(row).likely,
    ),
    Column(
        "Downtime",
        lambda row: units.duration(row.method.downtime_seconds.likely) if row.stage is None else "",
        right=True,
        value=lambda row: row.method.downtime_seconds.likely if row.stage is None else None,
        tip=lambda row: stated(row.method.downtime_seconds) if row.stage is None else "",
    ),
    Column(
        "Limited by",
        lambda row: (
            (tr("not possible") if row.method.ruled_out else "")
            if row.stage is None
            else bound_name(row.stage.bound_by)
        ),
        width=Width.WHOLE,
        tone=lambda row: Tone.WARNING if row.stage is None else None,
        tip=lambda row: recorded(row.method.ruled_out) if row.stage is None else _bound(row.stage),
    ),
)
