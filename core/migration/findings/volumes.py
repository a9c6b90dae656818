"""The path to measure on a server if the operator names none."""

from core.facts.model import Facts


def volume_path(facts: Facts | None, folder: str) -> str:
    """Return the mount point of the folder if the facts contain it, else the parent of the folder.

    The parent of a target may not exist yet, but its mount point does.
    """
    system = None if facts is None else facts.file_system_of(folder)
    parent = folder.rpartition("/")[0] or "/"
    return parent if system is None else system.mount_point
