"""Lists of the history: what is wanted of it, a page at a time."""

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import InputError
from core.history.store import KINDS, Entry, Filter, Store
from core.sides import Side
from tests.core.history import samples
from tests.core.history.conftest import on_both
from tests.core.history.samples import MOVE, NEW, OLD, START
from tests.histories import Histories

ALL = 10_000
SERVERS = {MOVE.name: {OLD.name, NEW.name}, "other": {"third", NEW.name}}


def _with_another_move(store: Store) -> None:
    """A move between other servers, whose entries are of the same instants as those of the first one, and notes."""
    samples.fill(store)
    store.add_profile(dataclasses.replace(OLD, name="third", address="10.0.0.9"))
    store.add_move(dataclasses.replace(MOVE, name="other", old="third"))
    for _ in range(3):
        store.save_plan("other", samples.plan())
    store.record_report("other", Path("/srv/other.pdf"))
    store.add_runs([dataclasses.replace(run, move="other") for run in samples.runs(Side.NEW)])
    notes = ("#night", "#nightly", "page#night", "in der #Nähe", "x #NIGHT", "no tag: night")
    for number, entry in enumerate(store.entries(ALL)):
        if number % 2:
            store.set_note(entry.kind, entry.reference, notes[number // 2 % len(notes)])


@pytest.fixture
def noted(histories: Histories, on: str, tmp_path: Path) -> Iterator[Store]:
    with histories.opened(on, tmp_path / "noted", _with_another_move) as opened:
        yield opened


def _of_server(entry: Entry, server: str) -> bool:
    if entry.server is not None:
        return entry.server == server
    return entry.move is not None and server in SERVERS[entry.move]


WANTED: list[tuple[Filter, Callable[[Entry], bool]]] = [
    (Filter(), lambda _entry: True),
    *[(Filter(kind=kind), lambda entry, kind=kind: entry.kind == kind) for kind in KINDS],
    (Filter(server=OLD.name), lambda entry: _of_server(entry, OLD.name)),
    (Filter(server="third"), lambda entry: _of_server(entry, "third")),
    (Filter(since=START + timedelta(hours=2)), lambda entry: entry.at >= START + timedelta(hours=2)),
    (Filter(before=START + timedelta(hours=2)), lambda entry: entry.at < START + timedelta(hours=2)),
    (
        Filter(server=NEW.name, kind="run", since=START, before=START + timedelta(hours=3)),
        lambda entry: entry.kind == "run" and entry.server == NEW.name and entry.at < START + timedelta(hours=3),
    ),
    (Filter(tag="night"), lambda entry: "night" in entry.tags),
    (Filter(tag="#N\N{LATIN CAPITAL LETTER A WITH DIAERESIS}HE"), lambda entry: "nähe" in entry.tags),
    (Filter(tag=""), lambda entry: entry.note != ""),
]


@on_both
@pytest.mark.parametrize(("which", "wanted"), WANTED, ids=lambda each: str(each) if isinstance(each, Filter) else "")
def test_pages_are_together_all_that_is_wanted(noted: Store, which: Filter, wanted: Callable[[Entry], bool]) -> None:
    everything = noted.entries(ALL)
    whole = tuple(filter(wanted, everything))
    assert whole
    assert noted.entries(ALL, which) == whole
    for limit in (1, 3):
        found: list[Entry] = []
        while page := noted.entries(limit, dataclasses.replace(which, below=found[-1].place if found else None)):
            found += page
        assert tuple(found) == whole


def test_the_list_goes_on_below_an_entry_that_was_removed(filled: Store) -> None:
    entries = filled.entries(ALL)
    removed = next(entry for entry in entries if entry.kind == "plan")
    place = filled.place(removed.kind, removed.reference)
    assert place == removed.place
    filled.remove_entries([removed])
    assert filled.entries(ALL, Filter(below=place)) == entries[entries.index(removed) + 1 :]


@pytest.mark.parametrize("which", [Filter(move="none"), Filter(server="none"), Filter(kind="none")])
def test_a_filter_that_names_what_there_is_not_is_refused(filled: Store, which: Filter) -> None:
    with pytest.raises(InputError, match="none"):
        filled.entries(which=which)


def test_the_runs_of_a_removed_server_are_still_found(filled: Store) -> None:
    runs = filled.entries(ALL, Filter(kind="run", server=OLD.name))
    filled.add_profile(dataclasses.replace(OLD, name="third", address="10.0.0.9"))
    filled.put_move(dataclasses.replace(MOVE, old="third"))
    filled.remove_profile(OLD.name)
    assert filled.entries(ALL, Filter(server=OLD.name)) == runs


@on_both
def test_commands_are_of_a_server_and_of_a_period(filled: Store) -> None:
    every = filled.commands()
    assert filled.commands(server=every[0].server) == tuple(each for each in every if each.server == every[0].server)
    assert filled.commands(server="none") == ()
    assert filled.commands(since=every[0].at)[0] == every[0]
    assert filled.commands(before=every[-1].at) == ()


@on_both
def test_runs_are_read_page_by_page(filled: Store) -> None:
    whole = filled.runs(MOVE.name, side=Side.OLD)
    found = filled.runs(MOVE.name, side=Side.OLD, newest=2)
    while older := filled.runs(MOVE.name, side=Side.OLD, newest=2, older_than=found[0].id):
        found = (*older, *found)
    assert found == whole
    assert len(whole) > 4


@on_both
def test_moves_are_listed_page_by_page(filled: Store) -> None:
    for name in ("autumn", "Winter", "summer"):
        filled.add_move(dataclasses.replace(MOVE, name=name))
    by_name, newest_first = filled.moves(), filled.moves_newest_first()
    assert filled.count_moves() == len(by_name) == 4
    assert {move.name for move in newest_first} == {move.name for move in by_name}
    for limit in range(1, 5):
        assert filled.moves(limit) == by_name[:limit]
        assert filled.moves_newest_first(limit) == newest_first[:limit]
        assert filled.moves(after=by_name[limit - 1].name) == by_name[limit:]
    assert by_name[[move.name for move in by_name].index(MOVE.name)] == filled.move(MOVE.name) == MOVE


def test_what_is_not_ones_own_is_named_for_many_moves_at_once(
    filled: Store, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    filled.add_move(dataclasses.replace(MOVE, name="other"))
    filled.save_hook("other", samples.HOOK)
    names = [move.name for move in filled.moves()]
    assert filled.all_from_elsewhere(names) == dict.fromkeys(names, ())
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path_factory.mktemp("another key")))
    with Store.open(filled.path.parent) as elsewhere:
        assert elsewhere.all_from_elsewhere(names) == {
            MOVE.name: ("execution 1", "hook move-address", "waiver of libc"),
            "other": ("hook move-address",),
        }


@on_both
def test_what_is_read_in_one_transaction_is_of_one_state(filled: Store) -> None:
    with ThreadPoolExecutor(1) as another, filled.reading():
        before = filled.moves()
        another.submit(filled.add_move, dataclasses.replace(MOVE, name="other")).result()
        assert another.submit(filled.count_moves).result() == len(before) + 1
        with filled.reading():
            assert (filled.moves(), filled.count_moves()) == (before, len(before))
        with pytest.raises(InputError):
            filled.move("other")
        assert filled.checks(MOVE.name) is not None
    assert filled.count_moves() == len(before) + 1
    assert filled.move("other").name == "other"
