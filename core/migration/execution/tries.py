"""When a scheduled execution goes on by itself after a failure: nobody may be there who could resume it.

A workstation that wakes up has no network yet, and a network that breaks at night comes back. A failure that another
try cannot mend, such as a changed host key or a full disk, ends the execution as every other one.
"""

from datetime import datetime, timedelta

from core.errors import CommandError, PghaulError, UnreachableError
from core.migration.execution.status import may_have_stopped_old
from core.migration.execution.step_runner import broke_between_servers
from core.migration.model.execution import Execution
from core.migration.model.schedule import FailedTry
from core.redaction import without_secrets

FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(minutes=5)
"""Before the second try, and at the most. Each pause in between is twice as long as the one before it."""

LATEST = timedelta(hours=1)
"""How much later than its time something of a schedule may still begin by itself: from then on the hours that the
operator chose may be over."""

NIGHT = timedelta(hours=12)
"""How long after its start an execution without a time of the question goes on by itself."""

_LASTING = timedelta(minutes=10)
"""A failure that comes so long after its try began is a new one: the pauses begin anew."""

_DOUBLINGS = 10


class Tries:
    """The failures of one execution in this process."""

    def __init__(self) -> None:
        self._last: FailedTry | None = None
        self._first_late: datetime | None = None

    def count(self, execution: Execution, error: PghaulError, now: datetime) -> FailedTry | None:
        """Count a failure, and return when the next try begins; None: there is none.

        Args:
            execution: the execution, whose operator was not yet asked for the stop of the old cluster.
            error: why it cannot go on now.
            now: the present time.
        """
        if may_have_stopped_old(execution) or not may_be_mended(execution, error):
            return None
        number = 1 if self._last is None or now - self._last.next_at > _LASTING else self._last.number + 1
        next_at = now + min(FIRST_PAUSE * 2 ** min(number - 1, _DOUBLINGS), LONGEST_PAUSE)
        if not self._is_time_left(execution, now, next_at):
            return None
        self._last = FailedTry(now, number, error.message, next_at)
        return self._last

    def is_time_left(self, execution: Execution, now: datetime) -> bool:
        """Return whether the next try may begin now: the workstation may have slept during the pause before it."""
        return self._is_time_left(execution, now, now)

    def _is_time_left(self, execution: Execution, now: datetime, next_at: datetime) -> bool:
        """Return whether a try may begin at a time.

        Tries are made until the question. A failure shortly before or after its time has an hour of tries all the same:
        a workstation that has slept beyond it has no network when it wakes up.
        """
        schedule = execution.schedule
        if schedule.start_at is not None and not execution.steps:
            return next_at <= schedule.start_at + LATEST
        end = schedule.ask_at if schedule.start_at is None or schedule.ask_at else schedule.start_at + NIGHT
        if end is None or next_at <= end:
            return end is not None
        self._first_late = self._first_late or now
        return next_at <= self._first_late + LATEST


def may_be_mended(execution: Execution, error: PghaulError) -> bool:
    """Return whether another try may succeed: a connection broke, of the workstation or between the servers."""
    if isinstance(error, UnreachableError):
        return not error.lasting
    step = execution.next_step
    if step is None or step.precopy_pass == 0 or step.root == "" or not isinstance(error, CommandError):
        return False
    # the statuses are those of rsync, and no other command's
    return error.command == without_secrets(step.call) and broke_between_servers(error)
