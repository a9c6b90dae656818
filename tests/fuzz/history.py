"""The history's import as targets: a file from elsewhere, or one with a value exchanged, opened and read to its end."""

import atexit
import contextlib
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

from core.errors import PghaulError
from core.history.database import FILE_NAME
from core.history.store import Store
from tests.core.history import samples


@dataclass(frozen=True)
class _Real:
    """A history with a day's work in it: its file, and of each column a value as an input names it."""

    file: bytes
    columns: tuple[str, ...]
    values: tuple[bytes, ...]


@cache
def _folder() -> str:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[Store]:
    """The history there, under the key that has sealed the real one."""
    with patch.dict(os.environ, PGHAUL_CONFIG=f"{_folder()}/config"), Store.open(folder) as store:
        yield store


@cache
def _real() -> _Real:
    with _opened(Path(_folder())) as store:
        samples.fill(store)
        _read_all(store)  # once beforehand: what reads documents is made at its first use
        path = store.path
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        columns = connection.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        ).fetchall()
        found = {
            f"{table}.{column}": connection.execute(f'SELECT "{column}" FROM {table}').fetchone()
            for table, column in columns
        }
    values = (_input(name, row[0]) for name, row in found.items() if row is not None)
    return _Real(path.read_bytes(), tuple(found), tuple(values))


def _input(name: str, value: object) -> bytes:
    if not isinstance(value, bytes):
        return f"{name}\0t{value}".encode()
    return f"{name}\0".encode() + (b"z" + zlib.decompress(value[1:]) if value[:1] == b"z" else b"b" + value)


def files() -> tuple[bytes, ...]:
    """Real ones."""
    return (_real().file,)


def values() -> tuple[bytes, ...]:
    """`TABLE.COLUMN`, NUL, and a value: `t` text, `n` a number, `b` bytes, `z` bytes to be packed."""
    return _real().values


def read_file(data: bytes) -> None:
    """Read a history with that for a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE_NAME
        path.write_bytes(data)
        path.chmod(0o600)
        with _opened(Path(folder)) as store:
            _read_all(store)


def read_value(data: bytes) -> None:
    """Read a real history in which each row of a column holds that value."""
    head, _, value = data.partition(b"\0")
    name = head.decode(errors="replace")
    columns = _real().columns
    table, column = (name if name in columns else columns[sum(head) % len(columns)]).split(".")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE_NAME
        path.write_bytes(_real().file)
        path.chmod(0o600)
        with contextlib.closing(sqlite3.connect(path)) as connection, contextlib.suppress(sqlite3.IntegrityError):
            sort, kept = _stored(value)
            connection.execute(f'UPDATE {table} SET "{column}" = CAST(? AS {sort})', (kept,))
            connection.commit()
        with _opened(Path(folder)) as store:
            _read_all(store)


def _stored(value: bytes) -> tuple[str, bytes]:
    kind, rest = value[:1], value[1:]
    if kind == b"z":
        return "BLOB", b"z" + zlib.compress(rest)
    return {b"n": "NUMERIC", b"b": "BLOB"}.get(kind, "TEXT"), rest


def _read_all(store: Store) -> None:
    for read in _reads(store):
        with contextlib.suppress(PghaulError):
            read()


def _reads(store: Store) -> Iterator[Callable[[], object]]:
    yield from (store.profiles, store.moves, store.entries, store.commands)
    with contextlib.suppress(PghaulError):
        for profile in store.profiles():
            yield from (partial(store.facts, profile.name), partial(store.facts_history, profile.name))
    with contextlib.suppress(PghaulError):
        for move in store.moves():
            of_move = (store.runs, store.probes, store.checks, store.waivers, store.estimate, store.plan, store.hooks)
            of_execution = (store.executions, store.latest_execution, store.from_elsewhere)
            yield from (partial(read, move.name) for read in (*of_move, *of_execution))
    with contextlib.suppress(PghaulError):
        for entry in store.entries():
            yield partial(store.detail, entry.kind, entry.reference)
    yield from (partial(store.recorded_here, 1), partial(store.carried_out, 1))
