"""Commands on a real connection: to a server that refuses each, and to one that is late to say how they ended."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import paramiko
import pytest
from paramiko.common import AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from core.errors import ServerError, UnreachableError
from core.jobs import Job
from core.servers.profiles import Profile
from core.servers.remote_process import Process
from core.servers.running import CommandRequest, Launcher
from core.servers.shell import command


class Refusing(paramiko.ServerInterface):
    """Lets everybody in, and starts nothing."""

    def check_auth_none(self, username: str) -> int:  # noqa: ARG002
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002
        return OPEN_SUCCEEDED


class Late(Refusing):
    """Ends the outputs of each command half a second before it says how it ended."""

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:  # noqa: ARG002
        def end() -> None:
            channel.shutdown_write()
            threading.Event().wait(0.5)
            channel.send_exit_status(3)
            channel.close()

        self.ending = threading.Timer(0.1, end)
        self.ending.start()
        return True


class Nobody:
    """Is asked nothing."""

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        raise NotImplementedError

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
        raise NotImplementedError


@contextmanager
def connected(to: paramiko.ServerInterface) -> Iterator[tuple[paramiko.Transport, paramiko.Transport]]:
    """Both ends of a connection, the client's first."""
    here, there = socket.socketpair()
    server, client = paramiko.Transport(there), paramiko.Transport(here)
    try:
        server.add_server_key(paramiko.ECDSAKey.generate())
        server.start_server(threading.Event(), to)
        client.start_client(timeout=30)
        client.auth_none("dba")
        yield client, server
    finally:
        client.close()
        server.close()
        client.join(5)
        server.join(5)


@pytest.mark.slow
def test_a_refused_command_is_no_lost_connection() -> None:
    told: list[tuple[str, str]] = []

    def lost(doing: str, error: Exception | None) -> UnreachableError:
        told.append((doing, str(error)))
        return UnreachableError("lost", "")

    with connected(Refusing()) as (client, server):
        launcher = Launcher(client, Profile("old", "old"), "dba", Nobody(), lost)
        with (
            pytest.raises(ServerError, match="the connection is up") as caught,
            launcher.process(CommandRequest(command("true")), Job()),
        ):
            pass
        assert not isinstance(caught.value, UnreachableError)
        server.close()
        with pytest.raises(UnreachableError), launcher.process(CommandRequest(command("true")), Job()):
            pass
        assert [doing for doing, _ in told] == ["starting a command"]


@pytest.mark.slow
def test_what_has_ended_its_outputs_is_waited_for_at_rest() -> None:
    late = Late()
    with connected(late) as (client, _):
        process = Process(client.open_session(), "true", "mark", first=b"", end_input=True)
        turns = 0
        while not process.ended:
            process.turn()
            turns += 1
        assert process.exit_status == 3
        assert turns < 50
        process.close()
        late.ending.join(5)
