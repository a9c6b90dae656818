"""What an execution would run that the history alone vouches for: shown to a person before they take it over.

The history may come from somebody else, or its key may be lost, be another one, or younger than the execution: an
upgrade made it. Nothing in the file tells these apart, so a person does, who knows what they have begun. Names and
titles in it are its author's: where a command runs is said by its side, which is what counts, and the user's profiles.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence

from core.errors import InputError
from core.migration.execution.resume import DIFFERS, find_resync_user
from core.migration.model import step_ids
from core.migration.model.execution import Execution, StepRun
from core.migration.model.move import HookCommand
from core.migration.model.plan import OperatorTask, Plan, Step, functions_of
from core.servers.shell import quoted
from core.sides import Side

_LONGEST = 4
"""Times as long as this pghaul's functions, from where on others are shown whole: to compare them takes too long."""


def refuse_strange_commands(execution: Execution, hooks: Sequence[HookCommand]) -> None:
    """Raise InputError where a command of it would run on the workstation and is none of the user's own hooks."""
    own = {(each.hook, each.command) for each in hooks if each.side == "workstation" and not each.from_elsewhere}
    for step in _steps(execution.plan):
        task = step.action
        if isinstance(task, OperatorTask) and task.command and (task.hook, task.command) not in own:
            raise InputError(
                f"Step {step.number} of execution {execution.id} of {execution.move} would run a command on this "
                f"workstation that you have not recorded for it: {step.call}",
                f"If it is yours, record it and try again: pghaul move hook {quoted(execution.move)} HOOK --side "
                "workstation --command …",
            )


def find_functions_to_replace(execution: Execution) -> frozenset[int]:
    """The steps that are to run again because how they came out is the history's word alone.

    What proves, what a later step reads or is held against, what compares, and who reads of these. The proof of the
    stop is made again by whoever goes on, and held against the first. What only a running old cluster can tell stays
    once it was to be stopped; and all stays once the new cluster was started, which changes what was compared.
    """
    # The files of the new cluster change with its first start. A comparison that is repeated after it would fail
    # although the copy was right.
    if _begun(execution, step_ids.START_LOCALLY):
        return frozenset()
    steps = execution.plan.steps
    told = {name for step in steps for name in (step.reads, step.verification.equals) if name}
    stop = (
        next((step.number for step in steps if step.id == step_ids.STOP_OLD_CLUSTER), 0)
        if _begun(execution, step_ids.STOP_OLD_CLUSTER)
        else 0
    )
    found = {
        step.number
        for step in steps
        if (
            step.verification.only_checks
            or step.resume.opens_channel
            or step.verification.equals
            or (step.id in told and step.number > stop)
        )
        and step.id != step_ids.CHECK_STOPPED
    }
    names = {step.id for step in steps if step.number in found}
    return frozenset(
        {*found, *(step.number for step in steps if step.reads in names and step.id != step_ids.CHECK_STOPPED)}
    )


def describe_execution(execution: Execution, servers: Mapping[Side, str]) -> str:
    """All that speaks for and against it, in lines: functions, variables, commands, what counts as done, the account.

    `servers`: which machine each side is, by the user's own profiles.
    """
    strange = _strange_functions(execution.plan)
    lines = [*strange, *(f"with {name}={_indented(value)}" for name, value in execution.plan.settings)]
    return "\n".join(
        [*lines, *_commands(execution.plan), *_outcomes(execution), "", _account(execution, servers, strange)]
    )


def _account(execution: Execution, servers: Mapping[Side, str], strange: Sequence[str]) -> str:
    plan = execution.plan
    ours = (
        "Its functions differ from those of this pghaul. They are of another version, or of somebody else. The first "
        f"{len(strange)} lines above show the differences."
        if strange
        else "The functions that these call are exactly those of this pghaul."
    )
    again = (
        "What it has checked and read is checked and read again."
        if find_functions_to_replace(execution)
        else "None of its checks is repeated."
    )
    return (
        f"Execution {execution.id} of {execution.move} is unsigned: your pghaul has not recorded it as it stands, or "
        f"has another key now. The history says: {execution.kind}, begun {execution.started_at:%Y-%m-%d %H:%M} UTC by "
        f"{execution.owner}, {execution.state}, from {plan.data_directory} on the old server to {plan.target} on the "
        f"new server. The old server is {servers[Side.OLD]}. The new server is {servers[Side.NEW]}. Its plan has "
        f"{len(list(_commands(plan)))} commands. {ours} {again} Take it over only if you know that it is your own, "
        "and that these are its servers. All of it may then run on both servers, also as root."
    )


def _steps(plan: Plan) -> tuple[Step, ...]:
    return (*plan.steps, *plan.way_back)


def _commands(plan: Plan) -> Iterator[str]:
    """A line for each command that it may run, with where and as whom."""
    for step in _steps(plan):
        for call in (step.call, step.verification.lists):
            if call:
                where = (
                    f"on the {step.side} server as {step.user}"
                    if step.side is not None
                    else "on this workstation as you"
                )
                yield f"{step.number}. {where}: {_indented(call)}"
        if step.verification.resync:
            user = find_resync_user(plan) or "its login"
            yield f"{step.number}. on the old server as {user}: {_indented(step.verification.resync)}"


def _outcomes(execution: Execution) -> Iterator[str]:
    """A line for each step that is said to have begun: how it ended, and what it printed where another goes by that."""
    void = find_functions_to_replace(execution)
    told = {name for step in execution.plan.steps for name in (step.reads, step.verification.equals) if name}
    for step in execution.plan.steps:
        run = execution.latest(step.number)
        if run is None or run.void:
            continue
        yield f"{step.number}. {'runs again' if step.number in void else _stands(run)}: {_indented(step.title)}"
        if run.done and step.number not in void and step.id in told:
            yield f"     the history says that it has printed: {_indented(run.output.strip())}"


def _stands(run: StepRun) -> str:
    if run.done:
        return "counts as done"
    return "counts as not agreeing" if run.exit_status == DIFFERS else "counts as failed or interrupted"


def _strange_functions(plan: Plan) -> list[str]:
    """How the plan's functions differ from this pghaul's, as `diff -u` says it; nothing where they are the same."""
    ours = functions_of([*plan.steps, *plan.way_back, *plan.later], dict(plan.settings))
    if plan.functions == ours:
        return []
    if len(plan.functions) > _LONGEST * len(ours):
        return [f"+{line}" for line in plan.functions.split("\n")]
    return list(
        difflib.unified_diff(ours.split("\n"), plan.functions.split("\n"), "this pghaul", "the history", lineterm="")
    )


def _begun(execution: Execution, name: str) -> bool:
    step = execution.plan.step(name)
    return step is not None and execution.latest(step.number) is not None


def _indented(text: str) -> str:
    """Behind its first line set in, so that no line of it passes for another's."""
    return text.replace("\n", "\n     ")
