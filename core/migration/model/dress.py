"""The options of a dress rehearsal, and the operator's own queries, which it measures.

The queries run on the copy and, if that was chosen, on the old server.
"""

from dataclasses import dataclass

MOST_CLIENTS, MOST_SECONDS = 32, 600


@dataclass(frozen=True, slots=True)
class Script:
    """A script of pgbench's. `weight`: how often it is run against the others."""

    name: str
    weight: int
    text: str


@dataclass(frozen=True, slots=True)
class Queries:
    """What is measured, and how.

    Attributes:
        role: that logs in and runs them, as an application does; no administrator.
        database: in which the scripts run; None: in the only one that holds tables of clients.
        clients: that run them at the same time.
        seconds: that each of the two runs on a server takes.
        on_old: they are measured on the old server too.
    """

    scripts: tuple[Script, ...]
    role: str
    database: str | None = None
    clients: int = 4
    seconds: int = 10
    on_old: bool = False


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
