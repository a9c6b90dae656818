"""The rows and words of benchmarks, comparison and migration."""

from dataclasses import replace

from core.benchmarks.model import Outcome, Run, Volume, Workload
from core.comparison.compare import compare
from core.comparison.model import Verdict
from core.history.store import Store
from core.migration.model.checks import Status
from core.migration.model.estimate import method_title
from core.sides import Side
from gui.models import benchmarks, comparison, migration
from gui.models.words import in_sentence, metric_name, moment
from tests.core.migration.builders import move
from tests.figures import figures
from tests.gui import samples


def test_metric_names_are_words() -> None:
    assert metric_name("read_bytes_per_second") == "read rate"
    assert metric_name("write_latency_p99_seconds") == "write latency p99"
    assert metric_name("latency_p999_seconds") == "latency p99.9"
    assert metric_name("fsyncs_per_second") == "fsyncs rate"
    assert metric_name("read_iops") == "read IOPS"


def test_a_run_that_has_just_begun_is_seen(full_store: Store) -> None:
    volume = Volume(Side.OLD, "db-old", "/srv/pg", "/srv/pg/x")
    run = Run("spring", volume, Workload("w", "W", "dd", "bytes_per_second"), samples.MORNING)
    rows = benchmarks.repetition_rows((run, *full_store.runs("spring")))
    cells = {column.title: column.text(rows[0]) for column in benchmarks.REPETITION_COLUMNS}
    assert cells["Result"] == "running"
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
    assert headline.verdict is Verdict.NEW
    assert (cells["Ratio"], comparison.better(row)) == ("8.87 ×", "new 8.87 ×")


def test_notes_of_an_estimate_stand_once() -> None:
    kinds, notes = zip(*(line.split(": ", 1) for line in migration.notes(samples.ESTIMATE).splitlines()), strict=True)
    assert notes == (
        "the link is 1 Gbit/s",
        "one table dominates (dump & restore)",
        "indexes are 30 % of the size (dump & restore)",
    )
    assert kinds[0] == kinds[2] != kinds[1]  # what is assumed, and a warning


def test_an_estimate_says_what_the_move_itself_takes() -> None:
    said = migration.estimate_summary(replace(samples.ESTIMATE, planned="cold-copy"))
    at = moment(samples.ESTIMATE.made_at)
    assert at in said
    assert in_sentence(method_title("cold-copy")) in said
    assert figures(said.replace(at, "")) == ["4 h 00 min", "4 h 00 min"]  # in all, and of downtime
    unplanned = migration.estimate_summary(replace(samples.ESTIMATE, planned=""))
    assert at in unplanned
    assert figures(unplanned.replace(at, "")) == []


def test_the_stages_stand_below_their_method() -> None:
    texts = [migration.STAGE_COLUMNS[0].text(row) for row in migration.stage_rows(samples.ESTIMATE)]
    assert texts == [
        method_title("cold-copy"),
        "    Copy",
        "    Verification",
        "Dump & restore",
        "    Dump",
        "    Indexes",
    ]


def test_a_plan_in_words() -> None:
    summary = migration.plan_summary(samples.PLAN)
    assert figures(summary)[:2] == ["3", "35 s"]  # steps, and of downtime
    assert "rsync over ssh" in summary
    text = migration.commands(samples.PLAN)
    step = samples.PLAN.steps[1]
    head, call, *native = text.split("\n\n")[1].splitlines()
    assert all(value in head for value in (f"# {step.number}. {step.title}", step.server, step.user))
    assert call.startswith("# ")
    assert call.endswith(step.call)
    assert tuple(native) == step.native


def test_checks_in_words() -> None:
    check = samples.CHECKS[0]
    named = migration.check_text(check, move(old="db1", new="db2")).splitlines()
    assert [line.partition(": ")[0] for line in named if line.startswith("db")] == ["db1 (old)", "db2 (new)"]
    text = migration.check_text(check)
    assert check.status is Status.BLOCKER
    assert all(value in text for value in (check.title, check.status, check.message, check.hint, check.old, check.new))
