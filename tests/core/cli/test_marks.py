"""What people read of a run: each figure with what is to be said of it, and why no more repetitions were made."""

import re
from dataclasses import replace
from datetime import UTC, datetime

from core.benchmarks.model import Forecast, Mark, MarkKind, Outcome, Repetition, Run, Volume, Workload
from core.benchmarks.pgbench.tool import drift
from core.cli.benchmarks import forecast_text, text
from core.cli.history import run_text
from core.sides import Side

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VOLUME = Volume(Side.OLD, "db01", "/srv/pg", "/srv/pg/pghaul-bench-0")
FSYNCS = (3170.57, 7606.69, 8379.83, 7627.63, 7523.14, 7600.0)
RUN = Run(
    "m",
    VOLUME,
    Workload("fsync", "fsync rate", "sysbench", "fsyncs_per_second"),
    NOW,
    Outcome.DONE,
    repetitions=tuple(
        Repetition(number, NOW, 1.0, Outcome.DONE, {"fsyncs_per_second": value}, "sysbench", "raw")
        for number, value in enumerate(FSYNCS, 1)
    ),
    id=7,
    stopped="steady after 6 repetitions: ± 4.6 %, the target is ± 5.0 %",
)
DISTURBED = Mark(MarkKind.DISTURBED, "others moved 60.0 MiB of the 160.0 MiB that sda moved meanwhile")


def marked(run: Run) -> Run:
    first, second, *rest = run.repetitions
    return replace(run, repetitions=(first, replace(second, marks=(DISTURBED,)), *rest))


def test_a_line_of_a_run_names_outliers_and_what_was_disturbed() -> None:
    line = text((marked(RUN),)).splitlines()[-1]
    assert "old:/srv/pg" in line
    assert "3\u202f171 /s (outlier), 7\u202f607 /s (disturbed), 8\u202f380 /s, 7\u202f628 /s" in line
    assert line.endswith("done: steady after 6 repetitions: ± 4.6 %, the target is ± 5.0 %")


def test_a_partial_run_is_named_as_what_it_is() -> None:
    for outcome in (Outcome.INTERRUPTED, Outcome.CANCELLED):
        assert str(outcome) in text((replace(RUN, outcome=outcome, stopped=""),)).splitlines()[-1]


def test_the_whole_run_shows_the_figures_behind_each_mark() -> None:
    lines = run_text(marked(RUN)).splitlines()
    assert lines[1] == RUN.stopped
    assert "repetition 1, 2026-01-01 00:00:00 UTC, done, outlier" in lines
    assert lines[lines.index("repetition 2, 2026-01-01 00:00:00 UTC, done, disturbed") + 1] == (
        f"disturbed: {DISTURBED.text}"
    )


def test_a_forecast_says_what_colours_the_figures() -> None:
    resync = "md0 (raid10) resyncs, 12.5 % done, about 41 min 30 s left on db01: the figures will be its too"
    found = Forecast(VOLUME, 60.0, 2**30, 2**33, warnings=(resync,), resync=resync, seconds_at_most=120.0)
    head, warning, hint = forecast_text(found).splitlines()
    assert re.match(r"old \(db01:/srv/pg\): .*\b1 min 00 s .*\b2 min 00 s .*\b1\.0 GiB of 8\.0 GiB ", head)
    assert warning == f"  warning: {resync}"
    assert hint.endswith(": pghaul bench --wait-for-resync")


def test_a_drift_tells_the_decrease_beside_its_figure() -> None:
    """From 95 to 45 transactions a second, as Lentfer had it in 2010: 53 %."""
    workload = Workload("drift", "drift", "pgbench", "final_transactions_per_second")
    metrics = drift({"transactions_per_second": 95}, [{"transactions_per_second": 16}], {"transactions_per_second": 45})
    run = replace(RUN, workload=workload, repetitions=(Repetition(1, NOW, 1.0, Outcome.DONE, metrics, "", ""),))
    assert "45 /s (decrease 52.6 %)" in text((run,))
