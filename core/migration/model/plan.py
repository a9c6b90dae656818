"""A plan: its steps, with what carries each out. SI base units."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from core.language import marked
from core.migration.model import step_ids
from core.migration.model.checks import Status
from core.migration.model.dress import Queries
from core.migration.model.move import Hook, Verify
from core.servers.functions import library, named_in, needed
from core.servers.shell import Shell, with_settings
from core.sides import Side
from core.text import code

ROOT_USER = "root"
OPERATOR = "you"
"""The user, and the side in a script, of what runs on the workstation."""
ONLY_LOOKS = "Nothing to undo: this step only reads."

SIDE_BY_SIDE = 3
"""Steps at a time: each is looked at through sessions of its own, and sshd allows ten on a connection."""


class Phase(StrEnum):
    """The part of a move that a step belongs to; those that an estimate reckons have the name of its stage."""

    PREPARE = "prepare"
    WARM = "warm passes"
    CHECKPOINT = "checkpoints"
    """A part of earlier plans and estimates, whose two steps now belong to the parts around them."""
    DRESS = "dress rehearsal"
    BEFORE_STOP = "before the stop"
    STOP = "stop old"
    COPY = "copy"
    FINAL = "final pass"
    VERIFY = "verify"
    CHECKSUMS = "pg_checksums"
    AMCHECK = "pg_amcheck"
    CLOSE = "close the copy channel"
    REINDEX = "reindex"
    START = "start new"
    OPEN = "open new"
    AFTER = "after the cutover"
    ROLLBACK = "rollback"
    LATER = "later"

    @property
    def heading(self) -> str:
        """What people see of it; its value is what the history and estimates know it by."""
        return _HEADINGS[self]


_HEADINGS = {
    Phase.PREPARE: marked("Preparation"),
    Phase.WARM: marked("Pre-copy passes"),
    Phase.CHECKPOINT: marked("Checkpoints"),
    Phase.DRESS: marked("Dress rehearsal"),
    Phase.BEFORE_STOP: marked("Before the stop"),
    Phase.STOP: marked("Stop of the old cluster"),
    Phase.COPY: marked("Copy"),
    Phase.FINAL: marked("Final sync"),
    Phase.VERIFY: marked("Verification"),
    Phase.CHECKSUMS: marked("Page checksums"),
    Phase.AMCHECK: marked("Check of tables and indexes"),
    Phase.CLOSE: marked("Clean-up after the copy"),
    Phase.REINDEX: marked("Rebuild of indexes"),
    Phase.START: marked("Local-only start"),
    Phase.OPEN: marked("Cutover"),
    Phase.AFTER: marked("After the cutover"),
    Phase.ROLLBACK: marked("Rollback"),
    Phase.LATER: marked("Follow-up"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCall:
    """A call of shell functions on a server, or the operator's own command line there.

    Attributes:
        side: the server on which it runs; `user` is the user who runs it there.
        call: the call of the functions, with its arguments quoted.
        native: the commands that a person would type instead; empty if the call itself is such a command.
        reads: the id of the step whose output it reads on standard input: a public key, a host key, a port.
        takes_functions: it reads the plan's functions on standard input, behind what else it reads. The new server
            keeps them for the copy.
        detached: it takes long. It goes on without the workstation, and its output is followed.
        private: its output may contain secrets. It is passed to the step that reads it, and kept nowhere.
    """

    side: Side
    user: str
    call: str
    native: tuple[str, ...] = ()
    reads: str = ""
    takes_functions: bool = False
    detached: bool = False
    private: bool = False
    kind: Literal["remote-call"] = "remote-call"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorTask:
    """A manual step, or the operator's own command on the workstation in its place.

    Attributes:
        hook: the hook by which the operator can name a command for it; None: it is always a manual step.
        command: the operator's command line; empty: the step is manual.
    """

    hook: Hook | None = None
    command: str = ""
    kind: Literal["operator-task"] = "operator-task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The step at which the operator decides: cut over or roll back."""

    kind: Literal["decision"] = "decision"


Action = RemoteCall | OperatorTask | Decision


class ChannelUse(StrEnum):
    """What a step does for the copy channel: what only the copy needs on the servers."""

    OPENS = "opens"
    """It sets up a part of it, or checks what must hold whenever it is set up."""
    CLOSES = "closes"
    """It removes a part of it. It runs as well if an execution ends before it got there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePolicy:
    """How a step is treated when an execution is resumed. The runner and the exported script read it.

    Attributes:
        required: it proves something, or the copy is incomplete without it. It may be repeated, but never left out.
        channel: what it does for the copy channel. A step that opens it is repeated until all that close it are done.
        repeat_until: the id of a later step. If an execution is resumed behind this step and not behind that one, this
            step runs again first. Empty: it does not. `with_resume_policies` sets it.
    """

    required: bool = False
    channel: ChannelUse | None = None
    repeat_until: str = ""

    @property
    def opens_channel(self) -> bool:
        """Return whether it opens the copy channel."""
        return self.channel is ChannelUse.OPENS

    @property
    def closes_channel(self) -> bool:
        """Return whether it closes the copy channel."""
        return self.channel is ChannelUse.CLOSES


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a step proves.

    Attributes:
        only_checks: it changes nothing. If it fails, something does not hold, and no command went wrong.
        equals: the id of the step whose output its own must equal.
        lists: the call that prints the lists of files behind its output, packed by gzip and base64. If the outputs
            differ, they name the files.
        resync: the call on the old server that leaves to the next passes only the files on its standard input.
    """

    only_checks: bool = False
    equals: str = ""
    lists: str = ""
    resync: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a step is expected to take.

    Attributes:
        stage: the stage of the estimate to which a step of an earlier plan belongs; None: that of its phase.
        share: its share of the time that the estimate gives to all steps of that stage together.
        expected_seconds: None if nothing tells; set when the plan stands.
    """

    stage: Phase | None = None
    share: float = 1.0
    expected_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a plan, from the planner to the history and the report.

    It is shown in three parts: `title` for everybody, the native commands for whoever wants to read or type them, and
    the call that guards them and runs.

    Attributes:
        id: what programs and other steps know it by, unique in its list of steps; see `step_ids.py`.
        undo: how to undo it, in a sentence.
        table: what the operator needs to see for it, lines of text.
        downtime: clients have no cluster while it runs.
        in_rehearsal: it belongs to a rehearsal too. A rehearsal stops nothing, and starts nothing but, dressed, the
            copy.
        parallel: it may run at the same time as the step before it.
        precopy_pass: the pre-copy pass to which it belongs; the last one of a plan may be repeated. 0: none.
        root: the label of the data root that it copies in a pre-copy pass; empty if it copies none.
        size: how many bytes it copies or reads, for its progress; None if that is not known.
        number, server: set when the plan stands.
    """

    id: str
    title: str
    action: Action
    reason: str
    undo: str = ""
    table: str = ""
    phase: Phase = Phase.PREPARE
    downtime: bool = False
    in_rehearsal: bool = False
    parallel: bool = False
    precopy_pass: int = 0
    root: str = ""
    size: int | None = None
    resume: ResumePolicy = ResumePolicy()
    verification: Verification = Verification()
    timing: Timing = Timing()
    number: int = 0
    server: str = ""

    @property
    def point_of_no_return(self) -> bool:
        """Return whether it is the first step that cannot be undone without losing what clients wrote since."""
        return self.id == step_ids.CUTOVER

    @property
    def remote(self) -> RemoteCall | None:
        """Return its call on a server; None if it runs on the workstation."""
        return self.action if isinstance(self.action, RemoteCall) else None

    @property
    def side(self) -> Side | None:
        """Return the server on which it runs; None if it runs on the workstation."""
        return self.action.side if isinstance(self.action, RemoteCall) else None

    @property
    def user(self) -> str:
        """Return the user who runs it."""
        return self.action.user if isinstance(self.action, RemoteCall) else OPERATOR

    @property
    def call(self) -> str:
        """Return what runs: the call on a server or the operator's command; empty for a manual step."""
        match self.action:
            case RemoteCall(call=call):
                return call
            case OperatorTask(command=command):
                return command
        return ""

    @property
    def native(self) -> tuple[str, ...]:
        """Return the commands that a person would type instead of its call."""
        return self.action.native if isinstance(self.action, RemoteCall) else ()

    @property
    def reads(self) -> str:
        """Return the id of the step whose output it reads; empty if it reads none."""
        return self.action.reads if isinstance(self.action, RemoteCall) else ""

    @property
    def detached(self) -> bool:
        """Return whether it goes on without the workstation."""
        return self.remote is not None and self.remote.detached

    @property
    def private(self) -> bool:
        """Return whether its output may contain secrets."""
        return self.remote is not None and self.remote.private

    @property
    def by_person(self) -> bool:
        """Return whether it is manual: no command does it."""
        return self.remote is None and not self.call

    @property
    def shown(self) -> tuple[str, ...]:
        """Return what is shown of it: the native commands, then the call, each once."""
        return tuple(dict.fromkeys([*self.native, *([self.call] if self.call else [])]))

    @property
    def expected_seconds(self) -> float | None:
        """Return how long it is expected to take; None if nothing tells."""
        return self.timing.expected_seconds


def with_resume_policies(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of a plan with what a resume repeats, which depends on the steps behind them.

    - The copy channel is set up again until it is closed.
    - The port of the new cluster is checked again until the stop, and until the fence is lifted: from then on the new
      cluster itself may have it.
    - The stop is checked again until the cutover.
    - The data roots of the stopped cluster are recorded again until its checksums are computed, because a resync may
      have changed files.
    - The local-only start is made again until its fence is lifted, because a reboot has ended it.
    - A step whose output may not be stored, or on whose output another check rests, is repeated until that is read.
    - After the cutover, it is always checked again that the old cluster does not run.
    """
    known = {step.id for step in steps}
    closing = next((step.id for step in reversed(steps) if step.resume.closes_channel), "")
    readers = {step.reads: step.id for step in steps if step.reads}
    until = {
        step_ids.START_LOCALLY: step_ids.LIFT_FENCE,
        step_ids.CHECK_PORT_FREE: step_ids.STOP_OLD_CLUSTER,
        step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER: step_ids.LIFT_FENCE,
        step_ids.CHECK_STOPPED: step_ids.CUTOVER,
        step_ids.CHECK_DATA_ROOTS_STOPPED: step_ids.CHECKSUMS_OLD,
        step_ids.CHECK_OLD_STAYS_STOPPED: steps[-1].id if steps else "",
        step_ids.CHECK_LISTENERS: readers.get(step_ids.CHECK_LISTENERS, ""),
    }

    def repeat_until(step: Step) -> str:
        if step.resume.opens_channel:
            return closing
        found = until.get(step.id, readers.get(step.id, "") if step.private else "")
        return found if found in known else ""

    return tuple(replace(step, resume=replace(step.resume, repeat_until=repeat_until(step))) for step in steps)


@dataclass(frozen=True, slots=True)
class Login:
    """How a plan's script reaches a server: `ssh` is the exact text of the ssh command, up to the destination."""

    side: Side
    server: str
    ssh: str
    user: str | None
    rights: str
    """As `Rights` has them: how the login user becomes another."""
    database_user: str = "postgres"


@dataclass(frozen=True, slots=True)
class PlanWarning:
    """What stands against a plan. `check`: the id of the check that has found it; empty: the plan itself says it."""

    message: str
    status: Status = Status.WARNING
    check: str = ""

    def __str__(self) -> str:
        """Return the line that people read: `warning: The disk is nearly full. [space]`."""
        return f"{self.status}: {self.message}" + (f" [{self.check}]" if self.check else "")


class FollowUpGroup(StrEnum):
    """What a follow-up task is for, in the order in which the groups are shown."""

    VERIFY = "verify"
    BACK_UP = "back-up"
    CLEAN_UP = "clean-up"
    INFORMATION = "information"
    """There is nothing to do."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A task after the cutover, or information for then. The `id` is recorded with its tick, the text can change."""

    id: str
    group: FollowUpGroup
    text: str

    def __str__(self) -> str:
        """Return the sentences that people read."""
        return self.text


@dataclass(frozen=True, slots=True)
class Plan:
    """The ordered steps of a move."""

    move: str
    transport: str
    why: str
    """Which figures chose the transport."""
    steps: tuple[Step, ...]
    made_at: datetime
    warnings: tuple[PlanWarning | str, ...] = ()
    """A text is a warning of a plan that an earlier pghaul has recorded. Executions are signed with their plan, so no
    upgrade of the history may rewrite it."""
    logins: tuple[Login, ...] = ()
    cluster: str = ""
    """The name that a person types before the old cluster is stopped: the service manager's, else the data
    directory."""
    data_directory: str = ""
    target: str = ""
    """The data directories on the old and on the new server."""
    way_back: tuple[Step, ...] = ()
    """The steps that make old what it was, from wherever the plan has got to before its point of no return."""
    back_with_loss: tuple[Step, ...] = ()
    """What a person types once the new cluster is open, to give up all that clients wrote to it; pghaul never runs
    them."""
    later: tuple[Step, ...] = ()
    """What is no part of the plan, but worth doing when it suits."""
    remains: tuple[FollowUp | str, ...] = ()
    """What lies on the servers when all is done. A text is from a plan that an earlier pghaul has recorded."""
    advice: tuple[FollowUp | str, ...] = ()
    """What is still to do then; the same is true of a text."""
    functions: str = ""
    """The functions that its calls name: what an execution of it runs, whichever pghaul goes on with it."""
    settings: tuple[tuple[str, str], ...] = ()
    """Variables that the functions of the copy read, name and value."""
    verify: Verify = Verify.CHANGED
    queries: Queries | None = None
    """Of the operator's own, which a dress rehearsal measures."""
    old_folders: tuple[str, ...] = ()
    new_folders: tuple[str, ...] = ()
    """The data directory of the old cluster with the folders to which its links lead, and the folders on the new server
    to which its data roots are copied."""

    def step(self, step_id: str) -> Step | None:
        """Return the step of that id."""
        return next((step for step in self.steps if step.id == step_id), None)

    def server(self, side: Side) -> str:
        """Return the name of the server of that side; empty if the plan does not tell it."""
        logins = (login.server for login in self.logins if login.side is side)
        return next(logins, "") or next((step.server for step in self.steps if step.side is side), "")

    @property
    def first_copying(self) -> int:
        """The number of the first step that copies in the stop: from it on all that is not on the new server comes
        there; or 0."""
        return next((step.number for step in self.steps if step.phase in {Phase.FINAL, Phase.COPY}), 0)

    @property
    def downtime_steps(self) -> tuple[Step, ...]:
        """The steps of the downtime: from the one that stops the old cluster to the one that allows connections to the
        new one; where the old cluster has been stopped before, all for which clients wait."""
        stop, cutover = self.step(step_ids.STOP_OLD_CLUSTER), self.step(step_ids.CUTOVER)
        if stop is None or cutover is None:
            return tuple(step for step in self.steps if step.downtime)
        return tuple(step for step in self.steps if stop.number <= step.number <= cutover.number)

    @property
    def downtime_seconds(self) -> float | None:
        """Seconds that the commands of the downtime are expected to take; None if nothing tells."""
        known = [step.expected_seconds for step in self.downtime_steps if step.expected_seconds is not None]
        return sum(known) if known else None

    @property
    def method(self) -> str:
        """Of the estimate's methods the one that it follows."""
        return "warm-copy" if any(step.precopy_pass for step in self.steps) else "cold-copy"


def functions_of(steps: Iterable[Step], settings: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text of all functions of the remote half that these steps call, with those that settings name."""
    texts = [text for step in steps for text in (step.call, step.verification.lists, step.verification.resync)]
    names = [name for text in texts for name in named_in(text)]
    return library(names, settings)


def functions_file(functions: str) -> str:
    """Functions as a program of their own: `sh FILE FUNCTION WORD…` runs one; its last line shows that it is whole."""
    return f'{functions}\n"$@"\nexit\n# whole\n'


def call_of(plan: Plan, call: str) -> Shell:
    """A call of the plan as it runs, with the plan's own functions and settings, of whichever pghaul made it.

    Of the functions those alone travel that the call needs: all of them would be sent again with every step.
    """
    settings = dict(plan.settings)
    functions = needed(plan.functions, [call], settings)
    return with_settings(settings, Shell(call, call, compound=True, functions=functions))


def alone(step: Step) -> Shell:
    """The step's call outside of a plan: with the functions of this pghaul."""
    return Shell(step.call, step.call, compound=True, functions=functions_of([step]))


def undone(user: str, side: Side, *native: Shell | str) -> str:
    """The sentence of an undo by these commands."""
    return f"To undo, {run_by_hand(user, side, *native)}"


def run_by_hand(user: str, side: Side, *native: Shell | str) -> str:
    """What a person is to run, within a sentence: where, as whom, which commands."""
    commands = code(chained(map(str, native)))
    return f"run on the {'old' if side is Side.OLD else 'new'} server as {user}: {commands}"


def chained(native: Iterable[str]) -> str:
    """Commands as a person types them in one go: what fails ends them, for the next builds on it."""
    return " && ".join(native)
