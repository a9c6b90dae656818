"""The functions of core that the window calls on its worker threads.

Heavy modules of core are imported within these functions, so that the window is on screen before they load.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError
from core.files import write_text
from core.jobs import Job
from gui.states import Compared, ExecutionState, Overview, ServerRow

if TYPE_CHECKING:
    from core.api.session import Session
    from core.api.standing import Standing
    from core.api.storage import WhatIf
    from core.benchmarks.model import Forecast, Run, Side
    from core.benchmarks.suites import Listed
    from core.comparison.model import Comparison, Sample
    from core.comparison.raid import Drive
    from core.comparison.sets import Start
    from core.history.store import Command, Entry, Removed
    from core.migration.estimate.planning import Planned
    from core.migration.execution.executor import Operator
    from core.migration.execution.record import ByStage, EstimateComparison
    from core.migration.execution.unfinished import Possible, Unfinished
    from core.migration.model.asked import Asked
    from core.migration.model.checks import CheckResult
    from core.migration.model.estimate import Estimate
    from core.migration.model.execution import Kind, State
    from core.migration.model.move import Move
    from core.migration.model.plan import Plan
    from core.migration.model.probe import Probe
    from core.servers.profiles import Profile
    from gui.models.report import ReportRequest


NEWEST = 500
"""The number of runs that a page shows: more than a person reads."""


def moves_newest_first(session: "Session") -> "tuple[Move, ...]":
    """Return all moves, those with the latest entries first."""
    return session.store.moves_newest_first()


def servers(session: "Session") -> tuple[ServerRow, ...]:
    """Return all servers, sorted by name."""
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
    """Connect to a server, test the rights there, and return the results as sentences."""
    from core.api.servers import test_server as test

    return test(session, server, job).sentences


def try_profile(profile: "Profile", session: "Session", job: Job) -> tuple[str, ...]:
    """Do the same with a profile that is not saved yet."""
    from core.api.servers import try_profile as attempt

    return attempt(session, profile, job).sentences


def ssh_hosts(_session: "Session") -> tuple[str, ...]:
    """Return the hosts that ~/.ssh/config names."""
    from core.servers.ssh_config import named_hosts

    return named_hosts()


def read_facts(servers_and_folders: Sequence[tuple[str, tuple[str, ...]]], session: "Session", job: Job) -> None:
    """Read the facts of each server, including the data directories that a move names there."""
    from core.api.facts import read_facts as read

    for server, folders in servers_and_folders:
        read(session, server, job, folders)


def suites() -> tuple["Listed", ...]:
    """Return the suites that are part of pghaul, and those of the user."""
    from core.benchmarks.suites import list_suites

    return list_suites()


def forecast(move: str, suite: str, sides: "Sequence[Side]", session: "Session", job: Job) -> "tuple[Forecast, ...]":
    """Return the forecast of a suite for each side."""
    from core.api.benchmarks import forecast_benchmarks as make

    return make(session, move, suite, job, sides)


def run_benchmarks(
    move: str,
    suite: str,
    sides: "Sequence[Side]",
    wait_for_resync: bool,
    session: "Session",
    job: Job,
    *,
    at_once: bool = False,
) -> "tuple[Run, ...]":
    """Run the suite on each side, and return the runs; `wait_for_resync`: start when no array below a volume is
    rebuilding.
    """
    from core.api.benchmarks import run_benchmarks as run

    return run(session, move, suite, job, sides, wait_for_resync=wait_for_resync, at_once=at_once)


def runs(move: str, session: "Session") -> "tuple[Run, ...]":
    """Return the newest runs of a move, newest first, without the outputs of the tools."""
    return session.store.runs(move, newest=NEWEST, raw=False)[::-1]


def run(number: int, session: "Session") -> "Run":
    """Return a run with the output of its tool."""
    return session.store.run(number)


def compared(move: str, left: "Start | Side", right: "Start | Side", session: "Session") -> Compared | None:
    """Compare the left with the right selection; None if neither was measured."""
    from core.api.diagnosis import diagnose_from_history
    from core.api.measured import compare_starts

    try:
        found = compare_starts(session, move, left, right)
    except InputError:
        return None
    return Compared(found, diagnose_from_history(session, move))


def starts(session: "Session") -> "tuple[Start, ...]":
    """Return each start of a suite on one volume, of all moves, newest first."""
    from core.api.measured import list_starts as of

    return of(session)


def over_time(
    move: str, tool: str, workload: str, metric: str, session: "Session"
) -> "dict[Side, tuple[tuple[datetime, Sample], ...]]":
    """Return a metric of a workload in each of its runs."""
    from core.api.measured import metric_over_time as of

    return of(session, move, tool, workload, metric)


def tools_with_outputs() -> tuple[str, ...]:
    """Return the names of the tools whose outputs can be read."""
    from core.benchmarks.tools import parsers

    return tuple(sorted(parsers()))


def read_outputs(named: Sequence[tuple[str, str]], tool: str | None, _session: "Session") -> "tuple[str, Comparison]":
    """Compare outputs of benchmark tools from elsewhere."""
    from core.api.measured import read_outputs as read

    return read(named, tool)


def what_if(move: str, drives: int, drive: "Drive | None", side: "Side", session: "Session") -> "WhatIf":
    """Return the expected performance of arrays with that number of drives."""
    from core.api.storage import expect_layouts_of_move
    from core.comparison.raid import layouts

    return expect_layouts_of_move(session, move, layouts(drives), drive, side)


def checks(move: str, session: "Session") -> "tuple[CheckResult, ...] | None":
    """Return the results of the latest checks; None if there are none."""
    return session.store.checks(move)


def probes(move: str, session: "Session") -> "tuple[Probe, ...]":
    """Return the latest probes."""
    return session.store.probes(move)


def estimated(move: str, session: "Session") -> "Estimate | None":
    """Return the latest estimate; None if there is none."""
    return session.store.estimate(move)


def record(move: str, session: "Session") -> "tuple[EstimateComparison, ...]":
    """Return the measured beside the estimated duration of each stage of a move."""
    from core.api.migration import compare_with_estimates as of

    return of(session, move)


def answers(move: str, asked: "Asked", session: "Session") -> "Planned | None":
    """Return how likely each method fits into a window, and how this changes later; None without an estimate."""
    from core.api.migration import answer_planning as of

    return of(session, move, asked)


def record_by_stage(session: "Session") -> "tuple[ByStage, ...]":
    """Return the accuracy of the estimates of each stage, over all moves."""
    from core.api.migration import compare_with_estimates as of
    from core.migration.execution.record import by_stage

    return by_stage(of(session))


def planned(move: str, session: "Session") -> "Plan | None":
    """Return the latest plan; None if there is none."""
    return session.store.plan(move)


def overview(move: str, session: "Session") -> Overview:
    """Return the answers of the first page of the report, and the data behind them."""
    from core.reports import summary
    from core.reports.report import first_page
    from gui.models.overview import answers

    report = first_page(session.store, move)
    return Overview(answers(summary.answers(report)), report.comparison, report.estimate, standing(move, session).marks)


def standings(most: int, session: "Session") -> "tuple[tuple[Standing, ...], int]":
    """Return the standing of the moves that were changed last, at most `most`, and the number of all moves."""
    moves = moves_newest_first(session)
    return tuple(standing(move.name, session) for move in moves[:most]), len(moves)


def standing(move: str, session: "Session") -> "Standing":
    """Return the standing of a move."""
    from core.api.standing import get_standing as of

    return of(session, move)


def unfinished(session: "Session") -> "tuple[Unfinished, ...]":
    """Return the executions that have not ended. This is little data, as the window reads it every second."""
    from core.api.standing import unfinished_executions

    return unfinished_executions(session.store)


def execution(move: str, session: "Session", kind: "Kind | None" = None) -> ExecutionState:
    """Return the latest execution, or the latest of that kind. What is possible depends on the latest of all kinds."""
    from core.api.execution import explain_no_dress_rehearsal
    from core.migration.model.execution import Kind

    made = _execution(move, session, kind)
    if kind is not Kind.REHEARSAL or made.possible is None or not made.possible.begin:
        return made
    return replace(made, no_dress=explain_no_dress_rehearsal(session, move))


def _execution(move: str, session: "Session", kind: "Kind | None") -> ExecutionState:
    from core.api.execution import describe_outcome
    from core.migration.execution.entry import describe_leftovers
    from core.migration.execution.progress import current_rate, describe_progress, status_of
    from core.migration.execution.status import describe_both_clusters
    from core.migration.execution.unfinished import known_downtime, possible

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
            return ExecutionState(possible=_only_begin(may), plan=plan_made)
        shown = shown_one
    now, alive = datetime.now(UTC), session.store.carried_out(shown.id)
    may = possible(newest, alive=alive if shown is newest else session.store.carried_out(newest.id))
    status = status_of(shown, now)
    return ExecutionState(
        execution=shown,
        alive=alive,
        progress=describe_progress(shown, now) if alive else (),
        stands=describe_both_clusters(shown),
        left=describe_leftovers(shown),
        ending=describe_outcome(session, shown),
        possible=may if shown is newest else _only_begin(may),
        downtime=known_downtime(shown, now, alive=alive),
        bytes_per_second=sum(current_rate(run, now) or 0.0 for _, run in status.under_way) if alive else None,
        read_at=now,
    )


def _only_begin(may: "Possible") -> "Possible":
    """Remove all but the beginning from what is possible: only the latest execution can be continued."""
    return replace(may, resume=False, end=False, roll_back=False)


def check(move: str, session: "Session", job: Job) -> None:
    """Read the facts again, and run the checks."""
    from core.api.migration import run_checks as run

    run(session, move, job)


def waive_check(move: str, check: str, reason: str, session: "Session") -> None:
    """Waive a warning."""
    from core.api.waivers import waive_check as run

    run(session, move, check, reason)


def unwaive_check(move: str, check: str, session: "Session") -> None:
    """Withdraw a waiver."""
    from core.api.waivers import unwaive_check as run

    run(session, move, check)


def probe(move: str, session: "Session", job: Job) -> None:
    """Run the transfer test."""
    from core.api.migration import run_probes as run

    run(session, move, job)


def estimate(move: str, session: "Session", job: Job) -> None:
    """Make an estimate of each method."""
    from core.api.migration import make_estimate as make

    make(session, move, job)


def plan(move: str, session: "Session", job: Job) -> None:
    """Make the plan of the move."""
    from core.api.migration import plan_move as make

    make(session, move, job)


def execute(move: str, kind: "Kind", people: "Operator", start_over: bool, session: "Session", job: Job) -> "State":
    """Execute or rehearse the move, and return its state then.

    Args:
        start_over: the operator has read what an earlier execution has left.
    """
    from core.api.execution import execute as run

    return run(session, move, kind, people, job, start_over=start_over).state


def dress(move: str, people: "Operator", start_over: bool, session: "Session", job: Job) -> "State":
    """Make a dress rehearsal of the move, and return its state then.

    Args:
        start_over: the operator has read what an earlier execution has left.
    """
    from core.api.execution import execute as run
    from core.migration.model.execution import Kind

    return run(session, move, Kind.REHEARSAL, people, job, start_over=start_over, dressed=True).state


def resume(move: str, people: "Operator", session: "Session", job: Job) -> "State":
    """Continue the latest execution, and return its state then."""
    from core.api.execution import resume_execution

    return resume_execution(session, move, people, job).state


def end(move: str, people: "Operator", session: "Session", job: Job) -> "State":
    """Cancel an interrupted execution, clean up, and return its state then."""
    from core.api.execution import cancel_execution

    return cancel_execution(session, move, people, job).state


def roll_back(move: str, people: "Operator", session: "Session", job: Job) -> "State":
    """Roll back to the old server, and return the state of the execution then."""
    from core.api.execution import roll_back_execution

    return roll_back_execution(session, move, people, job).state


def save_runbook(plan_made: "Plan", path: Path, _session: "Session") -> Path:
    """Save the plan as a runbook in Markdown, and return its path."""
    from core.migration.plan import runbook

    write_text(path, runbook(plan_made), replacing=True)  # the dialog has asked
    return path


def save_script(plan_made: "Plan", path: Path, _session: "Session") -> Path:
    """Save the plan as a POSIX shell script, and return its path."""
    from core.migration.plan import script

    write_text(path, script(plan_made), replacing=True, executable=True)
    return path


def report(request: "ReportRequest", path: Path, binary: bool, session: "Session", job: Job) -> Path:
    """Write a report on a move, and return its path; `binary`: sizes in GiB, else in GB."""
    from core.api.reports import write_report as write
    from core.reports.make import Format, Kind
    from core.reports.model import Paper
    from core.reports.options import Options

    job.check()
    options = Options(
        language=request.language,
        paper=Paper(request.paper),
        binary=binary,
        masked=request.masked,
        raw=request.appendices,
        functions=request.appendices,
    )
    return write(session, Kind(request.kind), [request.move], path, Format(request.shape), options, replacing=True)


def entries(move: str | None, noted: bool, session: "Session") -> "tuple[Entry, ...]":
    """Return the entries of the history, newest first; `noted`: all entries that have a note, however old."""
    return session.store.entries(limit=1000, move=move, tag="" if noted else None)


def set_note(entry: "Entry", note: str, session: "Session") -> str:
    """Set the note of an entry, and return the note before."""
    return session.store.set_note(entry.kind, entry.reference, note, entry.at)


def remove_entries(gone: "Sequence[Entry]", session: "Session") -> "Removed":
    """Remove entries with what belongs to them, and return what restores them."""
    return session.store.remove_entries(gone)


def put_back(removed: "Removed", session: "Session") -> None:
    """Restore removed entries."""
    session.store.put_back(removed)


def commands(move: str | None, session: "Session") -> "tuple[Command, ...]":
    """Return the commands that ran on servers, newest first."""
    return session.store.commands(move, limit=1000)


def entry_text(entry: "Entry", as_json: bool, session: "Session") -> str:
    """Return the details of an entry as text, or all of them as JSON."""
    from core import documents
    from gui.models.details import detail_text

    detail = session.store.detail(entry.kind, entry.reference)
    return documents.dump(detail, indent=2) if as_json and not isinstance(detail, Path) else detail_text(detail)


def save_profile(profile: "Profile", name: str | None, session: "Session") -> None:
    """Save a new profile, or the changed profile of the server that was called `name`."""
    if name is None:
        session.store.add_profile(profile)
    else:
        session.store.update_profile(profile, name)
        _forget_secrets(name)


def remove_profile(name: str, session: "Session") -> None:
    """Remove a server and its facts from the history."""
    session.store.remove_profile(name)
    _forget_secrets(name)


def _forget_secrets(server: str) -> None:
    """Forget the secrets of a server: they may not fit its changed profile."""
    from core.servers.secrets import session_secrets

    session_secrets.forget_server(server)


def save_move(move: "Move", name: str | None, session: "Session") -> None:
    """Save a new move, or the changed move that was called `name`."""
    if name is None:
        session.store.add_move(move)
    else:
        session.store.update_move(move, name)


def remove_move(name: str, session: "Session") -> None:
    """Remove a move and everything that was measured for it from the history."""
    session.store.remove_move(name)
