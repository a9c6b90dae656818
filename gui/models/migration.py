"""Checks, probes, estimate and plan as rows."""

from dataclasses import dataclass

from core import units
from core.language import tr
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate, Method, Stage, stage_heading
from core.migration.model.plan import Plan, Step
from core.migration.model.probe import OF_A_DUMP, Probe, Quantity
from core.migration.model.transport import Route
from core.text import sentence
from gui.appearance import Tone
from gui.models.sentences import compared, recorded
from gui.models.table import Column, Width
from gui.models.words import STATUS_TONES, capital, in_sentence, method_name, moment, span


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage of a method, or the method's own sums (`stage` None)."""

    method: Method
    stage: Stage | None


def stage_rows(estimate: Estimate) -> tuple[StageRow, ...]:
    """Each method, its stages below it."""
    return tuple(StageRow(method, stage) for method in estimate.methods for stage in (None, *method.stages))


def estimate_summary(estimate: Estimate) -> str:
    """When it was made, and what the move itself will take."""
    made, method = tr("Made {made_at}").format(made_at=moment(estimate.made_at)), estimate.method(estimate.planned)
    if method is None:
        return made
    duration, downtime = (units.duration(each.likely) for each in (method.duration_seconds, method.downtime_seconds))
    return tr("{made}. The move is a {method}: {duration}, of it {downtime} without the cluster.").format(
        made=made, method=in_sentence(method_name(method.method)), duration=duration, downtime=downtime
    )


def estimate_text(estimate: Estimate) -> str:
    """An estimate whole: each method and stage with its span, then what was assumed."""
    lines = [estimate_summary(estimate), ""]
    for row in stage_rows(estimate):
        seconds = row.method.duration_seconds if row.stage is None else row.stage.seconds
        lines.append(f"{_name(row)}: {units.duration(seconds.likely)} ({span(seconds)})")
    return "\n".join([*lines, "", notes(estimate)])


def notes(estimate: Estimate) -> str:
    """The warnings and assumptions of each method, in words; what several methods share stands once."""
    lines: dict[str, list[str]] = {}
    for method in estimate.methods:
        out = (method.ruled_out,) if method.ruled_out else ()
        for kind, texts in (
            (tr("ruled out"), out),
            (tr("warning"), method.warnings),
            (tr("assumed"), method.assumptions),
        ):
            for text in texts:
                lines.setdefault(f"{kind}: {recorded(text)}", []).append(in_sentence(method_name(method.method)))
    everyone = len(estimate.methods)
    return "\n".join(
        line if len(methods) == everyone else f"{line} ({', '.join(methods)})" for line, methods in lines.items()
    )


def checks_summary(results: tuple[CheckResult, ...]) -> str:
    """How many came out how, the worst first."""
    standing = [result.status for result in results if result.waiver is None]
    counts = [(status, standing.count(status)) for status in Status]
    words = {
        Status.BLOCKER: tr("blockers"),
        Status.UNKNOWN: tr("unknown"),
        Status.WARNING: tr("warnings"),
        Status.PASS: tr("passed"),
    }
    waived = sum(result.waiver is not None for result in results)
    return ", ".join(f"{words[status]}: {count}" for status, count in counts) + (
        tr("; waived: {waived}").format(waived=waived) if waived else ""
    )


def check_text(result: CheckResult) -> str:
    """A check whole: what was compared, what it means, what to do."""
    lines = [f"{tr(result.title)}: {tr(result.status)}", "", compared(result.message)]
    if result.hint:
        lines += ["", tr("What to do: {hint}").format(hint=recorded(result.hint))]
    if result.waiver is not None:
        lines += [
            "",
            tr("Waived by {by} on {at}: {reason}").format(
                by=result.waiver.by, at=moment(result.waiver.at), reason=result.waiver.reason
            ),
        ]
    lines += ["", tr("Old: {old}").format(old=compared(result.old)), tr("New: {new}").format(new=compared(result.new))]
    if result.documentation:
        lines += ["", tr("See: {documentation}").format(documentation=result.documentation)]
    return "\n".join(lines)


def probes_summary(probes: tuple[Probe, ...]) -> str:
    """The slowest link, and the fastest sample end to end, which is all links together; empty without probes.

    A cipher is a link of the samples alone that are encrypted by it.
    """
    samples = [probe for probe in probes if probe.quantity is Quantity.END_TO_END]
    whole = max(samples, key=lambda probe: probe.bytes_per_second, default=None)
    apart = {Quantity.END_TO_END, Quantity.CHANGES, *OF_A_DUMP}
    links = [probe for probe in probes if probe.quantity not in apart and _in_use(probe, whole)]
    slowest = min(links, key=lambda probe: probe.bytes_per_second, default=None)
    said = (
        [
            tr("The slowest link is: {quantity}, {bytes_per_second}").format(
                quantity=tr(slowest.quantity), bytes_per_second=units.rate(slowest.bytes_per_second)
            )
        ]
        if slowest
        else []
    )
    if whole is not None:
        by = tr(" by {name}").format(name=recorded(whole.transport.name)) if whole.transport is not None else ""
        said.append(
            tr("End to end: {bytes_per_second}{by}").format(bytes_per_second=units.rate(whole.bytes_per_second), by=by)
        )
    return ". ".join(said)


def _in_use(link: Probe, sample: Probe | None) -> bool:
    if link.quantity is not Quantity.SSH or link.transport is None or sample is None or sample.transport is None:
        return True
    return sample.transport.route is Route.SSH and link.transport.cipher == sample.transport.cipher


def probe_text(probe: Probe) -> str:
    """A probe's command and raw output."""
    return f"$ {probe.command}\n\n{probe.raw}"


def step_text(step: Step) -> str:
    """A step whole, but for its commands and its call."""
    lines = [
        f"{step.number}. {recorded(step.title)}",
        "",
        sentence(recorded(step.reason)),
        sentence(recorded(step.undo)),
    ]
    if step.table:
        lines += ["", step.table]
    if step.stopped:
        lines.append(tr("The cluster is stopped meanwhile: this is downtime."))
    if step.point_of_no_return:
        lines.append(tr("Point of no return: from here on, going back loses what clients write."))
    return "\n".join(lines)


def commands(plan: Plan) -> str:
    """The commands of all steps, each under comments that say where it runs and by which call."""
    return "\n\n".join("\n".join(_commented(step)) for step in plan.steps)


def _commented(step: Step) -> list[str]:
    head = f"# {step.number}. {step.title} (on {step.server} as {step.user})"
    return [head, *([f"# call: {step.call}", *step.native] if step.native else [step.call])]


def plan_summary(plan: Plan) -> str:
    """What the plan amounts to."""
    downtime = [step.expected_seconds for step in plan.steps if step.stopped and step.expected_seconds is not None]
    stop = tr("; about {downtime} of downtime").format(downtime=units.duration(sum(downtime))) if downtime else ""
    return tr("{steps} steps by {transport}{stop}. {why}").format(
        steps=len(plan.steps), transport=recorded(plan.transport), stop=stop, why=capital(recorded(plan.why))
    )


def _status(result: CheckResult) -> str:
    return tr("waived") if result.waiver is not None else tr(result.status)


def _bound(stage: Stage) -> str:
    return recorded(stage.evidence) or tr(stage.bound_by)


def _name(row: StageRow) -> str:
    return method_name(row.method.method) if row.stage is None else f"    {tr(stage_heading(row.stage.name))}"


CHECK_COLUMNS: tuple[Column[CheckResult], ...] = (
    Column("Status", _status, tone=lambda row: None if row.waiver else STATUS_TONES[row.status]),
    Column("Check", lambda row: tr(row.title)),
    Column("Old", lambda row: compared(row.old)),
    Column("New", lambda row: compared(row.new)),
    Column("What it means", lambda row: compared(row.message), width=Width.REST, tip=check_text),
    Column("What to do", lambda row: recorded(row.hint), width=Width.REST, tip=check_text),
)
PROBE_COLUMNS: tuple[Column[Probe], ...] = (
    Column("Link of the chain", lambda row: tr(row.quantity)),
    Column("Rate", lambda row: units.rate(row.bytes_per_second), right=True),
    Column("Amount", lambda row: units.size(row.bytes), right=True),
    Column("Took", lambda row: units.duration(row.seconds), right=True),
    Column("How", lambda row: recorded(row.method), width=Width.REST),
    Column("Time", lambda row: moment(row.taken_at)),
)
STAGE_COLUMNS: tuple[Column[StageRow], ...] = (
    Column("Method and stage", _name, width=Width.REST),
    Column(
        "Likely",
        lambda row: units.duration((row.method.duration_seconds if row.stage is None else row.stage.seconds).likely),
        right=True,
    ),
    Column(
        "Low – high",
        lambda row: span(row.method.duration_seconds if row.stage is None else row.stage.seconds),
        right=True,
    ),
    Column(
        "Downtime",
        lambda row: units.duration(row.method.downtime_seconds.likely) if row.stage is None else "",
        right=True,
    ),
    Column(
        "Downtime low – high",
        lambda row: span(row.method.downtime_seconds) if row.stage is None else "",
        right=True,
    ),
    Column(
        "Bound by",
        lambda row: (tr("ruled out") if row.method.ruled_out else "") if row.stage is None else tr(row.stage.bound_by),
        tone=lambda row: Tone.WARNING if row.stage is None else None,
        tip=lambda row: recorded(row.method.ruled_out) if row.stage is None else _bound(row.stage),
    ),
)
