"""What could not be recorded because the server of a team's history was lost: kept in files here, handed in later.

Only what stands by itself and took its time to be had: runs, probes, and the commands that ran. Each is known again by
what it says, so that what was recorded just before the connection was cut is not recorded twice. The files lie among
what the user writes for this program: a folder that somebody gave has none.
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
from core.history import findings, log, runs
from core.history.models import CommandRow, ProbeRow, RepetitionRow, RunRow
from core.history.profiles import move_row
from core.history.runs import End
from core.jobs import CommandEnded, CommandStarted
from core.migration.model.probe import Probe

FOLDER = "aside"


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """What is to be recorded later: a command, a probe, or a part of a run with the run as it began."""

    move: str | None = None
    command_started: CommandStarted | None = None
    command_ended: CommandEnded | None = None
    probe: Probe | None = None
    run: Run | None = None
    repetition: Repetition | None = None
    end: End | None = None

    @property
    def is_of_nothing(self) -> bool:
        """Whether nobody could tell later where it belongs."""
        return self.run is None and (self.repetition is not None or self.end is not None)


def kept_command(move: str | None, event: CommandStarted | CommandEnded) -> PendingRecord:
    """The start or the end of a command."""
    if isinstance(event, CommandStarted):
        return PendingRecord(move, command_started=event)
    return PendingRecord(move, command_ended=event)


class Begun:
    """The runs that this process has begun, by number: one that was kept aside has one below zero."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[int, Run] = {}

    def add(self, run: Run, number: int | None) -> int:
        """Know a run by its number, None: it was kept aside; by which number it is known."""
        with self._lock:
            known = -1 - len(self._runs) if number is None else number
            self._runs[known] = run
            return known

    def part(self, number: int, repetition: Repetition | None = None, end: End | None = None) -> PendingRecord:
        """What came of it."""
        run = self._runs.get(number)
        if repetition is not None:  # JSON has no numbers but finite ones, and the history neither
            finite = {name: value for name, value in repetition.metrics.items() if math.isfinite(value)}
            repetition = replace(repetition, metrics=finite)
        return PendingRecord(None if run is None else run.move, run=run, repetition=repetition, end=end)


class Aside:
    """What waits to be recorded at one URL."""

    def __init__(self, place: str) -> None:
        self.folder = settings.config_folder() / FOLDER / hashlib.sha256(place.encode()).hexdigest()[:16]

    def waiting(self) -> list[Path]:
        """The files, in the order of their time."""
        return sorted(self.folder.glob("*.json"))

    def keep(self, kept: PendingRecord) -> None:
        """Keep it; raises HistoryError where that cannot be."""
        path = self.folder / f"{time.time_ns():020d}-{secrets.token_hex(4)}.json"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, documents.dump(kept).encode())
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise HistoryError(
                f"the server of the history does not answer, and {path} cannot be written: {why}",
                "free some space there; the latest results are not recorded",
            ) from error


def read(path: Path) -> PendingRecord:
    """What was kept in that file.

    Raises:
        InputError: it is none of ours. OSError: it cannot be read.
    """
    return documents.load(PendingRecord, path.read_bytes())


def record(session: Session, kept: PendingRecord, owner: Callable[[], str]) -> None:
    """Record it, unless it is there.

    Raises:
        InputError: its move is gone.
    """
    if kept.run is not None:
        _record_run(session, kept, kept.run, owner)
    if kept.probe is not None and kept.move is not None and not _has_probe(session, kept.move, kept.probe):
        findings.probe_taken(session, kept.move, kept.probe)
    if kept.command_started is not None and not _has_command(session, kept.command_started):
        log.record_command(session, kept.move, kept.command_started)
    if kept.command_ended is not None:
        log.record_command(session, kept.move, kept.command_ended)


def _record_run(session: Session, kept: PendingRecord, run: Run, owner: Callable[[], str]) -> None:
    number = number_of(session, run)
    if number is None:
        number = runs.run_started(session, run, owner())
    if kept.repetition is not None and not _has_repetition(session, number, kept.repetition):
        runs.repetition_ended(session, number, kept.repetition)
    if kept.end is not None:
        runs.run_ended(session, number, kept.end)
    session.flush()


def number_of(session: Session, run: Run) -> int | None:
    """The number of a run, by what it is; None: it is not recorded."""
    of = (
        RunRow.move_id == move_row(session, run.move).id,
        RunRow.side == run.volume.side.value,
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
