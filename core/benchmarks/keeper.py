"""A process on the server that waits for the end of the benchmark, whatever ends it, and cleans up then.

Its input is its lifeline: pghaul sends a beat every few seconds, and closes it when the work is done. When the input
ends (the workstation died, pghaul was killed) or stays silent (a pulled cable, of which a server may learn after hours
only), what stands after `WAIT` in its script runs all the same. So nothing that a benchmark leaves behind waits for
the next one.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import LiteralString

from core.benchmarks.reading import first_line
from core.errors import CommandError, ServerError
from core.jobs import CommandEnded, CommandStarted, Job
from core.servers.connection import Server
from core.servers.remote_process import Process
from core.servers.shell import Shell

BEAT_SECONDS = 5.0
SILENCE_SECONDS = 30
"""Without a beat for so long, the server takes pghaul for gone."""
READY = "pghaul-ready"
START_SECONDS = 60.0

WAIT: LiteralString = """trap '' HUP INT PIPE TERM
echo pghaul-ready
sh -c 'while test "$(timeout -s KILL "$1" dd bs=1 count=1 2>/dev/null)" = .; do :; done' \\
  @holder@ @silence@ @who@ "$(date -u '+%Y-%m-%d %H:%M:%S') UTC" @name@ 9<&-
"""
"""For a script of a keeper: what stands before makes, what stands after cleans up.

`holder` and `name`: words to know it by. The lock on descriptor 9 stays with the script itself.
"""


class Keeper:
    """A keeper under way; its beats come from a thread of its own."""

    def __init__(self, server: Server, process: Process) -> None:
        self._server = server
        self._process = process
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"keeper on {server.name}", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stop.is_set():
            try:
                self._process.channel.send(b".")
            except OSError:
                return  # the connection is gone: whoever uses it learns that from it
            self._stop.wait(BEAT_SECONDS)

    def stop(self) -> None:
        """Send no more beats."""
        self._stop.set()
        self._thread.join()

    def end(self, seconds: float) -> None:
        """Close its input and wait until it has cleaned up; raises ServerError where it did not, or nobody can tell."""
        self.stop()
        until = time.monotonic() + seconds
        try:
            self._process.channel.shutdown_write()
        except OSError as error:
            raise self._server.lost("cleaning up") from error
        while not self._process.ended and time.monotonic() < until:
            self._process.turn()
        status = self._process.exit_status
        if status == 0:
            return
        if not self._server.connected:
            raise self._server.lost("cleaning up")
        said = first_line(self._process.stderr.text()) or f"exit status {status}"
        raise CommandError(f"cleaning up on {self._server.name} failed: {said}", exit_status=status)


@contextmanager
def keeping(server: Server, shell: Shell, user: str | None, job: Job, *, title: str) -> Iterator[Keeper]:
    """The keeper once it is ready; on leaving its input is closed at the latest.

    Raises:
        CommandError: its script ended before it was ready; the status and the complaint are its own.
        UnreachableError: the connection was lost.
    """
    shown = server.become(user, shell).shown
    begun = time.monotonic()
    job.report(CommandStarted(server.name, user or server.login, shown, title=title))
    status: int | None = None
    try:
        with server.bridge(shell, Job(), user=user) as process:
            _wait_until_ready(server, process)
            keeper = Keeper(server, process)
            try:
                yield keeper
            finally:
                keeper.stop()
                status = process.exit_status
    finally:
        job.report(CommandEnded(server.name, shown, status, time.monotonic() - begun))


def _wait_until_ready(server: Server, process: Process) -> None:
    said = bytearray()
    process.deliver(said.extend)
    until = time.monotonic() + START_SECONDS
    while READY.encode() not in said.split():
        if process.ended or time.monotonic() > until:
            if not server.connected:
                raise server.lost("starting the benchmarks")
            raise _refused(process, said.decode(errors="replace"))
        process.turn()
    process.deliver(lambda _: None)


def _refused(process: Process, said: str) -> ServerError:
    complaint = process.stderr.text() or said
    message = first_line(complaint) or "it did not start in time"
    return CommandError(message, exit_status=process.exit_status, stderr=complaint)
