"""What an execution came to: how long the cluster was down and how long the plan expected it to be, what was sent.

The downtime begins with the command that stops old: from then on no client can work. That people stop the applications
before is theirs, and said beside it. It ends when new is open to clients. What people take in between is part of it,
but of no plan, so it is counted apart too.
"""

from dataclasses import dataclass
from datetime import datetime

from core.migration.execution.rates import copy_rate
from core.migration.model.execution import Execution, StepRun
from core.migration.model.move import Hook
from core.migration.model.plan import Step
from core.migration.plan.steps.copy import STOP


@dataclass(frozen=True, slots=True)
class Account:
    """Times are None where it has not come to them; rates where nothing tells.

    Attributes:
        asked_at: when the applications were to be stopped.
        stopped_at: when the stop of old began; None also where old was stopped before.
        opened_at: when new was open to clients.
        people_seconds: what people took between the two.
        expected_seconds: what the plan's commands were to take between the two.
        passes: how many tries sent anything; `sent`: bytes of cluster in them, not of what crossed the wire.
        copy_rate: bytes of cluster a second, of the pass that brought the whole of it.
    """

    asked_at: datetime | None
    stopped_at: datetime | None
    opened_at: datetime | None
    people_seconds: float
    expected_seconds: float | None
    passes: int
    sent: int
    copy_rate: float | None

    @property
    def downtime_seconds(self) -> float | None:
        """From the stop of old to the opening of new; None before that, or where old had been stopped."""
        if self.stopped_at is None or self.opened_at is None:
            return None
        return (self.opened_at - self.stopped_at).total_seconds()


def account(execution: Execution) -> Account:
    """What the rows of an execution tell; what was overruled later does not count as a stop."""
    stop = next((step for step in execution.plan.steps if step.name == STOP), None)
    opening = next((step for step in execution.plan.steps if step.point_of_no_return), None)
    asked = next((step for step in execution.plan.steps if step.name == Hook.STOP_APPLICATIONS), None)
    sending = [run for run in execution.steps if run.bytes and run.done and not run.back]
    return Account(
        asked_at=_began(execution, asked),
        stopped_at=_began(execution, stop),
        opened_at=_ended(execution, opening),
        people_seconds=sum(_seconds(run) for run in _between(execution, stop, opening)),
        expected_seconds=_expected(execution, stop, opening),
        passes=len(sending),
        sent=sum(run.bytes or 0 for run in sending),
        copy_rate=copy_rate([execution]),
    )


def _tries(execution: Execution, step: Step | None) -> list[StepRun]:
    if step is None:
        return []
    return [run for run in execution.steps if run.number == step.number and not run.back and not run.void]


def _began(execution: Execution, step: Step | None) -> datetime | None:
    return min((run.started_at for run in _tries(execution, step)), default=None)


def _ended(execution: Execution, step: Step | None) -> datetime | None:
    return max((run.ended_at for run in _tries(execution, step) if run.done and run.ended_at), default=None)


def _between(execution: Execution, stop: Step | None, opening: Step | None) -> list[StepRun]:
    """What people did while the cluster was down."""
    theirs = [step for step in _stretch(execution, stop, opening) if step.side == "you" and not step.command]
    return [run for step in theirs for run in _tries(execution, step)]


def _stretch(execution: Execution, stop: Step | None, opening: Step | None) -> list[Step]:
    """The steps of the downtime."""
    if stop is None or opening is None:
        return []
    return [step for step in execution.plan.steps if stop.number <= step.number <= opening.number]


def _expected(execution: Execution, stop: Step | None, opening: Step | None) -> float | None:
    seconds = [step.expected_seconds for step in _stretch(execution, stop, opening) if step.expected_seconds]
    return sum(seconds) if seconds else None


def _seconds(run: StepRun) -> float:
    return (run.ended_at - run.started_at).total_seconds() if run.ended_at is not None else 0.0
