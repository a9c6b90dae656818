"""Background processes, such as a database server: they run on the measured server during the phases of a repetition.

A background process ends when its input ends: the phases are done, the connection was lost, or the workstation died. A
process whose working directory is in the benchmark's folder is ended together with the folder in any case.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from core.benchmarks.folders import Folder
from core.benchmarks.tool import READY, Background
from core.errors import CommandError
from core.jobs import CommandEnded, CommandStarted, Job
from core.servers.remote_process import Process
from core.text import complaint


@contextmanager
def running(folder: Folder, background: Background, job: Job) -> Iterator[None]:
    """Run the process during the `with` block.

    It has ended afterwards, unless the job was cancelled or the connection was lost.

    Raises:
        CommandError: it ended, or was not ready in time; the message is its own.
        UnreachableError: the connection was lost.
        Cancelled: the job was cancelled.
    """
    server, shell = folder.server, folder.inside(background.words)
    shown = server.become(folder.user, shell).shown
    status, begun = None, time.monotonic()
    job.report(CommandStarted(server.name, folder.user or server.login, shown, title=f"start {background.title}"))
    try:
        # A bridge has no deadline, because the process runs as long as the phases.
        with server.bridge(shell, job, user=folder.user) as process:
            _wait_until_it_serves(folder, background, process, job)
            try:
                yield
            finally:
                status = _end(background, process, job)
    finally:
        job.report(CommandEnded(server.name, shown, status, time.monotonic() - begun))


def _wait_until_it_serves(folder: Folder, background: Background, process: Process, job: Job) -> None:
    said = bytearray()
    process.deliver(said.extend)
    until = time.monotonic() + background.seconds
    # Only a whole line counts, because the word may occur within other output.
    while READY.encode() not in said.splitlines():
        if process.ended or time.monotonic() > until:
            # A lost connection looks like a process that has ended. This tells which of the two it was.
            if not folder.server.connected:
                raise folder.server.lost(f"starting {background.title}")
            told = process.stderr.text() or said.decode(errors="replace")
            why = complaint(told) or f"no answer within {background.seconds:.0f} s"
            raise CommandError(
                f"{background.title} did not start on {folder.server.name}: {why}",
                exit_status=process.exit_status,
                stderr=told,
            )
        process.turn()
        job.check()


def _end(background: Background, process: Process, job: Job) -> int | None:
    """End its input, wait for it, and return its exit status; None if it is not waited for."""
    # From here on nobody reads its output, which would fill the channel and block the process.
    process.deliver(lambda _: None)
    try:
        process.channel.shutdown_write()
    except OSError:
        return None  # the connection is gone, and its input with it
    until = time.monotonic() + background.seconds
    # a cancelled job does not wait: leaving the bridge ends the process group
    while not process.ended and not job.cancelled and time.monotonic() < until:
        process.turn()
    return process.exit_status
