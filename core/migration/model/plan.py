"""A plan: its steps, with what carries each out. SI base units."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from core.language import marked
from core.migration.model.checks import Status
from core.migration.model.move import Verify
from core.migration.model.queries import Queries
from core.servers.functions import library, named_in, needed
from core.servers.shell import Shell, with_settings
from core.text import code

ROOT_USER = "root"
ONLY_LOOKS = "Nothing to undo: this step only reads."

SIDE_BY_SIDE = 3
"""Steps at a time: each is looked at through sessions of its own, and sshd allows ten on a connection."""


class Phase(StrEnum):
    """The part of a move that a step belongs to; those that an estimate reckons have the name of its stage."""

    PREPARE = "prepare"
    WARM = "warm passes"
    CHECKPOINT = "checkpoints"
    DRESS = "dress rehearsal"
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
    Phase.ROLLBACK: marked("Rollback"),
    Phase.LATER: marked("Follow-up"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan, from the planner to the history and the report.

    Three parts say what it does: `title` for everybody; `native`, the commands that do the work, for whoever wants to
    read or type them; `call`, the function of the remote half that guards them, with its words, which is what runs.

    Attributes:
        side: `old`, `new` or `you`; `user` runs it there.
        call: empty where a person does it; for a hook the DBA's own command line.
        name: what other steps and programs know it by, unique in its plan.
        reads: name of the step whose output it reads on standard input: a public key, a host key, a time.
        agrees_with: name of the step whose output its own must equal: what is on the old and on new, what was
            and is.
        phase: the part of the move; `timed_as`: another one, of whose time it takes its `share`.
        share: its part of the time that the estimate gives to all steps of that phase together, against the others.
        number, server, expected_seconds: set when the plan stands; seconds are None where nothing tells.
    """

    title: str
    side: str
    user: str
    call: str
    reason: str
    undo: str = ""
    native: tuple[str, ...] = ()
    phase: Phase = Phase.PREPARE
    timed_as: Phase | None = None
    share: float = 1.0
    name: str = ""
    reads: str = ""
    agrees_with: str = ""
    point_of_no_return: bool = False
    """The first step that cannot be undone without losing what clients wrote since."""
    stopped: bool = False
    """The cluster is stopped while this step runs: it counts as downtime."""
    skippable: bool = True
    """False: it proves something, or without it the copy is not whole. It may be repeated, never left out."""
    warm_pass: int = 0
    """Which warm pass it belongs to; the last one of a plan may be repeated. 0: none."""
    root: str = ""
    """The label of the data root that it copies; empty where it copies none."""
    detached: bool = False
    """It takes long: it is run so that it goes on without the workstation, and its output is followed."""
    renewed: bool = False
    """A resumed execution runs it again while a step that closes is still to come: a proof, or the copy channel."""
    closes: bool = False
    """It takes away what the copy needed on a server: run as well when an execution ends before it got there."""
    beside: bool = False
    """It may run at the same time as the step before it."""
    rehearsed: bool = False
    """It belongs to a rehearsal too, which stops nothing, and starts nothing but, dressed, the copy."""
    private: bool = False
    """Its output may hold secrets: it is handed to the step that reads it and kept nowhere."""
    takes_functions: bool = False
    """It reads the plan's functions on standard input, behind what else it reads: new keeps them for the copy."""
    bytes: int | None = None
    """What it copies or reads, for its progress; None where that is not known."""
    listing: str = ""
    """The call that prints the lists that its output sums up, packed by gzip and base64: where it does not agree, they
    name why."""
    mending: str = ""
    """The call on old that leaves only the files of its standard input to the passes: those that did not agree."""
    table: str = ""
    """What a person needs to see for it, lines of text."""
    proves: bool = False
    """It only looks, and where it fails something does not hold; no command went wrong."""
    number: int = 0
    server: str = ""
    expected_seconds: float | None = None

    @property
    def by_person(self) -> bool:
        """Whether a person does it, with no command for it."""
        return self.side == "you" and not self.call

    @property
    def shown(self) -> tuple[str, ...]:
        """What is shown of it: the native commands, then the call, each once."""
        return tuple(dict.fromkeys([*self.native, *([self.call] if self.call else [])]))


@dataclass(frozen=True, slots=True)
class Login:
    """How a plan's script reaches a server: `ssh` is the exact text of the ssh command, up to the destination."""

    side: str
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
    """The name that a person types before old is stopped: the service manager's, else the data directory."""
    data_directory: str = ""
    target: str = ""
    """The data directories on the old and on the new server."""
    way_back: tuple[Step, ...] = ()
    """The steps that make old what it was, from wherever the plan has got to before its point of no return."""
    back_with_loss: tuple[Step, ...] = ()
    """What a person types once new is open, to give up all that clients wrote to it; pghaul never runs them."""
    later: tuple[Step, ...] = ()
    """What is no part of the plan, but worth doing when it suits."""
    remains: tuple[str, ...] = ()
    """What lies on the servers when all is done, in sentences."""
    advice: tuple[str, ...] = ()
    """What is still to do then, in sentences."""
    functions: str = ""
    """The functions that its calls name: what an execution of it runs, whichever pghaul goes on with it."""
    settings: tuple[tuple[str, str], ...] = ()
    """Variables that the functions of the copy read, name and value."""
    verify: Verify = Verify.CHANGED
    queries: Queries | None = None
    """Of the operator's own, which a dress rehearsal measures."""

    def step(self, name: str) -> Step | None:
        """The step of that name."""
        return next((step for step in self.steps if step.name == name), None)

    @property
    def first_copying(self) -> int:
        """The number of the first step that copies in the stop: from it on all that is not on new comes there; or 0."""
        return next((step.number for step in self.steps if step.phase in {Phase.FINAL, Phase.COPY}), 0)

    @property
    def method(self) -> str:
        """Of the estimate's methods the one that it follows."""
        return "warm-copy" if any(step.warm_pass for step in self.steps) else "cold-copy"


def functions_of(steps: Iterable[Step], settings: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text of all functions of the remote half that these steps call, with those that settings name."""
    names = [name for step in steps for text in (step.call, step.listing, step.mending) for name in named_in(text)]
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


def undone(user: str, side: str, *native: Shell | str) -> str:
    """The sentence of an undo by these commands."""
    return f"To undo, {run_by_hand(user, side, *native)}"


def run_by_hand(user: str, side: str, *native: Shell | str) -> str:
    """What a person is to run, within a sentence: where, as whom, which commands."""
    commands = code(chained(map(str, native)))
    return f"run on the {'old' if side == 'old' else 'new'} server as {user}: {commands}"


def chained(native: Iterable[str]) -> str:
    """Commands as a person types them in one go: what fails ends them, for the next builds on it."""
    return " && ".join(native)
