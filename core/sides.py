"""The two servers of a move."""

from enum import StrEnum


class Side(StrEnum):
    """The old or the new server of a move."""

    OLD = "old"
    NEW = "new"
