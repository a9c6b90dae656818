"""Notice a peer that no longer answers: a pulled cable, a frozen host. A keepalive alone does not see it.

Two threads a connection: one sends a request every few seconds and waits for its answer, the other looks whether that
answer is overdue and then closes the transport, at which every channel ends and every waiting call returns.
"""

import threading
import time

import paramiko

INTERVAL = 5.0
PATIENCE = 10.0
"""Seconds without an answer after which the peer counts as gone: noticed at most INTERVAL + PATIENCE after it froze."""

_LOOK = 0.5


class Heartbeat:
    """The heartbeat of one transport; `frozen` says that it found the peer silent."""

    def __init__(self, transport: paramiko.Transport, name: str) -> None:
        self.frozen = False
        self._interval, self._patience = INTERVAL, PATIENCE
        self._transport = transport
        self._asked: float | None = None
        self._stop = threading.Event()
        for work in (self._beat, self._watch):
            threading.Thread(target=work, name=f"heartbeat of {name}", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def _beat(self) -> None:
        while not self._stop.wait(self._interval) and self._transport.is_active():
            self._asked = time.monotonic()
            try:
                self._transport.global_request("keepalive@openssh.com", wait=True)
            except (paramiko.SSHException, EOFError, OSError):
                return  # the transport has ended; whoever uses it learns that from it
            self._asked = None

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK) and self._transport.is_active():
            asked = self._asked
            if asked is not None and time.monotonic() - asked > self._patience:
                self.frozen = True
                self._transport.close()
                return
