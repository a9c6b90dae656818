"""A whole history goes to a server and comes back, and is what it was."""

from pathlib import Path

import pytest

from core.errors import InputError
from core.history.store import Store
from core.history.transfer import transfer
from core.jobs import CommandStarted
from core.migration.model.execution import State
from core.sides import Side
from tests.core.history import samples
from tests.core.history.contents import contents, rows_of
from tests.core.history.samples import MOVE, OLD
from tests.histories import Histories


@pytest.mark.slow
def test_there_and_back_it_is_what_it_was(filled: Store, histories: Histories, tmp_path: Path) -> None:
    filled.record_command(MOVE.name, CommandStarted(OLD.name, "root", "cat a\0b \ufffe \ufffe0 ü🐘"))
    filled.execution_changed(1, State.STOPPED)
    rows = rows_of(filled)
    with histories.placed("postgresql", tmp_path) as place:
        assert {name: count for name, count in transfer(filled.path.parent, place).items() if count} == {
            name: len(found) for name, found in rows.items()
        }
        with Store.open(place) as there:
            assert rows_of(there) == rows
            assert there.recorded_here(1)  # seals are of numbers, and numbers stay
            assert len(there.waivers(MOVE.name)) == len(filled.waivers(MOVE.name))
        transfer(place, tmp_path / "back")
        with Store.open(tmp_path / "back") as back:
            assert contents(back.path) == contents(filled.path)


def test_numbers_go_on_behind_those_that_came(filled: Store, histories: Histories, tmp_path: Path) -> None:
    filled.execution_changed(1, State.DONE)
    with histories.placed("postgresql", tmp_path) as place:
        transfer(filled.path.parent, place)
        with Store.open(place) as there:
            latest = max(entry.reference for entry in there.entries(limit=1000) if entry.kind == "run")
            assert there.run_started(samples.runs(Side.OLD)[0]) == latest + 1
            assert there.execution_started(samples.execution()) == 2


@pytest.mark.slow
def test_nothing_is_put_over_what_is_there(filled: Store, histories: Histories, tmp_path: Path) -> None:
    filled.execution_changed(1, State.DONE)
    with histories.placed("postgresql", tmp_path, samples.set_up) as place:
        with Store.open(place) as there:
            before = rows_of(there)
        with pytest.raises(InputError, match="is not empty"):
            transfer(filled.path.parent, place)
        with pytest.raises(InputError, match="is not empty"):
            transfer(place, filled.path.parent)
        with Store.open(place) as there:
            assert rows_of(there) == before


def test_nothing_goes_while_something_is_recorded(filled: Store, histories: Histories, tmp_path: Path) -> None:
    filled.execution_changed(1, State.RUNNING)
    with histories.placed("postgresql", tmp_path) as place:
        with pytest.raises(InputError, match="something is being recorded"):
            transfer(filled.path.parent, place)
        with Store.open(place) as there:
            assert rows_of(there) == {}
