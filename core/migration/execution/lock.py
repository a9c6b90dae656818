"""The lock on both servers: a move's cluster is in one hand at a time, and whoever comes second reads whose.

It is a symbolic link that leads nowhere and whose target is the text: made in one step or not at all, on any file
system. It lies in /var/tmp, so that it outlives a restart of the host; it is the database user's.
"""

from collections.abc import Callable
from hashlib import sha256

from core.errors import BlockedError
from core.jobs import Job
from core.migration.model import Execution
from core.servers.connection import Server
from core.servers.shell import Shell, command, script


def path(folder: str) -> str:
    """Where the lock of a data directory lies."""
    return f"/var/tmp/pghaul-lock-{sha256(folder.encode()).hexdigest()[:12]}"  # noqa: S108  ln makes it or fails


def text(execution: Execution) -> str:
    """What the lock says: a token for programs, the rest for people."""
    who = "".join(sign if sign.isprintable() and sign != "/" else "_" for sign in execution.owner)
    return f"{execution.token} {who} since {execution.started_at:%Y-%m-%d %H:%M} UTC"


def take(server: Server, folder: str, execution: Execution, job: Job) -> None:
    """Lock a data directory for an execution; its own lock, of a workstation that died, is good as it is.

    Raises:
        BlockedError: another execution has it; whose and since when.
    """
    taking = script(
        "ln -sn -- @text@ @lock@ 2>/dev/null || { found=$(readlink -- @lock@) && printf '%s' \"$found\"; }",
        text=text(execution),
        lock=path(folder),
    )
    user = server.profile.database_user
    found = server.run(taking, job, user=user, title="lock the cluster against other workstations").stdout.strip()
    token, _, whose = found.partition(" ")
    if found and token != execution.token:
        remove = command("rm", "-f", "--", path(folder))
        raise BlockedError(
            f"{folder} on {server.name} is being moved by {whose or found}",
            f"wait for it or ask there; if that workstation is gone for good, run on {server.name} as {user}: {remove}",
        )


def release(server: Server, folder: str, execution: Execution, job: Job) -> None:
    """Take the lock away, if it is this execution's."""
    server.run(_releasing(folder, execution), job, user=server.profile.database_user, title="unlock the cluster")


def _releasing(folder: str, execution: Execution) -> Shell:
    return script(
        'case $(readlink -- @lock@) in @token@" "*) rm -f -- @lock@;; esac', lock=path(folder), token=execution.token
    )


Connect = Callable[[str], Server]
"""From `old` or `new` to the connected server, connecting it anew where need be."""
