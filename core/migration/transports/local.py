"""The route from folder to folder on one server: no key, only a place for the lists of files. NFS needs no more."""

from core.migration.model.plan import Phase, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """The copy's own folder made; `owner`: who owns the cluster."""
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


def closing(channel: CopyChannel, owner: str) -> list[Step]:
    """The folder removed."""
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
