"""Plans that an earlier version has recorded: read as this one's, and continued as they were begun."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from core import documents
from core.errors import HistoryError
from core.history.earlier_plans import EARLIER_BEGINNINGS, EARLIER_NAMES, load_plan
from core.history.store import Store
from core.jobs import Job
from core.migration.execution.runner import Runner
from core.migration.execution.step_runner import StepRunner
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import Decision, OperatorTask, Step
from core.migration.plan import runbook, script
from core.servers.connection import Completed
from core.servers.connection import Server as Connected
from core.servers.shell import Shell, words_of
from core.sides import Side
from tests.core.history.samples import MOVE, START, set_up
from tests.core.migration.execution.builders import Nobody
from tests.core.migration.plan.plans import VARIANTS
from tests.earlier import as_earlier
from tests.histories import Histories

RECORDED = Path("tests/data/earlier-plans")
DOCUMENTS = sorted(path.name.partition(".")[0] for path in RECORDED.glob("*.json.gz"))
LISTS = ("steps", "way_back", "back_with_loss", "later")
IDS = {value for name, value in vars(step_ids).items() if name.isupper()}


def recorded(name: str) -> str:
    """A document as an earlier version has written it."""
    return gzip.decompress((RECORDED / f"{name}.json.gz").read_bytes()).decode()


every_document = pytest.mark.parametrize("name", DOCUMENTS)


def test_there_are_documents_of_a_cold_copy_a_warm_one_and_a_dress_rehearsal() -> None:
    assert DOCUMENTS == ["cold-nfs", "dressed-daemon", "warm-hooks"]


@every_document
def test_each_step_is_what_it_was(name: str) -> None:
    found, plan = json.loads(recorded(name)), load_plan(recorded(name))
    assert (plan.functions, dict(plan.settings)) == (found["functions"], dict(found["settings"]))
    for part in LISTS:
        for before, step in zip(found[part], getattr(plan, part), strict=True):
            seen = {
                "title": step.title,
                "side": step.side or "you",
                "user": step.user,
                "call": step.call,
                "native": list(step.native),
                "number": step.number,
                "detached": step.detached,
                "private": step.private,
                "stopped": step.downtime,
                "skippable": not step.resume.required,
                "renewed": step.resume.opens_channel,
                "closes": step.resume.closes_channel,
                "proves": step.verification.only_checks,
                "listing": step.verification.lists,
                "mending": step.verification.resync,
                "point_of_no_return": step.point_of_no_return,
                "expected_seconds": step.expected_seconds,
            }
            assert {key: before[key] for key in seen} == seen


@every_document
def test_each_id_is_one_of_this_version_and_what_was_referred_to_is_found(name: str) -> None:
    found, plan = json.loads(recorded(name)), load_plan(recorded(name))
    numbers = {step["name"]: step["number"] for step in found["steps"]}
    for before, step in zip(found["steps"], plan.steps, strict=True):
        assert step.id in IDS or step_ids.family_of(step.id, *IDS), step.id
        for earlier, now in (("reads", step.reads), ("agrees_with", step.verification.equals)):
            other = plan.step(now) if now else None
            assert (other.number if other else None) == numbers.get(before[earlier])
    assert len({step.id for step in plan.steps}) == len(plan.steps)
    assert sum(isinstance(step.action, Decision) for step in plan.steps) == 1


def test_the_operators_own_commands_stay_with_their_hooks() -> None:
    plan = load_plan(recorded("warm-hooks"))
    own = {step.action.hook: step.action.command for step in plan.steps if isinstance(step.action, OperatorTask)}
    assert {hook: command for hook, command in own.items() if command} == {
        "stop-applications": "./stop-applications now",
        "tell-pooler": "psql -c 'RELOAD' | cat",
    }


@every_document
def test_a_document_comes_out_as_it_was_recorded(name: str) -> None:
    """So `as_earlier` writes what that version wrote, and other tests may use it."""
    assert json.loads(as_earlier(load_plan(recorded(name)))) == json.loads(recorded(name))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_plan_of_each_kind_is_the_same_by_way_of_an_earlier_document(name: str) -> None:
    plan = VARIANTS[name]()
    assert load_plan(as_earlier(plan)) == plan


@every_document
def test_its_script_and_its_runbook_can_be_written(name: str) -> None:
    plan = load_plan(recorded(name))
    text = script(plan)
    assert all(f"  step {step.number} " in text for step in plan.steps)
    assert all(f"### {step.number}. " in runbook(plan) for step in plan.steps)


def test_names_and_beginnings_lead_to_declared_ids() -> None:
    assert {*EARLIER_NAMES.values(), *EARLIER_BEGINNINGS.values()} <= IDS


@pytest.fixture
def known(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "history", set_up) as made:
        yield made


def begun(store: Store, document: str, monkeypatch: pytest.MonkeyPatch, written: str = "") -> Execution:
    """An execution as an earlier version has recorded and signed it; `written`: with another document."""
    plan = load_plan(document)
    with monkeypatch.context() as earlier:
        earlier.setattr(documents, "dump", lambda _plan: written or document)
        of = Execution(0, MOVE.name, Kind.REAL, State.RUNNING, "c0ffee00", "dba@desk", START, None, plan)
        return store.execution(store.execution_started(of))


@every_document
def test_the_seal_of_its_execution_holds_and_goes_on_to_hold(
    name: str, known: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = begun(known, recorded(name), monkeypatch)
    assert known.recorded_here(execution.id)
    run = StepRun(0, 1, execution.plan.steps[0].title, 1, START)
    known.step_ended(replace(run, id=known.step_started(execution.id, run), ended_at=START, exit_status=0))
    assert known.recorded_here(execution.id)


@dataclass
class Server:
    """A server on which every call prints nothing and succeeds.

    Attributes:
        ran: the function of each call, as they came.
    """

    name: str
    ran: list[str] = field(default_factory=list)
    profile = SimpleNamespace(database_user="postgres")

    def can_become(self, *_: object) -> bool:
        return True

    def run(self, shell: Shell, *_: object, **__: object) -> Completed:
        function = shell.text.splitlines()[-1].split()[0]
        self.ran.append(function)
        return Completed(shell.shown, 0, "# 0 jobs" if function == "job_list" else "", "", 0.0)


class Agreeing(Nobody):
    """An operator who has done what is asked for."""

    def confirm_manual_step(self, step: Step) -> bool:
        assert isinstance(step.action, OperatorTask | Decision)
        return True


@every_document
def test_an_execution_that_stopped_at_the_decision_goes_on_to_its_end(
    name: str, known: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = recorded(name).replace("./stop-applications now", "true").replace("psql -c 'RELOAD' | cat", "true")
    execution = begun(known, document, monkeypatch)
    decision = execution.plan.step(step_ids.DECIDE)
    assert decision is not None
    for step in execution.plan.steps[: decision.number - 1]:
        run = StepRun(0, step.number, step.title, 1, START)
        known.step_ended(replace(run, id=known.step_started(execution.id, run), ended_at=START, exit_status=0))
    known.execution_changed(execution.id, State.STOPPED, "the operator waited")
    servers = {side: Server(side) for side in Side}
    steps = StepRunner(execution.id, known, lambda side: cast("Connected", servers[side]), Agreeing(), Job())
    Runner(steps).carry_out()
    done = known.execution(execution.id)
    assert (done.state, done.past_return) == (State.DONE, True)
    assert known.recorded_here(execution.id)
    again = [run.number for run in done.steps if run.attempt > 1]
    repeated = (step_ids.CHECK_STOPPED, step_ids.CHECK_DATA_ROOTS_STOPPED, step_ids.START_LOCALLY)
    assert sorted(again) == sorted(step.number for step in done.plan.steps if step.id in repeated)
    cutover = done.plan.step(step_ids.CUTOVER)
    assert cutover is not None
    assert words_of(cutover.call)[0] in servers[Side.NEW].ran


@pytest.mark.parametrize(
    "steps",
    [[{"title": "of no side"}], [{"name": ["stop"], "side": "old", "call": 1}], [1, {}], {"0": {}}, "steps", [None]],
    ids=["a field is missing", "other kinds of values", "a number", "an object", "a text", "nothing"],
)
def test_what_is_no_plan_is_refused(steps: object, known: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    document = recorded("cold-nfs")
    broken = json.loads(document) | {"steps": steps}
    with pytest.raises(HistoryError, match="plan document"):
        begun(known, document, monkeypatch, written=json.dumps(broken))
