"""The data that pages show, as read from the history."""

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
    """A server profile with its facts and moves."""

    profile: "Profile"
    facts: "Facts | None"
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of a move, and the diagnoses of both servers."""

    comparison: "Comparison"
    diagnoses: "tuple[Diagnosis, ...]"


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """The latest execution of a move.

    Attributes:
        alive: whether a program of this workstation runs it.
        progress: its progress while it is running, in sentences.
        stands: the state of both clusters, in a sentence.
        left: what it has left on the servers if it ended before the old cluster was stopped.
        ending: how it has ended.
        possible: the actions that are possible.
        downtime: of the clients at `read_at`; bytes_per_second: the current rate of the copy.
        plan: the plan that would be executed, if nothing was executed yet.
        no_dress: why a dress rehearsal is not possible, by the latest facts.
    """

    execution: "Execution | None" = None
    alive: bool = False
    progress: tuple[str, ...] = ()
    stands: str = ""
    left: str = ""
    ending: "tuple[Paragraph, ...]" = ()
    possible: "Possible | None" = None
    downtime: "Downtime | None" = None
    bytes_per_second: float | None = None
    read_at: datetime | None = None
    plan: "Plan | None" = None
    no_dress: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """The answers on a move, their evidence, and its milestones."""

    answers: "tuple[Answer, ...]"
    comparison: "Comparison | None"
    estimate: "Estimate | None"
    marks: "tuple[Mark, ...]"
