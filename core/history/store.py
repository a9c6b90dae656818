"""The store: dataclasses in and out. Each call is one transaction of its own, on whatever thread it is made.

Names that are not there, taken or unfit raise InputError; a history that cannot be read or written, HistoryError.
"""

import contextlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from core.benchmarks.model import Outcome, Repetition, Run
from core.comparison.machines import Machines
from core.comparison.sets import ServerPlace, Start
from core.errors import HistoryError
from core.facts.model import Facts
from core.history import archive, executions, findings, log, owners, recorded_profiles, recorded_runs, removal
from core.history import machines as machines_of_names
from core.history.archive import Archive
from core.history.file import HistoryFile
from core.history.log import ALL, KINDS, Command, Detail, Entry, Filter, Place
from core.history.pending import PendingRecord, pending_command
from core.history.recorded_runs import End
from core.history.removal import Removed
from core.history.seal import Seal
from core.history.types import redacted
from core.jobs import CommandEnded, CommandStarted
from core.migration.model.asked import Asked
from core.migration.model.checks import CheckResult, Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution, State, StepRun
from core.migration.model.move import Hook, HookCommand, Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.migration.model.schedule import FailedTry
from core.servers.profiles import Profile
from core.sides import Side

# What of moves this user's pghaul has not recorded: it came with a history from elsewhere, or was changed there.


def from_elsewhere(session: Session, moves: Sequence[str], seal: Seal) -> dict[str, tuple[str, ...]]:
    """Of each move its executions, hooks and waivers that bear no seal, in a few words each; none runs or counts."""
    found: dict[str, list[str]] = {move: [] for move in moves}
    for part in recorded_profiles.batched(moves):
        for move, numbers in executions.unsigned_executions(session, part, seal).items():
            found[move] += [f"execution {number}" for number in numbers]
        for move, commands in executions.hooks_of(session, part, seal).items():
            found[move] += [f"hook {each.hook}" for each in commands if each.from_elsewhere]
        for waiver, of, holds in findings.standing_waivers(session, part, seal):
            found[of.name] += [] if holds else [f"waiver of {waiver.check}"]
        session.expunge_all()  # many moves are not held in memory at once
    return {move: tuple(said) for move, said in found.items()}


__all__ = ["ALL", "KINDS", "Command", "Detail", "Entry", "Filter", "Place", "Removed", "Store"]


class Store(HistoryFile):
    """The history: reads and writes all entries, and implements every journal. A context manager.

    Threads may share a store, and programs may share its file.
    """

    # --- servers and moves

    def add_profile(self, profile: Profile) -> None:
        with self._write() as session:
            recorded_profiles.add_profile(session, profile)

    def update_profile(self, profile: Profile, name: str | None = None) -> None:
        """Change the profile of a server; `name` is its recorded name, if the profile renames it."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            recorded = profile.name if name is None else name
            executions.refuse_server_in_use(session, recorded, profile, self._owners.alive)
            recorded_profiles.update_profile(session, recorded, profile)

    def server_use(self, name: str) -> executions.ServerUse | None:
        """Return the move that is not over and uses a server, with what it fixes; None if all can be changed."""
        with self._read() as session:
            return executions.find_use(session, name, self._owners.alive)

    def put_profile(self, profile: Profile) -> None:
        """Add the profile of a server, or replace the one with the same name."""
        self.put_profiles([profile])

    def put_profiles(self, found: Sequence[Profile]) -> None:
        """Add or replace several profiles in one transaction."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            for profile in found:
                executions.refuse_server_in_use(session, profile.name, profile, self._owners.alive)
                recorded_profiles.put_profile(session, profile)

    def profile(self, name: str) -> Profile:
        with self._read() as session:
            return recorded_profiles.profile(session, name)

    def profiles(self) -> tuple[Profile, ...]:
        """Return the profiles of all servers, sorted by name."""
        with self._read() as session:
            return recorded_profiles.profiles(session)

    def remove_profile(self, name: str) -> None:
        """Remove a server and its facts. Raises InputError if a move uses it."""
        with self._write() as session:
            recorded_profiles.remove_profile(session, name)

    def add_move(self, move: Move) -> None:
        with self._write() as session:
            recorded_profiles.add_move(session, move)

    def update_move(self, move: Move, name: str | None = None) -> None:
        """Change a move; `name` is its recorded name, if it is renamed."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            executions.refuse_other_choice(session, move.name if name is None else name, move)
            executions.refuse_fixed(session, move.name if name is None else name, move)
            recorded_profiles.update_move(session, move.name if name is None else name, move)

    def put_move(self, move: Move) -> None:
        """Add a move, or replace the one with the same name."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            executions.refuse_other_choice(session, move.name, move)
            executions.refuse_fixed(session, move.name, move)
            recorded_profiles.put_move(session, move)

    def move(self, name: str) -> Move:
        with self._read() as session:
            return recorded_profiles.move(session, name)

    def seed(self, move: str) -> str:
        """Return the secret seed of a move, from which the names of its files on the servers are derived.

        Raises:
            HistoryError: the key of this user cannot be had.
        """
        return self._seal.of("move", move)

    def moves(self, limit: int | None = None, after: str | None = None) -> tuple[Move, ...]:
        """Return the moves sorted by name: all of them or at most so many, and only those after a name."""
        with self._read() as session:
            return recorded_profiles.moves(session, limit, after)

    def moves_newest_first(self, limit: int | None = None) -> tuple[Move, ...]:
        """Return all moves or at most so many, the one with the latest entry first, then by name."""
        with self._read() as session:
            return log.moves_newest_first(session, limit)

    def count_moves(self) -> int:
        """Return the number of all moves."""
        with self._read() as session:
            return recorded_profiles.count_moves(session)

    def removable_executions(self, move: str) -> tuple[Execution, ...]:
        """Return the executions that are removed with a move, the newest first.

        Raises:
            InputError: the move is not over.
        """
        with self._read() as session:
            executions.refuse_removal(session, move, self._owners.alive)
            return executions.executions(session, move)

    def remove_move(self, name: str) -> Removed:
        """Remove a move and all entries of it; `put_back` undoes it with the result. Its servers stay.

        Raises:
            InputError: the move is not over.
        """
        with self._write() as session:
            executions.refuse_removal(session, name, self._owners.alive)
            return removal.remove_move(session, name, self._seal)

    # --- facts

    def save_facts(self, facts: Facts) -> int:
        """Record the facts of a server and return their number."""
        kept = redacted(facts)
        with self._write() as session:
            return findings.save_facts(session, kept)

    def facts(self, server: str) -> Facts | None:
        """Return the latest facts of a server; None if none were read since its profile names this machine."""
        with self._read() as session:
            return findings.facts(session, server)

    def facts_that_tell_machine(self, server: str) -> Facts | None:
        """Return the latest facts of a server that contain a machine ID, as `facts` does; None if there are none."""
        with self._read() as session:
            return findings.facts_that_tell_machine(session, server)

    def facts_by_id(self, facts_id: int) -> Facts:
        with self._read() as session:
            return findings.facts_by_id(session, facts_id)

    def facts_history(self, server: str) -> tuple[tuple[int, datetime], ...]:
        """Return the number and time of all facts of a server, the newest first."""
        with self._read() as session:
            return findings.facts_history(session, server)

    def cluster_sizes(self, server: str, data_directory: str, most: int) -> tuple[tuple[datetime, float], ...]:
        """Return when the size of the cluster in this directory was read, and its bytes then, the oldest first.

        `most`: the maximum number of times; the first and the last are among them.
        """
        with self._read() as session:
            return findings.cluster_sizes(session, server, data_directory, most)

    def machines(self, servers: Iterable[str], *, move: str | None = None) -> Machines:
        """Return which machines have had the names of these servers, and which runs are of each of them.

        `move`: only the runs of this move count.
        """
        with self._read() as session:
            return machines_of_names.machines(session, servers, move)

    def facts_of_machine(self, server: str, machine: str) -> Facts | None:
        """Return the latest facts of a machine that has or had the name of a server; None if there are none."""
        with self._read() as session:
            return machines_of_names.facts_of_machine(session, server, machine)

    # --- runs (BenchmarkJournal)

    def run_started(self, run: Run) -> int:
        """Record a run and return its number, which is negative if the run waits in a file (core/history/pending)."""
        kept = PendingRecord(run.move, run=run)
        number = self._write_or_defer(
            kept, lambda session: recorded_runs.run_started(session, run, self._owners.mine())
        )
        return self._started_runs.add(run, number)

    def add_runs(self, found: Sequence[Run]) -> tuple[int, ...]:
        """Record ended runs and their repetitions in one transaction, and return their numbers."""
        kept = [replace(run, repetitions=tuple(redacted(one) for one in run.repetitions)) for run in found]
        with self._write() as session:
            return tuple(recorded_runs.run_started(session, run, self._owners.mine()) for run in kept)

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        """Record a repetition with its raw output and its metrics. Metrics that are not finite are omitted."""
        ended = redacted(repetition)
        kept = self._started_runs.part(run_id, repetition=ended)
        self._write_run_or_defer(run_id, kept, lambda session: recorded_runs.repetition_ended(session, run_id, ended))

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        """Record the outcome of a run, and why no more repetitions were made."""
        end = End(outcome, ended_at, tool_version, stopped)
        kept = self._started_runs.part(run_id, end=end)
        self._write_run_or_defer(run_id, kept, lambda session: recorded_runs.run_ended(session, run_id, end))

    def _end_interrupted_runs(self) -> None:
        """Mark the runs of dead processes as interrupted. Otherwise they would be shown as running forever."""
        with self._read() as session:
            gone = {
                owner for owner in recorded_runs.open_owners(session) if owner is None or not self._owners.alive(owner)
            }
        if gone:
            # on a full disk, or where the file may not be written, they are read as they stand
            with contextlib.suppress(HistoryError), self._write() as session:
                for owner in gone:
                    recorded_runs.interrupt(session, owner)

    def run(self, run_id: int) -> Run:
        self._end_interrupted_runs()
        with self._read() as session:
            return recorded_runs.run(session, run_id)

    def runs(
        self,
        move: str,
        *,
        side: Side | None = None,
        latest_only: bool = False,
        newest: int | None = None,
        older_than: int | None = None,
        raw: bool = True,
    ) -> tuple[Run, ...]:
        """The runs of a move in the order of time; `newest`: so many of them, the newest; `raw`: with raw outputs.

        `older_than`: only runs that began before the run of this number.
        `latest_only`: of each side and each workload with its parameters the newest that is done, on the machine and
        the volume that the move names now.
        """
        self._end_interrupted_runs()
        with self._read() as session:
            return recorded_runs.runs(session, move, side, latest_only, newest, older_than, raw)

    def starts(self, newest: int = 200) -> tuple[Start, ...]:
        """Return the starts of suites on one volume each, of all moves and of none, the newest first."""
        with self._read() as session:
            return recorded_runs.starts(session, newest)

    def runs_of_start(self, start: Start) -> tuple[Run, ...]:
        """Return the runs of one start of a suite, the oldest first."""
        with self._read() as session:
            return recorded_runs.runs_of_start(session, start)

    def runs_of_workload(self, move: str, side: Side, tool: str, workload: str, newest: int) -> tuple[Run, ...]:
        """Return the newest completed runs of a workload on the current volume of the move, the oldest first.

        Raw outputs are not read. `newest`: the maximum number of runs.
        """
        with self._read() as session:
            return recorded_runs.runs_of_workload(session, move, side, tool, workload, newest)

    def runs_on(self, server: str) -> tuple[Run, ...]:
        """Return all runs on a server, the oldest first, whether or not they belong to a move."""
        self._end_interrupted_runs()
        with self._read() as session:
            return recorded_runs.runs_on(session, server)

    def measured_at(self, move: str) -> dict[Side, datetime]:
        """Return when the latest completed run on the current volume of each side has ended."""
        with self._read() as session:
            return recorded_runs.measured_at(session, move)

    # --- probes (ProbeJournal), checks, estimate, plan; none older than the last change of the move or its servers

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Record one probe of a move."""
        taken = redacted(probe)
        self._write_or_defer(
            PendingRecord(move, probe=taken), lambda session: findings.probe_taken(session, move, taken)
        )

    def probes(self, move: str) -> tuple[Probe, ...]:
        """Return the latest probe of each link in the order of the copy path, and the latest of each transport."""
        with self._read() as session:
            return findings.probes(session, move)

    def uncollected_watch(self, move: str) -> Probe | None:
        """Return the probe of a started watch whose results were not collected yet; None if there is none."""
        with self._read() as session:
            return findings.uncollected_watch(session, move)

    def save_checks(self, move: str, results: tuple[CheckResult, ...]) -> None:
        """Record the results of all checks, in the given order."""
        with self._write() as session:
            findings.save_checks(session, move, results)

    def checks(self, move: str) -> tuple[CheckResult, ...] | None:
        """Return the latest results with the waivers that apply; None if the checks have not run yet."""
        with self._read() as session:
            results = findings.checks(session, move)
            if results is None:
                return None
            from core.migration.checks.waivers import (
                apply_waivers,  # and every check with it, which opening does without
            )

            return apply_waivers(results, findings.waivers(session, move, self._seal))

    def add_waiver(self, move: str, waiver: Waiver) -> None:
        """Record a waiver; it replaces another one for the same check."""
        with self._write() as session:
            findings.add_waiver(session, move, waiver, self._seal)

    def withdraw_waiver(self, move: str, check: str) -> None:
        """Withdraw a waiver. Raises InputError if there is none."""
        with self._write() as session:
            findings.withdraw_waiver(session, move, check)

    def waivers(self, move: str) -> tuple[Waiver, ...]:
        """Return all waivers that were not withdrawn, whether or not they apply to the latest results."""
        with self._read() as session:
            return findings.waivers(session, move, self._seal)

    def checks_taken_at(self, move: str) -> datetime | None:
        """Return when the checks ran last; None if never."""
        with self._read() as session:
            return findings.checks_taken_at(session, move)

    def save_estimate(self, move: str, estimate: Estimate) -> None:
        """Record an estimate; without a time of its own it gets the current one."""
        with self._write() as session:
            findings.save_estimate(session, move, estimate)

    def estimate(self, move: str) -> Estimate | None:
        with self._read() as session:
            return findings.estimate(session, move)

    def estimates(self, move: str) -> tuple[Estimate, ...]:
        """Return all estimates of a move, the newest first."""
        with self._read() as session:
            return findings.estimates(session, move)

    def save_asked(self, move: str, asked: Asked) -> None:
        """Keep the window and the downtime that a move has to fit into."""
        with self._write() as session:
            findings.save_asked(session, move, asked)

    def asked(self, move: str) -> Asked:
        """Return the window and the downtime that a move has to fit into."""
        with self._read() as session:
            return findings.asked(session, move)

    def save_plan(self, move: str, plan: Plan) -> None:
        with self._write() as session:
            findings.save_plan(session, move, plan)

    def plan(self, move: str) -> Plan | None:
        with self._read() as session:
            return findings.plan(session, move)

    # --- executions (ExecutionJournal) and hooks

    def execution_started(self, execution: Execution) -> int:
        """Record a new execution and return its number."""
        mine = self._owners.mine()
        with self._write() as session:
            owners.refuse_carried_out(session, execution.move, mine, self._owners.alive)
            return executions.execution_started(session, execution, mine, self._seal)

    def execution(self, execution_id: int) -> Execution:
        with self._read() as session:
            return executions.execution(session, execution_id)

    def recorded_here(self, execution_id: int) -> bool:
        """Return whether the execution is signed by this user. An unsigned one must not be run."""
        with self._read() as session:
            return executions.recorded_here(session, execution_id, self._seal)

    def take_over(self, shown: Execution, repeated: Collection[int]) -> None:
        """Sign an execution of another workstation as it was shown. The outcome of `repeated` steps does not count."""
        with self._write() as session:
            executions.take_over(session, shown, repeated, self._seal)

    def executions(self, move: str) -> tuple[Execution, ...]:
        """Return all executions of a move, the newest first."""
        with self._read() as session:
            return executions.executions(session, move)

    def execution_with_token(self, token: str) -> Execution | None:
        """Return the newest execution with this token, of any move; None if there is none."""
        with self._read() as session:
            return executions.execution_with_token(session, token)

    def own_executions(self, move: str) -> frozenset[int]:
        """Return the numbers of the executions that are signed by this user. Only these count for estimates."""
        with self._read() as session:
            return executions.own_executions(session, move, self._seal)

    def executions_on_machines_of_now(self, move: str) -> frozenset[int]:
        """Return the numbers of the executions that began since the servers of a move last named another machine."""
        with self._read() as session:
            return executions.executions_on_machines_of_now(session, move)

    def latest_execution(self, move: str) -> Execution | None:
        """The newest execution of a move; None: it was never executed."""
        with self._read() as session:
            return executions.latest_execution(session, move)

    def unfinished_executions(self) -> tuple[Execution, ...]:
        """Of each move the newest execution, where it is neither done nor taken back; newest first."""
        with self._read() as session:
            return executions.unfinished(session)

    def execution_changed(self, execution_id: int, state: State, message: str = "") -> None:
        """Record how an execution stands."""
        why, mine = redacted(message), self._owners.mine()
        with self._write() as session:
            if state is State.RUNNING:
                move = executions.execution(session, execution_id).move
                owners.refuse_carried_out(session, move, mine, self._owners.alive)
            owners.refuse_taken_over(session, execution_id, mine, self._owners.alive)
            executions.execution_changed(session, execution_id, state, why, mine, self._seal)

    def try_failed(self, execution_id: int, failed: FailedTry) -> None:
        """Record a failure after which an execution waits and goes on."""
        kept, mine = redacted(failed), self._owners.mine()
        with self._write() as session:
            owners.refuse_taken_over(session, execution_id, mine, self._owners.alive)
            executions.try_failed(session, execution_id, kept, self._seal)

    def try_began(self, execution_id: int, at: datetime) -> None:
        """Record that an execution waits no more after a failure.

        Raises:
            TakenOverError: it is not carried out by this process any more.
        """
        mine = self._owners.mine()
        with self._write() as session:
            owners.refuse_given_up(session, execution_id, mine)
            executions.try_began(session, execution_id, at, self._seal)

    def refuse_taken_over(self, execution_id: int) -> None:
        """Raise TakenOverError if another process carries an execution out."""
        mine = self._owners.mine()
        with self._read() as session:
            owners.refuse_taken_over(session, execution_id, mine, self._owners.alive)

    def tick_follow_up(self, execution_id: int, task: str, *, done: bool) -> None:
        """Record whether the follow-up task with this id is done."""
        with self._write() as session:
            executions.tick_follow_up(session, execution_id, task, done=done)

    def carried_out(self, execution_id: int) -> bool:
        """Whether a process is at it: of this workstation, or of any of a team."""
        with self._read() as session:
            process = executions.process_of(session, execution_id)
        return process is not None and self._owners.alive(process)

    def ask_cancel(self, execution_id: int) -> None:
        """Ask whoever carries an execution out to stop."""
        with self._write() as session:
            executions.ask_cancel(session, execution_id)

    def cancel_asked(self, execution_id: int) -> bool:
        """Whether somebody asked it to stop."""
        with self._read() as session:
            return executions.cancel_asked(session, execution_id)

    def step_started(self, execution_id: int, run: StepRun) -> int:
        """Record the start of a try at a step; the number it has from now on."""
        kept, mine = redacted(run), self._owners.mine()
        with self._write() as session:
            owners.refuse_taken_over(session, execution_id, mine, self._owners.alive)
            return executions.step_started(session, execution_id, kept, self._seal)

    def step_progressed(self, run_id: int, done: int, total: int | None) -> None:
        """Record how many bytes a try that runs is through with, and of how many."""
        with self._write() as session:
            executions.step_progressed(session, run_id, done, total)

    def step_ended(self, run: StepRun) -> None:
        """Record the end of an attempt at a step."""
        kept, mine = redacted(run), self._owners.mine()
        with self._write() as session:
            owners.refuse_taken_over(session, executions.execution_of_run(session, run.id), mine, self._owners.alive)
            executions.step_ended(session, kept, self._seal)

    def steps_void(self, execution_id: int, first: int) -> None:
        """Mark the steps of the plan from the number `first` on as not done."""
        mine = self._owners.mine()
        with self._write() as session:
            owners.refuse_taken_over(session, execution_id, mine, self._owners.alive)
            executions.steps_void(session, execution_id, first, self._seal)

    def save_hook(self, move: str, hook: HookCommand) -> None:
        """Save the command for a hook of a move; it replaces the previous one."""
        with self._write() as session:
            executions.save_hook(session, move, hook, self._seal)

    def remove_hook(self, move: str, hook: Hook) -> None:
        with self._write() as session:
            executions.remove_hook(session, move, hook)

    def hooks(self, move: str) -> tuple[HookCommand, ...]:
        """Return the commands for the hooks of a move, in the order of the plan, and whether each is signed."""
        with self._read() as session:
            return tuple(executions.hooks(session, move, self._seal))

    def from_elsewhere(self, move: str) -> tuple[str, ...]:
        """Return what in a move is not signed by this user, in a few words each. It neither runs nor counts."""
        with self._read() as session:
            recorded_profiles.move_row(session, move)
            return from_elsewhere(session, [move], self._seal)[move]

    def all_from_elsewhere(self, moves: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the same for each of these moves. It reads every execution of them with its plan and its steps."""
        with self._read() as session:
            return from_elsewhere(session, moves, self._seal)

    # --- what happened

    def record_command(self, move: str | None, event: CommandStarted | CommandEnded) -> None:
        """Record the start or the end of a command, secrets masked."""
        happened = redacted(event)
        self._write_or_defer(
            pending_command(move, happened), lambda session: log.record_command(session, move, happened)
        )

    def record_unread(self, profile: Profile, sentence: str) -> None:
        """Record that the facts of a server could not be read, and why."""
        with self._write() as session:
            log.record_unread(session, profile, sentence)

    def unread(self) -> dict[str, tuple[datetime, str]]:
        """Return for each server when its facts could not be read last, and why."""
        with self._read() as session:
            return log.unread(session)

    def commands(
        self,
        move: str | None = None,
        limit: int = 200,
        *,
        server: str | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
    ) -> tuple[Command, ...]:
        """Return the commands of one move or of all moves, on a server and in a period, the newest first."""
        with self._read() as session:
            return log.commands(session, move, limit, server, since, before)

    def record_report(self, move: str, path: Path) -> None:
        """Record that a report was written."""
        with self._write() as session:
            log.record_report(session, move, path)

    def entries(self, limit: int = 200, which: Filter = ALL) -> tuple[Entry, ...]:
        """Return at most so many of the wanted entries, the newest first."""
        self._end_interrupted_runs()
        with self._read() as session:
            return log.entries(session, limit, which)

    def place(self, kind: str, reference: int) -> Place:
        """Return the place of an entry in the list of all entries. Raises InputError if there is no such entry."""
        with self._read() as session:
            return log.place(session, kind, reference)

    def note(self, kind: str, reference: int) -> str:
        """Return the note on an entry; empty if there is none."""
        with self._read() as session:
            return log.note_of(session, kind, reference)

    def set_note(self, kind: str, reference: int, note: str, at: datetime | None = None) -> str:
        """Set the note on an entry, and return the previous note (core/history/notes).

        Args:
            kind: the kind of the entry; `reference`: its number.
            note: the text, in which secrets are masked; empty removes the note.
            at: when it was written; None: now.
        """
        kept = redacted(note)
        with self._write() as session:
            return log.set_note(session, kind, reference, kept, at)

    def detail(self, kind: str, reference: int) -> Detail:
        """Return the recorded contents of an entry; of a report, the path of its file."""
        self._end_interrupted_runs()
        with self._read() as session:
            return log.detail(session, kind, reference)

    # --- what is removed by its user's word alone

    def prunable(self, before: datetime, kinds: Collection[str], move: str | None = None) -> dict[str, int]:
        """Return how many entries of each kind `prune` would remove (core/history/retention)."""
        with self._read() as session:
            return removal.prunable(session, before, kinds, move)

    def prune(self, before: datetime, kinds: Collection[str], move: str | None = None) -> dict[str, int]:
        """Remove the entries of these kinds before a time, of one move or of all, and return their number by kind."""
        with self._write() as session:
            return removal.prune(session, before, kinds, move)

    def remove_entries(self, entries: Sequence[Entry]) -> Removed:
        """Remove entries and all that depends on them; `put_back` undoes it with the result (core/history/removal)."""
        self._end_interrupted_runs()
        with self._write() as session:
            return removal.remove(session, [(entry.kind, entry.reference) for entry in entries], self._seal)

    def put_back(self, removed: Removed) -> None:
        """Restore what `remove_entries` or `remove_move` has removed."""
        with self._write() as session:
            removal.put_back(session, removed, self._seal)

    # --- a move, or runs of no move, that go to another workstation

    def export_move(self, move: str, to: Path, *, replacing: bool = False) -> None:
        """Write the archive of a move to a file (core/history/archive)."""
        with self._read() as session:
            archive.export(session, move, to, replacing=replacing)

    def export_runs(self, places: Collection[ServerPlace], to: Path, *, replacing: bool = False) -> None:
        """Write the archive of the runs on volumes that belong to no move (core/history/archive)."""
        with self._read() as session:
            archive.export_runs(session, places, to, replacing=replacing)

    def take_in(self, read: Archive, name: str | None = None) -> str | None:
        """Import an archive in one transaction, and return the name of its move; `name` renames it."""
        with self._write() as session:
            return archive.take_in(session, read, name)
