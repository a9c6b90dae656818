"""Which machine had the name of a server: results of one machine are never joined with those of another."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.api.comparison import metric_over_time
from core.api.reports import make_storage_report
from core.api.session import Session
from core.history.store import Store
from core.jobs import CommandStarted
from core.reports.make import of_storage
from core.reports.model import drawings
from core.reports.options import Options
from core.servers.profiles import Nobody
from core.sides import Side
from tests.core.history import samples
from tests.core.history.samples import MOVE, OLD, START
from tests.histories import Histories

RUN = samples.runs(Side.OLD)[0]
VOLUME = f"{OLD.name}:{RUN.volume.mount_point}"


@pytest.fixture
def store(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path, samples.set_up) as made:
        yield made


def read(store: Store, days: float, machine: str | None) -> None:
    """The facts of that day, of the machine with this ID."""
    facts = samples.facts(Side.OLD)
    assert facts.system is not None
    at = START + timedelta(days=days)
    store.save_facts(replace(facts, taken_at=at, system=replace(facts.system, machine_id=machine)))


def after(days: float) -> datetime:
    return START + timedelta(days=days)


def measured(store: Store, *days: float) -> None:
    """The workload ran on these days, each time in a folder of its own."""
    for day in days:
        volume = replace(RUN.volume, folder=f"/srv/pg/pghaul-{day}")
        store.add_runs((replace(RUN, volume=volume, started_at=after(day), ended_at=after(day)),))


def test_a_time_is_of_the_machine_that_was_read_last_before_it_or_else_first_after_it(store: Store) -> None:
    for days, machine in ((0, "a"), (2, "a"), (4, "b"), (6, "a")):
        read(store, days, machine)
    times = [after(days) for days in (-1, 1, 3, 4, 5, 7)]
    assert store.machines(OLD.name, times) == ("a", "a", "a", "b", "b", "a")
    assert store.machines("nobody", times) == ("",) * len(times)


def test_facts_tell_nothing_of_times_when_the_name_led_to_another_machine(store: Store) -> None:
    read(store, 0, "a")
    store.put_profile(replace(OLD, address="10.0.0.99"))
    before, now = store.machines(OLD.name, [after(1), datetime.now(UTC)])
    assert before == "a"
    assert now not in {"", "a"}
    read(store, (datetime.now(UTC) - START) / timedelta(days=1), "b")
    assert store.machines(OLD.name, [after(1), datetime.now(UTC)]) == ("a", "b")


def test_facts_without_an_id_tell_no_machines_apart(store: Store) -> None:
    read(store, 0, None)
    assert store.machines(OLD.name, [after(1), after(2)]) == ("", "")


def test_a_report_draws_a_line_for_each_machine(store: Store) -> None:
    read(store, 0, "a")
    read(store, 4, "b")
    measured(store, 1, 2, 5, 6)
    report = make_storage_report(Session(store, Nobody()), [VOLUME], datetime.now(UTC))
    assert [report.machine_of(run) for run in report.runs] == ["a", "a", "b", "b"]
    (plot,) = (one for one in drawings(of_storage(report, Options())) if one.name == "over-time")
    assert f"{VOLUME} since 2026-03-15: " in plot.alt
    assert f"{VOLUME} since 2026-03-19: " in plot.alt


def test_a_metric_over_time_is_that_of_the_present_machine(store: Store) -> None:
    read(store, 0, "a")
    read(store, 4, "b")
    measured(store, 1, 2, 5, 6)
    workload = RUN.workload
    shown = metric_over_time(Session(store, Nobody()), MOVE.name, workload.tool, workload.name, workload.headline)
    assert [at for at, _ in shown.old] == [after(5), after(6)]


def test_a_server_that_was_removed_and_added_again_is_another_machine(store: Store) -> None:
    read(store, 0, "a")
    store.record_command(None, CommandStarted(OLD.name, "root", "true", START))
    store.remove_move(MOVE.name)
    store.remove_profile(OLD.name)
    store.add_profile(OLD)
    before, now = store.machines(OLD.name, [after(1), datetime.now(UTC)])
    assert before != now
