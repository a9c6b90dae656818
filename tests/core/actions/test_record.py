"""What the history holds of executions, for the estimate of the next."""

import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from core.actions import Session, estimate, record
from core.history.store import Store
from core.jobs import Job
from core.migration.estimate import Spec
from core.migration.estimate import estimate as estimate_spec
from core.migration.estimate.spec import ClusterSpec
from core.migration.model.execution import State, StepRun
from core.migration.model.plan import Phase
from core.servers.profiles import Nobody
from tests.core.history import samples
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution
from tests.histories import Histories


def carried_out(store: Store, move: str, seconds: float) -> None:
    """An execution of that move whose preparation took so long, estimated an hour before."""
    store.save_estimate(move, replace(estimate_spec(Spec(ClusterSpec(1e9))), made_at=NOW - timedelta(hours=1)))
    made = execution(replace(STEP, title="a folder", phase=Phase.PREPARE), replace(STEP, phase=Phase.WARM, warm_pass=1))
    number = store.execution_started(replace(made, move=move, token=f"{move[:8]:x<8}"))
    run = StepRun(0, 1, "a folder", 1, NOW, None)
    run = replace(run, id=store.step_started(number, run))
    store.step_ended(replace(run, ended_at=NOW + timedelta(seconds=seconds), exit_status=0))
    store.execution_changed(number, State.CANCELLED)


def test_the_next_estimate_has_what_was_timed_here_or_between_the_same_servers(
    histories: Histories, tmp_path: Path
) -> None:
    with histories.open(tmp_path, samples.fill) as store, Session(store, Nobody()) as session:
        store.add_move(replace(samples.MOVE, name="another"))
        carried_out(store, "another", 7.0)
        stages = {stage.name: stage for stage in estimate(session, samples.MOVE.name, Job()).methods[0].stages}
        assert stages["prepare"].evidence == "timed 1 time in other moves between such servers"
        carried_out(store, samples.MOVE.name, 3.0)
        stages = {stage.name: stage for stage in estimate(session, samples.MOVE.name, Job()).methods[0].stages}
        assert stages["prepare"].evidence.endswith("in this move")
        assert {(row.move, row.stage, row.seconds) for row in record(session) if row.stage == "prepare"} >= {
            ("another", "prepare", 7.0),
            (samples.MOVE.name, "prepare", 3.0),
        }
        assert {row.move for row in record(session, "another")} == {"another"}


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
        assert estimate(session, samples.MOVE.name, Job()).methods
        assert "another" not in {row.move for row in record(session)}
