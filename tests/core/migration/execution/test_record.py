"""Executions beside their estimates, and what the next estimate has of them."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.migration.execution.record import bias, by_stage, compare_with_estimate, history_of, hit_rate, stage_seconds
from core.migration.model import step_ids
from core.migration.model.estimate import Estimate, Method, Span, Stage
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.move import Verify
from core.migration.model.plan import OperatorTask, Phase
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.steps import change_step

PREPARE = replace(STEP, title="a folder", phase=Phase.PREPARE)
WARM = change_step(STEP, title="warm pass", phase=Phase.WARM, precopy_pass=1, root="data")
SUMS = change_step(WARM, id=step_ids.of_part(step_ids.CHECKSUM_IN_ADVANCE, 1, "old"), title="read", root="")
HALT = change_step(STEP, title="stop old", id=step_ids.STOP_OLD_CLUSTER, phase=Phase.STOP, downtime=True)
PERSON = change_step(STEP, action=OperatorTask(), title="look", phase=Phase.STOP, command="")
OPEN = change_step(STEP, title="open", phase=Phase.START, id=step_ids.CUTOVER, downtime=True)


def estimate(minutes_ago: float, **stages: float) -> Estimate:
    made = tuple(Stage(name, Span(0.8 * each, each, 1.5 * each), "wire") for name, each in stages.items())
    whole = Span(1, 2, 3)
    return Estimate((Method("warm-copy", whole, Span(1, 2, 4), made),), made_at=NOW - timedelta(minutes=minutes_ago))


def test_a_stage_is_held_against_the_estimate_that_was_made_last_before_it() -> None:
    done = ran(ran(execution(PREPARE, WARM), 1, seconds=3), 2, seconds=200)
    old, latest = estimate(60, prepare=30), estimate(1, prepare=2, **{"warm passes": 190})
    rows = compare_with_estimate(done, [estimate(-5, prepare=99), latest, old])
    assert [(row.stage, row.estimated.likely, row.seconds, row.inside) for row in rows] == [
        ("prepare", 2, 3, True),
        ("warm passes", 190, 200, True),
    ]
    assert hit_rate(rows) == 1
    assert bias(rows) == pytest.approx((1.5 * 200 / 190) ** 0.5)
    assert compare_with_estimate(done, []) == ()
    assert (hit_rate([]), bias([])) == (None, None)


def test_a_stage_counts_once_it_is_whole_and_what_runs_side_by_side_counts_once() -> None:
    half = ran(execution(PREPARE, PREPARE), 1, seconds=3)
    assert stage_seconds(half) == {}
    assert stage_seconds(ran(half, 2, seconds=5)) == {"prepare": 5}
    later = StepRun(9, 2, "", 1, NOW + timedelta(seconds=10), NOW + timedelta(seconds=12), 0)
    assert stage_seconds(replace(half, steps=(*half.steps, later))) == {"prepare": 5}
    assert stage_seconds(ran(half, 2, status=1)) == {}
    again = ran(ran(execution(WARM), 1, status=12, seconds=9), 1, seconds=2)
    assert stage_seconds(again) == {}


def test_a_rehearsal_prepares_but_for_what_the_stop_needs() -> None:
    later = change_step(STEP, title="forget new's fence", phase=Phase.OPEN, stage=Phase.PREPARE)
    rehearsed = execution(change_step(PREPARE, in_rehearsal=True), later, kind=Kind.REHEARSAL)
    assert stage_seconds(ran(rehearsed, 1, seconds=3)) == {"prepare": 3}
    assert stage_seconds(ran(replace(rehearsed, kind=Kind.REAL), 1, seconds=3)) == {}


def real(stop: float, opening: float, between: float = 0.0) -> Execution:
    """A stop, a person who looks for so long, an opening."""
    made = execution(HALT, PERSON, OPEN, WARM, state=State.DONE)
    made = replace(made, plan=replace(made.plan, steps=(*made.plan.steps, replace(SUMS, number=5))))
    begun: datetime = NOW
    runs: list[StepRun] = []
    for number, seconds in ((1, stop), (2, between), (3, opening)):
        runs.append(StepRun(number, number, "", 1, begun, begun + timedelta(seconds=seconds), 0))
        begun += timedelta(seconds=seconds)
    return replace(made, steps=tuple(runs), ended_at=begun)


def test_people_are_no_part_of_the_downtime_that_was_estimated() -> None:
    rows = {
        row.stage: row for row in compare_with_estimate(real(1.0, 2.0, between=600), [estimate(1, **{"stop old": 1})])
    }
    assert rows["downtime"].seconds == pytest.approx(3.0)
    assert rows["downtime"].inside
    assert rows["stop old"].seconds == pytest.approx(1.0)
    assert "downtime" not in {
        row.stage for row in compare_with_estimate(replace(real(1, 2), kind=Kind.REHEARSAL), [estimate(1)])
    }


def test_all_of_it_is_held_against_the_estimate_where_every_stage_was_timed() -> None:
    rows = {
        row.stage: row
        for row in compare_with_estimate(real(1, 2, between=600), [estimate(1, **{"stop old": 1, "start new": 2})])
    }
    assert rows["whole"].seconds == pytest.approx(3)
    assert rows["whole"].estimated == Span(1, 2, 3)
    part = compare_with_estimate(real(1, 2), [estimate(1, **{"stop old": 1, "copy": 100})])
    assert "whole" not in {row.stage for row in part}


def test_stages_are_counted_by_themselves_in_the_order_of_a_plan() -> None:
    first = compare_with_estimate(real(1, 9), [estimate(1, **{"stop old": 1, "start new": 1})])
    second = compare_with_estimate(real(4, 1), [estimate(1, **{"stop old": 1, "start new": 1})])
    found = {each.stage: each for each in by_stage([*first, *second])}
    assert list(found) == ["stop old", "start new", "downtime", "whole"]
    assert (found["stop old"].times, found["stop old"].inside) == (2, 1)
    assert found["stop old"].bias == pytest.approx(2)
    assert found["start new"].bias == pytest.approx(3)
    assert by_stage([]) == ()


def test_the_next_estimate_has_what_was_timed_of_this_move_else_of_others_between_such_servers() -> None:
    own, other = ran(execution(PREPARE), 1, seconds=4), real(3, 2)
    known = history_of([own], [other, ran(execution(PREPARE), 1, seconds=90)], ())
    assert known.timed == {"prepare": (4,), "stop old": (3,), "start new": (2,)}
    assert known.sources["stop old"].words == known.sources["start new"].words != known.sources["prepare"].words
    rows = compare_with_estimate(ran(execution(WARM), 1, seconds=300), [estimate(1, **{"warm passes": 200})])
    assert history_of([], [], rows).copies == (1.5,)


def test_a_proof_of_all_is_not_taken_for_one_of_what_changed() -> None:
    look = replace(STEP, title="lists", phase=Phase.VERIFY)
    every = ran(execution(WARM, look), 2, seconds=500)
    cold = ran(execution(replace(STEP, phase=Phase.COPY), look), 2, seconds=900)
    cold = replace(cold, plan=replace(cold.plan, verify=Verify.ALL))
    changed = ran(execution(WARM, SUMS, look), 3, seconds=5)
    assert history_of([every, cold, changed], [], ()).timed == {"verify": (5,)}


def test_the_looks_for_corruption_tell_the_next_estimate_of_this_move_alone() -> None:
    pages = change_step(STEP, title="pages", phase=Phase.VERIFY, stage=Phase.CHECKSUMS)
    relations = change_step(STEP, title="relations", phase=Phase.VERIFY, stage=Phase.AMCHECK)
    looked = ran(ran(execution(pages, relations), 1, seconds=70), 2, seconds=400)
    looked = replace(looked, plan=replace(looked.plan, verify=Verify.ALL))
    assert history_of([looked], [], ()).timed == {"pg_checksums": (70,), "pg_amcheck": (400,)}
    assert history_of([], [looked], ()).timed == {}


def test_an_execution_is_held_against_an_estimate_of_what_it_proves() -> None:
    look = replace(STEP, title="lists", phase=Phase.VERIFY)
    every = ran(execution(WARM, look), 2, seconds=500)
    every = replace(every, plan=replace(every.plan, verify=Verify.ALL))
    of_changed, of_all = estimate(1, verify=5), replace(estimate(2, verify=450), checking=Verify.ALL)
    assert [row.estimated.likely for row in compare_with_estimate(every, [of_changed, of_all])] == [450]
    assert compare_with_estimate(every, [of_changed]) == ()


def test_what_does_not_count_is_in_no_rate() -> None:
    done = ran(execution(PREPARE, WARM), 1, seconds=4)
    own, strange = (
        compare_with_estimate(done, [estimate(1, prepare=2)]),
        compare_with_estimate(done, [estimate(1, prepare=4)], counts=False),
    )
    assert hit_rate([*own, *strange]) == 0.0
    assert bias([*own, *strange]) == pytest.approx(2)
    assert [each.times for each in by_stage([*own, *strange])] == [1]
    assert (hit_rate(strange), bias(strange), by_stage(strange)) == (None, None, ())


def test_a_rehearsal_times_its_passes_although_it_writes_no_checkpoint() -> None:
    asked = change_step(STEP, id=step_ids.CHECKPOINT_BEFORE_LAST_PASS, phase=Phase.WARM)
    made = ran(execution(change_step(WARM, in_rehearsal=True), asked, kind=Kind.REHEARSAL), 1, seconds=30)
    assert stage_seconds(made) == {"warm passes": 30}


def test_the_copy_of_a_rehearsal_is_what_the_next_estimate_starts_from() -> None:
    copied = change_step(WARM, in_rehearsal=True)
    read = change_step(SUMS, in_rehearsal=True)
    made = ran(ran(execution(copied, read, kind=Kind.REHEARSAL, state=State.DONE), 1, seconds=30, sent=9), 2, seconds=8)
    known = history_of([made], [], ())
    assert (known.copied_at, known.read_seconds) == (made.steps[0].started_at, 8)
    failed = replace(made, state=State.STOPPED)
    assert history_of([failed], [], ()).copied_at is None
    moved = replace(made, kind=Kind.REAL)
    assert history_of([moved, made], [], ()).copied_at is None


def test_a_flush_behind_a_pass_reads_no_file() -> None:
    flush = change_step(SUMS, id=step_ids.of_part(step_ids.PRE_COPY_FLUSH, 1))
    made = ran(ran(execution(WARM, flush, kind=Kind.REHEARSAL, state=State.DONE), 1, seconds=30, sent=9), 2, seconds=8)
    known = history_of([made], [], ())
    assert (known.copied_at, known.read_seconds) == (made.steps[0].started_at, None)
