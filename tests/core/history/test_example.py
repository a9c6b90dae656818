"""The history that ships as an example: it opens, says what a move says, and names nobody."""

import ipaddress
import re
import stat
from pathlib import Path

import pytest

from core.benchmarks.model import Outcome
from core.errors import InputError
from core.history import example
from core.history.store import Store
from core.migration.model.execution import Kind, State
from core.sides import Side

ADDRESS = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")


@pytest.fixture
def laid(tmp_path: Path) -> Path:
    return example.lay(tmp_path / "new" / "example")


def test_it_is_its_user_s_alone(laid: Path) -> None:
    assert stat.S_IMODE(laid.stat().st_mode) == 0o600
    assert stat.S_IMODE(laid.parent.stat().st_mode) == 0o700


def test_it_is_of_the_newest_schema(laid: Path) -> None:
    """Else its first use leaves a copy of it beside it."""
    with Store.open(laid.parent):
        pass
    assert [each.name for each in laid.parent.glob("history-*")] == []


def test_its_move_was_measured_rehearsed_and_carried_out(laid: Path) -> None:
    with Store.open(laid.parent) as store:
        assert [move.name for move in store.moves()] == [example.MOVE]
        for side in Side:
            runs = store.runs(example.MOVE, side=side)
            assert {run.outcome for run in runs} == {Outcome.DONE}
            assert len(runs) >= 3
        done = [(each.kind, each.state) for each in store.executions(example.MOVE)]
        assert sorted(done) == sorted([(Kind.REHEARSAL, State.DONE), (Kind.REAL, State.DONE)])
        assert store.from_elsewhere(example.MOVE)  # so nothing of it is ever run


def test_it_names_no_host_and_nobody(laid: Path) -> None:
    with Store.open(laid.parent) as store:
        texts = [each.command for each in store.commands(None, limit=100_000)]
        texts += [repr(store.facts(profile.name)) for profile in store.profiles()]
        texts += [repr(each) for each in store.executions(example.MOVE)]
        assert {each.address for each in store.profiles()} == {"192.0.2.11", "192.0.2.12"}
    assert len(texts) > 100
    found = {word for text in texts for word in ADDRESS.findall(text) if not word.startswith(("192.0.2.", "255."))}
    places = [address for address in map(ipaddress.ip_address, found) if not address.is_unspecified]
    assert not [address for address in places if address.is_private and not address.is_loopback]
    people = {name for text in texts for name in re.findall(r"\w+@workstation|/home/\w+|/work/\w+", text)}
    assert people == {"dba@workstation", "/home/postgres"}


def test_a_history_that_is_there_stays(laid: Path) -> None:
    with Store.open(laid.parent) as store:
        store.remove_move(example.MOVE)
    before = laid.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        example.lay(laid.parent)
    assert laid.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        example.lay(tmp_path / "file" / "below")
