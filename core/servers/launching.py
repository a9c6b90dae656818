"""Commands begun on a connection: channels within sshd's limits, sudo's password, and the ending of process groups."""

import secrets as random_words
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import paramiko

from core.errors import AuthenticationError, CommandError, PghaulError, ServerError, UnreachableError
from core.jobs import Job, Note
from core.servers import remote_process, rights
from core.servers.profiles import Asker, Profile
from core.servers.remote_process import GRACE, Process
from core.servers.secrets import Key, session_secrets
from core.servers.shell import Shell
from core.text import first_line

CHANNELS = 6
"""Commands at a time on one connection: sshd allows ten (MaxSessions), and some must stay free to end the others."""

OPEN_TIMEOUT = 15.0
_PASSWORD_TRIES = 3
_ENDS_WITHIN = 0.5
"""Seconds that a transport takes to be no longer active after its channels were told that it ended."""


@dataclass(frozen=True, slots=True)
class Order:
    """A command to begin. `deadline` in seconds; `open_input` leaves its input open for the caller to write to."""

    shell: Shell
    user: str | None = None
    stdin: bytes = b""
    deadline: float = 60.0
    open_input: bool = False

    @property
    def lifeline(self) -> float:
        """Seconds after which the server itself ends it; 0 where its input is its own."""
        return 0.0 if self.stdin or self.open_input else self.deadline + GRACE


class Launcher:
    """Begins commands on one connection; safe to use from several threads.

    `lost` makes the error for a connection that is gone while something was done.
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
    def process(self, order: Order, job: Job) -> Iterator[Process]:
        """A command that has begun; its channel is closed on leaving."""
        with self._slot(job):
            process = self._begun(order, job)
            try:
                yield process
            finally:
                process.close()

    def end(self, process: Process, user: str | None, job: Job) -> None:
        """End the process group, with the right that it runs with, over a channel of its own."""
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
        """Close a command that nobody wants any more while it starts, and end it where it could still begin."""
        try:
            if process.wait_unfed(time.monotonic() + GRACE):
                self.end(process, user, job)
        finally:
            process.close()

    def _kill(self, process: Process, user: str | None) -> bool:
        order = Order(remote_process.kill_script(process.group or 0, process.since), user, deadline=GRACE * 3.0)
        killer = self._begun(order, Job())  # a job of its own: the command's may be cancelled already
        try:
            until = time.monotonic() + order.deadline
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

    def _begun(self, order: Order, job: Job) -> Process:
        """Start a command and wait until it has begun, asking for the sudo password as often as it may be wrong."""
        for _ in range(_PASSWORD_TRIES):
            prompt = f"[pghaul-{random_words.token_hex(8)}]"
            way = rights.way(self.profile, self.login, order.user, prompt=prompt)
            if way.asks and self._refused_in is not None and self._refused_in() is job:
                raise self._refused_password()  # a person who failed for root is not asked again for postgres
            password = self._sudo_password(order.user) if way.asks else None
            process = self._started(order, way, prompt, password)
            try:
                if remote_process.wait_for_start(process, time.monotonic() + order.deadline, job.check):
                    return process
                self._check_refused_password(process, order)
            except BaseException:  # a cancel too: what has all that it needs begins, and must not run unseen
                self._abandon(process, order.user, job)
                raise
            process.close()
            session_secrets.forget(self._password, password or "")
        self._refused_in = weakref.ref(job)
        raise self._refused_password()

    def _refused_password(self) -> AuthenticationError:
        return AuthenticationError(
            f"{self.name}: sudo did not accept the password of {self.login}", "give the password of the login user"
        )

    def _started(self, order: Order, way: rights.Way, prompt: str, password: str | None) -> Process:
        mark = f"pghaul-{random_words.token_hex(8)}"
        line, first = remote_process.line(way.words, order.shell, mark, lifeline=order.lifeline)
        channel = self._channel()
        try:
            return Process(
                channel,
                line,
                mark,
                first=first,
                stdin=order.stdin,
                end_input=not order.lifeline and not order.open_input,
                prompt=prompt if way.asks else "",
                password=password,
            )
        except (paramiko.SSHException, EOFError, OSError) as error:
            channel.close()
            raise self._not_started(error) from error

    def _channel(self) -> paramiko.Channel:
        try:
            return self._transport.open_session(timeout=OPEN_TIMEOUT)
        except paramiko.ChannelException as error:
            raise ServerError(
                f"{self.name} refuses another session on this connection: {error.text}",
                "raise MaxSessions in its sshd_config (the default is 10), or end other work of pghaul on this server",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise self._not_started(error) from error

    def _not_started(self, error: Exception) -> ServerError:
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

    def _check_refused_password(self, process: Process, order: Order) -> None:
        """Raise why a command has not begun, unless it is for a wrong password, which may be asked for again."""
        if not process.refused_password:
            raise self._not_begun(process, order)

    def _not_begun(self, process: Process, order: Order) -> PghaulError:
        errors = process.stderr.text()
        if not process.ended:
            return CommandError(
                f"{self.name}: the login shell or sudo did not start the command within {order.deadline:.0f} s",
                stderr=errors,
            )
        if not self.connected:
            return self.lost("starting a command", None)
        if order.user is not None and order.user != self.login:
            return rights.refusal(self.profile, self.login, order.user, process.exit_status, errors)
        said = first_line(errors) or process.chatter or f"exit status {process.exit_status}"
        return AuthenticationError(
            f"{self.name}: the login shell of {self.login} does not run commands: {said}",
            "give the user a shell such as /bin/sh, without a forced command",
        )
