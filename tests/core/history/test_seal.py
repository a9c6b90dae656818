"""What a history from elsewhere would have run is shown, never run: only what this user has recorded bears a seal."""

import contextlib
import dataclasses
import os
import shutil
import sqlite3
import stat
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core import settings, this_workstation
from core.errors import HistoryError
from core.history.seal import KEY_FILE, Seal
from core.history.store import Store
from core.migration.model.execution import State
from core.migration.model.move import Hook, HookCommand
from tests.core.history import samples
from tests.core.history.samples import HOOK, MOVE, OLD


@pytest.fixture
def elsewhere(filled: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Store]:
    """The filled history as another user opens it, who was given its folder."""
    assert filled.recorded_here(1)
    filled.close()
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "of another user"))
    with Store.open(filled.path.parent) as store:
        yield store


def test_a_hook_from_elsewhere_says_so(filled: Store, elsewhere: Store) -> None:
    (found,) = elsewhere.hooks(MOVE.name)
    assert (found.command, found.from_elsewhere) == (HOOK.command, True)
    elsewhere.save_hook(MOVE.name, HOOK)
    assert elsewhere.hooks(MOVE.name) == (HOOK,)
    assert filled.hooks(MOVE.name)[0].from_elsewhere


def test_an_execution_from_elsewhere_was_not_recorded_here(elsewhere: Store) -> None:
    assert not elsewhere.recorded_here(1)
    own = elsewhere.execution_started(samples.execution())
    assert elsewhere.recorded_here(own)


def test_a_waiver_from_elsewhere_does_not_count(filled: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waiver = dataclasses.replace(samples.waiver(), at=datetime.now(UTC))
    filled.add_waiver(MOVE.name, waiver)
    assert filled.waivers(MOVE.name) == (waiver,)
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "of another user"))
    with Store.open(filled.path.parent) as elsewhere:
        assert elsewhere.waivers(MOVE.name) == ()
        assert [entry.kind for entry in elsewhere.entries()].count("waiver") == 2
        elsewhere.add_waiver(MOVE.name, waiver)
        assert elsewhere.waivers(MOVE.name) == (waiver,)


@pytest.mark.parametrize("change", ["withdrawn_at = NULL", "waived_at = '2026-11-23 00:00:00.000000'"])
def test_a_waiver_that_was_withdrawn_or_given_earlier_is_not_brought_back(filled: Store, change: str) -> None:
    filled.add_waiver(MOVE.name, dataclasses.replace(samples.waiver(), at=datetime.now(UTC)))
    if change.startswith("withdrawn_at"):
        filled.withdraw_waiver(MOVE.name, "libc")
    _execute(filled.path, f"UPDATE waivers SET {change}")
    assert filled.waivers(MOVE.name) == ()


def test_a_waiver_is_of_the_move_that_was_seen(filled: Store) -> None:
    waiver = dataclasses.replace(samples.waiver(), at=datetime.now(UTC))
    filled.add_waiver(MOVE.name, waiver)
    filled.put_move(dataclasses.replace(MOVE, target="/elsewhere"))
    _execute(filled.path, "UPDATE moves SET changed_at = NULL")
    assert filled.waivers(MOVE.name) == ()


STEPS = (
    "UPDATE execution_steps SET exit_status = 0 WHERE number = 2",
    "UPDATE execution_steps SET output = CAST('tssh-ed25519 another key' AS BLOB) WHERE number = 1",
    "UPDATE execution_steps SET void = 1 WHERE number = 1",
    "UPDATE execution_steps SET back = 1 WHERE number = 1",
    "UPDATE execution_steps SET number = 3 WHERE number = 2",
    "DELETE FROM execution_steps WHERE number = 2",
    """CREATE TABLE more AS SELECT * FROM execution_steps WHERE number = 1; UPDATE more SET id = 99, number = 3;
    INSERT INTO execution_steps SELECT * FROM more""",
    "UPDATE executions SET state = 'running'",
    "UPDATE executions SET kind = 'real'",
    """UPDATE executions SET schedule = '{"start_at":null,"ask_at":"2026-11-30T22:00:00Z"}'""",
    "UPDATE executions SET move_id = 2",
    "UPDATE executions SET id = 99 WHERE id = 1; UPDATE execution_steps SET execution_id = 99 WHERE execution_id = 1",
    "UPDATE profiles SET address = '192.0.2.99' WHERE name = 'gannon-new'",
)


@pytest.fixture
def underway(filled: Store) -> Store:
    """The filled history, whose execution has a second step that failed, and another move."""
    filled.add_move(dataclasses.replace(MOVE, name="another"))
    step = dataclasses.replace(samples.step_run(2), title="prove the stop")
    step = dataclasses.replace(step, id=filled.step_started(1, step))
    filled.step_ended(dataclasses.replace(step, ended_at=datetime.now(UTC), exit_status=1, output="it runs"))
    return filled


@pytest.mark.slow
@pytest.mark.parametrize("change", STEPS)
def test_how_a_step_came_out_is_sealed(underway: Store, change: str) -> None:
    assert underway.recorded_here(1)
    _execute(underway.path, change)
    (found,) = [*underway.executions(MOVE.name), *underway.executions("another")]
    assert not underway.recorded_here(found.id)
    assert f"execution {found.id}" in underway.from_elsewhere(found.move)  # read in another way, for a list of moves


@pytest.mark.parametrize("plan", [b"t[]", b"z" + zlib.compress(b"[]"), b"t\xff", b""])
def test_an_execution_whose_plan_was_changed_is_not_ones_own(underway: Store, plan: bytes) -> None:
    assert underway.from_elsewhere(MOVE.name) == ()
    with contextlib.closing(sqlite3.connect(underway.path)) as connection, connection:
        connection.execute("UPDATE executions SET plan = ?", (plan,))
    assert underway.from_elsewhere(MOVE.name) == ("execution 1",)


@pytest.mark.parametrize("plan", ["[]", 5, b"z" + zlib.compress(b"[]" * 99)[:-9]])
def test_a_list_of_moves_says_where_a_plan_is_garbled(underway: Store, plan: object) -> None:
    with contextlib.closing(sqlite3.connect(underway.path)) as connection, connection:
        connection.execute("UPDATE executions SET plan = ?", (plan,))
    with pytest.raises(HistoryError):
        underway.all_from_elsewhere([MOVE.name])


def test_what_goes_on_leaves_the_seal_whole(underway: Store) -> None:
    underway.steps_void(1, 2)
    underway.execution_changed(1, State.RUNNING)
    step = dataclasses.replace(samples.step_run(2, attempt=2), title="caf\udce9 PGPASSWORD=geheim")
    number = underway.step_started(1, step)
    underway.step_progressed(number, 5, 10)
    underway.ask_cancel(1)
    underway.step_ended(
        dataclasses.replace(step, id=number, ended_at=datetime.now(UTC), output="password=geheim\udce9", message="x")
    )
    underway.execution_changed(1, State.INTERRUPTED)
    underway.update_profile(dataclasses.replace(OLD, name="renamed", user="another"), OLD.name)
    assert underway.recorded_here(1)


def test_what_was_changed_elsewhere_is_not_sealed_by_going_on(underway: Store) -> None:
    _execute(underway.path, STEPS[0])
    underway.execution_changed(1, State.STOPPED)
    underway.steps_void(1, 3)
    assert not underway.recorded_here(1)


@pytest.mark.parametrize("statement", STEPS[:4])
def test_what_was_changed_elsewhere_goes_on_with_no_further_step(underway: Store, statement: str) -> None:
    _execute(underway.path, statement)
    tried = underway.execution(1).steps
    with pytest.raises(HistoryError, match=r"execution 1 of .* was changed in the history") as found:
        underway.step_started(1, samples.step_run(3))
    assert "--resume" in found.value.hint
    assert underway.execution(1).steps == tried


def _execute(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(statement)


def test_what_is_not_ones_own_is_named(filled: Store, elsewhere: Store) -> None:
    assert elsewhere.from_elsewhere(MOVE.name) == ("execution 1", "hook move-address", "waiver of libc")
    assert filled.from_elsewhere(MOVE.name) == ()  # opened under the key by which it was sealed
    elsewhere.add_move(dataclasses.replace(MOVE, name="own"))
    elsewhere.execution_started(dataclasses.replace(samples.execution(), move="own"))
    assert elsewhere.from_elsewhere("own") == ()


@pytest.mark.parametrize("change", ["UPDATE hooks SET command = 'rm -r /'", "UPDATE hooks SET side = 'old'"])
def test_a_command_that_was_changed_bears_no_seal(filled: Store, change: str) -> None:
    _execute(filled.path, change)
    assert filled.hooks(MOVE.name)[0].from_elsewhere


def test_a_command_is_of_the_move_that_it_was_given_for(filled: Store) -> None:
    filled.add_profile(dataclasses.replace(OLD, name="third", address="192.0.2.33"))
    filled.add_move(dataclasses.replace(MOVE, name="another", old="third", target="/elsewhere"))
    numbers = ((99, 2), (2, 1), (1, 99))
    _execute(filled.path, ";".join(f"UPDATE moves SET id = {to} WHERE id = {number}" for to, number in numbers))
    assert filled.hooks("another")[0].from_elsewhere


def test_a_command_stays_ones_own_as_one_changes_the_move(filled: Store) -> None:
    filled.update_profile(dataclasses.replace(OLD, address="192.0.2.44"))
    filled.add_profile(dataclasses.replace(OLD, name="third", address="192.0.2.33"))
    filled.put_move(dataclasses.replace(MOVE, old="third", target="/elsewhere"))
    assert filled.hooks(MOVE.name) == (HOOK,)
    _execute(filled.path, "UPDATE hooks SET command = 'rm -r /'")
    filled.put_move(MOVE)
    assert filled.hooks(MOVE.name)[0].from_elsewhere


def test_a_key_that_cannot_be_used_is_said_and_what_is_there_is_shown(filled: Store) -> None:
    filled.close()
    key = settings.config_folder() / KEY_FILE
    key.chmod(0o640)
    with Store.open(filled.path.parent) as store:
        said = "".join(store.remarks)
        assert f"{key}, which signs what you record in the history, can be read or written by other" in said
        assert store.from_elsewhere(MOVE.name) == ("execution 1", "hook move-address", "waiver of libc")
        assert store.hooks(MOVE.name)[0].from_elsewhere
        with pytest.raises(HistoryError, match="can be read or written by other users"):
            store.recorded_here(1)
        with pytest.raises(HistoryError, match="can be read or written by other users"):
            store.save_hook(MOVE.name, HOOK)


def test_the_key_is_flushed_with_the_folder_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda handle: flushed.append(stat.S_ISDIR(os.fstat(handle).st_mode)))
    Seal(tmp_path).of("hook")
    assert flushed == [False, True]


def test_the_key_is_the_users_alone(tmp_path: Path) -> None:
    seal = Seal(tmp_path / "made" / "for it")
    made = seal.of("hook", "1")
    assert seal.holds(made, "hook", "1")
    assert not seal.holds(made, "hook1")
    assert not seal.holds(None, "hook", "1")
    key = tmp_path / "made" / "for it" / KEY_FILE
    assert key.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in key.parent.iterdir()] == [KEY_FILE]
    assert Seal(key.parent).of("hook", "1") == made
    assert Seal(tmp_path / "other").of("hook", "1") != made
    assert not Seal(tmp_path / "none").holds(made, "hook", "1")


@pytest.mark.parametrize("trouble", ["readable", "short", "link"])
def test_a_key_that_others_may_know_seals_nothing(tmp_path: Path, trouble: str) -> None:
    seal = Seal(tmp_path)
    made = seal.of("hook")
    key = tmp_path / KEY_FILE
    if trouble == "readable":
        key.chmod(0o640)
    elif trouble == "short":
        key.write_bytes(b"short")
    else:
        shutil.move(key, tmp_path / "key")
        key.symlink_to(tmp_path / "key")
    with pytest.raises(HistoryError, match="signs what you record in the history"):
        seal.holds(made, "hook")


def test_the_key_lies_outside_of_the_history(store: Store) -> None:
    store.add_profile(samples.OLD)
    store.add_profile(samples.NEW)
    store.add_move(MOVE)
    store.save_hook(MOVE.name, HookCommand(Hook.MOVE_ADDRESS, "workstation", "true"))
    assert (settings.config_folder() / KEY_FILE).exists()
    assert not settings.config_folder().is_relative_to(store.path.parent)
    assert KEY_FILE not in {name for _, _, files in os.walk(store.path.parent) for name in files}


def test_on_windows_the_mode_of_the_key_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seal = Seal(tmp_path)
    sealed = seal.of("a word")
    (tmp_path / KEY_FILE).chmod(0o644)
    with pytest.raises(HistoryError, match="can be read or written by other users"):
        seal.holds(sealed, "a word")
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    assert seal.holds(sealed, "a word")
    assert not seal.holds(sealed, "another")
