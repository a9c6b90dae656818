"""What stands behind an entry of the history, as a person reads it."""

from pathlib import Path
from typing import TYPE_CHECKING

from core.benchmarks.model import Run
from core.facts.model import Facts
from core.migration.model.checks import Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from gui.models.comparison import run_text
from gui.models.execution import outcome
from gui.models.facts import side_by_side
from gui.models.migration import check_text, commands, estimate_text, plan_summary, probe_text
from gui.models.words import moment

if TYPE_CHECKING:
    from core.history.details import Detail


def detail_text(detail: "Detail") -> str:
    """Everything of it that a person would look for; the whole of it is its JSON."""
    match detail:
        case Run():
            return run_text(detail)
        case Facts():
            return _facts(detail)
        case Probe():
            return probe_text(detail)
        case Estimate():
            return estimate_text(detail)
        case Plan():
            return "\n\n".join([plan_summary(detail), *detail.warnings, commands(detail)])
        case Execution():
            return _execution(detail)
        case Move():
            return _move(detail)
        case Waiver():
            return f"{detail.check}: waived by {detail.by} on {moment(detail.at)}\n{detail.reason}"
        case Path():
            return str(detail)
        case _:
            return "\n\n\n".join(map(check_text, detail)) or "no checks"


def _facts(facts: Facts) -> str:
    rows = side_by_side(facts, None)
    heads = f"{facts.server}, read {moment(facts.taken_at)}"
    return "\n".join([heads, "", *(f"{row.subject:14} {row.name:24} {row.old}" for row in rows)])


def _execution(execution: Execution) -> str:
    what = f"{execution.kind} of {execution.move}, {execution.state}, begun {moment(execution.started_at)}"
    lines = [what, f"by {execution.owner}", execution.message, ""]
    lines += [f"{run.number:3}. {run.title}: {outcome(run)}" for run in execution.steps]
    return "\n".join(lines)


def _move(move: Move) -> str:
    return "\n".join(
        [
            f"{move.old}:{move.cluster} to {move.new}:{move.target}",
            f"measured: {move.old_volume} on {move.old}, {move.new_volume} on {move.new}",
            *(f"tablespace {here} to {there}" for here, there in move.tablespace_targets.items()),
            *(["its bytes may cross the network unencrypted"] if move.plain_text else []),
        ]
    )
