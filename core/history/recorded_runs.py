"""Runs, their repetitions and metrics in the history."""

import functools
import json
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session, selectinload

from core.benchmarks.model import ELSEWHERE, Mark, MarkKind, Outcome, Repetition, Run, Volume, Workload
from core.comparison.sets import Start
from core.errors import InputError
from core.history.models import MetricRow, MoveRow, ProfileRow, RepetitionRow, RunRow
from core.history.recorded_profiles import move_row
from core.history.types import GarbledError, member, parsed, storable
from core.sides import Side

_Key = tuple[str | None, str, str, str]
WITHOUT_RAW = selectinload(RunRow.repetitions).defer(RepetitionRow.raw)
LARGEST_ID = 2**63 - 1
"""What SQLite can hold as a number."""


def run_started(session: Session, run: Run, owner: str) -> int:
    """Record a run and return its number; `process` is the token of the process that writes it."""
    row = RunRow(
        move=None if run.move is None else move_row(session, run.move),
        side=side_word(run.volume.side),
        server=run.volume.server,
        mount_point=run.volume.mount_point,
        folder=run.volume.folder,
        workload=run.workload.name,
        title=run.workload.title,
        tool=run.workload.tool,
        tool_version=run.tool_version,
        headline=run.workload.headline,
        parameters=json.dumps(storable(run.workload.parameters), ensure_ascii=False),
        started_at=run.started_at,
        ended_at=run.ended_at,
        outcome=run.outcome.value if run.outcome else None,
        stopped=run.stopped,
        owner=owner if run.outcome is None else None,
    )
    session.add(row)
    session.flush()
    for repetition in run.repetitions:
        repetition_ended(session, row.id, repetition)
    return row.id


def repetition_ended(session: Session, run_id: int, repetition: Repetition) -> None:
    """Record a repetition of a run."""
    row = _row(session, run_id)
    if any(known.number == repetition.number for known in row.repetitions):
        raise InputError(f"run {run_id} already has a repetition {repetition.number}")
    kept = RepetitionRow(
        run_id=run_id,
        number=repetition.number,
        started_at=repetition.started_at,
        seconds=repetition.seconds,
        outcome=repetition.outcome.value,
        command=repetition.command,
        cached=repetition.cached,
        message=repetition.message,
        marks=json.dumps([(mark.kind.value, storable(mark.text)) for mark in repetition.marks], ensure_ascii=False),
        raw=repetition.raw,
    )
    # what is no number was not measured; the raw output still says it
    kept.metrics = [
        MetricRow(name=name, value=value) for name, value in repetition.metrics.items() if math.isfinite(value)
    ]
    session.add(kept)


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run; `stopped`: why no more repetitions were made."""

    outcome: Outcome
    at: datetime
    tool_version: str | None
    stopped: str


def run_ended(session: Session, run_id: int, end: End) -> None:
    """Record the end of a run."""
    row = _row(session, run_id)
    row.outcome, row.ended_at, row.tool_version, row.stopped = end.outcome.value, end.at, end.tool_version, end.stopped
    row.owner = None


def open_owners(session: Session) -> set[str | None]:
    """Return the tokens of the processes whose runs have not ended."""
    return set(session.scalars(select(RunRow.owner).where(RunRow.outcome.is_(None)).distinct()))


def interrupt(session: Session, owner: str | None) -> None:
    """Mark the runs of a dead process as ended, at the end of their last repetition or at their start."""
    of_owner = RunRow.owner.is_(None) if owner is None else RunRow.owner == owner
    for row in session.scalars(select(RunRow).where(RunRow.outcome.is_(None), of_owner)):
        ends = [one.started_at + timedelta(seconds=one.seconds) for one in row.repetitions]
        row.outcome, row.ended_at, row.owner = Outcome.INTERRUPTED.value, max(ends, default=row.started_at), None


def run(session: Session, run_id: int) -> Run:
    """Return the run with this number."""
    return run_of(_row(session, run_id))


def runs(
    session: Session,
    move: str,
    side: Side | None,
    latest_only: bool,
    newest: int | None = None,
    older_than: int | None = None,
    raw: bool = True,
) -> tuple[Run, ...]:
    """The runs of a move in the order of time; all, the latest of each workload, or so many of the newest.

    `older_than`: only runs that began before the run of this number; of the same instant, those with a lower number.
    `raw`: with what the tools printed, which is most of what there is to read.
    """
    of = move_row(session, move)
    query = select(RunRow).where(RunRow.move_id == of.id)
    if side is not None:
        query = query.where(RunRow.side == side.value)
    if latest_only:
        query = query.where(RunRow.id.in_(_latest(session, of)))
    if older_than is not None:
        at = _row(session, older_than).started_at
        query = query.where(or_(RunRow.started_at < at, and_(RunRow.started_at == at, RunRow.id < older_than)))
    latest_first = query.order_by(RunRow.started_at.desc(), RunRow.id.desc()).limit(newest)
    if not raw:
        latest_first = latest_first.options(WITHOUT_RAW)
    return tuple(run_of(row, raw=raw) for row in list(session.scalars(latest_first))[::-1])


def starts(session: Session, newest: int) -> tuple[Start, ...]:
    """Return the starts of suites on one volume each, of all moves and of none, the newest first."""
    of = (RunRow.move_id, RunRow.side, RunRow.server, RunRow.mount_point, RunRow.folder)
    began = func.min(RunRow.started_at)
    query = select(*of, began, func.count()).where(RunRow.outcome == Outcome.DONE.value).group_by(*of)
    known = {ELSEWHERE, *session.scalars(select(ProfileRow.name))}
    names: dict[int | None, str] = {move.id: move.name for move in session.scalars(select(MoveRow))}
    return tuple(
        Start(names.get(move), _side(side), server, mount_point, folder, began_at, count, server not in known)
        for move, side, server, mount_point, folder, began_at, count in session.execute(
            query.order_by(began.desc()).limit(newest)
        )
    )


def runs_of_start(session: Session, start: Start) -> tuple[Run, ...]:
    """Return the runs of one start of a suite, the oldest first."""
    query = select(RunRow).where(
        RunRow.move_id == (None if start.move is None else move_row(session, start.move).id),
        RunRow.side == side_word(start.side),
        RunRow.server == start.server,
        RunRow.mount_point == start.mount_point,
        RunRow.folder == start.folder,
    )
    return tuple(run_of(row) for row in session.scalars(query.order_by(RunRow.started_at, RunRow.id)))


def runs_of_workload(session: Session, move: str, side: Side, tool: str, workload: str, newest: int) -> tuple[Run, ...]:
    """Return the newest completed runs of a workload on the current volume of the move, the oldest first.

    Args:
        side: the server that was measured.
        tool: the name of the tool.
        workload: the name of the workload in its suite.
        newest: the maximum number of runs. Their raw outputs are not read.
    """
    of = move_row(session, move)
    query = select(RunRow).where(
        RunRow.move_id == of.id,
        RunRow.side == side.value,
        RunRow.tool == tool,
        RunRow.workload == workload,
        RunRow.outcome == Outcome.DONE.value,
        _where_the_move_is(of),
    )
    latest_first = query.order_by(RunRow.started_at.desc(), RunRow.id.desc()).limit(newest)
    return tuple(run_of(row, raw=False) for row in list(session.scalars(latest_first.options(WITHOUT_RAW)))[::-1])


def runs_on(session: Session, server: str) -> tuple[Run, ...]:
    """Return all runs on a server, the oldest first, whether or not they belong to a move."""
    query = select(RunRow).where(RunRow.server == server).order_by(RunRow.started_at, RunRow.id)
    return tuple(run_of(row) for row in session.scalars(query))


def measured_at(session: Session, move: str) -> dict[Side, datetime]:
    """Return when the latest completed run on the current machine and volume of each side has ended."""
    of = move_row(session, move)
    done = select(RunRow.ended_at).where(
        RunRow.move_id == of.id,
        RunRow.outcome == Outcome.DONE.value,
        RunRow.ended_at.is_not(None),
        _where_the_move_is(of),
    )
    # one row of an index: max() would look at each run of the move
    newest = done.order_by(RunRow.started_at.desc(), RunRow.id.desc()).limit(1)
    ended = {side: session.scalar(newest.where(RunRow.side == side.value)) for side in Side}
    return {side: at for side, at in ended.items() if at is not None}


def _latest(session: Session, of: MoveRow) -> list[int]:
    """Of each side, workload and parameters the newest run that is done; where none is, the newest.

    A run on a server, machine or volume that the move no longer names says nothing about it.
    """
    told = (RunRow.id, RunRow.side, RunRow.tool, RunRow.workload, RunRow.parameters, RunRow.outcome)
    rows = session.execute(
        select(*told).where(RunRow.move_id == of.id, _where_the_move_is(of)).order_by(RunRow.started_at, RunRow.id)
    )
    latest: dict[_Key, tuple[int, str | None]] = {}
    for number, side, tool, workload, parameters, outcome in rows:
        key = (side, tool, workload, _sorted(parameters))
        known = latest.get(key)
        if known is None or outcome == Outcome.DONE or known[1] != Outcome.DONE:
            latest[key] = number, outcome
    return [number for number, _outcome in latest.values()]


@functools.lru_cache(maxsize=1024)
def _sorted(parameters: str) -> str:
    """Return the key by which runs are compared: a workload with other parameters is another workload."""
    return json.dumps(json.loads(parameters), sort_keys=True)


def _where_the_move_is(of: MoveRow) -> ColumnElement[bool]:
    """Return the condition for runs on the current machine and volume of the move."""
    sides = ((Side.OLD, of.old, of.old_volume), (Side.NEW, of.new, of.new_volume))
    return or_(
        *(
            and_(
                RunRow.side == side.value,
                RunRow.server == server.name,
                RunRow.mount_point == volume,
                *([RunRow.started_at >= server.changed_at] if server.changed_at is not None else []),
            )
            for side, server, volume in sides
        )
    )


def _row(session: Session, run_id: int) -> RunRow:
    row = session.get(RunRow, run_id) if 0 < run_id <= LARGEST_ID else None
    if row is None:
        raise InputError(f"there is no run {run_id}", "list the runs of a move with: pghaul history runs MOVE")
    return row


def run_of(row: RunRow, *, raw: bool = True) -> Run:
    """Return the run of a row; without `raw` its outputs are empty."""
    return Run(
        move=None if row.move is None else row.move.name,
        volume=Volume(_side(row.side), row.server, row.mount_point, row.folder),
        workload=Workload(row.workload, row.title, row.tool, row.headline, parsed(dict, row.parameters)),
        started_at=row.started_at,
        outcome=member(Outcome, row.outcome) if row.outcome else None,
        ended_at=row.ended_at,
        repetitions=tuple(_repetition(repetition, raw) for repetition in row.repetitions),
        tool_version=row.tool_version,
        id=row.id,
        stopped=row.stopped,
    )


def side_word(side: Side | None) -> str | None:
    """Return the side as it is recorded."""
    return None if side is None else side.value


def _side(word: str | None) -> Side | None:
    return None if word is None else member(Side, word)


def _repetition(row: RepetitionRow, raw: bool) -> Repetition:
    return Repetition(
        number=row.number,
        started_at=row.started_at,
        seconds=row.seconds,
        outcome=member(Outcome, row.outcome),
        metrics={metric.name: metric.value for metric in row.metrics},
        command=row.command,
        raw=row.raw if raw else "",
        cached=row.cached,
        message=row.message,
        marks=tuple(_mark(pair) for pair in parsed(list, row.marks)),
    )


def _mark(pair: object) -> Mark:
    match pair:
        case [str(kind), str(text)]:
            return Mark(member(MarkKind, kind), text)
        case _:
            raise GarbledError(f"{pair!r} is not a mark")
