"""A plan: its steps, and a step before it has its number. SI base units."""

from dataclasses import dataclass
from datetime import datetime

from core.servers.shell import Shell

ROOT_USER = "root"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan. `side` is `old`, `new` or `you` (a person does it); `command` is the exact text to run."""

    number: int
    title: str
    side: str
    server: str
    user: str
    command: str
    reason: str
    expected_seconds: float | None
    undo: str
    point_of_no_return: bool = False
    """The first step that cannot be undone without losing what clients wrote since."""
    stopped: bool = False
    """The cluster is stopped while this step runs: it counts as downtime."""
    input_from: int | None = None
    """Number of the step whose output this one reads on standard input: a public key, a host key, a sum."""
    skippable: bool = True
    """False: it proves something, or without it the copy is not whole. It may be repeated, never left out."""
    name: str = ""
    """What programs know it by, the same in every plan; empty where none asks for it."""
    warm_pass: int = 0
    """Which warm pass it belongs to; the last one of a plan may be repeated. 0: none."""
    detached: bool = False
    """It takes long: it is run so that it goes on without the workstation, and its output is followed."""
    renewed: bool = False
    """A resumed execution runs it again while a step that closes is still to come: a proof, or the way of the copy."""
    closes: bool = False
    """It takes away what the copy needed on a server: run as well when an execution ends before it got there."""
    beside: bool = False
    """It may run at the same time as the step before it."""
    agrees_with: int | None = None
    """Number of the step whose output its own must equal: what is on old and on new, what was and is."""
    rehearsed: bool = False
    """It belongs to a rehearsal too, which stops and starts nothing."""
    private: bool = False
    """Its output may hold secrets: it is handed to the step that reads it and kept nowhere."""
    bytes: int | None = None
    """What it copies or reads, for its progress; None where that is not known."""
    listing: str = ""
    """Prints the lists that its output sums up, packed by gzip and base64: where it does not agree, they name why."""
    table: str = ""
    """What a person needs to see for it, lines of text."""
    proves: bool = False
    """It only looks, and where it fails something does not hold; no command went wrong."""


@dataclass(frozen=True, slots=True)
class Login:
    """How a plan's script reaches a server: `ssh` is the exact text of the ssh command, up to the destination."""

    side: str
    server: str
    ssh: str
    user: str | None
    rights: str
    """As `Rights` has them: how the login user becomes another."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The ordered steps of a move."""

    move: str
    transport: str
    why: str
    """Which figures chose the transport."""
    steps: tuple[Step, ...]
    made_at: datetime
    warnings: tuple[str, ...] = ()
    logins: tuple[Login, ...] = ()
    cluster: str = ""
    """The name that a person types before old is stopped: the service manager's, else the data directory."""
    data_directory: str = ""
    target: str = ""
    """The data directories on old and on new."""
    way_back: tuple[Step, ...] = ()
    """The steps that make old what it was, from wherever the plan has got to before its point of no return."""
    later: tuple[Step, ...] = ()
    """What is no part of the plan, but worth doing when it suits."""
    remains: tuple[str, ...] = ()
    """What lies on the servers when all is done, in sentences."""
    advice: tuple[str, ...] = ()
    """What is still to do then, in sentences."""

    @property
    def method(self) -> str:
        """Of the estimate's methods the one that it follows."""
        return "warm-copy" if any(step.warm_pass for step in self.steps) else "cold-copy"


@dataclass(frozen=True, slots=True)
class Draft:
    """A step before it is numbered. `side` is `old`, `new` or `you`.

    Attributes:
        stage: the stage of the estimate whose time it takes a part of, by its weight among that stage's drafts; empty:
            the stage of the draft before it. What a person does takes no time that anything could tell.
        name: what other drafts and programs call it by; `reads`: the name of the draft whose output it reads; `agrees`:
            of the one whose output its own must equal.

    The other attributes are as Step has them.
    """

    title: str
    side: str
    user: str
    command: Shell | str
    reason: str
    undo: str = ""
    stage: str = ""
    weight: float = 1.0
    name: str = ""
    reads: str = ""
    stopped: bool = False
    point_of_no_return: bool = False
    skippable: bool = True
    warm_pass: int = 0
    detached: bool = False
    renewed: bool = False
    closes: bool = False
    beside: bool = False
    agrees: str = ""
    rehearsed: bool = False
    private: bool = False
    bytes: int | None = None
    listing: Shell | str = ""
    table: str = ""
    proves: bool = False


def undone(user: str, side: str, command: Shell) -> str:
    """The words of an undo: where, as whom, what."""
    return f"on {side} as {user}: {command}"
