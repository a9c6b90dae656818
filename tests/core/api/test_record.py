"""What the history holds of executions, for the estimate of the next."""

import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.api.archives import export_move, import_move
from core.api.migration import compare_with_estimates, make_estimate, plan_move
from core.api.session import Session
from core.cli.estimate import record_text
from core.history.example import MOVE as EXAMPLE
from core.history.example import lay
from core.history.store import Store
from core.jobs import Job
from core.migration.estimate import Spec, spec_of
from core.migration.estimate import estimate as estimate_spec
from core.migration.estimate.spec import ClusterSpec
from core.migration.execution.record import by_stage, hit_rate
from core.migration.execution.runner import new_execution
from core.migration.findings.cluster import find_cluster
from core.migration.model.execution import Kind, State, StepRun
from core.migration.model.move import Verify
from core.migration.model.plan import Phase
from core.reports.report import build
from core.servers.profiles import Nobody
from tests.core.history import samples
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution
from tests.histories import Histories
from tests.steps import change_step


def carried_out(store: Store, move: str, seconds: float) -> None:
    """An execution of that move whose preparation took so long, estimated an hour before."""
    store.save_estimate(move, replace(estimate_spec(Spec(ClusterSpec(1e9))), made_at=NOW - timedelta(hours=1)))
    made = execution(
        change_step(STEP, title="a folder", phase=Phase.PREPARE), change_step(STEP, phase=Phase.WARM, precopy_pass=1)
    )
    number = store.execution_started(replace(made, move=move, token=f"{move[:8]:x<8}"))
    run = StepRun(0, 1, "a folder", 1, NOW, None)
    run = replace(run, id=store.step_started(number, run))
    store.step_ended(replace(run, ended_at=NOW + timedelta(seconds=seconds), exit_status=0))
    store.execution_changed(number, State.CANCELLED)


def evidence(session: Session, move: str) -> dict[str, str]:
    """Of each stage of a cold copy where its figure comes from."""
    return {stage.name: stage.evidence for stage in make_estimate(session, move, Job()).methods[0].stages}


@pytest.mark.slow
def test_the_next_estimate_has_what_was_timed_here_or_between_the_same_servers(
    histories: Histories, tmp_path: Path
) -> None:
    with histories.open(tmp_path, samples.fill) as store, Session(store, Nobody()) as session:
        store.add_move(replace(samples.MOVE, name="another"))
        carried_out(store, "another", 7.0)
        stages = {stage.name: stage for stage in make_estimate(session, samples.MOVE.name, Job()).methods[0].stages}
        assert stages["prepare"].evidence == "timed 1 time in other moves between such servers"
        carried_out(store, samples.MOVE.name, 3.0)
        stages = {stage.name: stage for stage in make_estimate(session, samples.MOVE.name, Job()).methods[0].stages}
        assert stages["prepare"].evidence.endswith("timed 1 time in a rehearsal or an execution of this move")
        assert {
            (row.move, row.stage, row.seconds) for row in compare_with_estimates(session) if row.stage == "prepare"
        } >= {
            ("another", "prepare", 7.0),
            (samples.MOVE.name, "prepare", 3.0),
        }
        assert {row.move for row in compare_with_estimates(session, "another")} == {"another"}
        shown = build(store, samples.MOVE.name)
        assert {row.move for row in shown.record} == {samples.MOVE.name}
        assert {row.move for row in shown.record_of_all} == {samples.MOVE.name, "another"}


def test_the_copy_of_the_example_is_priced_by_what_its_passes_brought(tmp_path: Path) -> None:
    """2.9 GB lie in its data directory, 1.3 of them 78 segments of WAL kept to be written over; its passes brought 1.6.
    Facts that do not tell these segments price all of it."""
    lay(tmp_path)
    with Store.open(tmp_path) as store:
        move, (_, rehearsal) = store.move(EXAMPLE), store.executions(EXAMPLE)
        old, probes = store.facts(move.old), store.probes(EXAMPLE)
    assert old is not None
    cluster = find_cluster(old, move.cluster)
    assert cluster.wide is not None
    moved = []
    for idle in (None, 78 * 2**24):
        told = replace(cluster, wide=replace(cluster.wide, idle_wal_bytes=idle))
        others = tuple(each for each in old.clusters if each is not cluster)
        moved.append(spec_of(move, replace(old, clusters=(told, *others)), probes).cluster.moved_bytes)
    sent = sum(run.bytes or 0 for run in rehearsal.steps if run.done and "pass 1" in run.title)
    assert moved[0] == cluster.size_bytes
    assert moved[1] == pytest.approx(sent, rel=0.01)


def test_a_move_that_this_version_cannot_read_keeps_no_other_from_its_estimate(
    histories: Histories, tmp_path: Path
) -> None:
    with histories.open(tmp_path, samples.fill) as store:
        store.add_move(replace(samples.MOVE, name="another"))
        carried_out(store, "another", 7.0)
        path = store.path
    with sqlite3.connect(path) as connection:
        of = "(SELECT id FROM moves WHERE name = 'another')"
        connection.execute(f"UPDATE estimates SET document = '[]' WHERE move_id = {of}")
        connection.execute(f"UPDATE executions SET plan = '[]' WHERE move_id = {of}")
    with Store.open(tmp_path) as store, Session(store, Nobody()) as session:
        assert make_estimate(session, samples.MOVE.name, Job()).methods
        assert "another" not in {row.move for row in compare_with_estimates(session)}


@pytest.mark.slow
def test_what_came_by_an_import_is_shown_and_counts_for_nothing(
    histories: Histories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with histories.open(tmp_path / "here", samples.fill) as store, Session(store, Nobody()) as session:
        carried_out(store, samples.MOVE.name, 7.0)
        for each in store.executions(samples.MOVE.name):  # one that can be continued is imported once at most
            store.execution_changed(each.id, State.ROLLED_BACK)
        archive = export_move(store, samples.MOVE.name, tmp_path / "x.pghaul")
        before, made = by_stage(compare_with_estimates(session)), evidence(session, samples.MOVE.name)
        report = build(store, samples.MOVE.name)
        assert before
        for name in ("once", "twice"):
            import_move(store, archive, name)
        assert len(compare_with_estimates(session)) == 3 * len(compare_with_estimates(session, samples.MOVE.name))
        assert by_stage(compare_with_estimates(session)) == before
        assert evidence(session, samples.MOVE.name) == made
        assert evidence(session, "once")["prepare"] == "timed 1 time in other moves between such servers"
        assert build(store, "once").record_of_all == build(store, "once").record
        assert build(store, samples.MOVE.name).record_of_all == report.record_of_all
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "their config"))
    with Store.open(tmp_path / "there") as store, Session(store, Nobody()) as session:
        import_move(store, archive)
        rows = compare_with_estimates(session, samples.MOVE.name)
        assert [row.seconds for row in rows if row.stage == "prepare"] == [7.0]
        assert (hit_rate(rows), by_stage(rows)) == (None, ())
        assert record_text(rows).endswith("line from imported histories not counted")
        assert not evidence(session, samples.MOVE.name)["prepare"].startswith("timed")


@pytest.mark.slow
def test_the_estimate_that_is_kept_with_a_plan_is_of_what_the_plan_does(histories: Histories, tmp_path: Path) -> None:
    with histories.open(tmp_path, samples.fill) as store, Session(store, Nobody()) as session:
        whole = plan_move(session, samples.MOVE.name, Job(), verify=Verify.ALL)
        kept = store.estimate(samples.MOVE.name)
        assert kept is not None
        method = kept.method(whole.method)
        assert method is not None
        assert {stage.name for stage in method.stages} >= {"verify", "pg_checksums", "pg_amcheck"}
        for name, likely in ((stage.name, stage.seconds.likely) for stage in method.stages):
            steps = [step for step in whole.steps if (step.timing.stage or step.phase) == name]
            if steps:
                assert sum(step.expected_seconds or 0 for step in steps) == pytest.approx(likely), name
        number = store.execution_started(new_execution(whole, Kind.REAL))
        for step in whole.steps:
            run = StepRun(0, step.number, step.title, 1, NOW + timedelta(days=999), None)
            run = replace(run, id=store.step_started(number, run))
            store.step_ended(replace(run, ended_at=run.started_at + timedelta(seconds=1), exit_status=0))
        rows = {
            row.stage: row.estimated
            for row in compare_with_estimates(session, samples.MOVE.name)
            if row.execution == number
        }
        assert rows["verify"] == next(stage.seconds for stage in method.stages if stage.name == "verify")
        assert {"pg_checksums", "pg_amcheck"} <= rows.keys()
        plan_move(session, samples.MOVE.name, Job())
        assert store.estimate(samples.MOVE.name) != kept
