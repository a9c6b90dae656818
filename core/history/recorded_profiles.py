"""Server profiles and moves in the history, and what may be their names."""

import dataclasses
import json
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, TypeVar

from sqlalchemy import Select, func, or_, select, true, update
from sqlalchemy.orm import Session, aliased, joinedload

from core.benchmarks.model import ELSEWHERE
from core.comparison.sets import is_place_on_server
from core.errors import InputError
from core.history.models import CommandRow, MoveRow, ProfileRow, RunRow
from core.history.types import member, of_type, parsed, storable
from core.migration.model.move import EditedSettings, Move
from core.servers.profiles import Profile, Rights

T = TypeVar("T")

# Names that a DBA gives to servers and moves: what may be one.

LONGEST_NAME = 100
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of writing: a name with one looks like another name."""


def checked_name(what: str, name: str) -> str:
    """The name, if it can be one of a `what` (`server`, `move`).

    Raises:
        InputError: it is empty, too long, has spaces around it, or characters that cannot be seen; or commands would
            take the name of a move for a volume.
    """
    if not name.strip():
        raise InputError(f"the name of the {what} is empty", f"give the {what} a name")
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"the name of the {what} has {len(name)} characters: {name[:20]!r}…",
            f"use at most {LONGEST_NAME} characters",
        )
    unseen = [c for c in name if unicodedata.category(c) in _UNSEEN or c in _DIRECTIONS]
    if unseen:
        raise InputError(
            f"the name of the {what} {name!r} contains an invisible character: U+{ord(unseen[0]):04X}",
            "type the name again",
        )
    if what == "server" and name == ELSEWHERE:
        raise InputError(
            f"a server cannot be called {ELSEWHERE}: this name is reserved for imported results",
            "choose another name",
        )
    if what == "move" and is_place_on_server(name):
        raise InputError(f"the name of the move {name!r} reads like a volume of a server", "leave out the colon")
    if name != name.strip():
        raise InputError(f"the name of the {what} {name!r} begins or ends with a space", "remove the space")
    return name


# Server profiles and moves in the history.

_MACHINE = ("address", "port", "jump")
"""What of a profile says which machine it is; the rest says how it is used."""


def add_profile(session: Session, profile: Profile) -> None:
    """Add the profile of a new server. What is recorded under its name is of another server, which was removed."""
    _refuse_taken_server(session, checked_name("server", profile.name))
    row = _fill_profile(ProfileRow(), profile)
    if session.scalar(select(CommandRow.id).where(CommandRow.server == profile.name).limit(1)) is not None:
        row.changed_at = datetime.now(UTC)
    session.add(row)


def update_profile(session: Session, name: str, profile: Profile) -> None:
    """Change the server called `name`; runs and commands follow its new name.

    Where it is another machine now, its facts and runs are of the past; where anything but its name changed, so is what
    was found for its moves.
    """
    row = profile_row(session, name)
    before = _profile(row)
    if any(getattr(before, field) != getattr(profile, field) for field in _MACHINE):
        row.changed_at = datetime.now(UTC)
    if dataclasses.replace(before, name=profile.name) != profile:
        change_moves_of(session, row, datetime.now(UTC))
    if profile.name != name:
        _refuse_taken_server(session, checked_name("server", profile.name))
        for table in (RunRow, CommandRow):
            session.execute(update(table).where(table.server == name).values(server=profile.name))
    _fill_profile(row, profile)


def change_moves_of(session: Session, row: ProfileRow, since: datetime) -> None:
    """Record that a server is another one since then: what was found for its moves before is of the past.

    A move that was changed later stays so: what was found between is of what it was before that.
    """
    uses = or_(MoveRow.old_id == row.id, MoveRow.new_id == row.id)
    earlier = or_(MoveRow.changed_at.is_(None), MoveRow.changed_at < since)
    session.execute(update(MoveRow).where(uses, earlier).values(changed_at=since))


def put_profile(session: Session, profile: Profile) -> None:
    """Add the profile of a server, or replace the one with the same name."""
    if _has_server(session, profile.name):
        update_profile(session, profile.name, profile)
    else:
        add_profile(session, profile)


def profile(session: Session, name: str) -> Profile:
    """Return the profile of a server."""
    return _profile(profile_row(session, name))


def profiles(session: Session) -> tuple[Profile, ...]:
    """Return the profiles of all servers, sorted by name."""
    return tuple(_profile(row) for row in session.scalars(select(ProfileRow).order_by(ProfileRow.name)))


def remove_profile(session: Session, name: str) -> None:
    """Remove a server and its facts. Raises InputError if a move uses it."""
    row = profile_row(session, name)
    using = session.scalars(
        select(MoveRow.name).where(or_(MoveRow.old_id == row.id, MoveRow.new_id == row.id)).order_by(MoveRow.name)
    ).all()
    if using:
        raise InputError(
            f"the server {name!r} is used by the move {', '.join(map(repr, using))}",
            "remove the move first, or give it another server",
        )
    session.delete(row)


def profile_row(session: Session, name: str) -> ProfileRow:
    """Return the row of a server. Raises InputError, which lists the known servers, if there is none."""
    row = session.scalar(select(ProfileRow).where(ProfileRow.name == name))
    if row is None:
        raise InputError(f"the server {name!r} does not exist", _known(session, "server", ProfileRow))
    return row


def add_move(session: Session, move: Move) -> None:
    """Add a new move."""
    _refuse_taken_move(session, checked_name("move", move.name))
    row = MoveRow(created_at=datetime.now(UTC))
    _fill_move(session, row, move)
    session.add(row)


def update_move(session: Session, name: str, move: Move) -> None:
    """Change the move called `name`; where it is another one now, what was found for it is of the past.

    Its name, which settings hold on the new server, and the limit of the pre-copy passes change nothing of what was
    measured.
    """
    row = move_row(session, name)
    kept = dataclasses.replace(move_of(row), name=move.name, edited=move.edited, precopy_limit=move.precopy_limit)
    if kept != move:
        row.changed_at = datetime.now(UTC)
    if move.name != name:
        _refuse_taken_move(session, checked_name("move", move.name))
    _fill_move(session, row, move)


def put_move(session: Session, move: Move) -> None:
    """Add a move, or replace the one with the same name."""
    if _has_move(session, move.name):
        update_move(session, move.name, move)
    else:
        add_move(session, move)


def move(session: Session, name: str) -> Move:
    """Return the move with this name."""
    return move_of(move_row(session, name))


def moves(session: Session, limit: int | None = None, after: str | None = None) -> tuple[Move, ...]:
    """Return the moves sorted by name: all of them or at most so many, and only those after a name."""
    after_it = true() if after is None else MoveRow.name > after
    return read_moves(session, select_moves().where(after_it).order_by(MoveRow.name).limit(limit))


def select_moves() -> Select[*tuple[Any, ...]]:
    """Return the query of all moves, for `read_moves`. To load their rows as objects would take longest with many."""
    old, new = aliased(ProfileRow), aliased(ProfileRow)
    return (
        select(*_MOVE, old.name.label("old_name"), new.name.label("new_name"))
        .join(old, old.id == MoveRow.old_id)
        .join(new, new.id == MoveRow.new_id)
    )


def read_moves(session: Session, query: Select[*tuple[Any, ...]]) -> tuple[Move, ...]:
    """Return the moves of a query that `select_moves` has begun."""
    return tuple(_move(row, row.old_name, row.new_name) for row in session.execute(query))


def count_moves(session: Session) -> int:
    """Return the number of all moves."""
    return session.scalar(select(func.count()).select_from(MoveRow)) or 0


def batched(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the values in parts. A query may name only so many of them, and what is read of a part is let go again."""
    for first in range(0, len(values), _BATCH):
        yield values[first : first + _BATCH]


def move_row(session: Session, name: str) -> MoveRow:
    """Return the row of a move. Raises InputError, which lists the known moves, if there is none."""
    row = session.scalar(select(MoveRow).where(MoveRow.name == name))
    if row is None:
        raise InputError(f"the move {name!r} does not exist", _known(session, "move", MoveRow))
    return row


def _has_server(session: Session, name: str) -> bool:
    return session.scalar(select(ProfileRow.id).where(ProfileRow.name == name)) is not None


def _has_move(session: Session, name: str) -> bool:
    return session.scalar(select(MoveRow.id).where(MoveRow.name == name)) is not None


def _refuse_taken_server(session: Session, name: str) -> None:
    if _has_server(session, name):
        raise InputError(f"the server {name!r} exists already", "choose another name, or change the existing server")


def _refuse_taken_move(session: Session, name: str) -> None:
    if _has_move(session, name):
        raise InputError(f"the move {name!r} exists already", "choose another name, or change the existing move")


def _known(session: Session, what: str, table: type[ProfileRow] | type[MoveRow]) -> str:
    names = session.scalars(select(table.name).order_by(table.name)).all()
    if not names:
        return f"add one with: pghaul {what} add"
    return f"known {what}s: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}"


def _fill_profile(row: ProfileRow, profile: Profile) -> ProfileRow:
    row.name, row.address, row.user, row.port = profile.name, profile.address, profile.user, profile.port
    row.identity_file, row.jump, row.rights = profile.identity_file, profile.jump, profile.rights.value
    row.database_user, row.copy_address = profile.database_user, profile.copy_address
    return row


def _profile(row: ProfileRow) -> Profile:
    return Profile(
        name=row.name,
        address=row.address,
        user=row.user,
        port=row.port,
        identity_file=row.identity_file,
        jump=row.jump,
        rights=member(Rights, row.rights),
        database_user=row.database_user,
        copy_address=row.copy_address,
    )


def _fill_move(session: Session, row: MoveRow, move: Move) -> None:
    cluster, target = PurePosixPath(move.cluster), PurePosixPath(move.target)
    if move.old == move.new and (cluster.is_relative_to(target) or target.is_relative_to(cluster)):
        raise InputError(
            f"the move {move.name!r} would copy {move.cluster} on {move.old} into itself",
            "choose a target that is neither inside the data directory nor contains it",
        )
    row.name, row.cluster, row.target = move.name, move.cluster, move.target
    row.old, row.new = profile_row(session, move.old), profile_row(session, move.new)
    row.old_volume, row.new_volume = move.old_volume, move.new_volume
    row.tablespace_targets = json.dumps(storable(move.tablespace_targets), ensure_ascii=False)
    row.plain_text = move.plain_text
    row.edited = None if move.edited is None else move.edited.value
    row.precopy_limit = move.precopy_limit


def move_of(row: MoveRow) -> Move:
    """Return the move of a row."""
    return _move(row, row.old.name, row.new.name)


def _move(row: Any, old: str, new: str) -> Move:
    """Return the move of a MoveRow, or of a row with the columns `_MOVE`."""
    return Move(
        name=row.name,
        old=old,
        new=new,
        cluster=row.cluster,
        target=row.target,
        old_volume=row.old_volume,
        new_volume=row.new_volume,
        tablespace_targets={
            here: of_type(str, there, "location") for here, there in parsed(dict, row.tablespace_targets).items()
        },
        plain_text=row.plain_text,
        edited=None if row.edited is None else member(EditedSettings, row.edited),
        precopy_limit=row.precopy_limit,
    )


_MOVE = (
    MoveRow.name,
    MoveRow.cluster,
    MoveRow.target,
    MoveRow.old_volume,
    MoveRow.new_volume,
    MoveRow.tablespace_targets,
    MoveRow.plain_text,
    MoveRow.edited,
    MoveRow.precopy_limit,
)
"""The columns that `_move` reads."""
WITH_SERVERS = joinedload(MoveRow.old), joinedload(MoveRow.new)
"""Reads a move's servers in the query of the move."""
_BATCH = 500
