"""A plan as a runbook in Markdown: the overview, then each step so that a person could do it, then the functions."""

from core import units
from core.migration.model.plan import Plan, Step
from core.migration.plan.calls import Paths, call_line, paths_of

_NOTHING = "nothing to undo"


def runbook(plan: Plan) -> str:
    """The whole plan. Its appendix, under a heading of its own, is the text of the functions that the calls name."""
    head = [
        f"# Move {_plain(plan.move)}",
        "",
        f"From `{plan.data_directory}` to `{plan.target}`. Transport: {plan.transport}; {plan.why}.",
        f"Made {plan.made_at:%Y-%m-%d %H:%M} UTC from the facts of that time: make it anew when anything has changed.",
    ]
    down = [step for step in plan.steps if step.stopped]
    expected = sum(step.expected_seconds or 0.0 for step in down)
    if down:
        steps = f"from step {down[0].number} to step {down[-1].number}"
        head += ["", f"The cluster is stopped {steps}: {units.duration(expected)} of commands, and what people take."]
        head += [f"`pghaul execute` stops it only when its name is typed: {_plain(plan.cluster)}"]
    if plan.warnings:
        head += ["", "## Warnings", *(f"- {_plain(warning)}" for warning in plan.warnings)]
    numbers = {step.name: step.number for step in plan.steps}
    paths = paths_of(plan)
    seen: dict[tuple[str, ...], int] = {}
    body = [line for step in plan.steps for line in _step(step, numbers, paths, seen)]
    return "\n".join(
        [*head, *_overview(plan), "", "## Steps", *_reading(plan), *body, *_later(plan), *_functions(plan)]
    )


def _overview(plan: Plan) -> list[str]:
    rows = [
        f"| {step.number} | {_plain(step.title)} | {_where(step)} | {_takes(step)} | {_downtime(step)} |"
        for step in plan.steps
    ]
    return [
        "",
        "## Overview",
        "",
        "| Step | What | Where | Takes | Downtime |",
        "| ---: | --- | --- | ---: | --- |",
        *rows,
    ]


def _where(step: Step) -> str:
    return "you" if step.by_person else f"{_plain(step.server)} as {_plain(step.user)}"


def _takes(step: Step) -> str:
    return "" if step.expected_seconds is None else units.duration(step.expected_seconds)


def _downtime(step: Step) -> str:
    return "**point of no return**" if step.point_of_no_return else "yes" if step.stopped else ""


def _reading(plan: Plan) -> list[str]:
    """How a step is to be read."""
    said = (
        "Under each step: the commands that do its work, shortened to be read, and the call of the function that runs "
    )
    said += "them with what guards them. The functions are the appendix."
    paths = [f"`${name}` is {_code(path)}." for (_, path), name in paths_of(plan).items()]
    return [said, *paths] if plan.functions else []


def _step(step: Step, numbers: dict[str, int], paths: Paths, seen: dict[tuple[str, ...], int]) -> list[str]:
    """The step; `seen`: side and what is shown of earlier steps -> the number of the first."""
    marks = [_where(step), *(["downtime"] if step.stopped else []), *filter(None, [_takes(step)])]
    said = [f"{_plain(step.reason[:1].upper() + step.reason[1:])}."]
    if step.point_of_no_return:
        said.append("**Point of no return.**")
    if not step.skippable:
        said.append("Never leave it out.")
    if step.reads:
        said.append(f"Its standard input is what step {numbers[step.reads]} printed.")
    if step.agrees_with:
        said.append(f"It must print what step {numbers[step.agrees_with]} printed, or it has failed.")
    if step.warm_pass > 1:
        said.append("Repeat it as long as it gets shorter; leave it out where the pass before took seconds.")
    if step.undo and not step.undo.startswith(_NOTHING):
        said.append(f"Undo: {_code(step.undo)}" if ": " in step.undo else f"Undo: {_plain(step.undo)}.")
    heading, earlier = (
        ["", f"### {step.number}. {_plain(step.title)} ({', '.join(marks)})"],
        seen.setdefault((step.side, *step.shown), step.number),
    )
    if earlier != step.number and not step.by_person:
        return [*heading, " ".join([*said, f"The commands of step {earlier} again."])]
    return [*heading, " ".join(said), *_block(step, paths)]


def _block(step: Step, paths: Paths) -> list[str]:
    """What is to be copied: a table, the native commands, and as a comment the call.

    Commands stand indented, not between fences: of fifty steps those alone would fill two pages.
    """
    call = call_line(step, paths)
    commands = [*step.native, *([f"# call: {call}" if step.native else call] if call else [])]
    lines = [line for command in commands for line in command.splitlines()]
    table = ["", *_fenced(step.table, "text")] if step.table else []
    return [*table, *(["", *(f"    {line}" for line in lines)] if lines else [])]


def _later(plan: Plan) -> list[str]:
    if not plan.later:
        return []
    said = "No part of the move, for it would lengthen the stop: `pghaul execute --verify all` makes it one."
    return [
        "",
        "## Later, when it suits",
        "",
        said,
        *(line for step in plan.later for line in _later_step(step, paths_of(plan))),
    ]


def _later_step(step: Step, paths: Paths) -> list[str]:
    said = f"{_where(step)}: {_plain(step.reason)}."
    return ["", f"### {_plain(step.title)}", said, *_block(step, paths)]


def _functions(plan: Plan) -> list[str]:
    if not plan.functions:
        return [""]
    return ["", APPENDIX, "", *_fenced(plan.functions.rstrip("\n"), "sh"), ""]


APPENDIX = "## Appendix: the functions"
"""The heading behind which nothing but the functions stands."""


def _code(text: str) -> str:
    """The text as code within a line."""
    mark = "`"
    while mark in text:
        mark += "`"
    return f"{mark} {text} {mark}" if "`" in text else f"{mark}{text}{mark}"


def _fenced(text: str, language: str) -> list[str]:
    """The text between fences that it does not hold."""
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text, fence]


def _plain(text: str) -> str:
    """Text without what Markdown would read as marks."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in text)
