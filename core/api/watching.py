"""Watch the old server for hours or days: begin a watch, look at its state, collect its results, and end it."""

from datetime import UTC, datetime, timedelta

from core.api.facts import get_facts
from core.api.session import Session, record_commands
from core.benchmarks.model import Side
from core.errors import InputError, PghaulError
from core.jobs import Job, Note
from core.migration.model.move import Move
from core.migration.model.probe import Probe, Quantity
from core.migration.model.watch import WatchResult
from core.migration.probing import watching
from core.migration.probing.watching import Watching
from core.servers.connection import Server

SAW_NOTHING = "watch ended before its second observation; it has no result"
"""What is recorded for a watch that no longer exists and has no result."""


def begin_watch(session: Session, move: str, seconds: float, job: Job) -> Watching:
    """Begin a watch on the old server, which runs by itself; later estimates use its results once it has ended."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    facts = get_facts(session, found, Side.OLD, job)
    old = session.server(found.old, job)
    asked_at = datetime.now(UTC)
    begun = watching.begin(old, facts, found, session.store.seed(move), seconds, job)
    session.store.probe_taken(move, _begun_probe(begun.command, seconds, asked_at))
    return watching.look(old, begun, job)


def watch_status(session: Session, move: str, job: Job) -> Watching:
    """Return the state of the watch on the old server; raise InputError if there is none."""
    job = record_commands(session.store, job, move)
    return _find_watch(session, session.store.move(move), job)[1]


def collect_watch(session: Session, move: str, job: Job, *, end: bool = False) -> Watching:
    """Save what the watch has seen so far. A watch that has ended, or is to `end`, is removed from the old server.

    Raises:
        InputError: there is no watch, or it has seen nothing yet and continues.
    """
    job = record_commands(session.store, job, move)
    old, now = _find_watch(session, session.store.move(move), job)
    seen = now.watch is not None and now.watch.seconds > 0
    if now.watch is not None and seen:
        session.store.probe_taken(move, _result_probe(now.job.command, now.log, now.watch))
    elif now.running and not end:
        raise InputError(
            "the watch has made fewer than two observations", f"try again later: pghaul probe {move} --watch --collect"
        )
    if end or not now.running:
        watching.end(old, now, job)
        if not seen and session.store.uncollected_watch(move) is not None:
            session.store.probe_taken(move, _ended_probe(now.job.command, now.log))
            job.report(Note(f"{old.name}: {SAW_NOTHING}"))
    return now


def collect_if_due(session: Session, move: str, job: Job) -> None:
    """Save the results of a watch that has ended; a failure is reported and is not an error."""
    begun = session.store.uncollected_watch(move)
    if begun is None or datetime.now(UTC) < begun.taken_at + timedelta(seconds=float(begun.raw)):
        return
    try:
        collect_watch(session, move, job)
    except PghaulError as error:
        job.check()
        job.report(Note(f"the result of the watch on the old server cannot be used: {error.message}", "warning"))


def _find_watch(session: Session, found: Move, job: Job) -> tuple[Server, Watching]:
    old = session.server(found.old, job)
    begun = watching.find(old, session.store.facts(found.old), found, session.store.seed(found.name), job)
    if begun is None:
        lost = session.store.uncollected_watch(found.name)
        if lost is not None:  # for example after a restart that empties /var/tmp
            session.store.probe_taken(found.name, _ended_probe(lost.command, ""))
        raise InputError(
            f"there is no watch of {found.name} on {found.old}",
            f"start one with: pghaul probe {found.name} --watch 24h",
        )
    return old, watching.look(old, begun, job)


def _begun_probe(command: str, seconds: float, at: datetime) -> Probe:
    """Return the record that a watch was begun and has measured nothing yet."""
    length = f"{round(seconds)}"
    return Probe(Quantity.CHANGES, 0.0, 0, 0.0, f"watch of {length} s started", command, length, at)


def _ended_probe(command: str, log: str) -> Probe:
    """Return the record that a watch no longer exists and has measured nothing."""
    now = datetime.now(UTC)
    return Probe(Quantity.CHANGES, 0.0, 0, 0.0, SAW_NOTHING, command, log, now, began_at=now)


def _result_probe(command: str, log: str, watch: WatchResult) -> Probe:
    steps = watch.wal
    grown, seconds = sum(each[2] for each in steps), sum(each[1] for each in steps)
    now = datetime.now(UTC)
    return Probe(
        quantity=Quantity.CHANGES,
        bytes_per_second=grown / seconds if seconds else 0.0,
        bytes=grown,
        seconds=watch.seconds,
        method=f"watch of the old cluster: WAL and file times, {len(watch.looks)} observations",
        command=command,
        raw=log,
        taken_at=now,
        began_at=now,
    )
