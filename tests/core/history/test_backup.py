"""A copy is taken while the history is used, and put back all or not at all."""

import contextlib
import os
import shutil
import sqlite3
import stat
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.errors import HistoryError, InputError
from core.history import copies
from core.history.backup import backup, restore
from core.history.database import FILE_NAME
from core.history.store import Store
from core.servers.profiles import Profile
from tests.core.history.contents import contents
from tests.core.history.samples import MOVE

RELEASED = Path("tests/data/history")
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def test_a_copy_holds_what_was_written_last_and_can_be_read_alone(filled: Store, tmp_path: Path) -> None:
    filled.add_profile(Profile("late", "192.0.2.9"))  # still in the write-ahead log
    copy = backup(filled.path.parent, tmp_path / "it's a copy.sqlite3")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600 or os.name == "nt"
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copyfile(copy, alone / "x")
    assert contents(alone / "x") == contents(filled.path)
    assert list(alone.iterdir()) == [alone / "x"]
    assert [each.name for each in tmp_path.glob("it's*")] == [copy.name]


def test_a_copy_lies_beside_the_history_unless_told_otherwise(filled: Store) -> None:
    copy = backup(filled.path.parent)
    assert copy.parent == filled.path.parent
    assert copy.name.startswith("history-backup-")


def test_a_copy_is_taken_while_another_program_writes(filled: Store, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(filled.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM commands")
        copy = backup(filled.path.parent, tmp_path / "copy")
        other.execute("ROLLBACK")
    assert contents(copy) == contents(filled.path)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no folders that anybody may write to")
def test_what_others_lay_beside_a_copy_that_is_made_removes_nothing(filled: Store, tmp_path: Path) -> None:
    """In a folder that anybody may write to each name that appears is given a journal, which names a file to remove."""
    shared, victim, ended = tmp_path / "shared", tmp_path / "victim", threading.Event()
    shared.mkdir(mode=0o777)
    victim.write_text("kept")
    name = str(victim).encode()
    head = (JOURNAL_MAGIC + struct.pack(">5I", 0, 0, 1, 512, 4096)).ljust(512, b"\0")
    journal = head + struct.pack(">I", 2**30 // 4096 + 1) + name
    journal += struct.pack(">2I", len(name), sum(name)) + JOURNAL_MAGIC
    with contextlib.closing(sqlite3.connect(filled.path)) as connection, connection:
        connection.execute("CREATE TABLE filler (x)")  # a copy takes a while
        connection.execute("INSERT INTO filler VALUES (zeroblob(100000000))")

    def lay() -> None:
        while not ended.is_set():
            for each in [each for each in shared.iterdir() if not each.name.endswith(("-journal", "-wal", "-shm"))]:
                beside = each.with_name(f"{each.name}-journal")
                if not beside.exists():
                    beside.write_bytes(journal)

    mallory = threading.Thread(target=lay)
    mallory.start()
    try:
        backup(filled.path.parent, shared / "copy")
    finally:
        ended.set()
        mallory.join()
    assert victim.read_text() == "kept"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no folders that anybody may write to")
@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_where_others_may_rename_a_folder_no_copy_is_made(filled: Store, tmp_path: Path, mode: int) -> None:
    """They could put one of their own in the place of that in which it is made; by the sticky bit they cannot."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    if mode & 0o1000:
        backup(filled.path.parent, shared / "copy")
        return
    with pytest.raises(HistoryError, match="other users may rename"):
        backup(filled.path.parent, shared / "copy")
    assert list(shared.iterdir()) == []


def test_nothing_is_overwritten(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("diary")
    with pytest.raises(InputError, match="exists already"):
        backup(filled.path.parent, tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "diary"


def test_a_folder_that_is_not_there(filled: Store, tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=r"could not be copied .*\(ENOENT\)"):
        backup(filled.path.parent, tmp_path / "nowhere" / "copy")


def test_no_history_yet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no history at"):
        backup(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_of_a_damaged_history_no_copy_is_called_a_backup(filled: Store, tmp_path: Path) -> None:
    filled.close()
    whole = bytearray(filled.path.read_bytes())
    whole[8192:] = os.urandom(len(whole) - 8192)
    filled.path.write_bytes(whole)
    with pytest.raises(HistoryError, match="is damaged, so no backup was made") as refused:
        backup(filled.path.parent, tmp_path / "copy")
    assert "--rescue" in refused.value.hint
    assert list(tmp_path.glob("copy*")) == []


def test_what_was_copied_comes_back_and_what_was_there_is_kept(filled: Store, tmp_path: Path) -> None:
    copy = backup(filled.path.parent, tmp_path / "copy")
    filled.remove_move(MOVE.name)
    filled.close()
    without = contents(filled.path)
    restored = restore(filled.path.parent, copy)
    assert contents(filled.path) == contents(copy)
    assert restored.kept is not None
    assert contents(restored.kept) == without
    assert stat.S_IMODE(filled.path.stat().st_mode) == 0o600 or os.name == "nt"
    with Store.open(filled.path.parent) as store:
        assert store.moves() == (MOVE,)
        assert store.hooks(MOVE.name)[0].from_elsewhere is False  # the key has sealed it here


def test_into_a_folder_that_has_no_history(filled: Store, tmp_path: Path) -> None:
    copy = backup(filled.path.parent, tmp_path / "copy")
    restored = restore(tmp_path / "new", copy)
    assert restored.kept is None
    assert contents(tmp_path / "new" / FILE_NAME) == contents(filled.path)


def released(schema: Path, to: Path) -> Path:
    """The history that a release with that schema has left."""
    with contextlib.closing(sqlite3.connect(to)) as connection:
        connection.executescript(schema.read_text(encoding="utf-8"))
    return to


@pytest.mark.parametrize("schema", sorted(RELEASED.glob("*.sql")), ids=lambda path: path.stem)
def test_a_copy_of_each_schema_is_put_back_as_it_is(schema: Path, tmp_path: Path) -> None:
    copy = released(schema, tmp_path / "old")
    restore(tmp_path / "new", copy)
    assert contents(tmp_path / "new" / FILE_NAME) == contents(copy)


def test_a_copy_of_an_older_schema_is_upgraded_when_it_is_opened(tmp_path: Path) -> None:
    """tests/core/history/test_upgrade.py upgrades each of them."""
    restore(tmp_path / "new", released(RELEASED / "0001.sql", tmp_path / "old"))
    with Store.open(tmp_path / "new") as store:
        assert store.moves() == (MOVE,)


@pytest.mark.slow
def test_an_idle_program_that_has_it_open_is_not_pulled_from_under(filled: Store, tmp_path: Path) -> None:
    """The window, say: it holds no lock, yet would go on writing into what lies beside another file."""
    copy = backup(filled.path.parent, tmp_path / "copy")
    opened = "import sys; from pathlib import Path; from core.history.store import Store\n"
    opened += f"store = Store.open(Path({str(filled.path.parent)!r})); store.moves(); print('open', flush=True)\n"
    opened += "sys.stdin.read(); store.close()"
    filled.remove_move(MOVE.name)
    filled.close()
    before = contents(filled.path)
    other = subprocess.Popen([sys.executable, "-c", opened], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        began = time.monotonic()
        with pytest.raises(HistoryError, match="is in use by another program"):
            restore(filled.path.parent, copy)
        assert time.monotonic() - began < 60  # where it waited for ever, it would still
    finally:
        other.communicate("", timeout=60)
    assert contents(filled.path) == before
    assert [each.name for each in filled.path.parent.glob("*[!e]-*")] == []
    restore(filled.path.parent, copy)
    assert contents(filled.path) == contents(copy)


def test_a_program_in_the_middle_of_writing(filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "PATIENCE_SECONDS", 0.1)
    copy = backup(filled.path.parent, tmp_path / "copy")
    filled.close()
    with contextlib.closing(sqlite3.connect(filled.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM commands")
        with pytest.raises(HistoryError, match="is in use by another program"):
            restore(filled.path.parent, copy)
        other.execute("COMMIT")
    assert contents(filled.path)["commands"] == set()


def test_onto_a_history_that_is_no_database_any_more(filled: Store, tmp_path: Path) -> None:
    copy = backup(filled.path.parent, tmp_path / "copy")
    filled.close()
    filled.path.write_bytes(b"\0" * 9000)
    restored = restore(filled.path.parent, copy)
    assert contents(filled.path) == contents(copy)
    assert restored.kept is not None
    assert restored.kept.read_bytes() == b"\0" * 9000


def test_onto_a_truncated_history(filled: Store, tmp_path: Path) -> None:
    copy = backup(filled.path.parent, tmp_path / "copy")
    filled.close()
    half = filled.path.read_bytes()[:20_000]
    filled.path.write_bytes(half)
    restored = restore(filled.path.parent, copy)
    assert contents(filled.path) == contents(copy)
    assert restored.kept is not None
    assert restored.kept.read_bytes() == half


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("nothing", "cannot be read: there is no such file"),
        ("folder", "cannot be read: it is a folder"),
        ("diary", "is not an SQLite database"),
        ("empty", "is empty"),
        ("bookmarks", "not a history of pghaul"),
        ("newer", "was written by a newer pghaul"),
        ("trigger", "contains a trigger"),
        ("truncated", "is damaged"),
        ("journal", "was not closed cleanly"),
        ("itself", "is the history itself"),
    ],
)
def test_what_is_no_copy_is_refused_and_the_history_stays(filled: Store, tmp_path: Path, made: str, said: str) -> None:
    filled.close()
    before = contents(filled.path)
    source = tmp_path / "source"
    if made == "folder":
        source.mkdir()
    elif made == "diary":
        source.write_text("dear diary\n" * 1000)
    elif made == "empty":
        source.touch()
    elif made == "bookmarks":
        _execute(source, "CREATE TABLE bookmarks (url TEXT)")
    elif made == "itself":
        source.symlink_to(filled.path)
    elif made != "nothing":
        shutil.copyfile(filled.path, source)
    if made == "newer":
        _execute(source, "UPDATE alembic_version SET version_num = '9999'")
    elif made == "trigger":
        _execute(source, "CREATE TRIGGER t AFTER INSERT ON commands BEGIN DELETE FROM moves; END")
    elif made == "truncated":
        source.write_bytes(source.read_bytes()[:30_000])
    elif made == "journal":
        Path(f"{source}-journal").write_bytes(b"x")
    with pytest.raises((InputError, HistoryError), match=said) as refused:
        restore(filled.path.parent, source)
    assert str(source) in refused.value.message
    assert contents(filled.path) == before
    assert sorted(each.name for each in filled.path.parent.iterdir() if each.is_file()) == [FILE_NAME]


def _execute(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
