"""What queries took, by what the steps of a dress rehearsal printed."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core import documents
from core.migration.execution.queries import (
    AS_ROLE,
    UNEQUAL,
    QueryResults,
    Run,
    lines,
    missing,
    parse_runs,
    query_results,
    sentences,
    without_script_texts,
)
from core.migration.execution.step_runner import KEPT
from core.migration.model import step_ids
from core.migration.model.dress import Queries, RehearsalOptions, Script
from core.migration.model.execution import Execution, Kind
from core.migration.model.plan import Phase
from core.redaction import CUT, end_without_secrets
from core.servers.shell import split
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.core.migration.plan.plans import plan
from tests.steps import change_step

QUERIES = Queries((Script("one.sql", 3, "select 1"), Script("two.sql", 1, "select 2")), "reader", "shop", on_old=True)


def report(tps: float, took: str = "took 0 100:980 200:10 5000:10\ntook 1 400:200", done: int = 1200) -> str:
    return f"""\
: pgbench (15.5, server 15.8)
: transaction type: multiple scripts
: scaling factor: 1
: query mode: extended
: number of clients: 4
: number of threads: 1
: duration: 10 s
: number of transactions actually processed: {done}
: latency average = 0.312 ms
: initial connection time = 15.233 ms
: tps = {tps} (without initial connection time)
: SQL script 1: /var/tmp/pghaul-job.d4RINT8u/pghaul-queries.mmSARS3d/1.sql
:  - weight: 3 (targets 75.0% of total)
:  - 100 transactions (83.3% of total, tps = {tps * 0.8})
:  - latency average = 0.237 ms
:  - latency stddev = 0.303 ms
: SQL script 2: /var/tmp/pghaul-job.d4RINT8u/pghaul-queries.mmSARS3d/2.sql
:  - weight: 1 (targets 25.0% of total)
:  - 20 transactions (16.7% of total, tps = {tps * 0.2})
:  - latency average = 0.254 ms
:  - latency stddev = 0.376 ms
{took}
"""


def carried_out(queries: Queries | None = QUERIES, /, *, old: str = "", cold: str = "", copy: str = "") -> Execution:
    named = [
        change_step(STEP, id=name, phase=Phase.DRESS)
        for name, said in (
            (step_ids.MEASURE_QUERIES_OLD, old),
            (step_ids.REHEARSE_DROP_CACHE, cold),
            (step_ids.REHEARSE_START, copy),
        )
        if said
    ]
    made = execution(*named, kind=Kind.REHEARSAL)
    made = replace(made, plan=replace(made.plan, queries=queries))
    for number in range(1, len(named) + 1):
        made = ran(made, number)
    outputs = [said for said in (old, cold, copy) if said]
    steps = tuple(replace(run, output=said) for run, said in zip(made.steps, outputs, strict=True))
    return replace(made, steps=steps, ended_at=NOW + timedelta(seconds=9))


BOTH = {
    "old": f"queries old 1\n{report(90.0)}queries old 2\n{report(100.0)}",
    "cold": "page cache dropped\n",
    "copy": f"the copy was ready after 1 seconds\nqueries new 1\n{report(50.0)}queries new 2\n"
    f"{report(150.0, 'took 1 200:200' + chr(10) + 'took 0 50:1000')}database shop: 3 relations\n",
}


def results(**said: str) -> QueryResults:
    found = query_results(carried_out(**said))
    assert found is not None
    return found


def test_each_run_has_its_rate_and_percentiles_of_all_and_of_each_script() -> None:
    found = results(**BOTH)
    assert [each.run for each in found.runs] == list(Run)
    warm = found.run(Run.OLD_WARM)
    assert warm is not None
    of_all, one, two = warm.metrics
    assert of_all == {
        "transactions_per_second": 100.0,
        "latency_p50_seconds": pytest.approx(100e-6),
        "latency_p95_seconds": pytest.approx(400e-6),
        "latency_p99_seconds": pytest.approx(400e-6),
    }
    assert (one["transactions_per_second"], two["transactions_per_second"]) == (80.0, 20.0)
    assert one["latency_p99_seconds"] == pytest.approx(200e-6)
    assert two["latency_p95_seconds"] == pytest.approx(400e-6)
    assert "latency_p99_seconds" not in two  # of 200
    new = found.run(Run.NEW_WARM)
    assert new is not None
    assert new.metrics[2]["latency_p50_seconds"] == pytest.approx(200e-6)  # by its number, in whatever order they come


def test_old_warm_new_cold_and_new_warm_stand_side_by_side_with_the_ratio_of_the_warm_ones() -> None:
    first, *rest = lines(results(**BOTH))
    assert (first.script, first.metric, first.values) == ("", "transactions_per_second", (100.0, 50.0, 150.0))
    assert first.ratio is not None
    assert first.ratio.low < first.ratio.ratio == 1.5 < first.ratio.high
    assert [line.script for line in rest[3:]] == ["one.sql"] * 4 + ["two.sql"] * 4
    assert "page cache was dropped" in " ".join(sentences(results(**BOTH)))
    assert {*UNEQUAL, AS_ROLE} < set(sentences(results(**BOTH)))


def test_what_fails_is_not_measured_and_says_why() -> None:
    said = {**BOTH, "old": "queries old 1 not measured: pgbench ended with exit status 2: ERROR:  no\n"}
    found = results(**said)
    assert found.run(Run.OLD_WARM) is None
    assert lines(found)[0].values == (None, 50.0, 150.0)
    assert lines(found)[0].ratio is None
    assert any(
        each == "Old first was not measured: pgbench ended with exit status 2: ERROR:  no." for each in sentences(found)
    )


def test_what_was_cold_is_said_exactly() -> None:
    kept = " ".join(sentences(results(**{**BOTH, "cold": "page cache kept: root alone\n"})))
    assert "was kept, and may have held the files" in kept
    assert "--queries-on-old" in " ".join(sentences(results(copy=BOTH["copy"])))


def test_of_too_few_transactions_there_is_no_percentile() -> None:
    few = report(3.0, "took 0 100:20\ntook 1 400:5", 25)
    found = results(**{**BOTH, "old": f"queries old 1\n{few}queries old 2\n{few}"})
    by_metric = {line.metric: line for line in lines(found) if line.script == ""}
    assert by_metric["latency_p50_seconds"].values[0] == pytest.approx(100e-6)
    for metric in ("latency_p95_seconds", "latency_p99_seconds"):
        assert by_metric[metric].values[0] is None
        assert by_metric[metric].ratio is None
        assert missing(found, by_metric[metric], 0) == "too few"
    assert missing(found, by_metric["transactions_per_second"], 0) == ""


def test_a_run_of_which_not_all_was_kept_is_not_measured() -> None:
    long = {**BOTH, "copy": CUT + BOTH["copy"][BOTH["copy"].index(" 200:10") :]}
    found = results(**long)
    cold = found.run(Run.NEW_COLD)
    assert cold is not None
    assert cold.why == "not all of its output was kept"
    assert found.run(Run.NEW_WARM) is not None
    assert lines(found)[0].values == (100.0, None, 150.0)


def test_what_the_most_scripts_print_is_kept() -> None:
    took = "\n".join(
        f"took {script}" + "".join(f" {round(1.02**at)}:1" for at in range(200, 900)) for script in range(20)
    )
    printed = f"queries old 1\n{report(1.0, took)}queries old 2\n{report(1.0, took)}"
    runs = results(old=end_without_secrets(printed, KEPT)).runs
    assert [run.why for run in runs] == ["", ""]


def test_a_script_alone_has_no_line_of_its_own() -> None:
    one = replace(QUERIES, scripts=QUERIES.scripts[:1])
    found = query_results(carried_out(one, **BOTH))
    assert found is not None
    assert len(lines(found)) == 4


def test_without_queries_or_before_they_ran_there_are_none() -> None:
    assert query_results(carried_out(None, **BOTH)) is None
    assert query_results(carried_out(copy="database shop: 3 relations\n")) is None
    assert list(parse_runs("")) == []


@pytest.mark.parametrize(
    "printed",
    [
        report(10.0, "took 0 100:98 20"),
        report(10.0, "took 0"),
        report(10.0, ""),
        ": nothing of pgbench's\ntook 0 1:1\n",
        report(10.0).replace("took 0", ": pgbench: error: Run was aborted; the above results are incomplete.\ntook 0"),
        report(10.0).replace("tps = 10.0", "tps = nan"),
    ],
)
def test_a_report_that_is_not_whole_is_no_measurement(printed: str) -> None:
    (run,) = parse_runs(f"queries new 1\n{printed}")
    assert run.metrics == ()
    assert run.why


WITHIN = "select 'only_in_script_b';"
AROUND = f"1\n1\n{WITHIN}\nselect 'only_in_script_a';\n"
LONG = "".join(f"select {number}, 'it''s', \"a\", $1, \\x from only_in_script;\n" for number in range(2000))


@pytest.mark.parametrize(
    "scripts",
    [
        (Script("long.sql", 1, LONG),),
        (Script("one.sql", 3, "select 'only_in_script';"), Script("long.sql", 1, LONG)),
        (Script("empty.sql", 1, "\n"), Script("blank.sql", 2, "\n\nselect 1 -- only_in_script\n\n")),
        (Script("within.sql", 1, WITHIN), Script("around.sql", 2, AROUND)),
        (Script("around.sql", 2, AROUND), Script("within.sql", 1, WITHIN)),
        (Script("numbers.sql", 1, "1\n1\n1\n1 -- only_in_script\n"), Script("one.sql", 1, "1 -- only_in_script")),
        (Script("same.sql", 1, WITHIN), Script("again.sql", 1, WITHIN)),
    ],
    ids=["long", "two", "empty lines", "one before it", "one behind it", "numbers", "the same"],
)
def test_the_texts_of_scripts_are_left_out_of_a_status_and_nothing_else_is(scripts: tuple[Script, ...]) -> None:
    made = plan(
        {"running": True}, dressed=True, asked=RehearsalOptions(queries=Queries(scripts, "reader", on_old=True))
    )
    whole = replace(execution(kind=Kind.REHEARSAL), plan=made)
    shorter = without_script_texts(whole)
    told = documents.dump(shorter)
    assert documents.dump(whole).count("only_in_script") >= 3
    assert "only_in_script" not in told
    assert shorter.plan.queries is not None
    assert [(each.name, each.weight) for each in shorter.plan.queries.scripts] == [
        (each.name, each.weight) for each in scripts
    ]
    measuring = {step_ids.MEASURE_QUERIES_OLD, step_ids.REHEARSE_START}
    for before, after in zip(whole.plan.steps, shorter.plan.steps, strict=True):
        assert (before == after) is (before.id not in measuring)
        assert split(before.call)[:6] == split(after.call)[:6]
        assert split(before.call)[-4:] == split(after.call)[-4:]
        if before.id in measuring:
            assert len(split(before.call)) - len(split(after.call)) == sum(
                len(each.text.removesuffix("\n").split("\n")) for each in scripts
            )
    assert replace(shorter, plan=whole.plan) == whole


def test_an_execution_without_queries_is_shown_as_it_is() -> None:
    assert without_script_texts(execution()) == execution()
