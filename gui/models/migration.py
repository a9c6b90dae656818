"""Checks, probes, estimate and plan as rows."""

from dataclasses import dataclass

from core import units
from core.migration.model.checks import CheckResult, Status
from core.migration.model.estimate import Estimate, Method, Stage
from core.migration.model.plan import Plan, Step
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route
from gui.appearance import Tone
from gui.models.table import Column, Width
from gui.models.words import STATUS_TONES, method_name, moment, span


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
    made, method = f"Made {moment(estimate.made_at)}", estimate.method(estimate.planned)
    if method is None:
        return made
    duration, downtime = (units.duration(each.likely) for each in (method.duration_seconds, method.downtime_seconds))
    return (
        f"{made}. The move is a {method_name(method.method).lower()}: {duration}, of it {downtime} without the cluster."
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
        for kind, texts in (("ruled out", out), ("warning", method.warnings), ("assumed", method.assumptions)):
            for text in texts:
                lines.setdefault(f"{kind}: {text}", []).append(method_name(method.method).lower())
    everyone = len(estimate.methods)
    return "\n".join(
        line if len(methods) == everyone else f"{line} ({', '.join(methods)})" for line, methods in lines.items()
    )


def checks_summary(results: tuple[CheckResult, ...]) -> str:
    """How many came out how, the worst first."""
    standing = [result.status for result in results if result.waiver is None]
    counts = [(status, standing.count(status)) for status in Status]
    words = {Status.BLOCKER: "blockers", Status.UNKNOWN: "unknown", Status.WARNING: "warnings", Status.PASS: "passed"}
    waived = sum(result.waiver is not None for result in results)
    return ", ".join(f"{words[status]}: {count}" for status, count in counts) + (
        f"; waived: {waived}" if waived else ""
    )


def check_text(result: CheckResult) -> str:
    """A check whole: what was compared, what it means, what to do."""
    lines = [f"{result.title}: {result.status}", "", result.message]
    if result.hint:
        lines += ["", f"What to do: {result.hint}"]
    if result.waiver is not None:
        lines += ["", f"Waived by {result.waiver.by} on {moment(result.waiver.at)}: {result.waiver.reason}"]
    lines += ["", f"Old: {result.old}", f"New: {result.new}"]
    if result.documentation:
        lines += ["", f"See: {result.documentation}"]
    return "\n".join(lines)


def probes_summary(probes: tuple[Probe, ...]) -> str:
    """The slowest link, and the fastest sample end to end, which is all links together; empty without probes.

    A cipher is a link of the samples alone that are encrypted by it.
    """
    samples = [probe for probe in probes if probe.quantity is Quantity.END_TO_END]
    whole = max(samples, key=lambda probe: probe.bytes_per_second, default=None)
    links = [probe for probe in probes if probe.quantity is not Quantity.END_TO_END and _in_use(probe, whole)]
    slowest = min(links, key=lambda probe: probe.bytes_per_second, default=None)
    said = [f"The slowest link is: {slowest.quantity}, {units.rate(slowest.bytes_per_second)}"] if slowest else []
    if whole is not None:
        by = f" by {whole.transport.name}" if whole.transport is not None else ""
        said.append(f"End to end: {units.rate(whole.bytes_per_second)}{by}")
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
    lines = [f"{step.number}. {step.title}", "", f"Why: {step.reason}", f"Undo: {step.undo or 'nothing to undo'}"]
    if step.table:
        lines += ["", step.table]
    if step.stopped:
        lines.append("The cluster is stopped meanwhile: this is downtime.")
    if step.point_of_no_return:
        lines.append("Point of no return: from here on, going back loses what clients write.")
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
    stop = f"; about {units.duration(sum(downtime))} of downtime" if downtime else ""
    return f"{len(plan.steps)} steps by {plan.transport}{stop}. {plan.why[:1].upper()}{plan.why[1:]}"


def _status(result: CheckResult) -> str:
    return "waived" if result.waiver is not None else str(result.status)


def _name(row: StageRow) -> str:
    return method_name(row.method.method) if row.stage is None else f"    {row.stage.name}"


CHECK_COLUMNS: tuple[Column[CheckResult], ...] = (
    Column("Status", _status, tone=lambda row: None if row.waiver else STATUS_TONES[row.status]),
    Column("Check", lambda row: row.title),
    Column("Old", lambda row: row.old),
    Column("New", lambda row: row.new),
    Column("What it means", lambda row: row.message, width=Width.REST, tip=check_text),
    Column("What to do", lambda row: row.hint, width=Width.REST, tip=check_text),
)
PROBE_COLUMNS: tuple[Column[Probe], ...] = (
    Column("Link of the chain", lambda row: str(row.quantity)),
    Column("Rate", lambda row: units.rate(row.bytes_per_second), right=True),
    Column("Amount", lambda row: units.size(row.bytes), right=True),
    Column("Took", lambda row: units.duration(row.seconds), right=True),
    Column("How", lambda row: row.method, width=Width.REST),
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
        lambda row: ("ruled out" if row.method.ruled_out else "") if row.stage is None else row.stage.bound_by,
        tone=lambda row: Tone.WARNING if row.stage is None else None,
        tip=lambda row: row.method.ruled_out if row.stage is None else row.stage.evidence or row.stage.bound_by,
    ),
)
