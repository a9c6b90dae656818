"""What stands behind one entry of the history: the very thing that was recorded then, not the latest of its kind."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import InstrumentedAttribute, Session

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

_KINDS: dict[str, tuple[type[Base], InstrumentedAttribute[datetime], Callable[[Any], Detail]]] = {
    "move": (MoveRow, MoveRow.created_at, move_of),
    "facts": (FactsRow, FactsRow.taken_at, facts_of),
    "run": (RunRow, RunRow.started_at, run_of),
    "probe": (ProbeRow, ProbeRow.taken_at, probe_of),
    "checks": (CheckPassRow, CheckPassRow.taken_at, checks_of),
    "estimate": (EstimateRow, EstimateRow.made_at, estimate_of),
    "plan": (PlanRow, PlanRow.made_at, plan_of),
    "execution": (ExecutionRow, ExecutionRow.started_at, execution_of),
    "waiver": (WaiverRow, WaiverRow.waived_at, waiver_of),
    "report": (ReportRow, ReportRow.made_at, lambda row: Path(row.path)),
}
KINDS = tuple(_KINDS)
"""Every kind of Entry."""


def detail(session: Session, kind: str, reference: int) -> Detail:
    """What the entry of that kind and reference is about; of a report, where it was written."""
    row = row_of(session, kind, reference)
    _table, _at, read = _KINDS[kind]
    return read(row)


def row_of(session: Session, kind: str, reference: int, at: datetime | None = None) -> Any:
    """Its row, which is Noted; `at`: the time that it has to be of, for the number of what is removed is given anew.

    Raises:
        InputError: there is no such entry.
    """
    if kind not in _KINDS:
        raise InputError(f"the history has no entries of the kind {kind!r}", f"use one of: {', '.join(KINDS)}")
    table, made_at, _read = _KINDS[kind]
    row = session.get(table, reference) if 0 < reference <= LARGEST_ID else None
    if row is None:
        raise InputError(f"the history has no {kind} {reference}", "list the numbers with: pghaul history list")
    if at is not None and getattr(row, made_at.key) != at:
        raise InputError(f"{kind} {reference} has changed since it was shown", "find the entry in the list again")
    return row
