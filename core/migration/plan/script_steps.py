"""The steps of a plan as lines of its script: what holds from there on, the native commands, the step with its call.

What stands in many of them stands by the name of a variable: the copy's folder, the options of rsync, PATHs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from core.migration.model.plan import Plan, Step
from core.migration.plan.calls import paths_of
from core.migration.plan.steps.copy import STOPPED
from core.migration.plan.steps.known_data_roots import STOPPED_ROOTS
from core.migration.plan.steps.opening import ALONE
from core.migration.plan.steps.reached import LISTENS
from core.migration.plan.steps.verify import SUMS
from core.servers.shell import quoted, words_of

Names = Mapping[str, str]
"""A text -> the name of the variable that holds it."""

_NAMED = ("copy_folder", "copy_marker", "copy_options", "copy_path")
"""Settings of the copy that stand in calls and native commands."""

_SHORT_CALL = 40
"""Characters of a call that stands in full each time: nobody has to look it up."""


def names_of(plan: Plan) -> Names:
    """The variables that may stand in the steps."""
    names = {value: name for name, value in plan.settings if name in _NAMED and value}
    for (_, path), name in paths_of(plan).items():
        names.setdefault(path, name)
    return names


def steps_of(steps: Sequence[Step], plan: Plan) -> list[str]:
    """The lines of these steps, which follow each other."""
    names, flags = names_of(plan), ""
    shown, called = dict[tuple[str, ...], int](), dict[str, int]()
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
            earlier = shown.setdefault(step.native, step.number)
            commands = " ".join(["commands", *(_word(each, names) for each in step.native)])
            lines.append(commands if earlier == step.number else f"commands_of {earlier}")
        call = " ".join([step.side, quoted(step.user), *_call(step, names)])
        earlier = called.setdefault(call, step.number)
        words = call if earlier == step.number or len(call) < _SHORT_CALL else f"same_as {earlier}"
        lines.append(f"step {step.number} {quoted(one_line(step.title))} {words}")
    return lines


def _call(step: Step, names: Names) -> list[str]:
    """A DBA's own command line, where it is more than words, is one word for `eval`."""
    if not step.call:
        return []
    words = words_of(step.call)
    return [_word(word, names) for word in words] if words else ["eval", quoted(step.call)]


def _word(text: str, names: Names) -> str:
    """The text as one word of the shell, what has a name by it where that is shorter."""
    plain, named = quoted(text), _escaped(text)
    for value, name in sorted(names.items(), key=lambda each: -len(each[0])):
        named = re.sub(rf"(?<!\w){re.escape(_escaped(value))}(?!\w)", f"${name}", named)
    return min(plain, f'"{named}"', key=len)


def _escaped(text: str) -> str:
    """As it stands between double quotes."""
    return re.sub(r'["$`]|\\(?=["$`\\\n]|$)', lambda found: f"\\{found[0]}", text)


def _flags(step: Step) -> str:
    """What the runner needs to know of the step, and of those that follow until the next such line."""
    flags = {
        "stopped": step.stopped,
        "needed": not step.skippable,
        "opens": step.renewed,
        "closes": step.closes,
        "private": step.private,
        "functions": step.takes_functions,
        "no-return": step.point_of_no_return,
        "judged": step.reads == LISTENS,
    }
    return " ".join(["set_flags", *(name for name, true in flags.items() if true)])


def _values(step: Step, plan: Plan) -> str:
    """What the runner needs to know of the step alone: numbers of others, and of its pass."""
    numbers = {each.name: each.number for each in plan.steps}
    # the proof that old is stopped must print what it printed before
    agrees = step.name if step.name == STOPPED else step.agrees_with
    values = {
        "reads": numbers.get(step.reads, 0),
        "agrees": numbers.get(agrees, 0),
        "mends": plan.first_copying if step.agrees_with == SUMS else 0,
        "again": _again_until(step, plan),
        "pass": step.warm_pass,
    }
    return " ".join(f"{name}={value}" for name, value in values.items() if value)


def _again_until(step: Step, plan: Plan) -> int:
    """Up to which step a script that begins behind this one does it again first; 0: never.

    The channel as long as it is still to be closed; the proof of the stop until new is opened; what the stopped old
    server is until its files are summed up, as they may have been mended meanwhile; what nobody may keep, and the proof
    that another one rests on, as long as it is still to be read; once new is open, that nobody has started old.
    """
    if step.renewed:
        return max((each.number for each in plan.steps if each.closes), default=0)
    if step.name == STOPPED:
        return first(each for each in plan.steps if each.point_of_no_return)
    if step.name == STOPPED_ROOTS:
        return first(each for each in plan.steps if each.name == SUMS)
    if step.name == ALONE:
        return len(plan.steps)
    if step.private or step.name == LISTENS:
        return max((each.number for each in plan.steps if each.reads == step.name), default=0)
    return 0


def first(steps: Iterable[Step]) -> int:
    """The number of the first of them, 0 where there is none."""
    return next((step.number for step in steps), 0)


def one_line(text: str) -> str:
    """One line without control characters: nothing breaks out of a comment."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
