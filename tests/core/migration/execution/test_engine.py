"""What the engine makes of steps that do not print the same, and of a stop that failed or is in doubt."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from core.errors import BlockedError, CommandError, PghaulError
from core.facts.model import TrialStart
from core.history.store import Store
from core.jobs import Event, Job, Note
from core.migration.execution.engine import carry_out_plan, compare_step_outputs
from core.migration.execution.executor import Executor
from core.migration.model import step_ids
from core.migration.model.execution import State
from core.migration.model.plan import RemoteCall, Step, Verification
from core.servers.connection import Completed, Server
from core.servers.shell import Shell
from core.sides import Side
from tests.core.migration.builders import set_up
from tests.core.migration.execution.builders import STEP
from tests.core.migration.execution.builders import execution as of_steps
from tests.core.migration.execution.whole_move import PLAN, execution
from tests.histories import Histories
from tests.live.moving import Person
from tests.steps import change_step

TAKEN = Step(
    id=step_ids.TAKE_INVENTORY,
    title="take inventory of old",
    action=RemoteCall(side=Side.OLD, user="postgres", call="take_inventory"),
    reason="",
    number=1,
)
COMPARED = Step(
    id="step-2",
    title="compare new's inventory with old's",
    action=RemoteCall(side=Side.NEW, user="postgres", call="take_inventory"),
    reason="",
    verification=Verification(equals=step_ids.TAKE_INVENTORY),
    number=2,
)


def executor(events: list[Event], taken: Step, compared: Step) -> Executor:
    made = replace(execution(), plan=replace(PLAN, steps=(taken, compared)))
    outputs = {1: "setting a = 1\nrelations r 2\n", 2: "setting a = 1\nrelations r 3\nsetting b = 4\n"}
    return cast("Executor", SimpleNamespace(execution=made, plan=made.plan, outputs=outputs, job=Job(events.append)))


def test_inventories_of_an_earlier_plan_that_differ_are_a_warning_with_both_sides() -> None:
    events: list[Event] = []
    compare_step_outputs(executor(events, TAKEN, COMPARED), COMPARED)
    (said,) = (each for each in events if isinstance(each, Note))
    assert said.level == "warning"
    assert re.search(r": relations r 2\. [^:]+: relations r 3; setting b = 4\.", said.text)


def test_other_steps_that_differ_have_failed() -> None:
    taken, compared = (
        change_step(TAKEN, id=step_ids.CHECKSUMS_OLD),
        change_step(COMPARED, equals=step_ids.CHECKSUMS_OLD),
    )
    with pytest.raises(BlockedError, match=r"relations r 2 .*relations r 3 "):
        compare_step_outputs(executor([], taken, compared), compared)


@dataclass
class Old:
    """A server that answers a function by what stands in `answers`, one after the other, and else by nothing.

    Attributes:
        asked: the functions of the steps, as they came.
    """

    answers: dict[str, list[str | PghaulError]]
    asked: list[str] = field(default_factory=list)
    name = "old"
    profile = SimpleNamespace(database_user="postgres")

    def can_become(self, *_: object) -> bool:
        return True

    def run(self, shell: Shell, *_: object, **__: object) -> Completed:
        function = shell.text.splitlines()[-1].split()[0]
        self.asked.append(function)
        given = self.answers.get(function, [])
        answer = given.pop(0) if given else "# 0 jobs" if function == "job_list" else ""
        if isinstance(answer, PghaulError):
            raise answer
        return Completed(shell.shown, 0, answer, "", 0.0)


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "history", set_up) as made:
        yield made


class Stopping:
    """An execution whose stop may fail."""

    STEPS = (
        change_step(STEP, id="warm", call="precopy_pass", precopy_pass=1, root="data"),
        change_step(STEP, id=step_ids.TAKE_INVENTORY, call="take_inventory", downtime=True),
        change_step(STEP, id=step_ids.STOP_OLD_CLUSTER, call="stop_folder", downtime=True),
        change_step(STEP, id=step_ids.CHECK_STOPPED, call="prove_stopped", downtime=True, only_checks=True),
        change_step(STEP, id="sync", call="rest_pass", downtime=True),
    )

    def __init__(self, store: Store, **answers: list[str | PghaulError]) -> None:
        self.store, self.old = store, Old(answers)
        self.number = store.execution_started(of_steps(*self.STEPS))

    def carried_out(self, *tried: TrialStart) -> list[str]:
        """What it warns of. `tried`: what each trial start shows; none may be made where there is none left."""
        left, events = list(tried), list[Event]()
        at = Executor(
            self.number,
            self.store,
            lambda _: cast("Server", self.old),
            Person("15/main"),
            Job(events.append),
            (lambda _: left.pop(0)) if tried else None,
        )
        carry_out_plan(at)
        return [each.text for each in events if isinstance(each, Note) and each.level == "warning"]

    @property
    def state(self) -> State:
        return self.store.execution(self.number).state


def failed(status: int, said: str = "") -> CommandError:
    return CommandError("failed", exit_status=status, stderr=said)


@pytest.mark.slow
def test_where_the_new_server_refuses_a_trial_start_old_is_not_stopped(store: Store) -> None:
    move, trial = Stopping(store, prove_stopped=["sum"]), TrialStart("/a", "/b", "")
    with pytest.raises(BlockedError, match=r"any more: FATAL:  no\. The old cluster was not stopped") as caught:
        move.carried_out(replace(trial, failed="FATAL:  no"))
    assert "--resume" in caught.value.hint
    assert (move.state, move.old.asked.count("stop_folder")) == (State.STOPPED, 0)
    said = move.carried_out(replace(trial, not_tried="there is no root"))
    assert any("not tried again before the stop, because there is no root" in each for each in said), said
    assert (move.state, move.old.asked.count("stop_folder")) == (State.DONE, 1)


@pytest.mark.slow
def test_where_systemd_would_not_start_the_unit_of_new_old_is_not_stopped(store: Store) -> None:
    """It may be so since the checks: a file system is gone, or somebody has changed the unit."""
    move, trial = Stopping(store, prove_stopped=["sum"]), TrialStart("/a", "/b", "", not_tried="there is no room")
    with pytest.raises(BlockedError, match=r"ConditionPathExists=/none\. The old cluster was not stopped") as caught:
        move.carried_out(replace(trial, unmet=("ConditionPathExists=/none",)))
    assert "--resume" in caught.value.hint
    assert (move.state, move.old.asked.count("stop_folder")) == (State.STOPPED, 0)
    move.carried_out(trial)
    assert (move.state, move.old.asked.count("stop_folder")) == (State.DONE, 1)


@pytest.mark.slow
def test_old_that_is_stopped_already_needs_no_trial_start(store: Store) -> None:
    move, trial = Stopping(store, stop_folder=[failed(1)], prove_stopped=["sum", "sum"]), TrialStart("/a", "/b", "")
    with pytest.raises(CommandError):
        move.carried_out(trial)
    move.carried_out(replace(trial, failed="FATAL:  no"))
    assert move.state is State.DONE


@pytest.mark.slow
def test_a_stop_that_failed_although_old_is_stopped_is_gone_on_with_behind_it(store: Store) -> None:
    """What only a running server can tell is not asked for again."""
    move = Stopping(store, stop_folder=[failed(1, "pghaul: the job was killed")], prove_stopped=["sum", "sum"])
    with pytest.raises(CommandError):
        move.carried_out()
    move.carried_out()
    assert move.state is State.DONE
    assert (move.old.asked.count("take_inventory"), move.old.asked.count("precopy_pass")) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("status", [126, 1], ids=["not run", "failed"])
def test_a_proof_of_the_stop_that_tells_nothing_is_no_reason_to_begin_anew(store: Store, status: int) -> None:
    said = failed(status, "grep: Cannot allocate memory")
    move = Stopping(store, prove_stopped=["sum", said, "sum"], rest_pass=[failed(1)])
    for why in ("exit status 1", "Cannot allocate memory"):
        with pytest.raises(PghaulError, match=why):
            move.carried_out()
    move.carried_out()
    assert move.state is State.DONE
    assert (move.old.asked.count("take_inventory"), move.old.asked.count("precopy_pass")) == (1, 1)


@pytest.mark.slow
def test_old_that_runs_again_is_copied_and_stopped_again(store: Store) -> None:
    proof: list[str | PghaulError] = ["sum", failed(1, "pghaul: a server runs in /a"), "another sum"]
    move = Stopping(store, prove_stopped=proof, list_servers_in=["4711\n"], rest_pass=[failed(1)])
    with pytest.raises(CommandError):
        move.carried_out()
    move.carried_out()
    assert move.state is State.DONE
    assert (move.old.asked.count("take_inventory"), move.old.asked.count("precopy_pass")) == (2, 2)


@pytest.mark.slow
def test_old_that_was_started_and_stopped_again_must_be_started_to_be_copied_again(store: Store) -> None:
    move = Stopping(store, prove_stopped=["sum", "another sum"], rest_pass=[failed(1)])
    with pytest.raises(CommandError):
        move.carried_out()
    with pytest.raises(BlockedError, match="does not run now") as caught:
        move.carried_out()
    assert "--resume" in caught.value.hint
    assert move.old.asked.count("take_inventory") == 1
