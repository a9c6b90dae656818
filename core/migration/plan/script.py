"""A plan as a POSIX shell script for the workstation: settings, functions, the runner, then a line for each step.

The runner is in `resources/script`: `runner.sh` runs on the workstation, `server.sh` on a server. A step is a line of
flags where they change, its native commands, and its call. Variables stand for texts that occur in many lines: the
copy's folder, the options of rsync, and PATHs.
"""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence

from core.migration.model import step_ids
from core.migration.model.execution import lock_path
from core.migration.model.plan import OPERATOR, Login, Plan, Step
from core.migration.plan.calls import path_variables
from core.migration.plan.runbook import downtime_sentence
from core.servers.functions import library, needed, variables_in
from core.servers.profiles import Profile
from core.servers.shell import command, quoted, words_of
from core.settings import resource
from core.sides import Side
from core.text import sentence

_SENT = """\
# --- sent to the server ahead of each call: settings, functions ---
export LC_ALL=C
"""
_FUNCTIONS = """\
# --- functions, the same that pghaul itself runs: `pghaul functions NAME` and the runbook say what each does ---"""
_END_OF_FUNCTIONS = "# --- end of the functions ---"
_SHELLCHECK = (
    "# shellcheck disable=SC2016,SC2086,SC3067 "
    "# servers expand what is quoted; unquoted variables hold several options; every sh of Linux knows `test -O`"
)
_WAY_BACK = "rollback: from any step before the point of no return"
_HOW = "# --- how a step runs ---"


def login(side: Side, profile: Profile) -> Login:
    """Return how the script logs in to the server of that profile; ssh decides what the profile leaves open."""
    options: list[str | int] = []
    for flag, value in (("-p", profile.port), ("-i", profile.identity_file), ("-J", profile.jump)):
        if value is not None:
            options += [flag, value]
    destination = profile.address if profile.user is None else f"{profile.user}@{profile.address}"
    ssh = command("ssh", *options, "--", destination)
    return Login(side, profile.name, ssh.text, profile.user, profile.rights.value, profile.database_user)


def script(plan: Plan) -> str:
    """Return the plan as a script that needs no pghaul, only `sh`, `ssh` and the tools of any Unix.

    The script asks before it begins and at each decision. It has a token of its own for the lock on both servers, which
    pghaul takes, too.
    """
    logins, functions = {each.side: each for each in plan.logins}, _functions(plan)
    read, names = variables_in(functions), variable_names(plan)
    steps = [*_steps("steps", "steps", plan.steps, plan), *_steps("way_back", _WAY_BACK, plan.way_back, plan)]
    sent = {name: value for name, value in plan.settings if name in read}
    here = {name: value for value, name in names.items() if name not in sent and f"${name}" in "\n".join(steps)}
    parts = [
        "#!/bin/sh",
        *(f"# {one_line(line)}" for line in _introduction(plan)),
        "",
        _SHELLCHECK,
        *_settings(plan, logins),
        *_assignments(here),
        "",
        _SENT + "\n".join(_assignments(sent)),
        "",
        _FUNCTIONS,
        _without_shellcheck_marks(functions) + _END_OF_FUNCTIONS,
        "",
        _script_resource("server.sh"),
        _HOW,
        _script_resource("runner.sh"),
        *steps,
        'main "$@"',
    ]
    return "\n".join(parts) + "\n"


_LOCKING = ("take_lock", "release_lock")
"""The functions that the script calls besides those of the steps."""


def _functions(plan: Plan) -> str:
    """Return the shell functions that the steps and the rollback call, as the plan contains them."""
    both = "\n".join([library(_LOCKING), plan.functions])  # if a name occurs twice, the plan's function counts
    return needed(both, [*_LOCKING, *(step.call for step in (*plan.steps, *plan.way_back))], dict(plan.settings))


def _introduction(plan: Plan) -> list[str]:
    """Return lines that describe the move; the script shows them before its question."""
    old, new = (next(each.server for each in plan.logins if each.side is side) for side in Side)
    from_to = f"{old}:{plan.data_directory} to {new}:{plan.target}"
    lines = [f"This script moves {from_to}. The move is called {plan.move} and has {len(plan.steps)} steps."]
    if plan.downtime_steps:
        lines.append(downtime_sentence(plan))
    return [*lines, f"The transport is {plan.transport}. {sentence(plan.why)}", *map(str, plan.warnings)]


def _settings(plan: Plan, logins: dict[Side, Login]) -> list[str]:
    """Return the settings of this move: the logins, the lock, and the numbers of steps that limit others."""
    lines: list[str] = []
    for side, folder in ((Side.OLD, plan.data_directory), (Side.NEW, plan.target)):
        each = logins[side]
        owner = quoted(each.database_user)
        lines += [
            f'{side}() {{ {each.ssh} "$@"; }}',
            f"{side}_rights={each.rights} {side}_owner={owner} {side}_lock={lock_path(folder)}",
        ]
    steps = plan.steps
    bounds = {
        "last_step": len(steps),
        "first_pass": first_number(step for step in steps if step.precopy_pass or step.downtime),
        "stop_step": first_number(step for step in steps if step.downtime),
        "halt_step": first_number(
            step for step in steps if step.id in {step_ids.STOP_OLD_CLUSTER, step_ids.CHECK_STOPPED}
        ),
        "proof_step": first_number(step for step in steps if step.id == step_ids.CHECK_STOPPED),
        "lift_step": first_number(step for step in steps if step.id == step_ids.LIFT_FENCE),
        "return_step": first_number(step for step in steps if step.point_of_no_return),
    }
    return [
        *lines,
        f"cluster={quoted(plan.cluster)} token={secrets.token_hex(4)}",
        " ".join(f"{name}={number}" for name, number in bounds.items()),
    ]


def _assignments(variables: Mapping[str, str]) -> list[str]:
    return [f"{name}={quoted(value)}" for name, value in variables.items()]


def _steps(name: str, what: str, steps: tuple[Step, ...], plan: Plan) -> list[str]:
    lines = [f"  {line}" for line in script_lines(steps, plan)] or ["  :"]
    return [f"# --- {what} ---", f"{name}() {{", *lines, "}", ""]


def _script_resource(name: str) -> str:
    return _without_shellcheck_marks(resource("script", name).read_text(encoding="utf-8"))


def _without_shellcheck_marks(text: str) -> str:
    """Return the text without shellcheck's directives; one directive at the top covers all."""
    return re.sub(r"^ *# shellcheck disable=SC2086 .*\n", "", text, flags=re.MULTILINE)


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
