"""SQL through psycopg over the SSH connection: libpq talks to a private Unix socket that leads to the server.

With a password the socket leads by direct-tcpip to 127.0.0.1 on the server, or, where nothing listens there, through a
bridge as the login user to PostgreSQL's own socket. Without one it leads through a bridge that runs as the database
user, so that peer authentication holds. A peer bridge never stands behind a TCP port: every local user would be
postgres. Sessions read only, name themselves `pghaul`, wait for nobody, and end statements that take too long.
"""

import contextlib
import os
import selectors
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import paramiko
import psycopg

from core.errors import AuthenticationError, CommandError, PghaulError, ServerError
from core.jobs import Job
from core.servers.connection import Server
from core.servers.remote_process import Process, close_channel
from core.servers.shell import Secret, call
from core.settings import PROGRAM
from core.text import complaint, first_line

# A Unix socket on the workstation whose every connection leads to the server; what libpq is pointed at.
#
# The socket lies in a folder of mode 0700 made for it alone, so that nobody else on the workstation can use it.

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


_CONNECT_TIMEOUT = 10
_FOLDERS = ("/var/run/postgresql", "/tmp")  # noqa: S108  where Debian's and upstream's servers have their sockets
_SETTINGS = (
    (90100, "set synchronous_commit = local"),
    (90300, "set lock_timeout = '1s'"),
    (140000, "set client_connection_check_interval = '1s'"),
)
"""For every session, since the server's version: whatever server, role or database have set, no commit waits for a
standby, no statement for a lock that is not given, and none outlives its client."""
_INVALID_AUTHORIZATION, _NO_DATABASE = "28", "3D000"
"""A class of SQLSTATEs, and the SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html"""
_LONGEST_REPLY = 30_000
"""Bytes of a message while a client logs in. A longer one has the form of before protocol 3, as libpq takes it, too."""
_environment = threading.Lock()


@contextmanager
def database(
    server: Server,
    job: Job,
    *,
    port: int,
    socket_directory: str | None,
    dbname: str = "postgres",
    user: str = "postgres",
    password: Secret | None = None,
    statement_timeout: float = 10.0,
) -> Iterator[psycopg.Connection]:
    """A read-only connection to a PostgreSQL server, in autocommit, as the role `user`.

    Args:
        port: the server's port, which also names its socket.
        socket_directory: where its socket lies; None: the usual folders.
        password: None for peer authentication as the profile's database user.
        statement_timeout: seconds.

    Raises:
        AuthenticationError: PostgreSQL or sudo does not let the user in.
        ServerError: nothing listens there, or the connection failed; CommandError: a statement failed.
        Cancelled: the job was cancelled.
    """
    job.check()
    folders = (socket_directory, socket_directory) if socket_directory else _FOLDERS
    route = _DatabaseRoute(server, job, port, folders, peer=password is None)
    with Relay(f".s.PGSQL.{port}", route.open) as relay, job.on_cancel(relay.cut):
        try:
            with _connected(relay, route, port, dbname, user, password, statement_timeout) as connection:
                yield connection
        except psycopg.Error as error:
            job.check()
            raise _failed(server, error) from error


class _DatabaseRoute:
    """How connections reach PostgreSQL on the server: through a tunnel or a bridge."""

    def __init__(self, server: Server, job: Job, port: int, folders: tuple[str, str], *, peer: bool) -> None:
        self.server = server
        self.job = job
        self.port = port
        self.folders = folders
        self.by_peer = peer
        self.bridged: Process | None = None
        self.login = LoginReply()

    @contextmanager
    def open(self) -> Iterator[FarEnd]:
        route = self._bridge(self.server.profile.database_user) if self.by_peer else self._tunnel_or_bridge()
        with route as far:
            yield _LoginListener(far, self.login)

    @contextmanager
    def _tunnel_or_bridge(self) -> Iterator[FarEnd]:
        try:
            channel = self.server.tunnel("127.0.0.1", self.port)
        except ServerError:
            if not self.server.connected:
                raise
            with self._bridge(None) as far:
                yield far
            return
        try:
            yield _Tunnel(channel)
        finally:
            close_channel(channel)

    @contextmanager
    def _bridge(self, user: str | None) -> Iterator[FarEnd]:
        with self.server.bridge(call("sql_bridge", self.port, *self.folders), self.job, user=user) as process:
            self.bridged = process
            yield process

    @property
    def bridge_complaint(self) -> str:
        """Return what the bridge wrote to its standard error."""
        return complaint(self.bridged.stderr.text()) if self.bridged is not None else ""


class _Tunnel:
    """A direct-tcpip channel as the relay's far end."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self.channel = channel

    def take(self, into: Callable[[bytes], None]) -> None:
        while self.channel.recv_ready():
            into(self.channel.recv(_CHUNK))


class LoginReply:
    """What PostgreSQL answers while it logs a client in, read from the bytes that pass by.

    libpq hands out the text of a refusal alone, in the language of the server's lc_messages, and not its SQLSTATE.
    https://www.postgresql.org/docs/current/protocol-message-formats.html

    Attributes:
        sqlstate: of the refusal; empty where there was none.
        asked: the server wanted a proof of who logs in, and has not accepted any yet.
    """

    def __init__(self) -> None:
        self.sqlstate = ""
        self.asked = False
        self._unread = b""
        self._over = False

    def feed(self, data: bytes) -> None:
        """Read the bytes that have arrived, up to the refusal or to the first `ReadyForQuery`."""
        if self._over:
            return
        self._unread += data
        while len(self._unread) >= 5 and not self._over:
            kind, length = self._unread[:1], int.from_bytes(self._unread[1:5])
            if not 4 <= length <= _LONGEST_REPLY:
                self._over = True
            elif len(self._unread) <= length:
                return
            else:
                self._read(kind, self._unread[5 : length + 1])
                self._unread = self._unread[length + 1 :]

    def _read(self, kind: bytes, body: bytes) -> None:
        self._over = kind in {b"E", b"Z"}
        if kind == b"R":
            self.asked = int.from_bytes(body[:4]) != 0
        if kind == b"E":
            codes = [field[1:] for field in body.split(b"\0") if field.startswith(b"C")]
            self.sqlstate = codes[0].decode("ascii", errors="replace") if codes else ""


class _LoginListener:
    """The server's end of a connection, with a LoginReply that reads the same bytes."""

    def __init__(self, far: FarEnd, login: LoginReply) -> None:
        self.channel = far.channel
        self._far = far
        self._login = login

    def take(self, into: Callable[[bytes], None]) -> None:
        def pass_on(data: bytes) -> None:
            self._login.feed(data)
            into(data)

        self._far.take(pass_on)


@contextmanager
def _connected(
    relay: Relay,
    route: _DatabaseRoute,
    port: int,
    dbname: str,
    user: str,
    password: Secret | None,
    statement_timeout: float,
) -> Iterator[psycopg.Connection]:
    try:
        connection = _connect(relay, port, dbname, user, password, statement_timeout)
    except psycopg.Error as error:
        route.job.check()
        raise _refused(route, relay.problem, user, error) from error
    with contextlib.closing(connection):
        for since, statement in _SETTINGS:
            if connection.info.server_version >= since:
                connection.execute(statement)
        yield connection


def _connect(
    relay: Relay, port: int, dbname: str, user: str, password: Secret | None, statement_timeout: float
) -> psycopg.Connection:
    with _environment:
        for name in [name for name in os.environ if name.startswith("PG") and not name.startswith("PGHAUL")]:
            del os.environ[name]  # PGSERVICE, PGSSLMODE and their like would change what is connected to
    return psycopg.connect(
        host=str(relay.folder),
        port=port,
        dbname=dbname,
        user=user,
        password=password.value if password is not None else None,
        passfile=str(relay.folder / "none"),  # not the user's ~/.pgpass
        connect_timeout=_CONNECT_TIMEOUT,
        application_name=PROGRAM,
        client_encoding="UTF8",
        gssencmode="disable",
        # a password never travels readable: on the server, another user may have taken the port
        require_auth="none" if password is None else "scram-sha-256,md5,none",
        # who owns a database says by its search_path what a name means there, and by its role who one is
        options="-c search_path=pg_catalog -c role=none -c default_transaction_read_only=on "
        f"-c statement_timeout={round(statement_timeout * 1000)}",
        autocommit=True,
    )


def _refused(route: _DatabaseRoute, problem: PghaulError | None, user: str, error: psycopg.Error) -> PghaulError:
    if problem is not None:
        return problem
    # libpq names the socket, which means nothing to the user: what follows `failed: ` does
    said = first_line(str(error).rpartition("failed: ")[2])
    where = f"{route.server.name}: PostgreSQL on port {route.port}"
    if route.bridge_complaint:
        return ServerError(
            f"{where} cannot be reached: {route.bridge_complaint}",
            "check that PostgreSQL is running, and that its port and its socket directory are these",
        )
    state = route.login.sqlstate
    if state.startswith(_INVALID_AUTHORIZATION) or (not state and route.login.asked):
        hint = (
            "give the password of the role"
            if route.by_peer
            else "check the role, its password, and pg_hba.conf on the server"
        )
        return AuthenticationError(f"{where} does not let {user} in: {said}", hint)
    hint = "name a database that exists" if state == _NO_DATABASE else "look into the log of PostgreSQL on the server"
    return ServerError(f"{where} refuses the connection: {said}", hint)


def _failed(server: Server, error: psycopg.Error) -> PghaulError:
    if not server.connected:
        return server.lost("running SQL")
    return CommandError(f"{server.name}: PostgreSQL says: {first_line(str(error))}", stderr=str(error))
