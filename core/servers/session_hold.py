"""The look at what the end of pghaul's own session would do to a running server, before anything else runs in it.

systemd-logind removes the shared memory of an ordinary account when its last session ends. Where a server of the login
user runs, the session is held open by a small process on the server, which lives on when pghaul and the workstation are
gone, and ends when nothing can be harmed any more. What runs there stands in `resources/sh/session.sh`.
"""

import time
from typing import Protocol

from core.errors import AuthenticationError, CommandError
from core.jobs import Job, Note
from core.servers.profiles import Profile, Rights
from core.servers.running import Completed
from core.servers.shell import Shell, call, for_hint, with_program

_LOOK = 5.0
"""Seconds between two looks whether the operator has set what keeps the server from harm."""


class Connected(Protocol):
    """What a look needs of a connected server."""

    login: str
    profile: Profile

    @property
    def name(self) -> str: ...

    def run(self, shell: Shell, job: Job, *, title: str = "") -> Completed: ...


def hold_session(server: Connected, job: Job) -> None:
    """See that the end of this session harms no server; where systemd leaves no way to hold it, wait for the operator.

    Raises:
        UnreachableError: the connection was lost.
        Cancelled: the job was cancelled.
    """
    told = ""
    while (told := _look(server, job, told)) == "killed":
        until = time.monotonic() + _LOOK
        while time.monotonic() < until:
            job.check()
            time.sleep(0.1)


def _look(server: Connected, job: Job, before: str) -> str:
    """How the session stands; the operator is told where that is not as before."""
    profile = server.profile
    expected = profile.rights is Rights.NONE or profile.database_user == server.login
    shell = with_program(["keep_session"], call("hold_session", "yes" if expected else "no"))
    try:
        title = "Check whether the end of this session would harm a PostgreSQL server"
        said = server.run(shell, job, title=title).stdout
    except (AuthenticationError, CommandError):
        return ""  # who runs no command has an error for the first one that is wanted
    state, _, account = said.strip().partition(" ")
    if state == before or state not in ("held", "killed"):
        return state
    name, linger = server.name, for_hint("loginctl", "enable-linger", account)
    job.report(
        Note(
            f"{name}: a PostgreSQL server runs as {account}, an ordinary account. When the last session of {account} "
            "ends, systemd-logind removes the shared memory of that server, and no client can connect to it any more. "
            + _kept(state)
            + f" Run `{linger}` as root on {name}, or set RemoveIPC=no in /etc/systemd/logind.conf and run `systemctl "
            "restart systemd-logind`. Do not undo it while the server runs",
            "warning",
        )
    )
    return state


def _kept(state: str) -> str:
    if state == "held":
        return "The process pghaul-session keeps the session of pghaul open on the server, also after pghaul has ended."
    return (
        "It also ends every process of a session (KillUserProcesses), so the session cannot be kept open. "
        "pghaul waits. Do not end pghaul, and do not interrupt the network, before you have done this:"
    )
