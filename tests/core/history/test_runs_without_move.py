"""A run that belongs to no move is recorded, listed, noted, removed, exported and copied like any other."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.api import archives
from core.api.comparison import compare_sets, compare_volumes
from core.api.reports import write_report
from core.api.session import Session
from core.benchmarks.model import ELSEWHERE, Outcome, Run, Volume
from core.comparison.sets import Start
from core.errors import InputError
from core.history.backup import backup, restore
from core.history.damage import rescue
from core.history.log import Filter
from core.history.store import Store
from core.history.transfer import transfer
from core.migration.model.execution import State
from core.reports.make import Format, Kind
from core.reports.options import Options
from core.servers.profiles import Nobody
from core.sides import Side
from tests.core.history import samples
from tests.core.history.conftest import on_both
from tests.core.history.contents import contents, rows_of
from tests.core.history.samples import MOVE, NEW, OLD, START
from tests.histories import Histories

PLACE = f"{OLD.name}:/mnt/a"


def alone(days: int = 0, folder: str = "/mnt/a/pghaul-bench-1") -> Run:
    """A run on a volume of a server, of no move."""
    run = samples.runs(Side.OLD)[0]
    at = START + timedelta(days=days)
    return replace(run, move=None, volume=Volume(None, OLD.name, "/mnt/a", folder), started_at=at, ended_at=at)


def fill(store: Store) -> None:
    """A day's work, and one run of no move."""
    samples.fill(store)
    store.add_runs((alone(),))


@pytest.fixture
def filled(histories: Histories, on: str, tmp_path: Path) -> Iterator[Store]:
    with histories.opened(on, tmp_path / "filled", fill) as opened:
        yield opened


def mine(store: Store) -> list[Run]:
    return [run for run in store.runs_on(OLD.name) if run.move is None]


@on_both
def test_it_is_read_as_it_was_recorded_and_belongs_to_no_move(filled: Store) -> None:
    (run,) = mine(filled)
    assert replace(run, id=None) == alone()
    assert run.volume.words == PLACE
    assert all(each.move == MOVE.name for each in filled.runs(MOVE.name))
    assert filled.measured_at(MOVE.name)[Side.OLD] < datetime.now(UTC)
    (entry,) = (entry for entry in filled.entries(limit=1000) if entry.kind == "run" and entry.move is None)
    assert (entry.reference, entry.server) == (run.id, OLD.name)
    assert filled.detail("run", entry.reference) == run
    assert entry not in filled.entries(1000, Filter(move=MOVE.name))


@on_both
def test_its_start_is_listed_with_its_runs(filled: Store) -> None:
    (start,) = (start for start in filled.starts() if start.move is None)
    assert start == Start(None, None, OLD.name, "/mnt/a", "/mnt/a/pghaul-bench-1", START, 1)
    assert start.place == PLACE
    assert filled.runs_of_start(start) == tuple(mine(filled))


@on_both
def test_its_note_is_found_by_its_tag(filled: Store) -> None:
    (run,) = mine(filled)
    assert run.id is not None
    filled.set_note("run", run.id, "with the new controller #raid")
    (entry,) = filled.entries(100, Filter(tag="raid"))
    assert (entry.kind, entry.reference, entry.move) == ("run", run.id, None)


@on_both
def test_it_is_removed_and_comes_back(filled: Store) -> None:
    before = rows_of(filled)
    (entry,) = (entry for entry in filled.entries(limit=1000) if entry.kind == "run" and entry.move is None)
    removed = filled.remove_entries([entry])
    assert mine(filled) == []
    filled.put_back(removed)
    assert rows_of(filled) == before


@on_both
def test_of_its_volume_the_latest_is_never_pruned(filled: Store) -> None:
    filled.add_runs((alone(days=1),))
    filled.prune(datetime.now(UTC), ["run"])
    assert [run.started_at for run in mine(filled)] == [START + timedelta(days=1)]


@on_both
def test_it_stays_when_the_moves_of_its_server_go(filled: Store) -> None:
    filled.execution_changed(1, State.DONE)
    filled.remove_move(MOVE.name)
    assert len(mine(filled)) == 1
    filled.remove_profile(OLD.name)
    assert len(mine(filled)) == 1


@pytest.mark.slow
def test_it_goes_to_a_server_and_comes_back(filled: Store, histories: Histories, tmp_path: Path) -> None:
    filled.execution_changed(1, State.STOPPED)
    rows = rows_of(filled)
    with histories.placed("postgresql", tmp_path) as place:
        transfer(filled.path.parent, place)
        with Store.open(place) as there:
            assert rows_of(there) == rows
            assert mine(there) == mine(filled)
        transfer(place, tmp_path / "back")
        with Store.open(tmp_path / "back") as back:
            assert contents(back.path) == contents(filled.path)


def test_it_is_in_a_backup_and_in_what_is_rescued(filled: Store, tmp_path: Path) -> None:
    found = mine(filled)
    filled.close()
    copy = backup(filled.path.parent, tmp_path / "copy.sqlite3")
    assert rescue(filled.path).lost == ()
    with Store.open(filled.path.parent) as store:
        assert mine(store) == found
    restore(filled.path.parent, copy)
    with Store.open(filled.path.parent) as store:
        assert mine(store) == found


def test_its_archive_adds_what_the_other_history_lacks(filled: Store, tmp_path: Path) -> None:
    first, second = tmp_path / "first.pghaul", tmp_path / "second.pghaul"
    archives.export_runs(filled, [PLACE], first)
    filled.add_runs((alone(days=1, folder="/mnt/a/pghaul-bench-2"),))
    archives.export_runs(filled, [PLACE], second)
    with Store.open(tmp_path / "other") as other:
        for path in (first, second, second):
            assert archives.import_move(other, path).move is None
        assert [replace(run, id=None) for run in mine(other)] == [
            alone(),
            alone(days=1, folder="/mnt/a/pghaul-bench-2"),
        ]
        assert other.profiles() == (replace(OLD, identity_file=None),)
        assert other.facts(OLD.name) == filled.facts(OLD.name)
        assert other.moves() == ()
        with pytest.raises(InputError, match="no move"):
            archives.import_move(other, first, "spring")


def test_an_archive_of_no_such_run_is_refused(filled: Store, tmp_path: Path) -> None:
    for word in (f"{OLD.name}:/srv/pg", f"{NEW.name}:/mnt/a", "nowhere:/mnt/a"):
        with pytest.raises(InputError, match="without a move"):
            archives.export_runs(filled, [word], tmp_path / "none.pghaul")
    assert not (tmp_path / "none.pghaul").exists()


def without_server(store: Store) -> None:
    """Runs of no move on two volumes of a server that is removed, and on one of another server."""
    fill(store)
    for days, volume in ((1, "/mnt/a"), (2, "/mnt/b")):
        run = alone(days=days, folder=f"{volume}/pghaul-bench-{days + 1}")
        store.add_runs((replace(run, volume=replace(run.volume, mount_point=volume)),))
    store.add_runs((replace(alone(), volume=Volume(None, NEW.name, "/mnt/a", "/mnt/a/pghaul-bench-1")),))
    store.execution_changed(1, State.DONE)
    store.remove_move(MOVE.name)
    store.remove_profile(OLD.name)


PLACES = (PLACE, f"{OLD.name}:/mnt/b", f"{NEW.name}:/mnt/a")


@pytest.mark.slow
@on_both
def test_runs_of_a_removed_server_give_the_same_reports_elsewhere(
    histories: Histories, on: str, tmp_path: Path
) -> None:
    options = Options(at=START + timedelta(days=9), raw=True)
    with histories.opened(on, tmp_path / "here", without_server) as here, Store.open(tmp_path / "other") as other:
        exported = archives.export_runs(here, PLACES, tmp_path / "x.pghaul")
        assert exported.removed_servers == (OLD.name,)
        assert archives.import_move(other, exported.path) == archives.Imported(None, (OLD.name,))
        assert [profile.name for profile in other.profiles()] == [NEW.name]
        assert other.facts(NEW.name) == here.facts(NEW.name)
        for server in (OLD.name, NEW.name):
            there = [replace(run, id=None) for run in other.runs_on(server)]
            assert there == [replace(run, id=None) for run in here.runs_on(server) if run.move is None]
        for words in (PLACES, (PLACE,)):
            for shape in (Format.PDF, Format.HTML, Format.MARKDOWN, Format.JSON):
                made: list[bytes] = []
                for store in (here, other):
                    to = tmp_path / f"{len(words)}-{len(made)}-{shape.value}"
                    with Session(store, Nobody()) as session:
                        write_report(session, Kind.STORAGE, words, to, shape, options)
                    made.append(to.read_bytes())
                assert made[0] == made[1], (words, shape)
                assert len(made[0]) > 500


@on_both
def test_runs_of_a_removed_server_do_not_become_those_of_another_machine(
    histories: Histories, on: str, tmp_path: Path
) -> None:
    """What is known of the removed server is its name, and another machine may have it here."""
    with Store.open(tmp_path / "there") as there:
        without_server(there)
        path = archives.export_runs(there, [PLACE], tmp_path / "x.pghaul").path
    with histories.opened(on, tmp_path / "here", fill) as here:
        before = rows_of(here)
        with pytest.raises(InputError, match="may be another machine"):
            archives.import_move(here, path)
        assert rows_of(here) == before
        here.update_profile(replace(OLD, name="db7"), OLD.name)
        archives.import_move(here, path)
        assert [run.started_at for run in here.runs_on(OLD.name)] == [START, START + timedelta(days=1)]
        here.add_profile(OLD)
        after = rows_of(here)
        archives.import_move(here, path)  # all of it is there already
        assert rows_of(here) == after


def test_an_archive_whose_runs_contradict_it_changes_nothing(filled: Store, tmp_path: Path) -> None:
    """A run with a side and without a move, which pghaul never writes."""
    path = archives.export_runs(filled, [PLACE], tmp_path / "x.pghaul").path
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    rows = json.loads(members["tables/runs.json"])
    rows[0]["side"] = "old"
    head = json.loads(members["archive.json"])
    members["tables/runs.json"] = json.dumps(rows).encode()
    head["sums"]["tables/runs.json"] = hashlib.sha256(members["tables/runs.json"]).hexdigest()
    members["archive.json"] = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with Store.open(tmp_path / "other") as other, pytest.raises(InputError, match="whether it belongs to a move"):
        archives.import_move(other, path)


@pytest.mark.parametrize("further", [Outcome.FAILED, Outcome.DONE])
def test_sets_of_the_same_runs_are_no_comparison(store: Store, further: Outcome) -> None:
    """Compared with themselves, they would say that a change of the server has made no difference."""
    samples.set_up(store)
    for run in (alone(), replace(alone(days=2, folder="/mnt/a/pghaul-bench-2"), outcome=further)):
        store.add_runs((run, replace(run, move=MOVE.name, volume=replace(run.volume, side=Side.OLD, folder="/b"))))
    session = Session(store, Nobody())
    day = f"@{START + timedelta(days=1):%Y-%m-%d}"
    volume, of_move = [f"{PLACE}{day}", PLACE], [f"old:/mnt/a{day}", "old:/mnt/a"]
    for words in ([PLACE, PLACE], ["1", "1"]):
        with pytest.raises(InputError, match="are the same runs"):
            compare_volumes(session, words)
    if further is Outcome.DONE:
        found = compare_volumes(session, volume), compare_sets(session, MOVE.name, of_move)
        assert [len(set(each.names)) for each in found] == [2, 2]
        return
    with pytest.raises(InputError, match="are the same runs"):
        compare_volumes(session, volume)
    with pytest.raises(InputError, match="are the same runs"):
        compare_sets(session, MOVE.name, of_move)


def test_runs_that_have_not_finished_are_not_called_the_same(store: Store) -> None:
    samples.set_up(store)
    failed = replace(alone(), outcome=Outcome.FAILED)
    numbers = store.add_runs((failed, replace(failed, volume=replace(failed.volume, folder="/mnt/a/pghaul-bench-2"))))
    session, (first, second) = Session(store, Nobody()), map(str, numbers)
    assert compare_volumes(session, [first, second]).rows == ()
    with pytest.raises(InputError, match="are the same runs"):
        compare_volumes(session, [first, first])


@pytest.mark.parametrize("name", ["/night@2026-01-02", "/a@2026-01-02T03:04", "/at@2026-13-45"])
def test_a_volume_whose_name_ends_like_a_date_is_found_by_it(store: Store, name: str) -> None:
    """An output is imported under the name of its file, and a file is often called by a date."""
    samples.set_up(store)
    for volume, days in (("/other", 0), (name, 1)):
        run = replace(alone(days), volume=Volume(None, ELSEWHERE, volume, f"{volume}/x"))
        store.add_runs((run, replace(run, move=MOVE.name, volume=replace(run.volume, folder=f"{volume}/y"))))
    session = Session(store, Nobody())
    words = [f"{ELSEWHERE}:{name}", f"{ELSEWHERE}:/other@{START + timedelta(days=1):%Y-%m-%d}"]
    for found in (compare_volumes(session, words), compare_sets(session, MOVE.name, words)):
        assert found.names == (f"{ELSEWHERE}:{name}", f"{ELSEWHERE}:/other")
    with pytest.raises(InputError, match="measured once"):
        compare_sets(session, MOVE.name, words[:1])
