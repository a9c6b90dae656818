"""The file: private, shared by programs, and told about in sentences when it is in trouble. Nothing of it is lost."""

import contextlib
import errno
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import HistoryError
from core.history import database
from core.history.database import FILE_NAME, FileDatabase, open_engine, sqlite_says
from core.history.store import Store
from core.servers.profiles import Profile
from tests.core.history import samples
from tests.core.history.samples import MOVE, OLD
from tests.failing_disk import failing_disk
from tests.german import english_in


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Store.open(tmp_path / "new" / "folder") as store:
            store.add_profile(OLD)
            beside = {path.name: _mode(path) for path in store.path.parent.iterdir()}
    finally:
        os.umask(before)
    assert _mode(tmp_path / "new" / "folder") == 0o700
    assert beside == {FILE_NAME: 0o600, f"{FILE_NAME}-wal": 0o600, f"{FILE_NAME}-shm": 0o600}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_file_that_others_may_read_is_closed_to_them(filled: Store) -> None:
    filled.close()
    filled.path.chmod(0o644)
    with Store.open(filled.path.parent) as store:
        assert _mode(filled.path) == 0o600
        assert store.remarks == []  # nobody else could enter its folder
    filled.path.parent.chmod(0o755)
    filled.path.chmod(0o644)
    with Store.open(filled.path.parent) as store:
        assert _mode(filled.path) == 0o600
        assert "other users may have read" in "".join(store.remarks)
    with Store.open(filled.path.parent) as store:
        assert store.remarks == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has locks of its own")
@pytest.mark.parametrize("name", ["a?b", "a%41b", "a%b", "a#b", "a&b=c", "Jane Doe", "ä:@b", "file:x"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    for _ in range(2):  # made, then opened again
        with Store.open(tmp_path / name) as store:
            assert store.moves() == ()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name / FILE_NAME).stat().st_size > 0


def test_a_file_system_without_locks_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a home on NFS whose lock daemon does not run: SQLite itself waits, and then speaks of another program."""
    import fcntl

    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", refused)
    with pytest.raises(HistoryError, match=r"cannot be locked: .*\(ENOLCK\)") as said:
        Store.open(tmp_path)
    assert "PGHAUL_DATA" in said.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with Store.open(tmp_path):
        assert _mode(tmp_path) == 0o755


def test_the_folder_comes_from_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "it's $(touch x) 100% ö"))
    with Store.open() as store:
        store.add_profile(OLD)
        assert store.path == tmp_path / "it's $(touch x) 100% ö" / FILE_NAME
        assert store.path.is_file()


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_text("dear diary\n" * 1000)
    with pytest.raises(HistoryError, match="is not an SQLite database") as refused:
        Store.open(tmp_path)
    assert str(path) in refused.value.message
    assert path.read_text() == "dear diary\n" * 1000


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(HistoryError, match="not a history of pghaul"):
        Store.open(tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


def test_a_folder_in_the_files_place(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(HistoryError, match="is a folder"):
        Store.open(tmp_path)


def test_a_file_in_the_folders_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(HistoryError, match=r"cannot be opened: .*\(ENOTDIR\)") as refused:
        Store.open(tmp_path / "file")
    assert "PGHAUL_DATA" in refused.value.hint


def test_a_truncated_file_is_damaged_and_stays_as_it_is(filled: Store) -> None:
    filled.close()
    whole = filled.path.read_bytes()
    filled.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(HistoryError, match="is damaged") as refused:
        Store.open(filled.path.parent)
    assert "restore a copy" in refused.value.hint
    assert filled.path.read_bytes() == whole[: len(whole) // 2]


def test_a_file_damaged_inside_says_so_when_it_is_read(filled: Store) -> None:
    filled.close()
    whole = bytearray(filled.path.read_bytes())
    whole[8192:] = os.urandom(len(whole) - 8192)
    filled.path.write_bytes(whole)
    with pytest.raises(HistoryError, match="is damaged"):
        _read_all(filled.path.parent)


def _read_all(folder: Path) -> None:
    with Store.open(folder) as store:
        store.entries()
        store.runs(MOVE.name)


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder with a history of the effective user, who is not root even where the tests are.

    The history is made before: that user may have no way to the program's own files.
    """
    with tempfile.TemporaryDirectory() as made:
        with Store.open(Path(made) / "history") as store:
            store.add_profile(OLD)
        root = os.geteuid() == 0
        if root:
            for path in (Path(made), *Path(made).rglob("*")):
                os.chown(path, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(made)
        finally:
            if root:
                os.seteuid(0)
            Path(made).chmod(0o700)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_read_only_file_can_be_read_but_not_written(unprivileged: Path) -> None:
    folder = unprivileged / "history"
    (folder / FILE_NAME).chmod(0o400)
    with Store.open(folder) as store:
        assert store.profiles() == (OLD,)
        with pytest.raises(HistoryError, match="cannot be written"):
            store.add_profile(Profile("other", "h"))
        assert store.profiles() == (OLD,)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_folder_that_may_not_be_written(unprivileged: Path) -> None:
    unprivileged.chmod(0o500)
    with pytest.raises(HistoryError, match=r"cannot be opened: .*\(EACCES\)"):
        Store.open(unprivileged / "another")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (sqlite3.SQLITE_BUSY, "in use by another program"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "in use by another program"),
        (sqlite3.SQLITE_READONLY_DBMOVED, "cannot be written"),
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_IOERR_READ, "its disk reports an error"),
        (sqlite3.SQLITE_NOTADB, "is not an SQLite database"),
        (sqlite3.SQLITE_CORRUPT, "is damaged"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (None, "cannot be read or written"),
    ],
)
@pytest.mark.parametrize("words", ["", "locked, full, malformed, readonly: unable to open"])
def test_what_is_wrong_is_told_by_sqlites_code_and_not_by_its_words(
    tmp_path: Path, code: int | None, says: str, words: str
) -> None:
    error = sqlite3.OperationalError(words)
    if code is not None:
        error.sqlite_errorcode = code
    with pytest.raises(HistoryError) as raised, database.history_errors(tmp_path):
        raise error
    assert says in raised.value.message
    assert raised.value.message.endswith(f" (SQLite says: {words})")  # so that one can search for it
    assert english_in(raised.value) == []


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, None])
def test_a_cause_in_another_sentence_is_told_by_its_code_too(tmp_path: Path, code: int | None) -> None:
    error = sqlite3.OperationalError("words of SQLite")
    if code is not None:
        error.sqlite_errorcode = code
    cause = database.error_text(error)
    assert (cause == "SQLite says: words of SQLite") is (code is None)
    assert cause.endswith(sqlite_says(error) + ("" if code is None else ")"))
    failed = HistoryError(f"the history {tmp_path} could not be rescued: {cause}")
    assert english_in(failed, str(tmp_path)) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_an_error_of_the_disk_keeps_what_was_recorded(filled: Store) -> None:
    said = r"its disk reports an error \(SQLite says: disk I/O error\)"
    with failing_disk(), pytest.raises(HistoryError, match=said) as refused:
        filled.remove_move(MOVE.name)
    assert "log of the system" in refused.value.hint
    assert filled.moves() == (MOVE,)
    filled.remove_move(MOVE.name)


def test_another_program_that_holds_it(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.close()
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0.05)
    with Store.open(filled.path.parent) as store, contextlib.closing(sqlite3.connect(filled.path)) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HistoryError, match="is in use by another program") as refused:
            store.remove_move(MOVE.name)
        assert "wait" in refused.value.hint
        assert store.moves() == (MOVE,)
        other.execute("ROLLBACK")
        store.remove_move(MOVE.name)
        assert store.moves() == ()


def test_a_full_disk_keeps_what_was_recorded(filled: Store) -> None:
    filled.close()
    engine = open_engine(filled.path.parent)
    with Store(FileDatabase(filled.path, engine)) as store:
        # SQLite's own limit on pages raises exactly what a full disk does
        with contextlib.closing(engine.raw_connection()) as connection:
            pages = connection.cursor().execute("PRAGMA page_count").fetchone()[0]
            connection.cursor().execute(f"PRAGMA max_page_count = {pages}")
        many = samples.checks() * 200
        with pytest.raises(HistoryError, match="the disk is full"):
            store.save_checks(MOVE.name, many)
        assert store.checks(MOVE.name) == samples.checks()
        assert store.plan(MOVE.name) == samples.plan()
    with contextlib.closing(sqlite3.connect(filled.path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


_WRITER = """
import sys
from pathlib import Path
from core.history.store import Store
from core.jobs import CommandStarted
for turn in range(int(sys.argv[2])):
    with Store.open(Path(sys.argv[1])) as store:
        store.record_command(None, CommandStarted("server", sys.argv[3], f"turn {turn}"))
"""


@pytest.mark.slow
def test_programs_share_one_history_from_its_first_moment(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path / "history"), "5", name], cwd=Path.cwd())
        for name in ("first", "second", "third")
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    with Store.open(tmp_path / "history") as store:
        commands = store.commands()
    assert len(commands) == 15
    assert {command.user for command in commands} == {"first", "second", "third"}


def test_no_secret_has_a_place(filled: Store) -> None:
    with contextlib.closing(sqlite3.connect(filled.path)) as connection:
        columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('profiles')")]
    assert columns == [
        "id", "name", "address", "user", "port", "identity_file", "jump", "rights", "database_user", "copy_address",
        "changed_at",
    ]  # fmt: skip
