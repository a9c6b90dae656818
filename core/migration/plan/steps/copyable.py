"""The check before the stop that every file in the data roots of the old server can be copied."""

from dataclasses import replace

from core.migration.findings.data_roots import private_key_path
from core.migration.model import step_ids
from core.migration.model.plan import (
    ONLY_LOOKS,
    ChannelUse,
    Phase,
    RemoteCall,
    ResumePolicy,
    Step,
    Timing,
    Verification,
)
from core.migration.plan.context import PlanContext
from core.servers.shell import call, command
from core.sides import Side


def check_copyable(context: PlanContext) -> Step:
    """Return the check that every file can be copied. It runs in rehearsals too, because facts may be days old."""
    folders = [content for root in context.roots for content in root.contents]
    return Step(
        id=step_ids.CHECK_COPYABLE,
        title="Check that every file can be copied",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(call("check_copyable", private_key_path(context.cluster) or "-", *folders)),
            native=(command("find", *folders, "-type", "f", "!", "-readable").text,),
        ),
        reason="A file that the owner of the cluster may not read would end the copy during the downtime.",
        undo=ONLY_LOOKS,
        phase=Phase.STOP,
        in_rehearsal=True,
        resume=ResumePolicy(required=True, channel=ChannelUse.OPENS),
        verification=Verification(only_checks=True),
        timing=Timing(share=0.0),
    )


def check_copyable_in_downtime(context: PlanContext) -> Step:
    """Return the same check for the moment before the stop: a manual step may have taken long."""
    step = check_copyable(context)
    return replace(
        step,
        title="Check again that every file can be copied",
        id=step_ids.CHECK_COPYABLE_IN_DOWNTIME,
        downtime=True,
        in_rehearsal=False,
        resume=ResumePolicy(required=True),
    )
