"""What is said where a server starts no command: on a real connection, to a server that refuses each."""

import socket
import threading

import paramiko
import pytest
from paramiko.common import AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from core.errors import ServerError, UnreachableError
from core.jobs import Job
from core.servers.launching import Launcher, Order
from core.servers.profiles import Profile
from core.servers.shell import command


class Refusing(paramiko.ServerInterface):
    """Lets everybody in, and starts nothing."""

    def check_auth_none(self, username: str) -> int:  # noqa: ARG002
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002
        return OPEN_SUCCEEDED


class Nobody:
    """Is asked nothing."""

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        raise NotImplementedError

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
        raise NotImplementedError


@pytest.mark.slow
def test_a_refused_command_is_no_lost_connection() -> None:
    here, there = socket.socketpair()
    server, client = paramiko.Transport(there), paramiko.Transport(here)
    told: list[tuple[str, str]] = []

    def lost(doing: str, error: Exception | None) -> UnreachableError:
        told.append((doing, str(error)))
        return UnreachableError("lost", "")

    launcher = Launcher(client, Profile("old", "old"), "dba", Nobody(), lost)
    try:
        server.add_server_key(paramiko.ECDSAKey.generate())
        server.start_server(threading.Event(), Refusing())
        client.start_client(timeout=30)
        client.auth_none("dba")
        with (
            pytest.raises(ServerError, match="the connection stands") as caught,
            launcher.process(Order(command("true")), Job()),
        ):
            pass
        assert not isinstance(caught.value, UnreachableError)
        server.close()
        with pytest.raises(UnreachableError), launcher.process(Order(command("true")), Job()):
            pass
        assert [doing for doing, _ in told] == ["starting a command"]
    finally:
        client.close()
        server.close()
        client.join(5)
        server.join(5)
