"""A plan being carried out: its rows in the history are its state."""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Protocol

from core.migration.model import step_ids
from core.migration.model.plan import Phase, Plan, Step
from core.migration.model.schedule import UNSCHEDULED, FailedTry, Schedule

LOCK_FOLDER = "/var/tmp"  # noqa: S108  ln makes the lock in it or fails
LOCK_NAME = "pghaul-lock-"


def lock_path(folder: str) -> str:
    """How the names of the locks of a data directory begin on its server; each ends at random."""
    return f"{LOCK_FOLDER}/{LOCK_NAME}{sha256(folder.encode()).hexdigest()[:12]}"


NOT_OPENED = 69
"""Exit status of the point of no return where the new cluster did not open and nobody can have written to it; as
EX_UNAVAILABLE."""

UNKNOWN_ROOT = 66
"""Exit status of a check of data roots that has found one which the plan does not know: it cannot be continued."""

RUNS_AGAIN = 67
"""Exit status of the look at the old server, once the new cluster is open, where a server runs there again."""

FOR_A_PERSON = 68
"""Exit status of a look whose finding a person may take on, who knows what it cannot see; as EX_NOHOST."""


CANCELLED_STEP = -130
"""In place of an exit status: the operator cancelled the step, or did not confirm it. No command can end with it. A
command that was interrupted on its server may return 130; then the step has failed."""


class Kind(StrEnum):
    """What an execution is."""

    REAL = "real"
    REHEARSAL = "rehearsal"


COPY_REHEARSAL, DRESS_REHEARSAL = "copy rehearsal", "dress rehearsal"


def execution_name(kind: Kind, *, dressed: bool) -> str:
    """Return what people call an execution: `move`, `copy rehearsal` or `dress rehearsal`."""
    if kind is Kind.REAL:
        return "move"
    return DRESS_REHEARSAL if dressed else COPY_REHEARSAL


CANCELLED_MESSAGE = "cancelled"
"""The message of an execution that was cancelled in the middle of a step."""


class State(StrEnum):
    """How an execution stands."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """A server was lost: what runs there goes on, and what the copy needs still lies there."""
    STOPPED = "stopped"
    """A step failed; nothing of ours runs, and what the copy needed was taken away."""
    CANCELLED = "cancelled"
    """The operator cancelled it; otherwise as STOPPED."""
    PAUSED = "paused"
    """The operator ended it between two steps, or did not confirm a step. Nothing has failed; otherwise as STOPPED."""
    DONE = "done"
    ROLLED_BACK = "rolled back"


OVER = frozenset({State.DONE, State.ROLLED_BACK})
"""Such an execution cannot be continued."""


ENDED_EARLY = frozenset({State.STOPPED, State.CANCELLED, State.PAUSED})
"""Nothing of such an execution runs on the servers, and what the copy needed was taken away. It can be continued."""


_OF_ONE_KIND = re.compile(r"(\d{1,9}) of ")


def count_clients(listed: Sequence[str]) -> int:
    """Return how many clients are connected, from the lines of `list_clients` (resources/sh/inventory.sh).

    Each begins with the number of one kind: `3 of app on shop from 10.0.0.7, web`. Any other line counts as one client.
    """
    counts = (_OF_ONE_KIND.match(line) for line in listed)
    return sum(1 if count is None else int(count[1]) for count in counts)


class StopAnswer(StrEnum):
    """What a person says when they are asked whether the old cluster may be stopped."""

    STOP = "stop"
    DECLINED = "declined"
    WARM_FIRST = "one more pre-copy pass"
    LOOK_AGAIN = "look again"
    """The connected clients are listed again, then the question comes again."""


@dataclass(frozen=True, slots=True)
class StepRun:
    """One try at a step.

    Attributes:
        id: its number in the history.
        back: it is a step of the way back.
        attempt: which try it is, from 1.
        exit_status: None while it runs, or when nobody saw how it ended; CANCELLED_STEP (-130) if the operator
            ended it.
        bytes: what it sent, in bytes of cluster; None where it copies nothing or does not say. While it runs, how much
            it is through with of the `total`, which is None where it is not known.
        output: the end of what it printed.
        void: what happened later makes it count as not done.
    """

    id: int
    number: int
    title: str
    attempt: int
    started_at: datetime
    ended_at: datetime | None = None
    exit_status: int | None = None
    bytes: int | None = None
    output: str = ""
    message: str = ""
    back: bool = False
    void: bool = False
    total: int | None = None

    @property
    def done(self) -> bool:
        """It ended well, and nothing has overruled it since."""
        return self.exit_status == 0 and not self.void


def new_token() -> str:
    """Return a token by which an execution is told from every other one."""
    return secrets.token_hex(4)


_STOPPING = frozenset({step_ids.STOP_OLD_CLUSTER, step_ids.CHECK_STOPPED})
"""The steps that stop the old cluster, or find it stopped."""


@dataclass(frozen=True, slots=True)
class Execution:
    """A plan being carried out. Its rows in the history are its state.

    Attributes:
        token: what tells this execution from every other one, on whatever workstation: the locks bear it.
        owner: `user@workstation` who carries it out.
        message: why it ended where it did; empty while it runs or when it is done.
        follow_up_done: the ids of the follow-up tasks that the operator has ticked off.
        schedule: the times for which it waits, and the failures after which it has gone on by itself.
    """

    id: int
    move: str
    kind: Kind
    state: State
    token: str
    owner: str
    started_at: datetime
    ended_at: datetime | None
    plan: Plan
    steps: tuple[StepRun, ...] = ()
    message: str = ""
    cancel_asked: bool = False
    follow_up_done: frozenset[str] = frozenset()
    schedule: Schedule = UNSCHEDULED

    @property
    def steps_taken(self) -> tuple[Step, ...]:
        """The steps of the plan that it takes: a rehearsal leaves out what stops old or opens new."""
        return tuple(step for step in self.plan.steps if self.kind is Kind.REAL or step.in_rehearsal)

    @property
    def next_step(self) -> Step | None:
        """The step with which it goes on; None: all are done.

        That is the first one that is not done. But while the old cluster runs, an execution that ended early repeats
        the pre-copy passes, because the lists of what they have copied are removed with the rest.
        """
        following = next((step for step in self.steps_taken if not self.done(step.number)), None)
        if following is None or not self.steps or self.state not in ENDED_EARLY or self._stop_has_begun:
            return following
        repeated = (step for step in self.steps_taken if step.precopy_pass or step.downtime)
        return min(following, next(repeated, following), key=lambda step: step.number)

    @property
    def _stop_has_begun(self) -> bool:
        holding = {step.number for step in self.plan.steps if step.id in _STOPPING}
        return any(run.number in holding and not run.back for run in self.steps)

    @property
    def dressed(self) -> bool:
        """Whether it is a dress rehearsal, in which the copy itself is started."""
        return any(step.phase is Phase.DRESS for step in self.plan.steps)

    @property
    def name(self) -> str:
        """What people call it, see `execution_name`."""
        return execution_name(self.kind, dressed=self.dressed)

    def latest(self, number: int, *, back: bool = False) -> StepRun | None:
        """The latest try at a step."""
        runs = [run for run in self.steps if run.number == number and run.back == back]
        return runs[-1] if runs else None

    def done(self, number: int) -> bool:
        """Whether the latest try at a step of the plan ended well."""
        latest = self.latest(number)
        return latest is not None and latest.done

    @property
    def past_return(self) -> bool:
        """Whether the point of no return was reached: its step has begun, and it is not known that the new cluster
        never opened."""
        return any(run.exit_status != NOT_OPENED for run in self.openings)

    @property
    def openings(self) -> tuple[StepRun, ...]:
        """The tries at the point of no return."""
        points = {step.number for step in self.plan.steps if step.point_of_no_return}
        return tuple(run for run in self.steps if run.number in points and not run.back)

    @property
    def cutover_at(self) -> datetime | None:
        """When clients could first connect to the new cluster: the end of the first opening that ended well; None: none
        did.

        Everything that says when the cutover was has it from here.
        """
        return min((run.ended_at for run in self.openings if run.exit_status == 0 and run.ended_at), default=None)

    # --- what happens to it, as the history records it

    def with_started(self, run: StepRun) -> "Execution":
        """Return it with one more run."""
        return replace(self, steps=tuple(sorted((*self.steps, run), key=lambda each: each.id)))

    def with_progress(self, run_id: int, done: int, total: int | None) -> "Execution":
        """Return it with the bytes that a run is through with, unless the run has ended."""
        return self._with_changed(
            run_id, lambda run: run if run.ended_at is not None else replace(run, bytes=done, total=total)
        )

    def with_ended(self, ended: StepRun) -> "Execution":
        """Return it with the end of a run. The bytes that a failed run has copied stay."""

        def end(run: StepRun) -> StepRun:
            copied = ended.bytes if ended.bytes is not None or ended.done else run.bytes
            return replace(ended, bytes=copied, total=run.total, void=run.void)

        return self._with_changed(ended.id, end)

    def with_void(self, first: int) -> "Execution":
        """Return it with the steps of the plan from that number on not done."""
        runs = (run if run.back or run.number < first else replace(run, void=True) for run in self.steps)
        return replace(self, steps=tuple(runs))

    def _with_changed(self, run_id: int, change: Callable[[StepRun], StepRun]) -> "Execution":
        return replace(self, steps=tuple(change(run) if run.id == run_id else run for run in self.steps))


class ExecutionJournal(Protocol):
    """Who records an execution as it happens; implemented by the history."""

    def execution_started(self, execution: Execution) -> int:
        """Record a new execution; the number it has from now on."""
        ...

    def execution(self, execution_id: int) -> Execution:
        """The execution of that number with every step so far."""
        ...

    def execution_changed(self, execution_id: int, state: State, message: str = "") -> None:
        """Record how it stands; all but RUNNING end it for now. RUNNING forgets that a cancel was asked for."""
        ...

    def try_failed(self, execution_id: int, failed: FailedTry) -> None:
        """Record a failure after which it waits and goes on."""
        ...

    def try_began(self, execution_id: int, at: datetime) -> None:
        """Record that it waits no more after a failure; raise TakenOverError if it is no more this process's."""
        ...

    def refuse_taken_over(self, execution_id: int) -> None:
        """Raise TakenOverError if another process carries it out."""
        ...

    def ask_cancel(self, execution_id: int) -> None:
        """Ask whoever carries it out to stop."""
        ...

    def cancel_asked(self, execution_id: int) -> bool:
        """Whether somebody asked it to stop."""
        ...

    def step_started(self, execution_id: int, run: StepRun) -> int:
        """Record the start of a try at a step; the number it has from now on."""
        ...

    def step_progressed(self, run_id: int, done: int, total: int | None) -> None:
        """Record how many bytes a try that runs is through with, and of how many."""
        ...

    def step_ended(self, run: StepRun) -> None:
        """Record the end of that try."""
        ...

    def steps_void(self, execution_id: int, first: int) -> None:
        """From now on the steps of the plan from that number on count as not done."""
        ...


class Operator(Protocol):
    """Who answers for the person at the workstation: the terminal, the window, or options given beforehand."""

    def announce(self, cluster: str) -> None:
        """An execution is about to begin, or to go on; raises InputError where another cluster's name was given."""
        ...

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        """Whether the person has typed the cluster's name, so that it may be stopped.

        `connected`: who is, a line each; `warm`: one more warm pass may be asked for instead.
        """
        ...

    def withdraw_confirmation(self) -> None:
        """Go on after a failure: a name that was given beforehand for the stop counts no more, since it is late now."""
        ...

    def wants_to_end(self) -> bool:
        """Whether the person wants no further step to begin; asked between two of them."""
        ...

    def confirm_manual_step(self, step: Step) -> bool:
        """Wait until the person has done that step; False: it will not be done."""
        ...

    def accept_finding(self, found: str) -> str:
        """Why the person takes on what a step has found, in their words; empty: they do not."""
        ...

    def confirm_take_over(self, move: str, shown: str) -> bool:
        """Whether the person, shown these lines, has said the move's name: no seal vouches for what they tell of."""
        ...
