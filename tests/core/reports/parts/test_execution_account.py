"""The execution in the report: its sentence, its parts, and that it can be drawn whatever is in it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.cli.execution import text
from core.migration.execution.outcome import figures_of, outcome_of, passes, result_of
from core.migration.execution.status import sentence as describe_unfinished
from core.migration.execution.status import unfinished
from core.migration.execution.timeline import account, describe_progress, downtime, running_steps, status_of
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, Execution, Kind, State, StepRun
from core.migration.model.plan import Phase, Step
from core.migration.model.schedule import FailedTry, Schedule
from core.reports.kinds.execution import execution_report
from core.reports.kinds.plan import plan_report
from core.reports.model import Document, drawings
from core.reports.options import Options
from core.reports.parts.execution_account import sentence
from core.reports.report import Report
from core.reports.shapes.pdf import pdf
from core.reports.summary import answers
from tests.core.history import samples
from tests.core.migration.execution.set_back import BACK, negative, set_back
from tests.core.migration.execution.test_queries import BOTH, carried_out
from tests.core.reports.reading import names, rows, titles, words
from tests.steps import make_step

BEGAN = samples.START + timedelta(hours=9)


def _plan_step(number: int, title: str, **more: Any) -> Step:
    told = {"reason": "because", "undo": "undo", "expected_seconds": 60.0, "server": samples.OLD.name, **more}
    return make_step(told.pop("id", f"step-{number}"), title, number=number, **told)


STEPS = (
    _plan_step(
        1, "warm pass 1 of 1: /srv/pg/15/data", precopy_pass=1, root="data", size=6_000_000_000, phase=Phase.WARM
    ),
    _plan_step(2, "stop old", id=step_ids.STOP_OLD_CLUSTER, downtime=True, phase=Phase.STOP),
    _plan_step(3, "prove the stop", id=step_ids.CHECK_STOPPED, downtime=True, phase=Phase.STOP),
    _plan_step(4, "keep old from starting", id=step_ids.FENCE_OLD, downtime=True, phase=Phase.STOP),
    _plan_step(
        5,
        "sum up old's files",
        id=step_ids.CHECKSUMS_OLD,
        downtime=True,
        reason="every path with its size",
        phase=Phase.VERIFY,
    ),
    _plan_step(6, "compare new's files with old's", downtime=True, equals=step_ids.CHECKSUMS_OLD, phase=Phase.VERIFY),
    _plan_step(7, "take inventory of old", id=step_ids.TAKE_INVENTORY, downtime=True, phase=Phase.STOP),
    _plan_step(
        8,
        "compare new's inventory with old's",
        downtime=True,
        reads=step_ids.TAKE_INVENTORY,
        only_checks=True,
        phase=Phase.START,
    ),
    _plan_step(9, "decide", side=None, downtime=True, expected_seconds=None, phase=Phase.OPEN),
    _plan_step(10, "open new to clients", downtime=True, id=step_ids.CUTOVER, phase=Phase.OPEN),
)
STOCK = """setting port = 5432
database postgres
relations r 70
relations i 160
database shop
relations r 90
invalid index shop.broken
"""


def _run(number: int, *, minutes: float = 1, at: float | None = None, **more: Any) -> StepRun:
    began = BEGAN + timedelta(minutes=10 * number if at is None else at)
    made = StepRun(number, number, STEPS[number - 1].title, 1, began, began + timedelta(minutes=minutes), 0)
    return replace(made, **more)


ALL = tuple(
    _run(number, bytes=6_000_000_000 if number == 1 else None, output=STOCK if number == 7 else "")
    for number in range(1, 11)
)
UNBROKEN = tuple(replace(run, ended_at=run.started_at + timedelta(minutes=10)) for run in ALL)
"""Each step begins when the one before has ended."""


def _executed(full: Report, *runs: StepRun, state: State, kind: Kind = Kind.REAL, message: str = "") -> Report:
    plan = replace(samples.plan(), steps=STEPS)
    made = Execution(
        7, full.move.name, kind, state, "t", "dba@desk", BEGAN, BEGAN + timedelta(hours=2), plan, runs, message
    )
    return replace(full, executions=(made, *full.executions), made_at=BEGAN + timedelta(hours=5))


def _made(report: Report) -> Document:
    return execution_report(report, Options())


def _facts(report: Report) -> dict[str, str]:
    return {row[0]: row[1] for row in rows(_made(report), "execution")}


def _sentence(report: Report) -> str:
    return sentence(report, report.executions[0])[1]


def test_without_an_execution_it_says_so(empty: Report) -> None:
    made = _made(empty)
    assert [one.words for one in made.answers] == ["The move has not been executed yet"]
    assert "execution" not in names(made)


def test_a_move_that_is_done(full: Report) -> None:
    report = _executed(full, *ALL, state=State.DONE)
    assert _sentence(report) == (
        "The cluster was moved to gannon-new and has served clients there since 15 March 2026, 06:41 UTC. "
        "The downtime was 1 h 21 min. Both sides were proven to be equal."
    )
    _storage, movable, time = answers(report)
    assert movable.words == "Yes, to gannon-new"
    assert report.blockers  # what was checked before it
    assert plan_report(report, Options()).answers[0].words == "Yes"
    assert time.words == "The downtime was 1 h 21 min"
    assert time.details[0] == (
        "The commands took 8 min 00 s of it, manual steps 1 min 00 s, and 1 h 12 min passed while no step ran. "
        "The plan expected 8 min for the commands."
    )
    assert [one.words for one in _made(report).answers][1:] == [
        "1 h 21 min; the plan expected 8 min for the commands",
        "Yes: 2 of 2 comparisons agree",
        "8 interruptions",
        "Nothing",
    ]


def test_an_execution_without_gaps_in_the_downtime_was_not_interrupted(full: Report) -> None:
    made = _made(_executed(full, *UNBROKEN, state=State.DONE))
    assert made.answers[3].words == "No: every step succeeded at the first attempt"
    gaps = _made(_executed(full, *ALL, state=State.DONE))
    assert [row[0] for row in rows(gaps, "breaks")][:2] == ["05:21:00", "05:31:00"]


def test_what_queries_took_stands_side_by_side(full: Report) -> None:
    made = replace(full, executions=(carried_out(**BOTH),))
    first, *_, last = rows(_made(made), "queries")
    assert first == ["all scripts", "transactions a second", "100 /s", "50 /s", "150 /s", "1.50 ×"]
    assert last == ["two.sql", "latency p99", "too few", "too few", "too few", ""]
    failed = {"copy": "queries new 1 not measured: ERROR:  no\n", "cold": "page cache kept: root alone\n"}
    said = words(_made(replace(full, executions=(carried_out(**failed),))).sections)
    assert "New server, cold was not measured: ERROR:  no" in said
    assert "The page cache was kept" in said
    assert "queries" not in names(_made(full))


def test_the_time_without_the_cluster_in_parts(full: Report) -> None:
    facts = _facts(_executed(full, *ALL, state=State.DONE))
    assert facts["Downtime"] == (
        "1 h 21 min, from 2026-03-15 05:20:00 UTC to 2026-03-15 06:41:00 UTC. "
        "The commands took 8 min 00 s (8 min expected), manual steps 1 min 00 s, idle time 1 h 12 min."
    )
    assert facts["Rollback"] == "not done; after the cutover it would lose what clients have written to the new cluster"


def test_what_was_compared_with_its_counts(full: Report) -> None:
    assert rows(_made(_executed(full, *ALL, state=State.DONE)), "verification") == [
        ["sum up old's files; compare new's files with old's", "every path with its size", "equal"],
        [
            "take inventory of old; compare new's inventory with old's",
            "2 databases, 320 relations, 1 setting and 1 invalid index",
            "nothing is missing",
        ],
    ]


@pytest.mark.parametrize(
    ("last", "state", "said"),
    [
        (1, State.CANCELLED, "The move was cancelled before gannon-old was stopped. gannon-old still serves clients."),
        (2, State.STOPPED, "The move was stopped by a failed step. gannon-old has been stopped since 15 March 2026"),
        (8, State.INTERRUPTED, "The move was interrupted. gannon-old has been stopped since 15 March 2026"),
        (3, State.RUNNING, "The move was running when this report was created: step 3 of 10, prove the stop."),
        (
            10,
            State.CANCELLED,
            "The move was cancelled after the cutover. gannon-new has served clients since 15 March 2026, 06:41",
        ),
    ],
)
def test_how_it_stands(full: Report, last: int, state: State, said: str) -> None:
    assert _sentence(_executed(full, *ALL[:last], state=state)).startswith(said)


def test_an_opening_that_failed_is_to_be_looked_at(full: Report) -> None:
    failed = _run(10, exit_status=1, message="pg_ctl: could not start server")
    report = _executed(full, *ALL[:-1], failed, state=State.STOPPED, message="could not start")
    assert "during the cutover. Check whether the cluster on gannon-new is running" in _sentence(report)
    assert sentence(report, report.executions[0])[0].value == "bad"


def test_the_way_back(full: Report) -> None:
    back = replace(_run(1, at=120), title="start old", back=True)
    report = _executed(full, *ALL[:5], back, state=State.ROLLED_BACK)
    assert _sentence(report) == (
        "The move was rolled back. gannon-old has served clients again since 15 March 2026, 07:01 UTC. "
        "The downtime was 1 h 41 min."
    )
    assert [row[0] for row in rows(_made(report), "way-back")] == ["Rollback, 1 min 00 s", "1"]
    assert rows(_made(report), "way-back")[1][1] == "start old"
    before = _executed(full, *ALL[:1], back, state=State.ROLLED_BACK)
    assert (
        _sentence(before) == "The move was rolled back before gannon-old was stopped. gannon-old still serves clients."
    )


def test_each_step_of_a_rollback_has_its_duration_in_table_and_charts(full: Report) -> None:
    """Also one that was tried again."""
    tried = replace(_run(1, at=120, minutes=2), title="start old", back=True, exit_status=1)
    again = replace(_run(1, at=123, minutes=3), title="start old", back=True, attempt=2)
    looked = replace(_run(2, at=130, minutes=4), title="look at old", back=True)
    made = _made(_executed(full, *ALL[:5], tried, again, looked, state=State.ROLLED_BACK))
    table = rows(made, "way-back")
    assert [row[4] for row in table[1:]] == ["2 min 00 s", "3 min 00 s", "4 min 00 s"]
    assert table[0] == ["Rollback, 14 min 00 s"]
    charts = {block.name: block.alt for block in drawings(made)}
    assert "1. start old: real 6 min 00 s. 2. look at old: real 4 min 00 s." in charts["gantt"]
    assert "Rollback: real 14 min 00 s." in charts["phases"]
    none = _made(_executed(full, *ALL[:5], state=State.STOPPED))
    assert not any("Rollback" in block.alt for block in drawings(none))


def test_a_rehearsal_says_what_the_night_costs_once_it_was_estimated(full: Report) -> None:
    report = _executed(full, ALL[0], state=State.DONE, kind=Kind.REHEARSAL)
    assert _sentence(report) == (
        "The copy rehearsal copied 5.6 GiB at 100 MB/s and stopped nothing. gannon-old still serves clients."
    )
    assert "Run pghaul estimate" in _facts(report)["Estimate of the move"]
    assert report.estimate is not None
    again = replace(report, estimate=replace(report.estimate, made_at=BEGAN + timedelta(hours=3)))
    assert _sentence(again).endswith("At its rates, the downtime of the move is 42 min.")
    cost = _facts(again)["Estimate of the move"]
    assert cost.startswith("Downtime 42 min (24 min to 1 h 30 min)")


def test_a_pass_that_was_made_once_more_is_told(full: Report) -> None:
    again = _run(1, at=15, attempt=2, bytes=5)
    made = _made(_executed(full, UNBROKEN[0], again, *UNBROKEN[1:], state=State.DONE))
    assert made.answers[3].words == "No: every step succeeded, and some were repeated"
    assert made.answers[3].details == ("Repeated: Pre-copy pass 1 of 1.",)
    assert [row[0] for row in rows(made, "passes")] == ["Pre-copy pass 1 of 1", "Pre-copy pass 1 of 1 (attempt 2)"]


def test_what_was_taken_back_unbroken_did_reach_an_end(full: Report) -> None:
    made = _made(_executed(full, *UNBROKEN[:5], state=State.ROLLED_BACK))
    assert made.answers[3].words == "The move was rolled back"


def test_where_it_broke_off_and_went_on(full: Report) -> None:
    failed = _run(1, exit_status=255, message="ssh broke")
    again = _run(1, at=60, attempt=2, bytes=5)
    report = _executed(full, failed, again, state=State.CANCELLED)
    assert rows(_made(report), "breaks") == [["05:11:00", STEPS[0].title, "ssh broke", "06:00:00"]]
    assert rows(_made(report), "steps")[2][1] == f"{STEPS[0].title} (attempt 2)"
    assert "failed-tries" not in names(_made(report))


@pytest.mark.parametrize("left_out", [0, 1, 7])
def test_failures_after_which_it_tried_again_have_a_line_for_equal_ones(full: Report, left_out: int) -> None:
    report = _executed(full, *ALL, state=State.DONE)
    at = BEGAN + timedelta(minutes=5)
    lost = FailedTry(at, 13, "lost", at, repeated=12, first_at=BEGAN)
    refused = FailedTry(at + timedelta(seconds=9), 14, "refused", at)
    schedule = Schedule(BEGAN, None, (lost, refused), left_out)
    made = _made(replace(report, executions=(replace(report.executions[0], schedule=schedule),)))
    assert rows(made, "failed-tries") == [
        ["05:00:00", "05:05:00", "13", "lost"],
        ["05:05:09", "05:05:09", "1", "refused"],
    ]
    assert (f"{left_out} failure" in words(made.sections)) == (left_out > 0)
    overnight = replace(schedule, failed_tries=(replace(lost, first_at=BEGAN - timedelta(days=1)),))
    made = _made(replace(report, executions=(replace(report.executions[0], schedule=overnight),)))
    assert rows(made, "failed-tries") == [["03-14 05:00:00", "03-15 05:05:00", "13", "lost"]]


def test_what_was_void_is_explained(full: Report) -> None:
    report = _executed(full, replace(ALL[0], void=True), state=State.CANCELLED)
    found = _made(report)
    assert rows(found, "steps")[1][-1] == "0, void"
    assert "void: the step was done" in words(found.sections)
    assert [row[3] for row in rows(found, "passes")] == ["5.6 GiB"]
    assert "void: the step was done" not in words(_made(_executed(full, *ALL, state=State.DONE)).sections)


def test_a_step_that_the_operator_ended_has_no_exit_status(full: Report) -> None:
    report = _executed(full, ALL[0], _run(2, exit_status=CANCELLED_STEP), state=State.CANCELLED)
    assert [row[-1] for row in rows(_made(report), "steps") if len(row) > 1] == ["0", "cancelled"]


def test_over_midnight_each_time_has_its_day(full: Report) -> None:
    late = _run(2, at=60 * 20)
    found = rows(_made(_executed(full, ALL[0], late, state=State.STOPPED)), "steps")
    assert [row[3] for row in found if len(row) > 1] == ["03-15 05:10:00", "03-16 01:00:00"]


def test_earlier_ones_are_a_line_each(full: Report) -> None:
    report = _executed(full, *ALL, state=State.DONE)
    assert [row[0] for row in rows(_made(report), "earlier")] == ["Copy rehearsal"]


def test_who_confirmed_what_and_when(full: Report) -> None:
    found = rows(_made(_executed(full, *ALL, state=State.DONE)), "confirmations")
    decided = ["9", "decide", "dba@desk", "2026-03-15 06:31 UTC", "confirmed"]
    assert found == [decided]
    closed = "closed, as ada@desk has taken on: by DNS"
    left_out = replace(ALL[0], message="It would shorten the downtime by only 3.5 s")
    taken_on = (left_out, *ALL[1:7], replace(ALL[7], message=closed), *ALL[8:])
    assert rows(_made(_executed(full, *taken_on, state=State.DONE)), "confirmations") == [
        ["8", "compare new's inventory with old's", "dba@desk", "2026-03-15 06:21 UTC", closed],
        decided,
    ]


def test_what_is_left_to_do(full: Report) -> None:
    report = _executed(full, *ALL, state=State.DONE)
    done = report.executions[0]
    told = replace(done, plan=replace(done.plan, remains=("the old files on old",), advice=("take a backup",)))
    made = _made(replace(report, executions=(told,)))
    assert made.answers[-1].words == "2 tasks"
    assert made.answers[-1].details == ("Take a backup.", "The old files on old."), "what is to be done now comes first"
    more = replace(done, plan=replace(done.plan, remains=("the old files on old",), advice=("a", "b", "c")))
    shown = _made(replace(report, executions=(more,))).answers[-1].details
    assert shown == ("B.", "A.", "1 more in the section Follow-up.")  # c is information, and no task
    assert "the old files on old" in words(made.sections)
    assert "Follow-up" in titles(made)
    late = replace(done.plan.steps[0], title="Check the pages", reason="Damage is found by checksums only.")
    later = replace(done, plan=replace(done.plan, remains=("old files",), advice=("back up",), later=(late,)))
    shown = _made(replace(report, executions=(later,))).answers[-1].details
    assert shown == ("Back up.", "Old files.", "1 more in the section Follow-up.")
    assert "Check the pages. Damage is found by checksums only." in words(
        _made(replace(report, executions=(later,))).sections
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 60])
def test_any_number_of_steps_can_be_drawn(full: Report, number: int) -> None:
    many = tuple(
        replace(_run(1), number=at, title=f"{at}: 上海数据库服务器 Übertragung {'/sehr-lang' * 30} *x* #y $z$")
        for at in range(1, number + 1)
    )
    old = replace(full.old, name="größter-alter-server-in-der-rechenzentrumszelle-上海-1")
    report = replace(_executed(full, *many, state=State.STOPPED, message="`x` <y> 失败\n" * 9), old=old)
    assert pdf(_made(report), Options()).startswith(b"%PDF")


@pytest.mark.parametrize("runs", [ALL, UNBROKEN], ids=["with gaps", "without gaps"])
@pytest.mark.parametrize("state", [State.DONE, State.STOPPED, State.ROLLED_BACK, State.RUNNING])
def test_no_duration_is_negative_if_the_clock_was_set_back(
    full: Report, runs: tuple[StepRun, ...], state: State
) -> None:
    shown = runs if state is State.DONE else runs[:8]
    if state is State.RUNNING:
        shown = (*shown[:-1], replace(shown[-1], ended_at=None, exit_status=None, bytes=1000, total=9000))
    executed = _executed(full, *shown, state=state)
    for made in set_back(executed.executions[0]):
        now = made.steps[-1].started_at - BACK
        report = replace(executed, executions=(made, *executed.executions), made_at=now)
        document = execution_report(report, Options())
        assert not negative([words(document.sections), *(each.words for each in document.answers)])
        found = unfinished(made, now, alive=True)
        assert not negative(
            [
                text(made, alive=True),
                *result_of(made),
                *(line for paragraph in outcome_of(made) for line in paragraph.sentences),
                *describe_progress(made, now),
                "" if found is None else describe_unfinished(found, now),
            ]
        )
        counted = (
            figures_of(made),
            account(made),
            downtime(made, now),
            status_of(made, now),
            *running_steps(made, now),
        )
        for name, value in _seconds_of(counted):
            assert value is None or value >= 0, name
        assert all(each.seconds is None or each.seconds >= 0 for each in passes(made))


def _seconds_of(counted: tuple[object, ...]) -> Iterator[tuple[str, float | None]]:
    """Every field of these that is a duration, and what is made of it."""
    for each in counted:
        for name in dir(each):
            if name == "seconds" or name.endswith("_seconds"):
                yield f"{type(each).__name__}.{name}", getattr(each, name)
