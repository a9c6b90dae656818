"""What stands behind one entry of the history: the very thing that was recorded then, not the latest of its kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from core.benchmarks.model import Run
from core.errors import InputError
from core.facts.model import Facts
from core.history.executions import execution_of
from core.history.findings import checks_of, estimate_of, facts_of, plan_of, probe_of
from core.history.models import (
    Base,
    CheckPassRow,
    EstimateRow,
    ExecutionRow,
    FactsRow,
    MoveRow,
    PlanRow,
    ProbeRow,
    ReportRow,
    RunRow,
    WaiverRow,
)
from core.history.profiles import move_of
from core.history.runs import LARGEST_ID, run_of
from core.history.waivers import waiver_of
from core.migration.model.checks import CheckResult, Waiver
from core.migration.model.estimate import Estimate
from core.migration.model.execution import Execution
from core.migration.model.move import Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe

Detail = Move | Facts | Run | Probe | tuple[CheckResult, ...] | Estimate | Plan | Execution | Waiver | Path

_KINDS: dict[str, tuple[type[Base], Callable[[Any], Detail]]] = {
    "move": (MoveRow, move_of),
    "facts": (FactsRow, facts_of),
    "run": (RunRow, run_of),
    "probe": (ProbeRow, probe_of),
    "checks": (CheckPassRow, checks_of),
    "estimate": (EstimateRow, estimate_of),
    "plan": (PlanRow, plan_of),
    "execution": (ExecutionRow, execution_of),
    "waiver": (WaiverRow, waiver_of),
    "report": (ReportRow, lambda row: Path(row.path)),
}
KINDS = tuple(_KINDS)
"""Every kind of Entry."""


def detail(session: Session, kind: str, reference: int) -> Detail:
    """What the entry of that kind and reference is about; of a report, where it was written."""
    if kind not in _KINDS:
        raise InputError(f"the history has no kind {kind!r}", f"it has {', '.join(KINDS)}")
    table, read = _KINDS[kind]
    row = session.get(table, reference) if 0 < reference <= LARGEST_ID else None
    if row is None:
        raise InputError(f"the history has no {kind} {reference}", "see the numbers with: pghaul history list")
    return read(row)
