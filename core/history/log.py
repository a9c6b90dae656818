"""What happened: commands that ran, reports that were written, and entries of all kinds, newest first."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal, null, or_, select, union_all
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.history.models import (
    CheckPassRow,
    CheckResultRow,
    CommandRow,
    EstimateRow,
    ExecutionRow,
    FactsRow,
    MoveRow,
    PlanRow,
    ProbeRow,
    ProfileRow,
    ReportRow,
    RunRow,
    WaiverRow,
)
from core.history.profiles import move_row
from core.jobs import CommandEnded, CommandStarted


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was run on a server, secrets masked.

    `seconds` None: its end was not seen (it still runs, or the program ended first). `exit_status` None with
    `seconds`: it was cut off.
    """

    at: datetime
    server: str
    user: str
    command: str
    exit_status: int | None
    seconds: float | None
    move: str | None = None
    title: str = ""
    """What it was for; empty where the command says it itself."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the history.

    Attributes:
        kind: `move`, `facts`, `run`, `probe`, `checks`, `estimate`, `plan`, `execution`, `waiver` or `report`.
        move: the move's name; None for the facts of a server.
        title: what, for people.
        reference: its number among those of its kind; Store.detail gives what it is about.
    """

    at: datetime
    kind: str
    move: str | None
    title: str
    reference: int


def record_command(session: Session, move: str | None, event: CommandStarted | CommandEnded) -> None:
    """A start is a new row; an end closes the newest open one of the same move, server and command."""
    move_id = None if move is None else move_row(session, move).id
    if isinstance(event, CommandStarted):
        session.add(
            CommandRow(
                move_id=move_id,
                server=event.server,
                user=event.user,
                title=event.title,
                command=event.command,
                started_at=event.at,
            )
        )
        return
    row = session.scalars(
        select(CommandRow)
        .where(CommandRow.server == event.server, CommandRow.command == event.command, CommandRow.seconds.is_(None))
        .where(CommandRow.move_id.is_(null()) if move_id is None else CommandRow.move_id == move_id)
        .order_by(CommandRow.started_at.desc(), CommandRow.id.desc())
        .limit(1)
    ).one_or_none()
    if row is not None:
        row.exit_status, row.seconds = event.exit_status, event.seconds


def commands(session: Session, move: str | None, limit: int) -> tuple[Command, ...]:
    """The newest commands, of one move or of all."""
    query = select(CommandRow)
    if move is not None:
        query = query.where(CommandRow.move_id == move_row(session, move).id)
    newest = query.order_by(CommandRow.started_at.desc(), CommandRow.id.desc()).limit(limit)
    return tuple(
        Command(
            at=row.started_at,
            server=row.server,
            user=row.user,
            command=row.command,
            exit_status=row.exit_status,
            seconds=row.seconds,
            move=row.move.name if row.move else None,
            title=row.title,
        )
        for row in session.scalars(newest)
    )


def record_report(session: Session, move: str, path: Path) -> None:
    """Record that a report was written."""
    session.add(ReportRow(move_id=move_row(session, move).id, made_at=datetime.now(UTC), path=str(path)))


def entries(session: Session, limit: int, move: str | None) -> tuple[Entry, ...]:
    """Of one move, or of all; a move's include the facts of its servers."""
    move_id = None if move is None else move_row(session, move).id
    everything = union_all(*_selects(move_id)).subquery()
    columns = everything.c
    newest = select(everything).order_by(columns.at.desc(), columns.kind, columns.reference.desc()).limit(limit)
    return tuple(Entry(row.at, row.kind, row.move, row.title, row.reference) for row in session.execute(newest))


def _selects(move_id: int | None) -> list[Select[Any]]:
    """One SELECT a kind, all of the same columns as Entry."""
    kinds: list[tuple[str, type[Any], InstrumentedAttribute[datetime], ColumnElement[str]]] = [
        ("run", RunRow, RunRow.started_at, _run_title()),
        ("probe", ProbeRow, ProbeRow.taken_at, ProbeRow.quantity + ": " + ProbeRow.method),
        ("checks", CheckPassRow, CheckPassRow.taken_at, _checks_title()),
        ("estimate", EstimateRow, EstimateRow.made_at, literal("how long each method takes")),
        ("plan", PlanRow, PlanRow.made_at, "transport: " + PlanRow.transport),
        ("execution", ExecutionRow, ExecutionRow.started_at, ExecutionRow.kind + ": " + ExecutionRow.state),
        ("waiver", WaiverRow, WaiverRow.waived_at, WaiverRow.check + ": " + WaiverRow.reason),
        ("report", ReportRow, ReportRow.made_at, ReportRow.path.expression),
    ]
    selects = [
        _select(kind, at, MoveRow.name.expression, title, table.id).join(MoveRow, MoveRow.id == table.move_id)
        for kind, table, at, title in kinds
    ]
    selects.append(
        _select("move", MoveRow.created_at, MoveRow.name.expression, literal("added"), MoveRow.id.expression)
    )
    facts = _select("facts", FactsRow.taken_at, null(), ProfileRow.name.expression, FactsRow.id.expression)
    facts = facts.join(ProfileRow, ProfileRow.id == FactsRow.profile_id)
    if move_id is None:
        return [*selects, facts]
    uses = select(MoveRow.id).where(
        MoveRow.id == move_id, or_(MoveRow.old_id == ProfileRow.id, MoveRow.new_id == ProfileRow.id)
    )
    return [*(one.where(MoveRow.id == move_id) for one in selects), facts.where(uses.exists())]


def _select(
    kind: str,
    at: InstrumentedAttribute[datetime],
    move: ColumnElement[Any],
    title: ColumnElement[str],
    reference: ColumnElement[int],
) -> Select[Any]:
    return select(
        at.label("at"),
        literal(kind).label("kind"),
        move.label("move"),
        title.label("title"),
        reference.label("reference"),
    )


def _run_title() -> ColumnElement[str]:
    return (
        RunRow.title
        + " on "
        + RunRow.server
        + ":"
        + RunRow.mount_point
        + ", "
        + func.coalesce(RunRow.outcome, "not ended")
    )


def _checks_title() -> ColumnElement[str]:
    def of(status: str) -> ColumnElement[Any]:
        mine = (CheckResultRow.pass_id == CheckPassRow.id, CheckResultRow.status == status)
        return select(func.count()).where(*mine).correlate(CheckPassRow).scalar_subquery()

    return func.printf(
        "blockers: %d, unknown: %d, warnings: %d, passed: %d",
        *(of(status) for status in ("blocker", "unknown", "warning", "pass")),
    )
