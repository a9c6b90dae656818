"""The steps of a plan with their latest attempts, grouped by the parts of an execution."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum

from core import units
from core.language import marked, tr
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import Phase, Plan, Step
from core.sides import Side
from core.tones import Tone
from gui.design.palette import Ground
from gui.models.execution import elapsed, outcome, tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import counted

SIDES = {Side.OLD: Tone.OLD, Side.NEW: Tone.NEW}


class Part(StrEnum):
    """A part of an execution, in its order."""

    PREPARE = "preparation"
    WARM = "pre-copy-passes"
    BEFORE_STOP = "before-the-stop"
    DOWN = "downtime"
    AFTER = "follow-up"


PART_TITLES = {
    Part.PREPARE: marked("Preparation"),
    Part.WARM: marked("Pre-copy passes"),
    Part.BEFORE_STOP: marked("Before the stop"),
    Part.DOWN: marked("Downtime"),
    Part.AFTER: marked("Follow-up"),
}
HEADLINES = {
    Part.PREPARE: marked("Preparation"),
    Part.WARM: marked("Pre-copy"),
    Part.BEFORE_STOP: marked("Before the stop"),
    Part.DOWN: marked("Downtime"),
    Part.AFTER: marked("Follow-up"),
}
"""The parts in the one large line of an execution."""
PART_HEADS = {
    Part.PREPARE: marked("Preparation: the old cluster runs, and nothing is copied yet"),
    Part.WARM: marked("Pre-copy passes: the old cluster runs while it is copied"),
    Part.BEFORE_STOP: marked("Before the stop: last checks while the old cluster runs"),
    Part.DOWN: marked("Downtime: the old cluster is stopped"),
    Part.AFTER: marked("Follow-up: clients use the new cluster"),
}
NO_RETURN = marked("Point of no return: a return to the old server after it loses what clients have written")


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step with its latest attempt. Without a step it is the head of a part, or the line at the point of no return,
    which is a divider. `steps`: of a head, how many steps its part has.
    """

    part: Part
    head: str = ""
    step: Step | None = None
    run: StepRun | None = None
    seconds: float | None = None
    is_divider: bool = False
    steps: int = 0
    folded: bool = False

    @property
    def folds(self) -> bool:
        """Whether it is the head of a part that can be folded."""
        return self.steps > 0


def parts(steps: Sequence[Step]) -> tuple[tuple[Part, Step], ...]:
    """Return each step with its part. Parts follow each other: a check within a part belongs to it."""
    made: list[tuple[Part, Step]] = []
    order = list(Part)
    stops = any(step.id == step_ids.STOP_OLD_CLUSTER for step in steps)
    reached = Part.PREPARE
    for step in steps:
        own = _own(step, stops=stops)
        if order.index(own) > order.index(reached):
            reached = own
        made.append((reached, step))
        if step.point_of_no_return:
            reached = Part.AFTER
    return tuple(made)


def _own(step: Step, *, stops: bool) -> Part:
    if step.phase is Phase.BEFORE_STOP:  # applications may stop already, but the old cluster runs
        return Part.BEFORE_STOP if stops else Part.PREPARE
    if step.downtime:
        return Part.DOWN
    return Part.WARM if step.precopy_pass or step.phase in {Phase.WARM, Phase.CHECKPOINT, Phase.DRESS} else Part.PREPARE


def step_rows(plan: Plan, execution: Execution | None = None, *, rehearsed: bool = False) -> tuple[StepRow, ...]:
    """Return the heads, the steps and the point of no return; `rehearsed`: only the steps of a rehearsal."""
    placed = parts(_while_old_runs(plan.steps) if rehearsed else plan.steps)
    rows: list[StepRow] = []
    for number, (part, step) in enumerate(placed):
        if number == 0 or placed[number - 1][0] is not part:
            known = [one.expected_seconds for other, one in placed if other is part and one.expected_seconds]
            count = sum(other is part for other, _ in placed)
            rows.append(StepRow(part, PART_HEADS[part], seconds=sum(known) if known else None, steps=count))
        if step.point_of_no_return:
            rows.append(StepRow(part, NO_RETURN, is_divider=True))
        run = None if execution is None else execution.latest(step.number)
        rows.append(StepRow(part, step=step, run=run, seconds=step.expected_seconds))
    if execution is not None:
        rows += _way_back(execution)
    return tuple(rows)


def fold(rows: Sequence[StepRow], folded: AbstractSet[Part]) -> tuple[StepRow, ...]:
    """Return the rows without the steps of folded parts; the line of the point of no return stays."""
    return tuple(
        replace(row, folded=row.part in folded) if row.folds else row
        for row in rows
        if row.folds or row.is_divider or row.part not in folded
    )


def ground(row: StepRow) -> Ground | None:
    """Return what lies behind a row: that of the downtime stands out."""
    return Ground.STOPPED if row.part is Part.DOWN else None


def _while_old_runs(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of a rehearsal. It stops nothing, so none of them belongs to the downtime or to what precedes
    the stop.
    """
    return tuple(
        replace(step, downtime=False, phase=Phase.WARM if step.phase is Phase.BEFORE_STOP else step.phase)
        for step in steps
        if step.in_rehearsal
    )


def _way_back(execution: Execution) -> list[StepRow]:
    back = [run for run in execution.steps if run.back]
    head = [StepRow(Part.AFTER, tr("Rollback to the old server"))] if back else []
    return [*head, *(StepRow(Part.AFTER, recorded(run.title), run=run) for run in back)]


def is_head(row: StepRow) -> bool:
    """Return whether the row is a head."""
    return row.step is None and row.run is None


@dataclass(frozen=True, slots=True)
class Progressed:
    """The progress of a part: the steps done, all steps, and the expected duration in seconds."""

    part: Part
    done: int
    steps: int
    expected_seconds: float | None
    under_way: bool


def _placed(execution: Execution) -> tuple[tuple[Part, Step], ...]:
    rehearsed = execution.kind is Kind.REHEARSAL
    return parts(_while_old_runs(execution.steps_taken) if rehearsed else execution.steps_taken)


def current_part(execution: Execution) -> tuple[Part, tuple[Step, ...]]:
    """Return the part with the first step that is not done, and all its steps; the last part if all steps are done."""
    placed = _placed(execution)
    here = next((part for part, step in placed if not execution.done(step.number)), placed[-1][0] if placed else None)
    return here or Part.PREPARE, tuple(step for part, step in placed if part is here)


def progressed(execution: Execution) -> tuple[Progressed, ...]:
    """Return the progress of each part of the execution."""
    placed = _placed(execution)
    following = next((number for number, (_, step) in enumerate(placed) if not execution.done(step.number)), None)
    over = execution.state in {State.DONE, State.ROLLED_BACK}
    made = []
    for part in Part:
        steps = [step for other, step in placed if other is part]
        if steps:
            known = [step.expected_seconds for step in steps if step.expected_seconds]
            here = not over and following is not None and placed[following][0] is part
            done = sum(execution.done(step.number) for step in steps)
            made.append(Progressed(part, done, len(steps), sum(known) if known else None, here))
    return tuple(made)


def _expected(seconds: float | None) -> str:
    return tr("under 1 s") if seconds is not None and seconds < 1 else units.duration(seconds)


def _planned_title(row: StepRow) -> str:
    if not row.folds:
        return f"     {_title(row).lstrip()}" if row.step is not None else _title(row)
    count = counted(row.steps, "{number} step", "{number} steps")
    return f"{'▸' if row.folded else '▾'}  {tr(row.head)} ({count})"


def _planned_seconds(row: StepRow) -> str:
    """Return the expected duration; of a step only where it is worth a word."""
    if row.is_divider or (row.step is not None and not (row.seconds is not None and row.seconds >= 1)):
        return ""
    return _expected(row.seconds)


def _title(row: StepRow) -> str:
    if row.step is None:
        return tr(row.head)
    return f"  {recorded(row.step.title)}"


def _tone(row: StepRow) -> Tone | None:
    return Tone.BAD if row.is_divider else None


def _side_tone(step: Step) -> Tone | None:
    return None if step.side is None else SIDES[step.side]


# a table of steps has heads, so it cannot be sorted: its columns need no values
_NUMBER: Column[StepRow] = Column("#", lambda row: "" if row.step is None else str(row.step.number), right=True)
_STEP: Column[StepRow] = Column("Step", _title, width=Width.REST, tone=_tone)
_WHERE: Column[StepRow] = Column(
    "Server",
    lambda row: "" if row.step is None else row.step.server,
    tone=lambda row: None if row.step is None else _side_tone(row.step),
)
_ABOUT: Column[StepRow] = Column(
    "Expected duration", lambda row: "" if row.is_divider else _expected(row.seconds), right=True
)
STEP_COLUMN = 1
PLAN_COLUMNS: tuple[Column[StepRow], ...] = (
    _NUMBER,
    Column("Step", _planned_title, width=Width.REST, tone=_tone),
    _WHERE,
    Column("User", lambda row: "" if row.step is None else row.step.user),
    Column("Expected duration", _planned_seconds, right=True),
)
RUN_COLUMNS: tuple[Column[StepRow], ...] = (
    _NUMBER,
    _STEP,
    _WHERE,
    Column("Planned", lambda row: "" if row.is_divider else _expected(row.seconds), right=True),
    Column("Duration", lambda row: "" if row.run is None else elapsed(row.run), right=True),
    Column(
        "Data sent",
        lambda row: "" if row.run is None or row.run.bytes is None else units.size(row.run.bytes),
        right=True,
    ),
    Column(
        "Result",
        lambda row: "" if row.run is None else outcome(row.run),
        tone=lambda row: None if row.run is None else tone(row.run),
    ),
)
