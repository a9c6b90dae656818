"""Records that wait in files on this workstation while the server of a team's history does not answer.

Only runs, probes and commands wait: they do not depend on other records, and they took time to obtain. Before a pending
record is written, its content is compared with the history: it may have been recorded just before the connection
broke. The files are in the user's configuration folder.
"""

import hashlib
import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from core import documents, settings
from core.benchmarks.model import Repetition, Run
from core.errors import HistoryError
from core.files import write_whole
from core.history import findings, log, recorded_runs
from core.history.models import CommandRow, ProbeRow, RepetitionRow, RunRow
from core.history.recorded_profiles import move_row
from core.history.recorded_runs import End
from core.jobs import CommandEnded, CommandStarted
from core.migration.model.probe import Probe
from core.system_errors import reason

FOLDER = "aside"


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """A command, a probe, or a part of a run (with the run as it started) that has to be recorded later."""

    move: str | None = None
    command_started: CommandStarted | None = None
    command_ended: CommandEnded | None = None
    probe: Probe | None = None
    run: Run | None = None
    repetition: Repetition | None = None
    end: End | None = None

    @property
    def lacks_run(self) -> bool:
        """Whether it is a part of a run that is not known, so that it could not be recorded later."""
        return self.run is None and (self.repetition is not None or self.end is not None)


def pending_command(move: str | None, event: CommandStarted | CommandEnded) -> PendingRecord:
    """Return the pending record of the start or the end of a command."""
    if isinstance(event, CommandStarted):
        return PendingRecord(move, command_started=event)
    return PendingRecord(move, command_ended=event)


class StartedRuns:
    """The runs that this process has started, by number. A run that waits in a file has a negative number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[int, Run] = {}

    def add(self, run: Run, number: int | None) -> int:
        """Add a run and return its number; `number` None: it waits in a file, and gets a negative number."""
        with self._lock:
            known = -1 - len(self._runs) if number is None else number
            self._runs[known] = run
            return known

    def part(self, number: int, repetition: Repetition | None = None, end: End | None = None) -> PendingRecord:
        """Return the pending record of a repetition or of the end of a run."""
        run = self._runs.get(number)
        if repetition is not None:  # JSON has no numbers but finite ones, and the history neither
            finite = {name: value for name, value in repetition.metrics.items() if math.isfinite(value)}
            repetition = replace(repetition, metrics=finite)
        return PendingRecord(None if run is None else run.move, run=run, repetition=repetition, end=end)


class PendingFolder:
    """The folder with the records that wait for one history, by its URL."""

    def __init__(self, place: str) -> None:
        self.folder = settings.config_folder() / FOLDER / hashlib.sha256(place.encode()).hexdigest()[:16]

    def waiting(self) -> list[Path]:
        """Return the files of the pending records, the oldest first."""
        return sorted(self.folder.glob("*.json"))

    def add(self, pending: PendingRecord) -> None:
        """Write the record into a file. Raises HistoryError if that fails."""
        path = self.folder / f"{time.time_ns():020d}-{secrets.token_hex(4)}.json"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, documents.dump(pending).encode())
        except OSError as error:
            raise HistoryError(
                f"the server of the history does not answer, and {path} cannot be written: {reason(error)}",
                "free some space there; the latest results are not recorded",
            ) from error


def read(path: Path) -> PendingRecord:
    """Return the pending record in a file.

    Raises:
        InputError: the file contains no pending record. OSError: it cannot be read.
    """
    return documents.load(PendingRecord, path.read_bytes())


def record(session: Session, pending: PendingRecord, owner: Callable[[], str]) -> None:
    """Write a pending record into the history, unless it is recorded already.

    Args:
        owner: returns the token of this process, for a run that is not recorded yet.

    Raises:
        InputError: the move of the record no longer exists.
    """
    if pending.run is not None:
        _record_run(session, pending, pending.run, owner)
    if pending.probe is not None and pending.move is not None and not _has_probe(session, pending.move, pending.probe):
        findings.probe_taken(session, pending.move, pending.probe)
    if pending.command_started is not None and not _has_command(session, pending.command_started):
        log.record_command(session, pending.move, pending.command_started)
    if pending.command_ended is not None:
        log.record_command(session, pending.move, pending.command_ended)


def _record_run(session: Session, pending: PendingRecord, run: Run, owner: Callable[[], str]) -> None:
    number = number_of(session, run)
    if number is None:
        number = recorded_runs.run_started(session, run, owner())
    if pending.repetition is not None and not _has_repetition(session, number, pending.repetition):
        recorded_runs.repetition_ended(session, number, pending.repetition)
    if pending.end is not None:
        recorded_runs.run_ended(session, number, pending.end)
    session.flush()


def number_of(session: Session, run: Run) -> int | None:
    """Return the number of a run, found by its move, folder, workload and start; None if it is not recorded."""
    of = (
        RunRow.move_id == (None if run.move is None else move_row(session, run.move).id),
        RunRow.side == recorded_runs.side_word(run.volume.side),
        RunRow.folder == run.volume.folder,  # of two volumes that are measured at once each has its own
        RunRow.workload == run.workload.name,
        RunRow.started_at == run.started_at,
    )
    return session.scalar(select(RunRow.id).where(*of).limit(1))


def _has_repetition(session: Session, number: int, repetition: Repetition) -> bool:
    of = (RepetitionRow.run_id == number, RepetitionRow.number == repetition.number)
    return session.scalar(select(RepetitionRow.id).where(*of)) is not None


def _has_probe(session: Session, move: str, probe: Probe) -> bool:
    of = (
        ProbeRow.move_id == move_row(session, move).id,
        ProbeRow.quantity == probe.quantity.value,
        ProbeRow.taken_at == probe.taken_at,
        ProbeRow.command == probe.command,
    )
    return session.scalar(select(ProbeRow.id).where(*of).limit(1)) is not None


def _has_command(session: Session, event: CommandStarted) -> bool:
    of = (CommandRow.server == event.server, CommandRow.command == event.command, CommandRow.started_at == event.at)
    return session.scalar(select(CommandRow.id).where(*of).limit(1)) is not None
