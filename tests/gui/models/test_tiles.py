"""The tiles of the cockpit."""

from dataclasses import replace

import pytest

from core import units
from core.benchmarks.model import Mark, MarkKind, Outcome, Repetition, Run, Volume, Workload
from core.sides import Side
from core.tones import Tone
from gui.models.tiles import contrasts, describe_live_figure, tile_rows
from tests.figures import figures
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
    assert (row.name, row.title, row.new) == ("read", "random read", None)
    assert row.old is not None
    assert (row.old.value, figures(row.old.state), row.old.tone) == ("905 IOPS", ["3"], None)
    assert row.old.state.startswith(Outcome.DONE)
    assert (row.old.spread, row.old.detail) == ("± 0.6 %", "p99 2.10 ms")
    assert [dot.counts for dot in row.old.dots] == [True, True, True]


def on_new(made: Run) -> Run:
    return replace(made, volume=replace(OLD, side=Side.NEW, server="db-new"))


def test_both_sides_are_compared_once_both_have_a_result() -> None:
    runs = [on_new(run(2700, 2710, 2705)), run(900, 905, 910)]
    (row,) = tile_rows(runs, contrasts(runs), ("db-old", "db-new"))
    assert (row.ratio, row.verdict.split()[0], row.tone) == ("2.99 ×", "db-new", Tone.GOOD)
    turned = [run(2700, 2710, 2705), on_new(run(900, 905, 910))]
    (row,) = tile_rows(turned, contrasts(turned), ("db-old", "db-new"))
    assert (row.ratio, row.verdict.split()[0], row.tone) == ("2.99 ×", "db-old", Tone.WARNING)
    alike = [on_new(run(900, 905, 910)), run(900, 905, 910)]
    (row,) = tile_rows(alike, contrasts(alike), ("db-old", "db-new"))
    assert (row.ratio, row.tone) == ("–", Tone.MUTED)
    assert row.verdict
    for one in ([run(900)], [on_new(run(2700, outcome=None)), run(900)], [on_new(run()), run(900)]):
        (row,) = tile_rows(one, contrasts(one))
        assert (row.ratio, row.verdict, row.tone) == ("–", "", Tone.MUTED)


def test_what_was_disturbed_counts_apart_and_is_said() -> None:
    made = run(900, 300)
    disturbed = replace(made.repetitions[1], marks=(Mark(MarkKind.DISTURBED, "others wrote 80 MB/s"),))
    (row,) = tile_rows([replace(made, repetitions=(made.repetitions[0], disturbed))])
    assert row.old is not None
    assert (row.old.value, figures(row.old.state), row.old.tone) == ("900 IOPS", ["2"], Tone.WARNING)
    assert row.old.state.endswith(f"; {MarkKind.DISTURBED}")
    assert [dot.counts for dot in row.old.dots] == [True, False]


def test_a_run_without_repetitions_is_measuring() -> None:
    (row,) = tile_rows([run(outcome=None)])
    assert row.old is not None
    assert (row.old.value, figures(row.old.state), row.old.running) == ("–", ["0"], True)


def test_an_outlier_is_told_from_what_was_disturbed() -> None:
    (row,) = tile_rows([run(900, 905, 910, 902, 907, 90)])
    assert row.old is not None
    assert [dot.outlying for dot in row.old.dots] == [False] * 5 + [True]
    assert row.old.dots[-1].remarks == ("outlier",)


def test_the_moment_is_told_in_the_headlines_own_unit_where_a_device_has_it() -> None:
    moving = {"read_iops": 900.0, "read_bytes_per_second": 7e6, "write_iops": 10.0, "write_bytes_per_second": 2e6}
    assert figures(describe_live_figure("read_iops", moving)) == ["900 IOPS"]
    assert figures(describe_live_figure("read_bytes_per_second", moving)) == ["7.00 MB/s"]
    assert figures(describe_live_figure("transactions_per_second", moving)) == ["9.00 MB/s"]


@pytest.mark.parametrize("headline", ["transactions_per_second", "final_transactions_per_second", ""])
def test_transactions_are_told_as_such(headline: str) -> None:
    moving = {"transactions_per_second": 1806.8}
    said = describe_live_figure(headline, moving, "pgbench")
    assert said.startswith(f"{units.count(1806.8)} transactions/s ")
    assert "pgbench" in said
    assert figures(describe_live_figure(headline, {"read_bytes_per_second": 7e6})) == ["7.00 MB/s"]
    assert figures(describe_live_figure(headline, {})) == ["0 B/s"]
