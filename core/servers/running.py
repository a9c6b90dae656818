"""One command from start to end: both outputs drained together, bounds kept, its group ended when it must stop."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from core.errors import CommandError
from core.jobs import CommandEnded, CommandStarted, Job
from core.redaction import without_secrets
from core.servers import rights
from core.servers.bounded_output import LIMIT, BoundedOutput
from core.servers.launching import CommandRequest, Launcher
from core.servers.remote_process import Process
from core.servers.shell import Shell
from core.text import complaint, first_line

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
