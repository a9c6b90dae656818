"""What goes into the store comes out of it."""

import dataclasses
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import StatementError

from core.benchmarks.model import BenchmarkJournal, Outcome, Repetition, Run
from core.errors import InputError
from core.facts.model import Facts
from core.history.store import KINDS, Filter, Store
from core.jobs import CommandEnded, CommandStarted
from core.migration.model.asked import NOTHING, Asked
from core.migration.model.checks import Status
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution, State
from core.migration.model.move import EditedSettings, Hook, HookCommand
from core.migration.model.plan import PlanWarning
from core.migration.model.probe import ProbeJournal, Quantity
from core.servers.profiles import Profile, Rights
from core.sides import Side
from tests.core.history import samples
from tests.core.history.conftest import on_both
from tests.core.history.contents import reopened, rows_of
from tests.core.history.samples import MOVE, NEW, OLD, START, step_run

pytestmark = on_both


def test_everything_survives_a_restart(filled: Store) -> None:
    filled.close()
    with reopened(filled) as again:
        assert again.profiles() == (NEW, OLD)
        assert again.profile(OLD.name) == OLD
        assert again.moves() == (MOVE,)
        assert again.facts(OLD.name) == samples.facts(Side.OLD)
        assert again.facts(NEW.name) == samples.facts(Side.NEW)
        assert again.probes(MOVE.name) == samples.probes()
        assert again.checks(MOVE.name) == samples.checks()
        assert again.estimate(MOVE.name) == samples.estimate()
        assert again.plan(MOVE.name) == samples.plan()
        kept = [dataclasses.replace(run, id=None) for run in again.runs(MOVE.name, side=Side.NEW)]
        assert kept == list(samples.runs(Side.NEW))


@pytest.mark.slow
def test_an_empty_history_says_so(store: Store) -> None:
    store.add_profile(OLD)
    store.add_move(dataclasses.replace(MOVE, new=OLD.name))
    assert store.facts(OLD.name) is None
    assert store.facts_history(OLD.name) == ()
    assert store.runs(MOVE.name) == ()
    assert store.probes(MOVE.name) == ()
    assert store.checks(MOVE.name) is None
    assert store.checks_taken_at(MOVE.name) is None
    assert store.estimate(MOVE.name) is None
    assert store.plan(MOVE.name) is None
    assert store.commands(MOVE.name) == ()


def test_the_latest_wins_and_the_earlier_stay(filled: Store) -> None:
    later = dataclasses.replace(samples.facts(Side.OLD), taken_at=START + timedelta(days=1), seconds=9.0)
    number = filled.save_facts(later)
    assert filled.facts(OLD.name) == later
    history = filled.facts_history(OLD.name)
    assert [at for _, at in history] == [later.taken_at, samples.facts(Side.OLD).taken_at]
    assert history[0][0] == number
    assert filled.facts_by_id(history[1][0]) == samples.facts(Side.OLD)

    filled.save_checks(MOVE.name, ())
    assert filled.checks(MOVE.name) == ()
    filled.save_estimate(MOVE.name, Estimate(()))
    found = filled.estimate(MOVE.name)
    assert found is not None
    assert found.methods == ()
    assert found.made_at is not None
    slower = dataclasses.replace(samples.probes()[0], taken_at=START + timedelta(days=1), bytes_per_second=1.0)
    filled.probe_taken(MOVE.name, slower)
    assert filled.probes(MOVE.name)[0] == slower
    sampled = {probe.quantity for probe in samples.probes()}
    assert [probe.quantity for probe in filled.probes(MOVE.name)] == [each for each in Quantity if each in sampled]


def test_a_watch_that_was_begun_hides_nothing_until_it_is_collected(filled: Store) -> None:
    seen = next(each for each in filled.probes(MOVE.name) if each.quantity is Quantity.CHANGES)
    assert filled.uncollected_watch(MOVE.name) is None
    begun = dataclasses.replace(seen, taken_at=START + timedelta(days=1), seconds=0.0, bytes=0, bytes_per_second=0.0)
    filled.probe_taken(MOVE.name, begun)
    assert filled.uncollected_watch(MOVE.name) == begun
    ended = dataclasses.replace(begun, began_at=START + timedelta(days=1, hours=1), method="watch ended")
    filled.probe_taken(MOVE.name, ended)
    assert filled.uncollected_watch(MOVE.name) is None
    assert next(each for each in filled.probes(MOVE.name) if each.quantity is Quantity.CHANGES) == seen
    filled.probe_taken(MOVE.name, begun)
    assert next(each for each in filled.probes(MOVE.name) if each.quantity is Quantity.CHANGES) == seen
    later = dataclasses.replace(seen, taken_at=START + timedelta(days=2))
    filled.probe_taken(MOVE.name, later)
    assert filled.uncollected_watch(MOVE.name) is None
    assert next(each for each in filled.probes(MOVE.name) if each.quantity is Quantity.CHANGES) == later


def test_a_run_is_recorded_while_it_happens(filled: Store) -> None:
    running = dataclasses.replace(
        samples.runs(Side.OLD)[0],
        repetitions=(),
        outcome=None,
        ended_at=None,
        tool_version=None,
        started_at=START + timedelta(days=2),
    )
    number = filled.run_started(running)
    assert filled.run(number) == dataclasses.replace(running, id=number)

    repetition = dataclasses.replace(samples.runs(Side.OLD)[0].repetitions[0], metrics={"write_iops": 1.0})
    filled.repetition_ended(number, repetition)
    ended = START + timedelta(days=2, minutes=3)
    filled.run_ended(number, Outcome.CANCELLED, ended, "fio-3.1")
    assert filled.run(number) == dataclasses.replace(
        running,
        id=number,
        repetitions=(repetition,),
        outcome=Outcome.CANCELLED,
        ended_at=ended,
        tool_version="fio-3.1",
    )
    with pytest.raises(InputError, match="already has a repetition 1"):
        filled.repetition_ended(number, repetition)
    with pytest.raises(InputError, match="no run 4711"):
        filled.run_ended(4711, Outcome.DONE, ended, None)


def test_latest_only_prefers_what_is_done(filled: Store) -> None:
    first = samples.runs(Side.OLD)[0]

    def again(days: int, outcome: Outcome | None) -> int:
        return filled.run_started(
            dataclasses.replace(first, started_at=START + timedelta(days=days), outcome=outcome, repetitions=())
        )

    done = again(1, Outcome.DONE)
    again(2, Outcome.FAILED)
    again(3, None)
    latest = filled.runs(MOVE.name, side=Side.OLD, latest_only=True)
    assert len(latest) == len(samples.WORKLOADS)
    assert [run.id for run in latest if run.workload.name == first.workload.name] == [done]
    assert len(filled.runs(MOVE.name)) == 2 * len(samples.WORKLOADS) + 3


def test_another_suite_on_one_side_hides_no_pair(filled: Store) -> None:
    first = samples.runs(Side.OLD)[0]
    longer = dataclasses.replace(first.workload, parameters={**first.workload.parameters, "runtime_seconds": 60.0})
    turned = dataclasses.replace(first.workload, parameters=dict(reversed(first.workload.parameters.items())))
    for day, workload in enumerate((longer, turned), start=1):
        filled.run_started(dataclasses.replace(first, workload=workload, started_at=START + timedelta(days=day)))
    latest = filled.runs(MOVE.name, side=Side.OLD, latest_only=True)
    of_that_name = [run for run in latest if run.workload.name == first.workload.name]
    assert [run.workload.parameters["runtime_seconds"] for run in of_that_name] == [60.0, 10.0]
    assert of_that_name[1].started_at == START + timedelta(days=2)


def test_what_was_measured_elsewhere_is_not_the_latest(filled: Store) -> None:
    filled.update_move(dataclasses.replace(MOVE, new_volume="/another"))
    assert filled.runs(MOVE.name, side=Side.NEW, latest_only=True) == ()
    assert len(filled.runs(MOVE.name, side=Side.OLD, latest_only=True)) == len(samples.WORKLOADS)
    assert len(filled.runs(MOVE.name, side=Side.NEW)) == len(samples.WORKLOADS)


def _found(store: Store) -> dict[str, bool]:
    """What there is of the move's latest."""
    return {
        "probes": store.probes(MOVE.name) != (),
        "checks": store.checks(MOVE.name) is not None,
        "checked at": store.checks_taken_at(MOVE.name) is not None,
        "estimate": store.estimate(MOVE.name) is not None,
        "plan": store.plan(MOVE.name) is not None,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"cluster": "/srv/pg/16"},
        {"target": "/another"},
        {"new": OLD.name},
        {"new_volume": "/another"},
        {"tablespace_targets": {}},
        {"plain_text": True},
    ],
)
def test_what_was_found_for_another_move_is_not_the_latest(filled: Store, change: dict[str, Any]) -> None:
    filled.update_move(MOVE)
    assert all(_found(filled).values())
    before = filled.entries()
    filled.update_move(dataclasses.replace(MOVE, **change))
    assert not any(_found(filled).values())
    assert filled.entries() == before

    filled.probe_taken(MOVE.name, dataclasses.replace(samples.probes()[0], taken_at=datetime.now(UTC)))
    filled.save_checks(MOVE.name, samples.checks())
    filled.save_estimate(MOVE.name, Estimate(()))
    filled.save_plan(MOVE.name, dataclasses.replace(samples.plan(), made_at=datetime.now(UTC)))
    assert all(_found(filled).values())
    assert len(filled.probes(MOVE.name)) == 1


def test_a_plan_keeps_its_warnings_as_data_and_those_of_an_earlier_pghaul_as_text(filled: Store) -> None:
    warnings = (PlanWarning("The disk is nearly full.", Status.BLOCKER, "space"), "warning: Port 5432 is taken [x]")
    filled.save_plan(MOVE.name, dataclasses.replace(samples.plan(), warnings=warnings, made_at=datetime.now(UTC)))
    kept = filled.plan(MOVE.name)
    assert kept is not None
    assert kept.warnings == warnings


def test_the_window_and_the_downtime_stay_with_a_move_and_leave_what_was_measured(filled: Store) -> None:
    asked = Asked((79200.0, 7200.0), 600.0)
    assert filled.asked(MOVE.name) == NOTHING
    filled.update_move(MOVE)
    filled.save_asked(MOVE.name, dataclasses.replace(asked, price=5.0, growth_bytes_per_month=1e9))
    assert filled.asked(MOVE.name) == asked
    assert all(_found(filled).values())
    filled.update_move(dataclasses.replace(MOVE, target="/elsewhere", name="renamed"), MOVE.name)
    assert filled.asked("renamed") == asked
    filled.save_asked("renamed", NOTHING)
    assert filled.asked("renamed") == NOTHING


def test_a_choice_that_changes_nothing_measured_leaves_it(filled: Store) -> None:
    chosen = dataclasses.replace(MOVE, edited=EditedSettings.FILE, precopy_limit=50_000_000)
    filled.update_move(MOVE)
    filled.update_move(chosen)
    assert filled.move(MOVE.name) == chosen
    assert all(_found(filled).values())


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"address": "10.0.0.99"}, {"port": 2022}, {"jump": "gate"}])
def test_what_was_learnt_on_another_machine_is_not_the_latest(filled: Store, change: dict[str, Any]) -> None:
    filled.update_profile(NEW)
    assert filled.facts(NEW.name) is not None
    filled.update_profile(dataclasses.replace(NEW, **change))
    assert filled.facts(NEW.name) is None
    assert filled.facts(OLD.name) is not None
    assert len(filled.facts_history(NEW.name)) == 1
    assert filled.runs(MOVE.name, side=Side.NEW, latest_only=True) == ()
    assert len(filled.runs(MOVE.name, side=Side.OLD, latest_only=True)) == len(samples.WORKLOADS)
    assert not any(_found(filled).values())

    later = dataclasses.replace(samples.facts(Side.NEW), taken_at=datetime.now(UTC))
    filled.save_facts(later)
    assert filled.facts(NEW.name) == later
    filled.run_started(dataclasses.replace(samples.runs(Side.NEW)[0], started_at=datetime.now(UTC)))
    assert len(filled.runs(MOVE.name, side=Side.NEW, latest_only=True)) == 1


@pytest.mark.slow
def test_another_way_to_use_the_same_machine_keeps_its_facts_and_runs(filled: Store) -> None:
    filled.update_profile(dataclasses.replace(NEW, rights=Rights.NONE))
    assert not any(_found(filled).values())
    assert filled.facts(NEW.name) is not None
    assert len(filled.runs(MOVE.name, side=Side.NEW, latest_only=True)) == len(samples.WORKLOADS)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["/srv/pg/data", "/srv/pg/data/", "/srv/pg", "/srv/pg/data/new"])
def test_no_move_into_itself(store: Store, target: str) -> None:
    store.add_profile(OLD)
    here = dataclasses.replace(MOVE, old=OLD.name, new=OLD.name, cluster="/srv/pg/data", target=target)
    with pytest.raises(InputError, match="into itself"):
        store.add_move(here)
    store.add_move(dataclasses.replace(here, target="/srv/pg/data2"))


def test_no_number_of_a_run_is_too_large(store: Store) -> None:
    with pytest.raises(InputError, match="no run 1000"):
        store.run(10**30)


def test_a_workload_that_only_failed_is_still_shown(store: Store) -> None:
    store.add_profile(OLD)
    store.add_profile(NEW)
    store.add_move(MOVE)
    first = dataclasses.replace(samples.runs(Side.OLD)[0], repetitions=(), outcome=Outcome.FAILED)
    store.run_started(first)
    second = store.run_started(dataclasses.replace(first, started_at=START + timedelta(days=1)))
    assert [run.id for run in store.runs(MOVE.name, latest_only=True)] == [second]


def test_a_metric_that_is_no_number_was_not_measured(filled: Store) -> None:
    number = filled.run_started(dataclasses.replace(samples.runs(Side.OLD)[0], repetitions=()))
    metrics = {"write_iops": 3.0, "latency_mean_seconds": float("nan"), "cpu_fraction": float("inf")}
    filled.repetition_ended(number, dataclasses.replace(samples.runs(Side.OLD)[0].repetitions[0], metrics=metrics))
    assert filled.run(number).repetitions[0].metrics == {"write_iops": 3.0}


def test_a_server_in_use_stays(filled: Store) -> None:
    with pytest.raises(InputError, match="'gannon-old' is used by the move 'gannon to the new storage'") as refused:
        filled.remove_profile(OLD.name)
    assert "remove the move first" in refused.value.hint
    assert filled.facts(OLD.name) is not None


def test_removing_a_move_takes_all_that_belongs_to_it(filled: Store) -> None:
    number = filled.runs(MOVE.name)[0].id
    assert number is not None
    filled.remove_move(MOVE.name)
    assert filled.moves() == ()
    with pytest.raises(InputError):
        filled.run(number)
    assert filled.commands() == ()
    assert {entry.kind for entry in filled.entries()} == {"facts"}
    filled.remove_profile(OLD.name)
    filled.remove_profile(NEW.name)
    assert filled.entries() == ()
    assert rows_of(filled) == {}


def test_renaming_carries_what_was_measured(filled: Store) -> None:
    renamed = dataclasses.replace(OLD, name="retired")
    filled.update_profile(renamed, name=OLD.name)
    assert filled.profile("retired") == renamed
    assert filled.move(MOVE.name).old == "retired"
    assert filled.facts("retired") == dataclasses.replace(samples.facts(Side.OLD), server="retired")
    assert {run.volume.server for run in filled.runs(MOVE.name, side=Side.OLD)} == {"retired"}
    assert filled.commands(MOVE.name)[0].server == "retired"

    filled.update_move(dataclasses.replace(MOVE, name="done", old="retired"), name=MOVE.name)
    assert filled.move("done").old == "retired"
    plan = filled.plan("done")
    assert plan is not None
    assert plan.move == "done"
    with pytest.raises(InputError, match="the move 'gannon to the new storage' does not exist"):
        filled.runs(MOVE.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "is empty"),
        (" \t", "is empty"),
        ("x" * 101, "has 101 characters"),
        ("two\nlines", r"U\+000A"),
        ("nul\0", r"U\+0000"),
        ("lone \udcff", r"U\+DCFF"),
        ("turned \u202e round", r"U\+202E"),
        (" padded", "begins or ends with a space"),
    ],
)
def test_unfit_names_are_refused(store: Store, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        store.add_profile(Profile(name, "host"))
    store.add_profile(OLD)
    with pytest.raises(InputError, match=said):
        store.update_profile(Profile(name, "host"), name=OLD.name)
    with pytest.raises(InputError, match=said):
        store.add_move(dataclasses.replace(MOVE, name=name, new=OLD.name))
    assert store.profiles() == (OLD,)
    assert store.moves() == ()


@pytest.mark.parametrize("name", ["db1:/srv/pg", "elsewhere:/vendor", "old:/"])
def test_no_move_is_called_as_a_volume(store: Store, name: str) -> None:
    """Commands that take either, such as `pghaul bench`, would take such a move for the volume."""
    for each in (OLD, NEW):
        store.add_profile(each)
    store.add_move(MOVE)
    with pytest.raises(InputError, match="reads like a volume"):
        store.add_move(dataclasses.replace(MOVE, name=name))
    with pytest.raises(InputError, match="reads like a volume"):
        store.update_move(dataclasses.replace(MOVE, name=name), name=MOVE.name)
    assert [move.name for move in store.moves()] == [MOVE.name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ['it\'s $(touch x) "ö"', "数据库 قاعدة", "x" * 100, "#strong[*a*]", "'; DROP TABLE moves;--"]
)
def test_odd_names_are_names(store: Store, name: str) -> None:
    store.add_profile(dataclasses.replace(OLD, name=name))
    store.add_move(dataclasses.replace(MOVE, name=name, old=name, new=name))
    assert store.move(name).old == name


def test_names_are_unique_and_known(filled: Store) -> None:
    with pytest.raises(InputError, match="the server 'gannon-old' exists already"):
        filled.add_profile(OLD)
    with pytest.raises(InputError, match="the server 'gannon-new' exists already"):
        filled.update_profile(NEW, name=OLD.name)
    with pytest.raises(InputError, match="the move 'gannon to the new storage' exists already"):
        filled.add_move(MOVE)
    with pytest.raises(InputError, match="the server 'nowhere' does not exist") as unknown:
        filled.add_move(dataclasses.replace(MOVE, name="other", new="nowhere"))
    assert unknown.value.hint == "known servers: gannon-new, gannon-old"
    assert filled.moves() == (MOVE,)
    with pytest.raises(InputError, match="the server 'nowhere' does not exist"):
        filled.save_facts(Facts("nowhere", START, 1.0, 1))
    with pytest.raises(InputError, match="the move 'nowhere' does not exist"):
        filled.probe_taken("nowhere", samples.probes()[0])
    with pytest.raises(InputError, match="no facts 99"):
        filled.facts_by_id(99)


def test_what_is_put_is_changed_or_added(filled: Store) -> None:
    changed, third = dataclasses.replace(OLD, copy_address="10.1.0.1"), Profile("third", "h")
    for profile in (changed, third):
        filled.put_profile(profile)
    assert filled.profiles() == (NEW, changed, third)
    other = dataclasses.replace(MOVE, name="another", target="/another")
    for move in (dataclasses.replace(MOVE, target="/new"), other):
        filled.put_move(move)
    assert [(move.name, move.target) for move in filled.moves()] == [("another", "/another"), (MOVE.name, "/new")]
    assert len(filled.runs(MOVE.name)) == 2 * len(samples.WORKLOADS)


def test_what_a_server_wrote_is_kept_whatever_it_is(filled: Store) -> None:
    command = "cat '\udcff\udcfe' \0 \U0001f418"
    filled.record_command(None, CommandStarted(OLD.name, "dba", command, START))
    assert filled.commands()[-1].command == "cat '\\udcff\\udcfe' \0 \U0001f418"
    raw = dataclasses.replace(samples.facts(Side.OLD), raw={"\udcff": "x\udc80" * 2000, "nul": "\0"})
    filled.save_facts(raw)
    kept = filled.facts(OLD.name)
    assert kept is not None
    assert kept.raw == {"\\udcff": "x\\udc80" * 2000, "nul": "\0"}


def test_a_secret_in_facts_is_not_recorded_whoever_saves_them(filled: Store) -> None:
    filled.save_facts(dataclasses.replace(samples.facts(Side.OLD), raw={"jobs": "PGPASSWORD=hunter2 pg_dump"}))
    kept = filled.facts(OLD.name)
    assert kept is not None
    assert kept.raw["jobs"].startswith("PGPASSWORD=")
    assert "hunter2" not in kept.raw["jobs"]


def test_times_keep_their_instant(store: Store) -> None:
    store.add_profile(OLD)
    there = datetime(2026, 3, 29, 2, 30, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    store.save_facts(Facts(OLD.name, there, 1.0, 1))
    assert store.facts_history(OLD.name)[0][1] == there
    with pytest.raises(StatementError, match="no time zone"):
        store.save_facts(Facts(OLD.name, datetime(2026, 3, 29), 1.0, 1))  # noqa: DTZ001  the naive one is the test


def test_commands_end_where_they_began(filled: Store) -> None:
    filled.record_command(None, CommandStarted(OLD.name, "dba", "uname", START + timedelta(hours=3)))
    filled.record_command(MOVE.name, CommandStarted(OLD.name, "dba", "uname", START + timedelta(hours=2)))
    filled.record_command(MOVE.name, CommandEnded(OLD.name, "uname", None, 1.5))
    filled.record_command(MOVE.name, CommandEnded(OLD.name, "never started", 0, 1.0))
    first, second, third = filled.commands()
    assert (first.move, first.seconds) == (None, None)
    assert (second.move, second.exit_status, second.seconds) == (MOVE.name, None, 1.5)
    assert (third.user, third.exit_status, third.seconds) == ("root", 0, 0.31)
    assert [command.title for command in (first, second, third)] == ["", "", "drop caches"]
    assert filled.commands(MOVE.name, limit=1) == (second,)


@pytest.mark.slow
def test_entries_are_newest_first_and_lead_back(filled: Store) -> None:
    filled.record_report(MOVE.name, Path("/tmp/a report.pdf"))
    entries = filled.entries()
    assert [entry.at for entry in entries] == sorted((entry.at for entry in entries), reverse=True)
    assert {entry.kind for entry in entries} == {
        "move", "facts", "run", "probe", "checks", "estimate", "plan", "execution", "waiver", "report",
    }  # fmt: skip
    assert filled.entries(limit=3) == entries[:3]
    assert filled.entries(which=Filter(move=MOVE.name)) == entries
    run = next(entry for entry in entries if entry.kind == "run")
    assert filled.run(run.reference).started_at == run.at
    assert run.title == "One stream read on gannon-new:/var/lib/postgresql, done"
    facts = next(entry for entry in entries if entry.kind == "facts")
    assert filled.facts_by_id(facts.reference).server == facts.title
    checks = next(entry for entry in entries if entry.kind == "checks")
    assert checks.title == "blockers: 1, unknown: 1, warnings: 1, passed: 4"
    assert next(entry for entry in entries if entry.kind == "report").title == "/tmp/a report.pdf"


@pytest.mark.slow
def test_an_entry_leads_to_what_was_recorded_then(filled: Store) -> None:
    later = dataclasses.replace(samples.probes()[0], taken_at=START + timedelta(days=1), bytes_per_second=1.0)
    filled.probe_taken(MOVE.name, later)
    filled.save_checks(MOVE.name, ())
    filled.save_estimate(MOVE.name, Estimate((), START + timedelta(days=1)))
    plan = dataclasses.replace(samples.plan(), steps=(), made_at=START + timedelta(days=1))
    filled.save_plan(MOVE.name, plan)
    filled.record_report(MOVE.name, Path("/tmp/a report.pdf"))
    filled.update_move(dataclasses.replace(MOVE, name="renamed"), name=MOVE.name)

    entries = filled.entries(1000)
    assert {entry.kind for entry in entries} == set(KINDS)
    found = {kind: [filled.detail(kind, entry.reference) for entry in entries if entry.kind == kind] for kind in KINDS}
    assert found["checks"] == [(), samples.checks()]
    assert found["estimate"] == [Estimate((), START + timedelta(days=1)), samples.estimate()]
    assert [(each.move, each.state) for each in found["execution"] if isinstance(each, Execution)] == [
        ("renamed", State.STOPPED)
    ]
    assert found["plan"] == [dataclasses.replace(one, move="renamed") for one in (plan, samples.plan())]
    assert found["probe"][0] == later
    assert sorted(found["probe"][1:], key=repr) == sorted(samples.probes(), key=repr)
    assert found["facts"] == [samples.facts(Side.NEW), samples.facts(Side.OLD)]
    assert set(map(repr, found["run"])) == set(map(repr, filled.runs("renamed")))
    assert found["move"] == [filled.move("renamed")]
    assert found["report"] == [Path("/tmp/a report.pdf")]


@pytest.mark.parametrize(("kind", "number"), [("plan", 99), ("plan", 0), ("plan", 10**30), ("plans", 1)])
def test_what_is_no_entry_leads_nowhere(filled: Store, kind: str, number: int) -> None:
    with pytest.raises(InputError, match=f"the history has no (plan {number}|entries of the kind 'plans')"):
        filled.detail(kind, number)


def test_entries_of_another_move_stay_out(filled: Store) -> None:
    filled.add_profile(Profile("third", "h"))
    filled.save_facts(Facts("third", datetime.now(UTC), 1.0, 1))
    filled.add_move(dataclasses.replace(MOVE, name="other", old="third", new="third"))
    found = {(entry.kind, entry.move) for entry in filled.entries(which=Filter(move="other"))}
    assert found == {("move", "other"), ("facts", None)}
    assert "third" not in {entry.title for entry in filled.entries(which=Filter(move=MOVE.name))}


@pytest.mark.slow
def test_threads_share_a_store(filled: Store) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(5):
                started = START + timedelta(minutes=100 * number + turn)
                run_id = filled.run_started(dataclasses.replace(samples.runs(Side.OLD)[0], started_at=started))
                assert filled.run(run_id).started_at == started
                assert filled.entries(limit=5)
        except BaseException as error:  # noqa: BLE001  handed to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(filled.runs(MOVE.name)) == 2 * len(samples.WORKLOADS) + 30


def test_the_store_is_both_journals(store: Store) -> None:
    benchmarks: BenchmarkJournal = store
    probes: ProbeJournal = store
    assert [benchmarks, probes] == [store, store]


def test_a_run_without_an_end_stays_open(store: Store) -> None:
    store.add_profile(OLD)
    store.add_move(dataclasses.replace(MOVE, new=OLD.name))
    run = Run(MOVE.name, samples.runs(Side.OLD)[0].volume, samples.WORKLOADS[0], START)
    number = store.run_started(run)
    store.repetition_ended(number, Repetition(1, START, 1.0, Outcome.FAILED, {}, "fio", "", message="no space left"))
    kept = store.run(number)
    assert kept.outcome is None
    assert kept.repetitions[0].message == "no space left"
    assert store.entries(limit=1, which=Filter(move=MOVE.name))[0].kind in {"move", "run"}


def test_no_secret_that_was_said_is_kept(filled: Store) -> None:
    secret = "PGPASSWORD=geh3im"
    started = CommandStarted(OLD.name, "root", f"{secret} psql", START, title=f"a title with {secret}")
    filled.record_command(MOVE.name, started)
    filled.record_command(MOVE.name, CommandEnded(OLD.name, started.command, 0, 0.5))
    run = step_run(attempt=9)
    number = filled.step_started(1, run)
    filled.step_ended(dataclasses.replace(run, id=number, output=f"it said\n{secret}\n" * 200, message=secret))
    filled.execution_changed(1, State.STOPPED, secret)
    assert filled.commands(MOVE.name)[0].exit_status == 0
    kept = repr((filled.commands(MOVE.name), filled.execution(1)))
    assert "it said" in kept
    assert "geh3im" not in kept


def test_a_hook_with_a_secret_is_refused(filled: Store) -> None:
    hook = HookCommand(Hook.TELL_POOLER, Side.NEW, "PGPASSWORD=geh3im psql -c RELOAD pgbouncer")
    with pytest.raises(InputError, match="contains what looks like a secret") as refused:
        filled.save_hook(MOVE.name, hook)
    assert "geh3im" not in str(refused.value)
    assert refused.value.message.endswith("after: PGPASSWORD=")
    assert "~/.pgpass" in refused.value.hint


@pytest.mark.slow
def test_a_page_is_the_beginning_of_all(filled: Store) -> None:
    filled.add_move(dataclasses.replace(MOVE, name="another"))
    for _ in range(3):
        filled.save_plan("another", samples.plan())  # of the same instant as the other's
        filled.save_checks("another", samples.checks())
    for move in (None, MOVE.name, "another"):
        whole = filled.entries(1000, Filter(move=move))
        assert [filled.entries(limit, Filter(move=move)) for limit in range(1, len(whole) + 2)] == [
            whole[:limit] for limit in range(1, len(whole) + 2)
        ]


def test_moves_stand_by_their_latest_entry_however_many_came_since(store: Store) -> None:
    store.add_profile(samples.OLD)
    store.add_profile(samples.NEW)
    for name in ("spring", "autumn", "winter"):
        store.add_move(dataclasses.replace(samples.MOVE, name=name))
    store.save_checks("winter", ())
    for _ in range(20):
        store.save_checks("spring", ())
    assert [move.name for move in store.moves_newest_first()] == ["spring", "winter", "autumn"]
