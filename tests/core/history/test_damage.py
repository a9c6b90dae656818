"""Of a damaged history whole rows are taken over and nothing else, whichever page is broken; the file itself stays."""

import contextlib
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import HistoryError
from core.history.damage import broken_pages, check, rescue
from core.history.database import FILE_NAME, MIGRATIONS
from core.history.store import Store
from core.jobs import CommandStarted
from tests.core.history import samples
from tests.core.history.contents import Rows, contents
from tests.core.history.samples import MOVE
from tests.histories import Histories

PAGE = 4096
RELEASED = Path("tests/data/history")


def busy(store: Store) -> None:
    """A history in which some tables have many pages."""
    samples.fill(store)
    for number in range(150):
        at = samples.START + timedelta(minutes=number)
        store.record_command(MOVE.name, CommandStarted("db1", "root", f"echo {number} {'x' * 400}", at))
    for number in range(12):
        store.save_checks(MOVE.name, samples.checks()[: 2 + number % 5])


@pytest.fixture
def path(histories: Histories, tmp_path: Path) -> Path:
    with histories.open(tmp_path / "history", busy) as store:
        return store.path


def _pages(path: Path) -> Iterator[tuple[int, str]]:
    """The number and the table of each page that holds rows, but for the schema's own."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        roots = connection.execute("SELECT rootpage, tbl_name FROM sqlite_master WHERE rootpage > 0").fetchall()
    whole = path.read_bytes()
    for root, table in roots:
        yield from ((page, table) for page in (root, *_children(whole, root)))


def _children(whole: bytes, page: int) -> Iterator[int]:
    """The pages below that one, where it is inside of a table (https://sqlite.org/fileformat2.html)."""
    start = (page - 1) * PAGE
    head = start + (100 if page == 1 else 0)
    if whole[head] == 0x05:
        cells = int.from_bytes(whole[head + 3 : head + 5], "big")
        for cell in range(cells):
            at = start + int.from_bytes(whole[head + 12 + 2 * cell : head + 14 + 2 * cell], "big")
            yield int.from_bytes(whole[at : at + 4], "big")
        yield int.from_bytes(whole[head + 8 : head + 12], "big")


def _break(path: Path, page: int, seed: int) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(random.Random(seed).randbytes(PAGE))


def _hold(before: Rows, path: Path) -> Rows:
    """What is there now is whole, was there before, and is read by the program; that."""
    after = contents(path)
    assert {name: rows - before[name] for name, rows in after.items() if rows - before[name]} == {}
    assert check(path).damage == ()
    passes = {row[0] for row in after["check_passes"]}
    assert after["check_results"] == {row for row in before["check_results"] if row[0] in passes}
    repetitions = {row[0] for row in after["repetitions"]}
    assert after["metrics"] == {row for row in before["metrics"] if row[0] in repetitions}
    with Store.open(path.parent) as store:
        for entry in store.entries(limit=1000):
            store.detail(entry.kind, entry.reference)
        store.commands()
    return after


@pytest.mark.slow
@pytest.mark.parametrize("table", ["commands", "metrics", "alembic_version"])
def test_a_broken_page_costs_its_own_rows(path: Path, table: str) -> None:
    before = contents(path)
    pages = [page for page, name in _pages(path) if name == table]
    _break(path, pages[len(pages) // 2], 1)
    damaged = path.read_bytes()
    assert check(path).damage
    rescued = rescue(path)
    assert rescued.damaged.read_bytes() == damaged
    after = _hold(before, path)
    assert rescued.rows == {name: len(rows) for name, rows in after.items() if name != "alembic_version"}
    untouched = {"profiles", "moves", "hooks", "executions", "execution_steps", "plans", "estimates", "runs", "probes"}
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    if table == "commands":
        assert 100 < len(after["commands"]) < 151
        assert any(line.startswith("commands: ") for line in rescued.lost)


@pytest.mark.long
def test_whichever_page_is_broken(path: Path) -> None:
    before, whole = contents(path), path.read_bytes()
    rescued = 0
    for page in range(1, len(whole) // PAGE + 1):
        path.write_bytes(whole)
        _break(path, page, page)
        if page in _schema_pages(whole):
            with pytest.raises(HistoryError, match="nothing can be read"):
                rescue(path)
            assert len(path.read_bytes()) == len(whole)
            continue
        rescue(path)
        _hold(before, path)
        rescued += 1
    assert rescued > 60


def _schema_pages(whole: bytes) -> set[int]:
    """The pages on which the tables are described: without one of them SQLite reads nothing."""
    return {1, *_children(whole, 1)}


@pytest.mark.slow
def test_a_truncated_file(path: Path) -> None:
    before, whole = contents(path), path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3 + 17])
    assert check(path).damage
    rescue(path)
    assert len(_hold(before, path)["moves"]) == 1


def test_a_value_that_no_pghaul_has_written(path: Path) -> None:
    before = contents(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE commands SET started_at = 'yesterday' WHERE id = 7")
        connection.execute("UPDATE plans SET document = x'7A00'")
        connection.execute("UPDATE check_results SET status = x'00' WHERE pass_id = 3 AND position = 1")
        connection.commit()
    assert broken_pages(path) == ()
    found = [line.split(":")[0] for line in check(path).damage]
    assert found == ["commands 7", "plans 1", "check_results 3, 1"]
    rescued = rescue(path)
    assert rescued.lost[-1].startswith("check_results: ")  # a pass without one of its results says something else
    after = _hold(before, path)
    assert before["commands"] - after["commands"] == {row for row in before["commands"] if row[0] == 7}
    assert after["plans"] == set()


@pytest.mark.slow
def test_what_belonged_to_what_is_lost_goes_with_it(path: Path) -> None:
    page = next(page for page, name in _pages(path) if name == "moves")
    _break(path, page, 3)
    rescued = rescue(path)
    after = contents(path)
    assert after["runs"] == after["moves"] == set()
    assert len(after["profiles"]) == 2
    assert any(line.startswith("runs: 10 that belong") for line in rescued.lost)
    assert check(path).damage == ()


@pytest.mark.slow
@pytest.mark.parametrize("revision", MIGRATIONS.revisions[:-1])
def test_an_older_history_is_rescued_and_brought_up(tmp_path: Path, revision: str) -> None:
    path = tmp_path / FILE_NAME
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript((RELEASED / f"{revision}.sql").read_text(encoding="utf-8"))
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'alembic_version'").fetchone()[0]
    _break(path, page, 5)
    rescue(path)
    with Store.open(tmp_path) as store:
        assert store.moves() == (MOVE,)
        assert len(store.runs(MOVE.name)) == 10


def test_a_file_of_which_nothing_can_be_read_stays_as_it_is(path: Path) -> None:
    path.write_bytes(b"\xff" * 50_000)
    with pytest.raises(HistoryError, match="nothing can be read") as refused:
        rescue(path)
    assert "history restore" in refused.value.hint
    assert path.read_bytes() == b"\xff" * 50_000
    assert [each.name for each in path.parent.iterdir() if each.is_file()] == [FILE_NAME]


@pytest.mark.slow
def test_a_program_that_has_it_open_is_not_pulled_from_under(path: Path) -> None:
    import subprocess
    import sys

    code = "import sqlite3, sys\nkept = sqlite3.connect(sys.argv[1])\nkept.execute('PRAGMA journal_mode=WAL')\n"
    code += "kept.execute('SELECT * FROM moves').fetchall()\nprint('open', flush=True)\nsys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        page = next(page for page, name in _pages(path) if name == "commands")
        _break(path, page, 3)
        with pytest.raises(HistoryError, match="is in use by another program"):
            rescue(path)
    finally:
        other.communicate("", timeout=60)
    assert rescue(path).damaged.is_file()


def test_a_whole_history_is_found_so_while_it_is_used(filled: Store) -> None:
    found = check(filled.path)
    assert found.damage == ()
    assert found.schema == MIGRATIONS.head
    assert found.rows["runs"] == 10
    assert found.history == filled.path
    filled.update_move(replace(MOVE, target="/srv/elsewhere"))
