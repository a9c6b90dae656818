"""The options of a dress rehearsal."""

from dataclasses import dataclass

from core.migration.model.queries import Queries


@dataclass(frozen=True, slots=True)
class RehearsalOptions:
    """What a dress rehearsal does beyond its own steps.

    Attributes:
        keep_wal_bytes: how much WAL the old server may keep during the rehearsal; None: a quarter of the free space.
        amcheck_seconds: for how long amcheck examines the B-tree indexes of the copy; None: not at all.
        queries: the operator's queries, which are measured on the copy; None: none.
    """

    keep_wal_bytes: int | None = None
    amcheck_seconds: int | None = None
    queries: Queries | None = None


USUAL = RehearsalOptions()
"""A dress rehearsal without any options."""
