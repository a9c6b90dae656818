"""A connected server: runs commands as the login user or another, with deadline, cancel and heartbeat.

`connect` takes ~/.ssh/config, keys, agent, certificates, passwords, jump hosts and known_hosts into account as ssh
does. A Server may be used by several threads at once; each command has a channel of its own, at most CHANNELS at a
time, since sshd allows ten (MaxSessions) and one must stay free to end what another runs.
"""

import threading
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol

import paramiko

from core.errors import AuthenticationError, CommandError, UnreachableError
from core.jobs import Job, Note
from core.servers import rights
from core.servers.profiles import Asker, Profile, Rights
from core.servers.remote_process import Process
from core.servers.running import CommandRequest, Completed, Launcher, Running
from core.servers.shell import Shell, call, for_hint, with_program
from core.servers.ssh_config import Destination, destination
from core.servers.ssh_connector import SshConnector
from core.system_errors import reason

# Notice a peer that no longer answers: a pulled cable, a frozen host. A keepalive alone does not see it.
#
# Two threads a connection: one sends a request every few seconds and waits for its answer, the other looks whether that
# answer is overdue and then closes the transport, at which every channel ends and every waiting call returns.

INTERVAL = 5.0
PATIENCE = 10.0
"""Seconds without an answer after which the peer counts as gone: noticed at most INTERVAL + PATIENCE after it froze."""

_HEARTBEAT_LOOK = 0.5


class Heartbeat:
    """The heartbeat of one transport; `frozen` says that it found the peer silent."""

    def __init__(self, transport: paramiko.Transport, name: str) -> None:
        self.frozen = False
        self._interval, self._patience = INTERVAL, PATIENCE
        self._transport = transport
        self._asked: float | None = None
        self._stop = threading.Event()
        for work in (self._beat, self._watch):
            threading.Thread(target=work, name=f"heartbeat of {name}", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def _beat(self) -> None:
        while not self._stop.wait(self._interval) and self._transport.is_active():
            # A keepalive that is only sent fails no sooner than TCP gives up, many minutes after the peer froze. So an
            # answer is awaited, and another thread measures how long that takes.
            self._asked = time.monotonic()
            try:
                self._transport.global_request("keepalive@openssh.com", wait=True)
            except (paramiko.SSHException, EOFError, OSError):
                return  # the transport has ended; whoever uses it learns that from it
            self._asked = None

    def _watch(self) -> None:
        while not self._stop.wait(_HEARTBEAT_LOOK) and self._transport.is_active():
            asked = self._asked
            if asked is not None and time.monotonic() - asked > self._patience:
                self.frozen = True
                self._transport.close()
                return


# The look at what the end of pghaul's own session would do to a running server, before anything else runs in it.
#
# systemd-logind removes the shared memory of an ordinary account when its last session ends. Where a server of the
# login user runs, the session is held open by a small process on the server, which lives on when pghaul and the
# workstation are gone, and ends when nothing can be harmed any more. What runs there stands in
# `resources/sh/session.sh`.

_HOLD_LOOK = 5.0
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
        until = time.monotonic() + _HOLD_LOOK
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


__all__ = ["Completed", "Server", "connect"]


def connect(profile: Profile, asker: Asker, job: Job, *, deadline: float = 20.0) -> "Server":
    """Connect and log in. `deadline` is in seconds, for each wait for the network; people may take longer.

    Where the end of this session would harm a running server, the session is held open (session_hold).

    Raises:
        InputError: the profile or ~/.ssh/config makes no sense.
        UnreachableError, AuthenticationError, HostKeyError: as they say.
        Cancelled: the job was cancelled.
    """
    job.check()
    to = destination(profile)
    connector = SshConnector(profile, asker, job, deadline)
    try:
        transport = connector.connect(to)
    except BaseException:  # a cancel too: jump hosts that nobody has are closed by nobody
        connector.close()
        raise
    job.report(Note(f"connected to {profile.name} ({to.shown})"))
    server = Server(profile, to, transport, asker, connector.close)
    try:
        hold_session(server, job)
    except BaseException:
        server.close()
        raise
    return server


class Server:
    """A connected server. A context manager; `run` may be called from several threads.

    Attributes:
        profile: the profile that it was connected with.
        login: the user who is logged in.
        address: the address that ssh resolved.
    """

    def __init__(
        self,
        profile: Profile,
        to: Destination,
        transport: paramiko.Transport,
        asker: Asker,
        disconnect: Callable[[], None],
    ) -> None:
        self.profile = profile
        self.login = to.user
        self.address = to.host
        self._transport = transport
        self._disconnect = disconnect
        self._heartbeat = Heartbeat(transport, profile.name)
        self._ended_by = ""
        self._launcher = Launcher(transport, profile, to.user, asker, self.lost)

    @property
    def name(self) -> str:
        return self.profile.name

    @property
    def connected(self) -> bool:
        """Whether the connection still stands, as far as is known."""
        return bool(self._transport.is_active())

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Server({self.name!r})"

    def close(self) -> None:
        """End the connection; what still runs without an input of its own ends with it."""
        self._heartbeat.stop()
        self._disconnect()

    def become(self, user: str | None, shell: Shell) -> Shell:
        """The command as a person writes it to run it as `user`; raises AuthenticationError where rights lack."""
        return rights.shell_as_user(self.profile, self.login, user, shell)

    def can_become(self, user: str, job: Job) -> bool:
        """Whether `run(user=…)` works; asks for the sudo password if that is what it takes."""
        try:
            self.run(Shell(":", ":"), job, user=user, title=f"Test whether commands can run as {user}")
        except (AuthenticationError, CommandError):
            return False
        return True

    def run(
        self,
        shell: Shell,
        job: Job,
        *,
        user: str | None = None,
        stdin: bytes = b"",
        deadline: float = 60.0,
        accept: Collection[int] = (0,),
        on_stdout: Callable[[bytes], None] | None = None,
        title: str = "",
        beats: bool = False,
    ) -> Completed:
        """Run a command and wait for its end.

        Args:
            user: who runs it, by way of the profile's rights; None: the login user.
            stdin: the command's input; without one the command ends by itself when the connection is lost.
            deadline: seconds after which its whole process group is ended, here and by the server itself.
            accept: the exit statuses that are no error.
            on_stdout: gets its output as it comes, on this thread.
            title: what it is for, in a few words for people: `drop caches`.
            beats: its input stays open, and gets a line every few seconds: it can tell that nobody follows any more.

        Raises:
            AuthenticationError: the rights to become `user` are missing.
            CommandError: an exit status that is not accepted, the deadline, or more than 64 MiB of output.
            UnreachableError: the connection was lost.
            Cancelled: the job was cancelled; the process group has been ended.
        """
        job.check()
        running = Running(
            self._launcher, shell, job, user=user, deadline=deadline, on_stdout=on_stdout, title=title, beats=beats
        )
        return running.completed(stdin, accept)

    def bridge(self, shell: Shell, job: Job, *, user: str | None = None) -> AbstractContextManager[Process]:
        """A command that has begun and whose input stays open, for a caller who moves its bytes; closed on leaving."""
        return self._launcher.process(CommandRequest(shell, user, open_input=True), job)

    def lost(self, doing: str, error: Exception | None = None) -> UnreachableError:
        """The error for a connection that ended, or stopped answering, while `doing`; `error` is what told."""
        if self._heartbeat.frozen:
            return UnreachableError(
                f"{self.name} stopped answering while {doing}", "check the network and the server, then connect again"
            )
        cause = self._transport.saved_exception or error or ""
        ended_by = self._ended_by or (reason(cause) if isinstance(cause, OSError) else str(cause))
        if not self.connected:  # paramiko raises the cause once; later it only says that the session is not active
            self._ended_by = ended_by
        if not ended_by:
            return UnreachableError(f"the connection to {self.name} was lost while {doing}", "connect again")
        return UnreachableError(f"the connection to {self.name} was lost while {doing}: {ended_by}", "connect again")
