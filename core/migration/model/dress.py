"""What an operator may ask of a dress rehearsal."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dressing:
    """Beyond its own steps.

    Attributes:
        keep_wal_bytes: how much WAL the old server may keep for it; None: a quarter of the free space.
    """

    keep_wal_bytes: int | None = None


USUAL = Dressing()
"""Nothing beyond them."""
