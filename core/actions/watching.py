"""Watch old over hours or days: begin, look how it stands, take what it saw into the history, end it."""

from datetime import UTC, datetime, timedelta

from core.actions.facts import facts_of
from core.actions.session import Session, record_commands
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
"""What is recorded of one that is there no more and of which there is nothing else to record."""


def begin_watch(session: Session, move: str, seconds: float, job: Job) -> Watching:
    """Begin a watch on old, which goes on by itself; the next estimate takes what it saw once its time is over."""
    job = record_commands(session.store, job, move)
    found = session.store.move(move)
    facts = facts_of(session, found, Side.OLD, job)
    old = session.server(found.old, job)
    asked_at = datetime.now(UTC)
    begun = watching.begin(old, facts, found, session.store.seed(move), seconds, job)
    session.store.probe_taken(move, _begun(begun.command, seconds, asked_at))
    return watching.look(old, begun, job)


def watch_status(session: Session, move: str, job: Job) -> Watching:
    """How the watch on old stands; raises InputError where there is none."""
    job = record_commands(session.store, job, move)
    return _there(session, session.store.move(move), job)[1]


def collect_watch(session: Session, move: str, job: Job, *, end: bool = False) -> Watching:
    """Take what the watch saw so far into the history. One that has ended, or is to `end`, is removed from old.

    Raises:
        InputError: there is none, or it has seen nothing yet and goes on.
    """
    job = record_commands(session.store, job, move)
    old, now = _there(session, session.store.move(move), job)
    seen = now.watch is not None and now.watch.seconds > 0
    if now.watch is not None and seen:
        session.store.probe_taken(move, _taken(now.job.command, now.log, now.watch))
    elif now.running and not end:
        raise InputError(
            "the watch has made fewer than two observations", f"try again later: pghaul probe {move} --watch --collect"
        )
    if end or not now.running:
        watching.end(old, now, job)
        if not seen and session.store.watch_begun(move) is not None:
            session.store.probe_taken(move, _ended(now.job.command, now.log))
            job.report(Note(f"{old.name}: {SAW_NOTHING}"))
    return now


def collect_if_due(session: Session, move: str, job: Job) -> None:
    """Take what a watch saw whose time is over; what stands in the way is said, and nothing fails by it."""
    begun = session.store.watch_begun(move)
    if begun is None or datetime.now(UTC) < begun.taken_at + timedelta(seconds=float(begun.raw)):
        return
    try:
        collect_watch(session, move, job)
    except PghaulError as error:
        job.check()
        job.report(Note(f"the result of the watch on the old server cannot be used: {error.message}", "warning"))


def _there(session: Session, found: Move, job: Job) -> tuple[Server, Watching]:
    old = session.server(found.old, job)
    begun = watching.find(old, session.store.facts(found.old), found, session.store.seed(found.name), job)
    if begun is None:
        lost = session.store.watch_begun(found.name)
        if lost is not None:  # as by a restart that empties /var/tmp
            session.store.probe_taken(found.name, _ended(lost.command, ""))
        raise InputError(
            f"there is no watch of {found.name} on {found.old}",
            f"start one with: pghaul probe {found.name} --watch 24h",
        )
    return old, watching.look(old, begun, job)


def _begun(command: str, seconds: float, at: datetime) -> Probe:
    """That a watch was begun: it has measured nothing yet."""
    length = f"{round(seconds)}"
    return Probe(Quantity.CHANGES, 0.0, 0, 0.0, f"watch of {length} s started", command, length, at)


def _ended(command: str, log: str) -> Probe:
    """That a watch is there no more, which was begun and has measured nothing."""
    now = datetime.now(UTC)
    return Probe(Quantity.CHANGES, 0.0, 0, 0.0, SAW_NOTHING, command, log, now, began_at=now)


def _taken(command: str, log: str, watch: WatchResult) -> Probe:
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
