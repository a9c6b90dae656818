"""The lock on both servers: a move's cluster is in one hand at a time, and whoever comes second reads whose.

It is a symbolic link that leads nowhere and whose target is the text: made in one step or not at all, on any file
system. It lies in /var/tmp, so that it outlives a restart of the host; it is the database user's. Its name ends at
random, so that nobody else can have made it before.
"""

from dataclasses import dataclass

from core.errors import BlockedError
from core.facts.parsing import unreadable_error
from core.jobs import Job
from core.migration.model.execution import LOCK_FOLDER, LOCK_NAME, Execution, lock_path
from core.servers.connection import Server
from core.servers.shell import call, command
from core.sides import Side
from core.text import lines_of

_HELD = 75
"""What `take_lock` ends with where another has the lock."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a lock: where it lies, the execution's token, and `user@workstation since when` for people."""

    path: str
    token: str
    whose: str


class HeldError(BlockedError):
    """Another execution has the lock."""

    def __init__(self, message: str, hint: str, holder: Holder) -> None:
        super().__init__(message, hint)
        self.holder = holder


def text(execution: Execution) -> str:
    """What the lock says: a token for programs, the rest for people."""
    return f"{execution.token} {_whose(execution)}"


def _whose(execution: Execution) -> str:
    who = "".join(sign if sign.isprintable() and sign != "/" else "_" for sign in execution.owner)
    return f"{who} since {execution.started_at:%Y-%m-%d %H:%M} UTC"


def take(server: Server, side: Side, folder: str, execution: Execution, job: Job) -> None:
    """Lock a data directory for an execution; its own lock, of a workstation that died, is good as it is.

    It is made as the plan's owner of the cluster, whatever user a workstation's profile names: each sees its own alone.

    Raises:
        HeldError: another execution has it; whose and since when.
    """
    # The token makes the lock recognisable as its own. A process that goes on after a crash finds its lock there and
    # keeps it.
    taking = call("take_lock", lock_path(folder), text(execution))
    user, title = _owner(server, execution, side), "Lock the cluster against other workstations"
    taken = server.run(taking, job, user=user, accept=(0, _HELD), title=title)
    if taken.exit_status == _HELD:
        holder = _holder(*taken.stdout.strip().partition(" ")[::2])
        remove = take_over(server, holder, user)
        hint = f"Wait for it, or ask there. {remove}"
        if holder.whose == _whose(execution):  # taking an execution over may give it another token
            hint = (
                "If you have taken this execution over, this can be its own earlier lock, which was not removed. "
                f"Otherwise wait for it, or ask there. {remove}"
            )
        raise HeldError(f"{folder} on {server.name} is being moved by {holder.whose}.", hint, holder)


def take_over(server: Server, holder: Holder, user: str = "") -> str:
    """How a lock is taken over whose workstation will not come back, in words; `user`: whose it is."""
    remove = command("rm", "-f", "--", holder.path)
    return (
        "If that workstation is gone for good, make sure that no rsync of its copy runs. Then run on "
        f"{server.name} as {user or server.profile.database_user}: {remove}"
    )


def release(server: Server, side: Side, folder: str, execution: Execution, job: Job) -> None:
    """Take the lock away, if it is this execution's."""
    releasing = call("release_lock", lock_path(folder), execution.token)
    server.run(releasing, job, user=_owner(server, execution, side), title="Unlock the cluster")


def _owner(server: Server, execution: Execution, side: Side) -> str:
    owners = (each.database_user for each in execution.plan.logins if each.side is side)
    return next(owners, server.profile.database_user)


def holders(server: Server, job: Job) -> tuple[Holder, ...]:
    """Who has a lock on the server, of whatever data directory.

    Raises:
        ParseError: the list of the locks did not come whole.
    """
    listing = call("list_locks", LOCK_FOLDER, LOCK_NAME)
    return parse_locks(server.run(listing, job, title="Check whether a move is under way").stdout)


def parse_locks(text: str) -> tuple[Holder, ...]:
    """A line a lock, its path and what it says, then their number.

    Raises:
        ParseError: there are more or fewer than that.
    """
    locks = [line for line in lines_of(text) if line.startswith(f"{LOCK_FOLDER}/{LOCK_NAME}")]
    if not text.endswith(f"# {len(locks)} locks\n"):
        raise unreadable_error("the list of the locks", f"{len(locks)} locks and their number", text)
    return tuple(_holder(*line.partition(" ")[::2]) for line in locks)


def _holder(path: str, text: str) -> Holder:
    token, _, whose = text.partition(" ")
    return Holder(path, token, whose or text)
