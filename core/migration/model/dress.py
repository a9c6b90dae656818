"""What an operator may ask of a dress rehearsal."""

from dataclasses import dataclass

from core.migration.model.queries import Queries


@dataclass(frozen=True, slots=True)
class Dressing:
    """Beyond its own steps.

    Attributes:
        keep_wal_bytes: how much WAL the old server may keep for it; None: a quarter of the free space.
        amcheck_seconds: for how long amcheck looks at the B-tree indexes of the copy; None: it does not.
        queries: the operator's own, measured on the copy.
    """

    keep_wal_bytes: int | None = None
    amcheck_seconds: int | None = None
    queries: Queries | None = None


USUAL = Dressing()
"""Nothing beyond them."""
