"""A command line of the DBA's own on the workstation, in the workstation's own shell."""

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass

from core import this_workstation
from core.jobs import Job

_LOOK = 0.2
"""Seconds between two looks whether the job was cancelled."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended, and what it printed."""

    exit_status: int
    stdout: str
    stderr: str


def run_here(line: str, job: Job) -> Ended:
    """Run the command line as the person who wrote it would. Cancelled with the job, all that it started ends with it.

    Raises:
        Cancelled: the job was cancelled.
    """
    shell = ("cmd", "/c", line) if this_workstation.on_windows() else ("/bin/sh", "-c", line)
    process = subprocess.Popen(
        shell,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                stdout, stderr = process.communicate(timeout=_LOOK)
                return Ended(process.returncode, stdout, stderr)
            job.check()
    except BaseException:  # a cancel too: the hook's processes must not outlive it
        _end(process)
        raise


def _end(process: "subprocess.Popen[str]") -> None:
    """Kill it, with its children where the system knows groups of processes, and read what it left unread."""
    if this_workstation.on_windows():
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
