"""What a dress rehearsal cost the old server, read from what its pass has printed, and told."""

from dataclasses import replace

from core.migration.execution.dressed import DressCost, Load, cost_sentences, dress_cost
from core.migration.execution.outcome import outcome_of
from core.migration.execution.timeline import account
from core.migration.model import step_ids
from core.migration.model.execution import Execution, Kind, State
from core.migration.model.plan import Phase
from tests.core.migration.execution.builders import STEP, execution, ran
from tests.steps import change_step

KEPT = "4096 bytes of WAL were kept for it\n"
BEFORE = "before it 200 transactions ended in 4.0 seconds, and 0.50 sessions waited for disks\n"
DURING = "during it 600 transactions ended in 20.0 seconds, and 2.25 sessions waited for disks\n"


def dressed(output: str, *, status: int = 0) -> Execution:
    """A dress rehearsal whose pass has printed that."""
    step = change_step(STEP, id=step_ids.REHEARSE_PASS, phase=Phase.DRESS, in_rehearsal=True)
    made = ran(execution(step, state=State.DONE, kind=Kind.REHEARSAL), 1, status=status)
    return replace(made, steps=(replace(made.steps[0], output=output),))


def test_its_figures_are_read() -> None:
    cost = DressCost(4096, Load(4.0, 200, 0.5), Load(20.0, 600, 2.25))
    assert dress_cost(dressed(f"sent\n{KEPT}{BEFORE}{DURING}")) == cost
    assert account(dressed(KEPT)).dress == DressCost(4096, None, None)


def test_of_a_pass_that_failed_and_of_no_pass_there_are_none() -> None:
    assert dress_cost(dressed(f"{KEPT}{BEFORE}{DURING}", status=1)) is None
    assert dress_cost(dressed("")) is None
    assert dress_cost(execution()) is None


def test_the_end_says_them_and_what_they_do_not_tell() -> None:
    cost = dress_cost(dressed(f"{KEPT}{BEFORE}{DURING}"))
    assert cost is not None
    said = cost_sentences(cost)
    assert said in [each.sentences for each in outcome_of(dressed(f"{KEPT}{BEFORE}{DURING}"))]
    assert "4.0 KiB of WAL" in said[0]
    assert "50.0 transactions per second" in said[1]
    assert said[2] == "That is 40 % less."
    assert "0.5 sessions" in said[3]
    assert "more or less" in said[4]


def test_a_few_transactions_are_not_compared() -> None:
    few = cost_sentences(DressCost(1, Load(4.0, 9, None), Load(20.0, 600, None)))
    assert "too few to compare" in few[2]
    assert not any("waited" in sentence for sentence in few)
    more = cost_sentences(DressCost(1, Load(4.0, 100, None), Load(4.0, 150, None)))
    assert more[2] == "That is 50 % more."


def test_what_nothing_tells_is_said() -> None:
    assert "do not tell" in cost_sentences(DressCost(1, None, None))[1]
