"""When to stop repeating warm passes: as soon as another one would not shorten the stop by much."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from core import units
from core.migration.estimate.copy_methods import WORTH_SECONDS
from core.migration.execution.rsync_log import changed_meanwhile
from core.migration.model.execution import Execution, StepRun

_LONG_WAIT = 24 * 3600.0
"""Seconds: an extra pass is announced if a wait of this length for the operator's answer would make it worthwhile.
Nothing limits the wait."""

_BETWEEN = 900.0
"""Seconds between two passes while the time of the question is awaited."""

_ROOM = 2.0
"""How many times as long as the one before it the last pass ahead of the question may take."""

MOST = 6
"""Passes at the most: a cluster that changes as fast as it is copied never comes to rest."""


@dataclass(frozen=True, slots=True)
class PrecopyPass:
    """A warm pass that ended.

    Attributes:
        seconds: how long it took.
        bytes: of cluster, that it sent; None where it did not say.
        left: bytes of the files that changed since it began, whole: what another has to look through; None where it did
            not say.
        after: seconds from the beginning of the pass before it to its own; None: it came right behind that one.
    """

    seconds: float
    bytes: int | None
    left: int | None = None
    after: float | None = None


def estimate_gain(passes: Sequence[PrecopyPass], waited: float = 0.0) -> float:
    """Seconds by which one more pass would shorten the stop; `waited`: seconds since the last one ended.

    What is left to the final pass is what changed since the last one began, `change × age`; one more pass leaves what
    changes during itself, and it will take `look + change × age / rate`. So the stop is shortened by
    `change / rate × (age of the last − seconds of the next)`.

    The first pass shows the rate, a later one the change: what it sent came together since the pass before it began.
    After the first alone the change is not known: one more can spare at the most what the files that changed take to be
    sent whole, and its own time.
    """
    last, first = passes[-1], passes[0]
    age = last.seconds + waited
    rate = (first.bytes or 0) / max(first.seconds, 1e-3)
    if len(passes) == 1:
        known = rate > 0 and last.left is not None
        return min(last.seconds, (last.left or 0) * age / max(last.seconds, 1e-3) / rate) if known else last.seconds
    before = passes[-2]
    apart = last.after or before.seconds
    if not rate or last.bytes is None or apart <= 0:
        return before.seconds - last.seconds + waited
    change = last.bytes / apart
    # A pass takes time even if nothing has changed, because rsync looks at every file. What remains of its duration
    # after the time for its bytes is that look.
    look = max(0.0, last.seconds - last.bytes / rate)
    following = look + change * age / rate
    return change / rate * (age - following)


def is_another_pass_worthwhile(passes: Sequence[PrecopyPass], waited: float = 0.0) -> bool:
    """Whether one more warm pass is worth it; `waited`: seconds since the last one ended, while its files were read."""
    return len(passes) < MOST and estimate_gain(passes, waited) >= WORTH_SECONDS


def is_last_pass_outdated(passes: Sequence[PrecopyPass], waited: float) -> bool:
    """Whether so much time went by since the last pass, in seconds, that another one before the stop is worth it."""
    return bool(passes) and waited >= WORTH_SECONDS and estimate_gain(passes, waited) >= WORTH_SECONDS


@dataclass(frozen=True, slots=True)
class ExtraPass:
    """The pre-copy pass that is made between the operator's answer and the stop, because the last one is too old.

    Attributes:
        due: whether it is made if the operator answers now; otherwise it becomes due if they wait.
        waited: seconds since the last pass ended.
        seconds: how long the last pass took.
    """

    due: bool
    waited: float
    seconds: float


@dataclass(frozen=True, slots=True)
class FinishedPasses:
    """The pre-copy passes that an execution has finished. Their outputs are read once, for all questions on them.

    Attributes:
        passes: the passes, the first one first.
        ended_at: when the last one ended; None: there is none.
    """

    passes: tuple[PrecopyPass, ...]
    ended_at: datetime | None

    @property
    def seconds_since_last(self) -> float:
        """The seconds since the last pass ended."""
        return (units.seconds_between(self.ended_at, datetime.now(UTC)) or 0.0) if self.ended_at is not None else 0.0

    def find_extra(self) -> ExtraPass | None:
        """Return the pass that may be made before the stop; None: none will be, however late the operator answers."""
        waited = self.seconds_since_last
        if not self.passes or not is_last_pass_outdated(self.passes, max(waited, _LONG_WAIT)):
            return None
        return ExtraPass(is_last_pass_outdated(self.passes, waited), waited, self.passes[-1].seconds)


def read_finished_passes(execution: Execution) -> FinishedPasses:
    """Read the outputs of all passes that have ended. They may be long."""
    ends = [run.ended_at for run in _finished_pass_runs(execution) if run.ended_at is not None]
    return FinishedPasses(tuple(_list_passes(execution)), max(ends, default=None))


def find_extra_pass(execution: Execution) -> ExtraPass | None:
    """Return the pass that may be made before the stop; None: none will be, however late the operator answers."""
    return read_finished_passes(execution).find_extra()


def is_pass_due_while_waiting(finished: FinishedPasses, left: float) -> bool:
    """Return whether one more pass is made while the execution waits for the time at which it asks for the stop.

    One is made every quarter of an hour, if it shortens the downtime, and the last one shortly before the question.

    Args:
        finished: the passes so far.
        left: seconds until the question. No pass begins that would delay it.
    """
    extra = finished.find_extra()
    if extra is None or not extra.due or left < extra.seconds:
        return False
    return extra.waited >= _BETWEEN or left < _ROOM * extra.seconds


def _finished_pass_runs(execution: Execution) -> list[StepRun]:
    """The tries at warm passes that ended well and were no mere leaving out."""
    numbers = {step.number for step in execution.plan.steps if step.precopy_pass and step.root}
    return [run for run in execution.steps if run.number in numbers and run.done and not run.back and not run.message]


def _list_passes(execution: Execution) -> list[PrecopyPass]:
    """The warm passes that were made so far, each over all places, the tries of one number apart."""
    numbers = {step.number: step.precopy_pass for step in execution.plan.steps if step.precopy_pass}
    made: dict[tuple[int, int], list[StepRun]] = {}
    attempts: dict[int, int] = {}
    for run in _finished_pass_runs(execution):
        attempts[run.number] = attempts.get(run.number, 0) + 1
        made.setdefault((numbers[run.number], attempts[run.number]), []).append(run)
    runs = sorted(made.values(), key=lambda parts: parts[0].started_at)
    began = [parts[0].started_at for parts in runs]
    after = [None, *((one - other).total_seconds() for one, other in zip(began[1:], began, strict=False))]
    return [
        PrecopyPass(
            sum(map(_run_seconds, parts)),
            _sum_if_all_known([each.bytes for each in parts]),
            _sum_if_all_known([changed_meanwhile(each.output) for each in parts]),
            since,
        )
        for parts, since in zip(runs, after, strict=False)  # without any pass there is none to follow
    ]


def _run_seconds(run: StepRun) -> float:
    return units.seconds_between(run.started_at, run.ended_at) or 0.0


def _sum_if_all_known(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
