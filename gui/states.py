"""What pages show, as it was read of the history."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.comparison.model import Comparison, Diagnosis
    from core.facts.model import Facts
    from core.migration.execution.account import Downtime
    from core.migration.execution.outcome import Paragraph
    from core.migration.execution.unfinished import Possible
    from core.migration.model.estimate import Estimate
    from core.migration.model.execution import Execution
    from core.migration.model.plan import Plan
    from core.migration.model.standing import Mark
    from core.servers.profiles import Profile
    from gui.models.overview import Answer


@dataclass(frozen=True, slots=True)
class ServerRow:
    """A server profile with what is known of it."""

    profile: "Profile"
    facts: "Facts | None"
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Both sides of a move, and what explains their results."""

    comparison: "Comparison"
    diagnoses: "tuple[Diagnosis, ...]"


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """The latest execution of a move.

    Attributes:
        alive: whether a program of this workstation carries it out.
        far: how far it is, while it runs.
        stands: how old and new stand.
        left: what it has left, where it ended on its way before old was stopped.
        told: how it ended, when it is done.
        possible: what may be done with it.
        downtime: how long clients have had no cluster, by `read_at`; bytes_per_second: of what is copied now.
        plan: what would be carried out, where nothing was yet.
        no_dress: why there can be no dress rehearsal, by the latest facts.
    """

    execution: "Execution | None" = None
    alive: bool = False
    far: tuple[str, ...] = ()
    stands: str = ""
    left: str = ""
    told: "tuple[Paragraph, ...]" = ()
    possible: "Possible | None" = None
    downtime: "Downtime | None" = None
    bytes_per_second: float | None = None
    read_at: datetime | None = None
    plan: "Plan | None" = None
    no_dress: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """The answers of a move, what they rest on, and how its milestones stand."""

    answers: "tuple[Answer, ...]"
    comparison: "Comparison | None"
    estimate: "Estimate | None"
    marks: "tuple[Mark, ...]"
