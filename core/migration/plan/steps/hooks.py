"""The operator's own commands in a plan: they replace manual steps, or follow the cutover."""

from collections.abc import Sequence
from dataclasses import replace

from core.migration.model import step_ids
from core.migration.model.move import Hook, HookCommand
from core.migration.model.plan import OperatorTask, Phase, PlanWarning, RemoteCall, ResumePolicy, Step
from core.migration.plan.context import PlanContext
from core.servers.shell import quoted
from core.sides import Side

_TITLES = {
    Hook.STOP_APPLICATIONS: "Stop the applications",
    Hook.MOVE_CRON_JOBS: "Move the cron jobs",
    Hook.MOVE_ADDRESS: "Move the virtual address",
    Hook.TELL_POOLER: "Tell the connection pooler",
}


def insert_hooks(steps: Sequence[Step], context: PlanContext, hooks: Sequence[HookCommand]) -> list[Step]:
    """Return the steps with the hooks in their places.

    A hook for a manual step of the plan turns it into a step that runs the command. A hook that others have recorded is
    not run: the manual step stays, and `warn_of_foreign_hooks` shows the command.
    """
    commands = {hook.hook: hook for hook in hooks if not hook.from_elsewhere}
    planned = {step.action.hook for step in steps if isinstance(step.action, OperatorTask)}
    made: list[Step] = []
    for step in steps:
        if step.id == step_ids.REPOINT_APPLICATIONS:  # the hooks without a step of their own come before it
            made += [_hook_step(commands[hook], context) for hook in Hook if hook in commands and hook not in planned]
        own = commands.get(step.action.hook) if isinstance(step.action, OperatorTask) and step.action.hook else None
        made.append(step if own is None else _run_as_hook(step, own, context))
    return made


def warn_of_foreign_hooks(move: str, hooks: Sequence[HookCommand]) -> list[PlanWarning]:
    """Return a warning for each hook that others have recorded, which is shown and not run."""
    return [
        PlanWarning(
            f"The command for {hook.hook} was not recorded by you, and is not run: {hook.command} "
            f"To run it, record it yourself: pghaul move hook {quoted(move)} {hook.hook} --side {hook.side} --command …"
        )
        for hook in hooks
        if hook.from_elsewhere
    ]


def _hook_step(hook: HookCommand, context: PlanContext) -> Step:
    reason = "This step runs your own command."
    step = Step(
        id=hook.hook.value,
        title=_TITLES[hook.hook],
        action=OperatorTask(hook=hook.hook),
        reason=reason,
        undo="To undo, reverse by hand what your command has done.",
        phase=Phase.AFTER,
        resume=ResumePolicy(required=True),
    )
    return _run_as_hook(step, hook, context)


def _run_as_hook(step: Step, hook: HookCommand, context: PlanContext) -> Step:
    """Return the step with the command of the hook, which runs on the workstation or on a server."""
    if hook.side == "workstation":
        return replace(step, action=OperatorTask(hook=hook.hook, command=hook.command))
    profile = context.old if hook.side is Side.OLD else context.new
    user = hook.user or profile.user or profile.database_user
    return replace(step, action=RemoteCall(side=hook.side, user=user, call=hook.command))
