"""The steps of a plan as lines of its script: flags, native commands, and the step with its call.

Variables stand for texts that occur in many lines: the copy's folder, the options of rsync, and PATHs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from core.migration.model import step_ids
from core.migration.model.plan import OPERATOR, Plan, Step
from core.migration.plan.calls import path_variables
from core.servers.shell import quoted, words_of

Names = Mapping[str, str]
"""The name of a variable by the text that it holds."""

_NAMED = ("copy_folder", "copy_marker", "copy_options", "copy_path")
"""Settings of the copy that occur in calls and native commands."""

_SHORT_CALL = 40
"""A call with fewer characters is written in full each time, so that nobody has to look it up."""


def variable_names(plan: Plan) -> Names:
    """Return the variables that may stand for texts in the steps."""
    names = {value: name for name, value in plan.settings if name in _NAMED and value}
    for (_, path), name in path_variables(plan).items():
        names.setdefault(path, name)
    return names


def script_lines(steps: Sequence[Step], plan: Plan) -> list[str]:
    """Return the lines of these consecutive steps."""
    names, flags = variable_names(plan), ""
    commands_seen, calls_seen = dict[tuple[str, ...], int](), dict[str, int]()
    lines: list[str] = []
    for step in steps:
        before, flags = flags, _flags(step)
        if flags != before:
            lines.append(flags)
        if values := _values(step, plan):
            lines.append(values)
        if step.by_person:
            lines.append("explain " + quoted("\n".join(filter(None, (step.reason, step.table)))))
        if step.native:
            earlier = commands_seen.setdefault(step.native, step.number)
            commands = " ".join(["commands", *(_shortest_word(each, names) for each in step.native)])
            lines.append(commands if earlier == step.number else f"commands_of {earlier}")
        call = " ".join([step.side or OPERATOR, quoted(step.user), *_call(step, names)])
        earlier = calls_seen.setdefault(call, step.number)
        words = call if earlier == step.number or len(call) < _SHORT_CALL else f"same_as {earlier}"
        lines.append(f"step {step.number} {quoted(one_line(step.title))} {words}")
    return lines


def _call(step: Step, names: Names) -> list[str]:
    """Return the words of the step's call; the operator's own command line may be one word for `eval`."""
    if not step.call:
        return []
    words = words_of(step.call)
    return [_shortest_word(word, names) for word in words] if words else ["eval", quoted(step.call)]


def _shortest_word(text: str, names: Names) -> str:
    """Return the text as one word of the shell, with variables if that is shorter."""
    plain, named = quoted(text), _escape(text)
    for value, name in sorted(names.items(), key=lambda each: -len(each[0])):
        named = re.sub(rf"(?<!\w){re.escape(_escape(value))}(?!\w)", f"${name}", named)
    return min(plain, f'"{named}"', key=len)


def _escape(text: str) -> str:
    """Return the text escaped for double quotes."""
    return re.sub(r'["$`]|\\(?=["$`\\\n]|$)', lambda found: f"\\{found[0]}", text)


def _flags(step: Step) -> str:
    """Return what the runner needs to know of this step and of the steps until the next such line."""
    flags = {
        "stopped": step.downtime,
        "needed": step.resume.required,
        "opens": step.resume.opens_channel,
        "closes": step.resume.closes_channel,
        "private": step.private,
        "functions": step.remote is not None and step.remote.takes_functions,
        "no-return": step.point_of_no_return,
        "judged": step.reads == step_ids.CHECK_LISTENERS,
    }
    return " ".join(["set_flags", *(name for name, is_set in flags.items() if is_set)])


def _values(step: Step, plan: Plan) -> str:
    """Return what the runner needs to know of this step alone: numbers of other steps and of its pass."""
    numbers = {each.id: each.number for each in plan.steps}
    # when the check of the stop is repeated, it must print what it printed before
    agrees = step.id if step.id == step_ids.CHECK_STOPPED else step.verification.equals
    values = {
        "reads": numbers.get(step.reads, 0),
        "agrees": numbers.get(agrees, 0),
        "mends": plan.first_copying if step.verification.equals == step_ids.CHECKSUMS_OLD else 0,
        "again": numbers.get(step.resume.repeat_until, 0),
        "pass": step.precopy_pass,
    }
    return " ".join(f"{name}={value}" for name, value in values.items() if value)


def first_number(steps: Iterable[Step]) -> int:
    """Return the number of the first of these steps, or 0 if there is none."""
    return next((step.number for step in steps), 0)


def one_line(text: str) -> str:
    """Return the text as one line without control characters, so that nothing ends a comment early."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
