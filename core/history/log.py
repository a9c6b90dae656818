"""What happened: entries of all kinds, newest first, what stands behind each, and the notes to them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Float,
    Row,
    Select,
    Text,
    and_,
    case,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    union,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute, Session, selectinload

from core import units
from core.benchmarks.model import Run
from core.errors import InputError
from core.facts.model import Facts
from core.history.executions import execution_of
from core.history.findings import checks_of, estimate_of, facts_of, plan_of, probe_of, waiver_of
from core.history.models import (
    Base,
    CheckPassRow,
    CheckResultRow,
    CommandRow,
    EstimateRow,
    ExecutionRow,
    FactsRow,
    MoveRow,
    OfMove,
    PlanRow,
    ProbeRow,
    ProfileRow,
    ReportRow,
    RunRow,
    WaiverRow,
)
from core.history.recorded_profiles import batched, move_of, move_row, profile_row, read_moves, select_moves
from core.history.recorded_runs import LARGEST_ID, run_of
from core.history.types import UtcDateTime
from core.jobs import CommandEnded, CommandStarted
from core.migration.model.checks import CheckResult, Status, Tally, Waiver, tally
from core.migration.model.estimate import Estimate
from core.migration.model.execution import COPY_REHEARSAL, DRESS_REHEARSAL, Execution, Kind, execution_name
from core.migration.model.move import Move
from core.migration.model.plan import Phase, Plan
from core.migration.model.probe import Probe
from core.servers.profiles import Profile
from core.servers.shell import command

# What a person notes to an entry of the history. A word behind `#` in a note is a tag.

LONGEST_NOTE = 10_000
"""Characters of a note."""
_TAG = re.compile(r"(?<![\w#&/])#(\w[\w-]*)")
"""No part of a link (`page#part`) or of an entity (`&#8364;`)."""


def tags_of(note: str) -> tuple[str, ...]:
    """Return the tags in a note in lower case, each once, in their order."""
    return tuple(dict.fromkeys(word.rstrip("-").lower() for word in _TAG.findall(note)))


def note_of(session: Session, kind: str, reference: int) -> str:
    """What was noted to the entry of that kind and reference; empty: nothing.

    Raises:
        InputError: there is no such entry.
    """
    return row_of(session, kind, reference).note or ""


def set_note(session: Session, kind: str, reference: int, note: str, at: datetime | None = None) -> str:
    """Note that in the stead of what was noted before, which is handed out; an empty one takes it away.

    `at`: the time of the entry, where it has to be the very one that was seen.

    Raises:
        InputError: there is no such entry, or it is another one by now, or the note is too long.
    """
    if len(note) > LONGEST_NOTE:
        raise InputError(f"the note has {len(note)} characters", f"use at most {LONGEST_NOTE} characters")
    row = row_of(session, kind, reference, at)
    before = row.note or ""
    row.note = note.strip() or None
    return before


# What stands behind one entry of the history: the very thing that was recorded then, not the latest of its kind.

Detail = Move | Facts | Run | Probe | tuple[CheckResult, ...] | Estimate | Plan | Execution | Waiver | Path

_KINDS: dict[str, tuple[type[Base], InstrumentedAttribute[datetime], Callable[[Any], Detail]]] = {
    "move": (MoveRow, MoveRow.created_at, move_of),
    "facts": (FactsRow, FactsRow.taken_at, facts_of),
    "run": (RunRow, RunRow.started_at, run_of),
    "probe": (ProbeRow, ProbeRow.taken_at, probe_of),
    "checks": (CheckPassRow, CheckPassRow.taken_at, checks_of),
    "estimate": (EstimateRow, EstimateRow.made_at, estimate_of),
    "plan": (PlanRow, PlanRow.made_at, plan_of),
    "execution": (ExecutionRow, ExecutionRow.started_at, execution_of),
    "waiver": (WaiverRow, WaiverRow.waived_at, waiver_of),
    "report": (ReportRow, ReportRow.made_at, lambda row: Path(row.path)),
}
KINDS = tuple(_KINDS)
"""Every kind of Entry."""


def detail(session: Session, kind: str, reference: int) -> Detail:
    """What the entry of that kind and reference is about; of a report, where it was written."""
    row = row_of(session, kind, reference)
    _table, _at, read = _KINDS[kind]
    return read(row)


def row_of(session: Session, kind: str, reference: int, at: datetime | None = None) -> Any:
    """Its row, which is Noted; `at`: the time that it has to be of, for the number of what is removed is given anew.

    Raises:
        InputError: there is no such entry.
    """
    _refuse_unknown_kind(kind)
    table, made_at, _read = _KINDS[kind]
    row = session.get(table, reference) if 0 < reference <= LARGEST_ID else None
    if row is None:
        raise InputError(f"the history has no {kind} {reference}", "list the numbers with: pghaul history list")
    if at is not None and getattr(row, made_at.key) != at:
        raise InputError(f"{kind} {reference} has changed since it was shown", "find the entry in the list again")
    return row


def _refuse_unknown_kind(kind: str) -> None:
    if kind not in _KINDS:
        raise InputError(f"the history has no entries of the kind {kind!r}", f"use one of: {', '.join(KINDS)}")


# What happened: commands that ran, reports that were written, and entries of all kinds, newest first.

_TIMES: tuple[InstrumentedAttribute[datetime], ...] = (
    RunRow.started_at,
    ProbeRow.taken_at,
    CheckPassRow.taken_at,
    EstimateRow.made_at,
    PlanRow.made_at,
    ExecutionRow.started_at,
    WaiverRow.waived_at,
    ReportRow.made_at,
)
"""Of the kinds of entries that are of one move."""
_SSH_FAILED = 255
"""ssh(1): its own exit status where it could not do what was asked."""


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
    """The purpose of the command; empty if the command itself tells it."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an entry in the list of all entries, which it keeps when it is removed."""

    at: datetime
    kind: str
    reference: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the history.

    Attributes:
        kind: `move`, `facts`, `run`, `probe`, `checks`, `estimate`, `plan`, `execution`, `waiver` or `report`.
        move: the move's name; None for the facts of a server, and for a run that belongs to no move.
        title: what, for people.
        reference: its number among those of its kind; Store.detail gives what it is about.
        note: what a person noted to it; `tags`: the words behind a # in it.
        server: of facts and runs.
        subject: what it is about: the workload of a run, the quantity of a probe, which execution, which check.
        result: how it ended, or what it found; empty where that is no word or sentence.
        seconds: how long it took; None where that is not recorded, or it has not ended.
        bytes_per_second: what a probe has measured.
    """

    at: datetime
    kind: str
    move: str | None
    title: str
    reference: int
    note: str = ""
    tags: tuple[str, ...] = ()
    server: str | None = None
    subject: str = ""
    result: str = ""
    seconds: float | None = None
    bytes_per_second: float | None = None

    @property
    def place(self) -> Place:
        """Its place in the list of all entries."""
        return Place(self.at, self.kind, self.reference)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries are wanted; the default wants all of them.

    Attributes:
        move: those of this move, and the facts of its servers.
        kind: those of this kind.
        server: the facts and runs of this server, and all other entries of the moves that use it.
        since: those from this time on.
        before: those before this time.
        tag: those whose note has this tag; empty: those that have a note.
        below: those that come below this place in the list of all entries.
    """

    move: str | None = None
    kind: str | None = None
    server: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    tag: str | None = None
    below: Place | None = None


ALL = Filter()


def record_command(session: Session, move: str | None, event: CommandStarted | CommandEnded) -> None:
    """Record a command: a start adds a row, an end completes the newest open row of that move, server and command."""
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


def record_unread(session: Session, profile: Profile, sentence: str) -> None:
    """That a server could not be read, as the command that ssh would be: its exit status is ssh's own for that."""
    at = datetime.now(UTC)
    address = command("ssh", profile.address).shown
    session.add(
        CommandRow(
            server=profile.name,
            user=profile.user or "",
            title=sentence,
            command=address,
            started_at=at,
            exit_status=_SSH_FAILED,
            seconds=0.0,
        )
    )


def unread(session: Session) -> dict[str, tuple[datetime, str]]:
    """Return for each server when its facts could not be read last, and why; not of the machine that it was before."""
    failed = CommandRow.command.startswith("ssh ") & (CommandRow.exit_status == _SSH_FAILED)
    now = or_(ProfileRow.changed_at.is_(None), CommandRow.started_at >= ProfileRow.changed_at)
    rows = session.scalars(
        select(CommandRow)
        .join(ProfileRow, ProfileRow.name == CommandRow.server)
        .where(failed, CommandRow.move_id.is_(None), now)
        .order_by(CommandRow.id)
    )
    return {row.server: (row.started_at, row.title) for row in rows}


def commands(
    session: Session,
    move: str | None,
    limit: int,
    server: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
) -> tuple[Command, ...]:
    """Return the newest commands of one move or of all moves, on a server and in a period."""
    query = select(CommandRow).options(selectinload(CommandRow.move))
    if move is not None:
        query = query.where(CommandRow.move_id == move_row(session, move).id)
    if server is not None:
        query = query.where(CommandRow.server == server)
    if since is not None:
        query = query.where(CommandRow.started_at >= since)
    if before is not None:
        query = query.where(CommandRow.started_at < before)
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


def entries(session: Session, limit: int, which: Filter = ALL) -> tuple[Entry, ...]:
    """Return at most so many entries, the newest first."""
    found: list[Entry] = []
    while True:
        page = _page(session, limit, which)
        found += [entry for entry in page if _is_tagged(entry, which.tag)]
        if len(page) < limit or len(found) >= limit:
            return _with_counts(session, _with_dress_rehearsals(session, tuple(found[:limit])))
        which = replace(which, below=page[-1].place)  # some of the page only looked as if they had the tag


def place(session: Session, kind: str, reference: int) -> Place:
    """Return the place of the entry of that kind and number. Raises InputError if there is none."""
    row = row_of(session, kind, reference)
    _table, made_at, _read = _KINDS[kind]
    return Place(getattr(row, made_at.key), kind, reference)


def _page(session: Session, limit: int, which: Filter) -> tuple[Entry, ...]:
    """Return the newest entries. Of a tag the database only knows the letters, so some may not have it."""
    everything = union_all(*_selects(session, limit, which)).subquery()
    columns = everything.c
    newest = select(everything).order_by(columns.at.desc(), columns.kind, columns.reference.desc()).limit(limit)
    return tuple(map(_entry, session.execute(newest)))


def _is_tagged(entry: Entry, tag: str | None) -> bool:
    return not tag or tag.lstrip("#").lower() in entry.tags


def _with_dress_rehearsals(session: Session, found: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the entries with the titles of dress rehearsals, which only the plan of an execution tells apart."""
    executions = [entry.reference for entry in found if entry.kind == "execution"]
    # every quotation mark inside a JSON string is escaped, so this is the phase of a step
    phase = f'"phase":"{Phase.DRESS.value}"'
    titles: dict[int, str] = {}
    for numbers in batched(executions):
        rows = session.execute(
            select(ExecutionRow.id, ExecutionRow.state, ExecutionRow.plan).where(
                ExecutionRow.kind == Kind.REHEARSAL.value, ExecutionRow.id.in_(numbers)
            )
        )
        titles |= {number: f"{DRESS_REHEARSAL}: {state}" for number, state, plan in rows if phase in plan}
    return tuple(
        replace(entry, title=titles[entry.reference], subject=DRESS_REHEARSAL)
        if entry.kind == "execution" and entry.reference in titles
        else entry
        for entry in found
    )


def _with_counts(session: Session, found: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the entries, those of checks with how many results there are of each kind."""
    results: dict[int, list[CheckResult]] = {entry.reference: [] for entry in found if entry.kind == "checks"}
    kind = CheckResultRow.pass_id, CheckResultRow.status, CheckResultRow.blocking, CheckResultRow.pending
    for numbers in batched([*results]):
        mine = (CheckResultRow.pass_id.in_(numbers), CheckResultRow.status.in_([*Status]))
        query = select(*kind, func.count()).where(*mine).group_by(*kind)
        for number, status, blocking, pending, times in session.execute(query):
            one = CheckResult("", "", Status(status), "", "", "", blocking=blocking, pending=bool(pending))
            results[number] += [one] * times
    said = {number: _counts(tally(of)) for number, of in results.items()}
    return tuple(
        replace(entry, title=said[entry.reference], result=said[entry.reference]) if entry.kind == "checks" else entry
        for entry in found
    )


def _counts(found: Tally) -> str:
    blockers, unknown, pending = found.blockers, found.unanswered + found.unknown, found.pending
    warnings, passed = found.warnings, found.passed
    if pending:
        return (
            f"blockers: {blockers}, unknown: {unknown}, to run first: {pending}, warnings: {warnings}, passed: {passed}"
        )
    return f"blockers: {blockers}, unknown: {unknown}, warnings: {warnings}, passed: {passed}"


def moves_newest_first(session: Session, limit: int | None = None) -> tuple[Move, ...]:
    """Return all moves or at most so many, the one with the latest entry first, then by name."""
    # of each kind the newest time of each move, from an index: to look for the times of each move takes longer
    times = [(at.class_.move_id, at) for at in _TIMES]
    of_kinds = union_all(
        select(MoveRow.id.label("move_id"), MoveRow.created_at.label("at")),
        *(select(move, func.max(at)).group_by(move) for move, at in times),
    )
    latest = of_kinds.subquery().c
    latest_at = select(latest.move_id, func.max(latest.at).label("at")).group_by(latest.move_id).subquery().c
    query = select_moves().join(latest_at.at.table, latest_at.move_id == MoveRow.id)
    return read_moves(session, query.order_by(latest_at.at.desc(), MoveRow.name).limit(limit))


def _entry(row: Row[Any]) -> Entry:
    at, kind, move, title, reference, noted, server, subject, result, ended_at, seconds, rate = tuple(row)
    note = noted or ""
    return Entry(
        at,
        kind,
        move,
        title,
        reference,
        note,
        tags_of(note),
        server=server,
        subject=subject,
        result=result,
        seconds=seconds if ended_at is None else units.seconds_between(at, ended_at),
        bytes_per_second=rate,
    )


_NO_TEXT = literal("")
_NO_SERVER, _NO_TIME, _NO_NUMBER = cast(null(), Text), cast(null(), UtcDateTime), cast(null(), Float)


@dataclass(frozen=True, slots=True)
class _Told:
    """The columns of an entry that not every kind has; see Entry."""

    subject: ColumnElement[str] = _NO_TEXT
    result: ColumnElement[str] = _NO_TEXT
    server: ColumnElement[Any] = _NO_SERVER
    ended_at: ColumnElement[Any] = _NO_TIME
    seconds: ColumnElement[Any] = _NO_NUMBER
    rate: ColumnElement[Any] = _NO_NUMBER


def _selects(session: Session, limit: int, which: Filter) -> list[Select[Any]]:
    """One SELECT for each wanted kind, all of the same columns as Entry, and of each no more than could be shown.

    Which these are is told by time and number alone, from an index: what they are called is put together afterwards.
    """
    outcome = func.coalesce(RunRow.outcome, "not ended")
    run_title = RunRow.title + " on " + RunRow.server + ":" + RunRow.mount_point + ", " + outcome
    run = _Told(RunRow.title.expression, outcome, server=RunRow.server.expression, ended_at=RunRow.ended_at.expression)
    probe = _Told(
        ProbeRow.quantity.expression,
        seconds=ProbeRow.seconds.expression,
        rate=ProbeRow.bytes_per_second.expression,
    )
    executed = _execution_name()
    execution = _Told(executed, ExecutionRow.state.expression, ended_at=ExecutionRow.ended_at.expression)
    waiver = _Told(WaiverRow.check.expression, WaiverRow.reason.expression)
    server = ProfileRow.name.expression
    read = _Told(server=server, seconds=FactsRow.seconds.expression)
    path, transport = ReportRow.path.expression, PlanRow.transport.expression
    move = MoveRow.name.expression
    kinds: dict[str, tuple[ColumnElement[str], _Told]] = {
        "run": (run_title, run),
        "probe": (ProbeRow.quantity + ": " + ProbeRow.method, probe),
        "checks": (_NO_TEXT, _Told()),  # see `_with_counts`
        "estimate": (literal("how long each method takes"), _Told()),
        "plan": ("transport: " + PlanRow.transport, _Told(result=transport)),
        "execution": (executed + ": " + ExecutionRow.state, execution),
        "waiver": (WaiverRow.check + ": " + WaiverRow.reason, waiver),
        "report": (path, _Told(result=path)),
        "move": (literal("added"), _Told()),
        "facts": (server, read),
    }
    move_id = None if which.move is None else move_row(session, which.move).id
    if which.kind is not None:
        _refuse_unknown_kind(which.kind)
    if which.server is not None:
        _refuse_unknown_server(session, which.server)
    selects = []
    for kind, (title, told) in kinds.items():
        if which.kind in {None, kind}:
            table, at, _read = _KINDS[kind]
            columns = _select(kind, at, null() if kind == "facts" else move, title, table, told)
            if kind == "facts":
                columns = columns.join(ProfileRow, ProfileRow.id == FactsRow.profile_id)
            elif issubclass(table, OfMove):
                columns = columns.join(MoveRow, MoveRow.id == table.move_id, isouter=kind == "run")
            wanted = [*_of_move(table, move_id), *_of_server(table, which.server), *_of_time(kind, at, which)]
            selects.append(columns.where(_newest(table, at, limit, *wanted, *_noted(table, which.tag))))
    return selects


def _of_move(table: type[Base], move_id: int | None) -> list[ColumnElement[bool]]:
    """Return the condition for the entries of a move and for the facts of its servers."""
    if move_id is None:
        return []
    if issubclass(table, OfMove):
        return [table.move_id == move_id]
    if table is MoveRow:
        return [MoveRow.id == move_id]
    used = union(*(select(each).where(MoveRow.id == move_id) for each in (MoveRow.old_id, MoveRow.new_id)))
    return [FactsRow.profile_id.in_(used)]


def _of_server(table: type[Base], server: str | None) -> list[ColumnElement[bool]]:
    """Return the condition for the facts and runs of a server, and for what else is recorded of its moves."""
    if server is None:
        return []
    if table is RunRow:
        return [RunRow.server == server]
    profile = select(ProfileRow.id).where(ProfileRow.name == server).scalar_subquery()
    uses = or_(MoveRow.old_id == profile, MoveRow.new_id == profile)
    if issubclass(table, OfMove):
        return [table.move_id.in_(select(MoveRow.id).where(uses))]
    return [uses] if table is MoveRow else [FactsRow.profile_id == profile]


def _refuse_unknown_server(session: Session, server: str) -> None:
    """Raise InputError if there is no such server. One that was removed may still have runs."""
    if session.scalar(select(RunRow.id).where(RunRow.server == server).limit(1)) is None:
        profile_row(session, server)


def _of_time(kind: str, at: InstrumentedAttribute[datetime], which: Filter) -> list[ColumnElement[bool]]:
    """Return the conditions for the period, and for the entries below another one in the order of the list."""
    wanted = [] if which.since is None else [at >= which.since]
    if which.before is not None:
        wanted.append(at < which.before)
    if (below := which.below) is not None:
        older = at.class_.id < below.reference if kind == below.kind else literal(kind > below.kind)
        wanted.append(or_(at < below.at, and_(at == below.at, older)))
    return wanted


def _noted(table: type[Any], tag: str | None) -> list[ColumnElement[bool]]:
    """Return the condition for entries with a note in which the letters of the tag occur."""
    if tag is None:
        return []
    word = tag.lstrip("#")
    if not word:
        return [table.note.is_not(None)]
    # what is not ASCII has other small letters in each database: it is compared afterwards
    return [table.note.icontains(f"#{word}" if word.isascii() else "#", autoescape=True)]


def _newest(
    table: type[Any], at: InstrumentedAttribute[datetime], limit: int, *which: ColumnElement[bool]
) -> ColumnElement[bool]:
    """Return the condition for the newest rows of those that meet these conditions."""
    newest = select(table.id).where(*which).order_by(at.desc(), table.id.desc()).limit(limit)
    return table.id.in_(newest)  # type: ignore[no-any-return]  # of each table


def _select(
    kind: str,
    at: InstrumentedAttribute[datetime],
    move: ColumnElement[Any],
    title: ColumnElement[str],
    table: type[Any],
    told: _Told,
) -> Select[Any]:
    return select(
        at.label("at"),
        literal(kind).label("kind"),
        move.label("move"),
        title.label("title"),
        table.id.label("reference"),
        table.note.label("note"),
        told.server.label("server"),
        told.subject.label("subject"),
        told.result.label("result"),
        told.ended_at.label("ended_at"),
        told.seconds.label("seconds"),
        told.rate.label("rate"),
    )


def _execution_name() -> ColumnElement[str]:
    """`move` or `copy rehearsal`; only the plan tells a dress rehearsal apart."""
    real = ExecutionRow.kind == Kind.REAL.value
    return case((real, literal(execution_name(Kind.REAL, dressed=False))), else_=literal(COPY_REHEARSAL))
