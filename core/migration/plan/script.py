"""A plan as a POSIX shell script for the workstation: settings, functions, the runner, then a line for each step.

The runner is in `resources/script`: `runner.sh` runs on the workstation, `server.sh` on a server.
"""

import re
import secrets
from collections.abc import Mapping

from core.migration.model import step_ids
from core.migration.model.execution import lock_path
from core.migration.model.plan import Login, Plan, Step
from core.migration.plan.runbook import downtime_sentence
from core.migration.plan.script_steps import first_number, one_line, script_lines, variable_names
from core.servers.functions import library, needed, variables_in
from core.servers.profiles import Profile
from core.servers.shell import command, quoted
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
    down = [step for step in plan.steps if step.downtime]
    from_to = f"{old}:{plan.data_directory} to {new}:{plan.target}"
    lines = [f"This script moves {from_to}. The move is called {plan.move} and has {len(plan.steps)} steps."]
    if down:
        lines.append(downtime_sentence(down))
    return [*lines, f"The transport is {plan.transport}: {sentence(plan.why)}", *map(str, plan.warnings)]


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
