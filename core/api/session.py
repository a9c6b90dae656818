"""The session: the history, the answers to questions, and the open connections."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from core.jobs import CommandEnded, CommandStarted, Event, Job
from core.servers.profiles import Asker

if TYPE_CHECKING:
    from core.history.store import Store
    from core.servers.connection import Server


@dataclass
class Session:
    """What every action needs. Connections stay open until `close`; the session can be used from several threads.

    Attributes:
        store: the history.
        asker: answers the questions of a connection.
    """

    store: "Store"
    asker: Asker
    _servers: "dict[str, Server]" = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _connecting: dict[str, threading.Lock] = field(default_factory=dict)
    _replaced: "list[Server]" = field(default_factory=list)

    def server(self, name: str, job: Job) -> "Server":
        """The connected server of that profile, connecting it if needed or if the profile or the connection changed."""
        from core.servers.connection import connect  # they load paramiko and keyring, which the history does not need
        from core.servers.secrets import session_secrets

        with self._lock:
            guard = self._connecting.setdefault(name, threading.Lock())
        while not guard.acquire(timeout=0.1):  # a connecting thread may be waiting for a person's answer
            job.check()
        try:
            profile = self.store.profile(name)
            known = self._servers.get(name)
            if known is not None:
                if known.profile == profile and known.connected:
                    return known
                self._replaced.append(known)  # another job may still use it
                if known.profile != profile:
                    session_secrets.forget_server(name)
            server = connect(profile, self.asker, job)
            self._servers[name] = server
            return server
        finally:
            guard.release()

    def close(self) -> None:
        """Close every connection; whoever opened the history closes it."""
        for server in (*self._servers.values(), *self._replaced):
            server.close()
        self._servers.clear()
        self._replaced.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def record_commands(store: "Store", job: Job, move: str | None = None) -> Job:
    """Return a job that reports to `job` and also records every command in the history."""

    def listen(event: Event) -> None:
        if isinstance(event, CommandStarted | CommandEnded):
            store.record_command(move, event)
        job.report(event)

    return job.relay(listen)
