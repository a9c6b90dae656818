"""Which machine had the name of a server: results of one machine are never joined with those of another."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.api.comparison import (
    compare_sets,
    compare_sides,
    compare_starts,
    compare_volumes,
    diagnose,
    diagnose_from_history,
    diagnose_volumes,
    list_starts,
    metric_over_time,
)
from core.api.migration import make_estimate_with_spec
from core.api.reports import make_storage_report
from core.api.session import Session
from core.api.storage import expect_layouts_of_volumes, layouts
from core.comparison.machines import Machines
from core.comparison.model import Comparison, Diagnosis
from core.errors import InputError
from core.history.store import Store
from core.jobs import CommandStarted, Job
from core.reports.kinds.storage import StorageReport
from core.reports.make import of_storage
from core.reports.model import drawings
from core.reports.options import Options
from core.reports.report import build
from core.servers.profiles import Nobody
from core.sides import Side
from tests.core.history import samples
from tests.core.history.samples import MOVE, OLD, START
from tests.core.reports.reading import words
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


def machines_of(store: Store, *times: datetime) -> list[str]:
    """What the machines are known by on which the workload ran at these times, in any order of the runs."""
    volume = replace(RUN.volume, side=None, folder="/srv/pg/pghaul-of")
    numbers = store.add_runs([replace(RUN, move=None, volume=volume, started_at=at, ended_at=at) for at in times])
    found = store.machines([OLD.name])
    return [found.of_runs[number] for number in numbers]


def test_a_run_is_of_the_machine_that_was_read_last_before_it_or_else_first_after_it(store: Store) -> None:
    for days, machine in ((0, "a"), (2, "a"), (4, "b"), (6, "a")):
        read(store, days, machine)
    times = [after(days) for days in (-1, 1, 3, 4, 5, 7)]
    assert machines_of(store, *times) == ["a", "a", "a", "b", "b", "a"]
    found = store.machines([OLD.name, "nobody"])
    assert found.began == {(OLD.name, "a"): after(-1), (OLD.name, "b"): after(4)}
    assert found.now == {OLD.name: "a"}
    assert found.removed == frozenset({"nobody"})


def test_facts_tell_nothing_of_times_when_the_name_led_to_another_machine(store: Store) -> None:
    read(store, 0, "a")
    store.put_profile(replace(OLD, address="10.0.0.99"))
    before, now = machines_of(store, after(1), datetime.now(UTC))
    assert before == "a"
    assert now not in {"", "a"}
    read(store, (datetime.now(UTC) - START) / timedelta(days=1), "b")
    assert machines_of(store, after(1), datetime.now(UTC)) == ["a", "b"]


def test_facts_without_an_id_tell_no_machines_apart(store: Store) -> None:
    read(store, 0, None)
    assert machines_of(store, after(1), after(2)) == ["", ""]


def test_facts_that_do_not_tell_the_machine_make_no_other_machine(store: Store) -> None:
    read(store, 0, "a")
    store.save_facts(replace(samples.facts(Side.OLD), taken_at=after(2), system=None))
    read(store, 4, None)
    read(store, 6, "b")
    assert machines_of(store, after(1), after(3), after(5), after(7)) == ["a", "a", "a", "b"]


def test_a_report_draws_a_line_for_each_machine(store: Store) -> None:
    read(store, 0, "a")
    read(store, 4, "b")
    measured(store, 1, 2, 5, 6)
    report = make_storage_report(Session(store, Nobody()), [VOLUME], datetime.now(UTC))
    assert [report.machines.of(run) for run in report.runs] == ["a", "a", "b", "b"]
    (plot,) = (one for one in drawings(of_storage(report, Options())) if one.name == "over-time")
    assert f"{VOLUME} (machine since {after(1):%Y-%m-%d %H:%M}): " in plot.alt
    assert f"{VOLUME} (machine since {after(5):%Y-%m-%d %H:%M}): " in plot.alt


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
    before, now = machines_of(store, after(1), datetime.now(UTC))
    assert before != now


# Whatever compares or diagnoses, in each of its ways, is about one machine and says which.

OTHER = samples.runs(Side.NEW)[0]
OTHER_VOLUME = f"{OTHER.volume.server}:{OTHER.volume.mount_point}"
EARLIER_ONLY = replace(RUN.workload, name="earlier-only", title="Earlier only")


@pytest.fixture
def replaced(store: Store) -> Session:
    """The old server's name was that of machine `a`, which ran two workloads, then of `b`, which ran one of them."""
    read(store, 0, "a")
    measured(store, 1)
    store.add_runs((replace(RUN, workload=EARLIER_ONLY, started_at=after(2), ended_at=after(2)),))
    read(store, 4, "b")
    measured(store, 5)
    store.add_runs((replace(OTHER, started_at=after(6), ended_at=after(6)),))
    return Session(store, Nobody())


def storage(session: Session, *words: str) -> StorageReport:
    return make_storage_report(session, words, datetime.now(UTC))


def first_page_of(session: Session) -> Comparison:
    found = build(session.store, MOVE.name).comparison
    assert found is not None
    return found


COMPARED: dict[str, Callable[[Session], Comparison]] = {
    "sides": lambda session: compare_sides(session, MOVE.name),
    "places": lambda session: compare_sets(session, MOVE.name, [f"old:{VOLUME.partition(':')[2]}", OTHER_VOLUME]),
    "volumes": lambda session: compare_volumes(session, [VOLUME, OTHER_VOLUME]),
    "starts": lambda session: compare_starts(session, MOVE.name, Side.OLD, Side.NEW),
    "report of the move": lambda session: storage(session, MOVE.name).compared,
    "report of volumes": lambda session: storage(session, VOLUME, OTHER_VOLUME).compared,
    "plan": first_page_of,
}


@pytest.mark.parametrize("way", COMPARED)
def test_a_set_is_of_the_machine_that_was_measured_last(replaced: Session, way: str) -> None:
    found = COMPARED[way](replaced)
    assert found.names == (f"{VOLUME} (machine since {after(5):%Y-%m-%d %H:%M})", OTHER_VOLUME)
    assert OLD.name in found.machines_note
    assert {row.old.measured_at for row in found.rows if row.old is not None} == {after(5)}
    assert EARLIER_ONLY.name not in {row.workload.name for row in found.rows}


@pytest.fixture
def while_recording(replaced: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Another program records a run of the old server whenever the machines of a report have just been read."""
    read_machines = Store.machines
    days = iter(range(10, 100))

    def then_record(store: Store, servers: Iterable[str], *, move: str | None = None) -> Machines:
        found = read_machines(store, servers, move=move)
        measured(store, next(days))
        return found

    monkeypatch.setattr(Store, "machines", then_record)
    return replaced


@pytest.mark.parametrize("way", COMPARED)
def test_a_run_that_is_recorded_while_a_report_is_made_is_of_no_other_machine(
    while_recording: Session, way: str
) -> None:
    found = COMPARED[way](while_recording)
    assert found.names == (f"{VOLUME} (machine since {after(5):%Y-%m-%d %H:%M})", OTHER_VOLUME)


def test_a_date_leads_to_the_machine_of_that_time(replaced: Session) -> None:
    found = compare_volumes(replaced, [f"{VOLUME}@{after(3):%Y-%m-%d}", VOLUME])
    first, second = found.names
    assert f"machine since {after(1):%Y-%m-%d}" in first
    assert f"machine since {after(5):%Y-%m-%d}" in second
    (row,) = (row for row in found.rows if row.headline and row.old is not None and row.new is not None)
    assert (row.old and row.old.measured_at, row.new and row.new.measured_at) == (after(1), after(5))


def test_over_time_each_set_says_whose_it_is(replaced: Session) -> None:
    found = compare_volumes(replaced, [VOLUME])
    machines = [name.partition("machine since ")[2][:10] for name in found.names]
    assert machines[0] == f"{after(1):%Y-%m-%d}"
    assert machines[-1] == f"{after(5):%Y-%m-%d}"


def test_runs_that_are_named_by_number_all_count_and_say_whose_they_are(replaced: Session) -> None:
    numbers = [run.id for run in replaced.store.runs_on(OLD.name)]
    other = replaced.store.runs_on(OTHER.volume.server)[0].id
    found = compare_volumes(replaced, [",".join(map(str, numbers)), str(other)])
    assert found.names[0].count("machine since") == 2
    assert EARLIER_ONLY.name in {row.workload.name for row in found.rows}


def test_volumes_of_a_move_are_parted_by_machine(replaced: Session) -> None:
    found = build(replaced.store, MOVE.name).volumes
    assert found is not None
    assert [name.count("machine since") for name in found.names] == [1, 1, 0]


DIAGNOSED: dict[str, Callable[[Session], tuple[Diagnosis, ...]]] = {
    "history": lambda session: diagnose_from_history(session, MOVE.name),
    "move": lambda session: diagnose(session, MOVE.name, Job(), [Side.OLD], refresh=False),
    "volumes": lambda session: diagnose_volumes(session, [VOLUME], Job(), refresh=False),
    "report of the move": lambda session: storage(session, MOVE.name).diagnoses,
    "report of volumes": lambda session: storage(session, VOLUME, OTHER_VOLUME).diagnoses,
    "plan": lambda session: build(session.store, MOVE.name).diagnoses,
}


@pytest.mark.parametrize("way", DIAGNOSED)
def test_a_diagnosis_rests_on_the_runs_of_one_machine_and_on_its_facts(replaced: Session, way: str) -> None:
    found = next(one for one in DIAGNOSED[way](replaced) if one.server == OLD.name)
    assert (found.facts_taken_at, found.since) == (after(4), after(5))
    assert found.unused > 0
    assert found.figures == len({name for one in RUN.repetitions for name in one.metrics})
    assert {number for finding in found.findings for number in finding.run_ids} <= {
        run.id for run in replaced.store.runs_on(OLD.name) if run.started_at == after(5)
    }


@pytest.mark.parametrize("way", DIAGNOSED)
def test_a_run_that_is_recorded_during_a_diagnosis_is_of_no_other_machine(while_recording: Session, way: str) -> None:
    earlier = 2 if "volumes" in way else 1  # of a move the latest of each workload alone
    found = next(one for one in DIAGNOSED[way](while_recording) if one.server == OLD.name)
    assert (found.since, found.unused) == (after(5), earlier)


def test_a_diagnosis_of_a_machine_without_runs_rests_on_its_facts_alone(store: Store) -> None:
    read(store, 0, "a")
    measured(store, 1)
    read(store, 4, "b")
    session = Session(store, Nobody())
    for way in ("history", "move", "volumes", "plan"):
        found = next(one for one in DIAGNOSED[way](session) if one.server == OLD.name)
        assert (found.facts_taken_at, found.figures, found.since, found.unused) == (after(4), 0, None, 1), way


@pytest.mark.parametrize(("side", "field"), [(Side.OLD, "read_bytes_per_second"), (Side.NEW, "write_bytes_per_second")])
def test_an_estimate_uses_no_benchmark_of_another_machine(store: Store, side: Side, field: str) -> None:
    for each in Side:
        store.save_facts(samples.facts(each))
    facts = samples.facts(side)
    run = next(run for run in samples.runs(side) if field in run.repetitions[0].metrics)
    store.add_runs((replace(run, started_at=after(1), ended_at=after(1)),))

    def figure_and_remarks(machine: str, days: float) -> tuple[float | None, set[int]]:
        """What the estimate takes for that disk once this machine has been read, and how often each method says so."""
        assert facts.system is not None
        store.save_facts(replace(facts, taken_at=after(days), system=replace(facts.system, machine_id=machine)))
        made, spec = make_estimate_with_spec(Session(store, Nobody()), MOVE.name, Job())
        disk = spec.old if side is Side.OLD else spec.new
        remark = f"Another machine had the name of the {side} server before."
        return getattr(disk, field), {
            sum(said.startswith(remark) for said in method.assumptions) for method in made.methods
        }

    figure, remarks = figure_and_remarks("a", 0.5)
    assert figure in {each.metrics[field] for each in run.repetitions}
    assert remarks == {0}
    assert figure_and_remarks("b", 2) == (None, {1})


def test_what_another_machine_achieved_says_nothing_about_the_drives_of_this_one(store: Store) -> None:
    read(store, 0, "a")
    measured(store, 1)
    session = Session(store, Nobody())
    assert expect_layouts_of_volumes(session, [VOLUME], layouts(2)).measured
    read(store, 4, "b")
    with pytest.raises(InputError, match="no benchmark has run"):
        expect_layouts_of_volumes(session, [VOLUME], layouts(2))


def test_a_report_on_a_machine_that_lost_its_name_uses_that_machines_facts(store: Store) -> None:
    read(store, 0, "a")
    measured(store, 1)
    store.add_runs((replace(OTHER, started_at=after(2), ended_at=after(2)),))
    read(store, 4, "b")
    report = storage(Session(store, Nobody()), VOLUME, OTHER_VOLUME)
    found = next(one for one in report.diagnoses if one.server == OLD.name)
    assert (found.facts_taken_at, found.since, found.unused) == (after(0), after(1), 0)
    assert "machine since" in report.compared.names[0]


def test_the_first_sentences_of_a_report_are_about_the_machines_that_are_compared(replaced: Session) -> None:
    made = of_storage(storage(replaced, VOLUME, OTHER_VOLUME), Options())
    name = f"{VOLUME} (machine since {after(5):%Y-%m-%d %H:%M})"
    assert name in made.subtitle
    assert name in made.answers[0].question
    when = made.answers[2]
    assert (when.words, OLD.name in when.details[1]) == ("2 runs", True)
    assert "2 runs on this volume do not count" in words(made.sections)
    german = of_storage(storage(replaced, VOLUME, OTHER_VOLUME), Options(language="de"))
    assert "Maschine" in german.subtitle


def test_a_move_is_reported_by_its_own_runs_alone(replaced: Session) -> None:
    """Another workstation, which imports the move, has no other runs."""
    volume = replace(RUN.volume, side=None, folder="/srv/pg/pghaul-before")
    replaced.store.add_runs((replace(RUN, move=None, volume=volume, started_at=after(4.5), ended_at=after(4.5)),))
    assert f"{after(5):%Y-%m-%d}" in first_page_of(replaced).names[0]
    assert f"{after(4.5):%Y-%m-%d %H:%M}" in compare_volumes(replaced, [VOLUME, OTHER_VOLUME]).names[0]


def test_a_removed_server_is_called_so_in_comparisons_and_starts(store: Store) -> None:
    own = replace(RUN, move=None, volume=replace(RUN.volume, side=None, server="db9"))
    store.add_profile(replace(OLD, name="db9"))
    store.add_runs((own, replace(OTHER, started_at=after(2), ended_at=after(2))))
    session = Session(store, Nobody())
    volume = f"db9:{RUN.volume.mount_point}"

    def said() -> tuple[str, bool, bool]:
        found = compare_volumes(session, [volume, OTHER_VOLUME])
        (start,) = (start for start in list_starts(session) if start.server == "db9")
        with_start = compare_starts(session, MOVE.name, start, Side.NEW)
        assert with_start.names[0].startswith(found.names[0])
        return found.names[0], "removed" in start.place, found.measured[0][0].removed

    assert said() == (volume, False, False)
    (start,) = (start for start in list_starts(session) if start.server == "db9")
    store.remove_profile("db9")
    assert said() == (f"{volume} (removed)", True, True)
    assert start in list_starts(session)  # what was picked in the window stays picked


@pytest.mark.parametrize(("machine", "counts"), [("a", True), (None, True), ("b", False)])
def test_what_was_probed_on_another_machine_is_of_the_past(store: Store, machine: str | None, counts: bool) -> None:
    read(store, 0, "a")
    for probe in samples.probes():
        store.probe_taken(MOVE.name, replace(probe, taken_at=after(1)))
    found = store.probes(MOVE.name)
    assert found
    read(store, 2, machine)
    assert store.probes(MOVE.name) == (found if counts else ())


@pytest.mark.parametrize("unknown", [False, True])
def test_another_machine_is_told_behind_facts_that_tell_none(store: Store, unknown: bool) -> None:
    read(store, 0, "a")
    for probe in samples.probes():
        store.probe_taken(MOVE.name, replace(probe, taken_at=after(1)))
    store.save_facts(replace(samples.facts(Side.OLD), taken_at=after(2), system=None))
    read(store, 3, None)
    read(store, 4, None if unknown else "b")
    assert bool(store.probes(MOVE.name)) is unknown


def test_facts_that_were_begun_before_a_move_was_changed_do_not_bring_back_what_was_found(store: Store) -> None:
    read(store, 0, "a")
    for probe in samples.probes():
        store.probe_taken(MOVE.name, replace(probe, taken_at=after(2)))
    store.put_move(replace(MOVE, target="/srv/elsewhere"))
    assert store.probes(MOVE.name) == ()
    read(store, 1, "b")
    assert store.probes(MOVE.name) == ()


def test_facts_that_are_handed_in_late_make_nothing_a_thing_of_the_past(store: Store) -> None:
    read(store, 2, "b")
    for probe in samples.probes():
        store.probe_taken(MOVE.name, replace(probe, taken_at=after(3)))
    read(store, 0, "a")
    assert store.probes(MOVE.name)


def sized(store: Store, days: float, identifier: str | None, size: int | None) -> None:
    """The size of the cluster was read on that day; without an identifier its control file could not be."""
    facts = samples.facts(Side.OLD)
    (cluster,) = facts.clusters
    assert cluster.control is not None
    control = None if identifier is None else replace(cluster.control, system_identifier=identifier)
    clusters = (replace(cluster, control=control, size_bytes=size),)
    store.save_facts(replace(facts, taken_at=after(days), clusters=clusters))


def sizes_of(store: Store, most: int) -> list[tuple[float, float]]:
    found = store.cluster_sizes(OLD.name, MOVE.cluster, most)
    return [((at - START) / timedelta(days=1), size) for at, size in found]


def test_sizes_are_of_the_cluster_that_lies_there_now(store: Store) -> None:
    assert sizes_of(store, 24) == []
    sized(store, 0, "1", 900)
    assert sizes_of(store, 2) == [(0, 900)]
    sized(store, 10, "2", 100)
    assert sizes_of(store, 2) == [(10, 100)]
    for day in range(11, 31):
        sized(store, day, None if day == 12 else "2", 100 + day)
    sized(store, 40, "2", None)
    assert sizes_of(store, 2) == [(10, 100), (30, 130)]
    assert sizes_of(store, 24) == [(10, 100), *((day, 100 + day) for day in range(11, 31))]
    few = sizes_of(store, 6)
    assert len(few) <= 6
    assert (few[0], few[-1]) == ((10, 100), (30, 130))


def test_an_estimate_takes_no_other_cluster_for_growth(store: Store) -> None:
    sized(store, 0, "1", 10**9)
    sized(store, 60, "2", 10**12)
    with Session(store, Nobody()) as session:
        _, spec = make_estimate_with_spec(session, MOVE.name, Job())
    assert spec.cluster.growth_bytes_per_month is None
    assert build(store, MOVE.name).sizes == ((after(60), 1e12),)
