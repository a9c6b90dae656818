"""The times at which an execution starts and asks for the stop: what is chosen for them, and what follows."""

import math
from datetime import UTC, datetime

from core import units
from core.errors import InputError
from core.language import tr
from core.migration.model.schedule import UNSCHEDULED, Schedule, asks_on_next_day, dated, schedule_of
from gui.models.sentences import error_text


def describe_times(start: str | None, ask: str | None) -> str:
    """Return what two times mean that are chosen on the page, or why they are refused; empty if none is chosen."""
    now = datetime.now(UTC)
    try:
        return describe_schedule(schedule_of(start, ask, now), now)
    except InputError as error:
        return error_text(error)


def describe_schedule(schedule: Schedule, now: datetime) -> str:
    """Return for what an execution waits, and what it needs until then; empty if it waits for nothing."""
    if schedule == UNSCHEDULED:
        return ""
    said = []
    if schedule.start_at is not None:
        said.append(
            tr("The pre-copy starts at {time}, in {left}. The checks run at once, and again then.").format(
                time=dated(schedule.start_at), left=left(schedule.start_at, now)
            )
        )
    if schedule.ask_at is not None:
        asks = tr("pghaul asks for the stop at {time}, in {left}. Until then, more passes keep the copy fresh.")
        if asks_on_next_day(schedule, now):
            asks = tr(
                "pghaul asks for the stop at {time} (next day), in {left}. Until then, more passes keep the copy fresh."
            )
        said.append(asks.format(time=dated(schedule.ask_at), left=left(schedule.ask_at, now)))
    said.append(tr("This window must stay open, and the workstation must not go to sleep."))
    return " ".join(said)


def left(at: datetime, now: datetime) -> str:
    """Return how long it is until a time."""
    return units.duration(math.ceil(max(0.0, (at - now).total_seconds())))
