"""What a view shows at once, as the history has it: results of the API that put several nouns together.

This module loads none of these nouns, so that what shows them is on screen before they are needed.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.comparison.model import Comparison, Diagnosis, Sample
    from core.facts.model import Cluster, Facts
    from core.migration.execution.outcome import Figures, Paragraph
    from core.migration.execution.status import Possible
    from core.migration.execution.timeline import Downtime, RunningStep
    from core.migration.model.estimate import Estimate
    from core.migration.model.execution import Execution
    from core.migration.model.move import Move
    from core.migration.model.plan import Plan
    from core.migration.model.standing import Mark, Next
    from core.reports.model import Answer
    from core.servers.profiles import Profile


@dataclass(frozen=True, slots=True)
class ServerRow:
    """A server profile with its latest facts, if there are any, and the names of its moves."""

    profile: "Profile"
    facts: "Facts | None"
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A move with its milestones.

    Attributes:
        move: the move.
        marks: the state of each milestone.
        next: what comes next.
        cluster: the cluster by the latest facts of the old server; None if there are none.
        last_at: when anything was last done for the move; None if never.
        over: the move that is done, or was rolled back; None while another one is unfinished, or before the first.
        facts_hold: whether no execution can have stopped or moved the cluster since its facts were read.
    """

    move: "Move"
    marks: "tuple[Mark, ...]"
    next: "Next"
    cluster: "Cluster | None"
    last_at: datetime | None
    over: "Execution | None" = None
    facts_hold: bool = True


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of a move, and the diagnoses of both servers."""

    comparison: "Comparison"
    diagnoses: "tuple[Diagnosis, ...]"


@dataclass(frozen=True, slots=True)
class MetricOverTime:
    """A metric of a workload in each finished run on the two volumes of a move, the oldest first."""

    old: "tuple[tuple[datetime, Sample], ...]" = ()
    new: "tuple[tuple[datetime, Sample], ...]" = ()


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """The latest execution of a move.

    Attributes:
        execution: the execution; None if there is none.
        alive: whether a program of this workstation runs it.
        running: the steps that are running.
        stands: the state of both clusters, in a sentence.
        left: what it has left on the servers if it ended before the old cluster was stopped.
        ending: how it has ended.
        figures: what it has come to, once it is done or rolled back.
        possible: the actions that are possible.
        downtime: of the clients at `read_at`.
        bytes_per_second: the current rate of the copy.
        read_at: as of when all of this is told: when it was read, unless it is told again.
        plan: the plan that would be executed, if nothing was executed yet.
        no_dress: why a dress rehearsal is not possible, by the latest facts.
        told_again: what was read before is told as of a later time, because the history cannot be read.
    """

    execution: "Execution | None" = None
    alive: bool = False
    running: "tuple[RunningStep, ...]" = ()
    stands: str = ""
    left: str = ""
    ending: "tuple[Paragraph, ...]" = ()
    figures: "Figures | None" = None
    possible: "Possible | None" = None
    downtime: "Downtime | None" = None
    bytes_per_second: float | None = None
    read_at: datetime | None = None
    plan: "Plan | None" = None
    no_dress: str = ""
    told_again: bool = False


@dataclass(frozen=True, slots=True)
class Overview:
    """The answers on a move as on the first page of its report, their evidence, and its milestones."""

    answers: "tuple[Answer, ...]"
    comparison: "Comparison | None"
    estimate: "Estimate | None"
    marks: "tuple[Mark, ...]"
