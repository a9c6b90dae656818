"""The route from folder to folder on one server: no key, only a place for the lists of files. NFS needs no more."""

from core.migration.model.plan import Phase, Step, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, command

CONTENTS_ALONE = False


def opening(channel: CopyChannel, owner: str) -> list[Step]:
    """The copy's own folder made; `owner`: who owns the cluster."""
    return [
        Step(
            "make a folder for this copy",
            "old",
            owner,
            str(copy_channel.make_folder(channel)),
            "no key is needed, only a place for the lists of files",
            undone(owner, "old", copy_channel.remove_key(channel)),
            renewed=True,
            rehearsed=True,
        )
    ]


def closing(channel: CopyChannel, owner: str) -> list[Step]:
    """The folder removed."""
    return [
        Step(
            "remove the folder of this copy",
            "old",
            owner,
            str(copy_channel.remove_key(channel)),
            "nothing of the copy is left but the copy",
            "make the folder anew, as above",
            phase=Phase.CLOSE,
            timed_as=Phase.VERIFY,
            stopped=True,
            closes=True,
            rehearsed=True,
        )
    ]


def target(channel: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]:
    """The words by which rsync copies `source` into the folder of that label."""
    return (source, f"{dict(channel.targets)[label]}/")


contents = target


def sender(channel: CopyChannel) -> tuple[str | Shell, ...]:  # noqa: ARG001  other routes ask it for more
    """The words ahead of the options of an rsync that sends contents."""
    return ("rsync",)


def flush(channel: CopyChannel, label: str) -> Shell:
    """The command that ends when all that lies in the folder of that label is on the disk."""
    return command("sync", "-f", dict(channel.targets)[label])
