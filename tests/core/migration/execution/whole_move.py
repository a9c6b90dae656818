"""An execution of a whole move, by the seconds at which its steps ran."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import ChannelUse, Phase, Plan, Step
from core.sides import Side
from tests.steps import make_step

START = datetime(2026, 3, 14, 23, 0, tzinfo=UTC)


def step(number: int, title: str, side: Side | None = Side.OLD, **more: Any) -> Step:
    told = {"expected_seconds": 10.0, "number": number, "server": side or "workstation", **more}
    return make_step(told.pop("id", f"step-{number}"), title, side, **told)


STEPS = (
    step(1, "prove the target", Side.NEW),
    step(2, "warm pass 1 of 2: /data", precopy_pass=1, root="data", phase=Phase.WARM),
    step(3, "warm pass 1 of 2: /space", precopy_pass=1, root="space", phase=Phase.WARM),
    step(4, "warm pass 2 of 2: /data", precopy_pass=2, root="data", phase=Phase.WARM),
    step(5, "warm pass 2 of 2: /space", precopy_pass=2, root="space", phase=Phase.WARM),
    step(
        6,
        "stop the applications",
        None,
        id=step_ids.STOP_APPLICATIONS,
        downtime=True,
        expected_seconds=None,
        phase=Phase.STOP,
    ),
    step(7, "stop old", id=step_ids.STOP_OLD_CLUSTER, downtime=True, phase=Phase.STOP),
    step(8, "prove the stop", id=step_ids.CHECK_STOPPED, downtime=True, phase=Phase.STOP),
    step(9, "keep old from starting", id=step_ids.FENCE_OLD, downtime=True, phase=Phase.STOP),
    step(10, "final pass: /data", downtime=True, phase=Phase.FINAL),
    step(11, "prove that old stayed stopped", downtime=True, equals=step_ids.CHECK_STOPPED, phase=Phase.FINAL),
    step(12, "flush", Side.NEW, downtime=True, phase=Phase.VERIFY),
    step(13, "sum up old's files", id=step_ids.CHECKSUMS_OLD, downtime=True, parallel=True, phase=Phase.VERIFY),
    step(
        14,
        "compare new's files",
        Side.NEW,
        downtime=True,
        parallel=True,
        equals=step_ids.CHECKSUMS_OLD,
        phase=Phase.VERIFY,
    ),
    step(15, "take the key off new", Side.NEW, downtime=True, channel=ChannelUse.CLOSES, phase=Phase.CLOSE),
    step(16, "start new", Side.NEW, id=step_ids.START_LOCALLY, downtime=True, phase=Phase.START),
    step(17, "decide", None, downtime=True, expected_seconds=None, phase=Phase.OPEN),
    step(18, "open new", Side.NEW, downtime=True, id=step_ids.CUTOVER, phase=Phase.OPEN),
    step(19, "lead the applications to new", None, expected_seconds=None, phase=Phase.OPEN),
)
PLAN = Plan("m", "rsync", "", STEPS, START, way_back=(step(1, "start old"), step(2, "prove that old runs")))


def run(number: int, began: float, seconds: float | None, *, status: int | None = 0, **more: object) -> StepRun:
    """A try at a step: seconds after the start, and how long it took; None: nobody saw its end."""
    at = START + timedelta(seconds=began)
    ended = None if seconds is None else at + timedelta(seconds=seconds)
    back = bool(more.get("back"))
    title = (PLAN.way_back if back else STEPS)[number - 1].title
    made = StepRun(int(began), number, title, 1, at, ended, status if seconds is not None else None)
    return replace(made, **more)  # type: ignore[arg-type]  # fields of a try, by name


def execution(*steps: StepRun, kind: Kind = Kind.REAL, state: State = State.DONE) -> Execution:
    return Execution(1, "m", kind, state, "t", "dba@desk", START, START + timedelta(hours=1), PLAN, steps)


STOPPED = (run(6, 90, 10), run(7, 100, 5), run(8, 105, 1), run(9, 106, 0))
OPENED = (run(17, 140, 30), run(18, 170, 4))
NOW = START + timedelta(seconds=1000)
