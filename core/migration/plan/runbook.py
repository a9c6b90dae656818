"""A plan as a runbook in Markdown, to print, to read aloud, to tick off."""

from core import units
from core.migration.model.plan import Plan, Step


def runbook(plan: Plan) -> str:
    """The whole plan: every step with its exact command, what it takes, how it is undone."""
    head = [
        f"# Move {_plain(plan.move)}",
        "",
        f"Transport: {plan.transport}; {plan.why}.",
        f"Made {plan.made_at:%Y-%m-%d %H:%M} UTC from the facts of that time: make it anew when anything has changed.",
    ]
    if plan.warnings:
        head += ["", "## Warnings", "", *(f"- {_plain(warning)}" for warning in plan.warnings)]
    down = [step for step in plan.steps if step.stopped]
    expected = sum(step.expected_seconds or 0.0 for step in down)
    if down:
        steps = f"from step {down[0].number} to step {down[-1].number}"
        head += ["", f"The cluster is stopped {steps}: {units.duration(expected)} of commands, and what people take."]
        head += ["", f"`pghaul execute` stops it only when its name is typed: {_plain(plan.cluster)}"]
    numbers = {step.name: step.number for step in plan.steps}
    body = [line for step in plan.steps for line in _step(step, numbers)]
    return "\n".join([*head, "", "## Steps", *body, *_later(plan)]) + "\n"


def _later(plan: Plan) -> list[str]:
    if not plan.later:
        return []
    said = "No part of the move, for it would lengthen the stop: `pghaul execute --verify all` makes it one."
    return ["", "## Later, when it suits", "", said, *(line for step in plan.later for line in _later_step(step))]


def _later_step(step: Step) -> list[str]:
    shown = "\n".join(step.shown)
    fence = _fence(shown)
    reason = f"On {step.server}, as {step.user}: {step.reason}."
    return ["", f"### {_plain(step.title)}", "", _plain(reason), "", f"{fence}sh", shown, fence]


def _step(step: Step, numbers: dict[str, int]) -> list[str]:
    who = "you" if step.side == "you" else f"{step.server}, as {step.user}"
    marks = ", cluster stopped" if step.stopped else ""
    lines = [
        "",
        f"### {step.number}. {_plain(step.title)}",
        "",
        f"On {who}{marks}; {units.duration(step.expected_seconds)}.",
    ]
    if step.side == "you":
        lines[-1] = f"By you{marks}."
    lines.append(f"{_plain(step.reason[:1].upper() + step.reason[1:])}.")
    if step.point_of_no_return:
        lines.append("**Point of no return.**")
    if not step.skippable:
        lines.append("Never leave it out.")
    if step.reads:
        lines.append(f"Its standard input is what step {numbers[step.reads]} printed.")
    if step.agrees_with:
        lines.append(f"It must print what step {numbers[step.agrees_with]} printed, or it has failed.")
    if step.warm_pass > 1:
        lines.append("Repeat it as long as it gets shorter; leave it out where the pass before took seconds.")
    if step.table:
        fence = _fence(step.table)
        lines += ["", fence, step.table, fence]
    if step.shown:
        shown = "\n".join(step.shown)
        fence = _fence(shown)
        lines += ["", f"{fence}sh", shown, fence]
    if step.undo:
        fence = _fence(step.undo)
        lines += ["", "Undo:", "", fence, step.undo, fence]
    return lines


def _fence(text: str) -> str:
    """A fence that the text does not hold."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


def _plain(text: str) -> str:
    """Text without what Markdown would read as marks."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in text)
