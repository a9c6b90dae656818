"""A connected server: runs commands as the login user or another, with deadline, cancel and heartbeat.

`connect` takes ~/.ssh/config, keys, agent, certificates, passwords, jump hosts and known_hosts into account as ssh
does. A Server may be used by several threads at once; each command has a channel of its own, at most CHANNELS at a
time, since sshd allows ten (MaxSessions) and one must stay free to end what another runs.
"""

import secrets as random_words
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

import paramiko

from core.errors import AuthenticationError, CommandError, PghaulError, ServerError, UnreachableError
from core.jobs import CommandEnded, CommandStarted, Job, Note
from core.servers import remote_process, rights
from core.servers.heartbeat import Heartbeat
from core.servers.kept import LIMIT, Kept
from core.servers.profiles import Asker, Profile
from core.servers.remote_process import GRACE, Process
from core.servers.secrets import Key, session
from core.servers.shell import Shell
from core.servers.ssh_config import Destination, destination
from core.servers.transports import Reach

CHANNELS = 6
_OPEN_TIMEOUT = 15.0
_PASSWORD_TRIES = 3
_LINGER = 2.0
"""Seconds of silence after a command's end in which an output still held open (by a daemon it started) is awaited."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ended. `command` is as shown, secrets masked; outputs are text, U+FFFD for what is no UTF-8.

    Of an output that was handed to `on_stdout` no more than 64 MiB are kept here.
    """

    command: str
    exit_status: int
    stdout: str
    stderr: str
    seconds: float


def connect(profile: Profile, asker: Asker, job: Job, *, deadline: float = 20.0) -> "Server":
    """Connect and log in. `deadline` is in seconds, for each wait for the network; people may take longer.

    Raises:
        InputError: the profile or ~/.ssh/config makes no sense.
        UnreachableError, AuthenticationError, HostKeyError: as they say.
        Cancelled: the job was cancelled.
    """
    job.check()
    to = destination(profile)
    reach = Reach(profile, asker, job, deadline)
    try:
        transport = reach.to(to)
    except BaseException:
        reach.close()
        raise
    job.report(Note(f"connected to {profile.name} ({to.shown})"))
    return Server(profile, to, transport, asker, reach.close)


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
        self._asker = asker
        self._disconnect = disconnect
        self._heartbeat = Heartbeat(transport, profile.name)
        self._channels = threading.BoundedSemaphore(CHANNELS)
        self._password = Key(profile.name, "sudo", to.user)

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
        return rights.become(self.profile, self.login, user, shell)

    def can_become(self, user: str, job: Job) -> bool:
        """Whether `run(user=…)` works; asks for the sudo password if that is what it takes."""
        try:
            self.run(Shell(":", ":"), job, user=user)
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
    ) -> Completed:
        """Run a command and wait for its end.

        Args:
            user: who runs it, by way of the profile's rights; None: the login user.
            stdin: the command's input; without one the command ends by itself when the connection is lost.
            deadline: seconds after which its whole process group is ended, here and by the server itself.
            accept: the exit statuses that are no error.
            on_stdout: gets its output as it comes, on this thread.

        Raises:
            AuthenticationError: the rights to become `user` are missing.
            CommandError: an exit status that is not accepted, the deadline, or more than 64 MiB of output.
            UnreachableError: the connection was lost.
            Cancelled: the job was cancelled; the process group has been ended.
        """
        job.check()
        shown = self.become(user, shell).shown
        job.report(CommandStarted(self.name, user or self.login, shown))
        start = time.monotonic()
        status: int | None = None
        try:
            kept = Kept()
            with self.process(shell, job, user=user, stdin=stdin, deadline=deadline) as process:
                self._drain(process, kept, on_stdout, job, start + deadline, shown, user)
                status = process.exit_status
                errors = process.stderr.text()
        finally:
            job.report(CommandEnded(self.name, shown, status, time.monotonic() - start))
        if status is None:
            raise CommandError(
                f"{self.name}: `{shown}` was ended by a signal", command=shown, exit_status=None, stderr=errors
            )
        completed = Completed(shown, status, kept.text(), errors, time.monotonic() - start)
        if status not in accept:
            raise _failed(self.name, completed)
        return completed

    @contextmanager
    def process(
        self,
        shell: Shell,
        job: Job,
        *,
        user: str | None = None,
        stdin: bytes = b"",
        deadline: float = 60.0,
        open_input: bool = False,
    ) -> Iterator[Process]:
        """A command that has begun, for those in this package who move its bytes themselves; closed on leaving.

        `open_input` leaves the command's input open for the caller to write to.
        """
        with self._slot(job):
            process = self._begun(shell, job, user, stdin, deadline, open_input=open_input)
            try:
                yield process
            finally:
                process.close()

    def tunnel(self, host: str, port: int) -> paramiko.Channel:
        """A TCP connection from the server to `host`; raises ServerError when it or sshd refuses."""
        try:
            return self._transport.open_channel("direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=_OPEN_TIMEOUT)
        except paramiko.ChannelException as error:
            raise ServerError(
                f"{self.name}: no connection to {host} port {port} from the server: {error.text}",
                "check that the service listens there, and AllowTcpForwarding in sshd_config",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise self.lost("opening a tunnel") from error

    def lost(self, doing: str) -> UnreachableError:
        """The error for a connection that ended, or stopped answering, while `doing`."""
        if self._heartbeat.frozen:
            return UnreachableError(
                f"{self.name} stopped answering while {doing}", "check the network and the server, then connect again"
            )
        return UnreachableError(f"the connection to {self.name} was lost while {doing}", "connect again")

    @contextmanager
    def _slot(self, job: Job) -> Iterator[None]:
        while not self._channels.acquire(timeout=0.1):
            job.check()
        try:
            yield
        finally:
            self._channels.release()

    def _begun(
        self, shell: Shell, job: Job, user: str | None, stdin: bytes, deadline: float, *, open_input: bool
    ) -> Process:
        """Start a command and wait until it has begun, asking for the sudo password as often as it may be wrong."""
        lifeline = 0.0 if stdin or open_input else deadline + GRACE
        for _ in range(_PASSWORD_TRIES):
            prompt = f"[pghaul-{random_words.token_hex(8)}]"
            way = rights.way(self.profile, self.login, user, prompt=prompt)
            password = self._sudo_password(user) if way.asks else None
            process = self._started(way, shell, stdin, lifeline, prompt, password, open_input=open_input)
            try:
                started = remote_process.wait_for_start(process, time.monotonic() + deadline, job.check)
            except BaseException:
                process.close()
                raise
            if started:
                return process
            process.close()
            if not process.refused_password or password is None:
                raise self._not_begun(process, user, deadline)
            session.forget(self._password, password)
        raise AuthenticationError(
            f"{self.name}: sudo did not accept the password of {self.login}", "give the password of the login user"
        )

    def _started(
        self,
        way: rights.Way,
        shell: Shell,
        stdin: bytes,
        lifeline: float,
        prompt: str,
        password: str | None,
        *,
        open_input: bool,
    ) -> Process:
        mark = f"pghaul-{random_words.token_hex(8)}"
        line, first = remote_process.line(way.words, shell, mark, lifeline=lifeline)
        return Process(
            self._channel(),
            line,
            mark,
            outgoing=first + stdin,
            end_input=not lifeline and not open_input,
            prompt=prompt if way.asks else "",
            password=password,
        )

    def _channel(self) -> paramiko.Channel:
        try:
            return self._transport.open_session(timeout=_OPEN_TIMEOUT)
        except paramiko.ChannelException as error:
            raise ServerError(
                f"{self.name} refuses a further session on this connection: {error.text}",
                "raise MaxSessions in its sshd_config (10 is usual), or end other work on this server",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise self.lost("starting a command") from error

    def _sudo_password(self, user: str | None) -> str:
        password = session.get(self._password, f"sudo password of {self.login} on {self.name}", self._asker)
        if password is None:
            raise AuthenticationError(
                f"{self.name}: becoming {user} needs the sudo password of {self.login}, and none was given",
                "give the password, or allow sudo without one (NOPASSWD)",
            )
        return password

    def _not_begun(self, process: Process, user: str | None, deadline: float) -> PghaulError:
        errors = process.stderr.text()
        if not process.ended:
            return CommandError(
                f"{self.name}: the login shell or sudo did not start the command within {deadline:.0f} s", stderr=errors
            )
        if not self.connected:
            return self.lost("starting a command")
        if user is not None and user != self.login:
            return rights.refusal(self.profile, self.login, user, process.exit_status, errors)
        said = rights.first_line(errors) or process.chatter or f"exit status {process.exit_status}"
        return AuthenticationError(
            f"{self.name}: the login shell of {self.login} runs no commands: {said}",
            "give the user a shell such as /bin/sh, without a forced command",
        )

    def _drain(
        self,
        process: Process,
        kept: Kept,
        on_stdout: Callable[[bytes], None] | None,
        job: Job,
        until: float,
        shown: str,
        user: str | None,
    ) -> None:
        """Take in both outputs until the command has ended; end its whole group when it must not go on."""

        def received(data: bytes) -> None:
            kept.add(data)
            if on_stdout is not None:
                on_stdout(data)

        process.deliver(received)
        silent_since = time.monotonic()
        try:
            while not process.ended:
                if process.turn():
                    silent_since = time.monotonic()
                job.check()
                if process.exit_status is not None and time.monotonic() - silent_since > _LINGER:
                    return
                self._check_bounds(kept, on_stdout, until, shown, process)
        except BaseException:
            self._end(process, user, job)
            raise
        if process.exit_status is None and not self.connected:
            raise self.lost(f"running `{shown}`")

    def _check_bounds(
        self, kept: Kept, on_stdout: Callable[[bytes], None] | None, until: float, shown: str, process: Process
    ) -> None:
        if time.monotonic() > until:
            raise CommandError(
                f"{self.name}: `{shown}` did not end in time and was stopped",
                "the server may be overloaded, or the work larger than expected",
                command=shown,
                stderr=process.stderr.text(),
            )
        if kept.dropped and on_stdout is None:
            raise CommandError(
                f"{self.name}: `{shown}` wrote more than {LIMIT >> 20} MiB and was stopped",
                command=shown,
                stderr=process.stderr.text(),
            )

    def _end(self, process: Process, user: str | None, job: Job) -> None:
        """End the process group, with the right that it runs with, over a channel of its own."""
        if process.group is None or not self.connected:
            return
        quiet = Job()  # the job itself may be cancelled already, and must not stop this
        try:
            killer = self._begun(
                remote_process.kill_script(process.group), quiet, user, b"", GRACE * 3.0, open_input=False
            )
            try:
                until = time.monotonic() + GRACE * 3.0
                while not killer.ended and time.monotonic() < until:
                    killer.turn()
                    process.turn()
                if killer.exit_status == 0:
                    return
            finally:
                killer.close()
        except PghaulError as error:
            job.report(
                Note(f"{self.name}: process group {process.group} could not be ended: {error.message}", "warning")
            )
            return
        job.report(Note(f"{self.name}: process group {process.group} may still run", "warning"))


def _failed(server: str, completed: Completed) -> CommandError:
    said = rights.first_line(completed.stderr) or rights.first_line(completed.stdout)
    hint = ""
    if completed.exit_status == 127:
        hint = f"install the program on {server}, or check the PATH of the user"
    elif completed.exit_status == 126:
        hint = "the program is there but may not be executed by this user"
    return CommandError(
        f"{server}: `{completed.command}` failed with exit status {completed.exit_status}"
        + (f": {said}" if said else ""),
        hint,
        command=completed.command,
        exit_status=completed.exit_status,
        stderr=completed.stderr,
    )
