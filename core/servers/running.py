"""One command from start to end: begun within the limits of sshd, both outputs drained together, its group ended."""

import secrets as random_words
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import paramiko

from core.errors import AuthenticationError, CommandError, PghaulError, ServerError, UnreachableError
from core.jobs import CommandEnded, CommandStarted, Job, Note
from core.redaction import without_secrets
from core.servers import remote_process, rights
from core.servers.profiles import Asker, Profile
from core.servers.remote_process import GRACE, LIMIT, BoundedOutput, Process, close_channel
from core.servers.secrets import Key, session_secrets
from core.servers.shell import Shell
from core.text import complaint, first_line

# Starts commands on a connection within the limits of sshd, gives sudo its password, and ends process groups.

CHANNELS = 6
"""Commands at a time on one connection: sshd allows ten (MaxSessions), and some must stay free to end the others."""

OPEN_TIMEOUT = 15.0
_PASSWORD_TRIES = 3
_ENDS_WITHIN = 0.5
"""Seconds that a transport takes to be no longer active after its channels were told that it ended."""


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A command that a server is to start.

    Attributes:
        user: who runs it; None: the login user.
        stdin: its input.
        deadline: seconds that it may take.
        open_input: its input stays open, and the caller writes to it.
    """

    shell: Shell
    user: str | None = None
    stdin: bytes = b""
    deadline: float = 60.0
    open_input: bool = False

    @property
    def lifeline_seconds(self) -> float:
        """Seconds after which the server itself ends the command; 0 if the command has an input of its own."""
        return 0.0 if self.stdin or self.open_input else self.deadline + GRACE


class Launcher:
    """Starts commands on one connection. Several threads may use it at the same time.

    Attributes:
        lost: makes the error for a connection that was lost, from what was being done and the cause.
    """

    def __init__(
        self,
        transport: paramiko.Transport,
        profile: Profile,
        login: str,
        asker: Asker,
        lost: Callable[[str, Exception | None], UnreachableError],
    ) -> None:
        self.profile = profile
        self.login = login
        self.name = profile.name
        self.lost = lost
        self._transport = transport
        self._asker = asker
        self._channels = threading.BoundedSemaphore(CHANNELS)
        self._password = Key(profile.name, "sudo", login)
        self._refused_in: weakref.ref[Job] | None = None

    @property
    def connected(self) -> bool:
        return bool(self._transport.is_active())

    @contextmanager
    def process(self, request: CommandRequest, job: Job) -> Iterator[Process]:
        """Start a command; its channel is closed when the block is left."""
        with self._slot(job):
            process = self._start_command(request, job)
            try:
                yield process
            finally:
                process.close()

    def end(self, process: Process, user: str | None, job: Job) -> None:
        """End the process group as the user that runs it, over a channel of its own."""
        if process.group is None or not self.connected:
            return
        process.deliver(lambda _: None)  # nobody wants more, but it must not block the command's end
        try:
            ended = self._kill(process, user)
            problem = "" if ended else "it may still be running"
        except PghaulError as error:
            problem = error.message
        if problem:
            job.report(Note(f"{self.name}: process group {process.group} could not be ended: {problem}", "warning"))

    def _abandon(self, process: Process, user: str | None, job: Job) -> None:
        """Close a command whose start was given up, and end its process group if it may still start."""
        try:
            if process.wait_unfed(time.monotonic() + GRACE):
                self.end(process, user, job)
        finally:
            process.close()

    def _kill(self, process: Process, user: str | None) -> bool:
        request = CommandRequest(
            remote_process.kill_script(process.group or 0, process.since), user, deadline=GRACE * 3.0
        )
        killer = self._start_command(request, Job())  # a job of its own: the command's may be cancelled already
        try:
            until = time.monotonic() + request.deadline
            while not killer.ended and time.monotonic() < until:
                killer.turn()
                process.turn()
            return killer.exit_status == 0
        finally:
            killer.close()

    @contextmanager
    def _slot(self, job: Job) -> Iterator[None]:
        while not self._channels.acquire(timeout=0.1):
            job.check()
        try:
            yield
        finally:
            self._channels.release()

    def _start_command(self, request: CommandRequest, job: Job) -> Process:
        """Start a command and wait until it has begun, asking for the sudo password as often as it may be wrong."""
        for _ in range(_PASSWORD_TRIES):
            prompt = f"[pghaul-{random_words.token_hex(8)}]"
            prefix = rights.command_prefix(self.profile, self.login, request.user, prompt=prompt)
            if prefix.asks_password and self._refused_in is not None and self._refused_in() is job:
                raise self._refused_password_error()  # a person who failed for root is not asked again for postgres
            password = self._sudo_password(request.user) if prefix.asks_password else None
            process = self._open_process(request, prefix, prompt, password)
            try:
                if remote_process.wait_for_start(process, time.monotonic() + request.deadline, job.check):
                    if process.took_password:
                        session_secrets.accepted(self._password)
                    return process
                self._check_refused_password(process, request)
            except BaseException:  # a cancel too: what has all that it needs begins, and must not run unseen
                self._abandon(process, request.user, job)
                raise
            process.close()
            session_secrets.forget(self._password, password or "")
        self._refused_in = weakref.ref(job)
        raise self._refused_password_error()

    def _refused_password_error(self) -> AuthenticationError:
        return AuthenticationError(
            f"{self.name}: sudo did not accept the password of {self.login}", "give the password of the login user"
        )

    def _open_process(
        self, request: CommandRequest, prefix: rights.CommandPrefix, prompt: str, password: str | None
    ) -> Process:
        mark = f"pghaul-{random_words.token_hex(8)}"
        line, first = remote_process.line(prefix.words, request.shell, mark, lifeline=request.lifeline_seconds)
        channel = self._open_channel()
        try:
            return Process(
                channel,
                line,
                mark,
                first=first,
                stdin=request.stdin,
                end_input=not request.lifeline_seconds and not request.open_input,
                prompt=prompt if prefix.asks_password else "",
                password=password,
            )
        except (paramiko.SSHException, EOFError, OSError) as error:
            close_channel(channel)
            raise self._explain_failed_start(error) from error

    def _open_channel(self) -> paramiko.Channel:
        try:
            return self._transport.open_session(timeout=OPEN_TIMEOUT)
        except paramiko.ChannelException as error:
            raise ServerError(
                f"{self.name} refuses another session on this connection: {error.text}",
                "raise MaxSessions in its sshd_config (the default is 10), or end other work of pghaul on this server",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise self._explain_failed_start(error) from error

    def _explain_failed_start(self, error: Exception) -> ServerError:
        """Tell a connection that is gone from one that stands, on which sshd starts nothing."""
        self._transport.join(_ENDS_WITHIN)
        if isinstance(error, EOFError | OSError) or not self.connected:
            return self.lost("starting a command", error)
        reason = str(error) or type(error).__name__
        return ServerError(
            f"{self.name}: sshd did not start a command, although the connection is up: {reason}",
            "check the log of sshd there: a limit on processes or memory, or a PAM rule, may be the cause",
        )

    def _sudo_password(self, user: str | None) -> str:
        password = session_secrets.get(self._password, f"sudo password of {self.login} on {self.name}", self._asker)
        if password is None:
            raise AuthenticationError(
                f"{self.name}: becoming {user} needs the sudo password of {self.login}, but none was given",
                "give the password, or allow sudo without one (NOPASSWD)",
            )
        return password

    def _check_refused_password(self, process: Process, request: CommandRequest) -> None:
        """Raise why a command has not begun, unless it is for a wrong password, which may be asked for again."""
        if not process.refused_password:
            raise self._explain_missing_start(process, request)

    def _explain_missing_start(self, process: Process, request: CommandRequest) -> PghaulError:
        errors = process.stderr.text()
        if not process.ended:
            return CommandError(
                f"{self.name}: the login shell or sudo did not start the command within {request.deadline:.0f} s",
                stderr=errors,
            )
        if not self.connected:
            return self.lost("starting a command", None)
        if request.user is not None and request.user != self.login:
            return rights.explain_refusal(self.profile, self.login, request.user, process.exit_status, errors)
        said = first_line(errors) or process.chatter or f"exit status {process.exit_status}"
        return AuthenticationError(
            f"{self.name}: the login shell of {self.login} does not run commands: {said}",
            "give the user a shell such as /bin/sh, without a forced command",
        )


# One command from start to end: both outputs drained together, bounds kept, its group ended when it must stop.

_BRIEF = 120
"""Characters of a command that an error's sentence quotes: a script of pghaul's own may have many thousands."""

BEAT_SECONDS = 5.0
"""How often a command that wants beats gets one."""

_LINGER = 2.0
"""Seconds of silence after a command's end in which an output still held open (by a daemon it started) is awaited."""

Sink = Callable[[bytes], None]


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


class Running:
    """One run under way: what Server.run was asked for, and what has come so far."""

    def __init__(
        self,
        launcher: Launcher,
        shell: Shell,
        job: Job,
        *,
        user: str | None,
        deadline: float,
        on_stdout: Sink | None,
        title: str,
        beats: bool,
    ) -> None:
        self.launcher = launcher
        self.shell = shell
        self.shown = without_secrets(rights.shell_as_user(launcher.profile, launcher.login, user, shell).shown)
        self.job = job
        self.user = user
        self.deadline = deadline
        self.on_stdout = on_stdout
        self.title = title
        self.beats = beats
        self.kept = BoundedOutput()
        self.until = time.monotonic() + deadline

    def completed(self, stdin: bytes, accept: Collection[int]) -> Completed:
        """Run it; raises what Server.run says."""
        server, start, status = self.launcher.name, time.monotonic(), None
        self.job.report(CommandStarted(server, self.user or self.launcher.login, self.shown, title=self.title))
        try:
            request = CommandRequest(self.shell, self.user, stdin, self.deadline, open_input=self.beats)
            with self.launcher.process(request, self.job) as process:
                self._drain(process)
                status, stderr = process.exit_status, process.stderr.text()
        finally:
            self.job.report(CommandEnded(server, self.shown, status, time.monotonic() - start))
        if status is None:
            raise CommandError(
                f"{server}: `{_brief(self.shown)}` was ended by a signal", command=self.shown, stderr=stderr
            )
        completed = Completed(self.shown, status, self.kept.text(), stderr, time.monotonic() - start)
        if status not in accept:
            raise _failed(server, completed)
        return completed

    def _drain(self, process: Process) -> None:
        process.deliver(self._received)
        silent_since = beaten = time.monotonic()
        try:
            while not process.ended:
                if self.beats and time.monotonic() - beaten >= BEAT_SECONDS:
                    beaten = time.monotonic()
                    process.beat()
                if process.turn():
                    silent_since = time.monotonic()
                self.job.check()
                if process.exit_status is not None and time.monotonic() - silent_since > _LINGER:
                    return
                self._check_bounds(process)
        except BaseException:  # a cancel too: what runs on the server must not go on unseen
            self.launcher.end(process, self.user, self.job)
            raise
        if process.exit_status is None and not self.launcher.connected:
            raise self.launcher.lost(f"running `{_brief(self.shown)}`", None)

    def _received(self, data: bytes) -> None:
        self.kept.add(data)
        if self.on_stdout is not None:
            self.on_stdout(data)

    def _check_bounds(self, process: Process) -> None:
        if time.monotonic() > self.until:
            problem = f"did not end within {self.deadline:.0f} s and was stopped"
        elif self.kept.dropped and self.on_stdout is None:
            problem = f"wrote more than {LIMIT >> 20} MiB and was stopped"
        else:
            return
        raise CommandError(
            f"{self.launcher.name}: `{_brief(self.shown)}` {problem}",
            "the server may be overloaded, or the work larger than expected",
            command=self.shown,
            stderr=process.stderr.text(),
        )


def _failed(server: str, completed: Completed) -> CommandError:
    said = complaint(completed.stderr) or first_line(completed.stdout)
    hint = ""
    if completed.exit_status == 127:
        hint = f"install the program on {server}, or check the PATH of the user"
    elif completed.exit_status == 126:
        hint = "the program is there but this user may not execute it"
    return CommandError(
        f"{server}: `{_brief(completed.command)}` failed with exit status {completed.exit_status}"
        + (f": {said}" if said else ""),
        hint,
        command=completed.command,
        exit_status=completed.exit_status,
        stderr=completed.stderr,
    )


def _brief(shown: str) -> str:
    first, _, rest = shown.partition("\n")
    return first if not rest and len(first) <= _BRIEF else f"{first[:_BRIEF]}…"
