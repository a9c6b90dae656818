"""An execution of a whole move, by the seconds at which its steps ran."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import Phase, Plan, Step

START = datetime(2026, 3, 14, 23, 0, tzinfo=UTC)


def step(number: int, title: str, side: str = "old", **more: object) -> Step:
    made = Step(
        title,
        side,
        "postgres",
        "" if side == "you" else "true",
        "why",
        "",
        number=number,
        server=side,
        expected_seconds=10.0,
    )
    return replace(made, **more)  # type: ignore[arg-type]  # fields of a step, by name


STEPS = (
    step(1, "prove the target", "new"),
    step(2, "warm pass 1 of 2: /data", warm_pass=1, root="data", phase=Phase.WARM),
    step(3, "warm pass 1 of 2: /space", warm_pass=1, root="space", phase=Phase.WARM),
    step(4, "warm pass 2 of 2: /data", warm_pass=2, root="data", phase=Phase.WARM),
    step(5, "warm pass 2 of 2: /space", warm_pass=2, root="space", phase=Phase.WARM),
    step(
        6,
        "stop the applications",
        "you",
        name="stop-applications",
        stopped=True,
        expected_seconds=None,
        phase=Phase.STOP,
    ),
    step(7, "stop old", name="stop", stopped=True, phase=Phase.STOP),
    step(8, "prove the stop", name="stopped", stopped=True, phase=Phase.STOP),
    step(9, "keep old from starting", name="fence", stopped=True, phase=Phase.STOP),
    step(10, "final pass: /data", stopped=True, phase=Phase.FINAL),
    step(11, "prove that old stayed stopped", stopped=True, agrees_with="stopped", phase=Phase.FINAL),
    step(12, "flush", "new", stopped=True, phase=Phase.VERIFY),
    step(13, "sum up old's files", name="sums", stopped=True, beside=True, phase=Phase.VERIFY),
    step(14, "compare new's files", "new", stopped=True, beside=True, agrees_with="sums", phase=Phase.VERIFY),
    step(15, "take the key off new", "new", stopped=True, closes=True, phase=Phase.CLOSE),
    step(16, "start new", "new", name="start-new", stopped=True, phase=Phase.START),
    step(17, "decide", "you", stopped=True, expected_seconds=None, phase=Phase.OPEN),
    step(18, "open new", "new", stopped=True, point_of_no_return=True, phase=Phase.OPEN),
    step(19, "lead the applications to new", "you", expected_seconds=None, phase=Phase.OPEN),
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
