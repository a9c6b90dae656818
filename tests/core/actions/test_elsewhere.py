"""An execution that came with a history from elsewhere is shown, and none of its commands runs but by a typed word."""

import contextlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from core.actions import Session
from core.actions.execution import cancel_execution, execution_status, resume_execution, roll_back_execution
from core.errors import InputError, ServerError
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.executor import People
from core.migration.execution.taking_over import account, commands
from core.migration.model.execution import Execution, State
from core.migration.model.plan import functions_of
from core.servers import profiles
from tests.core.migration.builders import profile
from tests.core.migration.execution.builders import STEP, Nobody, execution

Action = Callable[[Session, str, People, Job], Execution]
ACTIONS = (resume_execution, cancel_execution, roll_back_execution)


@dataclass
class Dba(Nobody):
    """Somebody who is shown an execution and says whether it is theirs."""

    own: bool
    shown: list[tuple[int, str]] = field(default_factory=list)

    def take_over(self, execution: Execution, servers: str) -> bool:
        self.shown.append((execution.id, servers))
        return self.own


@pytest.fixture
def begun(session: Session, tmp_path: Path) -> int:
    """An interrupted execution, whose only command leaves a trace on the workstation."""
    for side in ("old", "new"):
        session.store.put_profile(profile(side, address="127.0.0.1", port=1))
    hook = replace(STEP, side="you", user="you", call=f"touch '{tmp_path / 'ran'}'", closes=True)
    made = execution(hook)
    made = replace(made, plan=replace(made.plan, way_back=(hook,)))
    number = session.store.execution_started(made)
    session.store.execution_changed(number, State.INTERRUPTED)
    return number


@pytest.mark.parametrize("action", ACTIONS)
def test_nothing_of_it_runs(
    session: Session, begun: int, action: Action, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session.store.close()
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "of another user"))
    with Store.open(session.store.path.parent) as store, Session(store, profiles.Nobody()) as given:
        with pytest.raises(InputError, match="was not taken over: nothing of it was run") as refused:
            action(given, "spring", Dba(own=False), Job())
        assert "type spring" in refused.value.hint
        assert not store.recorded_here(begun)
        shown, _ = execution_status(given, "spring")
    assert str(tmp_path / "ran") in shown.plan.steps[0].call
    assert not (tmp_path / "ran").exists()


def _key_is_lost(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    del store
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "made anew"))


def _upgraded(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    del monkeypatch, tmp_path
    with contextlib.closing(sqlite3.connect(store.path)) as connection, connection:
        for table in ("executions", "hooks", "waivers"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN seal")
        connection.execute("UPDATE alembic_version SET version_num = '0005'")


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("trouble", [_key_is_lost, _upgraded])
def test_who_is_shown_it_takes_it_over_by_their_word(
    session: Session,
    begun: int,
    action: Action,
    trouble: Callable[[Store, pytest.MonkeyPatch, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    session.store.close()
    trouble(session.store, monkeypatch, tmp_path)
    dba = Dba(own=True)
    with Store.open(session.store.path.parent) as store, Session(store, profiles.Nobody()) as own:
        assert not store.recorded_here(begun)
        with pytest.raises(ServerError, match="old"):  # it goes on to the servers, which are not there
            action(own, "spring", dba, Job())
        assert store.recorded_here(begun)
    assert dba.shown == [(begun, "old is old at 127.0.0.1 port 1, new is new at 127.0.0.1 port 1")]


def test_what_has_changed_since_it_was_shown_is_not_taken_over(session: Session, begun: int) -> None:
    shown = session.store.execution(begun)
    session.store.execution_changed(begun, State.STOPPED)
    with pytest.raises(InputError, match="has changed since it was shown"):
        session.store.take_over(shown)


def test_all_that_would_run_is_shown(begun: int, session: Session) -> None:
    found = session.store.execution(begun)
    step = replace(STEP, call="lines /etc/hosts\nevil", listing="list_files /a", mending="mend", user="root")
    plan = replace(found.plan, steps=(step,), settings=(("copy_needs", "ssh"),), functions=functions_of([step]))
    assert commands(replace(found, plan=plan)) == (
        "1. on old as root: lines /etc/hosts\n     evil",
        "1. on old as root: list_files /a",
        "1. on old as root: mend",
        f"1. on old as you: {found.plan.way_back[0].call}",
        "with copy_needs=ssh",
    )
    assert "are word for word this pghaul's" in account(replace(found, plan=plan), "")
    other = replace(plan, functions=plan.functions.replace("fail ", "evil ", 1))
    assert "are not this pghaul's" in account(replace(found, plan=other), "")
