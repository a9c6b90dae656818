"""The route within one server: it needs no key, only a folder for the lists of files. NFS needs no more, either."""

from core.migration.model import step_ids
from core.migration.model.plan import ChannelUse, Phase, RemoteCall, ResumePolicy, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel
from core.sides import Side


def opening_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the step that creates the copy's own folder; `owner` is the owner of the cluster."""
    return [
        Step(
            id=step_ids.CREATE_COPY_FOLDER,
            title="Create a folder for this copy",
            action=RemoteCall(
                side=Side.OLD,
                user=owner,
                call=str(copy_channel.make_folder(channel)),
                native=(f"mkdir -m 700 {channel.folder}",),
            ),
            reason="The copy needs no key, only a place for its lists of files.",
            undo=undone(owner, Side.OLD, f"rm -r {channel.folder}"),
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.OPENS),
        )
    ]


def closing_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the step that removes the folder."""
    return [
        Step(
            id=step_ids.REMOVE_COPY_FOLDER,
            title="Remove the folder of this copy",
            action=RemoteCall(
                side=Side.OLD,
                user=owner,
                call=str(copy_channel.remove_key(channel)),
                native=(f"rm -r {channel.folder}",),
            ),
            reason="The copy is complete. It needs its lists of files no more.",
            undo="To undo, create the folder again by the step above.",
            phase=Phase.CLOSE,
            downtime=True,
            in_rehearsal=True,
            resume=ResumePolicy(channel=ChannelUse.CLOSES),
        )
    ]
