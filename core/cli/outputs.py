"""What `--json` prints, as types: of each command its document. `python -m core.cli.schemas` makes JSON Schema of them.

A command prints a dataclass of its subject, or a dict: what that dict holds stands here. The tests hold every document
that a command prints against its type, so that neither changes alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.api.checks import Declaration
from core.api.execution import Account, NextOption, Paragraph, QueryResults
from core.api.imports import Imported as TakenOver
from core.api.migration import ByStage, EstimateComparison, Later, ProbeForecast
from core.api.storage import WhatIf
from core.api.survey import Survey, Taken
from core.benchmarks.model import Forecast, Run
from core.benchmarks.suites import Listed
from core.comparison.model import Comparison, Diagnosis
from core.facts.model import Facts
from core.history.backup import Restored
from core.history.damage import Condition, Rescued
from core.history.store import Command, Detail, Entry
from core.migration.model.asked import Asked
from core.migration.model.checks import CheckResult
from core.migration.model.estimate import Estimate, Fit, Help
from core.migration.model.execution import Execution
from core.migration.model.move import HookCommand, Move
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe
from core.migration.model.standing import Mark, Next
from core.migration.model.transport import Transport
from core.migration.model.watch import WatchResult
from core.servers.functions import Function
from core.servers.profiles import Profile
from core.servers.remote_jobs import RemoteJob


@dataclass(frozen=True)
class Servers:
    """`pghaul server list`."""

    servers: tuple[Profile, ...]


@dataclass(frozen=True)
class Tried:
    """`pghaul server test`: a sentence a right, and the rights that were promised and do not work."""

    server: str
    results: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Installed:
    """`pghaul server install`. `command`: what installs them; None: nothing is missing."""

    server: str
    missing: tuple[str, ...]
    command: str | None
    installed: tuple[str, ...]


@dataclass(frozen=True)
class Removed:
    """What was forgotten."""

    removed: str


@dataclass(frozen=True)
class Moves:
    """`pghaul move list`. `from_elsewhere`: what of each move this user's pghaul has not recorded."""

    moves: tuple[Move, ...]
    from_elsewhere: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class MoveShown:
    """`pghaul move show`."""

    move: Move
    milestones: tuple[Mark, ...]
    next: Next
    entries: tuple[Entry, ...]
    from_elsewhere: tuple[str, ...]
    asked: Asked


@dataclass(frozen=True)
class Hooks:
    """`pghaul move hook`."""

    hooks: tuple[HookCommand, ...]


@dataclass(frozen=True)
class Suites:
    """`pghaul bench --list`. `own`: the folder for suites of one's own."""

    suites: tuple[Listed, ...]
    tools: tuple[str, ...]
    own: str


@dataclass(frozen=True)
class Forecasts:
    """`pghaul bench --forecast`."""

    forecasts: tuple[Forecast, ...]


@dataclass(frozen=True)
class Runs:
    """`pghaul bench` and `pghaul history runs`."""

    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Script:
    """`pghaul storage prepare`."""

    script: str


@dataclass(frozen=True)
class Listing(Declaration):
    """A check, apart from any move. `severity`: `blocker` or `warning`, the worst that it can come to."""

    severity: str


@dataclass(frozen=True)
class CheckList:
    """`pghaul check --list`."""

    checks: tuple[Listing, ...]


@dataclass(frozen=True)
class Checks:
    """`pghaul check MOVE`."""

    checks: tuple[CheckResult, ...]


@dataclass(frozen=True)
class Chosen:
    """The transport that the probes speak for. `bound_by` None: it was not measured."""

    transport: Transport
    why: str
    bound_by: str | None


@dataclass(frozen=True)
class Probes:
    """`pghaul probe`."""

    probes: tuple[Probe, ...]
    chosen: Chosen


@dataclass(frozen=True)
class Sustained:
    """`pghaul probe --sustained`."""

    probes: tuple[Probe, ...]


@dataclass(frozen=True)
class ComingProbes:
    """`pghaul probe --forecast`."""

    forecast: ProbeForecast


@dataclass(frozen=True)
class WatchNow:
    """A watch of the old server: `job` runs it there; `seen` is None if there are no results yet."""

    job: RemoteJob
    running: bool
    seen: WatchResult | None


@dataclass(frozen=True)
class Watched:
    """`pghaul probe --watch`, `--status` and `--collect`."""

    watch: WatchNow


@dataclass(frozen=True)
class Planning:
    """What was asked beyond the methods, as core/migration/estimate/planning.py answers it."""

    helps: tuple[Help, ...]
    fits: tuple[Fit, ...]
    later: tuple[Later, ...]
    months_until_full: float | None
    night_seconds: float
    ends_at: float | None
    changes: float | None
    method: str
    window_begins: datetime | None
    window_ends: datetime | None


@dataclass(frozen=True, kw_only=True)
class Estimated(Estimate):
    """`pghaul estimate`."""

    planning: Planning


@dataclass(frozen=True)
class Record:
    """`pghaul estimate --record`. `hit_rate`: inside their range; `bias`: geometric mean of took / likely.

    `record` and these are of a move where one was named.
    """

    record: tuple[EstimateComparison, ...]
    hit_rate: float | None
    bias: float | None
    stages_of_all_moves: tuple[ByStage, ...]


@dataclass(frozen=True)
class Executed:
    """`pghaul execute`.

    Attributes:
        execution: without the texts of the scripts of its queries: `pghaul history show execution N` has them.
        alive: whether a program carries it out now.
        next_options: the options of `pghaul execute` that continue or end it, the recommended one first.
        queries: the measurements of the queries of a dress rehearsal.
    """

    execution: Execution
    alive: bool
    next_options: tuple[NextOption, ...]
    account: Account
    outcome: tuple[Paragraph, ...]
    queries: QueryResults | None


@dataclass(frozen=True)
class Functions:
    """`pghaul functions`."""

    functions: tuple[Function, ...]


@dataclass(frozen=True)
class Entries:
    """`pghaul history list`."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Note:
    """`pghaul history note`. `tags`: the words behind a # in it."""

    kind: str
    number: int
    note: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Commands:
    """`pghaul history commands`."""

    commands: tuple[Command, ...]


@dataclass(frozen=True)
class Where:
    """`pghaul history where`: a file, or the URL of a server."""

    history: str


@dataclass(frozen=True)
class Transferred:
    """`pghaul history copy`: of each table how many rows."""

    source: str
    target: str
    rows: dict[str, int]


@dataclass(frozen=True)
class Grants:
    """`pghaul history grants`."""

    sql: tuple[str, ...]


@dataclass(frozen=True)
class Backup:
    """`pghaul history backup`."""

    copy: Path


@dataclass(frozen=True)
class Exported:
    """`pghaul history export`. `removed_servers`: those that the history has no profile of any more."""

    archive: Path
    removed_servers: tuple[str, ...]


@dataclass(frozen=True)
class Imported:
    """`pghaul history import`. `move`: null for benchmarks of no move. `from_elsewhere`: what neither runs nor
    counts here. `removed_servers`: those of its benchmarks that had been removed where the archive was made."""

    move: str | None
    from_elsewhere: tuple[str, ...]
    removed_servers: tuple[str, ...]


@dataclass(frozen=True)
class Pruned:
    """`pghaul history prune`: of each kind how many; `removed`: whether they were, or only counted."""

    before: datetime
    rows: dict[str, int]
    copies: tuple[Path, ...]
    removed: bool


@dataclass(frozen=True)
class Example:
    """`pghaul history example`. `move`: the name of the one move in it."""

    history: Path
    move: str


@dataclass(frozen=True)
class Report:
    """`pghaul report`."""

    report: Path


@dataclass(frozen=True)
class Marks:
    """There only where an output is not whole or not clean."""

    interrupted: bool = False
    aborted: bool = False
    errors: int = 0


@dataclass(frozen=True, kw_only=True)
class ParsedResult(Marks):
    """One result of a benchmark tool's output."""

    name: str | None
    metrics: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class ParsedOutput(Marks):
    """`pghaul parse` of a benchmark tool; a mark of any result stands at the top too."""

    tool: str
    version: str | None
    results: tuple[ParsedResult, ...]


@dataclass(frozen=True)
class ParsedFields:
    """`pghaul parse` of controldata, version, rsync and iperf3: the fields that the output tells."""

    fields: dict[str, str | bool | int | float | None]


@dataclass(frozen=True)
class ParsedArray:
    """An array of Linux md. `progress`: a share of 1; `devices`: how many."""

    name: str
    level: str | None
    state: str
    devices: int
    degraded: bool
    action: str | None
    progress: float | None
    finish_seconds: float | None


@dataclass(frozen=True)
class ParsedArrays:
    """`pghaul parse mdstat`."""

    arrays: tuple[ParsedArray, ...]


@dataclass(frozen=True)
class SettingShown:
    """`pghaul settings set` and `unset`. `source`: `file` or `default`; `value` None: none is set."""

    key: str
    value: str | bool | int | None
    default: str | bool | int | None
    source: str
    allowed: str
    meaning: str


@dataclass(frozen=True)
class SettingsShown:
    """`pghaul settings show`. `exists`: whether the file is there."""

    path: str
    exists: bool
    settings: tuple[SettingShown, ...]


@dataclass(frozen=True)
class SettingsPath:
    """`pghaul settings path`."""

    path: str


@dataclass(frozen=True)
class Lines:
    """`pghaul completion`."""

    lines: tuple[str, ...]


SPARSE = (Marks, ParsedResult, ParsedOutput)
"""Documents whose fields with a default are left out where they have it; all others print every field."""

OUTPUTS: Mapping[str, Any] = {
    "server add": Profile,
    "server import": Taken,
    "server list": Servers,
    "server test": Tried,
    "server install": Installed,
    "server remove": Removed,
    "move add": Move,
    "move list": Moves,
    "move show": MoveShown,
    "move edited": Move,
    "move hook": Hooks,
    "move remove": Removed,
    "facts": Facts,
    "survey": Survey,
    "bench": Runs | Forecasts | Suites,
    "compare": Comparison,
    "diagnose": tuple[Diagnosis, ...],
    "storage what-if": WhatIf,
    "storage prepare": Script,
    "check": Checks | CheckList,
    "probe": Probes | Sustained | Watched | ComingProbes,
    "estimate": Estimated | Record,
    "plan": Plan,
    "execute": Executed,
    "functions": Functions,
    "history list": Entries,
    "history note": Note,
    "history runs": Runs,
    "history show": dict[str, Detail],
    "history run": Run,
    "history commands": Commands,
    "history where": Where,
    "history use": Where,
    "history copy": Transferred,
    "history grants": Grants,
    "history backup": Backup,
    "history restore": Restored,
    "history check": Condition | Rescued,
    "history prune": Pruned,
    "history export": Exported,
    "history import": Imported,
    "history example": Example,
    "report": Report,
    "import": TakenOver,
    "parse": ParsedOutput | ParsedFields | ParsedArrays,
    "settings show": SettingsShown,
    "settings set": SettingShown,
    "settings unset": SettingShown,
    "settings path": SettingsPath,
    "completion": Lines,
}
"""By the words of the command; of several shapes, any."""
