"""The DBA's own commands in a plan: for what a person would do, and for what follows the opening."""

from collections.abc import Sequence
from dataclasses import replace

from core.migration.model.move import Hook, HookCommand
from core.migration.model.plan import Draft
from core.migration.plan.site import Site

_TITLES = {
    Hook.STOP_APPLICATIONS: "stop the applications",
    Hook.MOVE_CRON_JOBS: "move the cron jobs",
    Hook.MOVE_ADDRESS: "move the virtual address",
    Hook.TELL_POOLER: "tell the pooler",
}
LEAD = "lead"
"""The name of the step in which people lead the applications to new: the hooks after the opening stand before it."""


def hooked(drafts: Sequence[Draft], site: Site, hooks: Sequence[HookCommand]) -> list[Draft]:
    """The drafts with the commands in their places: a hook that is a step already becomes one that a command does."""
    commands = {hook.hook: hook for hook in hooks}
    made: list[Draft] = []
    for draft in drafts:
        if draft.name == LEAD:
            made += [_after(commands[hook], site) for hook in Hook if hook in commands and hook not in _names(drafts)]
        own = next((command for hook, command in commands.items() if hook == draft.name), None)
        made.append(draft if own is None else _placed(draft, own, site))
    return made


def _names(drafts: Sequence[Draft]) -> set[str]:
    return {draft.name for draft in drafts}


def _after(hook: HookCommand, site: Site) -> Draft:
    reason = "your own command for it"
    draft = Draft(_TITLES[hook.hook], "you", "", "", reason, "undo it by hand", name=hook.hook, skippable=False)
    return _placed(draft, hook, site)


def _placed(draft: Draft, hook: HookCommand, site: Site) -> Draft:
    """Where it runs and as whom; on the workstation, that is the side `you`."""
    if hook.side == "workstation":
        return replace(draft, side="you", user="", command=hook.command)
    profile = site.old if hook.side == "old" else site.new
    user = hook.user or profile.user or profile.database_user
    return replace(draft, side=hook.side, user=user, command=hook.command)
