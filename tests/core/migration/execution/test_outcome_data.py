"""What an execution's rows tell: the time without the cluster, its passes, what was compared, where it broke off."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.migration.execution import outcome
from core.migration.execution.outcome import PassMade, PassName
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, State
from core.migration.model.plan import FollowUpGroup, Phase
from tests.core.migration.execution.whole_move import PLAN, START, STOPPED, execution, run, step

SECOND = PassName(Phase.WARM, 2, 2)


def test_passes_over_all_places() -> None:
    found = outcome.passes(
        execution(
            run(2, 0, 60, status=1, message="the cable was cut"),
            run(2, 100, 60, bytes=600, attempt=2, void=True),
            run(3, 160, 40, bytes=400),
            run(4, 200, 5, bytes=50),
            run(5, 205, 5, bytes=0),
            run(4, 210, 2, bytes=2, attempt=2),
            run(5, 212, 1, bytes=0, attempt=2),
            run(10, 300, 4, bytes=0),
        )
    )
    assert [(made.name, made.seconds, made.bytes, made.bytes_per_second) for made in found] == [
        (PassName(Phase.WARM, 1, 2), 100, 1000, 10.0),
        (SECOND, 10, 50, 5.0),
        (SECOND, 3, 2, pytest.approx(2 / 3)),
        (PassName(Phase.FINAL), 4, 0, None),
    ]


def test_a_pass_that_was_left_out_says_why() -> None:
    why = "it would shorten the stop by 0.5 s alone"
    left = (run(4, 10, 0, message=why), run(5, 10, 0, message=why))
    assert outcome.passes(execution(*left)) == (PassMade(SECOND, START + timedelta(seconds=10), 0, 0, why),)


@pytest.mark.parametrize("title", ["Final sync: /data", "any: words"])
def test_the_parts_of_the_final_sync_are_told_apart_by_the_names_of_their_steps(title: str) -> None:
    families = (step_ids.FINAL_SYNC_CHANGED, step_ids.FINAL_SYNC_REST)
    ids = [*(step_ids.of_part(family, root) for family in families for root in ("data", "1")), "step-5"]
    steps = tuple(step(number, title, id=each, phase=Phase.FINAL) for number, each in enumerate(ids, 1))
    plan = replace(PLAN, steps=steps)
    runs = tuple(replace(run(number, number, 1, bytes=1), title=title) for number in (1, 2, 3, 4, 5, 3))
    made = replace(execution(*runs), plan=plan)
    parts = [each.name.part for each in outcome.passes(made)]
    assert parts == [step_ids.FINAL_SYNC_CHANGED, step_ids.FINAL_SYNC_REST, "", step_ids.FINAL_SYNC_REST]
    assert outcome.made_again(made) == (PassName(Phase.FINAL, part=step_ids.FINAL_SYNC_REST),)


def test_what_agrees_and_what_does_not() -> None:
    same = execution(*STOPPED, run(11, 130, 1), run(13, 131, 5, output="data\nsum"), run(14, 131, 6))
    stayed, files = outcome.agreements(same)
    assert (stayed.agreed, stayed.other.title) == (True, "prove the stop")
    assert (files.agreed, files.output) == (True, "data\nsum")
    assert outcome.proven(same)
    other = execution(*STOPPED, run(11, 130, 1, void=True), run(14, 131, 6, status=1, message="they differ"))
    assert [each.agreed for each in outcome.agreements(other)] == [None, False]
    assert not outcome.proven(other)
    assert [each.agreed for each in outcome.agreements(execution())] == [None, None]


def test_a_cancelled_comparison_has_found_no_difference() -> None:
    cancelled = run(14, 131, 6, status=CANCELLED_STEP, message="cancelled")
    made = execution(*STOPPED, run(11, 130, 1), cancelled, state=State.CANCELLED)
    assert [each.agreed for each in outcome.agreements(made)] == [True, None]
    assert not outcome.proven(made)


def test_the_verified_files_are_counted_over_all_data_roots() -> None:
    listed = "data: 1285 files, 16164 bytes, 81b7\n16386: 19 files, 9347 bytes, 6d66\ncontrol\n38cc  -\n# whole\n"
    same = execution(*STOPPED, run(11, 130, 1), run(13, 131, 5, output=listed), run(14, 131, 6))
    assert outcome.files_verified(same) == 1304
    assert outcome.result_of(replace(same, state=State.DONE))[-1] == "1\u202f304 files verified, 0 differences."
    differs = execution(*STOPPED, run(13, 131, 5, output=listed), run(14, 131, 6, status=1, message="they differ"))
    assert outcome.files_verified(differs) is None
    assert outcome.result_of(replace(differs, state=State.STOPPED)) == ()
    back = outcome.result_of(replace(same, state=State.ROLLED_BACK))
    assert back[0] == "The move was rolled back to the old server."
    assert not any("verified" in each for each in back)


def test_tasks_of_plans_of_an_earlier_pghaul_are_told_from_information() -> None:
    plan = replace(PLAN, advice=("back up", "check", "warm up"), remains=("old files", "log"))
    made = replace(execution(), plan=plan)
    found = [(each.group, each.id) for each in outcome.follow_up_tasks(made)]
    assert found == [
        (FollowUpGroup.VERIFY, "advice-1"),
        (FollowUpGroup.BACK_UP, "advice-0"),
        (FollowUpGroup.CLEAN_UP, "remains-0"),
        (FollowUpGroup.INFORMATION, "advice-2"),
        (FollowUpGroup.INFORMATION, "remains-1"),
    ]
    ticked = replace(made, follow_up_done=frozenset({"advice-1", "remains-0"}))
    assert [each.text for each in outcome.open_follow_up_tasks(ticked)] == ["back up"]


def test_breaks_and_when_it_went_on() -> None:
    found = outcome.breaks(
        execution(
            run(1, 0, 1),
            run(2, 1, 9, status=255, message="ssh broke"),
            run(2, 500, 60, attempt=2),
            run(13, 600, 5, status=1, message="no space"),
            run(14, 600, 4, status=1, message="no space either"),
            run(13, 700, None, attempt=2),
            state=State.INTERRUPTED,
        )
    )
    assert [(each.title, each.why, each.resumed_at) for each in found[:2]] == [
        ("warm pass 1 of 2: /data", "ssh broke", START + timedelta(seconds=500)),
        ("sum up old's files", "no space", START + timedelta(seconds=700)),
    ]
    (unseen,) = found[2:]
    assert (unseen.title, unseen.resumed_at) == ("sum up old's files", None)
    assert unseen.why not in {"", "no space", "no space either"}


def test_a_pause_in_the_downtime_is_a_break() -> None:
    """Also where pghaul ended between two steps: only the time tells either."""
    paused = (*STOPPED, run(10, 400, 5), run(17, 405.5, 90), run(18, 500, 4))
    (found,) = outcome.breaks(execution(*paused))
    assert (found.title, found.at, found.resumed_at) == (
        STOPPED[-1].title,
        START + timedelta(seconds=106),
        START + timedelta(seconds=400),
    )
    assert "4 min 54 s" in found.why


def test_no_gap_out_of_the_downtime_and_none_told_twice_is_a_break() -> None:
    before = (run(1, 0, 1), run(2, 60, 5))
    behind = (*STOPPED, run(18, 110, 4), run(19, 900, 4))
    assert outcome.breaks(execution(*before, *behind)) == ()
    failed = (*STOPPED, run(10, 106, 5, status=1, message="no space"), run(10, 300, 5, attempt=2), run(18, 305, 4))
    assert [each.why for each in outcome.breaks(execution(*failed))] == ["no space"]
    side_by_side = (*STOPPED, run(10, 107, 60), run(11, 107, 2), run(12, 167, 2), run(18, 170, 4))
    assert outcome.breaks(execution(*side_by_side)) == ()


def test_a_step_under_way_is_no_break() -> None:
    assert outcome.breaks(execution(run(2, 0, None), state=State.RUNNING)) == ()


def test_each_step_has_its_stage() -> None:
    found = outcome.stages(execution())
    phases = [Phase.PREPARE, Phase.WARM, Phase.WARM, Phase.STOP, Phase.STOP, Phase.FINAL, Phase.FINAL, Phase.VERIFY,
              Phase.VERIFY, Phase.CLOSE, Phase.START, Phase.OPEN, Phase.OPEN, Phase.OPEN]  # fmt: skip
    numbers = (1, 2, 5, 6, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19)
    assert [found[number] for number in numbers] == [phase.heading for phase in phases]
    assert len({phase.heading for phase in Phase}) == len(Phase)
