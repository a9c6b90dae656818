"""The route within one server: it needs no key, only a folder for the lists of files. NFS needs no more, either."""

from core.migration.model.plan import Phase, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel


def opening_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the step that creates the copy's own folder; `owner` is the owner of the cluster."""
    return [
        Step(
            "Create a folder for this copy",
            "old",
            owner,
            str(copy_channel.make_folder(channel)),
            "The copy needs no key, only a place for its lists of files.",
            undone(owner, "old", f"rm -r {channel.folder}"),
            native=(f"mkdir -m 700 {channel.folder}",),
            name="copy-folder",
            renewed=True,
            rehearsed=True,
        )
    ]


def closing_steps(channel: CopyChannel, owner: str) -> list[Step]:
    """Return the step that removes the folder."""
    return [
        Step(
            "Remove the folder of this copy",
            "old",
            owner,
            str(copy_channel.remove_key(channel)),
            "The copy is complete. It needs its lists of files no more.",
            "To undo, create the folder again by the step above.",
            name="remove-copy-folder",
            native=(f"rm -r {channel.folder}",),
            phase=Phase.CLOSE,
            timed_as=Phase.VERIFY,
            stopped=True,
            closes=True,
            rehearsed=True,
        )
    ]
