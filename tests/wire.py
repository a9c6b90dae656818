"""A wire between a program and a server, which can be cut, and mended again."""

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from sqlalchemy import make_url

from tests.postgresql import Server


class Wire:
    """What is sent to `path`, a socket, or to `port` of this machine, comes to the server that listens at `to`.

    Attributes:
        path: where it listens; None: at `port`.
        lost: the answer to what has the second of these words, on a connection that has said the first, is lost once,
            and the connection with it: the server has heard it.
    """

    def __init__(self, to: Path, path: Path | None = None) -> None:
        self._to, self.path = to, path
        self._port = 0
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.lost: tuple[bytes, bytes] | None = None
        self.mend()

    @property
    def port(self) -> int:
        return self._port

    def through(self, url: str) -> str:
        """The URL of a history, by way of this wire."""
        return str(make_url(url).update_query_dict({"host": str((self.path or Path()).parent)}))

    def mend(self) -> None:
        """Let through what is sent from now on."""
        if self.path is not None:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(self.path))
        else:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self._port))
            self._port = listener.getsockname()[1]
        listener.listen()
        self._ends = [listener]
        self._begin(self._accept, listener)

    def cut(self) -> None:
        """Nothing goes through any more, and nobody listens."""
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in ends:
            end.close()
        self._threads.clear()
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()

    def _begin(self, work: "object", *words: object) -> None:
        thread = threading.Thread(target=work, args=words)  # type: ignore[arg-type]  # a method of this class
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._to))
            deaf = threading.Event()
            with self._lock:
                if not self._ends:  # cut meanwhile
                    client.close()
                    server.close()
                    return
                self._ends += [client, server]
                self._begin(self._up, client, server, deaf)
                self._begin(self._down, server, client, deaf)

    def _up(self, client: socket.socket, server: socket.socket, deaf: threading.Event) -> None:
        before = b""
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                before += data
                if self.lost is not None and self.lost[0] in before and self.lost[1] in data:
                    self.lost = None
                    deaf.set()
                server.sendall(data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _down(self, server: socket.socket, client: socket.socket, deaf: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while (data := server.recv(1 << 16)) and not deaf.is_set():
                client.sendall(data)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def wire(postgresql: Server) -> Iterator[Wire]:
    """To the server of the session."""
    with (
        tempfile.TemporaryDirectory(prefix="wire-", dir=postgresql.folder) as folder,
        Wire(postgresql.socket, Path(folder) / postgresql.socket.name) as made,
    ):
        yield made
