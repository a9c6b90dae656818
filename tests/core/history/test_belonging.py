"""A history from elsewhere is data: who owns it and who can write it is looked at, and no name in it becomes a path."""

import contextlib
import fcntl
import os
import sqlite3
import struct
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from core import this_workstation
from core.errors import HistoryError
from core.history import types
from core.history.belonging import ALIVE, check_belonging, check_locks, check_place, open_to_others
from core.history.copies import flush_folder, refuse_if_open
from core.history.database import as_written
from core.history.store import Store
from core.history.types import of_type
from tests.core.history.samples import MOVE, OLD

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such owners and modes")

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def _execute(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o664])
def test_a_file_that_others_can_write_is_refused(filled: Store, mode: int) -> None:
    filled.close()
    filled.path.chmod(mode)
    with pytest.raises(HistoryError, match="can be written by other users") as refused:
        Store.open(filled.path.parent)
    assert "chmod go-w" in refused.value.hint
    assert filled.path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("name", ["", ALIVE, "history.sqlite3-wal", "history.sqlite3-shm"])
def test_so_is_what_lies_around_it(filled: Store, name: str) -> None:
    filled.close()
    beside = filled.path.parent / name
    if not beside.exists():
        beside.touch()
    beside.chmod(0o777)
    with pytest.raises(HistoryError, match="can be written by other users"):
        Store.open(filled.path.parent)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["", "history.sqlite3"])
def test_what_belongs_to_another_user_is_refused(filled: Store, name: str) -> None:
    filled.close()
    os.chown(filled.path.parent / name, 65534, 65534)
    with pytest.raises(HistoryError, match="belongs to the user with ID 65534"):
        Store.open(filled.path.parent)


def test_a_log_that_another_program_removes_meanwhile_is_none(filled: Store) -> None:
    """SQLite removes it when the last program closes the history."""
    filled.close()
    folder, log = filled.path.parent, Path(f"{filled.path}-wal")
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            log.touch(mode=0o600)
            log.unlink()

    with ThreadPoolExecutor(1) as other:
        coming = other.submit(come_and_go)
        try:
            for _ in range(3000):
                check_belonging(folder, filled.path)
        finally:
            over.set()
    coming.result()


@pytest.mark.parametrize("name", ["history.sqlite3", "history.sqlite3-wal", ALIVE])
def test_a_link_in_a_files_place_is_refused(filled: Store, tmp_path: Path, name: str) -> None:
    filled.close()
    victim = tmp_path / "victim"
    victim.write_text("kept")
    beside = filled.path.parent / name
    if beside.is_dir():
        beside.rmdir()
    beside.unlink(missing_ok=True)
    beside.symlink_to(victim)
    with pytest.raises(HistoryError, match="is a symbolic link"):
        Store.open(filled.path.parent)
    assert victim.read_text() == "kept"


@pytest.mark.parametrize("token", ["../../victim", "../victim", "/victim", ".", "", "0123456789ABCDEF", "a" * 17])
def test_no_token_of_a_history_from_elsewhere_names_a_file(filled: Store, tmp_path: Path, token: str) -> None:
    filled.close()
    victims = [tmp_path / "victim", filled.path.parent / "victim"]
    for victim in victims:
        victim.write_text("kept")
    word = str(tmp_path / "victim") if token == "/victim" else token
    _execute(filled.path, f"UPDATE runs SET owner = '{word}', ended_at = NULL, outcome = NULL")
    _execute(filled.path, f"UPDATE executions SET process = '{word}'")
    with Store.open(filled.path.parent) as store:
        assert all(run.outcome is not None for run in store.runs(MOVE.name))
        assert not store.carried_out(1)
    assert [victim.read_text() for victim in victims] == ["kept", "kept"]


def test_a_journal_that_would_have_a_file_removed_is_refused(filled: Store, tmp_path: Path) -> None:
    """SQLite removes the super-journal that a hot journal names once it has played it back, wherever it lies."""
    filled.close()
    victim = tmp_path / "victim"
    victim.write_text("kept")
    name = str(victim).encode()
    header = JOURNAL_MAGIC + struct.pack(">5I", 0, 0, filled.path.stat().st_size // 4096, 512, 4096)
    named = struct.pack(">I", 2**30 // 4096 + 1) + name + struct.pack(">2I", len(name), sum(name)) + JOURNAL_MAGIC
    Path(f"{filled.path}-journal").write_bytes(header.ljust(512, b"\0") + named)
    with pytest.raises(HistoryError, match="names another file"):
        Store.open(filled.path.parent)
    assert victim.read_text() == "kept"


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON commands BEGIN DELETE FROM moves; END",
        "CREATE VIEW v AS SELECT load_extension('/tmp/x.so')",
        "CREATE VIRTUAL TABLE notes USING fts5(text)",
    ],
)
def test_a_schema_that_does_something_is_refused(filled: Store, statement: str) -> None:
    filled.close()
    _execute(filled.path, statement)
    with pytest.raises(HistoryError, match="which pghaul does not create"):
        Store.open(filled.path.parent)


@pytest.mark.parametrize("spoilt", [zlib.compress(bytes(2**22)), zlib.compress(b"cut off")[:-1], b"no stream"])
def test_a_text_that_unpacks_without_end_is_refused(
    filled: Store, monkeypatch: pytest.MonkeyPatch, spoilt: bytes
) -> None:
    with contextlib.closing(sqlite3.connect(filled.path)) as connection, connection:
        connection.execute("UPDATE plans SET document = ?", [b"z" + spoilt])
    monkeypatch.setattr(types, "LARGEST", 2**20)
    with pytest.raises(HistoryError, match=r"a text in it is (cut off|damaged)"):
        filled.plan(MOVE.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "executions SET state = 'gone'",
        "executions SET kind = x'ff'",
        "executions SET seal = x'00'",
        "executions SET process = 7, token = x'2e2e2f'",
        "execution_steps SET exit_status = 'x'",
        "execution_steps SET void = x'00', attempt = x'00'",
        "metrics SET value = 'fast'",
        "moves SET tablespace_targets = '{\"/a\": 1}'",
        f"runs SET parameters = '{'[' * 100_000}'",
        "repetitions SET marks = '[[1, 2]]'",
        "hooks SET hook = '../x'",
        "hooks SET command = x'6c73'",
        "check_results SET status = ''",
        "probes SET quantity = 1e300",
        "moves SET tablespace_targets = '{'",
        "moves SET created_at = 'yesterday'",
        "repetitions SET marks = '1'",
        "plans SET document = x'74ff'",
        "plans SET document = 'text'",
    ],
)
def test_what_no_pghaul_has_written_is_said_in_a_sentence(filled: Store, change: str) -> None:
    _execute(filled.path, f"UPDATE {change}")
    reads: list[Callable[[], object]] = [
        *(filled.moves, filled.entries),
        *(partial(read, MOVE.name) for read in (filled.executions, filled.hooks, filled.checks, filled.probes)),
        *(partial(read, MOVE.name) for read in (filled.plan, filled.runs)),
        *(partial(read, 1) for read in (filled.recorded_here, filled.carried_out)),
    ]
    said = []
    for read in reads:
        try:
            read()
        except HistoryError as error:
            said.append(error.message)
    assert said


def test_a_bug_of_ours_is_not_called_a_damaged_history(filled: Store) -> None:
    with pytest.raises(TypeError, match="a bug"), as_written(str(filled.path), "look"):
        raise TypeError("a bug")
    with (
        pytest.raises(HistoryError, match="not written: the value 1 is not a text"),
        as_written(str(filled.path), "look"),
    ):
        of_type(str, 1, "text")


def test_what_is_garbled_is_said_where_it_is_written_to_as_well(filled: Store) -> None:
    _execute(filled.path, "UPDATE profiles SET rights = 'all'")
    with pytest.raises(HistoryError, match="unknown rights: 'all'"):
        filled.update_profile(OLD)


def test_on_windows_no_mode_tells_whose_a_history_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    path.touch()
    path.chmod(0o666)
    tmp_path.chmod(0o777)
    for check in (partial(check_belonging, tmp_path, path), partial(check_place, tmp_path)):
        with pytest.raises(HistoryError):
            check()
    assert open_to_others(tmp_path, path)
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    check_belonging(tmp_path, path)
    check_place(tmp_path)
    assert open_to_others(tmp_path, path) == ""


def test_on_windows_the_locks_of_posix_are_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("no locks available")

    path = tmp_path / "history.sqlite3"
    path.touch()
    monkeypatch.setattr(fcntl, "lockf", refused)
    with pytest.raises(HistoryError, match="cannot be locked"):
        check_locks(tmp_path)
    with pytest.raises(sqlite3.OperationalError):
        refuse_if_open(path)
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    check_locks(tmp_path)
    refuse_if_open(path)
    assert list(tmp_path.iterdir()) == [path]


def test_on_windows_no_folder_is_opened_to_be_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError):
        flush_folder(tmp_path / "missing")
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    flush_folder(tmp_path / "missing")
