"""pgbench: which rate is meant, what an aborted or empty run gives, several scripts and runs."""

import re
from pathlib import Path

import pytest

from core.benchmarks.model import Result
from core.benchmarks.pgbench.output import PROGRESS, parse_pgbench
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
    with pytest.raises(
        ParseError, match=r"^pgbench: (expected |this output was cut off, or its run has no result. Expected )"
    ):
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
        "scale": 1,
        "clients": 1,
        "threads": 1,
        "transactions": 400,
        "failed_transactions": 100,
        "latency_mean_seconds": 0.0015,
        "transactions_per_second": 20,
    }


# Progress lines without a report: a run that was cut off.

ROUNDING = 1e-6
_PROGRESS_LINE = re.compile(r"progress: [\d.]+ s, (?P<tps>[\d.]+) tps, lat (?P<mean>[\d.]+|-nan) ms")


def _progress(text: str) -> list[Result]:
    try:
        return [result for result in parse_pgbench(text).results if result.name == PROGRESS]
    except ParseError:
        return []


@pytest.mark.parametrize("path", sorted(DATA.glob("*.txt")), ids=lambda path: path.name)
def test_progress_lines_that_were_cut_off_give_a_mean_of_theirs_and_are_aborted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for end in (found.end() for found in re.finditer("\n", text)):
        for result in _progress(text[:end]):
            shown = [float(found["tps"]) for found in _PROGRESS_LINE.finditer(text[:end])]
            means = [float(found["mean"]) for found in _PROGRESS_LINE.finditer(text[:end]) if found["mean"] != "-nan"]
            assert result.aborted
            assert min(shown) - ROUNDING <= result.metrics["transactions_per_second"] <= max(shown) + ROUNDING
            if "latency_mean_seconds" in result.metrics:
                mean = result.metrics["latency_mean_seconds"] * 1000
                assert min(means) - ROUNDING <= mean <= max(means) + ROUNDING


LINE = "progress: {} s, {} tps, lat {} ms stddev 0.000, 2 failed\n"


@pytest.mark.parametrize(
    ("text", "rate", "seconds", "failed"),
    [
        # a line counts for the time since the one before it, the first since the start
        (
            "starting vacuum...end.\n" + LINE.format("8.0", "10.0", "1.000") + LINE.format("10.0", "60.0", "2.000"),
            20,
            10,
            4,
        ),
        # the start is not shown: the first line counts for the usual time
        (LINE.format("28.0", "10.0", "1.000") + LINE.format("29.0", "30.0", "1.000"), 20, 2, None),
        # lines were left out
        (
            "pgbench (16.7)\n"
            + LINE.format("1.0", "10.0", "1.000")
            + LINE.format("2.0", "20.0", "1.000")
            + "...\n"
            + LINE.format("9.0", "60.0", "1.000"),
            30,
            3,
            None,
        ),
        # --progress-timestamp
        (LINE.format("1700000000.1", "10.0", "1.000") + LINE.format("1700000005.1", "30.0", "1.000"), 20, 10, None),
    ],
)
def test_each_progress_line_counts_for_its_time(text: str, rate: float, seconds: float, failed: float | None) -> None:
    (result,) = _progress(text)
    assert result.metrics["transactions_per_second"] == pytest.approx(rate)
    assert result.metrics["duration_seconds"] == pytest.approx(seconds)
    assert result.metrics.get("failed_transactions") == failed


def test_one_progress_line_without_its_start_has_no_duration() -> None:
    (result,) = _progress(LINE.format("28.0", "10.0", "1.000"))
    assert result.metrics["transactions_per_second"] == 10
    assert "duration_seconds" not in result.metrics


@pytest.mark.parametrize("cut", range(10, len("progress: 28.0 s, 10.0 tps, lat 1.000 ms stddev 0.00") + 1))
def test_a_progress_line_that_was_cut_off_is_none(cut: int) -> None:
    line = LINE.format("28.0", "10.0", "1.000")
    assert _progress(line[:cut]) == []


def test_very_many_progress_lines_take_no_longer_than_the_lines() -> None:
    backwards = "".join(LINE.format(f"{second}.0", "10.0", "1.000") for second in range(20_000, 0, -1))
    assert len(_progress(backwards)) == 20_000
    left_out = "...\n".join(LINE.format(f"{second}.0", "10.0", "1.000") for second in range(1, 20_000))
    assert len(_progress(left_out)) == 1


REPORT = "transaction type: x\nscaling factor: 1\nduration: 10 s\ntps = 5.000000 (without initial connection time)\n"


def test_progress_lines_belong_to_the_report_behind_or_appended_before_them() -> None:
    lines = LINE.format("5.0", "10.0", "1.000") + LINE.format("10.0", "30.0", "1.000")
    assert _progress(lines + REPORT) == []
    assert _progress(REPORT + lines) == []
    # what ended long before the report's duration is another run
    assert len(_progress(REPORT + LINE.format("5.0", "10.0", "1.000"))) == 1
    assert len(_progress(lines + REPORT + lines)) == 1


# A log, as it was pasted.

LOG = "1650260552 5178 26171317 177284491527 1136 44462\n1650260562 4808 25573984 220121792172 1171 62083\n"


@pytest.mark.parametrize(
    "text", [f"db1:~$ cat pgbench_log.1\n{LOG}db1:~$ \n", f"Results:\n\n```\n{LOG}```\nThanks\n", f"\n\n{LOG}\n"]
)
def test_what_stands_before_a_log_and_behind_it_is_left_out(text: str) -> None:
    assert parse_pgbench(text) == parse_pgbench(LOG)


def test_a_line_within_a_log_makes_it_none() -> None:
    with pytest.raises(ParseError):
        parse_pgbench(LOG.replace("\n", "\nwhatever\n", 1))
