"""The DBA's own commands in a plan: for what a person would do, and for what follows the opening."""

from collections.abc import Sequence
from dataclasses import replace

from core.migration.model.move import Hook, HookCommand
from core.migration.model.plan import Phase, PlanWarning, Step
from core.migration.plan.context import PlanContext

_TITLES = {
    Hook.STOP_APPLICATIONS: "Stop the applications",
    Hook.MOVE_CRON_JOBS: "Move the cron jobs",
    Hook.MOVE_ADDRESS: "Move the virtual address",
    Hook.TELL_POOLER: "Tell the connection pooler",
}
LEAD = "lead"
"""The name of the step in which people lead the applications to new: the hooks after the opening stand before it."""


def hooked(steps: Sequence[Step], context: PlanContext, hooks: Sequence[HookCommand]) -> list[Step]:
    """The steps with the commands in their places: a hook that is a step already becomes one that a command does.

    What a command from elsewhere would do is left to a person, who finds it among the plan's warnings.
    """
    commands = {hook.hook: hook for hook in hooks if not hook.from_elsewhere}
    made: list[Step] = []
    for step in steps:
        if step.name == LEAD:
            made += [_after(commands[hook], context) for hook in Hook if hook in commands and hook not in _names(steps)]
        own = next((command for hook, command in commands.items() if hook == step.name), None)
        made.append(step if own is None else _placed(step, own, context))
    return made


def foreign(move: str, hooks: Sequence[HookCommand]) -> list[PlanWarning]:
    """A warning for each command that came with a history that somebody else has recorded: it is shown, and not run."""
    return [
        PlanWarning(
            f"The command for {hook.hook} was not recorded by you, and is not run: {hook.command} "
            f"To run it, record it yourself: pghaul move hook {move} {hook.hook} --side {hook.side} --command …"
        )
        for hook in hooks
        if hook.from_elsewhere
    ]


def _names(steps: Sequence[Step]) -> set[str]:
    return {step.name for step in steps}


def _after(hook: HookCommand, context: PlanContext) -> Step:
    reason = "This step runs your own command."
    step = Step(
        _TITLES[hook.hook],
        "you",
        "",
        "",
        reason,
        "To undo, reverse by hand what your command has done.",
        phase=Phase.OPEN,
        name=hook.hook,
        skippable=False,
    )
    return _placed(step, hook, context)


def _placed(step: Step, hook: HookCommand, context: PlanContext) -> Step:
    """Where it runs and as whom; on the workstation, that is the side `you`."""
    if hook.side == "workstation":
        return replace(step, side="you", user="", call=hook.command, native=())
    profile = context.old if hook.side == "old" else context.new
    user = hook.user or profile.user or profile.database_user
    return replace(step, side=hook.side, user=user, call=hook.command, native=())
