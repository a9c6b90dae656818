"""A plan as a runbook in Markdown: the overview, then each step so that a person could do it, then the functions."""

import re
from collections.abc import Sequence

from core import units
from core.migration.model.plan import ONLY_LOOKS, Plan, Step
from core.migration.plan.calls import Paths, call_line, paths_of
from core.text import code, sentence


def downtime_sentence(down: Sequence[Step]) -> str:
    """From where to where the cluster is stopped, and for how long; `down`: the steps meanwhile."""
    seconds = units.duration(sum(step.expected_seconds or 0.0 for step in down))
    return (
        f"The downtime lasts from step {down[0].number} to step {down[-1].number}. Its commands take about {seconds}; "
        "time for manual steps is not included."
    )


def runbook(plan: Plan) -> str:
    """The whole plan. Its appendix, under a heading of its own, is the text of the functions that the calls name."""
    head = [
        f"# Move {_plain(plan.move)}",
        "",
        f"This runbook moves {code(plan.data_directory)} on the old server to {code(plan.target)} on the new server.",
        "",
        f"The transport is {_plain(plan.transport)}: {_plain(sentence(plan.why))}",
        "",
        f"It was made on {plan.made_at:%Y-%m-%d at %H:%M} UTC from the facts of that time.",
        "Make it again when anything on the servers has changed.",
    ]
    down = [step for step in plan.steps if step.stopped]
    if down:
        head += ["", downtime_sentence(down)]
        head += ["", f"`pghaul execute` stops the cluster only after you have typed its name: {code(plan.cluster)}"]
    if plan.warnings:
        head += ["", "## Warnings", "", *(f"- {_marked_up(str(warning))}" for warning in plan.warnings)]
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
        "| Step | Title | Where | Duration | Downtime |",
        "| ---: | --- | --- | ---: | --- |",
        *rows,
    ]


def _where(step: Step) -> str:
    return "the operator" if step.by_person else f"{_plain(step.server)} as {_plain(step.user)}"


def _takes(step: Step) -> str:
    return "" if step.expected_seconds is None else units.duration(step.expected_seconds)


def _downtime(step: Step) -> str:
    return "**point of no return**" if step.point_of_no_return else "yes" if step.stopped else ""


def _reading(plan: Plan) -> list[str]:
    """How a step is to be read."""
    said = (
        "Each step shows the commands that do its work, shortened so that they can be read. Behind `# call:` stands "
        "the call of the function that runs them with all safety checks. The appendix contains these functions."
    )
    paths = [f"- `${name}` is {code(path)}" for (_, path), name in paths_of(plan).items()]
    return ["", said, *(["", "In the calls:", "", *paths] if paths else [])] if plan.functions else []


def _step(step: Step, numbers: dict[str, int], paths: Paths, seen: dict[tuple[str, ...], int]) -> list[str]:
    """The step; `seen`: side and what is shown of earlier steps -> the number of the first."""
    marks = [_where(step), *(["downtime"] if step.stopped else []), *filter(None, [_takes(step)])]
    said = [_marked_up(sentence(step.reason))]
    if step.point_of_no_return:
        said.append("**This is the point of no return.**")
    if not step.skippable:
        said.append("Do not skip this step.")
    if step.reads:
        said.append(f"The standard input of this step is the output of step {numbers[step.reads]}.")
    if step.agrees_with:
        said.append(
            f"Its output must be the same as that of step {numbers[step.agrees_with]}; otherwise it has failed."
        )
    if step.warm_pass > 1:
        said.append(
            "Repeat this pass as long as it gets shorter. Skip it if the pass before took only seconds."
            if step.root
            else f"It belongs to pre-copy pass {step.warm_pass}: repeat it or skip it together with that pass."
        )
    if step.undo and step.undo != ONLY_LOOKS:
        said.append(_marked_up(sentence(step.undo)))
    heading, earlier = (
        ["", f"### {step.number}. {_plain(step.title)} ({', '.join(marks)})"],
        seen.setdefault((step.side, *step.shown), step.number),
    )
    if earlier != step.number and not step.by_person:
        return [*heading, "", " ".join([*said, f"Its commands are those of step {earlier}."])]
    return [*heading, "", " ".join(said), *_block(step, paths)]


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
    said = (
        "These steps are no part of the move, because they would lengthen the downtime. "
        "`pghaul execute --verify all` makes them part of it."
    )
    return [
        "",
        "## Follow-up: optional checks",
        "",
        said,
        *(line for step in plan.later for line in _later_step(step, paths_of(plan))),
    ]


def _later_step(step: Step, paths: Paths) -> list[str]:
    return [
        "",
        f"### {_plain(step.title)} ({_where(step)})",
        "",
        _marked_up(sentence(step.reason)),
        *_block(step, paths),
    ]


def _functions(plan: Plan) -> list[str]:
    if not plan.functions:
        return [""]
    return ["", APPENDIX, "", *_fenced(plan.functions.rstrip("\n"), "sh"), ""]


APPENDIX = "## Appendix: the functions"
"""The heading behind which nothing but the functions stands."""


def _fenced(text: str, language: str) -> list[str]:
    """The text between fences that it does not hold."""
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text, fence]


def _marked_up(text: str) -> str:
    """The text with its code between backticks as code, and the rest plain."""
    parts = _CODE.split(text)
    return "".join(part if at % 3 == 1 else "" if at % 3 else _plain(part) for at, part in enumerate(parts))


_CODE = re.compile(r"((?<!`)(`+)(?!`).+?(?<!`)\2(?!`))")
"""A span of code, whose marks are as many backticks on both sides: CommonMark, `Code spans`."""


def _plain(text: str) -> str:
    """Text without what Markdown would read as marks."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in text)
