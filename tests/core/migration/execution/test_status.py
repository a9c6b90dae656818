"""What is said of an execution that ended on its way."""

import re
from dataclasses import replace

import pytest

from core.errors import InputError
from core.migration.execution.entry import refuse_if_unfinished
from core.migration.execution.status import (
    SENTENCES,
    MoveStatus,
    NextOption,
    describe_both_clusters,
    describe_status,
    may_have_stopped_old,
    move_status,
    next_options,
    runs_as_before,
    suggest_next_commands,
)
from core.migration.model import step_ids
from core.migration.model.execution import CANCELLED_STEP, NOT_OPENED, RUNS_AGAIN, UNKNOWN_ROOT, Kind, State
from core.migration.model.plan import OperatorTask, Step
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.core.test_text import SIGNS
from tests.steps import change_step

OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")
"""What may be done next, in the order in which it is offered."""
COPY = replace(STEP, title="warm pass 1")
WARM = (
    COPY,
    *(
        change_step(STEP, id=name)
        for name in (step_ids.STOP_OLD_CLUSTER, step_ids.CHECK_STOPPED, step_ids.FENCE_OLD, step_ids.START_LOCALLY)
    ),
)
COLD = (*(change_step(STEP, id=name) for name in (step_ids.CHECK_STOPPED, step_ids.FENCE_OLD, step_ids.START_LOCALLY)),)


def stands(
    steps: tuple[Step, ...],
    done: int,
    status: int = 1,
    *,
    kind: Kind = Kind.REAL,
    state: State = State.STOPPED,
    note: str = "",
) -> str:
    """How it stands after the first `done` steps, the next of which failed."""
    made = execution(*steps, kind=kind, state=state)
    for number in range(1, done + 1):
        made = ran(made, number)
    return describe_status(ran(made, done + 1, status=status, note=note))


@pytest.mark.parametrize(
    ("steps", "done", "status", "offered"),
    [
        (WARM, 0, MoveStatus.UNTOUCHED, ["--resume", "--start-over", "--rollback", "--status"]),
        (WARM, 1, MoveStatus.STOPPING, ["--resume", "--rollback"]),
        (COLD, 0, MoveStatus.UNTOUCHED, ["--resume", "--start-over", "--rollback", "--status"]),
        (COLD, 1, MoveStatus.FOUND_STOPPED, ["--resume", "--rollback"]),
    ],
)
def test_whether_old_serves_is_said_as_it_is(
    steps: tuple[Step, ...], done: int, status: MoveStatus, offered: list[str]
) -> None:
    said = stands(steps, done)
    assert said.startswith(f"{SENTENCES[status]} ")
    assert "pghaul execute spring " in said
    assert OPTION.findall(said) == offered


def test_a_new_that_runs_is_named() -> None:
    opening = (*WARM, change_step(STEP, title="decide", action=OperatorTask()))
    said = stands(opening, 5)
    assert said.startswith(f"{SENTENCES[MoveStatus.LOCAL_ONLY]} ")
    assert OPTION.findall(said) == ["--resume", "--rollback"]


@pytest.mark.parametrize("status", [None, 0, 1], ids=["unseen", "done", "failed"])
def test_a_lifted_fence_is_no_local_only_start(status: int | None) -> None:
    lift, cutover = (change_step(STEP, id=name) for name in (step_ids.LIFT_FENCE, step_ids.CUTOVER))
    made = execution(*WARM, lift, cutover, state=State.STOPPED)
    for number in range(1, 6):
        made = ran(made, number)
    assert move_status(made) is MoveStatus.LOCAL_ONLY
    lifted = ran(made, 6, status=status)
    assert move_status(lifted) is MoveStatus.FENCE_LIFTED
    assert next_options(lifted) == (NextOption.RESUME, NextOption.ROLLBACK)
    assert move_status(ran(lifted, 5)) is MoveStatus.LOCAL_ONLY  # a resume has made the local-only start again
    assert move_status(ran(lifted, 7, status=None)) is MoveStatus.OPENING
    assert move_status(ran(lifted, 7, status=NOT_OPENED)) is MoveStatus.NOT_OPENED


def test_a_new_that_could_not_be_opened_leaves_the_way_back() -> None:
    opening = (*WARM, change_step(STEP, title="open", id=step_ids.CUTOVER))
    said = stands(opening, 5, NOT_OPENED)
    assert said.startswith(f"{SENTENCES[MoveStatus.NOT_OPENED]} ")
    assert OPTION.findall(said) == ["--resume", "--rollback"]
    assert SENTENCES[MoveStatus.OPENING] in stands(opening, 5, 1)


def test_before_the_stop_nobody_is_sent_back_to_an_old_that_runs() -> None:
    interrupted = stands(WARM, 0, state=State.INTERRUPTED)
    assert OPTION.findall(interrupted) == ["--resume", "--cancel"]


@pytest.mark.parametrize("state", [State.STOPPED, State.INTERRUPTED])
def test_a_rehearsal_holds_nothing(state: State) -> None:
    said = stands(WARM, 1, kind=Kind.REHEARSAL, state=state)
    assert said.startswith(f"{SENTENCES[MoveStatus.UNTOUCHED]} ")
    assert "--rollback" not in said
    assert ("pghaul execute spring --start-over" in said) == (state is State.STOPPED)


def test_to_go_on_is_not_offered_where_the_plan_lacks_a_data_root() -> None:
    proof = change_step(STEP, id=step_ids.CHECK_DATA_ROOTS)
    before = stands((COPY, proof, *WARM[1:]), 1, status=UNKNOWN_ROOT)
    assert before.startswith(f"{SENTENCES[MoveStatus.UNTOUCHED]} ")
    assert before.endswith(": pghaul execute spring --start-over.")
    assert OPTION.findall(before) == ["--start-over"]
    within = stands((*WARM[:3], change_step(STEP, id=step_ids.CHECK_DATA_ROOTS_STOPPED)), 3, status=UNKNOWN_ROOT)
    assert OPTION.findall(within) == ["--rollback", "--start-over"]
    assert "--resume" in stands((COPY, proof, *WARM[1:]), 1, note="old: /space is not there: is its disk mounted?")


@pytest.mark.parametrize(
    ("done", "state", "kind", "options"),
    [
        (0, State.STOPPED, Kind.REAL, (NextOption.RESUME, NextOption.START_OVER, NextOption.ROLLBACK)),
        (0, State.INTERRUPTED, Kind.REAL, (NextOption.RESUME, NextOption.CANCEL)),
        (1, State.INTERRUPTED, Kind.REAL, (NextOption.RESUME, NextOption.ROLLBACK)),
        (1, State.STOPPED, Kind.REAL, (NextOption.RESUME, NextOption.ROLLBACK)),
        (1, State.STOPPED, Kind.REHEARSAL, (NextOption.RESUME, NextOption.START_OVER)),
        (4, State.DONE, Kind.REAL, ()),
        (4, State.ROLLED_BACK, Kind.REAL, ()),
    ],
)
def test_next_options_are_those_that_the_sentences_name(
    done: int, state: State, kind: Kind, options: tuple[NextOption, ...]
) -> None:
    made = execution(*WARM, kind=kind, state=state)
    for number in range(1, done + 2):
        made = ran(made, number, status=0 if number <= done else 1)
    assert next_options(made) == options
    named = dict.fromkeys(OPTION.findall(suggest_next_commands(made)))
    assert [option for option in named if option not in {"--status", "--rehearsal"}] == [
        f"--{each}" for each in options
    ]


@pytest.mark.parametrize(("steps", "option"), [((COPY,), NextOption.START_OVER), ((*WARM[:3],), NextOption.ROLLBACK)])
def test_next_options_lead_to_a_new_plan_if_a_data_root_is_missing(steps: tuple[Step, ...], option: NextOption) -> None:
    made = execution(*steps, change_step(STEP, id=step_ids.CHECK_DATA_ROOTS), state=State.STOPPED)
    for number in range(1, len(steps) + 1):
        made = ran(made, number)
    assert next_options(ran(made, len(steps) + 1, status=UNKNOWN_ROOT)) == (option,)


def test_a_stopped_cluster_that_somebody_started_may_be_planned_anew() -> None:
    """The proof of its stop failed: nothing was done to old, so that nothing is to be taken back."""
    copied = ran(execution(COPY, *COLD, state=State.STOPPED), 1)
    failed = ran(copied, 2, status=1)
    assert not may_have_stopped_old(failed)
    refuse_if_unfinished(failed, alive=False, start_over=True)
    with pytest.raises(InputError) as refused:
        refuse_if_unfinished(failed, alive=False)
    assert "--start-over" in refused.value.hint
    fenced = ran(ran(copied, 2), 3)
    with pytest.raises(InputError) as refused:
        refuse_if_unfinished(fenced, alive=False, start_over=True)
    assert refused.value.hint == suggest_next_commands(fenced)


def test_that_somebody_started_old_after_the_opening_is_never_said_to_be_stopped() -> None:
    steps = (*WHOLE, change_step(STEP, id=step_ids.CHECK_OLD_STAYS_STOPPED), STEP)
    made = execution(*steps, state=State.STOPPED)
    for number in range(1, len(WHOLE) + 1):
        made = ran(made, number)
    assert move_status(ran(made, len(steps) - 1, status=RUNS_AGAIN)) is MoveStatus.OLD_STARTED
    assert move_status(ran(made, len(steps) - 1, status=1)) is MoveStatus.OPENED  # as a refused sudo
    assert move_status(ran(made, len(steps) - 1, status=CANCELLED_STEP)) is MoveStatus.OPENED
    found = ran(made, len(steps) - 1, status=RUNS_AGAIN)
    assert move_status(ran(found, len(steps) - 1, status=CANCELLED_STEP)) is MoveStatus.OLD_STARTED
    assert move_status(ran(ran(made, len(steps) - 1), len(steps), status=1)) is MoveStatus.OPENED
    assert move_status(ran(ran(made, len(steps) - 1, status=RUNS_AGAIN), len(steps) - 1)) is MoveStatus.OPENED


WHOLE = (*WARM, change_step(STEP, title="open", id=step_ids.CUTOVER), change_step(STEP, title="after"))
"""The stop is the second step, the proof of it the third; the last but one opens new."""
U, S, L = MoveStatus.UNTOUCHED, MoveStatus.STOPPED, MoveStatus.LOCAL_ONLY


@pytest.mark.parametrize(
    ("steps", "done", "status", "after"),
    [
        (WHOLE, 0, None, U),
        (WHOLE, 1, None, MoveStatus.STOPPING),
        (WHOLE, 1, 1, MoveStatus.STOPPING),
        (WHOLE, 2, None, MoveStatus.STOPPING),
        (WHOLE, 2, 1, MoveStatus.STOPPING),
        (WHOLE, 3, 1, S),
        (WHOLE, 4, 1, S),
        (WHOLE, 5, None, MoveStatus.OPENING),
        (WHOLE, 5, NOT_OPENED, MoveStatus.NOT_OPENED),
        (WHOLE, 6, 1, MoveStatus.OPENED),
        ((*WARM, STEP), 5, 1, L),
        (COLD, 1, 1, MoveStatus.FOUND_STOPPED),
    ],
)
@pytest.mark.parametrize("state", State)
def test_each_state_has_one_status(
    steps: tuple[Step, ...], done: int, status: int | None, after: MoveStatus, state: State
) -> None:
    made = execution(*steps, state=state)
    for number in range(1, done + 1):
        made = ran(made, number)
    made = ran(made, done + 1, status=status)
    ends = {State.DONE: MoveStatus.MOVED, State.ROLLED_BACK: MoveStatus.ROLLED_BACK}
    assert move_status(made) is ends.get(state, after)
    assert move_status(replace(made, kind=Kind.REHEARSAL)) is MoveStatus.UNTOUCHED
    back = replace(made, steps=(*made.steps, replace(made.steps[-1], back=True)))
    if after not in {MoveStatus.OPENED, MoveStatus.OPENING}:
        assert move_status(back) is ends.get(state, MoveStatus.ROLLING_BACK)


def test_each_status_has_its_own_sentence() -> None:
    rolled_back = ran(execution(*WARM, state=State.ROLLED_BACK), 5)
    assert describe_both_clusters(rolled_back) == SENTENCES[MoveStatus.ROLLED_BACK]
    assert len(set(SENTENCES.values())) == len(MoveStatus)


@pytest.mark.parametrize(
    ("named", "said", "before"),
    [
        ((step_ids.CHECK_OLD_RUNS, step_ids.COMPARE_OLD_SETTINGS), ("", "\n"), True),
        (
            (step_ids.CHECK_OLD_RUNS, step_ids.COMPARE_OLD_SETTINGS),
            ("", "note\nwarning: The setting work_mem differs.\n"),
            False,
        ),
        (
            (step_ids.CHECK_OLD_RUNS, step_ids.COMPARE_OLD_SETTINGS),
            ("warning: it runs outside of its unit\n", ""),
            False,
        ),
        *(
            ((step_ids.CHECK_OLD_RUNS, step_ids.COMPARE_OLD_SETTINGS), ("", f"a name{sign}warning: forged\n"), True)
            for sign in SIGNS
        ),
        ((step_ids.CHECK_OLD_RUNS, step_ids.COMPARE_OLD_SETTINGS), ("",), False),
        (("step-1",), ("",), False),
    ],
)
def test_the_old_server_runs_as_before_only_where_all_of_it_was_looked_at(
    named: tuple[str, ...], said: tuple[str, ...], *, before: bool
) -> None:
    made = execution(*WARM, state=State.ROLLED_BACK)
    way_back = tuple(change_step(STEP, number=at, id=name) for at, name in enumerate(named, 1))
    made = replace(made, plan=replace(made.plan, way_back=way_back))
    for number, output in enumerate(said, 1):
        made = ran(made, number)
        made = replace(made, steps=(*made.steps[:-1], replace(made.steps[-1], output=output, back=True)))
    assert runs_as_before(made) is before
