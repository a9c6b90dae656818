"""What is measured of a server where nobody names it."""

from core.facts.model import Facts


def volume_of(facts: Facts | None, folder: str) -> str:
    """The mount point that holds the folder by the facts, else its parent.

    The parent of a target may not be there yet; its mount point is.
    """
    system = None if facts is None else facts.file_system_of(folder)
    parent = folder.rpartition("/")[0] or "/"
    return parent if system is None else system.mount_point
