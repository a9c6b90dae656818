"""The operator's own queries, which a dress rehearsal measures on the copy and, where asked for, on the old server."""

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
