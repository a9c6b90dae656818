"""A Unix socket on the workstation whose every connection leads to the server; what libpq is pointed at.

The socket lies in a folder of mode 0700 made for it alone, so that nobody else on the workstation can use it.
"""

import contextlib
import selectors
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import paramiko

from core.errors import PghaulError, ServerError

_CHUNK = 1 << 16
_LOOK = 0.5


class FarEnd(Protocol):
    """The server's end of one connection: its channel, and how to take what has arrived on it without waiting."""

    channel: paramiko.Channel

    def take(self, into: Callable[[bytes], None]) -> None: ...


Opener = Callable[[], AbstractContextManager[FarEnd]]


class Relay:
    """Listens on `folder/name` and pumps each connection to what `opener` opens. A context manager.

    Attributes:
        folder: the private folder that the socket lies in.
        problem: why a connection could not be opened on the server's side.
    """

    def __init__(self, name: str, opener: Opener) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise ServerError(
                "SQL over SSH needs Unix sockets, which Python does not offer on this system", "run pghaul on Linux"
            )
        self.folder = Path(tempfile.mkdtemp(prefix="pghaul-"))
        self.problem: PghaulError | None = None
        self._opener = opener
        self._closing = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(str(self.folder / name))
        except OSError as error:
            self._listener.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise ServerError(
                f"no socket can be made in {self.folder}: {error}", "set TMPDIR to a short path"
            ) from error
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept, name=f"relay {name}", daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cut every connection and remove the socket."""
        self.cut()
        for thread in self._threads:
            thread.join()
        self._listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def cut(self) -> None:
        """Cut every connection, without waiting; may be called from any thread."""
        self._closing.set()

    def _accept(self) -> None:
        self._listener.settimeout(_LOOK / 25)
        while not self._closing.is_set():
            try:
                near, _ = self._listener.accept()
            except TimeoutError:
                continue
            thread = threading.Thread(target=self._serve, args=(near,), name="relay connection", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, near: socket.socket) -> None:
        near.settimeout(None)
        try:
            with self._opener() as far:
                self._pump(near, far)
        except PghaulError as error:
            self.problem = error
        except (OSError, EOFError, paramiko.SSHException) as error:
            self.problem = ServerError(f"the connection to the database was cut: {error}")
        finally:
            # without a shutdown libpq would learn of the end only at its connect timeout
            with contextlib.suppress(OSError):
                near.shutdown(socket.SHUT_RDWR)
            near.close()

    def _pump(self, near: socket.socket, far: FarEnd) -> None:
        channel = far.channel
        channel.setblocking(False)
        with selectors.DefaultSelector() as selector:
            selector.register(near, selectors.EVENT_READ)
            selector.register(channel.fileno(), selectors.EVENT_READ)
            listening = True
            while not self._closing.is_set():
                ready = {key.fileobj for key, _ in selector.select(_LOOK)}
                far.take(near.sendall)
                if channel.closed or (channel.eof_received and not channel.recv_ready()):
                    return
                if listening and near in ready:
                    data = near.recv(_CHUNK)
                    listening = bool(data)
                    if data:
                        self._send(channel, data, far, near)
                    else:
                        selector.unregister(near)
                        channel.shutdown_write()

    def _send(self, channel: paramiko.Channel, data: bytes, far: FarEnd, near: socket.socket) -> None:
        """All of `data`, taking in what arrives meanwhile, so that two full windows never wait for each other."""
        while data and not self._closing.is_set() and not channel.closed:
            if channel.send_ready():
                data = data[channel.send(data) :]
            else:
                far.take(near.sendall)
                self._closing.wait(0.001)
