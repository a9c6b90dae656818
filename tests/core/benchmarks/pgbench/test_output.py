"""pgbench: which rate is meant, what an aborted or empty run gives, several scripts and runs."""

from pathlib import Path

import pytest

from core.benchmarks.pgbench.output import parse_pgbench
from core.errors import ParseError

DATA = Path(__file__).parents[3] / "data" / "pgbench"
V96 = (DATA / "31-v12-13-transactions-mode-no-stddev-f40770488901.txt").read_text()
V14 = (DATA / "10-v14.1-client-server-12.6-f8297672349.txt").read_text()
V16 = (DATA / "v16-aborted-complete-numbers.txt").read_text()


def test_a_report_that_was_cut_off_says_what_is_there() -> None:
    (result,) = parse_pgbench(V96[: V96.index("tps = 712.221039")]).results
    assert result.aborted
    assert result.metrics["transactions"] == 50000
    assert "transactions_per_second" not in result.metrics
    with pytest.raises(ParseError, match=r"^pgbench: expected "):
        parse_pgbench(V96[: V96.index("number of transactions actually")])


@pytest.mark.parametrize("rate", ["NaN", "-nan", "inf", "-nan(ind)", "-331.2"])
def test_a_rate_that_is_no_number_is_absent(rate: str) -> None:
    text = V14.replace("6624", "0").replace("331.190445", rate)
    (result,) = parse_pgbench(text).results
    assert "transactions_per_second" not in result.metrics
    assert result.metrics["transactions"] == 0


@pytest.mark.parametrize(
    ("processed", "extra", "aborted"),
    [
        ("50000/50000", "", False),
        ("49000/50000", "", True),
        ("49000/50000", "number of failed transactions: 1000 (2.000%)\n", False),
        ("49000/50000", "number of transactions skipped: 1000 (2.000%)\n", False),
        ("49000/50000", "number of failed transactions: 10 (0.020%)\n", True),
        ("49000", "", False),
    ],
)
def test_a_run_that_fell_short_was_aborted(processed: str, extra: str, aborted: bool) -> None:
    text = V96.replace("50000/50000\n", f"{processed}\n{extra}")
    (result,) = parse_pgbench(text).results
    assert result.aborted is aborted


@pytest.mark.parametrize(
    "line",
    [
        "Client 3 aborted in state 5: ERROR:  deadlock detected\n",
        "client 3 aborted in command 5 (SQL) of script 0; ERROR:  could not serialize\n",
        "pgbench: error: client 36 script 0 aborted in command 8 query 0: ERROR:  could not serialize\n",
    ],
)
def test_a_client_that_gave_up_marks_the_run(line: str) -> None:
    assert parse_pgbench(line + V14).results[0].aborted
    assert parse_pgbench(V14 + line).results[0].aborted


def test_an_aborted_run_does_not_mark_its_neighbours() -> None:
    for runs, marks in (
        (V14 + V16 + V14, [False, True, False]),
        (V16 + V14, [True, False]),
        (V14 + V16, [False, True]),
    ):
        assert [result.aborted for result in parse_pgbench(runs).results] == marks


def test_a_latency_that_was_not_measured_is_absent() -> None:
    (result,) = parse_pgbench(V96.replace("latency average = 7.021 ms", "latency average: 0.000 ms")).results
    assert not [name for name in result.metrics if "latency" in name]


def test_8_3_knows_neither_mode_nor_threads() -> None:
    text = (
        "starting vacuum...end.\ntransaction type: TPC-B (sort of)\nscaling factor: 10\nnumber of clients: 4\n"
        "number of transactions per client: 100\nnumber of transactions actually processed: 400/400\n"
        "tps = 85.184871 (including connections establishing)\ntps = 86.296346 (excluding connections establishing)\n"
    )
    (result,) = parse_pgbench(text).results
    assert result.metrics == {"scale": 10, "clients": 4, "transactions": 400, "transactions_per_second": 86.296346}


def test_since_17_a_script_counts_what_was_processed() -> None:
    text = V14 + (
        "SQL script 1: a.sql\n - weight: 1 (targets 50.0% of total)\n - 500 transactions (50.0% of total)\n"
        " - number of transactions actually processed: 400 (tps = 20.000000)\n"
        " - number of failed transactions: 100 (20.000%)\n - latency average = 1.500 ms\n"
    )
    script = parse_pgbench(text).results[1]
    assert script.name == "a.sql"
    assert script.metrics == {
        "transactions": 400,
        "failed_transactions": 100,
        "latency_mean_seconds": 0.0015,
        "transactions_per_second": 20,
    }
