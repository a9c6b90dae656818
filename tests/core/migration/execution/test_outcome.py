"""What an execution came to, from its rows."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core.migration.execution.outcome import follow_up_tasks, open_follow_up_tasks, outcome_of
from core.migration.model import step_ids
from core.migration.model.estimate import Estimate, Method, Span
from core.migration.model.execution import Execution, Kind, State, StepRun
from core.migration.model.plan import OperatorTask
from tests.core.migration.builders import NOW
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.core.test_text import SIGNS
from tests.steps import change_step

WARM = change_step(STEP, title="warm pass", precopy_pass=1, size=2_000_000_000)
ASK = change_step(STEP, title="stop the applications", action=OperatorTask(), command="", id=step_ids.STOP_APPLICATIONS)
STOPPING = change_step(STEP, title="stop old", id=step_ids.STOP_OLD_CLUSTER, downtime=True, expected_seconds=3.0)
FENCING = change_step(STEP, title="keep old from starting", id=step_ids.FENCE_OLD, downtime=True, expected_seconds=1.0)
DECIDE = change_step(STEP, title="decide", action=OperatorTask(), command="", downtime=True, expected_seconds=None)
OPENING = change_step(STEP, title="open new", downtime=True, id=step_ids.CUTOVER, expected_seconds=2.0)
AFTER = change_step(STEP, title="lead", action=OperatorTask(), command="", expected_seconds=None)
PLANNED = (WARM, ASK, STOPPING, FENCING, DECIDE, OPENING, AFTER)


def at(number: int, began: float, ended: float | None, **changes: Any) -> StepRun:
    run = StepRun(number, number, PLANNED[number - 1].title, 1, NOW + timedelta(seconds=began))
    if ended is None:
        return replace(run, **changes)
    return replace(run, ended_at=NOW + timedelta(seconds=ended), exit_status=0, **changes)


def moved(*runs: StepRun, kind: Kind = Kind.REAL, state: State = State.DONE) -> Execution:
    made = execution(*PLANNED, kind=kind, state=state)
    back = (replace(STEP, title="let old start again"),)
    lossy = (change_step(STEP, title="keep new from starting", native=("true", "false")),)
    plan = replace(
        made.plan, way_back=back, back_with_loss=lossy, remains=("old: its files",), advice=("take a backup",)
    )
    return replace(made, plan=plan, steps=runs)


WHOLE = (
    at(1, 0, 20, bytes=2_000_000_000),
    at(2, 20, 50),
    at(3, 60, 64),
    at(4, 64, 65, bytes=500),
    at(5, 65, 95),
    at(6, 95, 98),
    at(7, 98, 200),
)


def test_the_end_of_a_move_says_all_that_is_asked_then() -> None:
    paragraphs = {paragraph.title: "\n".join(paragraph.sentences) for paragraph in outcome_of(moved(*WHOLE))}
    assert list(paragraphs) == [
        "Result",
        "Downtime",
        "Copied",
        "Old cluster",
        "Remaining files",
        "Follow-up",
        "Details",
    ]
    assert paragraphs["Result"] == "The move is done.\nDowntime 38 s."
    assert re.search(r" 38 s, \D+\(20:01:00 UTC\) \D+\(20:01:38\b", paragraphs["Downtime"])
    assert re.search(r"\b8\.0 s \(6\.0 s \D+ 30 s\b", paragraphs["Downtime"])
    assert " 20:00:20 UTC " in paragraphs["Downtime"]
    assert re.findall(r"[\d.]+ GiB|\b\d+ steps|\d+ MB/s", paragraphs["Copied"]) == ["1.9 GiB", "2 steps", "100 MB/s"]
    assert "keep new from starting (on old as postgres): true && false" in paragraphs["Old cluster"]
    assert (paragraphs["Remaining files"], paragraphs["Follow-up"]) == ("old: its files", "take a backup")
    assert "pghaul report spring -o spring.pdf" in paragraphs["Details"]


def test_each_open_follow_up_task_is_told_at_the_end_with_its_commands() -> None:
    """The reports and the page Follow-up count the same tasks."""
    made = moved(*WHOLE)
    checks = tuple(change_step(STEP, id=each, title=each, native=("true", "false")) for each in ("pages", "tables"))
    made = replace(made, plan=replace(made.plan, later=checks))
    for done in (frozenset[str](), frozenset({"pages"}), frozenset({"pages", "tables", "advice-0"})):
        ticked = replace(made, follow_up_done=done)
        said = "\n".join(line for each in outcome_of(ticked) for line in each.sentences)
        tasks = {"pages", "tables"} - done
        assert {each.id for each in open_follow_up_tasks(ticked)} >= tasks
        assert {
            each for each in ("pages", "tables") if f"  {each} (on old as postgres): true && false" in said
        } == tasks
        assert ("take a backup" in said) == ("advice-0" not in done)
        assert ("for corruption" in said) == bool(tasks)


def test_what_a_person_has_taken_on_is_told_at_the_end() -> None:
    made = moved(*WHOLE[:-1], at(7, 98, 200, message="closed, as ada@desk has taken on: by DNS"))
    proving = tuple(change_step(step, only_checks=step.number == 7) for step in made.plan.steps)
    proven = replace(made, plan=replace(made.plan, steps=proving))
    paragraphs = {each.title: each.sentences for each in outcome_of(proven)}
    assert paragraphs["Not checked"] == ("closed, as ada@desk has taken on: by DNS",)
    assert "Not checked" not in {each.title for each in outcome_of(moved(*WHOLE))}


def test_of_what_is_not_done_nothing_is_told() -> None:
    assert outcome_of(moved(*WHOLE[:3], state=State.STOPPED)) == ()


def test_what_was_taken_back_says_for_how_long_old_was_down() -> None:
    back = at(1, 70, 98, back=True)
    paragraphs = {each.title: each.sentences for each in outcome_of(moved(*WHOLE[:4], back, state=State.ROLLED_BACK))}
    (stopped,) = paragraphs["Old cluster"]
    assert re.search(r"\b38 s\b\D+20:01:00 \D+20:01:38 UTC\.$", stopped)
    assert " /b, " in paragraphs["New cluster"][0]
    unstopped = {each.title: each.sentences for each in outcome_of(moved(*WHOLE[:2], back, state=State.ROLLED_BACK))}
    assert not re.search(r"\d", "".join(unstopped["Old cluster"]))


def test_a_rehearsal_says_what_the_move_will_cost() -> None:
    method = Method("warm-copy", Span(80, 100, 200), Span(20, 30, 60), ())
    rehearsed = moved(WHOLE[0], kind=Kind.REHEARSAL)
    paragraphs = {each.title: "\n".join(each.sentences) for each in outcome_of(rehearsed, Estimate((method,)))}
    assert list(paragraphs) == ["Copied", "The move", "Old cluster", "Details"]
    assert " 30 s (20 s to 1 min 00 s)." in paragraphs["The move"]
    assert " 1 min 10 s (1 min 00 s to 2 min 20 s)" in paragraphs["The move"]
    assert "The move" not in [each.title for each in outcome_of(rehearsed, None)]


def test_what_comes_before_a_stop_that_nobody_knows_is_still_a_range() -> None:
    method = Method("warm-copy", Span(80, 100, 200), Span(1, 30, 190), ())
    said = outcome_of(moved(WHOLE[0], kind=Kind.REHEARSAL), Estimate((method,)))
    assert any(" 1 min 10 s (1 min 10 s to 1 min 10 s)" in text for each in said for text in each.sentences)


@pytest.mark.parametrize("sign", SIGNS)
def test_a_name_that_a_step_has_printed_is_no_follow_up_task(sign: str) -> None:
    made = ran(ran(execution(OPENING, STEP, state=State.DONE), 1), 2)
    output = f"a name{sign}warning: forged\nwarning: one{sign}warning: two\n"
    made = replace(made, steps=(made.steps[0], replace(made.steps[1], output=output)))
    assert [each.text for each in follow_up_tasks(made)] == [f"one{sign}warning: two"]
