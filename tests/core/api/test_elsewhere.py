"""An execution that came with a history from elsewhere is shown, and none of its commands runs but by a typed word."""

import contextlib
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from core.api.execution import cancel_execution, execution_status, resume_execution, roll_back_execution
from core.api.session import Session
from core.errors import InputError, ServerError
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.resume import DIFFERS
from core.migration.execution.taking_over import describe_execution, find_functions_to_replace, refuse_strange_commands
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Operator, State
from core.migration.model.move import Hook, HookCommand
from core.migration.model.plan import ChannelUse, OperatorTask, functions_of
from core.servers import profiles
from core.servers.functions import functions
from core.sides import Side
from tests.core.migration.builders import profile
from tests.core.migration.execution.builders import STEP, Nobody, execution, ran
from tests.steps import change_step

Action = Callable[[Session, str, Operator, Job], Execution]
ACTIONS = (resume_execution, cancel_execution, roll_back_execution)


OWN = HookCommand(Hook.TELL_POOLER, "workstation", "")
SERVERS = {Side.OLD: "db1 at 192.0.2.11", Side.NEW: "db2 at 192.0.2.12"}


@dataclass
class Dba(Nobody):
    """Somebody who is shown an execution and says whether it is theirs."""

    own: bool
    shown: list[str] = field(default_factory=list)

    def accept_finding(self, found: str) -> str:  # noqa: ARG002
        return ""

    def confirm_take_over(self, move: str, shown: str) -> bool:
        assert move == "spring"
        self.shown.append(shown)
        return self.own


@pytest.fixture
def begun(session: Session, tmp_path: Path) -> int:
    """An interrupted execution, whose only command leaves a trace on the workstation."""
    for side in ("old", "new"):
        session.store.put_profile(profile(side, address="127.0.0.1", port=1))
    hook = change_step(
        STEP,
        id=OWN.hook.value,
        action=OperatorTask(hook=OWN.hook),
        command=f"touch '{tmp_path / 'ran'}'",
        channel=ChannelUse.CLOSES,
    )
    made = execution(hook)
    made = replace(made, plan=replace(made.plan, way_back=(hook,)))
    _record_hook(session.store, tmp_path)
    number = session.store.execution_started(made)
    session.store.execution_changed(number, State.INTERRUPTED)
    return number


def _record_hook(store: Store, tmp_path: Path) -> None:
    store.save_hook("spring", replace(OWN, command=f"touch '{tmp_path / 'ran'}'"))


@pytest.mark.parametrize("action", ACTIONS)
def test_nothing_of_it_runs(
    session: Session, begun: int, action: Action, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session.store.close()
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "of another user"))
    with Store.open(session.store.path.parent) as store, Session(store, profiles.Nobody()) as given:
        with pytest.raises(InputError, match="touch "):
            action(given, "spring", Dba(own=True), Job())
        _record_hook(store, tmp_path)
        with pytest.raises(InputError, match="was not taken over, so none of its steps was run") as refused:
            action(given, "spring", Dba(own=False), Job())
        assert "type spring" in refused.value.hint
        assert not store.recorded_here(begun)
        found, _ = execution_status(given, "spring")
    assert str(tmp_path / "ran") in found.plan.steps[0].call
    assert not (tmp_path / "ran").exists()


def _key_is_lost(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    del store
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "made anew"))


def _upgraded(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    del monkeypatch, tmp_path
    with contextlib.closing(sqlite3.connect(store.path)) as connection, connection:
        # the table of runs stays as it is: the revision that lets a run belong to no move can be applied again
        for table in ("executions", "hooks", "waivers"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN seal")
        connection.execute("DROP INDEX ix_runs_starts")
        connection.execute("ALTER TABLE moves DROP COLUMN edited")
        connection.execute("ALTER TABLE executions DROP COLUMN follow_up_done")
        connection.execute("ALTER TABLE executions DROP COLUMN schedule")
        connection.execute("ALTER TABLE moves DROP COLUMN precopy_limit")
        connection.execute("ALTER TABLE moves DROP COLUMN asked")
        connection.execute("ALTER TABLE check_results DROP COLUMN pending")
        for table in [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%note TEXT%'")
        ]:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN note")
        connection.execute("UPDATE alembic_version SET version_num = '0005'")


@pytest.mark.slow
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
        _record_hook(store, tmp_path)
        with pytest.raises(ServerError, match="old"):  # it goes on to the servers, which are not there
            action(own, "spring", dba, Job())
        assert store.recorded_here(begun)
    (told,) = dba.shown
    assert re.search(rf"^1\. [^:]+: touch '{tmp_path / 'ran'}'$", told, re.MULTILINE)
    assert "The old server is old at 127.0.0.1 port 1. The new server is new at 127.0.0.1 port 1. " in told


def test_what_has_changed_since_it_was_shown_is_not_taken_over(
    session: Session, begun: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = session.store.execution(begun)
    session.store.execution_changed(begun, State.STOPPED)
    session.store.close()
    _key_is_lost(session.store, monkeypatch, tmp_path)
    with Store.open(session.store.path.parent) as store:
        with pytest.raises(InputError, match=rf"\b{begun}\b"):
            store.take_over(found, ())
        assert not store.recorded_here(begun)
        store.take_over(store.execution(begun), ())
        assert store.recorded_here(begun)


@pytest.mark.parametrize(
    ("state", "another"),
    [
        (State.STOPPED, True),
        (State.PAUSED, True),
        (State.CANCELLED, True),
        (State.INTERRUPTED, False),
        (State.RUNNING, False),
    ],
)
def test_what_is_taken_over_has_its_own_locks_unless_something_of_it_is_on_the_servers(
    session: Session, begun: int, state: State, *, another: bool
) -> None:
    """Its processes and locks there are found by the token; without them both workstations could go on with it."""
    store = session.store
    store.execution_changed(begun, state)
    before = store.execution(begun)
    store.take_over(before, ())
    after = store.execution(begun)
    assert (after.token != before.token) is another
    assert (replace(after, token=before.token), store.recorded_here(begun)) == (before, True)


def test_all_that_would_run_is_shown() -> None:
    sums = change_step(STEP, id=step_ids.CHECKSUMS_OLD, user="postgres", call="sum")
    step = change_step(
        STEP, call="lines /etc/hosts\nevil", lists="list_files /a", resync="mend", side=Side.NEW, user="root"
    )
    hook = change_step(STEP, action=OperatorTask(), command="touch ran")  # whose server is a name that its author gave
    made = execution(sums, step, hook)
    plan = replace(made.plan, settings=(("copy_needs", "a\nb"),), functions=functions_of(made.plan.steps))
    lines = describe_execution(replace(made, plan=plan), SERVERS).split("\n")
    assert lines[:-2] == [
        "with copy_needs=a",
        "     b",
        "1. on the old server as postgres: sum",
        "2. on the new server as root: lines /etc/hosts",
        "     evil",
        "2. on the new server as root: list_files /a",
        "2. on the old server as postgres: mend",
        "3. on this workstation as you: touch ran",
    ]
    assert "begun 2026-" in lines[-1]
    assert "from /a on the old server to /b on the new server. The old server is db1 at 192.0.2.11. " in lines[-1]
    assert "plan has 5 commands. The functions that these call are exactly those of this pghaul." in lines[-1]


@pytest.mark.parametrize("change", ["without a guard", "with a line", "huge"])
def test_functions_that_are_not_this_pghauls_are_shown(change: str) -> None:
    made = execution(change_step(STEP, call="begin_pass x"))
    whole = functions_of(made.plan.steps)
    guard = functions()["refuse_running_server"].text
    assert guard in whole
    given = {
        "without a guard": whole.replace(guard, ""),
        "with a line": whole.replace("fail ", "evil ", 1),
        "huge": whole + "evil\n" * len(whole),
    }[change]
    said = describe_execution(replace(made, plan=replace(made.plan, functions=given)), SERVERS)
    assert said != describe_execution(replace(made, plan=replace(made.plan, functions=whole)), SERVERS)
    assert ("\n-refuse_running_server() {\n" if change == "without a guard" else "evil") in said


def test_a_command_for_the_workstation_that_is_no_hook_of_ones_own_is_refused() -> None:
    step = change_step(STEP, id=OWN.hook.value, action=OperatorTask(hook=OWN.hook, command="touch ran"))
    own = replace(OWN, command="touch ran")
    refuse_strange_commands(execution(step), (own,))
    for hooks in (
        (),
        (replace(own, command="true"),),
        (replace(own, from_elsewhere=True),),
        (replace(own, side=Side.OLD),),
    ):
        with pytest.raises(InputError, match=": touch ran"):
            refuse_strange_commands(execution(step), hooks)


def test_what_counts_as_done_is_shown_and_what_proves_or_is_read_runs_again(session: Session) -> None:
    for side in ("old", "new"):
        session.store.put_profile(profile(side))
    steps = [change_step(STEP, title=title, id=title, **more) for title, more in STEPS]
    made = execution(*steps)
    for number in (1, 2, 3, 4, 5, 6, 7, 8):
        made = ran(made, number)
    made = ran(made, 9, status=DIFFERS)
    assert find_functions_to_replace(made) == {
        1,
        2,
        5,
        8,
        9,
    }  # 6 is proven again by whoever goes on, and 3 cannot be had again
    said = describe_execution(made, SERVERS).split("\n")
    assert said[9:-2] == [
        "1. runs again: key",
        "2. runs again: take the key",
        "3. counts as done: stock",
        "     the history says that it has printed: ",
        f"4. counts as done: {step_ids.STOP_OLD_CLUSTER}",
        "5. runs again: prove",
        f"6. counts as done: {step_ids.CHECK_STOPPED}",
        "     the history says that it has printed: ",
        "7. counts as done: copy",
        f"8. runs again: {step_ids.CHECKSUMS_OLD}",
        "9. runs again: compare",
    ]
    number = session.store.execution_started(made)
    for run in made.steps:
        session.store.step_ended(replace(run, id=session.store.step_started(number, run)))
    session.store.take_over(session.store.execution(number), find_functions_to_replace(made))
    taken = session.store.execution(number)
    assert {run.number for run in taken.steps if run.void} == {1, 2, 5, 8, 9}
    assert session.store.recorded_here(number)
    assert (
        find_functions_to_replace(ran(execution(*steps, change_step(STEP, id=step_ids.START_LOCALLY)), 10))
        == frozenset()
    )


STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("key", {"channel": ChannelUse.OPENS}),
    ("take the key", {"reads": "key"}),
    ("stock", {}),
    (step_ids.STOP_OLD_CLUSTER, {}),
    ("prove", {"only_checks": True}),
    (step_ids.CHECK_STOPPED, {"only_checks": True}),
    ("copy", {"reads": step_ids.CHECK_STOPPED}),
    (step_ids.CHECKSUMS_OLD, {"reads": "stock"}),
    ("compare", {"equals": step_ids.CHECKSUMS_OLD}),
)
