"""The route from folder to folder on one server: no key, only a place for the lists of files. NFS needs no more."""

from core.migration import passage
from core.migration.passage import Passage
from core.migration.steps.site import Draft, undone
from core.servers.shell import Shell, command

CONTENTS_ALONE = False


def opening(way: Passage, owner: str) -> list[Draft]:
    """The copy's own folder made; `owner`: who owns the cluster."""
    return [
        Draft(
            "make a folder for this copy",
            "old",
            owner,
            passage.make_folder(way),
            "no key is needed, only a place for the lists of files",
            undone(owner, "old", passage.remove_key(way)),
            renewed=True,
            rehearsed=True,
        )
    ]


def closing(way: Passage, owner: str) -> list[Draft]:
    """The folder removed."""
    return [
        Draft(
            "remove the folder of this copy",
            "old",
            owner,
            passage.remove_key(way),
            "nothing of the copy is left but the copy",
            "make the folder anew, as above",
            stopped=True,
            closes=True,
            rehearsed=True,
        )
    ]


def target(way: Passage, label: str, source: str) -> tuple[str | Shell, ...]:
    """The words by which rsync copies `source` into the folder of that label."""
    return (source, f"{dict(way.targets)[label]}/")


contents = target


def sender(way: Passage) -> tuple[str | Shell, ...]:  # noqa: ARG001  other routes ask it for more
    """The words ahead of the options of an rsync that sends contents."""
    return ("rsync",)


def flush(way: Passage, label: str) -> Shell:
    """The command that ends when all that lies in the folder of that label is on the disk."""
    return command("sync", "-f", dict(way.targets)[label])
