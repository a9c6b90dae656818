"""A move as one archive: a zip of JSON and texts that another workstation takes into its history, whole or not at all.

Another kind of archive has no move, but the runs of volumes that belong to none.

    archive.json            what it is, and the SHA-256 of each other member
    tables/TABLE.json       the rows that belong to the move, or to the volumes
    texts/TABLE/COLUMN/ID   what tools printed, and documents

It bears no seal: what was recorded elsewhere is shown, and nothing of it runs or counts until it is taken over. Who
reads one trusts nothing in it: nothing is unpacked to the disk, and sizes, sums, types and words are looked at first.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, Column, ColumnElement, Table, and_, false, insert, or_, select
from sqlalchemy.orm import Session

from core import documents, settings
from core.benchmarks.model import ELSEWHERE
from core.comparison.sets import ServerPlace, is_place_on_server
from core.errors import InputError
from core.files import check_free
from core.history.copies import flush_folder
from core.history.database import MIGRATIONS, error_text
from core.history.log import LONGEST_NOTE
from core.history.models import Base, ExecutionRow
from core.history.recorded_profiles import checked_name, move_row
from core.history.types import LARGEST, LongText, Number, UtcDateTime, WholeNumber
from core.migration.model.execution import OVER
from core.servers.shell import command

FORMAT = 1
HEAD = "archive.json"
LARGEST_ARCHIVE = 2 * 2**30
"""Bytes that all members have together, unpacked."""
MOST_MEMBERS = 500_000
MOST_VALUES = 3_000_000
"""Values of a member that is JSON: two bytes such as `{}` take thirty times as much memory once they are read."""
# What exceeds one of these limits, or LARGEST, is refused when it is exported, too: whatever has been exported can be
# imported.
_NAME = re.compile(r"archive\.json|tables/[a-z_]{1,40}\.json|texts/[a-z_]{1,40}/[a-z_]{1,40}/[0-9]{1,19}", re.ASCII)
_PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""Of these no more is unpacked than is asked for; of bzip2 and LZMA all of a member, be it terabytes."""
_LARGEST_NUMBER = 2**63 - 1
_AHEAD = timedelta(days=1)
"""So much the clock of another workstation may be ahead. What is later would be the latest of its kind for ever."""
_PRIVATE = {
    ("profiles", "identity_file"),
    ("facts", "note"),
    ("runs", "owner"),
    ("executions", "process"),
    ("executions", "seal"),
    ("hooks", "seal"),
    ("waivers", "seal"),
}
"""What means something to the workstation alone that wrote it, and what was noted to facts: other moves share them."""
_SAME_SERVER = ("address", "port", "jump")
"""By which a server is the one that this history has under its name."""


@dataclass(frozen=True)
class Head:
    """What an archive says of itself."""

    format: int
    schema: str
    program: str
    made_at: datetime
    move: str | None
    """None: it has the runs of volumes that belong to no move."""
    sums: dict[str, str]


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that was read and found whole. `rows`: of each table, as its columns have them."""

    head: Head
    rows: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def removed_servers(self) -> tuple[str, ...]:
        """The servers of its runs that the exporting history had removed, so that only their names are known."""
        return () if self.head.move is not None else tuple(sorted(_without_profile(self.rows)))


# --- handing out


def export(session: Session, move: str, to: Path, *, replacing: bool = False) -> None:
    """Write the archive of a move to `to`; it is whole once it has its name.

    Raises:
        InputError: there is no such move, `to` is there already and not to be replaced, or it cannot be written.
    """
    of = move_row(session, move)
    servers, moves = Base.metadata.tables["profiles"], Base.metadata.tables["moves"]
    conditions = _conditions(
        {"profiles": servers.c.id.in_({of.old_id, of.new_id}), "moves": moves.c.id == of.id},
    )
    _export(session, of.name, conditions, to, replacing=replacing)


def export_runs(session: Session, places: Collection[ServerPlace], to: Path, *, replacing: bool = False) -> None:
    """Write the archive of the runs on these volumes that belong to no move; it is whole once it has its name.

    A server that was removed has neither profile nor facts in it: its runs have only its name.

    Raises:
        InputError: a volume has no such run, `to` is there already and not to be replaced, or it cannot be written.
    """
    runs, servers = Base.metadata.tables["runs"], Base.metadata.tables["profiles"]
    of_volume = {
        place: and_(runs.c.move_id.is_(None), runs.c.server == place.server, runs.c.mount_point == place.path)
        for place in places
    }
    for place, condition in of_volume.items():
        if session.execute(select(runs.c.id).where(condition).limit(1)).first() is None:
            raise InputError(
                f"no benchmark of {place.server}:{place.path} has run without a move",
                "export a move with all that belongs to it: pghaul history export MOVE -o FILE",
            )
    conditions = _conditions(
        {
            "profiles": servers.c.name.in_([place.server for place in places]),
            "moves": false(),
            "runs": or_(*of_volume.values()),
        }
    )
    _export(session, None, conditions, to, replacing=replacing)


def _export(
    session: Session, move: str | None, conditions: Mapping[str, ColumnElement[bool]], to: Path, *, replacing: bool
) -> None:
    check_free(to, replacing=replacing)
    scratch = to.with_name(f"{to.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                _write(session, _Writer(archive, move), conditions)
            stream.flush()
            os.fsync(stream.fileno())
        scratch.replace(to)
        flush_folder(to.parent)
    except OSError as error:
        raise InputError(
            f"{to} cannot be written: {error_text(error)}", "choose a folder with enough free space"
        ) from error
    finally:
        with contextlib.suppress(OSError):  # renamed, or never made
            scratch.unlink()


def _conditions(known: Mapping[str, ColumnElement[bool]]) -> dict[str, ColumnElement[bool]]:
    """Of each table which rows go with those that are known, in an order in which none refers to a later one."""
    found: dict[str, ColumnElement[bool]] = {}
    for table in Base.metadata.sorted_tables:
        if table.name in known:
            found[table.name] = known[table.name]
        else:
            (key,) = table.foreign_keys  # each belongs to one thing alone
            parent = key.column.table
            found[table.name] = key.parent.in_(select(parent.c.id).where(found[parent.name]))
    return found


@dataclass
class _Writer:
    """Adds members to an archive, each time with the same bytes, as long as it stays one that can be read.

    Attributes:
        archive: the archive.
        move: the move that it is of; None: it has runs of no move.
        sums: the checksums of the members so far.
    """

    archive: zipfile.ZipFile
    move: str | None
    sums: dict[str, str] = field(default_factory=dict)
    _size: int = 0

    def put(self, name: str, content: bytes) -> None:
        """Add a member. Raises InputError if no pghaul could read the archive any more."""
        self._size += len(content)
        self._refuse(_excess(len(self.sums) + 1, self._size, len(content)))
        member = zipfile.ZipInfo(name)  # of the year 1980, whenever it is made
        member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
        self.archive.writestr(member, content)
        self.sums[name] = hashlib.sha256(content).hexdigest()

    def put_json(self, name: str, content: bytes) -> None:
        """Add a member that is JSON. Raises InputError as `put` does."""
        self._refuse(_excess_of_values(content))
        self.put(name, content)

    def _refuse(self, why: str) -> None:
        if why and self.move is not None:
            raise InputError(
                f"the move {self.move!r} is too large for an archive: {why}",
                "remove entries of the move that you no longer need from the history, then export it again",
            )
        if why:
            raise InputError(f"these benchmarks are too large for an archive: {why}", "export fewer volumes at a time")


def _write(session: Session, writer: _Writer, conditions: Mapping[str, ColumnElement[bool]]) -> None:
    for name, condition in conditions.items():
        table, rows = Base.metadata.tables[name], []
        for row in session.execute(select(table).where(condition).order_by(*table.primary_key.columns)).mappings():
            kept: dict[str, object] = {}
            for column in table.columns:
                value = None if (name, column.name) in _PRIVATE else row[column.name]
                if isinstance(column.type, LongText):
                    writer.put(f"texts/{name}/{column.name}/{row['id']}", str(value).encode())
                else:
                    kept[column.name] = value.isoformat() if isinstance(value, datetime) else value
            rows.append(kept)
        writer.put_json(f"tables/{name}.json", json.dumps(rows, ensure_ascii=False, indent=1).encode())
    head = Head(FORMAT, MIGRATIONS.head, settings.program_version(), datetime.now(UTC), writer.move, writer.sums)
    writer.put_json(HEAD, documents.dump(head, indent=1).encode())


def _excess(members: int, size: int, largest: int) -> str:
    """Return which limit an archive exceeds; empty if none.

    Args:
        members: their number.
        size: the bytes of all of them together, unpacked.
        largest: the bytes of the largest of them.
    """
    if members > MOST_MEMBERS:
        return f"it contains {members} members; the limit is {MOST_MEMBERS}"
    if size > LARGEST_ARCHIVE:
        return f"it unpacks to {size >> 20} MiB; the limit is {LARGEST_ARCHIVE >> 20} MiB"
    return f"one of its members unpacks to more than {LARGEST >> 20} MiB" if largest > LARGEST else ""


def _excess_of_values(content: bytes) -> str:
    """Return that a member which is JSON contains too many values; empty if it does not."""
    values = sum(map(content.count, (b",", b"[", b"{")))  # each value but the first has one of them before it
    return f"one of its members contains too many values; the limit is {MOST_VALUES}" if values > MOST_VALUES else ""


# --- reading


def read(source: Path) -> Archive:
    """Read an archive to its end, and look at all of it.

    Raises:
        InputError: it is none, is damaged, of a newer pghaul, or holds what no pghaul has written.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            return _read(source, archive)
    except (zipfile.BadZipFile, NotImplementedError, zlib.error, EOFError, RuntimeError) as error:
        raise InputError(
            f"{source} is not an archive of pghaul, or is damaged: {error_text(error)}",
            "export the move again: pghaul history export MOVE -o FILE",
        ) from error
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error_text(error)}") from error


def _read(source: Path, archive: zipfile.ZipFile) -> Archive:
    members = archive.infolist()
    names = [member.filename for member in members]
    if why := _excess(
        len(members), sum(each.file_size for each in members), max((each.file_size for each in members), default=0)
    ):
        raise _foreign(source, why)
    if len(set(names)) != len(names):
        raise _foreign(source, "it contains members of the same name")
    strange = next((name for name in names if not _NAME.fullmatch(name)), None)
    if strange is not None or HEAD not in names:
        raise _foreign(
            source,
            f"it contains the unknown member {strange!r}" if strange is not None else f"it does not contain {HEAD}",
        )
    if any(member.compress_type not in _PACKED for member in members):
        raise _foreign(source, "one of its members uses a compression method that pghaul does not use")
    head = _head(source, archive)
    if set(head.sums) | {HEAD} != set(names):
        raise _foreign(source, "its members differ from its list of members")
    rows: dict[str, list[dict[str, Any]]] = {}
    for table in Base.metadata.sorted_tables:
        listed = _json(source, _member(source, archive, head, f"tables/{table.name}.json"))
        if not isinstance(listed, list):
            raise _foreign(source, f"tables/{table.name}.json is not a list")
        rows[table.name] = [_row(source, archive, head, table, row) for row in listed]
    if len(rows["moves"]) != (0 if head.move is None else 1):
        raise _foreign(source, "it does not contain exactly one move")
    alone = head.move is None
    if any((row["move_id"] is None) is not alone or (row["side"] is None) is not alone for row in rows["runs"]):
        raise _foreign(source, "a run does not say whether it belongs to a move")
    texts = sum(len(rows[table.name]) for table in Base.metadata.sorted_tables for _ in _long(table))
    if texts + len(rows) + 1 != len(names):
        raise _foreign(source, "it contains texts that belong to no row")
    return Archive(head, rows)


def _head(source: Path, archive: zipfile.ZipFile) -> Head:
    text = _content(source, archive, HEAD)
    said = _json(source, text)
    if not isinstance(said, dict) or not isinstance(said.get("format"), int):
        raise _foreign(source, f"its {HEAD} was written by another program")
    schema = str(said.get("schema"))[:20]
    if said["format"] > FORMAT:
        raise InputError(
            f"{source} was written by a newer pghaul (format {str(said['format'])[:20]}; this pghaul knows format "
            f"{FORMAT})",
            "update pghaul; nothing was imported",
        )
    if schema > MIGRATIONS.head:
        raise InputError(
            f"{source} was written by a newer pghaul (schema {schema}; this pghaul knows schema {MIGRATIONS.head})",
            "update pghaul; nothing was imported",
        )
    if schema != MIGRATIONS.head:
        raise InputError(
            f"{source} was written by an older pghaul (schema {schema}; this pghaul has schema {MIGRATIONS.head})",
            "install this version of pghaul there, and export the move again",
        )
    try:
        return documents.load(Head, text)
    except InputError as error:
        raise _foreign(source, f"its {HEAD}: {error.message}") from error


def _member(source: Path, archive: zipfile.ZipFile, head: Head, name: str) -> bytes:
    if name not in head.sums:
        raise _foreign(source, f"its member {name} is missing")
    content = _content(source, archive, name)
    if hashlib.sha256(content).hexdigest() != head.sums[name]:
        raise InputError(
            f"{source} is damaged: the checksum of {name} is wrong", "copy the file again, or export the move again"
        )
    return content


def _content(source: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """A member, of the size that was looked at: what it says of itself need not be what comes out of it."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as stream:
        content = stream.read(size)
    if len(content) != size:
        raise _foreign(source, f"{name} does not have its recorded size")
    return content


def _json(source: Path, content: bytes) -> Any:
    if why := _excess_of_values(content):
        raise _foreign(source, why)
    try:
        return json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _foreign(source, f"its contents are not JSON: {str(error)[:100]}") from error


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def _row(source: Path, archive: zipfile.ZipFile, head: Head, table: Table, row: object) -> dict[str, Any]:
    """A row as it goes into the table: of each column a value of its type."""
    short = {column.name for column in table.columns} - {column.name for column in _long(table)}
    if not isinstance(row, dict) or set(row) != short:
        raise _foreign(source, f"a row of {table.name} has the wrong columns")
    made = {name: _value(source, table, table.columns[name], value) for name, value in row.items()}
    for column in _long(table):
        content = _member(source, archive, head, f"texts/{table.name}/{column.name}/{made['id']}")
        try:
            made[column.name] = content.decode()
        except UnicodeDecodeError as error:
            raise _foreign(source, f"a text of {table.name} is not UTF-8") from error
    return made


def _long(table: Table) -> Iterator[Column[Any]]:
    return (column for column in table.columns if isinstance(column.type, LongText))


def _value(source: Path, table: Table, column: Column[Any], value: object) -> Any:
    if (value is None and column.nullable) or (table.name, column.name) in _PRIVATE:
        return None
    match column.type:
        case Boolean() if isinstance(value, bool):
            return value
        case UtcDateTime() if isinstance(value, str):
            return _instant(source, value)
        case WholeNumber() if isinstance(value, int) and not isinstance(value, bool):
            if -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER:
                return value
        case Number() if isinstance(value, int | float) and not isinstance(value, bool):
            if abs(value) <= sys.float_info.max:  # no number, and the infinite, are not; a whole one may be more
                return float(value)
        case WholeNumber() | Number() | UtcDateTime() | Boolean():
            pass
        case _ if isinstance(value, str) and column.name == "note" and len(value) > LONGEST_NOTE:
            raise _foreign(source, f"a note has {len(value)} characters; the limit is {LONGEST_NOTE}")
        case _ if isinstance(value, str):
            return value
        case _:
            pass
    raise _foreign(source, f"{table.name}.{column.name} of a row has the value {str(value)[:40]!r}")


def _instant(source: Path, value: str) -> datetime:
    try:
        at = datetime.fromisoformat(value)
    except ValueError as error:
        raise _foreign(source, f"{value[:40]!r} is not a point in time") from error
    if at.tzinfo is None:
        raise _foreign(source, f"{value[:40]!r} has no time zone")
    try:
        at = at.astimezone(UTC)
    except OverflowError as error:  # in UTC it has no year, or one of five digits
        raise _foreign(source, f"{value[:40]!r} is not a point in time") from error
    if at > datetime.now(UTC) + _AHEAD:
        raise _foreign(source, f"{value[:40]!r} is in the future")
    return at


def _foreign(source: Path, why: str) -> InputError:
    return InputError(
        f"{source} was not written by pghaul: {why}", "export the move again: pghaul history export MOVE -o FILE"
    )


# --- taking in


def take_in(session: Session, archive: Archive, name: str | None) -> str | None:
    """Put the rows of an archive into the history, as the move `name`, None: as it is called there; that name.

    Without a move, the runs that are not in the history already are put into it, and None is returned.

    Raises:
        InputError: the move is there already, or an execution of it that can be continued; another server has the name
            of one of its, or may have it; or a row belongs to nothing.
    """
    _refuse_known_executions(session, archive)
    if archive.head.move is None and name is not None:
        raise InputError("the archive contains no move that could be given a name", "leave the name out")
    numbers: dict[str, dict[int, int]] = {}
    known = _known_servers(session, archive)
    archived = archive.rows
    if archive.head.move is None:
        archived = _without_known_runs(session, archive.rows)
        _refuse_another_machine(session, _without_profile(archived))
    called = None
    for table in Base.metadata.sorted_tables:
        of_table = numbers.setdefault(table.name, {})
        for row in archived[table.name]:
            made = dict(row)
            for key in table.foreign_keys:
                of, column = key.column.table.name, key.parent.name
                if made[column] is not None and made[column] not in numbers[of]:
                    raise InputError(
                        f"the archive was not written by pghaul: a row of {table.name} belongs to no {of}",
                        "export the move again: pghaul history export MOVE -o FILE",
                    )
                made[column] = numbers[of].get(made[column])
            number = made.pop("id", None)
            if table.name == "profiles" and made["name"] in known:
                of_table[number] = known[made["name"]]
                continue
            if table.name == "facts" and made["profile_id"] in known.values():
                continue  # facts steer what runs on a server: of one's own these are one's own
            if table.name == "moves":
                made["name"] = called = _free_name(session, made["name"] if name is None else name)
            if number is None:
                session.execute(insert(table).values(made))
            else:
                of_table[number] = session.execute(insert(table).values(made).returning(table.c.id)).scalar_one()
    return called


def _without_known_runs(
    session: Session, rows: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the rows without the runs that the history has already, and without what belongs to these."""
    runs = Base.metadata.tables["runs"]

    def is_known(row: Mapping[str, Any]) -> bool:
        same = (runs.c[column] == row[column] for column in ("server", "folder", "workload", "started_at"))
        return session.execute(select(runs.c.id).where(runs.c.move_id.is_(None), *same).limit(1)).first() is not None

    known = {row["id"] for row in rows["runs"] if is_known(row)}
    of_known = {row["id"] for row in rows["repetitions"] if row["run_id"] in known}
    return {
        **rows,
        "runs": [row for row in rows["runs"] if row["id"] not in known],
        "repetitions": [row for row in rows["repetitions"] if row["run_id"] not in known],
        "metrics": [row for row in rows["metrics"] if row["repetition_id"] not in of_known],
    }


def _without_profile(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> set[str]:
    return {row["server"] for row in rows["runs"]} - {row["name"] for row in rows["profiles"]} - {ELSEWHERE}


def _refuse_another_machine(session: Session, removed: Collection[str]) -> None:
    """Raise InputError if a server has the name of one that was removed: the runs would count as measured on it."""
    table = Base.metadata.tables["profiles"]
    for name in sorted(removed):
        if session.execute(select(table.c.id).where(table.c.name == checked_name("server", name))).first() is not None:
            raise InputError(
                f"the archive contains benchmarks of a server {name!r} that was removed where they were recorded, so "
                "its address is not known. Your server of that name may be another machine",
                "rename your server first, then import again; or import into another history with PGHAUL_DATA",
            )


def _refuse_known_executions(session: Session, archive: Archive) -> None:
    """Raise InputError if an execution that can be continued is in the history already: its copy could go on, too."""
    tokens = [row["token"] for row in archive.rows["executions"] if row["state"] not in {each.value for each in OVER}]
    known = session.scalar(select(ExecutionRow).where(ExecutionRow.token.in_(tokens)).limit(1))
    if known is not None:
        raise InputError(
            f"the archive contains an execution that is not over, and it is in this history already, as execution "
            f"{known.id} of the move {known.move.name!r}. Only one of them may be continued",
            f"continue that move: {command('pghaul', 'execute', known.move.name)} --resume; or import into another "
            "history with PGHAUL_DATA",
        )


def _known_servers(session: Session, archive: Archive) -> dict[str, int]:
    """Those of its servers that the history has already, by their names."""
    table, known = Base.metadata.tables["profiles"], {}
    for row in archive.rows["profiles"]:
        name = checked_name("server", row["name"])
        found = session.execute(select(table).where(table.c.name == name)).mappings().one_or_none()
        if found is None:
            continue
        if any(found[each] != row[each] for each in _SAME_SERVER):
            raise InputError(
                f"the archive contains a server {name!r} that differs from yours of that name: its address is "
                f"{row['address']}, yours {found['address']}",
                "rename your server first, then import again; or import into another history with PGHAUL_DATA",
            )
        known[name] = found["id"]
    return known


def _free_name(session: Session, name: str) -> str:
    table = Base.metadata.tables["moves"]
    if is_place_on_server(name):  # moves of lists were called so before
        raise InputError(
            f"the name of the move {name!r} reads like a volume of a server",
            "import it under another name with --name NAME",
        )
    if session.execute(select(table.c.id).where(table.c.name == checked_name("move", name))).first() is not None:
        raise InputError(f"the move {name!r} exists already", "import it under another name with --name NAME")
    return name
