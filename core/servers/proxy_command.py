"""The ProxyCommand of ssh's configuration: a program whose input and output are the connection to a server."""

import os
import signal
import socket
import subprocess
import threading
from contextlib import suppress
from typing import IO

from core import this_workstation
from core.errors import UnreachableError
from core.system_errors import reason

_BLOCK_BYTES = 32 * 1024
_PATIENCE_SECONDS = 2.0


class Proxy:
    """A running proxy command. Whoever has started it closes it.

    The program reads and writes pipes, because no program on Windows can use a socket for this. Two threads carry the
    bytes between the pipes and a pair of sockets, because paramiko can only wait for a socket.

    Attributes:
        wire: the socket that leads to the program.
    """

    def __init__(self, command: str, server: str) -> None:
        """Start the command; raise UnreachableError if it cannot be started, with the name of the server."""
        self.wire, self._inner = socket.socketpair()
        try:
            self._process = _start(command)
        except OSError as error:
            self.wire.close()
            self._inner.close()
            raise UnreachableError(
                f"{server}: the ProxyCommand of the ssh configuration cannot be started: {reason(error)}",
                "check whether the program that it names is installed",
                lasting=True,
            ) from error
        given, told = self._process.stdin, self._process.stdout
        self._threads = [
            threading.Thread(target=carry, args=(pipe,), name="proxy command", daemon=True)
            for carry, pipe in ((self._feed, given), (self._fetch, told))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the program and the threads. What it has started itself may outlive it, with the thread that reads it."""
        self.wire.close()
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(_PATIENCE_SECONDS)
        self._inner.close()

    def _feed(self, pipe: IO[bytes]) -> None:
        """Carry to the program what is sent to it, until one of the two ends."""
        with suppress(OSError), pipe:
            while block := self._inner.recv(_BLOCK_BYTES):
                pipe.write(block)
                pipe.flush()

    def _fetch(self, pipe: IO[bytes]) -> None:
        """Carry what the program writes, until one of the two ends; then the socket ends, too."""
        with suppress(OSError), pipe:
            while block := os.read(pipe.fileno(), _BLOCK_BYTES):
                self._inner.sendall(block)
        with suppress(OSError):
            self._inner.shutdown(socket.SHUT_WR)


def _start(command: str) -> "subprocess.Popen[bytes]":
    """Start the command as OpenSSH does: by the shell of the user, and on Windows without a shell.

    stderr is the terminal's, as with ssh: it may say why the proxy fails. What a terminal's Ctrl-C or end sends to all
    programs must not end the proxy, so that the servers can be cleaned up. On Windows, a program with a console of its
    own does not get it.
    """
    windows, pipe = this_workstation.on_windows(), subprocess.PIPE
    words = command if windows else [os.environ.get("SHELL") or "/bin/sh", "-c", f"exec {command}"]
    before = None if windows else signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGHUP))
    try:
        return subprocess.Popen(
            words,
            stdin=pipe,
            stdout=pipe,
            stderr=this_workstation.stderr_of_programs(),
            creationflags=this_workstation.HIDDEN,
        )
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
