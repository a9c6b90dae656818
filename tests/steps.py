"""Steps made by hand, by the fields of all their parts at once."""

from dataclasses import fields, replace
from typing import Any

from core.migration.model.plan import OperatorTask, RemoteCall, ResumePolicy, Step, Timing, Verification
from core.sides import Side

_PARTS = {"resume": ResumePolicy, "verification": Verification, "timing": Timing}


def make_step(step_id: str, title: str, side: Side | None = Side.OLD, call: str = "true", **more: Any) -> Step:
    """A step that runs this as postgres; without a side it is one of the operator's."""
    action = OperatorTask() if side is None else RemoteCall(side=side, user="postgres", call=call)
    return change_step(Step(id=step_id, title=title, action=action, reason="why"), **more)


def change_step(step: Step, **changes: Any) -> Step:
    """The step with other values of its own fields, and of those of its parts."""
    kinds = {**_PARTS, "action": type(changes.get("action", step.action))}
    for part, kind in kinds.items():
        names = {each.name for each in fields(kind)} - {"kind"}
        within = {name: changes.pop(name) for name in names & changes.keys()}
        if within:
            changes[part] = replace(changes.get(part, getattr(step, part)), **within)
    return replace(step, **changes)
