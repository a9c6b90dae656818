"""The tiles of the cockpit."""

from dataclasses import replace

from core.benchmarks.model import Forecast, Mark, MarkKind, Outcome, Repetition, Run, Side, Volume, Workload
from gui.appearance import Tone
from gui.models.tiles import tile_rows, whole_job
from tests.gui.samples import MORNING

READ = Workload("read", "random read", "fio", "read_iops")
OLD = Volume(Side.OLD, "db-old", "/srv/pg", "/srv/pg/x")


def run(*values: float, outcome: Outcome | None = Outcome.DONE) -> Run:
    repetitions = tuple(
        Repetition(n, MORNING, 60.0, Outcome.DONE, {"read_iops": value, "read_latency_p99_seconds": 0.0021}, "fio", "")
        for n, value in enumerate(values, 1)
    )
    return Run("spring", OLD, READ, MORNING, outcome, repetitions=repetitions)


def test_a_tile_shows_the_newest_run_of_its_side() -> None:
    (row,) = tile_rows([run(900, 905, 910), run(1)])
    assert (row.title, row.new) == ("random read", None)
    assert row.old is not None
    assert (row.old.value, row.old.state, row.old.tone) == ("905", "done, 3 repetitions", None)
    assert row.old.detail == "read IOPS, ± 0.6 %, read latency 99 % 2.10 ms"
    assert [dot.counts for dot in row.old.dots] == [True, True, True]


def test_what_was_disturbed_counts_apart_and_is_said() -> None:
    made = run(900, 300)
    disturbed = replace(made.repetitions[1], marks=(Mark(MarkKind.DISTURBED, "others wrote 80 MB/s"),))
    (row,) = tile_rows([replace(made, repetitions=(made.repetitions[0], disturbed))])
    assert row.old is not None
    assert (row.old.value, row.old.state, row.old.tone) == ("900", "done, 2 repetitions; disturbed", Tone.WARNING)
    assert [dot.counts for dot in row.old.dots] == [True, False]


def test_a_run_without_repetitions_is_measuring() -> None:
    (row,) = tile_rows([run(outcome=None)])
    assert row.old is not None
    assert (row.old.value, row.old.state, row.old.running) == ("–", "measuring, 0 repetitions", True)


def test_one_range_for_all_sides_together() -> None:
    each = Forecast(OLD, 600.0, 1, 2, seconds_at_most=1140.0)
    assert whole_job([each, each], None) == "20 min 00 s to 38 min 00 s in all."
    assert whole_job([each, each], 300.0) == "5 min 00 s so far; 15 min 00 s to 33 min 00 s left in all."
