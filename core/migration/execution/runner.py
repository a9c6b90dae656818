"""Carry out a plan: run its steps from the first one that is not done, and record how it ends.

An execution ends in one of four ways. It is done. A step failed, or the operator cancelled or paused it: pghaul
removes what the copy needed (key, locks, lists) and ends its own processes. The files that have arrived on the new
server stay.
Or a server was lost, and the execution is interrupted: its processes on the servers go on, and what they need stays
until the operator resumes it, cancels it or rolls it back.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from core import units
from core.errors import (
    BlockedError,
    Cancelled,
    HistoryError,
    HistoryLostError,
    PausedError,
    PghaulError,
    ServerError,
    TakenOverError,
    UnreachableError,
)
from core.facts.model import TrialStart
from core.jobs import Job, Note
from core.migration.execution import lock
from core.migration.execution.difference import (
    Differences,
    compare_lists,
    describe_first_difference,
    describe_inventory_difference,
)
from core.migration.execution.lock import HeldError
from core.migration.execution.passes import (
    estimate_gain,
    find_extra_pass,
    is_another_pass_worthwhile,
    is_pass_due_while_waiting,
    read_finished_passes,
)
from core.migration.execution.resume import DIFFERS, Resume, format_differing_files, is_stop_proven
from core.migration.execution.status import (
    describe_both_clusters,
    describe_status,
    may_have_stopped_old,
    suggest_next_commands,
)
from core.migration.execution.step_runner import DEADLINE, StepRunner
from core.migration.execution.timeline import describe_failed_try
from core.migration.execution.tries import LATEST, Tries
from core.migration.model import step_ids
from core.migration.model.execution import (
    CANCELLED_MESSAGE,
    ENDED_EARLY,
    Execution,
    Kind,
    State,
    StopAnswer,
    lock_path,
    new_token,
)
from core.migration.model.plan import SIDE_BY_SIDE, Plan, RemoteCall, Step, call_of
from core.migration.model.schedule import UNSCHEDULED, FailedTry, Schedule, shown
from core.servers.shell import command, quoted
from core.sides import Side
from core.text import counted, lines_of
from core.this_workstation import whoami

PROGRAM_ENDED = "the program ended"
"""Why an execution is interrupted whose program said nothing more."""

LOOK_SECONDS = 1.0
"""How often the clock is read while an execution waits for a time. These waits are not added up, because the
workstation may have slept."""

_LAST_LOOKS = frozenset(
    {
        step_ids.CHECK_DATA_ROOTS,
        step_ids.CHECK_COPYABLE,
        step_ids.CHECK_RESTARTABLE,
        step_ids.LIST_LISTENERS,
        step_ids.CHECKPOINT_BEFORE_STOP,
        step_ids.LIST_CLIENTS,
    }
)
"""The steps between the last pre-copy pass and the question. They must not be hours old when it is asked."""


def new_execution(plan: Plan, kind: Kind, schedule: Schedule = UNSCHEDULED) -> Execution:
    """Return a new execution of a plan. It is not recorded yet."""
    made = Execution(0, plan.move, kind, State.RUNNING, new_token(), whoami(), datetime.now(UTC), None, plan)
    return replace(made, schedule=schedule)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Runner:
    """Carries out one execution.

    Args:
        steps: runs its single steps and holds it in memory.
        try_start: tries once more to start an empty cluster on the new server, before the old one is stopped; None:
            nothing is tried.
        check_again: runs the checks once more before the first step of an execution that was to start later, and raises
            BlockedError if one of them forbids the move; None: nothing is checked.
        now: returns the present time, by which it waits for the times of its schedule.
        elapsed: returns the seconds of a clock that nobody sets. A pause after a failure ends by it too.
    """

    def __init__(
        self,
        steps: StepRunner,
        try_start: Callable[[Job], TrialStart | None] | None = None,
        check_again: Callable[[Job], None] | None = None,
        now: Callable[[], datetime] = _utc_now,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self.steps = steps
        self.try_start = try_start
        self.check_again = check_again
        self.now = now
        self.elapsed = elapsed
        self._asked = False
        """Whether the operator was asked for the stop of the old cluster, in this process."""
        self._start_until: datetime | None = None
        """Until when the first step may begin; None: whoever started or resumed this process knows how late it is."""
        self._unseen = False
        """Whether it ends while a pass may still run on a server that was lost: then it is interrupted."""

    def carry_out(self) -> None:
        """Run the steps of the plan, from the first one that is not done.

        Raises:
            BlockedError: another workstation moves the cluster, or a check failed.
            PausedError: the operator wanted no further step, or did not confirm one.
            CommandError: a step failed.
            UnreachableError: a server was lost. Its processes go on.
            Cancelled: the job was cancelled.
        """
        # An execution that ended in one of these states has removed its key and its lists of copied files. The state is
        # read first, because `recording` replaces it.
        cleaned, began = self.steps.reload().state in ENDED_EARLY, self.now()
        with self.recording(State.DONE):
            self.lock_both()
            self.steps.reload()  # another workstation may have gone on with it until it was locked
            try:
                self._run_with_further_tries(began, cleaned=cleaned)
            except (UnreachableError, HistoryLostError, TakenOverError):
                raise  # what runs on the servers goes on, for this process or for the one that goes on with it
            except PghaulError as error:
                if self._unseen:
                    error.add_note(describe_status(replace(self.steps.execution, state=State.INTERRUPTED)))
                    raise
                self.remove_leftovers()
                if isinstance(error, PausedError) and may_have_stopped_old(self.steps.execution):
                    error.stands = describe_both_clusters(self.steps.execution)
                # shown with the error, since it follows from that; the state is the one that will be recorded
                error.add_note(describe_status(replace(self.steps.execution, state=State.STOPPED)))
                raise
            self.remove_leftovers()
        self.steps.job.report(Note("Every step is done."))

    def cancel_abandoned(self) -> None:
        """Cancel an execution that no program carries out any more.

        Its processes on the servers are ended, and what the copy needed is removed.
        """
        for side, _ in self.steps.sides:
            self.steps.end_detached(side)
        self.remove_leftovers()
        self.steps.record_state(State.CANCELLED, CANCELLED_MESSAGE)

    # --- how it ends

    @contextmanager
    def recording(self, done: State) -> Iterator[None]:
        """Record that the execution is carried out, and how that ends; meanwhile report its progress each second.

        Args:
            done: its state if the body ends without an error.

        Raises:
            HistoryLostError: a team's history is lost. Nothing is recorded: another workstation may go on with it.
        """
        before = self.steps.execution
        try:
            self.steps.record_state(State.RUNNING)
            with self._recording_end(before, done), self._watching():
                self.steps.record_begun_try(self.now())  # an earlier process may have ended in a pause after a failure
                yield
        except HistoryLostError as error:
            on = command("pghaul", "execute", before.move)
            hint = f"What runs on the servers goes on. When the history answers again: {on} --resume"
            raise HistoryLostError(error.message, hint) from error

    @contextmanager
    def _recording_end(self, before: Execution, done: State) -> Iterator[None]:
        # Whatever no handler below names, such as a bug, leaves an interrupted execution. That is the careful guess:
        # its processes on the servers may still run, and --resume looks for them.
        state, message = State.INTERRUPTED, PROGRAM_ENDED
        ours = True
        try:
            yield
            state, message = done, ""
        except TakenOverError:
            ours = False
            raise
        except HeldError as error:
            state, message = _state_before(before, error)
            raise
        except UnreachableError as error:
            state, message = State.INTERRUPTED, error.message
            hint = (
                f"What runs there goes on. When the server answers again: pghaul execute {quoted(before.move)} --resume"
            )
            raise UnreachableError(error.message, hint) from error
        except Cancelled:
            state, message = State.CANCELLED, CANCELLED_MESSAGE
            raise
        except PausedError as error:
            state, message = State.PAUSED, error.message
            raise
        except PghaulError as error:
            state, message = State.INTERRUPTED if self._unseen else State.STOPPED, error.message
            raise
        finally:
            if ours:
                self.steps.record_state(state, message)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        """Report the progress each second, and cancel the job if another program of this workstation asks for it."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(1.0):
                with suppress(HistoryError):  # whoever works meets the error too, and reports it
                    self.steps.tell_progress()
                    if self.steps.journal.cancel_asked(self.steps.id):
                        self.steps.job.cancel()
                        return

        watcher = threading.Thread(target=watch, name="progress of the execution")
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def remove_leftovers(self) -> None:
        """Remove what the copy needed, and the locks. What cannot be removed is reported as a warning."""
        # In this order: a pass that still runs needs its key, so processes end before the key goes. The locks go last.
        # Until then no other workstation can begin a copy into folders that this execution may still write to.
        for side, _ in self.steps.sides:
            self._try_to_remove(f"What still runs on the {side} server", partial(self.steps.end_detached, side))
        for step in self.steps.plan.steps:
            if step.remote is not None and step.resume.closes_channel and _needs_closing(self.steps.execution, step):
                self._try_to_remove(step.title, partial(self._run_closing_step, step, step.remote))
        for side, folder in self.steps.sides:
            self._try_to_remove(
                f"the lock {lock_path(folder)}-* on {side}",
                partial(self._unlock, side, folder),
            )

    def lock_both(self) -> None:
        """Lock both data directories, or neither if the execution has not begun yet.

        Raises:
            BlockedError: another execution has one of the locks.
        """
        taken: list[tuple[Side, str]] = []
        try:
            for side, folder in self.steps.sides:
                self.lock_side(side, folder)
                taken.append((side, folder))
        except PghaulError:
            # An execution that has begun keeps the lock that it got. Its processes may still run on that server,
            # although the other server cannot be locked now. One that tries again will want it then.
            if not self.steps.execution.steps and not self.steps.execution.schedule.failed_tries:
                for side, folder in taken:
                    self._try_to_remove(
                        f"the lock {lock_path(folder)}-* on {side}",
                        partial(self._unlock, side, folder),
                    )
            raise

    def lock_side(self, side: Side, folder: str) -> None:
        """Lock the data directory of one side.

        Raises:
            BlockedError: another execution has the lock.
        """
        lock.take(self.steps.connect(side), side, folder, self.steps.execution, self.steps.job)

    def _unlock(self, side: Side, folder: str) -> None:
        lock.release(self.steps.connect(side), side, folder, self.steps.execution, Job())

    def _try_to_remove(self, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except PghaulError as error:  # also where the history does not know the server any more
            self.steps.job.report(Note(f"{what} could not be removed: {error.message}", "warning"))

    def _run_closing_step(self, step: Step, remote: RemoteCall) -> None:
        closing = call_of(self.steps.plan, remote.call)
        done = self.steps.connect(remote.side).run(
            closing, Job(), user=remote.user, title=step.title, deadline=DEADLINE
        )
        self.pass_on_warnings(done.stdout)

    def _run_with_further_tries(self, began: datetime, *, cleaned: bool) -> None:
        """Run the remaining steps. While a scheduled execution waits for its times, go on by itself after a failure.

        Each try goes on as `--resume` does, but nothing was removed in between.

        Args:
            began: when this process began to carry it out.
            cleaned: as `Resume.prepare` has it.
        """
        schedule, self._asked = self.steps.execution.schedule, False
        if not any(at is not None and at > began for at in (schedule.start_at, schedule.ask_at)):
            self._run_remaining_steps(cleaned=cleaned)
            return
        if schedule.start_at is not None and schedule.start_at + LATEST >= began:
            self._start_until = schedule.start_at + LATEST
        tries, error, failed = Tries(), None, None
        lost: UnreachableError | None = None
        while True:
            try:
                if failed is not None and error is not None:
                    self._wait_for_next_try(failed)
                    self._begin_next_try()
                    if self.steps.execution.steps and not tries.is_time_left(self.steps.execution, self.now()):
                        raise error
                self._run_remaining_steps(cleaned=cleaned)
            except (HistoryLostError, TakenOverError):
                raise
            except (Cancelled, PausedError) as ended:
                if lost is not None and self._may_still_run():
                    raise lost from ended
                raise
            except PghaulError as caught:
                lost = caught if isinstance(caught, UnreachableError) else lost
                failed = None if self._asked else tries.count(self.steps.execution, caught, self.now())
                if failed is None:
                    self._unseen = lost is not None and self._may_still_run()
                    raise
                error = caught
            else:
                return

    def _wait_for_next_try(self, failed: FailedTry) -> None:
        following = self.steps.execution.next_step
        self.steps.record_failed_try(failed)
        self.steps.operator.withdraw_confirmation()
        self.steps.job.report(Note(describe_failed_try(failed), "warning"))
        until = self.elapsed() + (failed.next_at - failed.at).total_seconds()
        for _ in self._waiting_for(failed.next_at):
            if self.elapsed() >= until:  # the clock was set back
                return
            if following is not None:
                self._pause_if_asked(following)

    def _begin_next_try(self) -> None:
        """Make sure that the execution and both data directories are still this process's.

        Raises:
            TakenOverError: another process has gone on with the execution.
            BlockedError: another execution has a lock by now.
        """
        self.steps.record_begun_try(self.now())
        try:
            self.lock_both()
        except HeldError as held:  # which stands for an execution that has changed nothing
            raise BlockedError(held.message, held.hint) from held

    def _may_still_run(self) -> bool:
        """Return whether nobody saw the end of a detached step, which may still run if its server was lost."""
        steps = (step for step in self.steps.execution.steps_taken if step.remote is not None and step.remote.detached)
        runs = (self.steps.execution.latest(step.number) for step in steps)
        return any(run is not None and run.ended_at is None for run in runs)

    def _run_remaining_steps(self, *, cleaned: bool) -> None:
        self._wait_to_start()
        if self.steps.execution.steps:
            Resume(self.steps).prepare(cleaned=cleaned)
        for group in _group_steps(self.steps.execution.steps_taken):
            execution = self.steps.execution
            todo = [step for step in group if not execution.done(step.number)]
            if not todo:
                continue
            self._pause_if_asked(todo[0])
            # The operator is asked once, before the first step that makes clients wait. If the stop is proven, an
            # earlier process has asked already. The answer may have come hours after the last pass, so another pass may
            # be due. All of this takes time, in which the operator may ask for the pause.
            if todo[0].downtime and execution.kind is Kind.REAL and not self._asked and not is_stop_proven(execution):
                self._wait_to_ask(todo[0])
                self._asked = True
                self._confirm_stop(todo[0])
                self._run_extra_pass_if_outdated(todo[0])
            if todo[0].id == step_ids.STOP_OLD_CLUSTER:
                self._try_start()
                self._pause_if_asked(todo[0])
            if todo[0].precopy_pass:
                self._run_precopy_pass(group, todo)
            else:
                self._run_group(todo)

    def _wait_to_start(self) -> None:
        """Wait until the first step may begin, and check again then. The cluster is locked meanwhile.

        Raises:
            BlockedError: since the first checks something has changed that forbids the move.
            PausedError: the operator wanted no step, or the workstation slept far beyond the time.
        """
        execution = self.steps.execution
        start_at, following = execution.schedule.start_at, execution.next_step
        if start_at is None or following is None or execution.steps:
            return
        if start_at > self.now():
            self.steps.job.report(Note(f"The pre-copy starts at {shown(start_at)}."))
            for _ in self._waiting_for(start_at):
                self._pause_if_asked(following)
        self._refuse_missed_start(start_at)
        if self.check_again is not None:
            self.check_again(self.steps.job)
            self._pause_if_asked(following)
            self._refuse_missed_start(start_at)

    def _refuse_missed_start(self, start_at: datetime) -> None:
        """Raise PausedError if the first step would begin too late: the workstation slept, or the checks failed."""
        now = self.now()
        if self._start_until is not None and now > self._start_until:
            late = units.duration((now - start_at).total_seconds())
            what = f"The start at {shown(start_at)} was missed by {late}, so nothing was copied."
            raise PausedError(what, suggest_next_commands(replace(self.steps.execution, state=State.STOPPED)))

    def _wait_to_ask(self, following: Step) -> None:
        """Wait until the operator may be asked for the stop; meanwhile keep the copy fresh by more pre-copy passes.

        Then the plan's last looks at the old cluster are repeated: they were made before the wait, before a failure, or
        by a process that waited and ended.
        """
        schedule = self.steps.execution.schedule
        ask_at = schedule.ask_at
        if ask_at is None and not schedule.failed_tries:
            return
        if ask_at is not None and ask_at > self.now():
            self.steps.job.report(Note(f"The stop of the old cluster is asked for at {shown(ask_at)}."))
            finished = read_finished_passes(self.steps.execution)
            for left in self._waiting_for(ask_at):
                self._pause_if_asked(following)
                if is_pass_due_while_waiting(finished, left):
                    self._repeat_last_precopy_pass()
                    finished = read_finished_passes(self.steps.execution)
        for step in self.steps.execution.steps_taken:
            if step.id in _LAST_LOOKS:
                self._pause_if_asked(step)
                self._run_group([step])

    def _waiting_for(self, at: datetime) -> Iterator[float]:
        """Yield the seconds that are left until a time, again and again until it has come."""
        while (left := (at - self.now()).total_seconds()) > 0:
            yield left
            self.steps.job.wait(min(left, LOOK_SECONDS))

    def _pause_if_asked(self, following: Step) -> None:
        """Raise PausedError if the operator wants no further step; `following` is the step that comes next."""
        if self.steps.operator.wants_to_end():
            what = f"The execution ended before step {following.number} ({following.title}), as you asked."
            raise PausedError(what, suggest_next_commands(replace(self.steps.execution, state=State.STOPPED)))

    def _confirm_stop(self, following: Step) -> None:
        """Show the connected clients and ask whether the old cluster may be stopped.

        The operator may ask for another pre-copy pass or a new list of the clients first; then the question is asked
        again. `following` is the step that comes next.

        Raises:
            PausedError: the operator has declined, or wants no further step.
        """
        plan = self.steps.plan
        look, warm = plan.step(step_ids.LIST_CLIENTS), any(step.precopy_pass for step in plan.steps)
        while True:
            if look is not None and look.number not in self.steps.outputs:
                self.steps.run(look)
            connected = lines_of(self.steps.outputs[look.number]) if look is not None else []
            self._announce_extra_pass()
            with self.steps.asking():
                said = self.steps.operator.confirm_stop(plan.cluster, connected, warm=warm)
            self.steps.job.check()  # who cancels while the question is open gives no answer
            self._pause_if_asked(following)
            if said is StopAnswer.STOP:
                return
            if said is not StopAnswer.LOOK_AGAIN:
                if said is StopAnswer.DECLINED or not warm:
                    what = "The name of the cluster was not confirmed, so it was not stopped."
                    raise PausedError(what, "see --confirm")
                self._repeat_last_precopy_pass()
                self._pause_if_asked(following)
            # Other clients may be connected by now. The list is taken again before the next question.
            if look is not None:
                self.steps.outputs.pop(look.number)

    def _try_start(self) -> None:
        """Make the trial start of the checks once more, directly before the stop.

        The new server may have changed in the meantime.

        Raises:
            BlockedError: PostgreSQL would not start there, or systemd not its unit. The old cluster was not stopped.
        """
        if self.try_start is None or is_stop_proven(self.steps.execution):
            return
        made = self.try_start(self.steps.job)
        if made is None:
            return
        if made.failed:
            raise BlockedError(
                "An empty cluster with the old cluster's configuration does not start on the new server any more: "
                f"{made.failed}. The old cluster was not stopped. If this takes long, start again what was stopped for "
                "the move.",
                "Correct what PostgreSQL names, on the new server or in the old cluster's configuration. Then go on "
                "with --resume, which tries the start again.",
            )
        if made.unmet:
            raise BlockedError(
                "On the new server systemd would not start the unit of the new cluster any more, because of unmet "
                f"conditions: {'; '.join(made.unmet)}. The old cluster was not stopped. If this takes long, start "
                "again what was stopped for the move.",
                "Make the conditions be met, or remove them from the unit. Then go on with --resume, which asks again.",
            )
        if made.not_tried:
            said = f"The start on the new server was not tried again before the stop, because {made.not_tried}."
            self.steps.job.report(Note(said, "warning"))

    def _run_group(self, steps: list[Step]) -> None:
        """Run the steps of one group, several at the same time, and compare the outputs that must agree."""
        if len(steps) == 1:
            self.steps.run(steps[0])
        else:
            with ThreadPoolExecutor(min(len(steps), SIDE_BY_SIDE)) as pool:
                running = [pool.submit(self.steps.run, step) for step in steps]
            # The block above ends when all steps of the group have ended. Only then the first error is raised, so none
            # of them goes on unseen.
            for each in running:
                each.result()
        for step in steps:
            self.compare_step_outputs(step)
            if step_ids.family_of(step.id, step_ids.LIST_DELETIONS):
                self._show_deletions(step)
            self.pass_on_warnings(self.steps.outputs[step.number])

    def pass_on_warnings(self, output: str) -> None:
        """Report the lines of a step's output that begin with `warning: ` or `note: `."""
        for line in lines_of(output):
            level, said, text = line.partition(": ")
            if said and level in {"warning", "note"}:
                self.steps.job.report(Note(text, "warning" if level == "warning" else "info"))

    def compare_step_outputs(self, step: Step) -> None:
        """Compare the output of a step with the output that it must equal.

        Raises:
            BlockedError: they differ, and the step counts as failed.
        """
        other = self.steps.plan.step(step.verification.equals) if step.verification.equals else None
        if other is None:
            return
        expected, found = self.steps.output_of(other).strip(), self.steps.outputs[step.number].strip()
        if found == expected:
            return
        # in a plan of an earlier version, which took the work of clients for a difference
        if other.id == step_ids.TAKE_INVENTORY:
            self.steps.job.report(Note(describe_inventory_difference(expected, found), "warning"))
            return
        # The step itself has succeeded, and was recorded so. Its end is recorded again: a resume must see that the
        # files differ, and which ones, even on another workstation.
        differing = self._find_differing_files(other, step)
        problem = f"Step {step.number} ({step.title}) does not agree with step {other.number} ({other.title})"
        problem += f": {differing.description or describe_first_difference(expected, found)}"
        latest = self.steps.execution.latest(step.number)
        if latest is not None:
            self.steps.record_end(
                replace(latest, exit_status=DIFFERS, message=problem, output=format_differing_files(differing))
            )
        hint = (
            "Somebody has started the old cluster in the meantime. Go on with --resume, which stops it again."
            if other.id == step_ids.CHECK_STOPPED
            else "The new cluster runs for local connections only. Examine both servers. Then --resume compares again, "
            "and --rollback goes back to the old server."
            if self._runs_locally()
            else "The new cluster was not started. Examine both servers. Then --resume copies what differs, and "
            "compares again."
        )
        raise BlockedError(problem, hint)

    def _runs_locally(self) -> bool:
        """Return whether this execution has started the new cluster for local connections only."""
        start = next((step for step in self.steps.plan.steps if step.id == step_ids.START_LOCALLY), None)
        return start is not None and self.steps.execution.done(start.number)

    def _find_differing_files(self, other: Step, step: Step) -> Differences:
        """Return the files that differ, if both steps have kept the lists behind their checksums."""
        lists = {Side.OLD: "", Side.NEW: ""}
        for each in (other, step) if other.verification.lists and step.verification.lists else ():
            if each.side is None:
                continue
            listing = call_of(self.steps.plan, each.verification.lists)
            # The lists only give the differing files their names. That files differ is certain without them, and must
            # be reported even if a server is lost now.
            with suppress(ServerError):
                lists[each.side] = (
                    self.steps.connect(each.side)
                    .run(listing, self.steps.job, user=each.user, title=f"Read the lists of files of {each.server}")
                    .stdout
                )
        return compare_lists(lists[Side.OLD], lists[Side.NEW])

    def _show_deletions(self, step: Step) -> None:
        """Raises ParseError where the list is not whole: what follows removes what it should have named."""
        gone = counted(self.steps.outputs[step.number], "entries")
        shown = ", ".join(gone[:5]) + (", …" if len(gone) > 5 else "")
        self.steps.job.report(
            Note(
                f"{step.title}: {units.count(len(gone))} entries that the old server no longer has"
                + (f": {shown}" if gone else "")
            )
        )

    def _run_precopy_pass(self, group: list[Step], todo: list[Step]) -> None:
        """Run a pre-copy pass if it shortens the downtime, and the last one of the plan as often as it does."""
        # The first pass copies the whole cluster and always runs. Its rate, and what has changed meanwhile, tell
        # whether the others are worth their time.
        last = max(step.precopy_pass for step in self.steps.plan.steps)
        number = group[0].precopy_pass
        finished = read_finished_passes(self.steps.execution)
        if number > 1 and not is_another_pass_worthwhile(finished.passes, finished.seconds_since_last):
            spared = estimate_gain(finished.passes, finished.seconds_since_last)
            for step in todo:
                self.steps.skip(step, f"It would shorten the downtime by only {units.duration(spared)}.")
            return
        self._run_pass_steps(todo)
        while number == last:
            finished = read_finished_passes(self.steps.execution)
            if not is_another_pass_worthwhile(finished.passes, finished.seconds_since_last):
                return
            self._pause_if_asked(group[0])
            self._run_pass_steps(group)

    def _run_pass_steps(self, steps: list[Step]) -> None:
        """Copy one data root after the other. Then both servers compute checksums, or the new one flushes its disks."""
        # A resume repeats all passes, so it loses nothing by a pause between two of them.
        for place, step in enumerate(copies := [step for step in steps if step.root]):
            if place:
                self._pause_if_asked(step)
            self.steps.run(step)
        if behind := [step for step in steps if not step.root]:
            if copies:
                self._pause_if_asked(behind[0])
            self._run_group(behind)

    def _run_extra_pass_if_outdated(self, following: Step) -> None:
        """Run one more pre-copy pass if so much time has gone by since the last one that the stop would be longer."""
        extra = find_extra_pass(self.steps.execution)
        if extra is None or not extra.due:
            return
        self.steps.job.report(
            Note(f"The last pre-copy pass ended {units.duration(extra.waited)} ago. One more is made before the stop.")
        )
        self._repeat_last_precopy_pass()
        self._pause_if_asked(following)

    def _announce_extra_pass(self) -> None:
        """Report before the question that an answer now leads to one more pre-copy pass before the stop."""
        extra = find_extra_pass(self.steps.execution)
        if extra is not None and extra.due:
            waited, seconds = units.duration(extra.waited), units.duration(extra.seconds)
            self.steps.job.report(
                Note(
                    f"The last pass ended {waited} ago and took {seconds}. One more is made before the stop, because "
                    "it shortens the downtime. The old cluster is running meanwhile."
                )
            )

    def _repeat_last_precopy_pass(self) -> None:
        """Run the plan's last pre-copy pass once more."""
        steps = self.steps.plan.steps
        last = max(step.precopy_pass for step in steps)
        self._run_pass_steps([step for step in steps if step.precopy_pass == last])


def _state_before(execution: Execution, error: HeldError) -> tuple[State, str]:
    """Return how it stood before it was gone on with: who finds the cluster locked has changed nothing."""
    if not execution.steps:
        return State.STOPPED, error.message
    if execution.state is State.RUNNING:
        return State.INTERRUPTED, PROGRAM_ENDED
    return execution.state, execution.message


def _needs_closing(execution: Execution, closing: Step) -> bool:
    """Return whether a step has opened something since the closing step last succeeded."""
    opened = [
        run.id
        for step in execution.plan.steps
        if step.resume.opens_channel
        for run in execution.steps
        if run.number == step.number and not run.back
    ]
    closed = [run.id for run in execution.steps if run.number == closing.number and not run.back and run.done]
    return bool(opened) and max(closed, default=0) < max(opened)


def _group_steps(steps: Sequence[Step]) -> list[list[Step]]:
    """Return the steps in groups: a pre-copy pass over all data roots, or steps that run at the same time."""
    groups: list[list[Step]] = []
    for step in steps:
        joins = groups and (step.parallel or (step.precopy_pass and step.precopy_pass == groups[-1][-1].precopy_pass))
        if joins:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups
