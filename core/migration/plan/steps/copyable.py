"""The check before the stop that every file in the data roots of the old server can be copied."""

from dataclasses import replace

from core.migration.findings.data_roots import private_key_path
from core.migration.model.plan import ONLY_LOOKS, Phase, Step
from core.migration.plan.context import PlanContext
from core.servers.shell import call, command


def check_copyable(context: PlanContext) -> Step:
    """Return the check that every file can be copied. It runs in rehearsals too, because facts may be days old."""
    folders = [content for root in context.roots for content in root.contents]
    return Step(
        "Check that every file can be copied",
        "old",
        context.owner,
        str(call("check_copyable", private_key_path(context.cluster) or "-", *folders)),
        "A file that the owner of the cluster may not read would end the copy during the downtime.",
        ONLY_LOOKS,
        (command("find", *folders, "-type", "f", "!", "-readable").text,),
        phase=Phase.STOP,
        name="copyable",
        share=0.0,
        renewed=True,
        skippable=False,
        rehearsed=True,
        proves=True,
    )


def check_copyable_in_downtime(context: PlanContext) -> Step:
    """Return the same check for the moment before the stop: a manual step may have taken long."""
    step = check_copyable(context)
    return replace(
        step,
        title="Check again that every file can be copied",
        name="copyable-in-stop",
        stopped=True,
        renewed=False,
        rehearsed=False,
    )
