"""The store: dataclasses in and out. Each call is one transaction of its own, on whatever thread it is made.

Names that are not there, taken or unfit raise InputError; a history that cannot be read or written, HistoryError.
"""

from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from core.benchmarks.model import Outcome, Repetition, Run, Side
from core.facts.model import Facts
from core.history import details, elsewhere, executions, findings, log, profiles, runs, waivers
from core.history.details import KINDS, Detail
from core.history.file import HistoryFile
from core.history.log import Command, Entry
from core.history.types import said
from core.jobs import CommandEnded, CommandStarted
from core.migration.checks.waivers import with_waivers
from core.migration.model.checks import CheckResult, Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution, State, StepRun
from core.migration.model.move import Hook, HookCommand, Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.servers.profiles import Profile

__all__ = ["KINDS", "Command", "Detail", "Entry", "Store"]


class Store(HistoryFile):
    """The history. May be shared by threads, and its file by programs. A context manager; implements every journal."""

    # --- servers and moves

    def add_profile(self, profile: Profile) -> None:
        with self._write() as session:
            profiles.add_profile(session, profile)

    def update_profile(self, profile: Profile, name: str | None = None) -> None:
        """Change the server called `name`; None: the one that is called as `profile` is."""
        with self._write() as session, executions.hooks_kept(session, self._seal):
            profiles.update_profile(session, profile.name if name is None else name, profile)

    def put_profile(self, profile: Profile) -> None:
        """Change the server that is called as `profile` is; add it where there is none."""
        with self._write() as session, executions.hooks_kept(session, self._seal):
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
        with self._write() as session, executions.hooks_kept(session, self._seal):
            profiles.update_move(session, move.name if name is None else name, move)

    def put_move(self, move: Move) -> None:
        """Change the move that is called as `move` is; add it where there is none."""
        with self._write() as session, executions.hooks_kept(session, self._seal):
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
        """Record a run; the number it has from now on."""
        with self._write() as session:
            return runs.run_started(session, run, self._owners.mine())

    def repetition_ended(self, run_id: int, repetition: Repetition) -> None:
        """Record one repetition with its raw output and its metrics; one that is no finite number is left out."""
        kept = said(repetition)
        with self._write() as session:
            runs.repetition_ended(session, run_id, kept)

    def run_ended(
        self, run_id: int, outcome: Outcome, ended_at: datetime, tool_version: str | None, stopped: str = ""
    ) -> None:
        """Record how a run ended, and why no more repetitions were made."""
        with self._write() as session:
            runs.run_ended(session, run_id, outcome, ended_at, tool_version, stopped)

    def _end_interrupted_runs(self) -> None:
        """A run whose process was killed would be shown as running for ever."""
        with self._read() as session:
            gone = {owner for owner in runs.open_owners(session) if owner is None or not self._owners.alive(owner)}
        if gone:
            with self._write() as session:
                for owner in gone:
                    runs.interrupt(session, owner)

    def run(self, run_id: int) -> Run:
        self._end_interrupted_runs()
        with self._read() as session:
            return runs.run(session, run_id)

    def runs(
        self, move: str, *, side: Side | None = None, latest_only: bool = False, newest: int | None = None
    ) -> tuple[Run, ...]:
        """The runs of a move in the order of time; `newest`: so many of them, the newest.

        `latest_only`: of each side and each workload with its parameters the newest that is done, on the machine and
        the volume that the move names now.
        """
        self._end_interrupted_runs()
        with self._read() as session:
            return runs.runs(session, move, side, latest_only, newest)

    def measured_at(self, move: str) -> dict[Side, datetime]:
        """When the latest run of each side ended that is done, where the move names it now."""
        with self._read() as session:
            return runs.measured_at(session, move)

    # --- probes (ProbeJournal), checks, estimate, plan; none older than the last change of the move or its servers

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Record one probe of a move."""
        kept = said(probe)
        with self._write() as session:
            findings.probe_taken(session, move, kept)

    def probes(self, move: str) -> tuple[Probe, ...]:
        """The latest probe of each link, in the order of the copy chain, and of each transport of the latest pass."""
        with self._read() as session:
            return findings.probes(session, move)

    def save_checks(self, move: str, results: tuple[CheckResult, ...]) -> None:
        """Keep one pass of all checks, in the order given."""
        with self._write() as session:
            findings.save_checks(session, move, results)

    def checks(self, move: str) -> tuple[CheckResult, ...] | None:
        """The latest pass, its warnings with the waivers that hold; None: not checked yet."""
        with self._read() as session:
            results = findings.checks(session, move)
            return None if results is None else with_waivers(results, waivers.waivers(session, move, self._seal))

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
        with self._write() as session:
            return executions.execution_started(session, execution, self._owners.mine(), self._seal)

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
        why = said(message)
        with self._write() as session:
            executions.execution_changed(session, execution_id, state, why, self._owners.mine(), self._seal)

    def carried_out(self, execution_id: int) -> bool:
        """Whether a process of this workstation is at it."""
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
        kept = said(run)
        with self._write() as session:
            return executions.step_started(session, execution_id, kept, self._seal)

    def step_progressed(self, run_id: int, done: int, total: int | None) -> None:
        """Record how many bytes a try that runs is through with, and of how many."""
        with self._write() as session:
            executions.step_progressed(session, run_id, done, total)

    def step_ended(self, run: StepRun) -> None:
        """Record the end of that try."""
        kept = said(run)
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
        kept = said(event)
        with self._write() as session:
            log.record_command(session, move, kept)

    def commands(self, move: str | None = None, limit: int = 200) -> tuple[Command, ...]:
        """The newest commands first, of one move or of all."""
        with self._read() as session:
            return log.commands(session, move, limit)

    def record_report(self, move: str, path: Path) -> None:
        """Record that a report was written."""
        with self._write() as session:
            log.record_report(session, move, path)

    def entries(self, limit: int = 200, move: str | None = None) -> tuple[Entry, ...]:
        """What happened, newest first, of one move (the facts of its servers among it) or of all."""
        self._end_interrupted_runs()
        with self._read() as session:
            return log.entries(session, limit, move)

    def detail(self, kind: str, reference: int) -> Detail:
        """What an entry is about, as it was recorded; of a report, where it was written."""
        self._end_interrupted_runs()
        with self._read() as session:
            return details.detail(session, kind, reference)
