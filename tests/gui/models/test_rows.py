"""The rows and words of benchmarks, comparison and migration."""

from dataclasses import replace

from core.benchmarks.model import Outcome, Run, Side, Volume, Workload
from core.comparison.compare import compare
from core.comparison.model import Verdict
from core.history.store import Store
from core.migration.model.checks import Status
from gui.models import benchmarks, comparison, migration
from gui.models.words import metric_name
from tests.gui import samples


def test_metric_names_are_words() -> None:
    assert metric_name("read_bytes_per_second") == "read rate"
    assert metric_name("write_latency_p99_seconds") == "write latency 99 %"
    assert metric_name("fsyncs_per_second") == "fsyncs rate"
    assert metric_name("read_iops") == "read IOPS"


def test_a_run_that_has_just_begun_is_seen(full_store: Store) -> None:
    volume = Volume(Side.OLD, "db-old", "/srv/pg", "/srv/pg/x")
    run = Run("spring", volume, Workload("w", "W", "dd", "bytes_per_second"), samples.MORNING)
    rows = benchmarks.repetition_rows((run, *full_store.runs("spring")))
    cells = {column.title: column.text(rows[0]) for column in benchmarks.REPETITION_COLUMNS}
    assert cells["Outcome"] == "running"
    assert cells["Value"] == "–"
    assert len(rows) == 1 + 8 * 3
    assert [row.repetition.number for row in rows[1:4] if row.repetition] == [3, 2, 1]
    assert all(row.run.outcome is Outcome.DONE for row in rows[1:])


def test_a_comparison_becomes_bars_by_unit(full_store: Store) -> None:
    made = compare(*(full_store.runs("spring", side=side, latest_only=True) for side in Side))
    bars = comparison.bars(made)
    assert [(one.unit, len(one.names)) for one in bars] == [("MB/s", 2), ("IOPS", 2)]
    assert [round(sample.mean) for sample in bars[1].old if sample] == [902, 752]
    headline = next(row for row in made.rows if row.headline and row.metric == "read_iops")
    row = comparison.ComparedRow(headline, ("old", "new"))
    cells = {column.title: column.text(row) for column in comparison.COLUMNS}
    assert cells["Verdict"] == Verdict.NEW
    assert cells["Better"] == "new 8.87 ×"


def test_notes_of_an_estimate_stand_once() -> None:
    assert migration.notes(samples.ESTIMATE).splitlines() == [
        "assumed: the link is 1 Gbit/s",
        "warning: one table dominates (dump & restore)",
        "assumed: indexes are 30 % of the size (dump & restore)",
    ]


def test_an_estimate_says_what_the_move_itself_takes() -> None:
    said = migration.estimate_summary(replace(samples.ESTIMATE, planned="cold-copy"))
    assert said.endswith("The move is a cold copy: 4 h 00 min, of it 4 h 00 min without the cluster.")
    assert migration.estimate_summary(samples.ESTIMATE).startswith("Made 2026-03-14")


def test_the_stages_stand_below_their_method() -> None:
    texts = [migration.STAGE_COLUMNS[0].text(row) for row in migration.stage_rows(samples.ESTIMATE)]
    assert texts == ["Cold copy", "    copy", "    verify", "Dump & restore", "    dump", "    indexes"]


def test_a_plan_in_words() -> None:
    summary = migration.plan_summary(samples.PLAN)
    assert summary.startswith("3 steps by rsync over ssh; about 35 s of downtime")
    text = migration.commands(samples.PLAN)
    assert (
        "# 2. Stop the old cluster (on db-old as postgres)\n# call: stop_cluster folder pg_ctl /srv/pg/data\n" in text
    )
    assert "\npg_ctl stop -m fast\npg_controldata\n" in text


def test_checks_in_words() -> None:
    assert migration.checks_summary(samples.CHECKS) == "blockers: 1, unknown: 1, warnings: 1, passed: 1"
    text = migration.check_text(samples.CHECKS[0])
    assert samples.CHECKS[0].status is Status.BLOCKER
    assert "What to do: stop it in the last step of the plan" in text
    assert "Old: in production" in text
