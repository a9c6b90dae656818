"""When what happened in an execution: its downtime, what was sent, how far it is, and how long it may still take.

The downtime begins with the command that stops the old cluster: from then on no client can work. The time in which
people stop the applications before that is said beside it. The downtime ends when clients can reach the new cluster.
What people take in between is part of it, but of no plan, so it is counted separately as well.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from core import units
from core.jobs import Progress
from core.migration.execution.dressed import DressCost, dress_cost
from core.migration.execution.rates import copy_rate, covered
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, Execution, Kind, State, StepRun
from core.migration.model.move import Hook
from core.migration.model.plan import Step
from core.migration.model.schedule import KEPT_TRIES, FailedTry, Schedule, shown

NOTEWORTHY_SECONDS = 1.0
"""So long without any step under way is said; what is shorter passes between two steps."""


@dataclass(frozen=True, slots=True)
class Account:
    """Times are None where it has not come to them; rates where nothing tells.

    Attributes:
        asked_at: when the applications were to be stopped.
        stopped_at: when the stop of the old cluster began; None also where it was stopped before.
        opened_at: when the new cluster was open to clients.
        reached_at: when they could reach it: later, where it first listened elsewhere than the old cluster did.
        people_seconds: what people took between the two.
        expected_seconds: what the plan's commands were to take between the two.
        passes: how many tries sent anything; `sent`: bytes of cluster in them, not of what crossed the wire.
        copy_rate: bytes of cluster a second, of the pass that brought the whole of it.
        dress: what a dress rehearsal cost the old server.
    """

    asked_at: datetime | None
    stopped_at: datetime | None
    opened_at: datetime | None
    reached_at: datetime | None
    people_seconds: float
    expected_seconds: float | None
    passes: int
    sent: int
    copy_rate: float | None
    dress: DressCost | None

    @property
    def downtime_seconds(self) -> float | None:
        """From the stop of the old cluster until clients could reach the new one; None before that, or where the old
        one had been stopped."""
        if self.stopped_at is None or self.reached_at is None:
            return None
        return units.seconds_between(self.stopped_at, self.reached_at)


@dataclass(frozen=True, slots=True)
class Downtime:
    """The time without the cluster, in seconds: from the stop of the old cluster until the new one was open, or the old
    one was back.

    Attributes:
        ended_at: None: clients still wait.
        seconds: until its end, or until now.
        people_seconds: of it, what people took for steps of theirs.
        idle_seconds: of it, while no step ran: nobody was at it, or it was interrupted.
        expected_seconds: what the plan's commands were expected to take; None where it did not say.
    """

    began_at: datetime
    ended_at: datetime | None
    seconds: float
    people_seconds: float
    idle_seconds: float
    expected_seconds: float | None

    @property
    def command_seconds(self) -> float:
        """Of it, what the plan's commands took: what the expectation is to be held against."""
        return max(0.0, self.seconds - self.people_seconds - self.idle_seconds)


def account(execution: Execution) -> Account:
    """What the rows of an execution tell; what was overruled later does not count as a stop."""
    asked = next((step for step in execution.plan.steps if step.id == Hook.STOP_APPLICATIONS), None)
    stop, _ = _stop_and_opening(execution)
    down = downtime(execution, execution.ended_at or _last_seen(execution))
    sending = [run for run in execution.steps if run.bytes and run.done and not run.back]
    return Account(
        asked_at=_began(execution, asked),
        stopped_at=_began(execution, stop),
        opened_at=execution.cutover_at,
        reached_at=_reached(execution),
        people_seconds=down.people_seconds if down is not None else 0.0,
        expected_seconds=_expected(execution),
        passes=len(sending),
        sent=sum(run.bytes or 0 for run in sending),
        copy_rate=copy_rate([execution]),
        dress=dress_cost(execution),
    )


def downtime(execution: Execution, now: datetime) -> Downtime | None:
    """The time without the cluster; None in a rehearsal, and where the old cluster was never stopped, or before it
    all."""
    stop, _ = _stop_and_opening(execution)
    began = _began(execution, stop)
    if execution.kind is Kind.REHEARSAL or began is None:
        return None
    ended = _reached(execution) or _old_again_at(execution)
    until = max(began, ended or now)
    seconds = (until - began).total_seconds()
    people, commands = _by_people(execution), _by_commands(execution)
    waited, busy = covered(people, began, until), covered(commands, began, until)
    return Downtime(began, ended, seconds, waited, max(0.0, seconds - busy - waited), _expected(execution))


def _stop_and_opening(execution: Execution) -> tuple[Step | None, Step | None]:
    """The steps with which the downtime begins and ends."""
    stop = next((step for step in execution.plan.steps if step.id == step_ids.STOP_OLD_CLUSTER), None)
    return stop, next((step for step in execution.plan.steps if step.point_of_no_return), None)


def _tries(execution: Execution, step: Step | None) -> list[StepRun]:
    if step is None:
        return []
    return [run for run in execution.steps if run.number == step.number and not run.back and not run.void]


def _began(execution: Execution, step: Step | None) -> datetime | None:
    return min((run.started_at for run in _tries(execution, step)), default=None)


def _reached(execution: Execution) -> datetime | None:
    """When the new cluster was opened or, where the first look found that it did not listen where the old one had, when
    it first did.

    Later looks, of an execution that is gone on with behind the cutover, change nothing. A look that was cancelled has
    found nothing.
    """
    tries = _tries(execution, execution.plan.step(step_ids.CHECK_LISTENERS))
    looks = [run for run in tries if run.exit_status != CANCELLED_STEP]
    if looks and looks[0].exit_status not in {None, 0}:
        return min((run.ended_at for run in looks if run.done and run.ended_at), default=None)
    return execution.cutover_at


def _old_again_at(execution: Execution) -> datetime | None:
    """When the rollback ended; None where there was none."""
    if execution.state is not State.ROLLED_BACK:
        return None
    ends = [run.ended_at for run in execution.steps if run.back and run.done and run.ended_at is not None]
    return max(ends, default=execution.ended_at)


def _last_seen(execution: Execution) -> datetime:
    return max((run.ended_at for run in execution.steps if run.ended_at is not None), default=execution.started_at)


def _people_numbers(execution: Execution) -> set[int]:
    """The steps that people take: no command does them."""
    return {step.number for step in execution.plan.steps if step.by_person}


def _by_people(execution: Execution) -> list[StepRun]:
    theirs = _people_numbers(execution)
    return [run for run in execution.steps if run.number in theirs and not run.back]


def _by_commands(execution: Execution) -> list[StepRun]:
    theirs = _people_numbers(execution)
    return [run for run in execution.steps if run.back or run.number not in theirs]


def _expected(execution: Execution) -> float | None:
    """What the plan expected of its commands from the stop to the opening."""
    stop, opening = _stop_and_opening(execution)
    return None if stop is None or opening is None else execution.plan.downtime_seconds


_TELLING_SECONDS, _TELLING = 3.0, 0.02
"""How long, and how much of the whole, must be done before the pace of it tells when it ends."""

_WORTH_TELLING = 60.0
"""Seconds: a shorter time is no news where it is only the least that is left."""


@dataclass(frozen=True, slots=True)
class ExecutionStatus:
    """Where an execution is.

    Attributes:
        position: of the first step that is under way or to come, from 1, among the `steps` that it takes.
        under_way: the steps that run now, side by side where there are several; each with its try.
        stopped_seconds: since the old cluster was stopped; None before, and once the new cluster is open.
        left_seconds: what the commands to come may take, without what people take; None where nothing tells.
        extra_pass: whether a pre-copy pass runs once more, because the stop is next and the last pass is old.
        waits: for which time of its schedule it waits; None: for none.
        left_is_least: it may take longer, because nothing tells how long one of the commands takes, as of the start of
            the copy in a dress rehearsal.
    """

    position: int
    steps: int
    under_way: tuple[tuple[Step, StepRun], ...]
    stopped_seconds: float | None
    left_seconds: float | None
    left_is_least: bool
    extra_pass: bool = False
    waits: "Wait | None" = None


class Awaited(StrEnum):
    """For what an execution waits."""

    START = "start"
    QUESTION = "question"
    """Whether the old cluster may be stopped."""
    NEXT_TRY = "next try"
    """It goes on by itself after a failure."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The time for which an execution waits.

    Attributes:
        seconds: until then.
        what: what happens then.
    """

    at: datetime
    seconds: float
    what: Awaited


# --- how far it is


def status_of(execution: Execution, now: datetime) -> ExecutionStatus:
    """By its rows alone, so that another program sees it too."""
    taken = execution.steps_taken
    runs = {step.number: execution.latest(step.number) for step in taken}
    under_way = [(step, run) for step in taken if (run := runs[step.number]) is not None and _runs(run)]
    to_come = [step for step in taken if not execution.done(step.number)]
    first = to_come[0] if to_come else taken[-1]
    left_seconds, left_is_least = seconds_left(execution, taken, now)
    found = account(execution)
    stopped = found.stopped_at if found.reached_at is None else None
    return ExecutionStatus(
        position=next((at for at, step in enumerate(taken, 1) if step.number == first.number), len(taken)),
        steps=len(taken),
        under_way=tuple(under_way),
        stopped_seconds=(units.seconds_between(stopped, now) or 0.0) if stopped is not None else None,
        left_seconds=left_seconds,
        left_is_least=left_is_least,
        extra_pass=_runs_extra_pass(execution, [step for step, _ in under_way]),
        waits=find_wait(execution, now),
    )


def find_wait(execution: Execution, now: datetime) -> Wait | None:
    """Return the time of its schedule for which an execution waits before its next step; None: for none."""
    following, schedule = execution.next_step, execution.schedule
    if execution.state is not State.RUNNING or following is None:
        return None
    failed = find_failed_try(execution, now)
    if failed is not None:
        return Wait(failed.next_at, (failed.next_at - now).total_seconds(), Awaited.NEXT_TRY)
    # nobody saw the end of an earlier try whose server was lost
    if any(run is not None and _runs(run) for run in map(execution.latest, _numbers(execution))):
        return None
    if schedule.start_at is not None and schedule.start_at > now:
        return Wait(schedule.start_at, (schedule.start_at - now).total_seconds(), Awaited.START)
    stop, _ = _stop_and_opening(execution)
    asks = execution.kind is Kind.REAL and following.downtime and _began(execution, stop) is None
    if asks and schedule.ask_at is not None and schedule.ask_at > now:
        return Wait(schedule.ask_at, (schedule.ask_at - now).total_seconds(), Awaited.QUESTION)
    return None


def find_failed_try(execution: Execution, now: datetime) -> FailedTry | None:
    """Return the failure after which an execution waits now; None: it does not wait after one."""
    failed = execution.schedule.failed_tries[-1] if execution.schedule.failed_tries else None
    if execution.state is not State.RUNNING or failed is None or failed.next_at <= now:
        return None
    # whoever has resumed it has not waited
    return None if any(run.started_at > failed.at for run in execution.steps) else failed


def describe_wait(wait: Wait) -> str:
    """For people: `starts at 22:00 (in 3 h 12 min)`."""
    what = _WHAT_COMES[wait.what]
    return f"{what} {shown(wait.at)} (in {units.duration(math.ceil(wait.seconds))})"


_WHAT_COMES = {
    Awaited.START: "starts at",
    Awaited.QUESTION: "asks for the stop at",
    Awaited.NEXT_TRY: "tries again at",
}


def seconds_left(execution: Execution, steps: Iterable[Step], now: datetime) -> tuple[float | None, bool]:
    """Return how long the commands to come of these steps may take, and whether that is only the least.

    The seconds are None where nothing tells. They are the least where nothing tells how long one of the commands takes.
    """
    to_come = [step for step in steps if step.remote is not None and not execution.done(step.number)]
    left = [_seconds_left(step, execution.latest(step.number), now) for step in to_come]
    known = [seconds for seconds in left if seconds is not None]
    return (sum(known) if known else None), len(known) < len(left)


def _runs_extra_pass(execution: Execution, under_way: Sequence[Step]) -> bool:
    """Return whether a pre-copy pass runs behind a step that comes after all of them, as the list of clients does."""
    taken = execution.steps_taken
    last = max((step.number for step in taken if step.precopy_pass), default=0)
    behind = any(execution.done(step.number) for step in taken if step.number > last)
    return behind and any(step.precopy_pass for step in under_way)


def describe_position(found: ExecutionStatus, *, downtime_said: bool = False) -> str:
    """For people: `step 23 of 51, downtime 2 min 13 s, about 4 min 00 s left`.

    Args:
        found: where the execution is.
        downtime_said: the downtime stands beside it. It is left out here, so that there are not two figures.
    """
    parts = [f"step {found.position} of {found.steps}"]
    if found.waits is not None:
        return ", ".join([*parts, describe_wait(found.waits)])
    if found.extra_pass:
        parts.append("one more pre-copy pass before the stop")
    if found.stopped_seconds is not None and not downtime_said:
        parts.append(f"downtime {units.clock(found.stopped_seconds)}")
    left = found.left_seconds
    if left is not None and not (found.left_is_least and left < _WORTH_TELLING):
        about = "at least" if found.left_is_least else "about"
        parts.append(f"{about} {units.time_left(left)} left")
    return ", ".join(parts)


_WAITING = {
    Awaited.START: "waiting for the scheduled time",
    Awaited.QUESTION: "waiting for the scheduled time",
    Awaited.NEXT_TRY: "waiting for the next try after a failure",
}


def make_progress_event(execution: Execution, now: datetime) -> Progress:
    """The steps that run now as one event, in bytes where they tell them."""
    found = status_of(execution, now)
    steps = [step for step, _ in found.under_way]
    title = _title(steps) if found.waits is None else _WAITING[found.waits.what]
    progress_id = "+".join(step.id for step in steps)
    server, position = steps[0].server if len(steps) == 1 else "", describe_position(found)
    runs = [run for _, run in found.under_way if run.bytes is not None]
    if not runs:
        at = found.position - 1
        return Progress(progress_id, title, at, found.steps, "steps", position, server, execution.id)
    totals = [run.total for run in runs if run.total is not None]
    total = sum(totals) if len(totals) == len(runs) else None
    done = sum(run.bytes or 0 for run in runs)
    return Progress(progress_id, title, done, total, "bytes", position, server, execution.id)


def describe_progress(execution: Execution, now: datetime) -> tuple[str, ...]:
    """How far it is and why it waits, then each step that runs: for who looks at it from outside."""
    found, failed = status_of(execution, now), find_failed_try(execution, now)
    why = () if failed is None else (describe_failed_try(failed),)
    return (describe_position(found), *why, *map(_describe_running_step, running_steps(execution, now)))


def describe_failed_try(failed: FailedTry) -> str:
    """For people: `Try 3 failed: the connection to old was lost. The next try begins after 40 s.`"""
    pause = units.duration((failed.next_at - failed.at).total_seconds())
    number, why = failed.number, failed.why.removesuffix(".")
    return f"Try {number} failed: {why}. The next try begins after {pause}."


def describe_failed_tries(schedule: Schedule) -> tuple[str, ...]:
    """For people, a line for each failure that was kept: `Failed at 2026-12-01 22:00:10 UTC: old is not reachable.`"""
    lines = list[str]()
    for number, each in enumerate(schedule.failed_tries):
        if number == KEPT_TRIES and schedule.left_out_tries:
            lines.append(f"Further failures that were counted but not kept: {units.count(schedule.left_out_tries)}.")
        said = f"Failed at {_in_utc(each.first_at or each.at)}: {each.why.removesuffix('.')}"
        if each.repeated:
            times = "once" if each.repeated == 1 else f"{units.count(each.repeated)} times"
            said += f" (repeated {times} until {_in_utc(each.at)})"
        lines.append(f"{said}.")
    return tuple(lines)


def _in_utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class RunningStep:
    """A step that is running.

    Attributes:
        seconds: since it began.
        bytes: how much it is through with; None if it copies nothing. `total`: of how much; None if that is not known.
        bytes_per_second: since it began; None if it is too early to tell.
        server: the name of the server on which it runs; empty if on none.
    """

    title: str
    seconds: float
    bytes: int | None
    total: int | None
    bytes_per_second: float | None
    server: str = ""


def running_steps(execution: Execution, now: datetime) -> tuple[RunningStep, ...]:
    """Return the steps that are running now."""
    return tuple(
        RunningStep(
            step.title,
            units.seconds_between(run.started_at, now) or 0.0,
            run.bytes,
            run.total,
            current_rate(run, now),
            step.server,
        )
        for step, run in status_of(execution, now).under_way
    )


def _describe_running_step(step: RunningStep) -> str:
    said = f"{step.title}, for {units.duration(step.seconds)}"
    if step.bytes is not None:
        said += f": {units.size(step.bytes)}" + (f" of {units.size(step.total)}" if step.total is not None else "")
        said += f" at {units.rate(step.bytes_per_second)}" if step.bytes_per_second is not None else ""
    return said


def current_rate(run: StepRun, now: datetime) -> float | None:
    """Bytes a second of a try that runs, since it began; None where it is too early to tell."""
    seconds = units.seconds_between(run.started_at, now) or 0.0
    return run.bytes / seconds if run.bytes and seconds >= _TELLING_SECONDS else None


def _numbers(execution: Execution) -> Iterator[int]:
    return (step.number for step in execution.steps_taken)


def _runs(run: StepRun) -> bool:
    return run.ended_at is None and not run.void


def _title(steps: Sequence[Step]) -> str:
    if len(steps) == 1:
        return steps[0].title
    return f"{len(steps)} steps side by side, {steps[0].title}" if steps else "between two steps"


def _seconds_left(step: Step, run: StepRun | None, now: datetime) -> float | None:
    """Seconds that a step may still take: by its pace where that tells, else by what the plan expected.

    A step without a share in its stage runs beside others, and adds nothing.
    """
    expected = step.expected_seconds if step.timing.share else 0.0
    if run is None or not _runs(run):
        return expected
    pace = current_rate(run, now)
    if pace is not None and run.total and run.bytes is not None and run.bytes >= _TELLING * run.total:
        return max(0, run.total - run.bytes) / pace
    return None if expected is None else max(0.0, expected - (units.seconds_between(run.started_at, now) or 0.0))
