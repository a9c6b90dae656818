"""What interrupts a command cancels it, by the rules of each system."""

import os
import signal
import subprocess
import sys

import pytest

from core.cli.signals import cancelling
from core.jobs import Job

WAITS_AS_ON_WINDOWS = """
import ctypes, threading
from core import this_workstation
from core.cli.signals import cancelling
from core.errors import Cancelled
from core.jobs import Job

python = ctypes.CDLL(None)
python.PyThread_allocate_lock.restype = ctypes.c_void_p
lock = ctypes.c_void_p(python.PyThread_allocate_lock())
job = Job()

def work():
    print("at work", flush=True)
    try:
        job.wait(20)
    except Cancelled:
        print("cancelled")
    python.PyThread_release_lock(lock)

this_workstation.on_windows = lambda: True
with cancelling(job):
    python.PyThread_acquire_lock(lock, 1)
    threading.Thread(target=work).start()
    python.PyThread_acquire_lock(lock, 1)
"""
"""The main thread waits for another one in a way that no signal ends, as each such wait on Windows."""


def test_on_windows_a_command_is_cancelled_although_its_main_thread_waits_for_another_one() -> None:
    words = [sys.executable, "-c", WAITS_AS_ON_WINDOWS]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "cancelled\n")
    assert err.count("pghaul: cancelling and cleaning up") == 1


def test_ctrl_break_of_windows_cancels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    before = signal.getsignal(signal.SIGUSR1)
    job = Job()
    with cancelling(job):
        os.kill(os.getpid(), signal.SIGUSR1)
        assert job.cancelled
    assert signal.getsignal(signal.SIGUSR1) is before


def test_a_second_signal_interrupts_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with cancelling(Job()):
        os.kill(os.getpid(), signal.SIGINT)
        assert "interrupt again to stop immediately" in capsys.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
