"""Executions made by hand, and people and servers that are not there."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from core.migration.model.execution import Execution, Kind, State, StepRun, StopAnswer
from core.migration.model.plan import Plan, RemoteCall, Step, Timing
from core.servers.connection import Server
from core.sides import Side
from tests.core.migration.builders import NOW

STEP = Step(
    id="step-1",
    title="step",
    action=RemoteCall(side=Side.OLD, user="postgres", call="true"),
    reason="because",
    undo="nothing",
    timing=Timing(expected_seconds=1.0),
    number=1,
    server="old",
)


class Nobody:
    """No question may come up: there is nobody to answer it."""

    def announce(self, cluster: str) -> None:
        pass

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        raise AssertionError(cluster, connected, warm)

    def withdraw_confirmation(self) -> None:
        pass

    def wants_to_end(self) -> bool:
        return False

    def confirm_manual_step(self, step: Step) -> bool:
        raise AssertionError(step)

    def accept_finding(self, found: str) -> str:  # noqa: ARG002
        return ""

    def confirm_take_over(self, move: str, shown: str) -> bool:
        raise AssertionError(move, shown)


def unconnected(side: str) -> Server:
    """No server may be needed."""
    raise AssertionError(side)


def execution(*steps: Step, state: State = State.RUNNING, kind: Kind = Kind.REAL) -> Execution:
    numbered = tuple(replace(step, number=number) for number, step in enumerate(steps or (STEP,), 1))
    plan = Plan("spring", "rsync", "why", numbered, NOW, cluster="15/main", data_directory="/a", target="/b")
    return Execution(7, "spring", kind, state, "c0ffee00", "dba@desk", NOW, None, plan)


def ran(
    of: Execution, number: int, *, status: int | None = 0, seconds: float = 1.0, sent: int | None = None, note: str = ""
) -> Execution:
    """The execution with one more try at a step."""
    attempt = 1 + sum(run.number == number for run in of.steps)
    title = of.plan.steps[number - 1].title
    ended = NOW + timedelta(seconds=seconds)
    run = StepRun(len(of.steps) + 1, number, title, attempt, NOW, ended, status, sent, message=note)
    return replace(of, steps=(*of.steps, run))
