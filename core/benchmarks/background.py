"""Background processes: what runs on the measured server beside the phases of a repetition, and ends with them.

One reads its input as its lifeline: it ends when that ends, because the phases are done, the connection was lost or the
workstation died. What has its working directory inside the folder goes with the folder, whatever happened.
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
    """The process while the body runs; it has ended on leaving, unless the job was cancelled or the connection lost.

    Raises:
        CommandError: it ended, or did not serve in time; in its own words.
        UnreachableError: the connection was lost.
        Cancelled: the job was cancelled.
    """
    server, shell = folder.server, folder.inside(background.words)
    shown = server.become(folder.user, shell).shown
    status, begun = None, time.monotonic()
    job.report(CommandStarted(server.name, folder.user or server.login, shown, title=f"start {background.title}"))
    try:
        # a bridge has no deadline: the process lives as long as the phases beside it
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
    # a whole line: the word may stand in the middle of something that a program says
    while READY.encode() not in said.splitlines():
        if process.ended or time.monotonic() > until:
            # a lost line looks like a process that ended: say which it was
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
    """End its input and wait for it; its exit status, None where nobody waits."""
    # nobody reads what it says from here on; left unread, it would fill the channel and stop it
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
