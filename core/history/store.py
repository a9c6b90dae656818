"""The store: dataclasses in and out. Each call is one transaction of its own, on whatever thread it is made.

Names that are not there, taken or unfit raise InputError; a history that cannot be read or written, HistoryError.
"""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from core.benchmarks.model import Outcome, Repetition, Run, Side
from core.comparison.sets import Start
from core.errors import HistoryError
from core.facts.model import Facts
from core.history import (
    archive,
    carrying,
    details,
    elsewhere,
    executions,
    findings,
    log,
    notes,
    profiles,
    removal,
    retention,
    runs,
    waivers,
)
from core.history.archive import Archive
from core.history.details import KINDS, Detail
from core.history.file import HistoryFile
from core.history.log import Command, Entry
from core.history.pending import PendingRecord, pending_command
from core.history.removal import Removed
from core.history.runs import End
from core.history.types import redacted
from core.jobs import CommandEnded, CommandStarted
from core.migration.model.checks import CheckResult, Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution, State, StepRun
from core.migration.model.move import Hook, HookCommand, Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.servers.profiles import Profile

__all__ = ["KINDS", "Command", "Detail", "Entry", "Removed", "Store"]


class Store(HistoryFile):
    """The history. May be shared by threads, and its file by programs. A context manager; implements every journal."""

    # --- servers and moves

    def add_profile(self, profile: Profile) -> None:
        with self._write() as session:
            profiles.add_profile(session, profile)

    def update_profile(self, profile: Profile, name: str | None = None) -> None:
        """Change the server called `name`; None: the one that is called as `profile` is."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            profiles.update_profile(session, profile.name if name is None else name, profile)

    def put_profile(self, profile: Profile) -> None:
        """Change the server that is called as `profile` is; add it where there is none."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            profiles.put_profile(session, profile)

    def put_profiles(self, found: Sequence[Profile]) -> None:
        """The same of many, all or none."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            for profile in found:
                profiles.put_profile(session, profile)

    def profile(self, name: str) -> Profile:
        with self._read() as session:
            return profiles.profile(session, name)

    def profiles(self) -> tuple[Profile, ...]:
        """All servers, by name."""
        with self._read() as session:
            return profiles.profiles(session)

    def remove_profile(self, name: str) -> None:
        """Remove a server with its facts; one that a move uses is refused."""
        with self._write() as session:
            profiles.remove_profile(session, name)

    def add_move(self, move: Move) -> None:
        with self._write() as session:
            profiles.add_move(session, move)

    def update_move(self, move: Move, name: str | None = None) -> None:
        """Change the move called `name`; None: the one that is called as `move` is."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            executions.refuse_other_choice(session, move.name if name is None else name, move)
            profiles.update_move(session, move.name if name is None else name, move)

    def put_move(self, move: Move) -> None:
        """Change the move that is called as `move` is; add it where there is none."""
        with self._write() as session, executions.preserving_hooks(session, self._seal):
            executions.refuse_other_choice(session, move.name, move)
            profiles.put_move(session, move)

    def move(self, name: str) -> Move:
        with self._read() as session:
            return profiles.move(session, name)

    def seed(self, move: str) -> str:
        """What nobody else can guess, for the names of what that move makes on servers: each time the same.

        Raises:
            HistoryError: the key of this user cannot be had.
        """
        return self._seal.of("move", move)

    def moves(self) -> tuple[Move, ...]:
        """All moves, by name."""
        with self._read() as session:
            return profiles.moves(session)

    def moves_newest_first(self) -> tuple[Move, ...]:
        """All moves, by when the latest entry of each came; by name where that is the same."""
        with self._read() as session:
            return log.moves_newest_first(session)

    def remove_move(self, name: str) -> None:
        """Remove a move with everything measured, planned and done for it. Its servers stay."""
        with self._write() as session:
            profiles.remove_move(session, name)

    # --- facts

    def save_facts(self, facts: Facts) -> int:
        """Keep the facts of a known server; the number they have from now on."""
        with self._write() as session:
            return findings.save_facts(session, facts)

    def facts(self, server: str) -> Facts | None:
        """The latest facts of a server; None: none were read yet of the machine that its profile names now."""
        with self._read() as session:
            return findings.facts(session, server)

    def facts_by_id(self, facts_id: int) -> Facts:
        with self._read() as session:
            return findings.facts_by_id(session, facts_id)

    def facts_history(self, server: str) -> tuple[tuple[int, datetime], ...]:
        """Number and time of all facts of a server, newest first."""
        with self._read() as session:
            return findings.facts_history(session, server)

    # --- runs (BenchmarkJournal)

    def run_started(self, run: Run) -> int:
        """Record a run; the number it has from now on, below zero where it was kept aside (core/history/pending)."""
        kept = PendingRecord(run.move, run=run)
        number = self._write_or_defer(kept, lambda session: runs.run_started(session, run, self._owners.mine()))
        return self._started_runs.add(run, number)

    def add_runs(self, found: Sequence[Run]) -> tuple[int, ...]:
        """Record runs that have ended, with their repetitions, all or none; their numbers."""
        kept = [replace(run, repetitions=tuple(redacted(one) for one in run.repetitions)) for run in found]
        with self._write() as session:
            return tuple(runs.run_started(session, run, self._owners.mine()) for run in kept)

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        """Record one repetition with its raw output and its metrics; one that is no finite number is left out."""
        ended = redacted(repetition)
        kept = self._started_runs.part(run_id, repetition=ended)
        self._write_run_or_defer(run_id, kept, lambda session: runs.repetition_ended(session, run_id, ended))

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        """Record how a run ended, and why no more repetitions were made."""
        end = End(outcome, ended_at, tool_version, stopped)
        kept = self._started_runs.part(run_id, end=end)
        self._write_run_or_defer(run_id, kept, lambda session: runs.run_ended(session, run_id, end))

    def _end_interrupted_runs(self) -> None:
        """A run whose process was killed would be shown as running for ever."""
        with self._read() as session:
            gone = {owner for owner in runs.open_owners(session) if owner is None or not self._owners.alive(owner)}
        if gone:
            # on a full disk, or where the file may not be written, they are read as they stand
            with contextlib.suppress(HistoryError), self._write() as session:
                for owner in gone:
                    runs.interrupt(session, owner)

    def run(self, run_id: int) -> Run:
        self._end_interrupted_runs()
        with self._read() as session:
            return runs.run(session, run_id)

    def runs(
        self,
        move: str,
        *,
        side: Side | None = None,
        latest_only: bool = False,
        newest: int | None = None,
        raw: bool = True,
    ) -> tuple[Run, ...]:
        """The runs of a move in the order of time; `newest`: so many of them, the newest; `raw`: with raw outputs.

        `latest_only`: of each side and each workload with its parameters the newest that is done, on the machine and
        the volume that the move names now.
        """
        self._end_interrupted_runs()
        with self._read() as session:
            return runs.runs(session, move, side, latest_only, newest, raw)

    def starts(self, newest: int = 200) -> tuple[Start, ...]:
        """What each start of a suite measured on one volume, of all moves, the newest first."""
        with self._read() as session:
            return runs.starts(session, newest)

    def runs_of_start(self, start: Start) -> tuple[Run, ...]:
        """The runs of one start, in the order of time."""
        with self._read() as session:
            return runs.runs_of_start(session, start)

    def runs_of_workload(self, move: str, side: Side, tool: str, workload: str, newest: int) -> tuple[Run, ...]:
        """The newest runs of a workload that are done, where the move is now, in the order of time; no raw outputs."""
        with self._read() as session:
            return runs.runs_of_workload(session, move, side, tool, workload, newest)

    def runs_on(self, server: str) -> tuple[Run, ...]:
        """The runs on the server of that name in the order of time, of whichever moves."""
        self._end_interrupted_runs()
        with self._read() as session:
            return runs.runs_on(session, server)

    def measured_at(self, move: str) -> dict[Side, datetime]:
        """When the latest run of each side ended that is done, where the move names it now."""
        with self._read() as session:
            return runs.measured_at(session, move)

    # --- probes (ProbeJournal), checks, estimate, plan; none older than the last change of the move or its servers

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Record one probe of a move."""
        taken = redacted(probe)
        self._write_or_defer(
            PendingRecord(move, probe=taken), lambda session: findings.probe_taken(session, move, taken)
        )

    def probes(self, move: str) -> tuple[Probe, ...]:
        """The latest probe of each link, in the order of the copy path, and of each transport of the latest pass."""
        with self._read() as session:
            return findings.probes(session, move)

    def uncollected_watch(self, move: str) -> Probe | None:
        """That a watch on the old server was begun, where nothing that it saw was taken since."""
        with self._read() as session:
            return findings.uncollected_watch(session, move)

    def save_checks(self, move: str, results: tuple[CheckResult, ...]) -> None:
        """Keep one pass of all checks, in the order given."""
        with self._write() as session:
            findings.save_checks(session, move, results)

    def checks(self, move: str) -> tuple[CheckResult, ...] | None:
        """The latest pass, its warnings with the waivers that hold; None: not checked yet."""
        with self._read() as session:
            results = findings.checks(session, move)
            if results is None:
                return None
            from core.migration.checks.waivers import (
                apply_waivers,  # and every check with it, which opening does without
            )

            return apply_waivers(results, waivers.waivers(session, move, self._seal))

    def add_waiver(self, move: str, waiver: Waiver) -> None:
        """Keep a waiver, in place of one that stands for the same check."""
        with self._write() as session:
            waivers.add_waiver(session, move, waiver, self._seal)

    def withdraw_waiver(self, move: str, check: str) -> None:
        """Take a waiver back; InputError where there is none."""
        with self._write() as session:
            waivers.withdraw_waiver(session, move, check)

    def waivers(self, move: str) -> tuple[Waiver, ...]:
        """The waivers that stand, whether or not the latest pass has their evidence."""
        with self._read() as session:
            return waivers.waivers(session, move, self._seal)

    def checks_taken_at(self, move: str) -> datetime | None:
        """When the latest pass was kept."""
        with self._read() as session:
            return findings.checks_taken_at(session, move)

    def save_estimate(self, move: str, estimate: Estimate) -> None:
        """Keep an estimate; one without a time gets this moment's."""
        with self._write() as session:
            findings.save_estimate(session, move, estimate)

    def estimate(self, move: str) -> Estimate | None:
        with self._read() as session:
            return findings.estimate(session, move)

    def estimates(self, move: str) -> tuple[Estimate, ...]:
        """All estimates of a move, newest first."""
        with self._read() as session:
            return findings.estimates(session, move)

    def save_plan(self, move: str, plan: Plan) -> None:
        with self._write() as session:
            findings.save_plan(session, move, plan)

    def plan(self, move: str) -> Plan | None:
        with self._read() as session:
            return findings.plan(session, move)

    # --- executions (ExecutionJournal) and hooks

    def execution_started(self, execution: Execution) -> int:
        """Record a new execution; the number it has from now on."""
        mine = self._owners.mine()
        with self._write() as session:
            carrying.refuse_carried_out(session, execution.move, mine, self._owners.alive)
            return executions.execution_started(session, execution, mine, self._seal)

    def execution(self, execution_id: int) -> Execution:
        with self._read() as session:
            return executions.execution(session, execution_id)

    def recorded_here(self, execution_id: int) -> bool:
        """Whether this user's pghaul has recorded the execution as it stands; else it must not be run."""
        with self._read() as session:
            return executions.recorded_here(session, execution_id, self._seal)

    def take_over(self, shown: Execution, anew: Collection[int]) -> None:
        """Have an execution count as recorded here, as it was shown, but for the steps that are to run `anew`."""
        with self._write() as session:
            executions.take_over(session, shown, anew, self._seal)

    def executions(self, move: str) -> tuple[Execution, ...]:
        """All executions of a move, newest first."""
        with self._read() as session:
            return executions.executions(session, move)

    def own_executions(self, move: str) -> frozenset[int]:
        """The numbers of those that this user's pghaul has recorded; no other counts for an estimate."""
        with self._read() as session:
            return executions.own_executions(session, move, self._seal)

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
                carrying.refuse_carried_out(session, move, mine, self._owners.alive)
            carrying.refuse_taken_over(session, execution_id, mine, self._owners.alive)
            executions.execution_changed(session, execution_id, state, why, mine, self._seal)

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
            carrying.refuse_taken_over(session, execution_id, mine, self._owners.alive)
            return executions.step_started(session, execution_id, kept, self._seal)

    def step_progressed(self, run_id: int, done: int, total: int | None) -> None:
        """Record how many bytes a try that runs is through with, and of how many."""
        with self._write() as session:
            executions.step_progressed(session, run_id, done, total)

    def step_ended(self, run: StepRun) -> None:
        """Record the end of that try."""
        kept = redacted(run)
        with self._write() as session:
            executions.step_ended(session, kept, self._seal)

    def steps_void(self, execution_id: int, first: int) -> None:
        """The steps of the plan from that number on count as not done."""
        with self._write() as session:
            executions.steps_void(session, execution_id, first, self._seal)

    def save_hook(self, move: str, hook: HookCommand) -> None:
        """Keep the DBA's command for a hook of a move, in the stead of the one before."""
        with self._write() as session:
            executions.save_hook(session, move, hook, self._seal)

    def remove_hook(self, move: str, hook: Hook) -> None:
        with self._write() as session:
            executions.remove_hook(session, move, hook)

    def hooks(self, move: str) -> tuple[HookCommand, ...]:
        """The commands for the hooks of a move, in the order of the plan; those from elsewhere say so."""
        with self._read() as session:
            return tuple(executions.hooks(session, move, self._seal))

    def from_elsewhere(self, move: str) -> tuple[str, ...]:
        """What of a move this user's pghaul has not recorded, each in a few words: it neither runs nor counts."""
        with self._read() as session:
            return elsewhere.from_elsewhere(session, move, self._seal)

    # --- what happened

    def record_command(self, move: str | None, event: CommandStarted | CommandEnded) -> None:
        """Record the start or the end of a command, secrets masked."""
        happened = redacted(event)
        self._write_or_defer(
            pending_command(move, happened), lambda session: log.record_command(session, move, happened)
        )

    def record_unread(self, profile: Profile, sentence: str) -> None:
        """That a server could not be read, and why."""
        with self._write() as session:
            log.record_unread(session, profile, sentence)

    def unread(self) -> dict[str, tuple[datetime, str]]:
        """By server when it last could not be read, and why."""
        with self._read() as session:
            return log.unread(session)

    def commands(self, move: str | None = None, limit: int = 200) -> tuple[Command, ...]:
        """The newest commands first, of one move or of all."""
        with self._read() as session:
            return log.commands(session, move, limit)

    def record_report(self, move: str, path: Path) -> None:
        """Record that a report was written."""
        with self._write() as session:
            log.record_report(session, move, path)

    def entries(self, limit: int = 200, move: str | None = None, tag: str | None = None) -> tuple[Entry, ...]:
        """What happened, newest first, of one move (the facts of its servers among it) or of all; with that tag.

        An empty tag is had by all that has a note.
        """
        self._end_interrupted_runs()
        with self._read() as session:
            return log.entries(session, limit, move, tag)

    def note(self, kind: str, reference: int) -> str:
        """What was noted to an entry."""
        with self._read() as session:
            return notes.note_of(session, kind, reference)

    def set_note(self, kind: str, reference: int, note: str, at: datetime | None = None) -> str:
        """Note something to an entry, secrets masked, empty: nothing; what was noted before (core/history/notes)."""
        kept = redacted(note)
        with self._write() as session:
            return notes.set_note(session, kind, reference, kept, at)

    def detail(self, kind: str, reference: int) -> Detail:
        """What an entry is about, as it was recorded; of a report, where it was written."""
        self._end_interrupted_runs()
        with self._read() as session:
            return details.detail(session, kind, reference)

    # --- what is removed by its user's word alone

    def prunable(self, before: datetime, kinds: Collection[str], move: str | None = None) -> dict[str, int]:
        """Of each kind how many would be removed that are older, of one move or of all (core/history/retention)."""
        with self._read() as session:
            return retention.prunable(session, before, kinds, move)

    def prune(self, before: datetime, kinds: Collection[str], move: str | None = None) -> dict[str, int]:
        """Remove them, all or none; of each kind how many."""
        with self._write() as session:
            return retention.prune(session, before, kinds, move)

    def remove_entries(self, entries: Sequence[Entry]) -> Removed:
        """Remove these, all or none, with what belongs to them; what undoes it (core/history/removal)."""
        self._end_interrupted_runs()
        with self._write() as session:
            return removal.remove(session, [(entry.kind, entry.reference) for entry in entries])

    def put_back(self, removed: Removed) -> None:
        """Undo it."""
        with self._write() as session:
            removal.put_back(session, removed)

    # --- a move that goes to another workstation

    def export_move(self, move: str, to: Path, *, replacing: bool = False) -> None:
        """Write the archive of a move (core/history/archive)."""
        with self._read() as session:
            archive.export(session, move, to, replacing=replacing)

    def take_in(self, read: Archive, name: str | None = None) -> str:
        """Put a move into the history, all or nothing, under that name or the one that it has; that name."""
        with self._write() as session:
            return archive.take_in(session, read, name)
