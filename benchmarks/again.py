"""Estimates made anew, by the present code, from what a kept benchmark had probed, and held against its clock.

Nothing runs on any server: a kept folder, see `benchmarks/estimate.py --keep`, holds the history of one way of one
setting. A copy of it is taken back to the moment of its estimate, so that what came of the move tells nothing.
"""

import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.judging import WAYS, Clock, Probing
from core import documents
from core.api.migration import make_estimate_with_spec
from core.api.session import Session
from core.history.database import FILE_NAME
from core.history.earlier_plans import convert_plan
from core.history.store import Store
from core.jobs import Job
from core.migration.estimate import estimate
from core.migration.model import step_ids
from core.migration.model.move import Verify
from core.servers.profiles import Nobody

CLOCK, ESTIMATE, STATUS, PROBED = "clock.json", "estimate.json", "status.json", "probed.json"
_LATER = {
    "facts": "taken_at",
    "probes": "taken_at",
    "estimates": "made_at",
    "plans": "made_at",
    "check_passes": "taken_at",
    "commands": "started_at",
}
"""What an estimate reads, and which column says since when it is there."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A way of a setting as it was kept.

    `before`: what was estimated then, as it was printed; `probed`: the seconds of the probes that it was estimated
    from, None where they were not kept.
    """

    number: int
    way: str
    folder: Path
    before: Mapping[str, Any]
    clock: Clock
    probed: float | None = None

    @property
    def made_at(self) -> datetime:
        """When it was estimated: behind its probes, ahead of what its clock has measured."""
        return datetime.fromisoformat(str(self.before["made_at"]))


def kept(folder: Path) -> Iterator[Kept]:
    """The kept ways in `folder`, by setting, those whose clock was kept."""
    found = [(re.fullmatch(r"(\d+)-(\w+)", each.name), each) for each in folder.iterdir()]
    named = [(int(match[1]), match[2], each) for match, each in found if match is not None and match[2] in WAYS]
    for number, way, each in sorted(named, key=lambda one: (one[0], list(WAYS).index(one[1]))):
        clock = _clock(each)
        if clock is not None:
            yield Kept(number, way, each, json.loads((each / ESTIMATE).read_text()), clock, _probed(each))


def again(kept_way: Kept) -> dict[str, Any]:
    """The estimate by the present code, as `pghaul estimate --json` has it."""
    checking = Verify.ALL if kept_way.way == "all" else Verify.CHANGED
    at = kept_way.made_at
    with tempfile.TemporaryDirectory() as name:
        history = Path(name) / "history"
        shutil.copytree(kept_way.folder / "history", history)
        taken_back(history / FILE_NAME, at)
        with Store.open(history) as store, Session(store, Nobody()) as session:
            _, spec = make_estimate_with_spec(session, store.moves()[0].name, Job(), verify=checking)
    then = replace(spec, history=replace(spec.history, now=at))
    return dict(documents.to_plain(estimate(then, checking)))


def taken_back(path: Path, at: datetime) -> None:
    """Take out of a history what was recorded after that moment, and every execution."""
    then = at.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        for table in ("execution_steps", "executions"):
            connection.execute(f"DELETE FROM {table}")
        later = "SELECT id FROM check_passes WHERE taken_at > ?"
        connection.execute(f"DELETE FROM check_results WHERE pass_id IN ({later})", (then,))
        for table, column in _LATER.items():
            connection.execute(f"DELETE FROM {table} WHERE {column} > ?", (then,))


def _probed(folder: Path) -> float | None:
    return float(json.loads((folder / PROBED).read_text())["seconds"]) if (folder / PROBED).exists() else None


def probings(found: Iterable[Kept], titles: Sequence[str]) -> Iterator[tuple[datetime, Probing]]:
    """How long the probes of each setting took, against the first copy that was done, and when that was.

    Args:
        found: what was kept, in the order in which it was done.
        titles: of all settings.
    """
    seen = set()
    for each in found:
        if each.way != "dump" and each.probed is not None and each.number not in seen:
            seen.add(each.number)
            yield each.made_at, Probing(titles[each.number - 1], each.probed, each.clock.whole)


def _clock(folder: Path) -> Clock | None:
    """What the way took, by its steps where they were kept; None where neither was."""
    if (folder / STATUS).exists():
        return clocked(json.loads((folder / STATUS).read_text()))
    if (folder / CLOCK).exists():
        return Clock(**json.loads((folder / CLOCK).read_text()))
    return None


def clocked(status: Mapping[str, Any]) -> Clock:
    """Of all steps, and from the stop, or the first step of a stopped cluster, until new was open.

    The latter is what pghaul calls the downtime (`Plan.downtime_steps`). That people have stopped the applications
    before is not in it.

    `status`: as `pghaul execute --status --json` prints.
    """
    execution = status["execution"]
    steps = convert_plan(execution["plan"])["steps"]
    points = {step["number"] for step in steps if step["id"] == step_ids.CUTOVER}
    begun = [datetime.fromisoformat(run["started_at"]) for run in execution["steps"]]
    ended = [datetime.fromisoformat(run["ended_at"]) for run in execution["steps"] if run["number"] in points]
    stopping = {step["number"] for step in steps if step["id"] == step_ids.STOP_OLD_CLUSTER}
    stopped = stopping or {step["number"] for step in steps if step["downtime"]}
    down = min(at for at, run in zip(begun, execution["steps"], strict=True) if run["number"] in stopped)
    return Clock((max(ended) - min(begun)).total_seconds(), (max(ended) - down).total_seconds())
