"""A plan as the version before steps had ids has recorded it."""

import json
from typing import Any

from core import documents
from core.history.earlier_plans import EARLIER_BEGINNINGS, EARLIER_NAMES
from core.history.types import storable
from core.migration.model import step_ids
from core.migration.model.plan import OPERATOR, Plan, Step

_NAMES = {step_id: name for name, step_id in EARLIER_NAMES.items()}
_BEGINNINGS = {family: beginning for beginning, family in EARLIER_BEGINNINGS.items()}


def as_earlier(plan: Plan) -> str:
    """The document of the plan as that version has written it."""
    document = documents.to_plain(storable(plan))
    for name in ("steps", "way_back", "back_with_loss", "later"):
        document[name] = [_as_earlier(step) for step in getattr(plan, name)]
    for later in ("old_folders", "new_folders"):
        del document[later]
    return json.dumps(document, ensure_ascii=False)


def _as_earlier(step: Step) -> dict[str, Any]:
    remote, found = step.remote, documents.to_plain(storable(step))
    return {
        "title": step.title,
        "side": OPERATOR if step.side is None else step.side.value,
        "user": step.user,
        "call": step.call,
        "reason": step.reason,
        "undo": step.undo,
        "native": list(step.native),
        "phase": step.phase.value,
        "timed_as": found["timing"]["stage"],
        "share": step.timing.share,
        "name": _earlier_name(step.id),
        "reads": _earlier_name(step.reads),
        "agrees_with": _earlier_name(step.verification.equals),
        "point_of_no_return": step.point_of_no_return,
        "stopped": step.downtime,
        "skippable": not step.resume.required,
        "warm_pass": step.precopy_pass,
        "root": step.root,
        "detached": step.detached,
        "renewed": step.resume.opens_channel,
        "closes": step.resume.closes_channel,
        "beside": step.parallel,
        "rehearsed": step.in_rehearsal,
        "private": step.private,
        "takes_functions": remote is not None and remote.takes_functions,
        "bytes": step.size,
        "listing": step.verification.lists,
        "mending": step.verification.resync,
        "table": step.table,
        "proves": step.verification.only_checks,
        "number": step.number,
        "server": step.server,
        "expected_seconds": step.expected_seconds,
    }


def _earlier_name(step_id: str) -> str:
    if step_id in _NAMES:
        return _NAMES[step_id]
    family = step_ids.family_of(step_id, *_BEGINNINGS)
    if family is None:
        return step_id
    return _BEGINNINGS[family] + step_id.removeprefix(f"{family}/").replace("/", "-")
