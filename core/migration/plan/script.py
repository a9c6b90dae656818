"""A plan as a POSIX shell script for the workstation: settings, functions, how it runs, then a line for each step.

How it runs stands in `resources/script`: `runner.sh` on the workstation, `server.sh` on a server.
"""

import secrets
from collections.abc import Iterable

from core import units
from core.migration.model.execution import lock_path
from core.migration.model.plan import Login, Plan, Step
from core.migration.plan.calls import Paths, call_line, paths_of
from core.migration.plan.steps.copy import STOPPED
from core.servers.functions import library, needed, variables_in
from core.servers.profiles import Profile
from core.servers.shell import command, quoted, words_of
from core.settings import resource

_SENT = """\
# --- sent to the server ahead of each call: settings, functions ---
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
"""
_FUNCTIONS = """\
# --- functions, the same that pghaul itself runs: `pghaul functions NAME` and the runbook say what each does ---"""
_END_OF_FUNCTIONS = "# --- end of the functions ---"
_HOW = "# --- how a step runs ---"


def login(side: str, profile: Profile) -> Login:
    """How the script reaches a server of that profile; what the profile leaves open is ssh's own business."""
    options: list[str | int] = []
    for flag, value in (("-p", profile.port), ("-i", profile.identity_file), ("-J", profile.jump)):
        if value is not None:
            options += [flag, value]
    destination = profile.address if profile.user is None else f"{profile.user}@{profile.address}"
    ssh = command("ssh", *options, "--", destination)
    return Login(side, profile.name, ssh.text, profile.user, profile.rights.value, profile.database_user)


def script(plan: Plan) -> str:
    """The plan as a script that needs no pghaul: `sh`, `ssh` and the tools of any Unix.

    It asks before it begins and where a person decides. It has a token of its own for the lock on both servers, which
    pghaul takes too.
    """
    logins, functions = {each.side: each for each in plan.logins}, _functions(plan)
    read = variables_in(functions)
    parts = [
        "#!/bin/sh",
        *(f"# {_line(line)}" for line in _head(plan)),
        "",
        "# shellcheck disable=SC2016,SC3067 # what is quoted the servers read; each sh of a Linux knows `test -O`",
        *_settings(plan, logins),
        "",
        _SENT + "".join(f"{name}={quoted(value)}\n" for name, value in plan.settings if name in read),
        _FUNCTIONS,
        functions + _END_OF_FUNCTIONS,
        "",
        _text("server.sh"),
        _HOW,
        _text("runner.sh"),
        *_steps("steps", "steps", plan.steps, plan),
        *_steps(
            "way_back",
            "the way back, from wherever the steps have got to before the point of no return",
            plan.way_back,
            plan,
        ),
        'main "$@"',
    ]
    return "\n".join(parts) + "\n"


_LOCKING = ("take_lock", "release_lock")
"""What the script calls besides the steps."""


def _functions(plan: Plan) -> str:
    """What its steps and the way back call, as the plan has it."""
    both = "\n".join([library(_LOCKING), plan.functions])  # of two of a name the plan's
    return needed(both, [*_LOCKING, *(step.call for step in (*plan.steps, *plan.way_back))], dict(plan.settings))


def _head(plan: Plan) -> list[str]:
    """What it is, in lines for people; the script shows them ahead of its question."""
    old, new = (next(each.server for each in plan.logins if each.side == side) for side in ("old", "new"))
    down = [step for step in plan.steps if step.stopped]
    said = [f"Move {plan.move}: {old}:{plan.data_directory} to {new}:{plan.target}, {len(plan.steps)} steps."]
    if down:
        seconds = units.duration(sum(step.expected_seconds or 0.0 for step in down))
        stop = f"The cluster is stopped from step {down[0].number} to {down[-1].number}: "
        said.append(f"{stop}{seconds} of commands, and what people take.")
    return [*said, f"Transport: {plan.transport}; {plan.why}.", *plan.warnings]


def _settings(plan: Plan, logins: dict[str, Login]) -> list[str]:
    """What differs from move to move: who logs in, the lock, and the steps that bound others."""
    made: list[str] = []
    for side, folder in (("old", plan.data_directory), ("new", plan.target)):
        each = logins[side]
        owner = quoted(each.database_user)
        made += [
            f'{side}() {{ {each.ssh} "$@"; }}',
            f"{side}_rights={each.rights} {side}_owner={owner} {side}_lock={lock_path(folder)}",
        ]
    steps = plan.steps
    bounds = {
        "last_step": len(steps),
        "first_pass": _first(step for step in steps if step.warm_pass or step.stopped),
        "stop_step": _first(step for step in steps if step.stopped),
        "proof_step": _first(step for step in steps if step.name == STOPPED),
        "return_step": _first(step for step in steps if step.point_of_no_return),
    }
    return [
        *made,
        f"cluster={quoted(plan.cluster)} token={secrets.token_hex(4)}",
        " ".join(f"{name}={number}" for name, number in bounds.items()),
        *(f"{name}={quoted(path)}" for (_, path), name in paths_of(plan).items()),
    ]


def _first(steps: Iterable[Step]) -> int:
    return next((step.number for step in steps), 0)


def _steps(name: str, what: str, steps: tuple[Step, ...], plan: Plan) -> list[str]:
    paths = paths_of(plan)
    lines = [line for step in steps for line in _step(step, plan, paths)]
    return [f"# --- {what} ---", f"{name}() {{", *(f"  {line}" for line in lines or [":"]), "}", ""]


def _step(step: Step, plan: Plan, paths: Paths) -> list[str]:
    said = _said(step, plan)
    lines = [f"with {said}"] if said else []
    if step.by_person:
        needed_to_know = "\n".join(filter(None, (step.reason, step.table)))
        lines.append(f"why {quoted(needed_to_know)}")
    if step.native:
        lines.append(f"does {' '.join(map(quoted, step.native))}")
    words = [str(step.number), quoted(_line(step.title)), step.side, quoted(step.user)]
    return [*lines, " ".join(["step", *words, *_call(step, paths)])]


def _call(step: Step, paths: Paths) -> list[str]:
    """A DBA's own command line, where it is more than words, is one word for `eval`."""
    if not step.call:
        return []
    return [call_line(step, paths)] if words_of(step.call) else ["eval", quoted(step.call)]


def _said(step: Step, plan: Plan) -> str:
    """What the runner needs to know of the step, in its words."""
    flags = {
        "stopped": step.stopped,
        "needed": not step.skippable,
        "opens": step.renewed,
        "closes": step.closes,
        "private": step.private,
        "same": step.name == STOPPED,
        "functions": step.takes_functions,
        "no-return": step.point_of_no_return,
    }
    numbers = {each.name: each.number for each in plan.steps}
    values = {
        "reads": numbers.get(step.reads, 0),
        "agrees": numbers.get(step.agrees_with, 0),
        "again": _again_until(step, plan),
        "pass": step.warm_pass,
    }
    return " ".join(
        [
            *(name for name, true in flags.items() if true),
            *(f"{name}={value}" for name, value in values.items() if value),
        ]
    )


def _again_until(step: Step, plan: Plan) -> int:
    """Up to which step a script that begins behind this one does it again first; 0: never.

    The channel as long as it is still to be closed; the proof of the stop until new is opened; what nobody may keep as
    long as it is still to be read.
    """
    if step.renewed:
        return max((each.number for each in plan.steps if each.closes), default=0)
    if step.name == STOPPED:
        return _first(each for each in plan.steps if each.point_of_no_return)
    if step.private:
        return max((each.number for each in plan.steps if each.reads == step.name), default=0)
    return 0


def _text(name: str) -> str:
    return resource("script", name).read_text(encoding="utf-8")


def _line(text: str) -> str:
    """One line without control characters: nothing breaks out of a comment."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
