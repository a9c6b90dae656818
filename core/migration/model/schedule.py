"""When an execution starts to copy and when it asks for the stop, and how such a time is typed."""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.errors import InputError

_CLOCK = re.compile(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)", re.ASCII)
_DATED = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*", re.ASCII)
_FURTHEST = timedelta(days=7)
"""The checks and the plan are made when the execution is started. Later than this they say little."""

KEPT_TRIES = 10
"""A schedule keeps so many of its first and so many of its last failures: a network may be away for days."""


@dataclass(frozen=True, slots=True)
class FailedTry:
    """A failure after which a scheduled execution waits and goes on by itself.

    Failures with the same message, one after the other, are kept as one: the last of them.

    Attributes:
        at: when it failed.
        number: which failure it is since the execution last got further, from 1.
        why: the message of the error.
        next_at: when the next try begins.
        repeated: how many failures with the same message came directly before it.
        first_at: when the first of these was; None: there are none.
    """

    at: datetime
    number: int
    why: str
    next_at: datetime
    repeated: int = 0
    first_at: datetime | None = None

    def repeats(self, before: "FailedTry") -> bool:
        """Return whether it came directly after another failure and says the same."""
        return self.why == before.why and self.number > before.number


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times for which an execution waits; None: it does not wait.

    The process that carries the execution out waits. Nothing starts it at these times if it has ended.

    Attributes:
        start_at: when the first step begins.
        ask_at: when the operator is asked at the earliest whether the old cluster may be stopped.
        failed_tries: the failures after which it has waited and gone on, in their order: the first and the last ones.
        left_out_tries: how many failures between those were not kept.
    """

    start_at: datetime | None = None
    ask_at: datetime | None = None
    failed_tries: tuple[FailedTry, ...] = ()
    left_out_tries: int = 0

    def with_failed_try(self, failed: FailedTry) -> "Schedule":
        """Return it with one more failure."""
        tries, left_out = [*self.failed_tries], self.left_out_tries
        if tries and failed.repeats(tries[-1]):
            before = tries.pop()
            failed = replace(failed, repeated=before.repeated + 1, first_at=before.first_at or before.at)
        tries.append(failed)
        if len(tries) > 2 * KEPT_TRIES:
            left_out += tries.pop(KEPT_TRIES).repeated + 1
        return replace(self, failed_tries=tuple(tries), left_out_tries=left_out)


UNSCHEDULED = Schedule()


def schedule_of(start: str | None, ask: str | None, now: datetime) -> Schedule:
    """Return the schedule of two typed times; None: there is none. Raise InputError as `time_of`.

    Args:
        start: when the first step begins.
        ask: when the operator is asked; of a time without a date, its first occurrence after the start.
        now: the present time.
    """
    start_at = None if start is None else time_of(start, now)
    ask_at = None if ask is None else time_of(ask, start_at or now, furthest=now + _FURTHEST)
    return Schedule(start_at, ask_at)


def time_of(text: str, after: datetime, *, furthest: datetime | None = None) -> datetime:
    """Return the time that was typed: the next `22:00` of this workstation, or `2026-12-01 22:00`.

    Args:
        text: what was typed. A time without a zone is one of this workstation.
        after: an aware time; the result is later.
        furthest: the latest possible time; None: a week after `after`.

    Raises:
        InputError: it is no time, it does not exist on that day, or it is too early or too late.
    """
    typed = text.strip()
    clock = _CLOCK.fullmatch(typed)
    if clock is not None:
        return _next(int(clock["hour"]), int(clock["minute"]), after)
    try:
        meant = datetime.fromisoformat(typed if _DATED.fullmatch(typed) else "")
        found = meant if meant.tzinfo is not None else _local(meant)
    except (ValueError, OverflowError, OSError) as error:  # no such day, or none that the system's calendar reaches
        raise InputError(f"{typed} is no time", "such as 22:00, or with a date 2026-12-01 22:00") from error
    if found <= after:
        raise InputError(f"{typed} is not after {shown(after)}", "give a later time")
    if found > (furthest or after + _FURTHEST):
        raise InputError(f"{typed} is more than a week away", "start nearer to that time, so that the checks are fresh")
    return found


def _next(hour: int, minute: int, after: datetime) -> datetime:
    """Return the first time after another one at which the clock of this workstation shows this."""
    day = after.astimezone().replace(tzinfo=None, fold=0, hour=hour, minute=minute, second=0, microsecond=0)
    # where the clocks go back, a time comes twice in a day
    today = (day.replace(fold=fold) for fold in (0, 1))
    meant = next((one for one in today if one.astimezone() > after), day + timedelta(days=1))
    return _local(meant)


def _local(meant: datetime) -> datetime:
    """Return a time of this workstation's clock with its zone; raise InputError if the clock leaves it out."""
    found = meant.astimezone()
    if found.replace(tzinfo=None) != meant:
        raise InputError(
            f"{meant:%H:%M} does not exist on {meant:%Y-%m-%d}, because the clocks go forward then",
            "give a time before or after the change of the clocks",
        )
    return found


def dated(at: datetime) -> str:
    """Return a time with its date, in the zone of this workstation: `2026-12-01 22:00`."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def asks_on_next_day(schedule: Schedule, now: datetime) -> bool:
    """Return whether the question comes on the day after the start, or after today if the execution starts at once."""
    if schedule.ask_at is None:
        return False
    start, ask = ((at or now).astimezone().date() for at in (schedule.start_at, schedule.ask_at))
    return ask == start + timedelta(days=1)


def describe_schedule(schedule: Schedule, now: datetime) -> str:
    """For people: `Start 2026-11-30 22:00, question 2026-12-01 21:00 (next day)`; empty without times."""
    parts = []
    if schedule.start_at is not None:
        parts.append(f"start {dated(schedule.start_at)}")
    if schedule.ask_at is not None:
        parts.append(f"question {dated(schedule.ask_at)}" + (" (next day)" if asks_on_next_day(schedule, now) else ""))
    said = ", ".join(parts)
    return f"{said[:1].upper()}{said[1:]}"


def shown(at: datetime) -> str:
    """Return a time of this week in the zone of this workstation: `22:00`, or of another day `2026-12-01 22:00`."""
    local, today = at.astimezone(), datetime.now().astimezone().date()
    return f"{local:%H:%M}" if local.date() == today else f"{local:%Y-%m-%d %H:%M}"
