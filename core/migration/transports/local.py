"""The route from folder to folder on one server: no key, only a place for the lists of files. NFS needs no more."""

from core.migration.model.plan import Draft, undone
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, command

CONTENTS_ALONE = False


def opening(way: CopyChannel, owner: str) -> list[Draft]:
    """The copy's own folder made; `owner`: who owns the cluster."""
    return [
        Draft(
            "make a folder for this copy",
            "old",
            owner,
            copy_channel.make_folder(way),
            "no key is needed, only a place for the lists of files",
            undone(owner, "old", copy_channel.remove_key(way)),
            renewed=True,
            rehearsed=True,
        )
    ]


def closing(way: CopyChannel, owner: str) -> list[Draft]:
    """The folder removed."""
    return [
        Draft(
            "remove the folder of this copy",
            "old",
            owner,
            copy_channel.remove_key(way),
            "nothing of the copy is left but the copy",
            "make the folder anew, as above",
            stopped=True,
            closes=True,
            rehearsed=True,
        )
    ]


def target(way: CopyChannel, label: str, source: str) -> tuple[str | Shell, ...]:
    """The words by which rsync copies `source` into the folder of that label."""
    return (source, f"{dict(way.targets)[label]}/")


contents = target


def sender(way: CopyChannel) -> tuple[str | Shell, ...]:  # noqa: ARG001  other routes ask it for more
    """The words ahead of the options of an rsync that sends contents."""
    return ("rsync",)


def flush(way: CopyChannel, label: str) -> Shell:
    """The command that ends when all that lies in the folder of that label is on the disk."""
    return command("sync", "-f", dict(way.targets)[label])
