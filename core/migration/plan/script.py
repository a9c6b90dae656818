"""A plan as a POSIX shell script for the workstation: settings, functions, how it runs, then a line for each step.

How it runs stands in `resources/script`: `runner.sh` on the workstation, `server.sh` on a server.
"""

import re
import secrets
from collections.abc import Mapping

from core.migration.model.execution import lock_path
from core.migration.model.plan import Login, Plan, Step
from core.migration.plan.runbook import downtime_sentence
from core.migration.plan.script_steps import first, names_of, one_line, steps_of
from core.migration.plan.steps.copy import STOP, STOPPED
from core.servers.functions import library, needed, variables_in
from core.servers.profiles import Profile
from core.servers.shell import command, quoted
from core.settings import resource
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
    read, names = variables_in(functions), names_of(plan)
    steps = [*_steps("steps", "steps", plan.steps, plan), *_steps("way_back", _WAY_BACK, plan.way_back, plan)]
    sent = {name: value for name, value in plan.settings if name in read}
    here = {name: value for value, name in names.items() if name not in sent and f"${name}" in "\n".join(steps)}
    parts = [
        "#!/bin/sh",
        *(f"# {one_line(line)}" for line in _head(plan)),
        "",
        _SHELLCHECK,
        *_settings(plan, logins),
        *_assignments(here),
        "",
        _SENT + "\n".join(_assignments(sent)),
        "",
        _FUNCTIONS,
        _unmarked(functions) + _END_OF_FUNCTIONS,
        "",
        _text("server.sh"),
        _HOW,
        _text("runner.sh"),
        *steps,
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
    from_to = f"{old}:{plan.data_directory} to {new}:{plan.target}"
    said = [f"This script moves {from_to}. The move is called {plan.move} and has {len(plan.steps)} steps."]
    if down:
        said.append(downtime_sentence(down))
    return [*said, f"The transport is {plan.transport}: {sentence(plan.why)}", *map(str, plan.warnings)]


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
        "first_pass": first(step for step in steps if step.warm_pass or step.stopped),
        "stop_step": first(step for step in steps if step.stopped),
        "halt_step": first(step for step in steps if step.name in {STOP, STOPPED}),
        "proof_step": first(step for step in steps if step.name == STOPPED),
        "return_step": first(step for step in steps if step.point_of_no_return),
    }
    return [
        *made,
        f"cluster={quoted(plan.cluster)} token={secrets.token_hex(4)}",
        " ".join(f"{name}={number}" for name, number in bounds.items()),
    ]


def _assignments(variables: Mapping[str, str]) -> list[str]:
    return [f"{name}={quoted(value)}" for name, value in variables.items()]


def _steps(name: str, what: str, steps: tuple[Step, ...], plan: Plan) -> list[str]:
    lines = [f"  {line}" for line in steps_of(steps, plan)] or ["  :"]
    return [f"# --- {what} ---", f"{name}() {{", *lines, "}", ""]


def _text(name: str) -> str:
    return _unmarked(resource("script", name).read_text(encoding="utf-8"))


def _unmarked(text: str) -> str:
    """Without the marks by which shellcheck lets several options stand in a variable: the head has one for all."""
    return re.sub(r"^ *# shellcheck disable=SC2086 .*\n", "", text, flags=re.MULTILINE)
