"""A process on the server that waits for the end of the benchmark, whatever the reason, and then cleans up.

pghaul sends it a beat every few seconds, and closes its input when the work is done. It also cleans up if the input
ends because the workstation died or pghaul was killed, and if no beat arrives any more, as after a pulled cable, which
a server may notice only after hours. So nothing is left for the next benchmark to remove. The code is in
`resources/sh/benchmark_folder.sh`.
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
"""If no beat arrives for so many seconds, the server assumes that pghaul has ended."""
READY = "pghaul-ready"
START_SECONDS = 60.0


class Keeper:
    """A running keeper. A thread of its own sends the beats."""

    def __init__(self, server: Server, process: Process) -> None:
        self._server = server
        self._process = process
        self._stop = threading.Event()
        # A daemon thread, because Python must not wait for it at its end. The server notices that no beat arrives.
        self._thread = threading.Thread(target=self._beat, name=f"keeper on {server.name}", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stop.is_set():
            try:
                self._process.channel.send(BEAT)
            except OSError:
                return  # The connection is lost. Its other users get the error.
            self._stop.wait(BEAT_SECONDS)

    def stop(self) -> None:
        """Stop sending beats."""
        self._stop.set()
        self._thread.join()

    def end(self, seconds: float) -> None:
        """Close its input, and wait until it has cleaned up; raise ServerError if it did not, or that is not known."""
        self.stop()
        until = time.monotonic() + seconds
        try:
            # The keeper waits for the end of its input.
            self._process.channel.shutdown_write()
        except OSError as error:
            raise self._server.lost("cleaning up") from error
        while not self._process.ended and time.monotonic() < until:
            self._process.turn()
        status = self._process.exit_status
        if status == 0:
            return
        # Without a connection it cleans up by itself. The caller reports that.
        if not self._server.connected:
            raise self._server.lost("cleaning up")
        said = complaint(self._process.stderr.text()) or f"exit status {status}"
        raise CommandError(f"cleaning up on {self._server.name} failed: {said}", exit_status=status)


@contextmanager
def keeping(server: Server, shell: Shell, user: str | None, job: Job, *, title: str) -> Iterator[Keeper]:
    """Start a keeper for the `with` block, and wait until it is ready. Its input is closed at the end of the block.

    Raises:
        CommandError: the keeper ended before it was ready, with its own status and message.
        UnreachableError: the connection was lost.
    """
    shown = server.become(user, shell).shown
    begun = time.monotonic()
    job.report(CommandStarted(server.name, user or server.login, shown, title=title))
    status: int | None = None
    try:
        # It has a job of its own, because cancelling the benchmark must not end the process that cleans up.
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
    # Until it is ready it may still fail: another benchmark is running, or the disk is full.
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
