"""Refusals of PostgreSQL are told apart by SQLSTATE, whatever language the server speaks."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest
from paramiko.buffered_pipe import BufferedPipe

from core.errors import AuthenticationError, PghaulError, ServerError
from core.jobs import Job
from core.servers.connection import Server
from core.servers.shell import Secret
from core.servers.sql import LoginReply, database

SCRAM = b"\x00\x00\x00\x0aSCRAM-SHA-256\0\0"
ACCEPTED = b"\x00\x00\x00\x00"


def message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4) + body


def refusal(sqlstate: str, text: str) -> bytes:
    """An ErrorResponse as a server with German lc_messages sends it."""
    fields = {"S": "FATAL", "V": "FATAL", "C": sqlstate, "M": text, "F": "auth.c", "L": "339", "R": "auth_failed"}
    return message(b"E", b"".join(f"{name}{value}".encode() + b"\0" for name, value in fields.items()) + b"\0")


class Channel:
    """A socket as paramiko's channel."""

    closed = eof_received = False

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self.in_buffer, self.in_stderr_buffer = BufferedPipe(), BufferedPipe()

    def setblocking(self, blocking: bool) -> None:
        self._end.setblocking(blocking)

    def fileno(self) -> int:
        return self._end.fileno()

    def recv_ready(self) -> bool:
        try:
            waiting = self._end.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        self.eof_received = not waiting
        return bool(waiting)

    def recv(self, most: int) -> bytes:
        return self._end.recv(most)

    def send_ready(self) -> bool:
        return True

    def send(self, data: bytes) -> int:
        return self._end.send(data)

    def shutdown_write(self) -> None:
        self._end.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._end.close()


class Reachable:
    """A server behind whose port PostgreSQL gives one answer."""

    name = "old"
    connected = True

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def tunnel(self, _host: str, _port: int) -> Channel:
        return Channel(self._end)


@contextmanager
def postgres(answer: bytes) -> Iterator[Server]:
    near, far = socket.socketpair()

    def speak() -> None:
        with far:
            far.recv(4096)
            far.sendall(answer)
            far.shutdown(socket.SHUT_WR)
            while far.recv(4096):  # what is left unread would reset the connection
                pass

    speaking = threading.Thread(target=speak)
    speaking.start()
    with near:
        yield cast("Server", Reachable(near))
        near.close()
        speaking.join()


@pytest.mark.parametrize(
    ("answer", "kind", "hint"),
    [
        (refusal("28P01", "Passwort-Authentifizierung für Benutzer »app« fehlgeschlagen"), AuthenticationError, "role"),
        (refusal("28000", "Rolle »app« existiert nicht"), AuthenticationError, "role"),
        (refusal("3D000", "Datenbank »nope« existiert nicht"), ServerError, "name a database"),
        (refusal("53300", "remaining connection slots are reserved for roles"), ServerError, "log"),
        (refusal("57P03", "das Datenbanksystem startet"), ServerError, "log"),
        (message(b"R", SCRAM), AuthenticationError, "role"),
        (message(b"R", ACCEPTED), ServerError, "log"),
    ],
    ids=("password", "role", "database", "slots", "starting", "challenge", "cut"),
)
def test_a_refusal_is_recognised_by_its_sqlstate(answer: bytes, kind: type[PghaulError], hint: str) -> None:
    with (
        postgres(answer) as server,
        pytest.raises(PghaulError) as caught,
        database(server, Job(), port=5432, socket_directory="/tmp", user="app", password=Secret("secret")),
    ):
        pytest.fail("it must not connect")
    assert type(caught.value) is kind
    assert hint in caught.value.hint


def test_the_reply_may_arrive_in_pieces() -> None:
    reply = LoginReply()
    for byte in message(b"R", SCRAM) + refusal("28P01", "Passwort-Authentifizierung fehlgeschlagen"):
        reply.feed(bytes([byte]))
    assert (reply.sqlstate, reply.asked) == ("28P01", True)


def test_nothing_is_read_behind_the_login() -> None:
    reply = LoginReply()
    reply.feed(message(b"R", ACCEPTED) + message(b"Z", b"I") + refusal("42P01", "Relation »x« existiert nicht"))
    assert (reply.sqlstate, reply.asked) == ("", False)


def test_a_refusal_of_before_protocol_3_has_no_sqlstate() -> None:
    reply = LoginReply()
    reply.feed(b"Ecould not fork new process for connection: Cannot allocate memory\n\0")
    assert reply.sqlstate == ""
