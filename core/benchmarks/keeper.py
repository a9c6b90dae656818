"""A process on the server that waits for the end of the benchmark, whatever ends it, and cleans up then.

Its input is its lifeline: pghaul sends a beat every few seconds, and closes it when the work is done. When the input
ends (the workstation died, pghaul was killed) or stays silent (a pulled cable, of which a server may learn after hours
only), it cleans up all the same. So nothing that a benchmark leaves behind waits for the next one. What it does stands
in `resources/sh/benchmark_folder.sh`.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import CommandError, ServerError
from core.jobs import CommandEnded, CommandStarted, Job
from core.servers.connection import Server
from core.servers.remote_process import Process
from core.servers.shell import Shell
from core.text import complaint

BEAT = b".\n"
BEAT_SECONDS = 5.0
SILENCE_SECONDS = 30
"""Without a beat for so long, the server takes pghaul for gone."""
READY = "pghaul-ready"
START_SECONDS = 60.0


class Keeper:
    """A keeper under way; its beats come from a thread of its own."""

    def __init__(self, server: Server, process: Process) -> None:
        self._server = server
        self._process = process
        self._stop = threading.Event()
        # daemon: an interpreter that ends must not wait for it; the server notices
        self._thread = threading.Thread(target=self._beat, name=f"keeper on {server.name}", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stop.is_set():
            try:
                self._process.channel.send(BEAT)
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
            # the end of its input is what it waits for
            self._process.channel.shutdown_write()
        except OSError as error:
            raise self._server.lost("cleaning up") from error
        while not self._process.ended and time.monotonic() < until:
            self._process.turn()
        status = self._process.exit_status
        if status == 0:
            return
        # cut off, it cleans up by itself: the caller says so
        if not self._server.connected:
            raise self._server.lost("cleaning up")
        said = complaint(self._process.stderr.text()) or f"exit status {status}"
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
        # a job of its own: cancelling the benchmark must not kill what cleans up behind it
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
    # until then it may still refuse: somebody else measures, or the disk is full
    while READY.encode() not in said.split():
        if process.ended or time.monotonic() > until:
            if not server.connected:
                raise server.lost("starting the benchmarks")
            raise _refused(process, said.decode(errors="replace"))
        process.turn()
    process.deliver(lambda _: None)


def _refused(process: Process, said: str) -> ServerError:
    told = process.stderr.text() or said
    message = complaint(told) or "it did not start in time"
    return CommandError(message, exit_status=process.exit_status, stderr=told)
