"""Plans as earlier versions have recorded them: converted when they are read.

Executions are signed together with the text of their plan, so no upgrade of the history may rewrite it. The functions
of such a plan and the numbers of its steps stay as they are, so its execution can be continued and rolled back.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core import documents
from core.migration.model import step_ids
from core.migration.model.move import Hook
from core.migration.model.plan import OPERATOR, ChannelUse, Plan, with_resume_policies
from core.servers.shell import split

_LISTS_OF_STEPS = ("steps", "way_back", "back_with_loss", "later")
EARLIER_NAMES: Mapping[str, str] = {
    "target": step_ids.CHECK_TARGET,
    "configuration-readable": step_ids.CHECK_CONFIGURATION_READABLE,
    "configuration-replaceable": step_ids.CHECK_CONFIGURATION_REPLACEABLE,
    "configuration-own": step_ids.CHECK_OWN_CONFIGURATION,
    "tidy-old": step_ids.REMOVE_LEFTOVERS,
    "dress-programs": step_ids.CHECK_REHEARSAL_PROGRAMS,
    "queries-role": step_ids.CHECK_QUERIES_ROLE,
    "queries-old": step_ids.MEASURE_QUERIES_OLD,
    "key": step_ids.CREATE_KEY,
    "functions": step_ids.INSTALL_FUNCTIONS,
    "host-keys": step_ids.READ_HOST_KEYS,
    "password": step_ids.CREATE_PASSWORD,
    "keeper-functions": step_ids.INSTALL_KEEPER_FUNCTIONS,
    "daemon": step_ids.START_DAEMON,
    "reach-daemon": step_ids.CHECK_DAEMON,
    "copy-folder": step_ids.CREATE_COPY_FOLDER,
    "serve-nfs": step_ids.START_NFS,
    "address": step_ids.FIND_SOURCE_ADDRESS,
    "export": step_ids.EXPORT_TARGET,
    "mount": step_ids.MOUNT_TARGET,
    "unmount": step_ids.UNMOUNT_TARGET,
    "unexport": step_ids.UNEXPORT_TARGET,
    "places-began": step_ids.RECORD_DATA_ROOTS,
    "checkpoint-pass": step_ids.CHECKPOINT_BEFORE_LAST_PASS,
    "dress-pass": step_ids.REHEARSE_PASS,
    "queries-cold": step_ids.REHEARSE_DROP_CACHE,
    "dress-copy": step_ids.REHEARSE_START,
    "dress-end": step_ids.REHEARSE_STOP,
    "places-running": step_ids.CHECK_DATA_ROOTS,
    "copyable": step_ids.CHECK_COPYABLE,
    "restartable": step_ids.CHECK_RESTARTABLE,
    "listeners": step_ids.LIST_LISTENERS,
    "checkpoint-stop": step_ids.CHECKPOINT_BEFORE_STOP,
    "clients": step_ids.LIST_CLIENTS,
    "stock": step_ids.TAKE_INVENTORY,
    "copyable-in-stop": step_ids.CHECK_COPYABLE_IN_DOWNTIME,
    "restartable-in-stop": step_ids.CHECK_RESTARTABLE_IN_DOWNTIME,
    "stop": step_ids.STOP_OLD_CLUSTER,
    "stopped": step_ids.CHECK_STOPPED,
    "fence": step_ids.FENCE_OLD,
    "places-stopped": step_ids.CHECK_DATA_ROOTS_STOPPED,
    "stayed-stopped": step_ids.CHECK_STAYED_STOPPED,
    "flush": step_ids.FLUSH_NEW,
    "sums": step_ids.CHECKSUMS_OLD,
    "compare-sums": step_ids.COMPARE_CHECKSUMS,
    "configuration": step_ids.PACK_CONFIGURATION,
    "put-configuration": step_ids.INSTALL_CONFIGURATION,
    "in-force": step_ids.KEEP_SETTINGS_IN_FORCE,
    "start-new": step_ids.START_LOCALLY,
    "query": step_ids.QUERY_NEW,
    "same-inventory": step_ids.COMPARE_INVENTORY,
    "collation-versions": step_ids.COMPARE_COLLATION_VERSIONS,
    "reindex": step_ids.REBUILD_INDEXES,
    "unchanged": step_ids.CHECK_OLD_UNCHANGED,
    "open": step_ids.CUTOVER,
    "alone": step_ids.CHECK_OLD_STAYS_STOPPED,
    "same-settings": step_ids.COMPARE_SETTINGS,
    "listens": step_ids.CHECK_LISTENERS,
    "reached": step_ids.CHECK_REACHABLE,
    "lead": step_ids.REPOINT_APPLICATIONS,
    "no-cutover": step_ids.CHECK_NO_CUTOVER,
    "unopened": step_ids.CHECK_COPY_UNCHANGED,
    "close-new": step_ids.STOP_AND_FENCE_NEW,
    "start-old": step_ids.START_OLD_CLUSTER,
    "old-runs": step_ids.CHECK_OLD_RUNS,
    "old-settings": step_ids.COMPARE_OLD_SETTINGS,
    "stop-new": step_ids.STOP_NEW_CLUSTER,
}
"""The id of each step by its earlier name, if they differ."""

EARLIER_BEGINNINGS: Mapping[str, str] = {
    "folder-": step_ids.CREATE_TARGET,
    "warm-": step_ids.PRE_COPY,
    "ahead-": step_ids.CHECKSUM_IN_ADVANCE,
    "deletions-": step_ids.LIST_DELETIONS,
    "changed-": step_ids.FINAL_SYNC_CHANGED,
    "rest-": step_ids.FINAL_SYNC_REST,
    "copy-": step_ids.COPY,
    "link-": step_ids.LINK,
    "register-": step_ids.REGISTER,
    "enable-": step_ids.ENABLE_AT_BOOT,
    "unregister-": step_ids.UNREGISTER,
}
"""The family of steps by the beginning of their earlier names."""

_KEPT = ("title", "reason", "undo", "table", "phase", "root", "number", "server")
"""The fields that an earlier step has in common with a step."""


def load_plan(document: str) -> Plan:
    """Return the plan in a document of the history, whichever version has recorded it.

    Raises:
        InputError: it is not a plan that this version can read.
    """
    try:
        found = json.loads(document)
    except (ValueError, RecursionError):
        found = None
    if not any(_is_earlier(step) for name in _LISTS_OF_STEPS for step in _steps(found, name)):
        return _with_folders(documents.load(Plan, document))
    plan = documents.load(Plan, json.dumps(convert_plan(found)))
    return _with_folders(replace(plan, steps=with_resume_policies(plan.steps)))


def _with_folders(plan: Plan) -> Plan:
    """Return the plan with its folders on both servers: an earlier one has them only in the calls of its steps."""
    looks, flush = plan.step(step_ids.CHECK_DATA_ROOTS_STOPPED), plan.step(step_ids.FLUSH_NEW)
    if plan.new_folders or looks is None or flush is None:
        return plan
    old = tuple(word for word in split(looks.call) if word.startswith("/"))
    return replace(plan, old_folders=old, new_folders=tuple(split(flush.call)[1:]))


def _is_earlier(step: Mapping[str, Any]) -> bool:
    """Return whether it is a step of an earlier version, which had a name and no id."""
    return "action" not in step


def _steps(found: Any, name: str) -> list[dict[str, Any]]:
    """Return a list of steps of the document; what is not one of steps is left to the reader, which refuses it."""
    steps = found.get(name) if isinstance(found, dict) else None
    return steps if isinstance(steps, list) and all(isinstance(step, dict) for step in steps) else []


def convert_plan(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a plan as this version writes it, whichever version has written it."""
    lists = {
        name: [_convert_step(step) if _is_earlier(step) else step for step in _steps(found, name)]
        for name in _LISTS_OF_STEPS
    }
    return {**found, **{name: steps for name, steps in lists.items() if steps}}


def _convert_step(old: Mapping[str, Any]) -> dict[str, Any]:
    channel = ChannelUse.OPENS if old.get("renewed") else ChannelUse.CLOSES if old.get("closes") else None
    return {
        **{name: old[name] for name in _KEPT if name in old},
        "id": _step_id(old),
        "action": _action(old),
        "downtime": old.get("stopped", False),
        "in_rehearsal": old.get("rehearsed", False),
        "parallel": old.get("beside", False),
        "precopy_pass": old.get("warm_pass", 0),
        "size": old.get("bytes"),
        "resume": {"required": not old.get("skippable", True), "channel": channel},
        "verification": {
            "only_checks": old.get("proves", False),
            "equals": _convert_name(old.get("agrees_with")),
            "lists": old.get("listing", ""),
            "resync": old.get("mending", ""),
        },
        "timing": {
            "stage": old.get("timed_as"),
            "share": old.get("share", 1.0),
            "expected_seconds": old.get("expected_seconds"),
        },
    }


def _action(old: Mapping[str, Any]) -> dict[str, Any]:
    name, call = old.get("name"), old.get("call", "")
    if old.get("side") != OPERATOR:
        return {
            "kind": "remote-call",
            "side": old.get("side"),
            "user": old.get("user"),
            "call": call,
            "native": old.get("native", ()),
            "reads": _convert_name(old.get("reads")),
            "takes_functions": old.get("takes_functions", False),
            "detached": old.get("detached", False),
            "private": old.get("private", False),
        }
    if name == step_ids.DECIDE and not call:
        return {"kind": "decision"}
    return {"kind": "operator-task", "hook": next((hook for hook in Hook if hook == name), None), "command": call}


def _step_id(old: Mapping[str, Any]) -> str:
    if old.get("point_of_no_return"):
        return step_ids.CUTOVER
    return _convert_name(old.get("name")) or f"step-{old.get('number', 0)}"


def _convert_name(name: object) -> str:
    """Return the id for an earlier name. Names that only still earlier versions knew stay as they are."""
    if not isinstance(name, str):
        return ""
    if name in EARLIER_NAMES:
        return EARLIER_NAMES[name]
    for beginning, family in EARLIER_BEGINNINGS.items():
        if name.startswith(beginning):
            return step_ids.of_part(family, *_parts(family, name.removeprefix(beginning)))
    return name


def _parts(family: str, rest: str) -> tuple[str, ...]:
    """Return what tells a step from others of its family: the pass and the data root or server, else one word."""
    if family in {step_ids.PRE_COPY, step_ids.CHECKSUM_IN_ADVANCE}:
        number, _, part = rest.partition("-")
        return number, part
    return (rest,)
