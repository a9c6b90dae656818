"""What the window asks of core, as plain functions for a worker thread.

Core's heavy modules load here, when first used: the window is on screen before them.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from core.benchmarks.model import Forecast, Run, Side
from core.errors import InputError
from core.jobs import Job
from core.migration.model.checks import CheckResult
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Kind
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from gui.states import Compared, ExecutionState, Overview, ServerRow

if TYPE_CHECKING:
    from core.actions import Session, Standing
    from core.benchmarks.suites import Listed
    from core.history.store import Command, Entry
    from core.migration.execution.executor import People
    from core.migration.execution.record import Held
    from core.migration.execution.unfinished import Possible, Unfinished
    from core.servers.profiles import Profile


NEWEST = 500
"""Runs that a page shows: more than a person looks through."""


def moves_newest_first(session: "Session") -> tuple[Move, ...]:
    """All moves by name, but the one that was worked on last stands first."""
    moves = session.store.moves()
    latest = next((entry.move for entry in session.store.entries(limit=20) if entry.move is not None), None)
    return tuple(sorted(moves, key=lambda move: (move.name != latest, move.name)))


def servers(session: "Session") -> tuple[ServerRow, ...]:
    """All servers, by name."""
    moves = session.store.moves()
    return tuple(
        ServerRow(
            profile,
            session.store.facts(profile.name),
            tuple(move.name for move in moves if profile.name in (move.old, move.new)),
        )
        for profile in session.store.profiles()
    )


def test_server(server: str, session: "Session", job: Job) -> tuple[str, ...]:
    """Connect and try the rights."""
    from core.actions import test_server as test

    return test(session, server, job).sentences


def try_profile(profile: "Profile", session: "Session", job: Job) -> tuple[str, ...]:
    """Connect by a profile that is not kept yet, and try the rights."""
    from core.actions import try_profile as attempt

    return attempt(session, profile, job).sentences


def ssh_hosts(_session: "Session") -> tuple[str, ...]:
    """The hosts that ~/.ssh/config names."""
    from core.servers.ssh_hosts import named_hosts

    return named_hosts()


def read_facts(servers_and_folders: Sequence[tuple[str, tuple[str, ...]]], session: "Session", job: Job) -> None:
    """Read the facts of each server, with the data directories that a move names on it."""
    from core.actions import read_facts as read

    for server, folders in servers_and_folders:
        read(session, server, job, folders)


def suites() -> tuple["Listed", ...]:
    """The suites that ship with the program, and the DBA's own."""
    from core.benchmarks.suites import list_suites

    return list_suites()


def forecast(move: str, suite: str, sides: Sequence[Side], session: "Session", job: Job) -> tuple[Forecast, ...]:
    """What the suite takes on each side."""
    from core.actions import forecast as make

    return make(session, move, suite, job, sides)


def run_benchmarks(
    move: str, suite: str, sides: Sequence[Side], wait_for_resync: bool, session: "Session", job: Job
) -> tuple[Run, ...]:
    """Run the suite on each side, at once or when no array below a volume is being rebuilt any more."""
    from core.actions import run_benchmarks as run

    return run(session, move, suite, job, sides, wait_for_resync=wait_for_resync)


def runs(move: str, session: "Session") -> tuple[Run, ...]:
    """The newest runs of a move, newest first: what a page can show."""
    return session.store.runs(move, newest=NEWEST)[::-1]


def comparison(move: str, session: "Session") -> Compared | None:
    """Both sides of a move; None: nothing was measured yet."""
    from core.actions import compare, known_diagnoses

    try:
        return Compared(compare(session, move), known_diagnoses(session, move))
    except InputError:
        return None


def checks(move: str, session: "Session") -> tuple[CheckResult, ...] | None:
    """The latest checks."""
    return session.store.checks(move)


def probes(move: str, session: "Session") -> tuple[Probe, ...]:
    """The latest probes."""
    return session.store.probes(move)


def estimated(move: str, session: "Session") -> Estimate | None:
    """The latest estimate."""
    return session.store.estimate(move)


def record(move: str, session: "Session") -> "tuple[Held, ...]":
    """What was carried out of a move beside what was estimated of it."""
    from core.actions import record as of

    return of(session, move)


def planned(move: str, session: "Session") -> Plan | None:
    """The latest plan."""
    return session.store.plan(move)


def overview(move: str, session: "Session") -> Overview:
    """The answers of a move and what they rest on."""
    from core.reports.report import first_page
    from core.reports.summary import summary
    from gui.models.overview import answers

    report = first_page(session.store, move)
    return Overview(answers(summary(report)), report.comparison, report.estimate, standing(move, session).marks)


def standings(session: "Session") -> "tuple[Standing, ...]":
    """Where each move stands, the one that was worked on last first."""
    return tuple(standing(move.name, session) for move in moves_newest_first(session))


def standing(move: str, session: "Session") -> "Standing":
    """Where a move stands."""
    from core.actions import standing as of

    return of(session, move)


def unfinished(session: "Session") -> "tuple[Unfinished, ...]":
    """The executions that are not at their end: little enough to be read again and again."""
    from core.actions import unfinished_executions

    return unfinished_executions(session.store)


def execution(move: str, session: "Session", kind: Kind | None = None) -> ExecutionState:
    """The latest execution, or the latest of that kind; what may be done goes by the latest of all."""
    from core.actions import outcome, what_is_left
    from core.migration.execution.account import downtime
    from core.migration.execution.progress import rate, sentences, status_of
    from core.migration.execution.status import how_both_stand
    from core.migration.execution.unfinished import possible

    newest = session.store.latest_execution(move)
    plan_made = session.store.plan(move)
    if newest is None:
        return ExecutionState(possible=possible(None, alive=False), plan=plan_made)
    shown = newest
    if kind is not None and newest.kind is not kind:
        others = (one for one in session.store.executions(move) if one.kind is kind)
        shown_one = next(others, None)
        if shown_one is None:
            may = possible(newest, alive=session.store.carried_out(newest.id))
            return ExecutionState(possible=_begin_alone(may), plan=plan_made)
        shown = shown_one
    now, alive = datetime.now(UTC), session.store.carried_out(shown.id)
    may = possible(newest, alive=alive if shown is newest else session.store.carried_out(newest.id))
    status = status_of(shown, now)
    return ExecutionState(
        execution=shown,
        alive=alive,
        far=sentences(shown, now) if alive else (),
        stands=how_both_stand(shown),
        left=what_is_left(shown),
        told=outcome(session, shown),
        possible=may if shown is newest else _begin_alone(may),
        downtime=downtime(shown, now),
        bytes_per_second=sum(rate(run, now) or 0.0 for _, run in status.under_way) if alive else None,
        read_at=now,
    )


def _begin_alone(may: "Possible") -> "Possible":
    """Of an execution that is not the latest one nothing is gone on with."""
    return replace(may, resume=False, end=False, roll_back=False)


def check(move: str, session: "Session", job: Job) -> None:
    """Check from fresh facts."""
    from core.actions import check as run

    run(session, move, job)


def waive_check(move: str, check: str, reason: str, session: "Session") -> None:
    """Take a warning on."""
    from core.actions import waive_check as run

    run(session, move, check, reason)


def unwaive_check(move: str, check: str, session: "Session") -> None:
    """Take a waiver back."""
    from core.actions import unwaive_check as run

    run(session, move, check)


def probe(move: str, session: "Session", job: Job) -> None:
    """Measure each link of the copy chain."""
    from core.actions import probe as run

    run(session, move, job)


def estimate(move: str, session: "Session", job: Job) -> None:
    """Estimate each method."""
    from core.actions import estimate as make

    make(session, move, job)


def plan(move: str, session: "Session", job: Job) -> None:
    """Plan the move."""
    from core.actions import plan as make

    make(session, move, job)


def execute(move: str, kind: Kind, people: "People", anew: bool, session: "Session", job: Job) -> None:
    """Carry the move out, or rehearse it; `anew`: what an earlier one that ended on its way has left was said."""
    from core.actions import execute as run

    run(session, move, kind, people, job, anew=anew)


def resume(move: str, people: "People", session: "Session", job: Job) -> None:
    """Go on with the latest execution."""
    from core.actions import resume_execution

    resume_execution(session, move, people, job)


def end(move: str, people: "People", session: "Session", job: Job) -> None:
    """End an execution that was interrupted."""
    from core.actions import cancel_execution

    cancel_execution(session, move, people, job)


def roll_back(move: str, people: "People", session: "Session", job: Job) -> None:
    """Make old what it was."""
    from core.actions import roll_back_execution

    roll_back_execution(session, move, people, job)


def save_runbook(plan_made: Plan, path: Path, _session: "Session") -> Path:
    """The plan for people, as Markdown."""
    from core.migration.plan import runbook

    path.write_text(runbook(plan_made), encoding="utf-8")
    return path


def save_script(plan_made: Plan, path: Path, _session: "Session") -> Path:
    """The plan as a POSIX shell script, executable by its owner."""
    from core.migration.plan import script

    path.write_text(script(plan_made), encoding="utf-8")
    path.chmod(0o700)
    return path


def report(move: str, path: Path, session: "Session", job: Job) -> Path:
    """The report as a PDF."""
    from core.actions import report as write

    job.check()
    return write(session, move, path)


def entries(move: str | None, session: "Session") -> "tuple[Entry, ...]":
    """What happened, newest first."""
    return session.store.entries(limit=1000, move=move)


def commands(move: str | None, session: "Session") -> "tuple[Command, ...]":
    """The commands that were run, newest first."""
    return session.store.commands(move, limit=1000)


def entry_text(entry: "Entry", as_json: bool, session: "Session") -> str:
    """What the history holds of an entry, as text to read and copy; or all of it, as JSON."""
    from core import documents
    from gui.models.details import detail_text

    detail = session.store.detail(entry.kind, entry.reference)
    return documents.dump(detail, indent=2) if as_json and not isinstance(detail, Path) else detail_text(detail)


def save_profile(profile: "Profile", name: str | None, session: "Session") -> None:
    """Keep a new profile, or the changed one of the server that was called `name`."""
    if name is None:
        session.store.add_profile(profile)
    else:
        session.store.update_profile(profile, name)
        _forget_secrets(name)


def remove_profile(name: str, session: "Session") -> None:
    """Forget a server."""
    session.store.remove_profile(name)
    _forget_secrets(name)


def _forget_secrets(server: str) -> None:
    """What was typed for this server may not fit its profile any more."""
    from core.servers.secrets import session_secrets

    session_secrets.forget_server(server)


def save_move(move: Move, name: str | None, session: "Session") -> None:
    """Keep a new move, or the changed one that was called `name`."""
    if name is None:
        session.store.add_move(move)
    else:
        session.store.update_move(move, name)


def remove_move(name: str, session: "Session") -> None:
    """Forget a move with everything measured for it."""
    session.store.remove_move(name)
