"""A plan as a runbook in Markdown: an overview, each step as a person would do it, and the functions."""

from core import units
from core.migration.model.plan import ONLY_LOOKS, OPERATOR, Plan, Step
from core.migration.plan.calls import Paths, call_line, path_variables
from core.text import code, code_spans, lines_of, sentence


def downtime_sentence(plan: Plan) -> str:
    """Return the sentence on the downtime of a plan that has one."""
    down, seconds = plan.downtime_steps, units.duration(plan.downtime_seconds)
    return (
        f"The downtime lasts from step {down[0].number} to step {down[-1].number}. Its commands take about {seconds}; "
        "time for manual steps is not included."
    )


def runbook(plan: Plan) -> str:
    """Return the plan as Markdown. Its appendix contains the shell functions that the calls name."""
    head = [
        f"# Move {_escape(plan.move)}",
        "",
        f"This runbook moves {code(plan.data_directory)} on the old server to {code(plan.target)} on the new server.",
        "",
        f"The transport is {_escape(plan.transport)}. {_escape(sentence(plan.why))}",
        "",
        f"It was made on {plan.made_at:%Y-%m-%d at %H:%M} UTC from the facts of that time.",
        "Make it again when anything on the servers has changed.",
    ]
    if plan.downtime_steps:
        head += ["", downtime_sentence(plan)]
        head += ["", f"`pghaul execute` stops the cluster only after you have typed its name: {code(plan.cluster)}"]
    if plan.warnings:
        head += ["", "## Warnings", "", *(f"- {_escape_except_code(str(warning))}" for warning in plan.warnings)]
    numbers = {step.id: step.number for step in plan.steps}
    paths = path_variables(plan)
    seen: dict[tuple[str, ...], int] = {}
    body = [line for step in plan.steps for line in _step(plan, step, numbers, paths, seen)]
    return "\n".join(
        [
            *head,
            *_overview(plan),
            "",
            "## Steps",
            *_reading_guide(plan),
            *body,
            *_optional_checks(plan),
            *_functions(plan),
        ]
    )


def _overview(plan: Plan) -> list[str]:
    rows = [
        f"| {step.number} | {_escape(step.title)} | {_where(step)} | {_duration(step)} | {_downtime(plan, step)} |"
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
    return "the operator" if step.by_person else f"{_escape(step.server)} as {_escape(step.user)}"


def _duration(step: Step) -> str:
    return "" if step.by_person else units.expected(step.expected_seconds)


def _downtime(plan: Plan, step: Step) -> str:
    return "yes, **point of no return**" if step.point_of_no_return else "yes" if step in plan.downtime_steps else ""


def _reading_guide(plan: Plan) -> list[str]:
    """Return the paragraph that explains how to read a step."""
    guide = (
        "Each step shows the commands that do its work, shortened so that they can be read. Behind `# call:` stands "
        "the call of the function that runs them with all safety checks. The appendix contains these functions."
    )
    paths = [f"- `${name}` is {code(path)}" for (_, path), name in path_variables(plan).items()]
    return ["", guide, *(["", "In the calls:", "", *paths] if paths else [])] if plan.functions else []


def _step(plan: Plan, step: Step, numbers: dict[str, int], paths: Paths, seen: dict[tuple[str, ...], int]) -> list[str]:
    """Return the lines of a step.

    Args:
        plan: the plan to which it belongs.
        step: the step.
        numbers: the number of each step, by name.
        paths: the variables for PATHs.
        seen: the number of the first step with these commands, by side and commands; the step is added.
    """
    marks = [_where(step), *(["downtime"] if step in plan.downtime_steps else []), *filter(None, [_duration(step)])]
    sentences = [_escape_except_code(sentence(step.reason))]
    if step.point_of_no_return:
        sentences.append("**This is the point of no return.**")
    if step.resume.required:
        sentences.append("Do not skip this step.")
    if step.reads:
        sentences.append(f"The standard input of this step is the output of step {numbers[step.reads]}.")
    if step.verification.equals:
        sentences.append(
            f"Its output must be the same as that of step {numbers[step.verification.equals]}; otherwise it has failed."
        )
    if step.precopy_pass > 1:
        sentences.append(
            "Repeat this pass as long as it gets shorter. Skip it if the pass before took only seconds."
            if step.root
            else f"It belongs to pre-copy pass {step.precopy_pass}: repeat it or skip it together with that pass."
        )
    if step.undo and step.undo != ONLY_LOOKS:
        sentences.append(_escape_except_code(sentence(step.undo)))
    heading, earlier = (
        ["", f"### {step.number}. {_escape(step.title)} ({', '.join(marks)})"],
        seen.setdefault((step.side or OPERATOR, *step.shown), step.number),
    )
    if earlier != step.number and not step.by_person:
        return [*heading, "", " ".join([*sentences, f"Its commands are those of step {earlier}."])]
    return [*heading, "", " ".join(sentences), *_command_block(step, paths)]


def _command_block(step: Step, paths: Paths) -> list[str]:
    """Return what the reader copies: a table, the native commands, and the call as a comment.

    Commands are indented, not fenced: the fences of fifty steps alone would fill two pages.
    """
    call = call_line(step, paths)
    commands = [*step.native, *([f"# call: {call}" if step.native else call] if call else [])]
    lines = [line for command in commands for line in lines_of(command)]
    table = ["", *_fenced(step.table, "text")] if step.table else []
    return [*table, *(["", *(f"    {line}" for line in lines)] if lines else [])]


def _optional_checks(plan: Plan) -> list[str]:
    if not plan.later:
        return []
    introduction = (
        "These steps are no part of the move, because they would lengthen the downtime. "
        "`pghaul execute --verify all` makes them part of it."
    )
    return [
        "",
        "## Follow-up: optional checks",
        "",
        introduction,
        *(line for step in plan.later for line in _optional_check(step, path_variables(plan))),
    ]


def _optional_check(step: Step, paths: Paths) -> list[str]:
    return [
        "",
        f"### {_escape(step.title)} ({_where(step)})",
        "",
        _escape_except_code(sentence(step.reason)),
        *_command_block(step, paths),
    ]


def _functions(plan: Plan) -> list[str]:
    if not plan.functions:
        return [""]
    return ["", APPENDIX, "", *_fenced(plan.functions.rstrip("\n"), "sh"), ""]


APPENDIX = "## Appendix: the functions"
"""The heading of the appendix, which contains only the functions."""


def _fenced(text: str, language: str) -> list[str]:
    """Return the text in a fence that is longer than any fence within it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text, fence]


def _escape_except_code(text: str) -> str:
    """Return the text escaped for Markdown, except for code between backticks."""
    return "".join(code(part) if is_code else _escape(part) for part, is_code in code_spans(text))


def _escape(text: str) -> str:
    """Return the text with Markdown's special characters escaped."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in text)
